"""Damaged documents: whatever a part is replaced by, a clear error at loading that shows nothing
private; counts that have to agree; and small texts that would fill the memory or hang.
"""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.inputs import DEEPEST, SAVES
from dpbandits.core.plan import EVERY
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import CUCBDP, DPKLUCB, DPTSMAT, RNMFTNL, HybridUCB, TreeFTRL
from tests.session.small import begun, changed, document, first, loaded, paths, reward_of, session

KEY = b"a key of at least sixteen bytes"
TOP, MATROID = dpb.TopK(arms=4, k=2), dpb.UniformMatroid(arms=4, rank=2)
SECRET = 126 / 1024
RAILED: dict[str, Any] = {"guardrail": dpb.Guardrail("harm", 0.5)}
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2, "user_key": KEY}
LATE: dict[str, Any] = {"attribution_window": timedelta(days=1), "clock": lambda: 0.0}
SETUPS: dict[str, tuple[Any, dict[str, Any]]] = {
    "DPKLUCB": (DPKLUCB(arms=3, epsilon=1, first=4), {}),
    "drawn": (DPTSMAT(problem=TOP, epsilon=1), {}),
    "super arms": (CUCBDP(problem=TOP, epsilon=1, horizon=100), {}),
    "joint": (dpb.DPJointMAT(problem=MATROID, epsilon=4, first=1), {}),
    "tree": (HybridUCB(arms=2, epsilon=1), {}),
    "full": (TreeFTRL(actions=3, epsilon=1, horizon=100), {}),
    "all options": (DPKLUCB(arms=3, epsilon=1, first=4), {**RAILED, **PEOPLE, "min_share": 0.1}),
    "late answers": (DPKLUCB(arms=3, epsilon=1, first=4), LATE),
    "segments": (DPKLUCB(arms=3, epsilon=1, first=4), {"segments": ["DE", "FR"], **PEOPLE}),
}


def told(policy: Any, rounds: int, silent: int = 7, **options: Any) -> Any:
    """A session, of whose decisions every seventh, or `silent`-th, waits still."""
    s = begun(policy, **options)
    for n in range(1, rounds + 1):
        how: dict[str, Any] = {"segment": "DE"} if "segments" in options else {}
        if "user_key" in options:
            how["user"] = f"u{n % 9}"
        if isinstance(policy, dpb.DPLinTS):
            how["context"] = [0.3 * (n % 3 - 1), 0.1]
        d = s.ask(**how)
        if n % silent:
            s.tell(d, reward_of(first(s), d, SECRET))
    return s


def saved(setup: str = "DPKLUCB") -> dict[str, Any]:
    policy, options = SETUPS[setup]
    return document(told(policy, 14, 14, **options))


def complaint(data: dict[str, Any], setup: str = "DPKLUCB") -> str:
    """What loading says; nothing if it succeeds. Errors of any other kind pass through."""
    options = SETUPS[setup][1]
    given = {name: options[name] for name in ("user_key", "clock") if name in options}
    try:
        loaded(data, **given)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("setup", SETUPS)
def test_no_damage_raises_anything_but_a_value_error(setup: str) -> None:
    """Every part in turn is left out, or replaced by what does not belong there. Not all places are
    tried of long lists of alike entries.
    """
    data, places = saved(setup), 0
    assert complaint(data, setup) == ""
    for path in paths(data):
        long = [step for step in path if isinstance(step, int) and step > 2]
        if path and "generator" not in path and "rng" not in path and not long:
            for value in (..., None, "x", -1, [], 10**30):
                said = complaint(changed(data, path, value), setup)
                assert path[0] != "private" or str(round(SECRET * 1024)) not in said
                places += 1
    assert places > (40 if setup == "segments" else 400)


COUNTED = ("asked", "records", "unread", "counts", "ledger", "pending")
"""Public parts whose numbers have to agree."""


