"""Sessions of policies that decide by contexts: where a record goes, late answers, people, options,
saving, interruptions, and the exact privacy loss of a whole transcript, with broken twins.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.contexts import FINE
from dpbandits.noise.protocol import Noise
from dpbandits.session import contexts
from dpbandits.session.state import Told, View
from tests.session.replay import largest_loss
from tests.session.small import document

RNG = np.random.default_rng(7)
PLACES = np.trunc(RNG.uniform(-0.6, 0.6, (400, 2)) * FINE) / FINE
KEY = b"k" * 32


def policy(**changes: Any) -> dpb.DPLinTS:
    given: dict[str, Any] = {"arms": 2, "features": 2, "epsilon": 1, "first": 6}
    given["public_contexts"] = PLACES[:100]
    return dpb.DPLinTS(**given | changes)


def session(made: Any = None, noise: Noise | None = None, **options: Any) -> dpb.Session:
    return dpb.Session(made or policy(), noise=noise or dpb.SimulatedNoise(1), seed=5, **options)


def expected_blocks(s: dpb.Session, told: list[tuple[int, Any, float]]) -> dict[int, Any]:
    """By arm: records, and by cell sums, counts, negatives and directions, worked out anew."""
    made: Any = s.policy
    found: dict[int, Any] = {}
    for arm, context, reward in told:
        book = made.book_of(s.state, arm)
        along = book @ context
        cell = int(np.argmax(np.abs(along)))
        against = along[cell] < 0
        if arm not in found:
            size = len(book)
            zeros = [0] * size
            found[arm] = [0, zeros[:], zeros[:], zeros[:], np.zeros((size, 2))]
        block = found[arm]
        steps = round(reward * made.grid)
        block[0] += 1
        block[1][cell] += made.grid - steps if against else steps
        block[2][cell] += 1
        block[3][cell] += int(against)
        block[4][cell] += -context if against else context
    return found


def held_blocks(s: dpb.Session) -> dict[int, Any]:
    data = document(s)
    public, sums = data["public"], data["private"]["sums"]
    counts = public["contexts"]["open"]
    found = {}
    for (arm, records), total in zip(public["counts"], sums, strict=True):
        seen, negatives, directions, _ = counts[str(arm)]
        found[arm] = [records, total, seen, negatives, np.array(directions)]
    return found


def assert_same_blocks(one: dict[int, Any], other: dict[int, Any]) -> None:
    assert one.keys() == other.keys()
    for arm, block in one.items():
        assert block[:4] == other[arm][:4]
        assert np.array_equal(block[4], other[arm][4])


@pytest.mark.parametrize("many", [False, True])
def test_a_late_answer_enters_the_present_codebooks_cell(many: bool) -> None:
    """Answers to decisions of earlier blocks, in one call that ends a block midway, too."""
    s = session(policy(first=8, epsilon=8))
    open_: dict[int, list[Any]] = {0: [], 1: []}
    waiting: list[tuple[Any, Any]] = []
    rng = np.random.default_rng(3)
    for x in PLACES[:300]:
        waiting.append((s.ask(context=x), x))
        if len(waiting) < 23:
            continue
        rng.shuffle(waiting)  # type: ignore[arg-type]
        now, waiting = waiting[:17], waiting[17:]
        rewards = [float(r) for r in rng.integers(0, 2, len(now))]
        if many:
            s.tell_many([(d, r) for (d, _), r in zip(now, rewards, strict=True)])
        else:
            for (d, _), r in zip(now, rewards, strict=True):
                s.tell(d, r)
        for (d, place), r in zip(now, rewards, strict=True):
            open_[d.action].append((d.action, place, r))
        ledger = dict.fromkeys(open_, 0)
        for line in s.ledger:
            ledger[line.coordinate] = line.stop
        told = [
            record
            for arm, records in open_.items()
            for record in records[ledger[arm] :]  # those that no release read
        ]
        assert_same_blocks(held_blocks(s), expected_blocks(s, told))
    assert s.releases > 6


def test_a_context_goes_once_its_reward_is_recorded() -> None:
    """It stays with the pending decision, and in the arm's newest contexts, by name."""
    s = session(policy(first=1000))
    marked = [0.123456, -0.333333]
    kept = [float(np.trunc(v * FINE) / FINE) for v in marked]
    decision = s.ask(context=marked)
    public = document(s)["public"]
    assert public["plays"][0][-1] == kept
    s.tell(decision, 1.0)
    after = document(s)["public"]
    assert after["plays"] == [] == after["pending"]
    assert after["contexts"]["recent"][decision.action] == [kept]
    public["contexts"] = after["contexts"] = after["generation"] = None
    voided = s.ask(context=marked)
    s.void(voided)
    assert str(kept[0]) not in json.dumps({**document(s)["public"], "contexts": None})
    assert len(document(s)["public"]["contexts"]["recent"][voided.action]) < 2


