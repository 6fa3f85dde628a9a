"""Noise sources and oracles that fail: every call says whether its reward is recorded, and none is
lost or counted twice.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Hold, PublicRng
from tests.session.small import Exact, content, counts, loaded, play, read, recorded, reward_of

RECORDED = (
    "This reward is recorded, and its decision is no longer pending. The error is of a release or "
    "plan that it completed; the next call makes what is due."
)


@dataclass(frozen=True)
class Frozen(Exception):
    """An error that takes no note."""


def one_arm() -> tuple[dpb.Session, Exact]:
    noise = Exact(1)
    return dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1), noise=noise, seed=1), noise


def test_a_tell_says_whether_it_recorded() -> None:
    """The first failure comes after the reward has entered; later ones before, under a name of
    their own and with their cause.
    """
    s, noise = one_arm()
    decisions = s.ask(3)
    noise.failing = True
    with pytest.raises(OSError, match="no randomness") as first:
        s.tell(decisions[0], 1.0)
    assert first.value.__notes__ == [RECORDED]
    assert (counts(s), s.pending) == ({0: 1}, tuple(decisions[1:]))
    for _ in range(2):
        for call in (lambda: s.tell(decisions[1], 1.0), s.settle, s.ask, lambda: s.void(3)):
            with pytest.raises(dpb.NotRecordedError, match="recorded nothing") as error:
                call()
            assert isinstance(error.value.__cause__, OSError)
        with pytest.raises(dpb.NotRecordedError, match="Nothing was saved"):
            s.to_json()
        assert (counts(s), s.pending) == ({0: 1}, tuple(decisions[1:]))
    noise.failing = False
    for decision in decisions[1:]:
        s.tell(decision, 1.0)
    assert (read(s)[0] + counts(s).get(0, 0), s.pending) == (3, ())


def test_an_error_that_takes_no_note_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    s, noise = one_arm()

    def laplace(*_: Any, **__: Any) -> int:
        raise Frozen

    monkeypatch.setattr(noise, "laplace", laplace)
    with pytest.raises(Frozen):
        s.tell(s.ask(), 1.0)


def test_tell_many_keeps_all_its_pairs() -> None:
    """They are recorded, though the release that the first one completes fails."""
    s, noise = one_arm()
    late, *decisions = s.ask(5)
    noise.failing = True
    with pytest.raises(OSError, match="no randomness") as error:
        s.tell_many([(decision, 1.0) for decision in decisions])
    assert error.value.__notes__ == [RECORDED]
    for _ in range(2):
        assert (s.pending, s.resolved) == ((late,), 4)
        assert [row.waiting for row in s.decisions()] == [True, False, False, False, False]
        with pytest.raises(dpb.NotRecordedError):
            s.tell_many([(decisions[3], 1.0)])
    noise.failing = False
    with pytest.raises(dpb.DecisionError, match="resolved already"):
        s.tell_many([(decisions[3], 1.0)])
    assert read(s)[0] + counts(s).get(0, 0) == recorded(s) == 4
    assert s.pending == (late,)
    whole, _ = one_arm()
    asked = whole.ask(5)[1:]
    whole.tell_many([(decision, 1.0) for decision in asked])
    assert content(s) == content(whole)


def test_an_oracle_that_fails_has_seen_an_answer_that_is_not_drawn_again() -> None:
    """The block is read; the plan is still due."""
    failing, seen = False, list[Any]()

    def heaviest(weights: Any) -> Any:
        seen.append(tuple(weights))
        if failing:
            raise OSError("no catalogue")
        return weights.argsort()[-2:]

    problem = dpb.UserDecisionSet(arms=4, size=2, oracle=heaviest)
    policy = dpb.DPJointCUCB(problem=problem, epsilon=4)
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    decisions = s.ask(policy.plan(policy.init(), PublicRng(1, 0)).rounds)
    for decision in decisions[:-1]:
        s.tell(decision, [1, 0])
    failing = True
    seen.clear()
    with pytest.raises(OSError, match="no catalogue") as first:
        s.tell(decisions[-1], [1, 0])
    assert first.value.__notes__ == [RECORDED]
    assert (recorded(s), s.releases, s.pending) == (len(decisions), 1, ())
    for call in (s.settle, s.to_json):
        with pytest.raises(dpb.NotRecordedError) as error:
            call()
        assert isinstance(error.value.__cause__, OSError)
    failing = False
    s.settle()
    assert (recorded(s), s.releases) == (len(decisions), 1)
    assert len(set(seen)) == 1
    assert s.ask().action is not None


@pytest.mark.parametrize(
    "policy",
    [
        dpb.HybridUCB(arms=2, epsilon=1),
        dpb.DPUCB(arms=2, epsilon=1, horizon=64),
        dpb.TreeFTRL(actions=2, epsilon=1, horizon=64),
        dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=4, first=1.0),
    ],
    ids=lambda policy: policy.name,
)
def test_a_source_that_fails_now_and_then_changes_nothing(policy: Any) -> None:
    """Each draw that fails leaves everything as it was: the session ends like one whose draws all
    worked.
    """

    class Failing(Exact):
        coins = np.random.default_rng(1)

        def _works(self) -> None:
            if self.coins.random() < 0.1:
                raise OSError("no randomness")

    def played(noise: Exact) -> dpb.Session:
        s = dpb.Session(policy, noise=noise, seed=1)
        for _ in range(50):
            decision = None
            while decision is None:
                with contextlib.suppress(dpb.NotRecordedError):
                    decision = s.ask()
            with contextlib.suppress(OSError):
                s.tell(decision, reward_of(s, decision, 1.0))
        while True:
            with contextlib.suppress(dpb.NotRecordedError):
                s.settle()
                return s

    failing, whole = played(Failing(1)), played(Exact(1))
    assert (failing.state, failing.ledger) == (whole.state, whole.ledger)
    assert recorded(failing) == 50


def test_settle_makes_what_is_due_and_no_more() -> None:
    s, noise = one_arm()
    before = content(s)
    s.settle()
    assert content(s) == before
    noise.failing = True
    with pytest.raises(OSError, match="no randomness"):
        s.tell(s.ask(), 1.0)
    assert s.releases == 0
    noise.failing = False
    s.settle()
    assert (s.releases, s.pending) == (1, ())


@pytest.mark.parametrize(
    "policy",
    [
        dpb.DPUCB(arms=1, epsilon=1, horizon=3),
        dpb.TreeFTRL(actions=2, epsilon=1, horizon=3),
        dpb.CUCBDP(problem=dpb.TopK(arms=2, k=1), epsilon=1, horizon=3),
    ],
    ids=lambda policy: policy.name,
)
def test_beyond_its_horizon_a_policy_says_so_and_reads_nothing(policy: dpb.Policy) -> None:
    """Every further call has the same error, and none has another one around it. The session can
    still be saved, and says the same when it is loaded.
    """
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    words = r"Expected at most \d+ releases.* one more is due.* a longer horizon"
    s.ask(3)  # they wait still
    with pytest.raises(dpb.HorizonError, match=words):
        play(s, 9)
    others = s.pending[1:]
    for decision in others:  # which reads nothing
        s.void(decision)
    assert s.unread == len(others) >= 2
    with pytest.raises(dpb.DecisionError):
        s.void(others[0])
    ledger, waiting = s.ledger, s.pending
    for call in (lambda: s.tell(waiting[0], reward_of(s, waiting[0])), s.ask, s.settle):
        with pytest.raises(dpb.HorizonError, match=words) as error:
            call()
        assert getattr(error.value, "__notes__", []) == []
    assert (s.ledger, s.pending) == (ledger, waiting)
    again = loaded(s)
    assert (again.ledger, again.pending, recorded(again)) == (ledger, waiting, recorded(s))


class Farsighted(dpb.DPKLUCB):
    """Its own code says that a horizon was passed."""

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        raise dpb.HorizonError("no further")


def test_an_answer_that_a_policy_refuses_is_not_lost_in_a_document() -> None:
    s = dpb.Session(Farsighted(arms=2, epsilon=1, first=2), noise=Exact(1), seed=1)
    with pytest.raises(dpb.HorizonError):
        play(s, 2)
    assert s.releases == 1
    assert isinstance(s.plan, Hold)
    with pytest.raises(dpb.HorizonError):
        s.to_json()