@pytest.mark.parametrize("setup", ["DPKLUCB", "super arms", "tree", "full", "all options"])
def test_counts_that_do_not_agree_are_refused(setup: str) -> None:
    """Every number among them is changed by one."""
    data, tried = saved(setup), 0
    for path in paths({name: data["public"][name] for name in COUNTED}):
        value: Any = data["public"]
        for step in path:
            value = value[step]
        if type(value) is not int:
            continue
        is_key = path[0] in ("counts", "pending") or path[:2] == ("ledger", "left")
        if path[:2] == ("ledger", "lines") or (is_key and not path[-1]):
            continue
        for other in (value - 1, value + 1):
            wrong = changed(data, ("public", *path), other)
            assert path[0] == "pending" or complaint(wrong, setup), (path, other)
            tried += 1
    assert tried > 6
    for lines in ([], data["public"]["ledger"]["lines"][:-1]):
        assert "do not add up" in complaint(changed(data, "public.ledger.lines", lines), setup)
    line = data["public"]["ledger"]["lines"][0]
    for at, by in ((0, 9), (1, 1), (1, -9), (2, 1), (2, -9), (3, 9)):
        wrong = changed(data, f"public.ledger.lines.0.{at}", line[at] + by)
        assert "ledger" in complaint(wrong, setup), (at, by)
    assert complaint(changed(data, "public.pending", []), setup)
    assert complaint(changed(data, "public.pending.0.0", data["public"]["asked"] + 1), setup)


# What does not fit, where it stands


def ahead() -> Any:
    """Two of the twelve super arms that were asked for have answers."""
    s = dpb.Session(dpb.DPJointMAT(problem=MATROID, epsilon=4, first=8), noise=SimulatedNoise(1))
    s.tell_many([(d, [1.0, 1.0]) for d in s.ask(12)[:2]])
    return s


def recorded() -> Any:
    """Two batches of people who were assigned elsewhere."""
    s = dpb.Session(DPKLUCB(arms=2, epsilon=1), noise=SimulatedNoise(1))
    for arm in (0, 1):
        s.record(arm, (5, 2), key=f"of arm {arm}")
    return s


def silent() -> Any:
    """The first two people who get an arm never answer."""
    s, seen = dpb.Session(DPKLUCB(arms=3, epsilon=1, first=6), noise=SimulatedNoise(1)), [0] * 3
    for d in (s.ask() for _ in range(80)):
        seen[d.action] += 1
        if seen[d.action] > 2:
            s.tell(d, 1.0)
    return s


def held() -> Any:
    """Answers to decisions of two hours are held."""
    now = [0.0]
    s = dpb.Session(
        DPKLUCB(arms=2, epsilon=1),
        noise=SimulatedNoise(1),
        attribution_window=timedelta(days=1),
        clock=lambda: now[0],
    )
    for now[0] in (0.0, 3_600.0):
        s.tell_many([(d, SECRET) for d in s.ask(2)])
    return s


PLACES = np.random.default_rng(7).uniform(-0.6, 0.6, (100, 2))
LINEAR = dpb.DPLinTS(arms=2, features=2, epsilon=1, first=1000, public_contexts=PLACES)
SHAPED = dpb.DPLinTS(arms=2, features=2, rho="1/2", release="shaped", first=1000)
MADE: dict[str, Callable[[], Any]] = {
    "batches": saved,
    "options": partial(saved, "all options"),
    "joint": partial(told, dpb.DPJointMAT(problem=MATROID, epsilon=4, first=1), 30),
    "joint, ahead": ahead,
    "recorded": recorded,
    "silent": silent,
    "held": held,
    "coins": partial(told, DPKLUCB(arms=2, epsilon=1), 60, min_share=0.1),
    "drawn": partial(told, dpb.LazyDPTS(arms=3, epsilon=1), 9),
    "fresh": lambda: dpb.Session(DPKLUCB(arms=2, epsilon=1), noise=dpb.SecureNoise(fresh=True)),
    "tree": partial(told, dpb.DPUCB(arms=2, epsilon=1, horizon=1000), 40, 99),
    "epochs": partial(told, RNMFTNL(actions=2, epsilon=1), 13, 99),
    "contexts": partial(told, LINEAR, 40),
    "shaped": partial(told, SHAPED, 10),
}


def less(was: Any) -> Any:
    """All but the last part."""
    return dict([*was.items()][:-1]) if isinstance(was, dict) else was[:-1]


def more(part: Any) -> Callable[[Any], Any]:
    return lambda was: [*was, part]


def twice(was: Any) -> Any:
    return [*was, was[0]]


def back(was: Any) -> Any:
    return was[::-1]