def test_first_visitors_are_not_learned_from_and_make_the_codebooks() -> None:
    made = policy(public_contexts=None)
    s = session(made)
    rng = np.random.default_rng(4)
    for i in range(made.pilot_visitors):
        decision = s.ask(context=PLACES[i % len(PLACES)])
        assert not decision.learn
        s.tell(decision, float(rng.integers(2)))
    assert s.releases == 0
    assert s.unread == made.pilot_visitors
    assert all(not fit.book for fit in s.state.fits)
    decision = s.ask(context=PLACES[0])
    assert decision.learn
    assert all(len(fit.book) >= 2 for fit in s.state.fits)
    assert document(s)["public"]["contexts"]["pilot"] == []
    shares = [row.propensity for row in s.decisions()]
    assert shares == [0.5] * made.pilot_visitors + [None]


def test_decisions_are_for_eligible_arms_and_arms_in_play() -> None:
    made = policy(arms=["a", "b", "c"])
    s = session(made)
    for x in PLACES[:40]:
        decision = s.ask(context=x, eligible=["a", "c"])
        assert decision.label in ("a", "c")
        s.tell(decision, 1.0)
    s.pause_arm("a")
    assert {s.ask(context=x).label for x in PLACES[:40]} == {"b", "c"}
    s.retire_arm("c")
    assert {s.ask(context=x).label for x in PLACES[:10]} == {"b"}
    s.resume_arm("a")
    assert s.add_arm("d") == 3
    assert {s.ask(context=x).label for x in PLACES} == {"a", "b", "d"}
    for decision in s.pending:
        s.tell(decision, 0.5)
    assert s.spent == 1


@pytest.mark.parametrize("made", [policy(first=1000), dpb.LinTS(arms=2, features=2)])
def test_a_new_arm_does_not_begin_the_public_draws_anew(made: Any) -> None:
    s, places = session(made), list[Any]()
    for x in PLACES[:6]:
        for _ in range(3):
            s.ask(context=x)
            position = s._current.folded().rng
            assert position is not None
            places.append((s._state.step, position["state"]["state"], *position["normals"]))
        s.add_arm()
    assert len(places) == len({*places}) > 0
    assert len(s.state.fits) == len(s.arms)
    steps = {step for step, *_ in places}
    assert len(steps) > 1
    again = dpb.Session.from_json(s.to_json(), noise=dpb.SimulatedNoise(1))
    assert again._current.folded().rng == s._current.folded().rng


def test_blocks_that_were_open_when_an_arm_was_retired_are_read_with_the_others() -> None:
    """Of a policy that reads all arms at once: those of arms that nobody is told of since, too."""
    s = session(dpb.AdaCOFUL(arms=3, features=2, rho=1, first=30))
    for x in PLACES[:9]:
        s.tell(s.ask(context=x, eligible=[0]), 1.0)
        s.tell(s.ask(context=x, eligible=[1]), 1.0)
    s.retire_arm(0)
    assert s.releases == 0
    for x in PLACES[9:30]:
        s.tell(s.ask(context=x, eligible=[2]), 1.0)
    assert [(line.coordinate, line.stop) for line in s.ledger] == [(1, 9), (2, 21)]
    assert document(s)["public"]["counts"] == []
    assert [fit.read for fit in s.state.fits] == [0, 9, 21]


