"""Objects of other libraries: every leak that waits or hides between 0 and 1 is seen, and mistakes
are named.

Leaks here are deterministic, so that they are seen for sure; what is private fails with probability
1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.auditing.foreign import LATE, ForeignSubject
from dpbandits.auditing.report import AuditReport


class Late:
    """BROKEN: round robin for 9 rounds, then the raw leader."""

    def __init__(self) -> None:
        self.sums, self.played = [0.0, 0.0], 0

    def select(self) -> int:
        return self.played % 2 if self.played < 9 else int(self.sums[1] > self.sums[0])

    def update(self, arm: int, reward: float) -> None:
        self.sums[arm] += reward
        self.played += 1


class Between:
    """BROKEN: heeds only rewards strictly between 0 and 1."""

    def __init__(self) -> None:
        self.sums, self.played = [0.0, 0.0], 0

    def select(self) -> int:
        return int(self.sums[1] > self.sums[0]) if self.played > 3 else self.played % 2

    def update(self, arm: int, reward: float) -> None:
        self.played += 1
        if 0 < reward < 1:
            self.sums[arm] += reward - 0.4


class Older:
    """Perfectly private, on a generator that takes seeds below 2³² only."""

    def __init__(self, seed: int) -> None:
        self.coins = np.random.RandomState(seed)

    def ask(self) -> int:
        return int(self.coins.random_sample() < 0.5)

    def tell(self, decision: int, reward: float) -> None:
        pass


class Says:
    """Plays what it was made with."""

    def __init__(self, action: Any) -> None:
        self.action = action

    def ask(self) -> Any:
        return self.action

    def tell(self, decision: Any, reward: Any) -> None:
        pass


def audit(make: Any, claim: Any = 1, **more: Any) -> AuditReport:
    return dpb.audit(make, claim, **{"runs": 500, "workers": 1} | more)


def test_a_leak_after_the_short_tapes_is_seen() -> None:
    assert audit(Late).failed


def test_a_leak_between_0_and_1_is_seen() -> None:
    assert audit(Between).failed


def test_rounds_can_be_asked_for() -> None:
    def lengths(**how: Any) -> set[int]:
        return {pair.rounds for pair in ForeignSubject(Late, "late", **how).pairs()}

    assert lengths(rounds=5) == {5, 10, 20, 256, LATE}
    assert lengths(rounds=LATE + 100) == {LATE + 100}
    assert lengths(arms=40) == {8, 16, 80, 256, LATE}
    moved = {
        tuple(sorted((float(pair.a[where][0]), float(pair.b[where][0]))))
        for pair in ForeignSubject(Late, "late").pairs()
        for where in [pair.a != pair.b]
    }
    assert moved == {(0.0, 1.0), (0.5, 1.0), (0.25, 0.5), (0.02, 0.97)}
    with pytest.raises(ValueError, match="rounds=0"):
        audit(Late, rounds=0)


def test_pairs_differ_in_one_round() -> None:
    for pair in ForeignSubject(Late, "late").pairs():
        assert (pair.a != pair.b).any(axis=-1).sum() == 1, pair.label


@pytest.mark.long
def test_seeds_suit_older_generators() -> None:
    report = audit(Older)
    assert not report.failed
    assert "seed" not in report.levels[0].evidence


def seeded(seed: int) -> dpb.Session:
    return dpb.Session(
        dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1), noise=dpb.SimulatedNoise(seed), seed=seed
    )


@pytest.mark.long
def test_a_fixed_seed_is_hinted_at() -> None:
    fixed = audit(lambda: seeded(0), runs=100)
    assert fixed.failed
    assert "is its seed fixed? Let make(seed=...) take one" in fixed.levels[0].evidence


@pytest.mark.long
def test_a_seed_that_is_not_heeded_is_hinted_at() -> None:
    def once(seed: int = 0) -> dpb.Session:
        return seeded(0)

    heedless = audit(once, runs=100)
    assert "does it use the seed it is given?" in heedless.levels[0].evidence
    drawn = audit(seeded, runs=100)
    assert not drawn.failed
    assert "seed" not in drawn.levels[0].evidence


def test_a_deterministic_leak_still_fails() -> None:
    report = audit(Late)
    assert report.failed
    assert report.lower_bound > 3  # 500 runs of 500 against none of 500
    assert "if the object is meant to draw at random" in report.levels[0].evidence


@pytest.mark.parametrize(
    ("action", "error", "says"),
    [
        (2, ValueError, "from 0 to 1, got 2. Of an object with more arms say so"),
        (-1, ValueError, "from 0 to 1, got -1"),
        ((), ValueError, "which names none"),
        ((0, 5), ValueError, "got 5"),
        ("one", TypeError, "got 'one' of type str"),
        (0.5, TypeError, "got 0.5 of type float"),
        (None, TypeError, "got None"),
    ],
)
def test_what_is_no_arm_is_named(action: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        audit(lambda: Says(action))


@pytest.mark.parametrize("action", [1, np.int64(1), np.array(1), (0, 1), [1, 0], True])
def test_arms_in_many_guises(action: Any) -> None:
    subject = ForeignSubject(lambda: Says(action), "says")
    assert len(subject.outcomes(subject.pairs()[0].a, 3, 0)) == 3


def test_errors_of_the_object_stay_what_they_are() -> None:
    class Boom(Says):
        def ask(self) -> Any:
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom") as caught:
        dpb.audit(lambda: Boom(0), 1, runs=100, workers=2, name="Boom")
    assert "Boom was being played" in caught.value.__notes__
