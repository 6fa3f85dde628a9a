"""Contexts, decisions and rewards private: a session that shows releases only."""

import inspect
import json
import re
from fractions import Fraction
from functools import partial
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.auditing.transcript import context_level
from dpbandits.checks.examples import examples
from dpbandits.core.plan import EVERY
from dpbandits.mechanisms.cells import Histograms
from dpbandits.noise.protocol import Noise
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.session.releases_only import (
    BY_DEVICE,
    REFUSED,
    JointDecision,
    JointDPSession,
    Shown,
    Tell,
)
from tests.places import REPOSITORY
from tests.session.small import Exact, changed, resealed
from tests.session.test_documents import edits
from tests.session.test_private import SECRET, frames_of, require_nothing_of_it

KEY = bytes(range(32))


def example() -> JointDPLinTS:
    (policy,) = examples("JointDPLinTS")
    assert isinstance(policy, JointDPLinTS)
    return policy


def visitors(many: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).uniform(-0.7, 0.7, (many, 2))


# Outputs are releases. Each twin of a session breaks it in one place.


class ShowsArms(JointDPSession):
    """A count of decisions is shown."""

    def __repr__(self) -> str:
        counts = self._open.counts.reshape(self.policy.shape).sum(axis=(1, 2))
        return f"{super().__repr__()} {counts.tolist()}"


class OneStream(JointDPSession):
    """Decisions share one stream, and how much of it one takes depends on its context."""

    def ask(self, context: Any = None, **options: Any) -> Any:
        assert self._seed is not None
        self._seed += int(context[0] > 0)
        return super().ask(context, **options)


class KeepsSlotsOfSilent(JointDPSession):
    """The saved private part is as long as there are decisions that wait."""

    def _private(self) -> Any:
        found = super()._private()
        found.waiting = found.waiting[: 64 * len(self._waiting)]
        return found


class HalfTheNoise(JointDPSession):
    """Noise for one count that moves, where two do."""

    def _with_block(self, shown: Shown) -> Shown:
        self._mechanism = Histograms(epsilon=2 * self.policy.budget, shape=self.policy.shape)
        return super()._with_block(shown)


class ForgetsRefusedAsks(JointDPSession):
    """An ask whose context is refused gives no older decision up."""

    def _wait(self, place: int) -> str:
        if place != BY_DEVICE:
            return super()._wait(place)
        self._asked += 1
        return ""

    def _waits(self, decision: object) -> tuple[str, int]:
        word = str(getattr(decision, "word", decision))
        if word not in self._waiting:
            raise dpb.DecisionError("no such decision waits")
        return word, self._waiting[word][1]


TWINS = [ForgetsRefusedAsks, ShowsArms, OneStream, KeepsSlotsOfSilent, HalfTheNoise]


def level(host: type[JointDPSession], replays: int) -> Any:
    policy = example()
    return context_level(policy, policy.budget, None, replays=replays, seed=3, host=host)


def test_a_record_costs_exactly_epsilon_and_changes_nothing_else() -> None:
    found = level(JointDPSession, 30)
    assert (found.outcome, Fraction(found.details["loss"])) == ("passed", 2)


@pytest.mark.parametrize("twin", TWINS)
def test_broken_twins_are_caught(twin: type[JointDPSession]) -> None:
    assert level(twin, 12).outcome == "failed"


# Counts


def test_each_record_is_one_count_of_one_block_however_late() -> None:
    policy = example()
    session = JointDPSession(policy, noise=Exact(1), seed=1, waits=30)
    rng, waiting, told = np.random.default_rng(2), list[Any](), 0
    for at, context in enumerate(visitors(200)):
        waiting.append((at, session.ask(context)))
        if at == 100:  # a device that decides by itself
            visit = session.visit()
            session.report(visit, 5)
            told += 1
            with pytest.raises(dpb.DecisionError):
                session.report(visit, 5)
        if at % 7 == 0:
            session.void(waiting.pop()[1])
        elif at % 2:
            made, decision = waiting.pop(int(rng.integers(len(waiting))))
            if at - made < 28:
                session.tell(decision, float(rng.integers(2)))
                told += 1
            if not 28 <= at - made <= 30:  # told, or too old
                with pytest.raises(dpb.DecisionError):
                    session.tell(decision, 1.0)
    assert len(session._waiting) <= 30
    session.close()
    assert sum(int(each.counts.sum()) for each in session.released) == told
    assert sum(each.visits for each in session.released) == session.asked == 201
    assert dpb.spent(session.ledger) == policy.budget
    assert all(entry.coordinate == EVERY for entry in session.ledger)
    with pytest.raises(dpb.ClosedError):
        session.ask([0.1, 0.1])


