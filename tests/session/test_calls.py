"""Rewards that are recorded or refused, in any order, early or late: all or nothing, and once."""

import copy
import os
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms.rewards import checked_rewards
from tests.session.small import Exact, content, counts, loaded, play, recorded, reward_of, session


class Loud:
    def __eq__(self, other: object) -> bool:
        raise KeyError("0.7314")

    __hash__ = None  # type: ignore[assignment]


CHANGED: list[dict[str, Any]] = [
    {"action": 2},
    {"round": 99},
    {"observe": (0,)},
    {"observe": (1, 0)},  # in another order the rewards would be other arms'
    *({name: np.array(["a", "b"])} for name in ("action", "campaign")),
    {"action": np.zeros(2, "i4,i4")},
    *({name: Loud()} for name in ("action", "round", "campaign")),
    *({name: mock.ANY} for name in ("action", "round", "observe", "campaign")),
]


@pytest.mark.parametrize(
    "policy", [dpb.UCB1(arms=3), dpb.LazyCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=1)]
)
def test_a_changed_decision_is_refused_whatever_it_says(policy: Any) -> None:
    s, other = (dpb.Session(policy, noise=dpb.SimulatedNoise(1)) for _ in range(2))
    decision, foreign = s.ask(), other.ask()
    assert foreign[:4] == decision[:4]
    wrong = [decision._replace(**change) for change in CHANGED]
    for each in (*wrong, foreign, 99, 0, -1, "x", None, [1]):
        reward: Any = reward_of(s, decision)
        for call in (
            lambda e=each, r=reward: s.tell(e, r),
            lambda e=each: s.expire(e),
            lambda e=each, r=reward: s.tell_many([(e, r)]),
        ):
            with pytest.raises(dpb.DecisionError, match="decision") as caught:
                call()
            assert "7314" not in repr(caught.value)
    assert (s.pending, recorded(s)) == ((decision,), 0)
    s.tell(decision._replace(round=np.int64(decision.round)), reward_of(s, decision))
    copied = dpb.Decision(*s.ask())  # a copy is as good, and so is its id in a table
    s.tell(copied if policy.about.feedback == "bandit" else np.int64(copied.id), reward)
    with pytest.raises(dpb.DecisionError, match="resolved already"):
        s.tell(copied, reward)
    assert recorded(s) == 2


# Many at once


class Shifting:
    """A whole number that is another one the second time."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)

    def next(self) -> Any:
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if isinstance(value, Exception):
            raise value
        return value

    __int__ = __index__ = __float__ = next


Integral.register(Shifting)


def test_what_comes_is_read_once() -> None:
    s = session()
    first, second, third = s.ask(3)
    s.tell_many([(Shifting(first.id, second.id), 1.0)])  # type: ignore[list-item]
    assert s.pending == (second, third)
    s.tell_many([(second, Shifting(0.5, ValueError("0.7314"))), (third, 0.0)])
    assert s.pending == ()
    s.tell_many((s.ask(), 0.5) for _ in range(3))  # what makes the pairs may ask for decisions
    assert recorded(s) == 6
    buffer = np.full(4, 0.5)
    checked = checked_rewards(buffer, 4)
    buffer[:] = 1e12  # another thread fills it
    assert checked.max() == 0.5


def test_pending_decisions_have_a_limit() -> None:
    s = session(max_pending=5)
    first = s.ask(4)
    with pytest.raises(RuntimeError, match=r"max_pending=5 .*4 do, and 2 more .*None was made"):
        s.ask(2)
    s.ask()
    with pytest.raises(RuntimeError, match="and 1 more"):
        s.ask()
    assert [d.id for d in s.pending] == [1, 2, 3, 4, 5]
    s.expire(first[0])
    assert s.ask().id == 6
    assert session().max_pending == 100_000
    assert len(session(max_pending=5).ask(5)) == 5


# Noise sources and oracles that fail


RECORDED = (
    "This reward is recorded, and its decision is no longer pending. The error is of a release or "
    "plan that it completed; the next call makes what is due."
)


class Failing(Exact):
    """Fails now and then, and so does an oracle."""

    coins: ClassVar[Any] = None

    @classmethod
    def toss(cls) -> None:
        if cls.coins is not None and cls.coins.random() < 0.3:
            raise OSError("no randomness")

    def _works(self) -> None:
        self.toss()


def heaviest(weights: Any) -> Any:
    Failing.toss()
    return weights.argsort()[-2:]


OF_ORACLE = dpb.UserDecisionSet(arms=4, size=2, oracle=heaviest)


@pytest.mark.parametrize(
    "policy",
    [
        dpb.AnytimeLazyUCB(arms=1, epsilon=1),
        dpb.HybridUCB(arms=2, epsilon=1),
        dpb.DPUCB(arms=2, epsilon=1, horizon=64),
        dpb.TreeFTRL(actions=2, epsilon=1, horizon=64),
        dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=4, first=1.0),
        dpb.DPJointCUCB(problem=OF_ORACLE, epsilon=4, first=1.0),
    ],
    ids=lambda policy: policy.name,
)
def test_a_source_or_oracle_that_fails_now_and_then_changes_nothing(
    policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors say whether rewards were recorded; the session ends like one in which all worked."""

    def made(s: dpb.Session, call: Callable[[], Any]) -> Any:
        """What a call returns, once it is made."""
        while True:
            before, failed = s.pending, list[Exception]()
            try:
                return call()
            except (dpb.NotRecordedError, OSError) as error:
                failed.append(error)
            if getattr(failed[0], "__notes__", []) == [RECORDED]:
                return None
            assert s.pending == before
            if isinstance(failed[0], dpb.NotRecordedError):
                assert isinstance(failed[0].__cause__, OSError)
                assert re.search(r"recorded nothing|Nothing was saved", str(failed[0]))

    def played(coins: Any) -> dpb.Session:
        kind = dpb.SimulatedNoise if policy.name == "DPJointCUCB" else Failing
        s = dpb.Session(policy, noise=kind(1), seed=1)
        monkeypatch.setattr(Failing, "coins", coins)
        rng = np.random.default_rng(2)
        while recorded(s) < 50:
            decisions = made(s, lambda: s.ask(3))
            pairs = [(decision, reward_of(s, decision, 1.0)) for decision in decisions]
            if rng.random() < 0.5:
                made(s, lambda p=pairs: s.tell_many(p))
            else:
                for pair in pairs:
                    made(s, lambda p=pair: s.tell(*p))
            made(s, s.to_json if rng.random() < 0.5 else s.settle)
            assert s.pending == ()
        return s

    whole, failing = played(None), played(np.random.default_rng(1))
    assert (failing.state, failing.ledger) == (whole.state, whole.ledger)
    assert counts(failing) == counts(whole)


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
    """Every further call has this one error. The session can be saved, loaded and closed."""
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
    for each in (s, again):
        each.close("at its end")
        assert each.spent == 1
        assert each.pending == ()


