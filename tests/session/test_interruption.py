"""A call that is cut off at any place happened as a whole or not at all.

Calls are cut off at lines and at every third bytecode of the package. The same session then goes
on, from another thread too, and ends like one that was never cut off. The noise adds nothing, so
sessions that hold the same rewards are equal. `make test` cuts every place in the code once in some
call; `make test-all` cuts every call at every place.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache
from opcode import opmap
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.session import session as session_module
from tests.session.small import Exact, content, loaded, recorded, reward_of

PACKAGE = str(Path(dpb.__file__).parent)
LONG = 30.0
"""Seconds after which a thread is taken to hang."""


class Interrupted(BaseException):
    """Like KeyboardInterrupt: no `except Exception` catches it."""


class Traced:
    """What runs within is traced, and nothing else.

    Garbage is not collected meanwhile: a collected generator of another test would run its lines.
    """

    def __init__(self, trace: Callable[[FrameType, str, Any], Any]) -> None:
        self.trace = trace

    def __enter__(self) -> None:
        self.before, self.collects = sys.gettrace(), gc.isenabled()
        gc.disable()
        sys.settrace(self.trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self.before)
        if self.collects:
            gc.enable()


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
def may_change(code: Any, at: int) -> bool:
    return code.co_code[at] in CHANGES


def traced(call: Callable[[], Any], visit: Callable[[Place], None], each: str, within: str) -> None:
    """Make a call, and visit its places. each: "line", "opcode"; or "chosen": lines, opcodes that
    change something, and every third opcode.
    """
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        code, at = frame.f_code, frame.f_lasti
        if not code.co_filename.startswith(within):
            return None
        frame.f_trace_opcodes = each != "line"
        if event == "opcode" and each == "chosen":
            count += 1
            if count % 3 == 0 or may_change(code, at):
                visit((code, at, event))
        elif event == each or (event == "line" and each == "chosen"):
            visit((code, at, event))
        return trace

    with Traced(trace):
        call()


def interrupt(
    call: Callable[[], Any], at: int, *, each: str = "line", within: str = PACKAGE
) -> int:
    """Make a call, raising at its `at`-th place (0: never). Returns the number of places passed."""
    passed = 0

    def visit(place: Place) -> None:
        nonlocal passed
        passed += 1
        if passed == at:
            raise Interrupted

    traced(call, visit, each, within)
    return passed


# Sessions at work


LABELS = ["a", "b", "c"]
KL: dict[str, Any] = {"arms": LABELS, "epsilon": 16, "first": 2}
PEOPLE = {"privacy_unit": "user", "max_contributions": 2, "user_key": bytes(16)}
TOP = dpb.UniformMatroid(arms=4, rank=2)
SETUPS: dict[str, tuple[Any, dict[str, Any]]] = {
    "batches": (dpb.DPKLUCB(**KL), {}),
    "joint": (dpb.DPJointMAT(problem=TOP, epsilon=8, first=1), {}),
    "drawn": (dpb.LazyDPTS(arms=2, epsilon=8), {}),
    "tree": (dpb.HybridUCB(arms=2, epsilon=8), {}),
    "super arms": (dpb.CUCBDP(problem=TOP, epsilon=8, horizon=100), {}),
    "drawn super arms": (dpb.DPTSMAT(problem=TOP, epsilon=8), {}),
    "full": (dpb.RNMFTNL(actions=3, epsilon=4), {}),
    "dropping": (dpb.PrefixExponential(actions=2, epsilon=1), {}),
    "reports": (dpb.LDPUCB(arms=2, epsilon=1), {}),
    "stopping": (dpb.DPNAS(alpha=0.9, beta=0.5, cap=40, epsilon=16, low=-1, high=1), {}),
    "by chance": (dpb.DPKLUCB(**KL), {"min_share": 0.2, "assignment": "shuffled"}),
    "people": (dpb.DPKLUCB(**KL), {**PEOPLE, "rewards": dpb.Range(0, 2)}),
    "window": (dpb.DPKLUCB(**KL), {"attribution_window": timedelta(seconds=10)}),
    "guardrail": (
        dpb.DPKLUCB(**KL | {"epsilon": 10**4, "grid": 2**16}),
        {"guardrail": dpb.Guardrail("refunds", limit=0.01)},
    ),
    "all": (
        dpb.DPKLUCB(**KL | {"epsilon": 10**4, "grid": 2**16}),
        {
            **PEOPLE,
            "min_share": 0.1,
            "attribution_window": timedelta(seconds=10),
            "guardrail": dpb.Guardrail("refunds", limit=0.01),
        },
    ),
}


class Game:
    """A session at work, with exact noise and a clock of its own."""

    def __init__(self, setup: str) -> None:
        self.setup, self.now, self.noise = setup, 1000.0, Exact(1)
        policy, options = SETUPS[setup]
        self.people = "privacy_unit" in options
        self.window = "attribution_window" in options
        clock: Any = {"clock": lambda: self.now} if self.window else {}
        self.session = dpb.Session(policy, noise=self.noise, seed=7, **options, **clock)

    def ask(self, user: str = "") -> dpb.Decision:
        name = user or f"user {self.session._seen.asked}"
        return self.session.ask(user=name) if self.people else self.session.ask()

    def reward(self, decision: dpb.Decision) -> Any:
        value = reward_of(self.session, decision, decision.id * 7 % 16 / 16)
        return value if self.session.guardrail is None else (value, 1.0)

    def play(self, rounds: int) -> None:
        for _ in range(rounds):
            decision = self.ask()
            self.session.tell(decision, self.reward(decision))
            self.now += 1

    def facts(self) -> Any:
        """Everything the session holds, once what is due is made."""
        found = content(self.session)
        del found["private"]["noise"]
        return found

    def ended(self) -> Any:
        """What comes of it: all decisions are answered, and ten more are made."""
        for decision in self.session.pending:
            self.session.tell(decision, self.reward(decision))
        self.play(10)
        self.now += 20
        return self.facts()


Call = Callable[[], Any]


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


def changing(game: Game, what: str = "releases", after: int = 6) -> dpb.Decision:
    """Play until the next tell changes something, and ask for its decision."""
    game.play(rounds_before(game.setup, what, after))
    return game.ask()


def waiting(game: Game, count: int = 2) -> dpb.Decision:
    """Some decisions wait, some rounds are played. Returns the first one that waits."""
    decisions = [game.ask() for _ in range(count)]
    game.play(7)
    return decisions[0]


def tells(decision_of: Callable[[Game], dpb.Decision]) -> Callable[[Game], Call]:
    def begin(game: Game) -> Call:
        decision = decision_of(game)
        return lambda: game.session.tell(decision, game.reward(decision))

    return begin


def resolves(verb: str, decision_of: Callable[[Game], Any] = waiting) -> Callable[[Game], Call]:
    def begin(game: Game) -> Call:
        decision = decision_of(game)
        return lambda: getattr(game.session, verb)(decision)

    return begin


def calls(verb: str, *given: Any, **named: Any) -> Callable[[Game], Call]:
    def begin(game: Game) -> Call:
        waiting(game)
        return lambda: getattr(game.session, verb)(*given, **named)

    return begin


def asks_ahead(game: Game) -> Call:
    """The plan is fully requested, so the next ask plans ahead."""
    waiting(game)
    for _ in range(5):
        game.ask()
    return game.ask


def asks_ahead_many(game: Game) -> Call:
    waiting(game)
    return lambda: game.session.ask(9)


def tells_many(game: Game) -> Call:
    """Over several releases, in another order than they were requested."""
    waiting(game)
    decisions = [game.ask() for _ in range(12)]
    pairs = [(decision, game.reward(decision)) for decision in decisions[::-1]]
    return lambda: game.session.tell_many(pairs)


def failed(verb: str) -> Callable[[Game], Call]:
    """The next call makes a release that failed before."""

    def begin(game: Game) -> Call:
        late = game.ask()
        decision = changing(game)
        game.noise.failing = True
        with contextlib.suppress(OSError):
            game.session.tell(decision, game.reward(decision))
        game.noise.failing = False
        given = (late,) if verb in ("expire", "void") else ()
        return lambda: getattr(game.session, verb)(*given)

    return begin


def joined(verb: str) -> Callable[[Game], Call]:
    """An arm is added, or one that was paused comes back."""

    def begin(game: Game) -> Call:
        waiting(game)
        if verb == "resume_arm":
            game.session.pause_arm("b")
        game.play(3)
        name = "b" if verb == "resume_arm" else "new"
        if name == "b":
            return lambda: game.session.resume_arm(name)
        return lambda: None if len(game.session.arms) > 3 else game.session.add_arm(name)

    return begin


def beyond_cap(game: Game) -> Call:
    for _ in range(2):
        game.ask("ann")
    return lambda: game.ask("ann")


def counts_held(game: Game) -> Call:
    """The time of seven decisions has passed; five of them were answered."""
    for decision in [game.ask() for _ in range(7)][2:]:
        game.session.tell(decision, game.reward(decision))
    game.now += 11
    return game.ask


def finishes(game: Game) -> Call:
    game.play(3)
    return game.session.finish


COMMON: dict[str, Callable[[Game], Call]] = {
    "ask": lambda game: waiting(game) and game.ask,
    "ask ahead": asks_ahead,
    "tell": tells(waiting),
    "tell, ends a plan": tells(changing),
    "tell_many": tells_many,
    "expire": resolves("expire"),
    "expire, ends a plan": resolves("expire", changing),
    "void": resolves("void"),
    "drop_open": calls("drop_open"),
    "settle": failed("settle"),
    "to_json": failed("to_json"),
}
CASES: dict[tuple[str, str], Callable[[Game], Call]] = {
    **{(setup, name): case for setup in list(SETUPS)[:10] for name, case in COMMON.items()},
    ("batches", "ask(count)"): asks_ahead_many,
    ("joint", "ask(count)"): asks_ahead_many,
    ("drawn", "ask(count)"): asks_ahead_many,
    ("batches", "ask(eligible)"): calls("ask", 2, eligible=["c", "a"]),
    ("drawn", "ask(eligible)"): calls("ask", eligible=[1]),
    ("batches", "ask after a failure"): failed("ask"),
    ("batches", "void after a failure"): failed("void"),
    ("joint", "expire after a failure"): failed("expire"),
    ("batches", "add_arm"): joined("add_arm"),
    ("drawn", "pause_arm"): calls("pause_arm", 1),
    ("batches", "pause_arm"): calls("pause_arm", "a"),
    ("batches", "resume_arm"): joined("resume_arm"),
    ("batches", "retire_arm"): calls("retire_arm", "a"),
    ("stopping", "finish"): finishes,
    ("by chance", "ask"): COMMON["ask"],
    ("by chance", "ask(count)"): asks_ahead_many,
    ("by chance", "tell, ends a plan"): COMMON["tell, ends a plan"],
    ("by chance", "add_arm"): joined("add_arm"),
    ("people", "ask"): COMMON["ask"],
    ("people", "ask, beyond the cap"): beyond_cap,
    ("people", "tell_many"): COMMON["tell_many"],
    ("people", "void"): COMMON["void"],
    ("window", "ask, counts what was held"): counts_held,
    ("window", "tell"): COMMON["tell"],
    ("window", "tell_many"): COMMON["tell_many"],
    ("window", "void"): COMMON["void"],
    ("window", "drop_open"): COMMON["drop_open"],
    ("guardrail", "tell, suspends an arm"): tells(lambda game: changing(game, "events", 0)),
    ("guardrail", "tell_many"): COMMON["tell_many"],
    ("all", "ask, counts what was held"): counts_held,
}


@pytest.fixture(autouse=True)
def short_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are folded after nine events, so calls that fold one are cut off too."""
    monkeypatch.setattr(session_module, "FOLD", 9)


