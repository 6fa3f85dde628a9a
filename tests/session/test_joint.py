"""Joint releases in a session: a record lives in its own plan's block, is read there once or never,
in whatever order answers come, and what comes too late is dropped.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Hold
from dpbandits.session.state import Told, View
from dpbandits.vault import OpenBlock, Vault, added
from tests.session.small import (
    Exact,
    blocks,
    changed,
    counts,
    document,
    loaded,
    play,
    recorded,
    reward_of,
)

EIGHT = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=8, rank=3), epsilon=4, first=2)


def session(first: float = 1.0, arms: int = 4, noise: Any = None) -> dpb.Session:
    problem = dpb.UniformMatroid(arms=arms, rank=2)
    policy = dpb.DPJointMAT(problem=problem, epsilon=4, first=first)
    return dpb.Session(policy, noise=noise or Exact(2), seed=3)


def rounds_of(of: dpb.Session) -> int:
    assert isinstance(of.plan, Hold)
    return of.plan.rounds


def blocks_of(of: dpb.Session) -> dict[int, int]:
    """By decision that waits, the open block that its reward will enter; 0: none."""
    state = of._current.folded()
    return {
        id: p.counted_as if p.counted_as in state.plans else 0 for id, p in state.pending.items()
    }


def test_what_is_asked_ahead_is_planned_and_read_in_blocks_of_its_own() -> None:
    """The elements are covered while the first block is awaited, and each block is read once."""
    of = session()
    rounds = rounds_of(of)
    ahead = of.ask(count=4 * rounds)
    by_plan = [{d.action for d in ahead[at : at + rounds]} for at in range(0, 4 * rounds, rounds)]
    assert by_plan == [{(0, 1)}, {(2, 3)}, {(0, 1)}, {(2, 3)}]
    for decision in reversed(ahead):
        of.tell(decision, [float(decision.id <= 2 * rounds)] * 2)
    assert (of.releases, of.spent, blocks(of)) == (4, 4, {})
    assert of.state.rounds == (2 * rounds,) * 4
    assert of.state.totals == (float(rounds),) * 4


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


def test_a_void_decision_takes_no_place() -> None:
    of = session()
    first = of.ask(count=3)
    of.void(first[0])
    assert of.ask().action == first[0].action


def test_a_nearly_noiseless_session_finds_the_best_basis() -> None:
    policy = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=5, rank=2), epsilon=1000, grid=1)
    of, rng = dpb.Session(policy, noise=dpb.SimulatedNoise(5), seed=6), np.random.default_rng(7)
    means = np.array([0.1, 0.8, 0.2, 0.9, 0.3])
    for _ in range(3000):
        decision = of.ask()
        of.tell(decision, (rng.random(2) < means[list(decision.observe or ())]).astype(float))
    assert of.plan.action_at(0, 0, None) == (1, 3)  # type: ignore[arg-type]


# A record is read once or never


class Noted(Exact):
    """Writes down every sum that was read; answers as another run did, where one is given."""

    def __init__(self, said: list[tuple[int, ...]] | None = None) -> None:
        super().__init__(2)
        self.read, self.said = list[tuple[int, ...]](), said

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        self.read.append(tuple(map(int, values)))
        return self.read[-1] if self.said is None else self.said[len(self.read) - 1]


def told_at_random(noise: Noted, delay: int, chosen: int, reward: float) -> dpb.Session:
    """Answers come in any order, some as the default, some never; one record's is given."""
    of, rng, waiting = session(1.0, 5, noise), np.random.default_rng(delay), list[dpb.Decision]()
    for _ in range(400):
        waiting.append(of.ask())
        while len(waiting) > delay * rng.random():
            told, fate = waiting.pop(int(rng.integers(len(waiting)))), rng.random()
            if fate < 0.8 or told.id == chosen:
                of.tell(told, [reward if told.id == chosen else 0.25] * 2)
            elif fate < 0.9:
                of.expire(told)
            else:
                of.void(told)
    return of


