"""`check_environment`: ours pass, and broken ones fail for the right reason."""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import CheckFailed, check_environment
from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.privacy import Grid
from dpbandits.environments import Independent, Lattice

OURS = [
    dpb.Bernoulli([0.5, 0.25, 1.0]),
    dpb.Beta([1, 3], [2, 1]),
    dpb.Uniform([0.0, 0.25], [1.0, 0.5]),
    dpb.Categorical([0, 0.25, 1], [[0.2, 0.3, 0.5], [0.5, 0.5, 0]]),
    dpb.Categorical([0.25, 1], [[0.2, 0.8], [0.5, 0.5]]),
    dpb.SharedCoins([0.25, 0.5], [1, 0, 1]),
    dpb.ChangingMeans([[0.2, 0.8], [0.7, 0.1], [0.5, 0.5]], starts=[0, 7, 30], rounds=50),
    dpb.Table([[0, 1], [0.5, 0.25], [1, 1]]),
    dpb.Table([[0, 0.5], [0.3, 1], [1, 1], [0.9, 0.25]], resample=True),
    dpb.ContextTable([[0.6, 0.8], [0.8, 0.6]], [[0.1, 0.9], [0.3, 0.2]]),
    dpb.Drift([0.3, -0.3]).environment([0.1, 0.5], rounds=60),
    dpb.LoggedReplay([0, 1, 0, 1] * 40, [0.5, 1, 0, 0.25] * 40, arms=2),
]


@pytest.mark.parametrize("environment", OURS, ids=lambda environment: type(environment).__name__)
def test_ours_pass(environment: dpb.Environment) -> None:
    check_environment(environment)


@pytest.mark.parametrize(
    "environment", [dpb.Table([[0.3], [1]], resample=True), dpb.Beta([1], [3])]
)
def test_coins_on_a_grid_pass(environment: dpb.Environment) -> None:
    check_environment(environment, Grid(steps=4, rounding="bernoulli"))


ODD: dict[str, Any] = {"no number": math.nan, "nothing": None, "an array": np.array([0.5])}


class Broken(Independent):
    """Coins of chance 1/4 and 1/2, with a fault."""

    def __init__(self, fault: str) -> None:
        super().__init__([0.25, 0.5])
        self.fault = fault

    def draw(self, action: int, rng: np.random.Generator) -> float:
        if self.fault == "own coins":
            rng = np.random.default_rng()
        if self.fault in ODD:
            return ODD[self.fault]
        chance = self.means[action] + 0.05 * (self.fault == "biased")
        return float(rng.random() < chance) * (2.0 if self.fault == "too large" else 1.0)

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        if self.fault == "another order":
            arms = np.sort(arms)
        if self.fault == "one coin":
            return (rng.random() < self.means[arms]).astype(float)
        found = np.array([self.draw(arm, rng) for arm in arms.tolist()])
        return found**0 if self.fault == "ones together" else found

    def on_grid(self, steps: int) -> Lattice:
        levels = np.array([0, steps / 2 if self.fault == "half steps" else steps // 2, steps])
        rows = np.array([[0.75, 0.0, 0.25], [0.5, 0.0, 0.5]])
        if self.fault == "other law":
            rows[1] = 0.25, 0.5, 0.25
        if self.fault == "other means":
            rows = rows[::-1]
        if self.fault == "a pair":
            return levels, rows  # type: ignore[return-value]
        return Lattice(levels, rows / 2 if self.fault == "no law" else rows)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("own coins", "two fresh environments give other rewards"),
        ("too large", r"A reward lies outside \[0, 1\]"),
        ("biased", "rewards average"),
        ("other means", "means are .* off"),
        ("other law", "Arm 1's rewards have another law"),
        ("ones together", "Arm 1's rewards by draw_many have another law"),
        ("another order", "Arm 1's rewards by draw_many have another law"),
        ("one coin", "All arms' rewards together have another law"),
        ("no law", "no law"),
        ("a pair", "no Lattice of two arrays"),
        ("half steps", "float64, not whole numbers"),
        *((odd, r"A reward lies outside \[0, 1\], or is no number") for odd in ODD),
    ],
)
def test_faults_are_named(fault: str, message: str) -> None:
    with pytest.raises(CheckFailed, match=message):
        check_environment(Broken(fault))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("rare", "A reward lies outside"),
        ("block", "blocks of 2 rounds"),
        ("draw", "rewards of two rounds"),
        ("block_many", "blocks of 2 rounds by block_many"),
    ],
)
def test_faults_of_more_than_a_few_rounds_are_found(fault: str, message: str) -> None:
    class Sticky(dpb.Environment):
        """Two rounds repeat one reward, or it has no law and a rare fault."""

        def __init__(self, fault: str) -> None:
            self.means, self.fault, self.before = np.array([0.5]), fault, -1.0

        def fresh(self) -> "Sticky":
            return Sticky(self.fault)

        def draw(self, action: int, rng: np.random.Generator) -> float:
            if self.fault == "rare" and rng.random() < 0.01:
                return -1.0
            again, self.before = self.before, -1.0
            if again < 0 or self.fault != "draw":
                again = self.before = float(rng.random() < 0.5)
            return again

        def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
            alike = rounds if self.fault == "block" else 1
            return int(rng.binomial(rounds // alike, 0.5)) * alike * grid.steps

        def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
            return rng.integers(0, 2, len(arms)).astype(float)

        def block_many(
            self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
        ) -> Integers:
            alike = rounds if self.fault == "block_many" else 1
            return rng.binomial(rounds // alike, 0.5, len(arms)) * alike * grid.steps

        def lattice(self, grid: Grid) -> Lattice | None:
            law = Lattice(np.array([0, grid.steps]), np.array([[0.5, 0.5]]))
            return None if self.fault == "rare" else law

    check_environment(Sticky(""))
    with pytest.raises(CheckFailed, match=message):
        check_environment(Sticky(fault))


def test_what_is_no_environment_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Expected an environment such as .* type list"):
        check_environment([0.5, 0.4])  # type: ignore[arg-type]