def begun(setup: str, name: str) -> tuple[Game, Call]:
    game = Game(setup)
    return game, CASES[setup, name](game)


class Uncut:
    """What a session is before and after a call, and what comes of it in the end."""

    def __init__(self, setup: str, name: str) -> None:
        game, _ = begun(setup, name)
        self.before = game.facts()
        game, call = begun(setup, name)
        call()
        self.after, self.end = game.facts(), game.ended()
        loaded(game.session, **{"user_key": bytes(16)} if game.people else {})


def require_whole(game: Game, call: Call, uncut: Uncut, pool: ThreadPoolExecutor) -> None:
    """After a cut: the call happened or did not, and the session goes on as if it was never cut."""
    now = pool.submit(game.facts).result(LONG)
    if now != uncut.after:
        assert now == uncut.before, "half a call happened"
        call()
        assert game.facts() == uncut.after
    assert game.ended() == uncut.end


def cut_everywhere(setup: str, name: str, wanted: Callable[[Place], bool], second: int) -> None:
    """Cut a call at the places that are wanted. Of those, at every `second`-th one, go on with a
    copy, and cut the next call too, at four of its places.
    """
    uncut, places = Uncut(setup, name), list[Place]()
    _, call = begun(setup, name)
    traced(call, places.append, "chosen", PACKAGE)
    chosen = [at for at, place in enumerate(places, 1) if wanted(place)]
    with ThreadPoolExecutor(1) as pool:
        for number, at in enumerate(chosen, 1):
            for again in range(6 if number % second == 0 else 1):
                game, call = begun(setup, name)
                with contextlib.suppress(Interrupted):
                    interrupt(call, at, each="chosen")
                if again == 1:
                    game.session = copy.deepcopy(game.session)
                elif again:
                    with contextlib.suppress(Interrupted):
                        interrupt(game.session.settle, at * again % 89, each="chosen")
                require_whole(game, call, uncut, pool)