def test_visits_alone_end_a_block() -> None:
    session = JointDPSession(example(), noise=Exact(1), seed=1)
    for _ in range(example().length(session._open.shown.state)):
        session.visit()
        assert not session.released
    session.visit()
    assert len(session.released) == 1


def test_a_refused_context_is_counted_and_not_shown() -> None:
    session = JointDPSession(example(), noise=dpb.SimulatedNoise(1))
    with pytest.raises(ValueError, match="not shown") as refused:
        session.ask([SECRET, float("nan")])
    require_nothing_of_it(refused.value)
    assert session.asked == 1
    assert "NOT private" in session.statement()


def test_errors_keep_nothing_of_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what was given, and not the place of the record."""
    noise = Exact(1)
    session = JointDPSession(example(), noise=noise)
    decision, visit = session.ask([0.5, 0.5]), session.visit()
    word, index = JointDecision("7314", 1, None), 7_314_000
    noise.failing = True
    for call in (
        lambda: session.tell(decision, SECRET),  # no coin
        lambda: session.tell(decision, 7314.0),
        lambda: session.tell(word, 0.5),
        lambda: session.report(visit, index),
        lambda: [session.ask([SECRET, 0.0]) for _ in range(100)],
    ):
        with pytest.raises((OSError, dpb.Error)) as error:
            call()
        require_nothing_of_it(error.value)
    noise.failing = False
    with pytest.raises(ValueError, match="at least 16 bytes") as short:
        session.to_json(key=b"short")
    require_nothing_of_it(short.value, ("/session/saving",))
    stops = Mock(side_effect=[None, KeyboardInterrupt] * 2)  # a call begins with it, too
    monkeypatch.setattr(JointDPSession, "_finish_telling", stops)
    for record in (partial(session.tell, decision, 1.0), partial(session.report, visit, 3)):
        with pytest.raises(KeyboardInterrupt) as stopped:
            record()
        assert not any("place" in frame.f_locals for frame in frames_of(stopped.value))


def test_interrupted_calls_happen_once_or_not_at_all() -> None:
    """Noise that fails, and calls within a call: each record is counted once."""

    class Fails(Exact):
        broken = True

        def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
            if verb == "laplace" and self.broken:
                self.broken = False
                raise KeyboardInterrupt
            return super().ask(verb, *exact, **cost)

    session = JointDPSession(example(), noise=Fails(1), seed=1)
    assert session.policy.first is not None
    for context in visitors(session.policy.first):
        session.tell(session.ask(context), 1.0)
    with pytest.raises(KeyboardInterrupt):
        session.ask([0.1, 0.1])
    assert session.releases == 0
    session.ask([0.1, 0.1])
    (released,) = session.released
    assert int(released.counts.sum()) == session.policy.first
    decision = session.ask([0.1, 0.1])
    place = session._waiting[decision.word][1]
    session._telling = Tell(decision.word, place, 1)  # cut off
    session.ask([0.1, 0.1])
    assert session._open.counts[place] == session._open.counts.sum() == 1


def test_a_release_that_is_cut_off_after_its_draw_loses_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither those that were drawn, in a document, nor those that come before the next ask."""
    session = JointDPSession(example(), noise=Exact(1), seed=1)
    assert session.policy.first is not None
    waiting = [session.ask(context) for context in visitors(session.policy.first)]
    for decision in waiting[5:]:
        session.tell(decision, 1.0)
    with monkeypatch.context() as patched:
        patched.setattr(dpb.JointDPLinTS, "learned", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            session.ask([0.1, 0.1])
    for decision in waiting[:5]:
        session.tell(decision, 1.0)
    assert session.releases == 0  # which would show that somebody answered
    loaded, unasked = (
        JointDPSession.from_json(session.to_json(), noise=Exact(1)) for _ in range(2)
    )
    for each in (session, loaded, unasked):
        if each is not unasked:
            each.ask([0.1, 0.1])
        each.close()
        assert [int(each.counts.sum()) for each in each.released] == [len(waiting) - 5, 5]


# What is refused, and what is saved


def test_every_place_of_a_session_is_there_or_closed_with_a_reason() -> None:
    """What `Session` has and takes: nothing is left that nobody thought of. The guide says it."""
    other: Any = JointDPSession
    missing = {name for name in dir(dpb.Session) if name[0] != "_"} - {*dir(other)}
    for call in ("__init__", "ask", "tell", "to_json", "from_json"):
        taken, here = (
            set(inspect.signature(getattr(of, call)).parameters) for of in (dpb.Session, other)
        )
        missing |= taken - here
    assert missing - {"policy"} <= {*REFUSED}
    guide = (REPOSITORY / "docs/guides/private_contexts.md").read_text(encoding="utf-8")
    table = guide.partition("| option or method | why not |")[2].partition("\n\n")[0]
    named = [row.split("|")[1] for row in table.splitlines() if row.count("|") == 3]
    assert {name for row in named for name in re.findall(r"`(\w+)`", row)} == {*REFUSED}


@pytest.mark.parametrize("name", REFUSED)
def test_options_and_methods_of_sessions_are_refused_with_a_reason(name: str) -> None:
    policy, noise = example(), dpb.SimulatedNoise(1)
    with pytest.raises(ValueError, match=f"{name}= is not for it: ..."):
        JointDPSession(policy, noise=noise, **{name: 1})
    session = JointDPSession(policy, noise=noise)
    with pytest.raises(ValueError, match=f"{name}= is not for it"):
        session.ask([0.1, 0.1], **{name: 1})
    with pytest.raises(AttributeError, match=f"has no {name}: ..."):
        getattr(session, name)
    assert session.asked == 0


def test_people_have_no_seed_and_no_file_in_clear() -> None:
    noise: Noise = dpb.SecureNoise()
    with pytest.raises(ValueError, match="no seed="):
        JointDPSession(example(), noise=noise, seed=1)
    session = JointDPSession(example(), noise=noise)
    with pytest.raises(ValueError, match="key="):
        session.to_json()
    lengths = set[int]()
    for context in visitors(9):
        decision = session.ask(context)
        lengths.clear()
        lengths.add(len(session.to_json(key=KEY)))
        session.tell(decision, 1.0)
        lengths.add(len(session.to_json(key=KEY)))
        assert len(lengths) == 1
    text = session.to_json(key=KEY)
    assert decision.word not in text
    loaded = JointDPSession.from_json(text, key=KEY)
    assert loaded.public() == session.public()
    assert (loaded.guarantee.cost, loaded.guarantee.noise) == (example().budget, "secure")
    assert "NOT private" not in loaded.statement()
    with pytest.raises(dpb.DecisionError):
        loaded.tell(decision, 1.0)
    document = json.loads(text)
    document["public"]["asked"] += 1
    with pytest.raises(dpb.DamagedSessionError):
        JointDPSession.from_json(json.dumps(document), key=KEY)


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_document_sealed_anew_is_refused_or_goes_on(every: int) -> None:
    session = JointDPSession(example(), noise=dpb.SimulatedNoise(1), waits=5)
    for context in visitors(40):
        session.tell(session.ask(context), 1.0)
    data, went_on = json.loads(session.to_json()), 0
    for path, value in list(edits(data))[::every]:
        try:
            text = resealed(changed(data, path, value))
            again = JointDPSession.from_json(text, noise=dpb.SimulatedNoise(1))
        except ValueError as error:
            assert error.__context__ is None or error.__suppress_context__  # noqa: PT017
            continue
        for context in visitors(9):
            again.tell(again.ask(context), 1.0)
        went_on += 1
    assert went_on > 9


@pytest.mark.long  # it compiles
def test_a_block_at_once_has_the_law_of_one_ask_after_the_other() -> None:
    """Means over runs differ by less than five deviations; by chance in one of a million cases."""
    rng = np.random.default_rng(5)
    table = dpb.ContextTable(visitors(300), rng.random((300, 3)))
    policy = example()
    many, rounds = 40, 100
    found = []
    for compiled in (True, False):
        runs = dpb.simulate(policy, table, rounds, runs=many, seed=9, workers=1, compiled=compiled)
        plays = runs.plays_at([rounds])[:, 0]
        found.append(np.column_stack((plays[:, :2], runs.regret(), runs.releases)))
    one, other = found
    error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / many)
    assert np.all(np.abs(one.mean(axis=0) - other.mean(axis=0)) <= 5.0 * error)
    assert one[:, 3].tolist() == other[:, 3].tolist()
