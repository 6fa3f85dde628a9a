"""Exact laws: reports that are made with coins, and the noisy maximum."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, inf, log
from typing import Any

import pytest

from dpbandits.auditing.laws import noisy_max_loss, randomised_response_level
from dpbandits.auditing.report import LevelResult
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import NoisyMax
from dpbandits.mechanisms.randomizers import LocalLaplace, RandomizedResponse, Randomizer
from dpbandits.noise.laws import published_loss

ONE = Fraction(1)


def level(randomise: Callable[..., int], grid: int = 1, **more: Any) -> LevelResult:
    """The verdict on a randomizer that claims 1."""
    made = type("Made", (LocalLaplace,), {"randomise": randomise, **more})
    return randomised_response_level(made(epsilon=ONE, grid=Grid(steps=grid)))


def answer(self: Randomizer, steps: int, noise: Any) -> int:
    return RandomizedResponse(epsilon=self.epsilon, grid=self.grid).randomise(steps, noise)


@pytest.mark.parametrize("grid", [1, 7, 1024])
@pytest.mark.parametrize("width", [1, 3])
def test_randomised_response_costs_its_claim(grid: int, width: int) -> None:
    for epsilon in ("1/10", "1", "4"):
        made = RandomizedResponse(epsilon=Fraction(epsilon), grid=Grid(steps=grid), width=width)
        result = randomised_response_level(made)
        assert result.outcome == "passed"
        assert result.lower_bound == pytest.approx(float(Fraction(epsilon)), abs=1e-12)
        less = randomised_response_level(made, Fraction(epsilon) * Fraction(999, 1000))
        assert less.outcome == "failed"


def test_bernoulli_rounding_leaves_two_rewards() -> None:
    made = RandomizedResponse(epsilon=ONE, grid=Grid(steps=7, rounding="bernoulli"))
    result = randomised_response_level(made)
    assert result.outcome == "passed"
    assert result.details["rewards_of"] == 2


@pytest.mark.parametrize("grid", [1, 7, 1024])
def test_a_reward_told_without_noise_has_no_epsilon(grid: int) -> None:
    raw = level(lambda self, steps, noise: steps, grid)
    assert (raw.outcome, raw.lower_bound) == ("failed", inf)
    zero = level(lambda self, steps, noise: 0 if steps == 0 else answer(self, steps, noise), grid)
    assert zero.outcome == "failed"


def test_every_switching_point_counts() -> None:
    """The truth is told when the first coin is below a quarter, or below 10⁻⁷."""
    often = level(
        lambda self, steps, noise: steps if noise.uniform() < 0.25 else answer(self, steps, noise)
    )
    keep = exp(1) / (1 + exp(1))
    assert often.outcome == "failed"
    wanted = log((0.25 + 0.75 * keep) / (0.75 * (1 - keep)))
    assert often.lower_bound == pytest.approx(wanted, abs=1e-9)
    rarely = level(
        lambda self, steps, noise: steps if noise.uniform() < 1e-7 else answer(self, steps, noise)
    )
    assert rarely.outcome == "failed"


def test_other_reports_are_left_to_runs() -> None:
    """Noise on the reward, hidden coins, and a name that tells the reward."""
    noised = randomised_response_level(LocalLaplace(epsilon=ONE))
    hidden = iter(range(10**6))
    own = level(lambda self, steps, noise: next(hidden) // 20 % 2)
    seen = [0]

    def noting(self: Randomizer, steps: int, noise: Any) -> int:
        seen[0] = steps
        return answer(self, steps, noise)

    named = level(noting, name=property(lambda self: f"after {seen[0]}"))
    for found in (noised, own, named):
        assert (found.outcome, found.lower_bound) == ("not applicable", 0.0), found


@pytest.mark.parametrize(("rounds", "loss"), [(2, 1.307), (4, 1.595)])
def test_noisy_max_with_the_published_noise(rounds: int, loss: float) -> None:
    """Lap(1/ε), as published: 1.307 and 1.595 at ε = 1; on the grid of 1/1024 the discrete law is
    within 0.001 of the continuous one.
    """
    published = noisy_max_loss(NoisyMax(epsilon=2 * ONE, grid=Grid(steps=1024)), rounds)
    assert published == pytest.approx(loss, abs=1e-3)
    assert published == pytest.approx(published_loss(rounds, 1.0), abs=1e-3)
    assert noisy_max_loss(NoisyMax(epsilon=ONE, grid=Grid(steps=1024)), rounds) < 1
