"""Noise of half its scale is caught, and the checks that catch it are seeded."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from dpbandits import AnytimeLazyUCB
from dpbandits.core.errors import CheckFailed
from dpbandits.noise import SimulatedNoise
from dpbandits.policies.formulas.indices import IndexNumbers


def test_halved_simulated_noise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A noise source that draws at half its scale fails the law test of test_noise.py."""
    from tests.noise.test_noise import laplace_p_value

    assert laplace_p_value(SimulatedNoise(1), 20_000, 8, 1) > 1e-6
    honest = SimulatedNoise._two_sided
    monkeypatch.setattr(SimulatedNoise, "_two_sided", lambda self, scale: honest(self, scale / 2))
    assert laplace_p_value(SimulatedNoise(1), 20_000, 8, 1) < 1e-6


@pytest.mark.long
def test_compiled_noise_at_half_scale_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled twin that draws half the noise has another law of play counts."""
    from dpbandits.checks.checks import compiled_law
    from dpbandits.simulation.compiled import players

    policy = AnytimeLazyUCB(arms=3, epsilon=1)
    compiled_law(policy)
    honest = players.BUILDERS[AnytimeLazyUCB]
    eps = 1.0
    monkeypatch.setitem(players.BUILDERS, AnytimeLazyUCB, lambda p, g: honest_at(honest, p, g, eps))
    with pytest.raises(CheckFailed):
        compiled_law(policy)


def honest_at(honest: Any, policy: Any, steps: int, eps: float) -> Any:
    kernel = honest(policy, steps)
    halved = IndexNumbers(*kernel.args[0])._replace(noise=steps / (2 * eps))
    return partial(kernel.func, tuple(halved), steps)


def test_checks_are_seeded() -> None:
    """Two runs of a statistical check see the same runs: a red check stays red."""
    from dpbandits.checks.checks import smallest_p

    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 50, (200, 3)), rng.integers(0, 50, (4000, 3))
    assert smallest_p(a, b) > 1e-6
    assert smallest_p(a + 8, b) < 1e-6
