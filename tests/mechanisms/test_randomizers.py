"""What randomizers report, and what they refuse."""

import math

import pytest

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LocalLaplace, RandomizedResponse
from dpbandits.noise import SecureNoise, SimulatedNoise


@pytest.mark.parametrize("reward", [0.0, 0.25, 1.0])
def test_randomised_response_law(reward: float) -> None:
    """P[1 | r] = (r e^ε + 1 − r)/(1 + e^ε); false-alarm rate 1e-6."""
    randomizer, noise, n = (
        RandomizedResponse(epsilon=1, grid=Grid(steps=4)),
        SimulatedNoise(4),
        40_000,
    )
    ones = sum(randomizer.report(reward, noise).steps == 4 for _ in range(n))
    p = (reward * math.e + 1 - reward) / (1 + math.e)
    assert abs(ones - n * p) < 4.9 * math.sqrt(n * p * (1 - p))


def test_reports_are_integers_of_the_grid_and_never_clipped() -> None:
    randomizer, noise = LocalLaplace(epsilon=1, grid=Grid(steps=8)), SecureNoise()
    reports = [randomizer.report(1.0, noise) for _ in range(200)]
    assert all(isinstance(r.steps, int) and r.noise == "secure" for r in reports)
    assert any(r.steps > 8 for r in reports)
    assert any(r.steps < 0 for r in reports)
