"""Which tables are tried, and how many fit into memory; errors of a mechanism's own."""

import random
import tracemalloc
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from benchmarks.controls.unseen import WarmStart

from dpbandits import audit
from dpbandits.auditing.foreign import ForeignSubject
from dpbandits.auditing.tables import in_turn_with_another
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer, Block
from dpbandits.mechanisms.base import Pure, PurePrice
from dpbandits.noise import Noise


class Coin:
    def __init__(self, seed: int, arms: int) -> None:
        self.coins, self.arms = random.Random(seed), arms

    def select(self) -> int:
        return self.coins.randrange(self.arms)

    def update(self, arm: int, reward: float) -> None:
        """It heeds nothing."""


@pytest.mark.long
def test_a_thousand_arms_fit_into_memory() -> None:
    """All pairs of tables were made at once: eleven gigabytes."""
    tracemalloc.start()
    pairs = ForeignSubject(Coin, "coin", arms=1000).pairs()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert any(pair.rounds == 2000 for pair in pairs)
    assert size < 500e6


def test_more_rewards_than_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="rounds × arms to be at most 10,000,000, got 1,000,000"):
        audit(Coin, 1, arms=1000, rounds=10**6)


def small_counts(rewards: Any, seed: int) -> int:
    """A noised count, but for those of less than five, which are not told."""
    count = int((rewards > 0.5).sum())
    return -1 if count < 5 else round(count + np.random.default_rng(seed).laplace())


def test_a_threshold_of_the_exact_count_is_found() -> None:
    """None of the tables had five ones and lost one of them: it was not refuted."""
    assert audit(small_counts, 1, levels=["statistical"], runs=5000, workers=1).failed


@dataclass(frozen=True, kw_only=True)
class SumOfBoth(PurePrice):
    """Correct: one noised sum of two coordinates, where a record is in one of them."""

    compares = True
    proof = "lazy_forgetful"

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Any, ...]]:
        total = sum(map(int, block.sums))
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, tuple(Answer(noisy / self.grid.steps, count, 1) for count in block.counts)


@pytest.mark.long
def test_one_record_moves_where_coordinates_are_compared() -> None:
    """A record of either coordinate moved: 1.875 was certified of what is 1-private."""
    correct = SumOfBoth(epsilon=Fraction(1), grid=Grid(steps=1))
    report = audit(correct, levels=["statistical"], runs=20_000, workers=1)
    assert (report.verdict, report.lower_bound < 1) == ("not refuted", True), report


class Overflows(Pure):
    proof = "lazy_forgetful"

    def start(self) -> list[int]:
        return []

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        if total == count * self.grid.steps:
            raise OverflowError("too many")
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return memory, Answer(noisy / self.grid.steps, count, 1)


def test_an_error_that_depends_on_rewards_says_what_was_being_done() -> None:
    with pytest.raises(OverflowError) as caught:
        audit(Overflows(epsilon=Fraction(1)), levels=["transcript"], runs=100)
    (note,) = caught.value.__notes__
    assert "that tells of them" in note


def test_what_one_object_leaves_to_the_next_is_seen() -> None:
    """Its first decision is by exact sums of the object before: there was no verdict, or no
    refutation.
    """
    report = audit(WarmStart, 1, runs=2_000, workers=1)
    assert report.failed
    assert "two objects in turn" in report.levels[0].evidence


def test_tapes_of_two_objects_differ_in_a_record_of_the_first() -> None:
    pairs = in_turn_with_another(2, 4)
    assert {pair.a.shape for pair in pairs} == {(2, 4, 2)}
    for pair in pairs:
        assert not pair.a[1].any()
        assert not pair.b[1].any()
        assert np.count_nonzero((pair.a != pair.b).any(axis=-1)[0]) == 1
