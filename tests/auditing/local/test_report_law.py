"""What a local randomizer's report tells: honest ones at their claim exactly, broken ones caught
however they hide it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, inf, log
from typing import Any

import pytest

from dpbandits import audit
from dpbandits.auditing.local.level import report_law_level
from dpbandits.auditing.report import LevelResult
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms.randomizers import LocalLaplace, RandomizedResponse, Randomizer

ONE = Fraction(1)


def level(randomise: Callable[..., int], grid: int = 1, width: int = 1, **more: Any) -> LevelResult:
    """The verdict on a randomizer that claims 1."""
    made = type("Made", (LocalLaplace,), {"randomise": randomise, **more})
    return report_law_level(made(epsilon=ONE, grid=Grid(steps=grid), width=width))


def laplace(self: Randomizer, steps: int, noise: Any) -> int:
    return int(noise.laplace(steps, sensitivity=self.grid.steps, epsilon=self.epsilon / self.width))


def answer(self: Randomizer, steps: int, noise: Any) -> int:
    return RandomizedResponse(epsilon=self.epsilon, grid=self.grid).randomise(steps, noise)


@pytest.mark.parametrize("kind", [LocalLaplace, RandomizedResponse])
@pytest.mark.parametrize("grid", [1, 7, 1024])
@pytest.mark.parametrize("width", [1, 3])
def test_an_honest_report_costs_its_claim(kind: Any, grid: int, width: int) -> None:
    for epsilon in ("1/10", "1", "4"):
        result = report_law_level(
            kind(epsilon=Fraction(epsilon), grid=Grid(steps=grid), width=width)
        )
        assert result.outcome == "passed"
        assert result.lower_bound == pytest.approx(float(Fraction(epsilon)), abs=1e-12)
        assert result.details["loss_value"] == result.lower_bound


def test_bernoulli_rounding_leaves_two_rewards() -> None:
    result = report_law_level(
        RandomizedResponse(epsilon=ONE, grid=Grid(steps=7, rounding="bernoulli"))
    )
    assert result.outcome == "passed"
    assert result.lower_bound == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("grid", [1, 7, 1024])
def test_a_reward_told_without_noise_has_no_epsilon(grid: int) -> None:
    raw = level(lambda self, steps, noise: steps, grid)
    assert (raw.outcome, raw.lower_bound) == ("failed", inf)
    bare_zero = level(
        lambda self, steps, noise: 0 if steps == 0 else laplace(self, steps, noise), grid
    )
    assert (bare_zero.outcome, bare_zero.lower_bound) == ("failed", inf)
    assert "no ε holds" in bare_zero.evidence


def test_a_reward_told_beside_the_noise_is_certified() -> None:
    beside = level(lambda self, steps, noise: laplace(self, steps, noise) + 10**6 * steps)
    assert (beside.outcome, beside.lower_bound) == ("failed", 10**6 + 1)


def test_noise_on_nothing_is_as_good() -> None:
    """The reward added to noise, in place of noise added to the reward: the same law, no false
    alarm.
    """
    plain = level(lambda self, steps, noise: steps + laplace(self, 0, noise), 7)
    assert (plain.outcome, plain.lower_bound) == ("passed", 1.0)


def test_what_other_noise_may_make_up_for_is_not_failed() -> None:
    """All of these are 1-private, and were failed: their noise is drawn twice, turned round, or put
    on what is smaller.
    """

    def turned(self: Randomizer, steps: int, noise: Any) -> int:
        noisy = laplace(self, steps, noise)
        return noisy if 2 * steps < self.grid.steps else 2 * steps - noisy

    def on_the_smaller(self: Randomizer, steps: int, noise: Any) -> int:
        unit = self.grid.steps
        return (
            laplace(self, steps, noise)
            if 2 * steps <= unit
            else unit - laplace(self, unit - steps, noise)
        )

    def largest(self: Randomizer, steps: int, noise: Any) -> int:
        return steps + max(
            int(noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.epsilon / 2))
            for _ in range(2)
        )

    twice = level(
        lambda self, steps, noise: laplace(self, 0, noise) + laplace(self, 0, noise) + steps
    )
    assert "the report changes though the noise stays" in twice.evidence
    for found in (twice, level(turned, 1024), level(on_the_smaller, 1024), level(largest, 1024)):
        assert (found.outcome, found.lower_bound) == ("not applicable", 0.0), found


@pytest.mark.long
def test_a_scale_that_depends_on_the_reward_is_left_to_runs() -> None:
    def scaled(self: Randomizer, steps: int, noise: Any) -> int:
        return int(
            noise.laplace(
                steps,
                sensitivity=self.grid.steps * (1 + (2 * steps > self.grid.steps)),
                epsilon=self.epsilon,
            )
        )

    found = level(scaled, 7)
    assert (found.outcome, found.lower_bound) == ("not applicable", 0.0)
    assert "what is asked of the noise changes" in found.evidence
    made = type("Made", (LocalLaplace,), {"randomise": scaled})(epsilon=ONE, grid=Grid(steps=7))
    assert audit(made, levels=["report law", "statistical"], runs=20_000, workers=1).failed


def test_width_without_a_share_fails() -> None:
    whole = level(
        lambda self, steps, noise: noise.laplace(
            steps, sensitivity=self.grid.steps, epsilon=self.epsilon
        ),
        7,
        3,
    )
    assert (whole.outcome, whole.lower_bound) == ("failed", 3.0)


def test_hidden_noise_is_an_upper_bound_only() -> None:
    def folded(self: Any, steps: int, noise: Any) -> int:
        return abs(laplace(self, steps, noise))

    kept = level(folded, 1024)
    assert (kept.outcome, kept.details["loss"]) == ("passed", "1")
    twice = level(
        lambda self, steps, noise: laplace(self, steps, noise) + 0 * laplace(self, steps, noise)
    )
    assert (twice.outcome, twice.lower_bound) == ("not applicable", 0.0)
    assert "hides" in twice.evidence


def test_no_coin_is_pinned() -> None:
    """Told the truth when the first coin is below a quarter."""
    often = level(
        lambda self, steps, noise: steps if noise.uniform() < 0.25 else answer(self, steps, noise)
    )
    keep = exp(1) / (1 + exp(1))
    assert often.outcome == "failed"
    assert often.lower_bound == pytest.approx(
        log((0.25 + 0.75 * keep) / (0.75 * (1 - keep))), abs=1e-9
    )
    rarely = level(
        lambda self, steps, noise: steps if noise.uniform() < 1e-7 else answer(self, steps, noise)
    )
    assert rarely.outcome == "failed"


def test_a_name_that_tells_the_reward_does_not_pass() -> None:
    """Every report carries its randomizer's name, and it passed: only the number was looked at."""
    seen = [0]

    def noting(self: Randomizer, steps: int, noise: Any) -> int:
        seen[0] = steps
        return answer(self, steps, noise)

    told = level(noting, name=property(lambda self: f"after {seen[0]}"))
    assert (told.outcome, told.lower_bound) == ("not applicable", 0.0), told
    assert "name" in told.evidence
