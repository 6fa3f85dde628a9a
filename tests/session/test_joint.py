"""Joint releases in a session: a record lives in its own plan's block, is read there once or never,
in whatever order answers come, and what comes too late is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Hold
from dpbandits.noise.protocol import Noise
from dpbandits.session.state import Told, View
from dpbandits.vault import OpenBlock, Vault, added
from tests.session.replay import largest_loss
from tests.session.small import (
    Exact,
    counts,
    recorded,
    reward_of,
)


def session(first: float = 1.0, arms: int = 4, noise: Any = None) -> dpb.Session:
    problem = dpb.UniformMatroid(arms=arms, rank=2)
    policy = dpb.DPJointMAT(problem=problem, epsilon=4, first=first)
    return dpb.Session(policy, noise=noise or Exact(2), seed=3)


def rounds_of(of: dpb.Session) -> int:
    assert isinstance(of.plan, Hold)
    return of.plan.rounds


def test_a_block_closes_short_where_answers_come_out_of_order() -> None:
    """Half of a block is enough once an answer to a younger plan came; in order, none closes so.
    What comes after that is dropped unread.
    """
    of = session(first=8.0)
    rounds = rounds_of(of)
    ahead = of.ask(count=2 * rounds)
    for decision in ahead[: rounds // 2]:
        of.tell(decision, [1.0, 1.0])
    assert of.releases == 0
    of.tell(ahead[rounds], [1.0, 1.0])
    assert (of.releases, of.state.rounds) == (1, (rounds // 2, rounds // 2, 0, 0))
    for decision in ahead[rounds // 2 : rounds]:  # too late
        of.tell(decision, [1.0, 1.0])
    assert (of.releases, list(counts(of).values())) == (1, [1])
    for decision in ahead[rounds + 1 :]:
        of.tell(decision, [1.0, 1.0])
    assert (of.releases, of.state.rounds[2:]) == (2, (rounds, rounds))
    assert (recorded(of), of.unread, of.spent) == (2 * rounds, 0, 4)


# A record is read once or never


def loss(delay: int, chosen: Sequence[int]) -> Any:
    """Of these decisions' records, in units of epsilon. Answers come in any order, some as the
    default, some never.
    """

    def play(records: list[float], noise: Noise) -> Any:
        of, rng, waiting = session(1.0, 5, noise), np.random.default_rng(delay), list[Any]()
        for _ in range(400):
            waiting.append(of.ask())
            while len(waiting) > delay * rng.random():
                told, fate = waiting.pop(int(rng.integers(len(waiting)))), rng.random()
                if fate < 0.8 or told.id in chosen:
                    of.tell(told, [records[told.id]] * 2)
                elif fate < 0.9:
                    of.expire(told)
                else:
                    of.void(told)
        return list(of.decisions()), of.ledger

    return largest_loss(play, [0.0] * 401, [1.0], at=chosen, most=4) / 4


CHOSEN = [1, 7, 30, 111, 290]


@pytest.mark.parametrize("delay", [0, 3, 40, 150])
def test_a_record_is_in_one_release_at_most(delay: int) -> None:
    """One record is replaced: the sums of one release at most move, each by one reward at most."""
    assert loss(delay, CHOSEN) == 1


def in_two_blocks(patch: pytest.MonkeyPatch) -> None:
    """BROKEN ON PURPOSE: a record enters another plan's open block, too."""
    honest = View.apply

    def apply(self: View, event: Any, at: int) -> None:
        honest(self, event, at)
        if type(event) is Told:
            _, steps = event.parts[0]
            for key, block in self.blocks.items():
                if key != event.counted_as and len(block.sums) == len(steps):
                    self.blocks[key] = OpenBlock(block.count, added(block.sums, steps))
                    return

    patch.setattr(View, "apply", apply)


def never_emptied(patch: pytest.MonkeyPatch) -> None:
    """BROKEN ON PURPOSE: what a release read is in the next block, too."""
    honest, left = Vault.release, dict[int, Any]()

    def release(self: Vault, books: Any, read: Any, drop: Any = (), *given: Any) -> Any:
        for key in read:
            count, sums = books.blocks[key].count, books.blocks[key].sums
            before = left.get(len(sums), (0,) * len(sums))
            more, left[len(sums)] = added(sums, before), sums
            books = books._replace(blocks={**books.blocks, key: OpenBlock(count, more)})
        return honest(self, books, read, drop, *given)

    patch.setattr(Vault, "release", release)


@pytest.mark.parametrize("breaks", [in_two_blocks, never_emptied], ids=lambda b: b.__name__)
def test_a_record_in_two_releases_is_seen(breaks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above would say of such a vault."""
    breaks(monkeypatch)
    assert loss(40, CHOSEN) > 1


# Saved and continued


def test_a_release_says_how_often_each_super_arm_was_told() -> None:
    """Of the decisions told since the last one, whether or not their policy looks at it."""
    seen, told = list[Any](), Counter[Any]()

    class Watching(dpb.DPJointMAT):
        def update(self, state: Any, plan: Any, release: Any) -> Any:
            seen.append(dict(release.told))
            return super().update(state, plan, release)

    policy = Watching(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=4, first=1.0)
    s = dpb.Session(policy, noise=Exact(1), seed=1)
    for _ in range(60):
        decision = s.ask()
        told[decision.observe or decision.action] += 1
        before = len(seen)
        s.tell(decision, reward_of(s, decision))
        if len(seen) > before:
            assert seen[-1] == dict(told)
            told.clear()
    assert len(seen) > 3
