"""A call that is cut off at any place happened as a whole or not at all.

Calls are cut off at lines and at bytecodes of the package. The same session then goes on,
from another thread too, and ends like one that was never cut off. The noise adds nothing, so
sessions that hold the same rewards are equal. `make test` cuts every place of the files that change
a session once, in some call; `make test-all` cuts each call at 60 places, `-m hours` at all.
"""

import contextlib
import copy
import gc
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from dis import findlinestarts
from functools import cache, partial
from itertools import pairwise
from opcode import opmap
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies import contextual
from dpbandits.session import session as session_module
from tests.session.small import Exact, content, loaded, recorded, reward_of

PACKAGE = str(Path(dpb.__file__).parent)
LONG = 30.0
"""Seconds after which a thread is taken to hang."""


class Interrupted(BaseException):
    """Like KeyboardInterrupt: no `except Exception` catches it."""


Place = tuple[Any, int, str]
"""A code object, an instruction in it, and whether a line begins there or an opcode."""


CHANGES = {
    opmap[name]
    for name in (
        "CALL",
        "CALL_FUNCTION_EX",
        "CALL_KW",
        "STORE_ATTR",
        "STORE_SUBSCR",
        "RETURN_VALUE",
    )
    if name in opmap
}
"""Opcodes between which a session may have changed."""


@cache
def changed(code: Any) -> frozenset[int]:
    """Instructions before which a session may have changed since their line began."""
    starts, found = [at for at, _ in findlinestarts(code)], set[int]()
    for start, stop in pairwise([*starts, len(code.co_code)]):
        found.update([at for at in range(start, stop, 2) if code.co_code[at] in CHANGES][1:])
    return frozenset(found)


def traced(
    call: Callable[[], Any], visit: Callable[[Place], None], opcodes: bool = True, only: Any = None
) -> None:
    """Visit the places of a call, of the package or one code object, without collecting garbage."""

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if code is not only if only else not code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = opcodes
        if event in ("line", "opcode"):
            visit((code, frame.f_lasti, event))
        return trace

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()


def interrupt(call: Callable[[], Any], at: int, opcodes: bool = True, only: Any = None) -> int:
    """Make a call, raising at its `at`-th place (0: never). Returns the number of places passed."""
    passed = 0

    def visit(place: Place) -> None:
        nonlocal passed
        passed += 1
        if passed == at:
            raise Interrupted

    traced(call, visit, opcodes, only)
    return passed


# Sessions at work


KL: dict[str, Any] = {"arms": ["a", "b", "c"], "epsilon": 16, "first": 2}
SURE: dict[str, Any] = KL | {"epsilon": 10**4, "grid": 2**16}
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2, "user_key": bytes(16)}
LATE: dict[str, Any] = {"attribution_window": timedelta(seconds=10)}
PERIODS: dict[str, Any] = {"min_share": 0.2, "period": timedelta(seconds=4)}
RAIL: dict[str, Any] = {"guardrail": dpb.Guardrail("refunds", limit=0.01)}
TOP = dpb.UniformMatroid(arms=4, rank=2)
PLACES = np.random.default_rng(1).uniform(-0.6, 0.6, (50, 2))
VISITORS: dict[str, Any] = {"arms": ["a", "b", "c"], "features": 2, "epsilon": 16, "first": 4}
FIRST = 12
"""Visitors whose contexts make the first codebooks."""

SETUPS: dict[str, tuple[Any, dict[str, Any]]] = {
    "batches": (dpb.DPKLUCB(**KL), {}),
    "joint": (dpb.DPJointMAT(problem=TOP, epsilon=8, first=1), {}),
    "drawn": (dpb.LazyDPTS(arms=2, epsilon=8), {}),
    "tree": (dpb.HybridUCB(arms=2, epsilon=8), {}),
    "full": (dpb.RNMFTNL(actions=3, epsilon=4), {}),
    "dropping": (dpb.PrefixExponential(actions=2, epsilon=1), {}),
    "contexts": (dpb.DPLinTS(**VISITORS, public_contexts=PLACES), {}),
    "first contexts": (dpb.DPLinTS(**VISITORS), {}),
    "reports": (dpb.LDPUCB(arms=2, epsilon=1), {}),
    "stopping": (dpb.DPNAS(alpha=0.9, beta=0.5, cap=40, epsilon=16, low=-1, high=1), {}),
    "by chance": (dpb.DPKLUCB(**KL), {"min_share": 0.2, "assignment": "shuffled"}),
    "people": (dpb.DPKLUCB(**KL), {**PEOPLE, "sticky": True, "rewards": dpb.Range(0, 2)}),
    "window": (dpb.DPKLUCB(**KL), LATE),
    "guardrail": (dpb.DPKLUCB(**SURE), RAIL),
    "periods": (dpb.DPKLUCB(**KL), {**PERIODS}),
    "all": (dpb.DPKLUCB(**SURE), {**PEOPLE, **LATE, **RAIL, **PERIODS}),
}


