"""`check_noise`: checks that a noise source draws from the laws that its protocol names."""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpbandits.checks.checks import require
from dpbandits.core.inputs import Floats, checked_noise
from dpbandits.noise.protocol import Noise, laplaces, toss

ALARM, MOST = 1e-6, 200
"""The most probability that a correct source fails, and the most tests that share it."""

SAMPLES, VALUES = 6_000, (0, 10**6, -7)
"""Draws from each law; exact values, in turn, to which the same noise is added."""


def check_noise(noise: Noise) -> None:
    """Check the laws of a noise source by some 100,000 draws: tails, middle and lowest bit of each
    kind of noise, and whether two draws that follow each other go together.

    Noise of four fifths of its scale is refused. Numbers that somebody can foresee are not: this
    says nothing of the generator.

    Args:
        noise: an instance of a user-defined source.

    Raises:
        CheckFailed: the first law that it has not. A correct source fails with probability at most
            10⁻⁶.
        TypeError: not a noise source.
    """
    from scipy.stats import binomtest

    source = checked_noise(noise)
    coins = {
        "uniform": (lambda _: int(256 * source.uniform()) - 128, np.full(256, 1 / 256)),
        "toss": (lambda _: toss(source, 1, 3), coin(1 / 3)),
    }
    at_prices = laws_at(source, 1, Fraction(1)), laws_at(source, 64, Fraction(1, 2))
    for what, (draw, mass) in [each for laws in (coins, *at_prices) for each in laws.items()]:
        drawn = np.array([draw(VALUES[at % len(VALUES)]) for at in range(SAMPLES)])
        places = np.arange(len(mass)) - len(mass) // 2  # of what is drawn
        levels = 0.5, 0.005, 0.05, 0.25, 0.75, 0.95, 0.995
        bars = places[np.searchsorted(np.cumsum(mass), levels)]
        events = [(drawn <= bar, mass[places <= bar].sum()) for bar in bars]
        low, chance = events[0]
        events += (low[::2] & low[1::2], chance**2), (drawn % 2 == 1, mass[places % 2 == 1].sum())
        for seen, chance in events:
            p = binomtest(int(seen.sum()), len(seen), min(1.0, chance)).pvalue
            require(p > ALARM / MOST, f"{what} has another law than `Noise` says (p = {p:.1g}).")


def laws_at(noise: Noise, sensitivity: int, cost: Fraction) -> dict[str, tuple[Any, Floats]]:
    """Return the draws of noise at one price, by what they are, each with its law: probabilities of
    the whole numbers around 0.
    """
    pure: Any = {"sensitivity": sensitivity, "epsilon": cost}
    price, half = float(cost / sensitivity), float(cost) / 2
    z = np.arange(-math.ceil(45 / price), math.ceil(45 / price) + 1)
    laplace, wide = (normalised(np.exp(-each * abs(z))) for each in (price, price / 2))
    selections: dict[Any, float] = {  # of two values, of which the second is larger
        "laplace": np.convolve(wide, wide)[len(z) - sensitivity :].sum(),
        "exponential": 1 / (1 + math.exp(-half)),
        "permute-and-flip": 1 - math.exp(-half) / 2,
    }
    return {
        "laplace": (lambda v: noise.laplace(v, **pure) - v, laplace),
        "laplaces": (lambda v: laplaces(noise, [0, v], **pure)[1] - v, laplace),
        "gaussian": (
            lambda v: noise.gaussian(v, sensitivity=sensitivity, rho=cost) - v,
            normalised(np.exp(-price * z**2 / sensitivity)),
        ),
        "joint": (
            lambda v: noise.joint([0, v], **pure)[1] - v,
            normalised((2 * abs(z) + 1 + 2 / math.expm1(price)) * np.exp(-price * abs(z))),
        ),
        "joint, largest": (
            lambda v: max(abs(x - v) for x in noise.joint([v, v], **pure)),
            normalised(np.where(z > 0, 8 * z, z == 0) * np.exp(-price * z)),
        ),
        "exceeds": (
            lambda v: noise.exceeds(v, v, noise.threshold(**pure), **pure),
            coin((1 + (laplace**2).sum()) / 2),
        ),
        **{
            f"select, {law}": (partial(choice, noise, sensitivity, law=law, **pure), coin(chance))
            for law, chance in selections.items()
        },
    }


def choice(noise: Noise, apart: int, value: int, **how: Any) -> int:
    return noise.select([value, value + apart], **how)


def normalised(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())


def coin(chance: float) -> Floats:
    return np.array([0.0, 1.0 - chance, chance])  # of −1, 0 and 1
