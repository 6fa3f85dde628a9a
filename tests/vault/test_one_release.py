"""Joint releases in a session: a record is read once or never, in whatever order answers come."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import EVERY
from dpbandits.vault import JointVault
from tests.session.test_joint import Silent, session


class Noted(Silent):
    """Writes down every sum that was read; answers as another run did, where one is given."""

    def __init__(self, said: list[tuple[int, ...]] | None = None) -> None:
        super().__init__(2)
        self.read, self.said = list[tuple[int, ...]](), said

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        self.read.append(tuple(map(int, values)))
        return self.read[-1] if self.said is None else self.said[len(self.read) - 1]


def told_at_random(noise: Noted, delay: int, changed: int, reward: float) -> dpb.Session:
    """Answers come in any order, some as the default, some never; one record's is given."""
    problem, rng = dpb.UniformMatroid(arms=5, rank=2), np.random.default_rng(delay)
    policy = dpb.DPJointMAT(problem=problem, epsilon=4, first=1.0)
    of, waiting = dpb.Session(policy, noise=noise, seed=3), list[dpb.Decision]()
    for _ in range(400):
        waiting.append(of.ask())
        while len(waiting) > delay * rng.random():
            told, fate = waiting.pop(int(rng.integers(len(waiting)))), rng.random()
            if fate < 0.8 or told.id == changed:
                of.tell(told, [reward if told.id == changed else 0.25] * 2)
            elif fate < 0.9:
                of.expire(told)
            else:
                of.void(told)
    return of


def moved(delay: int, changed: int) -> list[list[int]]:
    """By how much the sums of each release move that move at all, if one record is replaced and all
    answers are what they were. All decisions are what they were, too.
    """
    noise = Noted()
    of = told_at_random(noise, delay, changed, 0.0)
    assert (of._wheel.balanced, of.spent, len(noise.read)) == (True, 4, of.releases)
    other = Noted(noise.read)
    again = told_at_random(other, delay, changed, 1.0)
    assert list(again.decisions()) == list(of.decisions())
    pairs = [(a, b) for a, b in zip(noise.read, other.read, strict=True) if a != b]
    return [[b - a for a, b in zip(*pair, strict=True)] for pair in pairs]


@pytest.mark.parametrize("delay", [0, 3, 40, 150])
@pytest.mark.parametrize("changed", [1, 7, 30, 111, 290])
def test_a_record_is_in_one_release_at_most(changed: int, delay: int) -> None:
    """One record is replaced: the sums of one release at most move, each by one reward at most."""
    found = moved(delay, changed)
    assert len(found) <= 1
    steps = session().policy.reader.grid.steps
    assert {by for release in found for by in release} <= {0, steps}


def both(sums: dict[int, int], others: dict[int, int]) -> dict[int, int]:
    return {arm: sums.get(arm, 0) + others.get(arm, 0) for arm in {*sums, *others}}


def in_two_blocks(patch: pytest.MonkeyPatch) -> None:
    """BROKEN ON PURPOSE: a record enters another plan's open block, too."""
    enter = JointVault.enter

    def entered(box: Any, where: Any, steps: Any, count: int = 1, block: Any = None) -> None:
        enter(box, where, steps, count, block)
        for key, (total, rewards, of_block) in list(box._open.items()):
            if key not in (EVERY, block[0]):
                box._open[key] = (
                    both(total, dict(zip(where, steps, strict=True))),
                    rewards,
                    of_block,
                )
                return

    patch.setattr(JointVault, "enter", entered)


def never_emptied(patch: pytest.MonkeyPatch) -> None:
    """BROKEN ON PURPOSE: what a release read is in the next block, too."""
    release, left = JointVault.release, dict[int, Any]()

    def released(box: Any, coordinates: Any, *rest: Any) -> Any:
        key = rest[-1]
        total, rewards, of_block = box._open[key]
        box._open[key] = both(total, left.get(id(box), {})), rewards, of_block
        left[id(box)] = total
        return release(box, coordinates, *rest)

    patch.setattr(JointVault, "release", released)


@pytest.mark.parametrize("breaks", [in_two_blocks, never_emptied], ids=lambda b: b.__name__)
def test_a_record_in_two_releases_is_seen(breaks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above would say of such a vault."""
    breaks(monkeypatch)
    assert any(len(moved(40, changed)) > 1 for changed in (7, 30, 111, 290))
