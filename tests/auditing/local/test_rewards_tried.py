"""Which rewards are tried, what is said of the others, and of laws that are not computed."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from math import inf, log
from typing import Any

import pytest

from dpbandits import audit
from dpbandits.auditing.local.coin_law import coin_law
from dpbandits.auditing.local.level import report_law_level
from dpbandits.auditing.report import LevelResult, conclusion
from dpbandits.core.errors import NotSteps
from dpbandits.core.privacy import Grid, Guarantee
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


@pytest.mark.parametrize("grid", [7, 1024])
def test_rewards_between_are_tried(grid: int) -> None:
    def between(self: Any, steps: int, noise: Any) -> int:
        return (
            answer(self, steps, noise)
            if steps in (0, self.grid.steps)
            else self.grid.steps * (2 * steps > self.grid.steps)
        )

    assert level(between, grid).outcome == "failed"
    coin = level(
        lambda self, steps, noise: self.grid.steps * (noise.uniform() * self.grid.steps < steps),
        grid,
    )
    assert (coin.outcome, coin.lower_bound) == ("failed", inf)


@pytest.mark.parametrize("told", [102, 341, 683])
def test_every_reward_of_a_grid_is_tried(told: int) -> None:
    """One reward in 1,025 is told as it is: 15 of them were tried, and it passed."""
    found = level(
        lambda self, steps, noise: steps if steps == told else laplace(self, steps, noise), 1024
    )
    assert (found.outcome, found.lower_bound) == ("failed", inf)
    loud = level(
        lambda self, steps, noise: laplace(self, steps + 2048 * (steps == told), noise), 1024
    )
    assert loud.outcome == "failed"
    assert loud.lower_bound > 2
    honest = level(laplace, 1024)
    assert "1,025 of 1,025 rewards tried" in honest.evidence


def test_what_was_not_tried_is_said() -> None:
    report = audit(
        RandomizedResponse(epsilon=ONE, grid=Grid(steps=1024)), levels=["report law"], runs=100
    )
    assert report.passed
    assert "exact for 15 of 1,025 rewards" in conclusion(report)
    assert "1/128" in report.levels[0].evidence


@pytest.mark.parametrize(
    ("randomise", "reason"),
    [
        (lambda self, steps, noise: steps if random.random() < 0.7 else 0, "not seen here"),
        (lambda self, steps, noise: int(noise.uniform() + noise.uniform() > 1), "later coins"),
        (lambda self, steps, noise: int(-log(1 - noise.uniform()) * 20), "more than 16 times"),
        (
            lambda self, steps, noise: sum(int(noise.uniform() < 0.5) for _ in range(6)),
            "more than 4 coins",
        ),
        (
            lambda self, steps, noise: next(
                int(u > 0.1) for u in iter(noise.uniform, None) if u < 0.4
            ),
            "again and again",
        ),
        (
            lambda self, steps, noise: next(
                y for y in iter(lambda: laplace(self, steps, noise), None) if y >= 0
            ),
            "hides a part",
        ),
        (lambda self, steps, noise: noise.gaussian(steps, sensitivity=1, rho=ONE), "gaussian"),
        (
            lambda self, steps, noise: (
                laplace(self, steps, noise) if noise.uniform() < 0.5 else steps
            ),
            "though the noise stays",
        ),
    ],
)
def test_what_is_not_computed_is_neither_passed_nor_failed(randomise: Any, reason: str) -> None:
    result = level(randomise)
    assert (result.outcome, result.lower_bound) == ("not applicable", 0.0)
    assert reason in result.evidence


def test_a_claim_that_is_no_epsilon() -> None:
    promise = Guarantee(measure="zCDP", rho=ONE, trust="local")
    assert level(laplace, promise=lambda self: promise).outcome == "not applicable"


def test_the_law_of_coins_is_exact() -> None:
    def report(coins: Any) -> int:
        return 0 if coins.uniform() < 0.3 else 1 + (coins.uniform() < 0.25)

    low = Fraction(0.3)  # the float: a multiple of 2^-54
    least = Fraction(-(-low.numerator * 2**53 // low.denominator), 2**53)
    assert coin_law(report) == {0: least, 1: (1 - least) * Fraction(3, 4), 2: (1 - least) / 4}
    with pytest.raises(NotSteps, match="coins and draws noise"):
        coin_law(lambda coins: coins.laplace(coins.uniform() < 0.5, sensitivity=1, epsilon=ONE))