class Finite(dpb.DPKLUCB):
    """Says that its own horizon is over, for as long as it is not allowed to learn."""

    is_over: ClassVar[bool]

    def update(self, state: Any, plan: Any, release: Any) -> Any:  # type: ignore[misc]
        if Finite.is_over:
            raise dpb.HorizonError("over")
        return super().update(state, plan, release)


@pytest.mark.parametrize("call", [lambda s: s.void(1), lambda s: s.close(), lambda s: s.to_json()])
def test_a_horizon_of_the_policys_own_loses_no_release(call: Callable[[Any], Any]) -> None:
    s = dpb.Session(Finite(arms=1, epsilon=1, first=4), noise=Exact(1), seed=1)
    Finite.is_over = True
    _, *others = s.ask(5)
    with pytest.raises(dpb.HorizonError):
        s.tell_many((each, 1.0) for each in others)
    before = s._log
    with pytest.raises(dpb.HorizonError):
        call(s)
    assert (s._log, s.closed, s.generation, len(s.pending)) == (before, None, 0, 1)
    Finite.is_over = False
    call(s)
    assert (s.releases, s.state.totals, s.spent) == (1, (4.0,), 1)


# One call at a time


LONG = 30.0
"""Seconds after which a thread is taken to hang. No verdict hangs on it unless something hangs."""

ONE_ARM = dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1)
"""It releases every round."""


def three_asked(noise: Any = None, asked: int = 3) -> dpb.Session:
    session = dpb.Session(ONE_ARM, noise=noise or Exact(1), seed=1)
    session.ask(asked)
    return session


CALLS: dict[str, Callable[[Any], Any]] = {
    "ask": lambda session: session.ask(),
    "ask many": lambda session: session.ask(2),
    "tell": lambda session: session.tell(1, 1.0),
    "tell_many": lambda session: session.tell_many([(1, 1.0)]),
    "expire": lambda session: session.expire(1),
    "void": lambda session: session.void(1),
    "settle": lambda session: session.settle(),
    "drop_open": lambda session: session.drop_open(),
    "add_arm": lambda session: session.add_arm(),
    "to_json": lambda session: session.to_json(),
}


class Meddling(Exact):
    """A noise source that does something within each of its calls."""

    meddle: Callable[[], None]

    def laplace(self, value: int, **cost: Any) -> int:
        self.meddle()
        return super().laplace(value, **cost)


def refuse_all(session: dpb.Session, words: str) -> None:
    for call in CALLS.values():
        with pytest.raises(dpb.SharedError, match=words):
            call(session)


def test_another_threads_call_and_one_from_within_a_call_are_refused() -> None:
    noise = Meddling(1)
    session = three_asked(noise)

    def meddle() -> None:
        refuse_all(session, "around this one")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(refuse_all, session, "under way, in another thread").result(LONG)
            assert pool.submit(three_asked).result(LONG).pending, "another session goes on"

    noise.meddle = meddle
    session.tell(1, 1.0)
    assert (session.state.totals, session.state.rounds, recorded(session)) == ((1.0,), (1,), 1)
    assert session.ask().id == 4


# Copies and processes


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_which_would_release_again_is_refused(copied: Any) -> None:
    with pytest.raises(TypeError, match="release its blocks again"):
        copied(three_asked())


def in_a_child(call: Callable[[], None]) -> bool:
    """Whether the call succeeds in a forked child."""
    child = os.fork()
    if child == 0:
        try:
            call()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_refused() -> None:
    taken = three_asked()

    def refuses() -> None:
        refuse_all(taken, "before a fork")
        own = three_asked()
        own.tell(1, 1.0)  # one made in the child works
        assert in_a_child(lambda: refuse_all(own, "before a fork"))
        assert in_a_child(lambda: refuse_all(taken, "before a fork"))

    assert in_a_child(refuses)
    taken.tell(1, 1.0)  # the parent goes on
    assert recorded(taken) == 1
    assert content(taken)["public"]["counts"] == []