class Game:
    """A session at work, with exact noise and a clock of its own."""

    def __init__(self, setup: str) -> None:
        self.setup, self.now, self.noise = setup, 1000.0, Exact(1)
        policy, options = SETUPS[setup]
        self.people = "privacy_unit" in options
        timed = {"attribution_window", "period"} & options.keys()
        clock: Any = {"clock": lambda: self.now} if timed else {}
        self.session = dpb.Session(policy, noise=self.noise, seed=7, **options, **clock)

    def ask(self, user: str = "") -> dpb.Decision:
        asked = self.session._current.asked
        name = user or f"user {asked}"
        if self.setup.endswith("contexts"):
            return self.session.ask(context=PLACES[asked % len(PLACES)])
        return self.session.ask(user=name) if self.people else self.session.ask()

    def pair(self, decision: dpb.Decision) -> tuple[dpb.Decision, Any]:
        value = reward_of(self.session, decision, decision.id * 7 % 16 / 16)
        return decision, value if self.session.guardrail is None else (value[0], 1.0)

    def tell(self, decision: dpb.Decision) -> None:
        self.session.tell(*self.pair(decision))

    def play(self, rounds: int) -> None:
        for _ in range(rounds):
            self.tell(self.ask())
            self.now += 1

    def facts(self) -> Any:
        """Everything the session holds, once what is due is made."""
        found = content(self.session)
        del found["private"]["noise"]
        return found

    def ended(self) -> Any:
        """What comes of it: all decisions are answered, and five more are made."""
        for decision in self.session.pending:
            self.tell(decision)
        self.play(5 if self.session.closed is None else 0)
        self.now += 20
        return self.facts()


# What is done before the call that is cut off. It returns what the call is about.


def waiting(game: Game) -> dpb.Decision:
    """Two decisions wait, and some rounds are played."""
    first, _ = game.ask(), game.ask()
    game.play(7)
    return first


def ahead(game: Game) -> dpb.Decision:
    """The plan is fully requested, so the next ask plans ahead."""
    first = waiting(game)
    for _ in range(5):
        game.ask()
    return first


@cache
def rounds_before(setup: str, what: str, after: int) -> int:
    """Return the number of rounds after which one more tell changes `session.what`."""
    game, rounds = Game(setup), 0
    while True:
        before = getattr(game.session, what)
        game.play(1)
        if getattr(game.session, what) != before and rounds >= after:
            return rounds
        rounds += 1


def ending(game: Game, what: str = "releases", after: int = 6) -> dpb.Decision:
    """The next tell makes a release."""
    game.play(rounds_before(game.setup, what, after))
    return game.ask()


def suspending(game: Game) -> dpb.Decision:
    return ending(game, "events", 0)


def twelve(game: Game) -> Any:
    """Rewards over several releases, in another order than they were requested."""
    waiting(game)
    return [game.pair(decision) for decision in [game.ask() for _ in range(12)][::-1]]


def failed(game: Game) -> dpb.Decision:
    """A release failed, which the next call makes."""
    late = game.ask()
    decision = ending(game)
    game.noise.failing = True
    with contextlib.suppress(OSError):
        game.tell(decision)
    game.noise.failing = False
    return late


def eleven(game: Game) -> None:
    """The next visitor is the last one whose context makes the first codebooks."""
    game.play(FIRST - 1)


def all_first(game: Game) -> None:
    """The next ask makes the first codebooks."""
    game.play(FIRST)


def paused(game: Game) -> None:
    waiting(game)
    game.session.pause_arm("b")
    game.play(3)


