"""Edited documents that somebody sealed anew, without a key: each is refused, or goes on with the
noise that its policy says, and no error shows what is private. Counts have to agree, and small
texts neither fill the memory nor hang.
"""

import contextlib
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.inputs import DEEPEST, SAVES
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise import SimulatedNoise
from dpbandits.noise.protocol import Relay
from dpbandits.policies import CUCBDP, DPKLUCB, DPTSMAT, RNMFTNL, HybridUCB, TreeFTRL
from dpbandits.session.decisions import HowChosen, KeptChoices
from tests.session.small import (
    begun,
    changed,
    document,
    first,
    loaded,
    parts,
    paths,
    reward_of,
    session,
)

KEY = b"a key of at least sixteen bytes"
TOP, MATROID = dpb.TopK(arms=4, k=2), dpb.UniformMatroid(arms=4, rank=2)
SECRET = 126 / 1024
PLACES = np.random.default_rng(7).uniform(-0.6, 0.6, (100, 2))
LINEAR = dpb.DPLinTS(arms=2, features=2, epsilon=1, first=1000, public_contexts=PLACES)
SHAPED = dpb.DPLinTS(arms=2, features=2, rho="1/2", release="shaped", first=1000)
THREE = DPKLUCB(arms=3, epsilon=1, first=4)
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2, "user_key": KEY}
OPTIONS = {"guardrail": dpb.Guardrail("harm", 0.5), **PEOPLE, "min_share": 0.1}
LATE: dict[str, Any] = {"attribution_window": timedelta(days=1), "clock": lambda: 0.0}


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


MADE: dict[str, Callable[[], Any]] = {
    "batches": partial(told, THREE, 14, 14),
    "drawn": partial(told, DPTSMAT(problem=TOP, epsilon=1), 14),
    "posterior": partial(told, dpb.LazyDPTS(arms=3, epsilon=1), 9),
    "super arms": partial(told, CUCBDP(problem=TOP, epsilon=1, horizon=100), 14),
    "joint": partial(told, dpb.DPJointMAT(problem=MATROID, epsilon=4, first=1), 30),
    "joint, ahead": ahead,
    "hybrid": partial(told, HybridUCB(arms=2, epsilon=1), 14),
    "tree": partial(told, dpb.DPUCB(arms=2, epsilon=1, horizon=1000), 40, 99),
    "full": partial(told, TreeFTRL(actions=3, epsilon=1, horizon=100), 14),
    "epochs": partial(told, RNMFTNL(actions=2, epsilon=1), 13, 99),
    "two of each": partial(told, dpb.AdaPTT(arms=3, epsilon=4, delta=0.1, first=6), 30),
    "options": partial(told, THREE, 14, 14, **OPTIONS),
    "late": partial(told, THREE, 14, **LATE),
    "held": held,
    "coins": partial(told, DPKLUCB(arms=2, epsilon=1), 60, min_share=0.1),
    "recorded": recorded,
    "silent": silent,
    "contexts": partial(told, LINEAR, 40),
    "shaped": partial(told, SHAPED, 10),
    "segments": partial(told, THREE, 14, segments=["DE", "FR"], **PEOPLE),
}
FRESHLY = partial(dpb.Session, THREE, noise=dpb.SecureNoise(fresh=True))
GIVEN: dict[str, dict[str, Any]] = {
    "options": {"user_key": KEY},
    "segments": {"user_key": KEY},
    "held": {"clock": lambda: 1e6},
    "late": {"clock": lambda: 1e6},
}


class Watched(Relay):
    """Simulated noise that lets no number out for more than one record may cost."""

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, of: Any) -> None:
        self.base, self.mechanism, self.draws = SimulatedNoise(5), of._vault.mechanism, 0

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        if verb != "uniform":
            own = self.mechanism.guarantee
            assert cost.get("rho", cost.get("epsilon")) <= own.cost
            assert cost["sensitivity"] >= self.mechanism.grid.steps or "rho" in cost
            self.draws += 1
        return getattr(self.base, verb)(*exact, **cost)


def go_on(s: Any, rounds: int = 12) -> None:
    """A few more people, and all that a session shows."""
    one = first(s)
    before, noise = len(one.ledger), Watched(one)
    for each in parts(s):
        each._vault.noise = noise
    how: dict[str, Any] = {"segment": "DE"} if len(parts(s)) > 1 else {}
    for number in range(rounds):
        if one._tables.people is not None:
            how["user"] = f"v{number}"
        if isinstance(one.policy, dpb.DPLinTS):
            how["context"] = [0.3, 0.1]
        decision = s.ask(**how)
        s.tell(decision, reward_of(one, decision, SECRET))
    assert noise.draws or len(one.ledger) <= before
    for shown in (one.statement, one.sample_ratio, lambda: one.alarms, lambda: one.events):
        str(shown())
    s.to_json(unsealed=True)


def odd(was: Any) -> list[Any]:
    """What may stand in the place of a value; `...`: nothing."""
    values = [..., None, "x", -1, 0, 1, 0.5, True, [], {}, 2**62, 10**30, 1e308]
    if isinstance(was, (int, float)):
        values += [was + 1, was - 1, not was]
    if isinstance(was, list) and was:
        values += [was[:-1], [*was, was[0]], was[::-1], was + was]
    if isinstance(was, str):
        values += ["", was + was]
    return values