def test_several_decisions_at_once_have_a_context_each() -> None:
    one, other = session(), session()
    several = one.ask(30, context=PLACES[:30])
    assert several == [other.ask(context=x) for x in PLACES[:30]]
    with pytest.raises(ValueError, match="30 contexts, one for each decision, got 29"):
        one.ask(30, context=PLACES[:29])


def test_one_persons_decisions_beyond_the_cap_are_not_learned_from() -> None:
    made = policy(epsilon=4)
    s = session(made, privacy_unit="user", max_contributions=2, user_key=KEY)
    assert s.guarantee is not None
    assert str(s.guarantee.epsilon) == "4"
    learned = [s.ask(context=x, user="u").learn for x in PLACES[:4]]
    assert learned == [True, True, False, False]
    assert [each.learn for each in s.ask(4, user="v", context=PLACES[:4])] == learned
    with pytest.raises(ValueError, match="Expected user="):
        s.ask(context=PLACES[0])


def test_contexts_are_refused_where_they_are_not_expected_and_asked_for_where_they_are() -> None:
    s = session()
    for wrong in (None, [0.1], [0.1, float("nan")], [1.0, 1.0]):
        with pytest.raises(ValueError, match="No decision was made"):
            s.ask(context=wrong)
    assert s.resolved == 0 == len(s.pending)
    with pytest.raises(ValueError, match="decides by contexts, and Bernoulli has none"):
        dpb.simulate(policy(), dpb.Bernoulli([0.5, 0.4]), 10)
    with pytest.warns(UserWarning, match="clicked_before may carry recorded outcomes"):
        dpb.DPLinTS(arms=2, features=["age", "clicked_before"], epsilon=1)


# The exact privacy loss of a whole transcript


WINDOW: dict[str, Any] = {"attribution_window": timedelta(hours=12)}


def loss(others: Any = (0.0, 1.0), **options: Any) -> Any:
    """Of a record among 40; None where nobody answered."""

    def play(records: list[Any], noise: Noise) -> Any:
        now, seen = [0.0], list[Any]()
        clock: Any = {"clock": lambda: now[0]} if options else {}
        s = session(noise=noise, **options, **clock)
        for x, answer in zip(PLACES[100:], records, strict=False):
            decision = s.ask(context=x)
            seen.append(decision.action)
            if answer is not None:
                s.tell(decision, answer)
            elif not options:
                s.expire(decision)
            now[0] += 5 * 3_600
        s.settle()
        return seen, s.state, s.ledger

    rng = np.random.default_rng(21)
    records: list[Any] = [float(rng.integers(2)) for _ in range(40)]
    if None in others:
        records = [None if rng.random() < 0.3 else each for each in records]
    return largest_loss(play, records, others)


def test_the_transcript_costs_exactly_epsilon() -> None:
    assert loss() == 1
    assert loss((0.25, 0.75)) == 0.75


def test_with_a_window_whether_somebody_answered_costs_no_more() -> None:
    """The default is 0, so an answer of 1 and none at all are as far apart as can be."""
    assert loss((None, 1.0, 0.0), **WINDOW) == 1


add: Any = contexts.with_records
newest: Any = contexts.newest


def cell_by_reward(patch: Any) -> None:
    def added(*given: Any) -> Any:
        *block, records = given
        turned = [
            each if each.steps else each._replace(context=each.context[::-1]) for each in records
        ]
        return add(*block, turned)

    patch.setattr(contexts, "with_records", added)


def counts_by_answer(patch: Any) -> None:
    def added(*given: Any) -> Any:
        *block, records = given
        sums, _ = add(*given)
        answered = [each for each in records if each.steps]
        counts = add(*block, answered)[1] if answered else block[4]
        return sums, add(*given)[1]._replace(directions=counts.directions)

    patch.setattr(contexts, "with_records", added)