CHOICES: dict[str, list[Any]] = {
    "public.chosen.ways": [
        *([], [[7, 1.0, True]], [[0, 1.5, True]], [["0000", 1.0, True]], [["zz", 1.0, True]]),
        *([["", 1.0, True]], [["01", 1.0, True]], [["0201", 1.0, True]]),
    ],
    "public.chosen.runs": [
        [],
        [1, 9],
        [1, -1],
        [1],
        [2, 0],
        [1, 0, 0, 0],
        [1, 0, 99, 0],
        [1, 0, 2**62, 1, 2**62, 0],
    ],
}
FRESH: list[dict[str, Any]] = [{}, {"fresh": 1}, {"fresh": False}, {"fresh": None}]
DAMAGE: dict[str, dict[str, list[Any]]] = {
    "batches": {
        "public": [5],
        "policy": [[]],
        "private": [5],
        "public.ledger": [None],
        "public.ledger.lines": [...],
        "public.asked": [-1],
        "public.unread": [1],
        "public.records": [15],
        "public.counts.0.1": [9],
        "public.plays.0.0": [7],
        "public.plays.0.1": [[0]],
        "public.pending.0.1": [99],
        "public.pending.0.0": [2**62],
        "public.max_pending": [10**9, 0],
        "public.generation": [0, SAVES + 1],
        "public.campaign": [""],
        "public.noise": [{"kind": "secure", "fresh": False}],
        "public.seed": [None],
        "public.default": [None],
        "public.rng": [{"x": 1}],
        "public.learned": [{}],
        "public.learned.1.0": [None, 10**6],
        "public.history.first": [0, 4],
        "public.history.growth": [0.5],
        "public.history.arms": [[], {}],
        "public.history.arms.0": [[]],
        "public.history.arms.0.0": [3],
        "public.history.arms.0.1": [0],
        "public.history.arms.0.2.0.0": [99],
        "public.history.arms.0.2.0.1": ["1"],
        "public.history.arms.0.2.0.2": [-1],
        "public.history.arms.0.2.0.3": [[[1]], [[0, 1]]],
        "public.history.arms.0.3": [None],
        "public.arms": ["[]"],
        "public.step_counts": [[[0, -1]]],
        "public.ledger.left": [[[3, 0, 0]], [[EVERY, 0, 0]]],
        "policy.arms": [..., 10**30],
        "policy.class": ["UCB1", "BestPolicy"],
        "policy.magic": [3],
        "private.sums": [None, []],
        "private.sums.0.0": [-1, 10**6],
        "private.sums.0": [[]],
        "private.memory": [[]],
        "private.noise": [{}],
        "private.noise.kind": ["loud"],
        "private.noise.seed": [[]],
        "private.noise.generator": [{}],
    },
    "options": {
        "public.guardrail.limit": [3],
        "public.guardrail": [None],
        "public.harm.alarms": [[[7, 1, True]], [[0, 1, 2]]],
        "public.harm.history": [{}],
        "public.harm": [None],
    },
    "joint": {
        "public.learned.1.0": [10**6],
        "public.learned.3.0": ["x"],
        "public.ledger.lines": [[]],
        "public.records": [0],
    },
    "joint, ahead": {
        "public.plays.0.1": [None],
        "public.plans.0.0": [0],
        "public.plans.0.1.0": [["x"]],
        "public.plans.0.1.2": [[-7]],
        "public.plans.0.1.1": [0],
        "public.plans": [[]],
        "public.step_counts.0.0": [2],
        "public.counts.0.1": [53],
        "public.counts.0.0": [-9],
        "private.sums.0": [[1]],
        "private.sums.0.0": [10**6],
    },
    "recorded": {
        "public.batches": [twice, lambda was: [was[0], [was[0][0], *was[1][1:]]]],
        "public.batches.0.1": [2],
        "public.batches.0.2": [6],
        "public.elsewhere": [9, 11],
    },
    "silent": {
        "public.delays": [[[4, 1], [4, 1]], [[3, 1]], [[4, -1]]],
        "public.overdue.0": [
            *({"0": [2, -1, 1]}, {"3": [2, 1, 1]}, {"0": [2, 10**6, 1]}, {"0": [2, 1, 0]}),
            *({"0": [2, 1, 2]}, {"green": [2, 1, 1]}, [[0, 2, 1, 1]]),
        ],
        "public.overdue.1": [-1],
        "public.overdue.2": [0],
        "public.overdue.3": [[[3, 1]], [["green", 1]]],
    },
    "held": {
        "public.attribution": [None],
        "public.attribution.due": [twice, back, [[99, 90_000.0]], more([2, 0.0])],
        "private.held.0.1": [[2_000], "x", [1, 2, 3, 4, 5, 6], None, [-1]],
    },
    "coins": {
        "private.seed": [None],
        "public.traffic.counts": [[1], [], [-1, 2]],
        "public.traffic.prior": ["x"],
        "public.traffic.score": ["1", 5.0],
        "public.traffic.highest": [None, -1.0],
        "public.traffic.answers.first": [3],
        "public.traffic.answers.drawn": [-1],
        "public.traffic.answers.told": [[1, 2, 3]],
        "public.traffic.answers.usual": [[2.0, 1.0]],
        "public.traffic.answers.scores": [[[1.0]]],
        "public.traffic.answers.highest": [-1.0, None],
        "public.traffic.answers.open": [twice],
        "public.traffic.answers.open.0": [less],
        "public.traffic.answers.open.0.1": [[1.0, 0.0]],
        "public.traffic.answers.open.0.2": [0],
    },
    "drawn": CHOICES,
    "fresh": {
        "public.noise": [{"kind": "secure", **each} for each in FRESH],
        "private.noise": [{"kind": "secure", **each} for each in FRESH[:2]],
    },
    "epochs": {"public.learned.1": [10**9, 10**30, 2**62]},  # 2 to their power are the next rounds
    "contexts": {
        "public.contexts": [..., None],
        "public.contexts.open": [less],
        "public.contexts.open.0.0": [more(1), less, [10**30]],
        "public.contexts.open.0.2.0": [less],
        "public.contexts.recent": [less],
        "public.contexts.recent.0": [more([0.1])],
        "public.learned.0.0.2": [less],
        "public.rng.normals": [[1, 10**12], None, [65, 2]],
    },
    "shaped": {"public.contexts.open.0.3": [[-1], [], [2**63], [0], [1, 1]]},
}