def edits(data: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Not all places of long lists of alike entries."""
    for path in paths(data):
        long = [step for step in path if isinstance(step, int) and step > 2]
        if path and path[0] != "seal" and "generator" not in path and not long:
            was: Any = data
            for step in path:
                was = was[step]
            yield from ((path, value) for value in odd(was))


GONE_ON = (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, AttributeError)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("every", [61, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("made", MADE)
def test_a_document_sealed_anew_is_refused_or_goes_on_with_its_noise(made: str, every: int) -> None:
    """Each part is left out, doubled, or replaced by what does not belong there."""
    data, given, went_on, refused = document(MADE[made]()), GIVEN.get(made, {}), 0, 0
    go_on(loaded(data, **given))
    for path, value in list(edits(data))[::every]:
        said, s = "", None
        try:
            s = loaded(changed(data, path, value), **given)
        except ValueError as error:
            said, shown = str(error), not error.__suppress_context__ and error.__context__
        if s is None:
            refused += 1
            assert not shown, (path, value)
        else:
            went_on += 1
            try:
                go_on(s)
            except GONE_ON as error:
                said = str(error)
        assert path[0] != "private" or str(round(SECRET * 1024)) not in said, (path, value)
    # of all edits more than two in three are refused; of a sample of them at least half
    assert refused > (2 if every == 1 else 1) * went_on > 0 or made == "segments"


# Counts that have to agree, and where small texts would stand for much


def less(was: Any) -> Any:
    """All but the last part."""
    return dict([*was.items()][:-1]) if isinstance(was, dict) else was[:-1]


FRESH: list[dict[str, Any]] = [{}, {"fresh": 1}, {"fresh": False}, {"fresh": None}]
DAMAGE: dict[str, dict[str, list[Any]]] = {
    "batches": {
        "public": [..., 5],
        "policy": [..., []],
        "private": [..., 5],
        "public.asked": [-1, 15],
        "public.records": [15],
        "public.unread": [1],
        "public.pending": [[], [[1, 99]]],
        "public.ledger": [None],
        "public.ledger.lines": [[], less],
        "public.ledger.lines.0.1": [1],
        "public.ledger.lines.0.2": [1],
        "public.ledger.lines.0.3": [9],
        "public.ledger.left": [[[3, 0, 0]], [[EVERY, 0, 0]]],
        "public.ledger.left.0.1": [99],
        "public.counts": [less],
        "private.sums": [None, [], less],
        "private.sums.0.0": ["x", 0.5, 10**30],
        "private.memory": [[], 5, [["x"]]],
        "public.arms": ["a", "aax", []],
        "public.history.arms": [less, {}],
        "public.max_pending": [10**9, 0],
        "public.generation": [0, SAVES + 1],
        "public.noise": [{"kind": "secure", "fresh": False}],
        "public.rng": [{"x": 1}],
        "public.learned": [{}],
        "public.learned.1.0": [None, 10**6],
        "policy.arms": [..., 10**30],
        "policy.class": ["UCB1", "BestPolicy"],
        "policy.magic": [3],
        "private.noise": [{}],
        "private.noise.kind": ["loud"],
        "private.noise.generator": [{}],
    },
    "posterior": {
        "public.chosen.ways": [[], [["zz", 1.0, True]], [["", 1.0, True]]],
        "public.chosen.runs": [[1], [1, 9], [1, -1], [1, 0, 2**62, 1, 2**62, 0]],
    },
    "fresh": {
        "public.noise": [{"kind": "secure", **each} for each in FRESH],
        "private.noise": [{"kind": "secure", **each} for each in FRESH[:2]],
    },
    "silent": {"public.delays": [[[2**40, 1]]]},
    "epochs": {"public.learned.1": [10**9, 10**30, 2**62]},  # 2 to their power are the next rounds
    "contexts": {
        "public.contexts": [..., None],
        "public.rng.normals": [[1, 10**12], None, [65, 2]],
    },
}


@pytest.mark.parametrize("made", DAMAGE)
def test_what_does_not_add_up_is_refused(made: str) -> None:
    data = document((MADE | {"fresh": FRESHLY})[made]()) | {"extra": {}}
    loaded(changed(data, "extra.part", 1))
    for path, values in DAMAGE[made].items():
        for value in values:
            if callable(value):
                was: Any = data
                for step in path.split("."):
                    was = was[int(step) if isinstance(was, list) else step]
                value = value(was)
            with pytest.raises(ValueError, match=r"\w{4}") as error:
                loaded(changed(data, path, value))
            is_damaged = isinstance(error.value, dpb.DamagedSessionError)
            assert is_damaged or path.startswith("policy"), (path, value)


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
        data = document(MADE["batches"]())
        at = data if path == "extra" else data[path.split(".")[0]]
        at[path.split(".")[-1]] = inner
        with pytest.raises(dpb.DamagedSessionError, match=f"nested more than {DEEPEST} levels"):
            loaded(data)


# Small texts that stand for much


def test_a_short_text_that_says_so_many_takes_no_memory() -> None:
    s = session()
    s.tell_many([(d, 1.0) for d in s.ask(3)])
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


def test_weights_that_change_each_round_take_few_bytes() -> None:
    kept, rng, many = KeptChoices(), np.random.default_rng(1), 2000
    tracemalloc.start()
    for id in range(1, many + 1):
        kept.note(id, HowChosen(tuple(rng.random(10).tolist()), 1.0, True))
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert size < 350 * many  # 90 are the weights
    assert len([*kept.runs(many + 1)]) == many


def test_a_matroid_of_many_loops_is_small() -> None:
    problem = dpb.TransversalMatroid([[0, 1]], arms=10**7)
    assert (problem.rank, len(problem._sets_of)) == (1, 2)