def twice(game: Game) -> None:
    """Somebody is at the cap."""
    game.ask("ann"), game.ask("ann")


def held(game: Game) -> None:
    """The time of seven decisions has passed; five of them were answered."""
    for decision in [game.ask() for _ in range(7)][2:]:
        game.tell(decision)
    game.now += 11


def over(game: Game) -> dpb.Decision:
    """A period is over, and all arms have open blocks."""
    first = waiting(game)
    game.now += 5
    return first


def ended_later(game: Game) -> None:
    """A session was closed, and all answers that it waited for are due."""
    held(game)
    game.ask()
    game.session.close("enough")
    game.now += 11


Before = Callable[[Game], Any]
Call = Callable[[Game, Any], Any]
COMMON: dict[str, tuple[Before, Call]] = {
    "ask": (waiting, lambda game, _: game.ask()),
    "ask ahead": (ahead, lambda game, _: game.ask()),
    "tell": (waiting, Game.tell),
    "tell, ends a plan": (ending, Game.tell),
    "tell_many": (twelve, lambda game, pairs: game.session.tell_many(pairs)),
    "expire": (waiting, lambda game, decision: game.session.expire(decision)),
    "expire, ends a plan": (ending, lambda game, decision: game.session.expire(decision)),
    "void": (waiting, lambda game, decision: game.session.void(decision)),
    "drop_open": (waiting, lambda game, _: game.session.drop_open()),
    "close": (waiting, lambda game, _: game.session.close("enough")),
    "settle": (failed, lambda game, _: game.session.settle()),
    "to_json": (failed, lambda game, _: game.session.to_json()),
}


def asks(*given: Any, **named: Any) -> tuple[Before, Call]:
    return waiting, lambda game, _: game.session.ask(*given, **named)


def moves(verb: str, arm: Any, before: Before = waiting) -> tuple[Before, Call]:
    return before, lambda game, _: getattr(game.session, verb)(arm)


def records(outcomes: list[Any]) -> tuple[Before, Call]:
    return waiting, lambda game, _: game.session.record("b", outcomes, key="week 1")


def adds(game: Game, _: Any) -> None:
    if len(game.session.arms) == 3:
        game.session.add_arm("new")


ADDS: tuple[Before, Call] = (waiting, adds)


def restarts(game: Game, _: Any) -> None:
    if len(game.session.arms) == 3:
        game.session._restart("a")


def common(*names: str) -> dict[str, tuple[Before, Call]]:
    return {name: COMMON[name] for name in names}


OTHER: dict[str, dict[str, tuple[Before, Call]]] = {
    "contexts": {
        "ask(count)": asks(9, context=PLACES[:9]),
        "ask(eligible)": asks(eligible=["c", "a"], context=PLACES[0]),
        "add_arm": ADDS,
        "pause_arm": moves("pause_arm", "a"),
        "retire_arm": moves("retire_arm", "a"),
    },
    "first contexts": {
        "ask, the last one": (eleven, lambda game, _: game.ask()),
        "ask, makes codebooks": (all_first, lambda game, _: game.ask()),
        "ask(count), makes codebooks": (
            all_first,
            lambda game, _: game.session.ask(3, context=PLACES[:3]),
        ),
    },
    "batches": {
        "ask(count)": asks(9),
        "ask(eligible)": asks(2, eligible=["c", "a"]),
        "ask after a failure": (failed, lambda game, _: game.ask()),
        "void after a failure": (failed, lambda game, decision: game.session.void(decision)),
        "add_arm": ADDS,
        "pause_arm": moves("pause_arm", "a"),
        "resume_arm": moves("resume_arm", "b", paused),
        "retire_arm": moves("retire_arm", "a"),
        "restart_arm": (waiting, restarts),
        "record": records([at / 16 for at in range(12)]),
    },
    "joint": {
        "ask(count)": asks(9),
        "expire after a failure": (failed, lambda game, decision: game.session.expire(decision)),
    },
    "drawn": {
        "ask(count)": asks(9),
        "ask(eligible)": asks(eligible=[1]),
        "pause_arm": moves("pause_arm", 1),
    },
    "stopping": {"finish": (lambda game: game.play(3), lambda game, _: game.session.finish())},
    "by chance": {"ask(count)": asks(9), "add_arm": ADDS, **common("ask", "tell, ends a plan")},
    "people": {
        "close": (twice, lambda game, _: game.session.close(winner="b")),
        "ask beyond the cap": (twice, lambda game, _: game.ask("ann")),
        **common("ask", "tell_many", "void"),
    },
    "window": {
        "ask, counts what was held": (held, lambda game, _: game.ask()),
        **common("tell", "tell_many", "void", "drop_open", "close"),
        "close, with what was held": (held, lambda game, _: game.session.close()),
        "settle, ends what was closed": (ended_later, lambda game, _: game.session.settle()),
    },
    "guardrail": {
        **common("close", "tell_many"),
        "tell, suspends": (suspending, Game.tell),
        "record": records([(at / 16, 1.0) for at in range(5)]),
    },
    "periods": {
        "ask, ends a period": (over, lambda game, _: game.ask()),
        "tell, ends a period": (over, Game.tell),
        "to_json, ends a period": (over, lambda game, _: game.session.to_json()),
    },
    "all": {
        "ask, counts what was held": (held, lambda game, _: game.ask()),
        "restart_arm": (held, restarts),
    },
}
CASES = {
    (setup, name): case
    for number, setup in enumerate(SETUPS)
    for name, case in ((COMMON if number < 10 else {}) | OTHER.get(setup, {})).items()
}


