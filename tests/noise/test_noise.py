"""Noise: the law of both sources against the exact mass function; false-alarm rate 1e-6 a test.
Scales rounded up. With 8,000 draws a scale that is 15 % too small was found 200 times of 200;
test_noise_quality.py looks at the tails, test_draws.py at our own samplers, exactly.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from dpbandits.noise import Noise, SecureNoise, SimulatedNoise, noise_from_state
from dpbandits.noise.protocol import laplaces

MANY = 8_000
"""Draws of a test."""


def laplace_mass(k: np.ndarray, scale: float) -> np.ndarray:
    """P(X = k) = (1 − q)/(1 + q) q^|k|, q = e^(−1/scale)."""
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(k)


def gaussian_mass(k: np.ndarray, sigma: float) -> np.ndarray:
    wide = np.arange(-int(20 * sigma) - 20, int(20 * sigma) + 21)
    return np.exp(-(k**2) / (2 * sigma**2)) / np.exp(-(wide**2) / (2 * sigma**2)).sum()


def p_value(draws: np.ndarray, mass: object, reach: int) -> float:
    """Chi-square over single values with at least ten expected, and the two tails."""
    inner = np.arange(-reach, reach + 1)
    expected = mass(inner) * len(draws)  # type: ignore[operator]
    inner, expected = inner[expected >= 10], expected[expected >= 10]
    low, high = inner.min(), inner.max()
    counts = np.array(
        [(draws < low).sum(), *[(draws == k).sum() for k in inner], (draws > high).sum()]
    )
    rest = max(1e-9, (len(draws) - expected.sum()) / 2)
    expected = np.array([rest, *expected, rest])
    if rest < 5:  # tails too thin for a cell of their own
        counts = np.array([counts[0] + counts[1], *counts[2:-2], counts[-2] + counts[-1]])
        expected = np.array(
            [expected[0] + expected[1], *expected[2:-2], expected[-2] + expected[-1]]
        )
    return float(chisquare(counts, expected * counts.sum() / expected.sum()).pvalue)


def laplace_p_value(noise: Noise, n: int, sensitivity: int, epsilon: int) -> float:
    cost = {"sensitivity": sensitivity, "epsilon": Fraction(epsilon)}
    single = [noise.laplace(0, **cost) for _ in range(n // 4)]  # which take OpenDP long
    draws = np.array(single + laplaces(noise, [0] * (n - n // 4), **cost))
    scale = sensitivity / epsilon
    return p_value(draws, lambda k: laplace_mass(k, scale), int(20 * scale))


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 1), (8, 1), (3, 2)])
@pytest.mark.parametrize(
    "noise", [SimulatedNoise(5), SecureNoise(), SecureNoise(fresh=True)], ids=repr
)
def test_laplace(noise: Noise, sensitivity: int, epsilon: int) -> None:
    assert laplace_p_value(noise, MANY, sensitivity, epsilon) > 1e-6


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(1, 50)])
@pytest.mark.parametrize(
    "noise", [SimulatedNoise(6), SecureNoise(), SecureNoise(fresh=True)], ids=repr
)
def test_gaussian(rho: Fraction, noise: Noise) -> None:
    sigma = 1 / math.sqrt(2 * rho)
    draws = np.array([noise.gaussian(0, sensitivity=1, rho=rho) for _ in range(MANY)])
    assert p_value(draws, lambda k: gaussian_mass(k, sigma), int(8 * sigma) + 2) > 1e-6


def test_compiled_laplace_and_gaussian() -> None:
    from dpbandits.simulation.compiled.parts import gaussian, laplace

    rng = np.random.default_rng(7)
    for draw, mass, scale, reach in (
        (laplace, laplace_mass, 8.0, 160),
        (gaussian, gaussian_mass, 3.0, 26),
    ):
        draws = np.array([draw(rng, scale) for _ in range(MANY)])
        assert p_value(draws, lambda k, mass=mass, scale=scale: mass(k, scale), reach) > 1e-6


def test_a_simulated_source_goes_on_where_it_was_saved() -> None:
    noise = SimulatedNoise(3)
    noise.laplace(0, sensitivity=8, epsilon=Fraction(1))
    copy = noise_from_state(noise.state())
    ahead = [noise.laplace(0, sensitivity=8, epsilon=Fraction(1)) for _ in range(20)]
    assert ahead == [copy.laplace(0, sensitivity=8, epsilon=Fraction(1)) for _ in range(20)]


def test_several_draws_are_the_single_ones_in_turn() -> None:
    values = [5, 0, -3, 0, 10**12]
    for epsilon in (Fraction(1, 3), Fraction(1, 2**60)):
        cost = {"sensitivity": 1024, "epsilon": epsilon}
        one, many = SimulatedNoise(9), SimulatedNoise(9)
        assert laplaces(many, values, **cost) == [one.laplace(v, **cost) for v in values]
        assert many.state() == one.state()


def test_several_draws_are_single_ones_where_a_class_has_its_own() -> None:
    class Shifted(SimulatedNoise):
        def laplace(self, value: int, **_: object) -> int:
            return value + 1

    class Alone:
        def laplace(self, value: int, **_: object) -> int:
            return value + 1

    for noise in (Shifted(1), Alone()):
        drawn = laplaces(noise, [1, 2], sensitivity=1, epsilon=Fraction(1))  # type: ignore[arg-type]
        assert drawn == [2, 3]


def test_noise_too_large_for_64_bits_is_refused() -> None:
    """OpenDP would cut such draws off, which is another law than the promised one."""
    for noise in (SecureNoise(), SecureNoise(fresh=True)):
        with pytest.raises(ValueError, match="budget of at least"):
            noise.laplace(0, sensitivity=1024, epsilon=Fraction(1, 10**17))
