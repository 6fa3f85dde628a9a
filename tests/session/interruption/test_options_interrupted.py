"""Sessions with options, used at random and interrupted anywhere: answers that wait, segments, a
guardrail, arms by chance. Every call is made again until it passes.

Each reward is a bit of its own, so that sums say which rewards are in them, and which twice.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.vault.guarded import GuardedVault
from tests.session.interruption.interrupted import Interrupted, Silent, interrupt

GRID = 2**20
POLICY = dpb.DPKLUCB(arms=2, epsilon=16, first=3, grid=GRID)
MOST = 19
"""Decisions of a session (or segment): each reward is 2 to the minus (1 + id), on that grid."""

LATE: dict[str, Any] = {"attribution_window": timedelta(seconds=10)}
RAIL: dict[str, Any] = {"guardrail": dpb.Guardrail("complaints", limit=0.01)}
"""Everybody complains, so an arm is suspended by its first block."""
OPTIONS: dict[str, dict[str, Any]] = {
    "late answers": LATE,
    "segments": {"segments": ["x", "y"]},
    "segments and late answers": {"segments": ["x", "y"], **LATE},
    "guardrail": RAIL,
    "least shares": {"min_share": 0.2},
    "shuffled": {"assignment": "shuffled"},
    "late answers, guardrail and least shares": {**LATE, **RAIL, "min_share": 0.2},
}


class Play:
    """One session at work.

    told: decisions that a tell began for, by segment and id. taken: those whose tell passed.
    interruptions: how many there were. beyond: tells after an arm was suspended.
    """

    def __init__(self, options: dict[str, Any], seed: int) -> None:
        self.random, self.now = random.Random(seed), 1000.0
        self.clock: Any = {"clock": lambda: self.now} if "attribution_window" in options else {}
        self.segments = options.get("segments", [""])
        self.guarded = "guardrail" in options
        self.session: Any = dpb.Session(POLICY, noise=Silent(1), seed=seed, **options, **self.clock)
        self.told, self.taken = set[tuple[str, int]](), set[tuple[str, int]]()
        self.interruptions = self.beyond = 0

    def parts(self) -> dict[str, dpb.Session]:
        session = self.session
        return {"": session} if isinstance(session, dpb.Session) else dict(session._parts)

    def again(self, call: Callable[[], Any]) -> bool:
        """Make the call, at random interrupted, until it passes; False: it had nothing left to do,
        for a decision was claimed, or its time has passed.
        """
        for lines in self.random.choices([12, 40, 120, 400], k=self.random.choice([0, 1, 1, 2, 3])):
            try:
                interrupt(call, self.random.randrange(1, lines))
                return True
            except Interrupted:
                self.interruptions += 1
            except dpb.DecisionError:
                return False
        try:
            call()
        except dpb.DecisionError:
            return False
        return True

    def step(self) -> None:
        pending, rng = self.session.pending, self.random
        kind = rng.choice(["ask"] * 5 + ["tell"] * 6 + ["many"] * 2 + ["wait", "settle", "save"])
        if kind == "ask":
            name = rng.choice(self.segments)
            if self.parts()[name]._wheel.asked < MOST - 8:  # each try may make two
                count = rng.choice([None, None, 2])
                self.again(lambda: self.session.ask(count, segment=name or None))
        elif kind == "wait":
            self.now += rng.choice([1, 4, 11])
        elif kind == "settle":
            self.again(self.session.settle)
        elif kind == "save":
            text = self.session.to_json(unsealed=True)
            self.session = type(self.session).from_json(text, noise=Silent(1), **self.clock)
        elif pending:
            self.tell(rng.sample(pending, min(len(pending), 3 if kind == "many" else 1)), kind)

    def tell(self, decisions: list[dpb.Decision], kind: str) -> None:
        names = {(self.segment_of(decision), decision.id) for decision in decisions}
        self.told |= names
        self.beyond += self.guarded and "paused" in dict(self.session.arms).values()

        def tell_one() -> None:
            self.session.tell(decisions[0], self.reward(decisions[0]))

        def tell_those_left() -> None:
            left = self.session.pending
            self.session.tell_many((d, self.reward(d)) for d in decisions if d in left)

        if self.again(tell_one if kind == "tell" else tell_those_left):
            self.taken |= names

    def segment_of(self, decision: dpb.Decision) -> str:
        return decision.campaign.rpartition("/")[2] if len(self.segments) > 1 else ""

    def reward(self, decision: dpb.Decision) -> Any:
        reward = 2.0 ** -(1 + decision.id)
        return (reward, 1.0) if self.guarded else reward


def sums_of(session: dpb.Session) -> list[int]:
    """All rewards of each arm that were recorded, in grid steps: released, or in its open block."""
    vault, released = session._vault, session.state.totals
    grid, sums = vault._grid.steps, vault._sums()
    assert grid % GRID == 0
    if isinstance(vault, GuardedVault):
        assert all(harm <= grid * n for harm, n in zip(sums[1::2], vault._counts(), strict=True))
        sums = sums[::2]
    return [round(total * grid) + open_ for total, open_ in zip(released, sums, strict=True)]


def require_whole(play: Play) -> None:
    """Each reward is in one sum, in no other, and in it once; or it was lost."""
    play.session.settle()
    for name, session in play.parts().items():
        wheel, vault = session._wheel, session._vault
        assert wheel.busy is False
        assert vault.staged is None
        assert wheel.balanced
        assert vault.records + session.lost + session.unread + len(wheel.pending) == wheel.asked
        bits = {vault._grid.steps >> (1 + id): id for of, id in play.told if of == name}
        taken = {id for of, id in play.taken if of == name and id not in wheel.pending}
        found = list[int]()
        for total in sums_of(session):
            found += [bit for bit in (1 << place for place in range(64)) if total & bit]
        assert len(found) == len(set(found)), "a reward is in two sums"
        assert bits.keys() >= set(found), "a reward that was never told, or one that counts twice"
        assert len(taken - {bits[bit] for bit in found}) <= session.lost
        if not play.clock:  # else whoever did not answer counts as 0
            assert len(found) == vault.records, "a reward counts twice"


@pytest.mark.parametrize("name", OPTIONS)
def test_sessions_with_options_count_each_reward_once(name: str) -> None:
    play_all(name, range(30))


@pytest.mark.long
@pytest.mark.parametrize("name", OPTIONS)
def test_sessions_with_options_count_each_reward_once_with_many_seeds(name: str) -> None:
    play_all(name, range(30, 400))


def play_all(name: str, seeds: range) -> None:
    interruptions = releases = beyond = 0
    for seed in seeds:
        play = Play(OPTIONS[name], seed)
        for _ in range(60):
            play.step()
        require_whole(play)
        interruptions, beyond = interruptions + play.interruptions, beyond + play.beyond
        releases += sum(session.releases for session in play.parts().values())
    assert interruptions > 10 * len(seeds)
    assert releases > 2 * len(seeds)
    assert beyond > len(seeds) or "guardrail" not in name


def begun(name: str) -> Play:
    """Of each segment three decisions are answered, and their time has passed; three more wait."""
    play = Play(OPTIONS[name], 1)
    for segment in play.segments:
        play.session.ask(3, segment=segment or None)
    told_now(play)
    play.now += 11
    for segment in play.segments:
        play.session.ask(3, segment=segment or None)
    return play


def told_now(play: Play) -> None:
    """All that wait are told, in one call: the first of them ends a block, or comes beyond one."""
    waiting = play.session.pending
    play.told |= {(play.segment_of(decision), decision.id) for decision in waiting}
    play.session.tell_many((decision, play.reward(decision)) for decision in waiting)


def asked_now(play: Play) -> None:
    """What was answered, and whose time has passed, is recorded first."""
    play.session.ask(2, segment=play.segments[0] or None)


def stopped_at_lines(name: str, call: Callable[[Play], None], stride: int) -> None:
    """The call is interrupted at its lines, and made again."""
    at, passed = 1, False
    while not passed:
        play = begun(name)
        if call is asked_now and play.clock:
            told_now(play)
            play.now += 11
        try:
            interrupt(lambda play=play: call(play), at)
            passed = True
        except Interrupted:
            call(play)
        require_whole(play)
        at += stride
    assert at > 30


@pytest.mark.parametrize("call", [told_now, asked_now])
@pytest.mark.parametrize("name", OPTIONS)
def test_a_call_with_options_is_made_again(name: str, call: Callable[[Play], None]) -> None:
    stopped_at_lines(name, call, 3)


@pytest.mark.long
@pytest.mark.parametrize("call", [told_now, asked_now])
@pytest.mark.parametrize("name", OPTIONS)
def test_a_call_with_options_is_made_again_from_any_line(
    name: str, call: Callable[[Play], None]
) -> None:
    stopped_at_lines(name, call, 1)