@pytest.fixture(autouse=True)
def short_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are folded after nine events, and first codebooks made early: such calls are cut too."""
    monkeypatch.setattr(session_module, "FOLD_AFTER", 9)
    monkeypatch.setattr(contextual, "PILOT", FIRST)


def begun(setup: str, name: str) -> tuple[Game, Callable[[], Any]]:
    before, call = CASES[setup, name]
    game = Game(setup)
    return game, partial(call, game, before(game))


class Uncut:
    """What a session is before and after a call, and what comes of it in the end."""

    def __init__(self, setup: str, name: str) -> None:
        self.before = begun(setup, name)[0].facts()
        game, call = begun(setup, name)
        call()
        self.after, self.end = game.facts(), game.ended()
        loaded(game.session, **{"user_key": bytes(16)} if game.people else {})


def has_happened(game: Game, uncut: Uncut, pool: ThreadPoolExecutor) -> bool:
    """Whether the call that was cut off happened as a whole; or nothing did."""
    now = pool.submit(game.facts).result(LONG)
    assert now in (uncut.before, uncut.after), "half a call happened"
    return bool(now == uncut.after)


def require_end(game: Game, call: Callable[[], Any], done: bool, uncut: Uncut) -> None:
    """The session goes on as if its call had never been cut off."""
    if not done:
        call()
        assert game.facts() == uncut.after
    assert game.ended() == uncut.end


def cut_everywhere(
    setup: str, name: str, wanted: Callable[[Place], bool], second: int, most: int = 10**6
) -> None:
    """Cut a call at the places that are wanted, or at `most` of them. Where nothing happened, the
    next place is cut in the same session, up to five. At every `second`-th place, cut the next call
    too, at four of its places.
    """
    passed, chosen = Counter[Any](), list[tuple[Any, int]]()
    game, call = begun(setup, name)

    def visit(place: Place) -> None:
        passed[place[0]] += 1
        if wanted(place):
            chosen.append((place[0], passed[place[0]]))

    traced(call, visit)
    chosen, is_over = chosen[:: 1 + len(chosen) // most], True
    if not chosen:
        return
    uncut = Uncut(setup, name)
    with ThreadPoolExecutor(1) as pool:
        for number, (code, at) in enumerate(chosen, 1):
            for again in range(5 if number % second == 0 else 1):
                if is_over:
                    game, call = begun(setup, name)
                with contextlib.suppress(Interrupted):
                    interrupt(call, at, only=code)
                if again:
                    with contextlib.suppress(Interrupted):
                        interrupt(game.session.settle, at * again % 89)
                done = has_happened(game, uncut, pool)
                is_over = done or number % 5 == 0 or number % second == 0 or number == len(chosen)
                if is_over:
                    require_end(game, call, done, uncut)


CUT = set[Place]()
"""Places that were cut in some call already."""


def may_change(place: Place) -> bool:
    code, at, event = place
    return event == "line" or at in changed(code)


def is_new(place: Place) -> bool:
    """Each place of files that change a session is cut once; of others every tenth line."""
    code, at, event = place
    if code.co_filename.endswith(("/session/session.py", "/session/state.py")):
        is_wanted = may_change(place)
    else:
        is_wanted = event == "line" and at % 10 == 0
    if not is_wanted or place in CUT:
        return False
    CUT.add(place)
    return True


IDS = [f"{setup}: {name}" for setup, name in CASES]


@pytest.mark.parametrize(("setup", "name"), CASES, ids=IDS)
def test_a_call_happens_as_a_whole_or_not_at_all(setup: str, name: str) -> None:
    cut_everywhere(setup, name, is_new, 40)


MANY = [pytest.param(60, marks=pytest.mark.long), pytest.param(10**6, marks=pytest.mark.hours)]


@pytest.mark.parametrize("most", MANY)
@pytest.mark.parametrize(("setup", "name"), CASES, ids=IDS)
def test_a_call_happens_as_a_whole_or_not_at_all_at_any_place(
    setup: str, name: str, most: int
) -> None:
    cut_everywhere(setup, name, lambda place: may_change(place) or place[1] % 3 == 0, 20, most)


# Segments, estimators, alarms


@pytest.mark.parametrize("first", [0, 1])
def test_segments_are_each_told_as_a_whole_or_not_at_all(first: int) -> None:
    """And a person is not learned from more often than the cap, whichever segment was cut."""
    names = ["DE", "FR"][:: 1 - 2 * first]

    def begun() -> Any:
        return dpb.SegmentedSession(
            dpb.DPKLUCB(**KL), noise=Exact(1), seed=1, segments=names, **PEOPLE
        )

    def play(s: Any) -> None:
        pairs = [(s.ask(segment=names[n % 2], user=f"u{n // 4}"), 0.5) for n in range(12)]
        s.tell_many(pairs)
        s.void(s.ask(segment=names[0], user="ann"))
        s.ask(segment=names[1], user="ann")

    for at in range(1, interrupt(lambda: play(begun()), 0, opcodes=False), 122):
        s = begun()
        with contextlib.suppress(Interrupted):
            interrupt(lambda s=s: play(s), at, opcodes=False)  # type: ignore[misc]
        learned = {f"u{n}": 2 for n in range(3)} | {"ann": 2}
        for user in learned:
            for n in range(4):
                s.ask(segment=names[n % 2], user=user)
        s.tell_many([(decision, 0.5) for decision in s.pending])
        parts = [s[name] for name in names]
        assert sum(map(recorded, parts)) <= 2 * len(learned), at
        assert sum(p.unread + recorded(p) for p in parts) == sum(p.resolved for p in parts)


@pytest.mark.parametrize("named", [True, False])
def test_an_estimator_takes_a_value_once(named: bool) -> None:
    """Offered again at its place, or without a place: no second decision for one value."""
    at, stopped = 0, True
    while stopped:
        at, stopped = at + 7, False
        estimator = dpb.Estimator(SETUPS["stopping"][0], noise=Exact(1))
        for number in range(3):
            where: Any = {"at": number} if named else {}
            cut = True
            with contextlib.suppress(Interrupted):
                interrupt(lambda: estimator.add(0.0, **where), at, opcodes=False)  # noqa: B023
                cut = False
            if cut:
                stopped = True
                estimator.add(0.0, **where)
            assert not named or estimator.offered == number + 1
        estimator.add(0.0)
        estimator.session.settle()
        assert estimator.session.pending == ()
        assert recorded(estimator.session) == estimator.offered
        assert not named or estimator.offered == 4
    assert at > 100
    with pytest.raises(ValueError, match="at=9 to be at most 4, the values offered so far"):
        dpb.Estimator.add(estimator, 0.0, at=9) if named else estimator.add(0.0, at=9)


def test_an_addition_that_was_cut_off_has_its_arm() -> None:
    """An arm is in the log before the vault has it: the session goes on alike."""
    whole, half = (dpb.Session(dpb.DPKLUCB(**KL), noise=Exact(1), seed=3) for _ in range(2))
    whole.add_arm("d")
    half._log = copy.deepcopy(whole._log)
    for session in (whole, half):
        for _ in range(40):
            session.tell(session.ask(), 1.0)
        assert session.releases > 4
    assert content(half) == content(whole)