CUT = set[Place]()
"""Places that were cut in some call already."""

STATEFUL = tuple(f"{PACKAGE}/session/{name}.py" for name in ("session", "state"))


def is_new(place: Place) -> bool:
    """Return whether a place is cut now: each one of the files that change a session once, and of
    the others every fifth line.
    """
    code, at, event = place
    if code.co_filename in STATEFUL:
        is_wanted = event == "line" or may_change(code, at)
    else:
        is_wanted = event == "line" and at % 5 == 0
    if not is_wanted or place in CUT:
        return False
    CUT.add(place)
    return True


IDS = [f"{setup}: {name}" for setup, name in CASES]


@pytest.mark.parametrize(("setup", "name"), CASES, ids=IDS)
def test_a_call_happens_as_a_whole_or_not_at_all(setup: str, name: str) -> None:
    cut_everywhere(setup, name, is_new, 40)


@pytest.mark.long
@pytest.mark.parametrize(("setup", "name"), CASES, ids=IDS)
def test_a_call_happens_as_a_whole_or_not_at_all_at_any_place(setup: str, name: str) -> None:
    cut_everywhere(setup, name, lambda place: True, 7)


@pytest.mark.long
def test_a_second_cut_and_a_copy_at_many_places() -> None:
    for case in (("batches", "tell, ends a plan"), ("joint", "tell, ends a plan")):
        cut_everywhere(*case, lambda place: place[1] % 3 == 0, 1)


