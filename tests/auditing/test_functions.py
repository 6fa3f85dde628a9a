"""What else can be audited: a local randomizer by itself, a plain function of data; and `arms=`
reaches whatever makes a subject.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.auditing.foreign import FunctionSubject, RandomizerSubject, takes_data
from dpbandits.auditing.statistical import statistical_level
from dpbandits.mechanisms import LocalLaplace, RandomizedResponse
from dpbandits.noise import Noise


def noisy_sum(rewards: Any, seed: int) -> float:
    """1-private for rewards in hundredths: whole steps, as the last bits of a float would tell
    more.
    """
    up, down = np.random.default_rng(seed).geometric(1 - math.exp(-1 / 100), 2)
    return float(np.rint(100 * np.sum(rewards)) + up - down)


def exact_mean(rewards: Any) -> float:
    return float(np.mean(rewards))


class Loud(RandomizedResponse):  # type: ignore[misc]  # final for everybody else
    """Twice its epsilon."""

    def randomise(self, steps: int, noise: Noise) -> int:
        return RandomizedResponse(epsilon=2 * self.epsilon, grid=self.grid).randomise(steps, noise)


def test_a_randomizer_by_itself() -> None:
    randomizer = RandomizedResponse(epsilon=Fraction(1))
    report = dpb.audit(randomizer, levels=["randomised response", "transcript"])
    assert [(level.level, level.outcome) for level in report.levels] == [
        ("randomised response", "passed")
    ]
    assert (report.claim, report.subject) == (1, repr(randomizer))
    assert 0.9 < report.lower_bound <= 1
    made = dpb.audit(RandomizedResponse, epsilon="1/2", levels=["randomised response"])
    assert (made.passed, made.claim) == (True, Fraction(1, 2))
    assert dpb.audit(Loud(epsilon=Fraction(1)), levels=["randomised response"]).failed
    with pytest.raises(ValueError, match="audited as it is"):
        dpb.audit(LocalLaplace(epsilon=Fraction(1)), epsilon=2)


@pytest.mark.long
def test_a_randomizer_by_its_reports_alone() -> None:
    """It leaks 2. A bound above that comes with probability 10⁻⁶."""
    found = statistical_level(
        RandomizerSubject(Loud(epsilon=Fraction(1))), Fraction(1), workers=1, runs=20_000
    )
    assert found.outcome == "failed", found
    assert found.lower_bound < 2
    assert RandomizerSubject(LocalLaplace(epsilon=Fraction(1), width=3)).outcomes(
        np.ones((1, 3)), 5, 1
    ).shape == (5, 3)


@pytest.mark.long
def test_a_function_of_data() -> None:
    kept = statistical_level(
        FunctionSubject(noisy_sum, "noisy sum"), Fraction(1), workers=1, runs=20_000
    )
    assert kept.outcome == "not refuted", kept
    assert 0.7 < kept.lower_bound < 1
    leaks = dpb.audit(exact_mean, 1, runs=2000, workers=1)
    assert leaks.failed
    assert leaks.subject == "exact_mean"
    assert leaks.lower_bound > 3


def test_its_data() -> None:
    shapes = set()

    def first(data: Any, arms: int = 0) -> tuple[str, float]:
        shapes.add((data.shape, arms))
        data[:] = 7  # its own copy
        return "text", float(data.sum())

    subject, table = FunctionSubject(first, "first"), np.ones((4, 1))
    assert subject.outcomes(table, 2, 0).shape == (2, 2)
    assert table.max() == 1
    FunctionSubject(first, "first", arms=3).outcomes(np.ones((4, 3)), 2, 0)
    assert shapes == {((4,), 1), ((4, 3), 3)}
    assert {pair.a.shape for pair in FunctionSubject(first, "first", arms=3, rounds=5).pairs()} == {
        (1, 3),
        (2, 3),
        (5, 3),
    }


def test_what_is_taken_for_a_function_of_data() -> None:
    class Makes:
        def __init__(self, data: Any) -> None: ...

    assert takes_data(exact_mean)
    assert takes_data(noisy_sum)
    assert takes_data(lambda table: 0)
    for maker in (
        lambda: 0,
        lambda seed: 0,
        lambda seed, arms: 0,
        lambda data=None: 0,
        lambda a, b: 0,
        Makes,
        dict,
    ):
        assert not takes_data(maker)
    with pytest.raises(TypeError, match="taken for a function of data"):
        dpb.audit(lambda size: object(), 1, runs=100)
    with pytest.raises(ValueError, match="as many numbers"):
        dpb.audit(lambda rewards, seed: [0] * (1 + seed % 2), 1, runs=100)


class Uniform:
    """Private: never looks. Says how many arms it was made with."""

    made: ClassVar[set[int]] = set()

    def __init__(self, arms: int, seed: int = 0) -> None:
        self.made.add(arms)
        self.rng, self.arms = np.random.default_rng(seed), arms

    def select(self) -> int:
        return int(self.rng.integers(self.arms))

    def update(self, arm: int, reward: float) -> None:
        pass


@pytest.mark.long
def test_arms_reach_what_makes_a_subject() -> None:
    """Before, `arms=` was for the tables alone, and a maker that asked for it was not called at
    all.
    """
    for arms, expected in ((3, {3}), (None, {2})):
        Uniform.made.clear()
        dpb.audit(Uniform, 1, arms=arms, runs=100, workers=1)
        assert Uniform.made == expected
    Uniform.made.clear()
    dpb.audit(lambda seed, arms=4: Uniform(arms, seed), 1, runs=100, workers=1)
    assert Uniform.made == {4}
    made = dpb.audit(
        lambda arms: dpb.AnytimeLazyUCB(arms=arms, epsilon=1),
        arms=3,
        levels=["transcript"],
        runs=100,
    )
    assert "arms=3" in made.subject
    assert math.isclose(made.lower_bound, 1)