def contexts_by_reward(patch: Any) -> None:
    def with_records(self: Any, state: Any, plan: Any, records: Any) -> Any:
        blocks, after = every(self, state, plan, records)
        recent = list(after.recent)
        for arm, new in records.items():
            rows = [each.context for each in new if each.steps]
            recent[arm] = newest(self.recent[arm], rows, 1_500) if rows else self.recent[arm]
        return blocks, after._replace(recent=tuple(recent))

    every = contexts.Contexts.with_records
    patch.setattr(contexts.Contexts, "with_records", with_records)


@pytest.mark.parametrize("broken", [cell_by_reward, counts_by_answer, contexts_by_reward])
@pytest.mark.parametrize("options", [{}, WINDOW], ids=["plain", "window"])
def test_broken_twins_cost_more(broken: Any, options: Any, monkeypatch: Any) -> None:
    """A cell chosen by the reward, B counted by answers, a codebook from rewards."""
    broken(monkeypatch)
    assert loss(**options) > 1


def test_a_block_that_ends_by_its_sum_costs_more(monkeypatch: Any) -> None:
    apply = View.apply

    def by_sum(self: View, event: Any, at: int) -> None:
        apply(self, event, at)
        if type(event) is Told and self.contexts is not None and self.ready is None:
            arm = event.counted_as
            if self.folded().books.blocks[arm].sums.sum() >= 4 * 1024:
                self.ready = (arm,)

    monkeypatch.setattr(View, "apply", by_sum)
    assert loss() > 1


def test_no_text_of_a_session_shows_a_reward_or_a_sum() -> None:
    s = session(policy(first=1000))
    for x in PLACES[:30]:
        s.tell(s.ask(context=x), 0.731)
    view = s._view
    shown = [repr(s), repr(view.contexts), repr(s._log), repr(s._state.books), repr(view)]
    shown += [repr(event) for event in s._log.events if isinstance(event, Told)]
    shown += [repr(part) for e in s._log.events if isinstance(e, Told) for part in e.parts]
    assert all("731" not in text and str(round(0.731 * 1024)) not in text for text in shown)


def test_an_error_while_records_are_added_up_keeps_no_frame_that_has_them(monkeypatch: Any) -> None:
    s = session(policy(first=1000))
    for x in PLACES[:130]:  # there are sums already, and records beside them
        s.tell(s.ask(context=x), 0.731)

    def failing(*given: Any) -> Any:
        add(*given)
        raise MemoryError

    monkeypatch.setattr(contexts, "with_records", failing)
    with pytest.raises(MemoryError) as caught:
        s._view.folded()
    frames = [entry.name for entry in caught.traceback]
    assert frames[-1] == "folded"
    monkeypatch.undo()
    assert sum(each.count for each in s._view.folded().books.blocks.values()) == 130


def test_the_statement_says_what_holds_of_contexts() -> None:
    text = " ".join(session().statement().split())
    assert "tells and expiries, contexts." in text
    assert "of each arm the newest 1,500 are kept" in text
    assert "It must not carry recorded outcomes" in text
    window = session(attribution_window=timedelta(hours=1), clock=lambda: datetime(2026, 3, 1))
    assert window.guarantee is not None
    assert window.guarantee.public == ("decisions", "number and time of asks", "contexts")
    plain = dpb.Session(dpb.DPRateIMED(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1))
    assert "ontext" not in plain.statement()


def test_there_is_no_mean_by_arm() -> None:
    session = dpb.Session(dpb.DPLinTS(arms=2, features=3, epsilon=1), noise=dpb.SimulatedNoise(1))
    with pytest.raises(TypeError, match="depends on the context"):
        session.beliefs()


@pytest.mark.parametrize("rows", [np.zeros((40, 3)), np.full((40, 3), 1e-9)])
def test_contexts_that_are_all_zero_make_a_codebook(rows: Any) -> None:
    policy = dpb.DPLinTS(arms=2, features=3, epsilon=1, public_contexts=rows)
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1))
    for _ in range(200):
        session.tell(session.ask(context=[0, 0, 0]), 1.0)
    assert session.releases > 0
    assert "NaN" not in session.to_json()
    assert all(np.isfinite(fit.book).all() for fit in session.state.fits)