# Segments, estimators, alarms


@pytest.mark.parametrize("first", [0, 1])
def test_segments_are_each_told_as_a_whole_or_not_at_all(first: int) -> None:
    """And a person is not learned from more often than the cap, whichever segment was cut."""
    names = ["DE", "FR"][:: 1 - 2 * first]

    def begun() -> Any:
        made: Any = dpb.Session(dpb.DPKLUCB(**KL), noise=Exact(1), seed=1, segments=names, **PEOPLE)
        return made

    def play(s: Any) -> None:
        pairs = [(s.ask(segment=names[n % 2], user=f"u{n // 4}"), 0.5) for n in range(12)]
        s.tell_many(pairs)
        s.void(s.ask(segment=names[0], user="ann"))
        s.ask(segment=names[1], user="ann")

    places, at = interrupt(lambda: play(begun()), 0), 1
    while at <= places:
        s = begun()
        with contextlib.suppress(Interrupted):
            interrupt(lambda s=s: play(s), at)  # type: ignore[misc]
        learned = {f"u{n}": 2 for n in range(3)} | {"ann": 2}
        for user in learned:
            for n in range(4):
                s.ask(segment=names[n % 2], user=user)
        s.tell_many([(decision, 0.5) for decision in s.pending])
        parts = [s[name] for name in names]
        assert sum(map(recorded, parts)) <= 2 * len(learned), at
        assert s.unread + sum(map(recorded, parts)) == s.resolved
        at += 61


@pytest.mark.parametrize("named", [True, False])
def test_an_estimator_takes_a_value_once(named: bool) -> None:
    """Offered again at its place, a value is taken once. Without a place no second decision is
    made for one value.
    """
    at, stopped = 0, True
    while stopped:
        at, stopped = at + 7, False
        estimator = dpb.Estimator(SETUPS["stopping"][0], noise=Exact(1))
        for number in range(3):
            where: Any = {"at": number} if named else {}
            cut = True
            with contextlib.suppress(Interrupted):
                interrupt(lambda: estimator.add(0.0, **where), at)  # noqa: B023
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


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("setup", ["batches", "joint", "tree"])
def test_alarms_at_any_time_lose_and_repeat_nothing(setup: str) -> None:
    """Two thousand alarms, at random times of ask and tell. All rewards are 1."""
    game, alarms, armed = Game(setup), 0, False

    def ring(*_: object) -> None:
        if armed:
            raise Interrupted

    before = signal.signal(signal.SIGALRM, ring)
    try:
        while alarms < 2000:
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, 1e-5 * (1 + alarms % 40))
                for _ in range(50):
                    decision = game.session.ask()
                    game.session.tell(decision, reward_of(game.session, decision, 1.0))
                armed = False
            except Interrupted:
                armed, alarms = False, alarms + 1
            game.session.tell_many(
                (each, reward_of(game.session, each, 1.0)) for each in game.session.pending
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    session, found = game.session, content(game.session)["public"]
    assert (session.pending, session.resolved) == ((), recorded(session))
    assert found["asked"] == found["records"]
    assert session.spent == session.policy.guarantee.cost  # type: ignore[union-attr]
    assert list(session.state.totals) == list(session.state.rounds)