def moved(delay: int, chosen: int) -> list[list[int]]:
    """By how much the sums of each release move that move at all, if one record is replaced and all
    answers are what they were. All decisions are what they were, too.
    """
    noise = Noted()
    of = told_at_random(noise, delay, chosen, 0.0)
    assert (of.spent, len(noise.read)) == (4, of.releases)
    other = Noted(noise.read)
    again = told_at_random(other, delay, chosen, 1.0)
    assert list(again.decisions()) == list(of.decisions())
    pairs = [(a, b) for a, b in zip(noise.read, other.read, strict=True) if a != b]
    return [[b - a for a, b in zip(*pair, strict=True)] for pair in pairs]


@pytest.mark.parametrize("delay", [0, 3, 40, 150])
@pytest.mark.parametrize("chosen", [1, 7, 30, 111, 290])
def test_a_record_is_in_one_release_at_most(chosen: int, delay: int) -> None:
    """One record is replaced: the sums of one release at most move, each by one reward at most."""
    found = moved(delay, chosen)
    assert len(found) <= 1
    steps = session().policy.reader.grid.steps
    assert {by for release in found for by in release} <= {0, steps}


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
            count, sums = books.blocks[key]
            before = left.get(len(sums), (0,) * len(sums))
            more, left[len(sums)] = added(sums, before), sums
            books = books._replace(blocks={**books.blocks, key: OpenBlock(count, more)})
        return honest(self, books, read, drop, *given)

    patch.setattr(Vault, "release", release)


@pytest.mark.parametrize("breaks", [in_two_blocks, never_emptied], ids=lambda b: b.__name__)
def test_a_record_in_two_releases_is_seen(breaks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above would say of such a vault."""
    breaks(monkeypatch)
    assert any(len(moved(40, chosen)) > 1 for chosen in (7, 30, 111, 290))


# Saved and continued


def test_a_session_saved_while_plans_are_open_goes_on_as_it_would_have() -> None:
    whole, broken = session(), session()
    rngs = np.random.default_rng(1), np.random.default_rng(1)
    queues: tuple[list[dpb.Decision], list[dpb.Decision]] = ([], [])
    for round in range(150):
        for of, queue, rng in zip((whole, broken), queues, rngs, strict=True):
            queue.append(of.ask())
            while len(queue) > 20 * rng.random():
                told = queue.pop(int(rng.integers(len(queue))))
                of.void(told) if rng.random() < 0.1 else of.tell(told, rng.random(2).round())
        assert queues[0] == queues[1], round
        if round % 5 == 0:
            broken = loaded(broken, noise=Exact(2))
    assert (whole.state, whole.ledger) == (broken.state, broken.ledger)
    assert whole.releases > 5


@pytest.mark.parametrize("seed", range(20))
def test_decisions_that_wait_keep_their_block_whenever_it_is_saved(seed: int) -> None:
    of = dpb.Session(EIGHT, noise=dpb.SimulatedNoise(seed), seed=1)
    rng = np.random.default_rng(seed)
    waiting, several = list[dpb.Decision](), 0
    for _ in range(60):
        if not waiting or (rng.random() < 0.5 and len(waiting) < 4):
            waiting.append(of.ask())
        else:
            of.tell(waiting.pop(int(rng.integers(len(waiting)))), [1.0] * 3)
        assert blocks_of(loaded(of)) == blocks_of(of)
        several += len(of._current.plans) > 1
    assert several > 10


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("public.plans.0.0", 0),
        ("public.plans.0.1", ["x"]),
        ("public.plans.0.3", [-7]),
        ("public.plans.0.2", 0),
        ("public.plans", []),
        ("public.counts.0.1", 53),
        ("public.counts.0.0", -9),
        ("private.sums.0", [1]),
        ("private.sums.0.0", 10**6),
    ],
)
def test_edited_plans_are_refused(path: str, value: Any) -> None:
    of = session(first=8.0)
    for decision in of.ask(count=12)[:2]:
        of.tell(decision, [1.0, 1.0])
    data = document(of)
    assert recorded(loaded(data)) == 2
    with pytest.raises(dpb.DamagedSessionError):
        loaded(changed(data, path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("public.learned.1.0", 10**6),
        ("public.learned.3.0", "x"),
        ("public.ledger.lines", []),
        ("public.records", 0),
    ],
)
def test_edited_states_are_refused(path: str, value: Any) -> None:
    of = session()
    play(of, 9)
    data = document(of)
    with pytest.raises(dpb.DamagedSessionError):
        loaded(changed(data, path, value))


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