@pytest.mark.parametrize("made", DAMAGE)
def test_damage_is_refused_where_it_is(made: str) -> None:
    """And no error shows what is private."""
    found = MADE[made]()
    data = (found if isinstance(found, dict) else document(found)) | {"extra": {}}
    given: dict[str, Any] = {"options": {"user_key": KEY}, "held": {"clock": lambda: 0.0}}
    given = given.get(made, {})
    loaded(changed(data, "extra.part", 1), **given)
    for path, values in DAMAGE[made].items():
        for value in values:
            if callable(value):
                was: Any = data
                for step in path.split("."):
                    was = was[int(step) if isinstance(was, list) else step]
                value = value(was)
            with pytest.raises(ValueError, match=r"\w{4}") as error:
                loaded(changed(data, path, value), **given)
            is_damaged = isinstance(error.value, dpb.DamagedSessionError)
            assert is_damaged or made == "batches" or path == "private.seed", (path, value)
            assert "126" not in str(error.value)


HEAD = '{"format": "dpbandits session", "version": 7'
NONE: list[Any] = [5, "", "[" * 10**5, "[1" + "0" * 5000 + "]", "[]", "{}", HEAD + "}"]
NONE += [HEAD.replace("7", "6") + "}", HEAD + ', "seal": "sha256:é"}']
NONE += [HEAD + ', "seal": "sha256:\\ud800"}']


def test_what_is_no_document_is_refused() -> None:
    text = session(default=0.125).to_json()
    assert loaded(text).default == 0.125
    not_finite = [text.replace("0.125", to) for to in ("NaN", "Infinity", "-Infinity", "1e999")]
    for wrong in [*NONE, *not_finite]:
        with pytest.raises(ValueError, match=r"\w{4}") as error:
            dpb.Session.from_json(wrong, noise=SimulatedNoise(1))
        assert error.value.__context__ is None, "it would keep the text"


@pytest.mark.parametrize("path", ["public.learned", "private.memory", "policy.arms", "extra"])
def test_deep_nesting_is_a_value_error(path: str) -> None:
    for levels in (DEEPEST, 200, 900):
        inner: Any = 0
        for _ in range(levels):
            inner = [inner]
        data = saved()
        at = data if path == "extra" else data[path.split(".")[0]]
        at[path.split(".")[-1]] = inner
        assert f"nested more than {DEEPEST} levels" in complaint(data)


# Small texts that stand for much


def test_more_decisions_than_may_wait_are_refused_before_anything_is_made() -> None:
    s = session(max_pending=3)
    s.ask(3)
    with pytest.raises(ValueError, match=r"public.pending has too many decisions"):
        loaded(changed(document(s), "public.max_pending", 2))
    # a short text that says so many, of which each takes a place in memory, is not kept
    s.tell_many([(d, 1.0) for d in s.pending])
    data = document(s)
    many = 2**40
    for name, value in (("asked", many), ("records", many)):
        data["public"][name] = value
    data["public"]["ledger"]["left"] = [[0, many, many]]
    tracemalloc.start()
    with contextlib.suppress(ValueError):
        loaded(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_a_matroid_of_many_loops_is_small() -> None:
    problem = dpb.TransversalMatroid([[0, 1]], arms=10**7)
    assert (problem.rank, len(problem._sets_of)) == (1, 2)
