"""Noise beyond its shape: tails, granularity, the direction of rounding, floating-point attacks,
and sums that no order changes.

Every statistical test is wrong with probability 1e-6 at most; the secure source cannot be seeded,
so that is its rate of false alarms.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LazyForgetful
from dpbandits.noise import Noise, SecureNoise, SimulatedNoise
from dpbandits.noise.sources import secure_choice, secure_draws, secure_measurement

STEPS = 1024
ONE = Fraction(1)


def draws_of(kind: str, scale: int, count: int) -> np.ndarray[Any, Any]:
    """Discrete Laplace draws of a whole scale."""
    if kind == "secure":
        return np.array(secure_draws("laplace", scale, ONE, count))
    noise = SimulatedNoise(8)
    return np.array([noise.laplace(0, sensitivity=scale, epsilon=ONE) for _ in range(count)])


def below(k: np.ndarray[Any, Any], scale: float) -> np.ndarray[Any, Any]:
    """P(X <= k) of the discrete Laplace law."""
    r = math.exp(-1 / scale)
    away = np.asarray(k, float)
    return np.where(
        away >= 0, 1 - r ** np.maximum(away + 1, 0) / (1 + r), r ** np.maximum(-away, 0) / (1 + r)
    )


@pytest.mark.parametrize("kind", ["secure", "simulated"])
@pytest.mark.parametrize("scale", [3, 1024])
def test_law_and_tails(kind: str, scale: int) -> None:
    """Chi-square over cells that reach far into both tails: beyond 4, 6 and 7 scales there are 1.8
    %, 0.25 % and 0.09 % of all draws.

    Where a cell expects 27, the chi-square law is too light at 1e-6; at 1e-8 it leaves room for
    that.
    """
    draws = draws_of(kind, scale, 60_000)
    edges = np.unique(np.round(scale * np.array([-7, -6, -4, *np.linspace(-3, 3, 25), 4, 6, 7])))
    chances = np.diff(np.concatenate([[0.0], below(edges, scale), [1.0]]))
    cells = np.bincount(np.searchsorted(edges, draws), minlength=len(chances))
    assert (chances * len(draws)).min() >= 20
    assert chisquare(cells, chances * len(draws)).pvalue > 1e-8


@pytest.mark.parametrize("kind", ["secure", "simulated"])
def test_granularity_is_one_step(kind: str) -> None:
    """Every residue comes up alike, however large the scale (the law's own bias: 1e-6)."""
    draws = draws_of(kind, 50_000, 30_000)
    assert draws.dtype == np.int64
    for modulus in (2, 3, 16):
        assert chisquare(np.bincount(draws % modulus, minlength=modulus)).pvalue > 3e-7


COSTS = [Fraction(cost) for cost in ("1/10", "3/10", "3/7", "7/10", "1/3", "1", "2", "2.7")]


@pytest.mark.parametrize("sensitivity", [1, STEPS])
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_scales_are_rounded_up(
    cost: Fraction, sensitivity: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No draw costs more than it should, and scales are a few floats too large at most."""
    single = sensitivity / cost
    for maker, call, power, exact in (
        ("make_laplace", lambda: drawn("laplace", sensitivity, cost), 1, single),
        (
            "make_gaussian",
            lambda: drawn("gaussian", sensitivity, cost),
            2,
            sensitivity * single / 2,
        ),
        *(
            ("make_noisy_max", lambda law=law: chosen(sensitivity, cost, law), 1, 2 * single)
            for law in ("exponential", "permute-and-flip")
        ),
    ):
        scale = spied_scale(monkeypatch, maker, call) ** power
        assert exact <= scale <= exact * (1 + Fraction(1, 2**40)), maker


def drawn(family: str, sensitivity: int, cost: Fraction) -> Any:
    secure_measurement.cache_clear()
    return secure_draws(family, sensitivity, cost, 1)


def chosen(sensitivity: int, cost: Fraction, law: Any) -> Any:
    return secure_choice([1, 2], sensitivity, cost, law)


def spied_scale(patch: pytest.MonkeyPatch, maker: str, call: Any) -> Fraction:
    """The scale that OpenDP was given last."""
    import opendp.prelude as dp

    seen: list[float] = []
    honest = getattr(dp.m, maker)

    def spy(*args: Any, scale: float) -> Any:
        seen.append(scale)
        return honest(*args, scale=scale)

    patch.setattr(dp.m, maker, spy)
    call()
    return Fraction(seen[-1])


@pytest.mark.parametrize("noise", [SecureNoise(), SimulatedNoise(3)], ids=lambda n: n.kind)
def test_low_bits_tell_nothing(noise: Noise) -> None:
    """Mironov 2012: not every float is a value of ln(u), so low bits tell which input a sampler of
    floats had. Here whole steps are added and divided afterwards: on either value the outputs are
    multiples of 1/1024, all of them, and nothing else, so any set of low bits is as likely on 0 as
    on 1 (chi-square, both against even).
    """
    mechanism = LazyForgetful(epsilon=ONE, grid=Grid(steps=STEPS))
    for value in (0, 1):
        answers = [mechanism.step(None, value * STEPS, 1, noise)[1].total for _ in range(4000)]
        steps = np.array(answers) * STEPS
        assert (steps == np.rint(steps)).all()
        low_bits = np.bincount(steps.astype(np.int64) % 16, minlength=16)
        assert chisquare(low_bits).pvalue > 1e-7
