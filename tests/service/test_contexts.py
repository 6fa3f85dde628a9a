"""Campaigns whose policies decide by contexts: where contexts are kept, and for how long; and what
is refused. That they decide as sessions do is in `machine.py`.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

import dpbandits as dpb
from dpbandits.policies import contextual
from dpbandits.session.contexts import packed
from dpbandits.session.options import OPTIONS_WITH_CONTEXTS
from tests.service.http.web import client_of, remote
from tests.service.timelines import Lite, inside

RNG = np.random.default_rng(7)
PLACES = np.trunc(RNG.uniform(-0.6, 0.6, (400, 2)) * 2**20) / 2**20
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 3}


def policy(**changes: Any) -> dpb.DPLinTS:
    given: dict[str, Any] = {"arms": 2, "features": 2, "epsilon": 1, "first": 6}
    given["public_contexts"] = PLACES[:100]
    return dpb.DPLinTS(**given | changes)


def create(store: Any, made: Any = None, **options: Any) -> Any:
    return store.create("c", made or policy(), noise=dpb.SimulatedNoise(1), seed=5, **options)


def rows(lite: Lite, table: str) -> list[Any]:
    return lite.run(f"SELECT * FROM dpbandits_{table}")


MADE = {
    "cells": policy,
    "pilot": lambda: policy(public_contexts=None),
    "shaped": lambda: policy(epsilon=None, rho=1, release="shaped", public_contexts=None),
}


def test_contexts_stand_where_they_are_needed_and_nowhere_else(lite: Lite) -> None:
    campaign = create(lite.open())
    asked = campaign.ask(40, context=PLACES[:40], key="visit")
    campaign.tell_many([(each, 1) for each in asked[:30]])
    campaign.void(asked[30])
    contexts = {row[1]: row[-1] for row in rows(lite, "decision")}
    assert [seq for seq, body in contexts.items() if body is not None] == [*range(32, 41)]
    assert contexts[32] == packed(PLACES[31])
    kept = sorted(row[-1] for row in rows(lite, "context"))
    assert kept == sorted(map(packed, PLACES[:30]))
    assert {row[3] for row in rows(lite, "context")} == {None}, "nobody is known"
    assert campaign.releases()
    told = [text for at in PLACES[:40] for text in (repr(float(at[0])), packed(at).hex())]
    for table in ("release", "request", "head", "event", "campaign", "ledger"):
        text = repr(rows(lite, table))
        assert not any(each in text for each in told)


def test_what_only_a_release_changes_is_written_with_it(lite: Lite) -> None:
    """Not at each ask: the head stays small, whatever the policy has learned."""
    wide = RNG.normal(size=(300, 12))
    wide /= 1.01 * np.linalg.norm(wide, axis=1)[:, None]
    made = dpb.DPLinTS(arms=3, features=12, epsilon=1, first=15, public_contexts=wide)
    store = lite.open()
    campaign = create(store, made)
    learned = list[str]()

    @event.listens_for(store.database.engine, "before_cursor_execute")
    def note(_: object, cursor: object, statement: str, *more: object) -> None:
        learned.extend([statement] * ("INTO dpbandits_learned" in statement))

    for at in range(75):
        steps = campaign.summary().step
        decision = campaign.ask(context=wide[at])
        assert not learned
        campaign.tell(decision, at % 2)
        assert len(learned) == (campaign.summary().step > steps)
        learned.clear()
        ((*_, public, _),) = rows(lite, "head")
        assert len(public) < 6_000
    assert campaign.summary().step > 2
    assert sum(len(row[-1]) for row in rows(lite, "learned")) > 25_000


def test_of_each_arm_the_newest_contexts_are_kept(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contextual.PrivateLinear, "kept_contexts", 20)
    campaign, told, found = create(lite.open()), ([], []), ([], [])  # type: ignore[var-annotated]
    for at in range(0, 200, 20):
        if at == 100:
            campaign = lite.open()["c"]
        places = PLACES[at : at + 20]
        asked = campaign.ask(20, context=places)
        campaign.tell_many([(each, 1) for each in asked])
        for place, each in zip(places, asked, strict=True):
            told[each.action].append(packed(place))
    for _, arm, _, _, _, body in sorted(rows(lite, "context")):
        found[arm].append(body)
    assert found == (told[0][-20:], told[1][-20:])


@pytest.mark.parametrize("kind", ["cells", "pilot"])
def test_who_is_erased_is_in_no_row(kind: str, lite: Lite) -> None:
    """Nor in another process's memory. Nobody else's contexts go."""
    made = MADE[kind]()
    campaign = create(lite.open(), made, **PEOPLE)
    other = lite.open()["c"]
    for at in range(60):
        decision = campaign.ask(context=PLACES[at], user=f"user {at % 12}")
        assert decision.learn is (kind == "cells" and at < 36)
        if at % 3:
            campaign.tell(decision, 1)
    other.ask(context=PLACES[60], user="user 0")
    bodies = [packed(place) for place in PLACES[:61]]

    def kept() -> set[int]:
        found = [row[-1] for table in ("decision", "context") for row in rows(lite, table)]
        return {bodies.index(body) for body in found if body is not None}

    before = kept()
    theirs = {at for at in before if at % 12 == 4}
    assert theirs
    assert campaign.erase("user 4") == sum(at % 3 == 0 for at in range(4, 60, 12))
    assert kept() == before - theirs
    for each in (campaign, other, lite.open()["c"]):
        now = inside(each, lambda part, _: part.session._current.folded().contexts)
        rows_of = (*(rows for each in now.recent for rows in each), now.pilot)
        held = {packed(context) for some in rows_of for context in some}
        assert held == {row[-1] for row in rows(lite, "context")}
    assert other.tell(other.ask(context=PLACES[61], user="new"), 1) == "recorded"
    assert "Whoever is erased, their contexts are deleted." in " ".join(other.statement().split())


def test_noise_covers_a_far_context_that_is_erased_before_its_block_is_read(lite: Lite) -> None:
    """Contexts of earlier blocks are not taken for those of the open one."""
    campaign = create(lite.open(), MADE["shaped"](), **PEOPLE)
    for at in range(36):
        near = campaign.ask(context=[0.5, 0.001 * at], user=f"user {at}", eligible=[0])
        campaign.tell(near, 1)
    far = campaign.ask(context=[0, 0.9], user="far", eligible=[0])
    campaign.tell(far, 1)
    campaign.erase("far")
    state = inside(campaign, lambda part, _: part.session._current.folded())
    counts = state.contexts.open[0].counts.sum()
    (shape,) = state.contexts.shapes(state, [0])
    assert 1 < counts < 36
    assert np.linalg.norm(shape.matrix @ [0, int(0.9 * 2**20)]) <= shape.sensitivity


def test_who_is_erased_in_the_transaction_of_their_answer_is_in_no_row(lite: Lite) -> None:
    from dpbandits.service.operations import Ask, Erase, Tell, TellItem
    from dpbandits.service.transaction import QueuedCall

    campaign = create(lite.open(), **PEOPLE)
    first = campaign.ask(context=PLACES[0], user="anna")
    queue = campaign._calls.host._queue
    queue.append(QueuedCall(Tell(tells=[TellItem(id=first.id, reward=1.0)])))
    # the last of them is not learned from
    queue.extend(QueuedCall(Ask(context=place, user="anna")) for place in PLACES[1:4])
    queue.append(QueuedCall(Ask(context=PLACES[4], user="ben")))
    assert campaign.do(Erase(user="anna")) == 3
    assert rows(lite, "context") == []
    assert [row[-1] for row in rows(lite, "decision")] == [None] * 4 + [packed(PLACES[4])]
    assert lite.open()["c"].tell(campaign.ask(context=PLACES[5], user="carl"), 1) == "recorded"


EDITS = {
    "a context": "UPDATE dpbandits_context SET body = x'0000000000000000' WHERE number = 3",
    "whose": "UPDATE dpbandits_context SET pseudonym = 'x' WHERE number = 3",
    "another arm": "UPDATE dpbandits_context SET arm = 1 - arm WHERE number = 3",
    "no arm": "UPDATE dpbandits_context SET arm = 9 WHERE number = 3",
    "gone": "DELETE FROM dpbandits_context WHERE number = 3",
    "one more": "INSERT INTO dpbandits_context VALUES "
    "((SELECT campaign FROM dpbandits_head), 0, 99, NULL, 9, x'0000000000000000')",
    "counts": "UPDATE dpbandits_open_cell SET body = zeroblob(length(body))",
    "another cell": "UPDATE dpbandits_open_cell SET cell = cell + 7",
    "no counts": "DELETE FROM dpbandits_open_cell",
    "the state": "UPDATE dpbandits_learned SET body = replace(body, '1', '2') WHERE what = 'state'",
    "the policy": 'UPDATE dpbandits_learned SET body = replace(body, \'"epsilon":"1"\', '
    "'\"epsilon\":\"9\"') WHERE what = 'policy'",
    "no state": "DELETE FROM dpbandits_learned WHERE what = 'state'",
    "waiting": "UPDATE dpbandits_decision SET context = x'0000000000000000' WHERE seq = 20",
    "waiting, gone": "UPDATE dpbandits_decision SET context = NULL WHERE seq = 20",
}


def test_rows_that_were_edited_are_noticed(lite: Lite) -> None:
    with lite.open() as store:
        campaign = create(store, policy(first=1000))
        asked = campaign.ask(20, context=PLACES[:20])
        campaign.tell_many([(each, 1) for each in asked[:10]])
    copy = lite.copy()
    for edit, sql in EDITS.items():
        lite.put_back(copy)
        lite.run(sql)
        with lite.open() as store:
            with pytest.raises(dpb.EditedRowsError, match="edited, deleted or put back"):
                store["c"].tell(asked[10], 1)
            assert rows(lite, "release") == [], edit


GIVEN: dict[str, Any] = {
    "assignment": "shuffled",
    "min_share": 0.1,
    "period": timedelta(days=1),
    "guardrail": dpb.Guardrail("refunds", limit=0.1),
    "sticky": True,
    "segments": ["DE", "FR"],
    "holdout": 0.1,
    "rewards": dpb.Range(0, 4),
    "default": 0.5,
    "max_pending": 7,
    "privacy_unit": "user",
    "max_contributions": 2,
    "window": timedelta(days=1),
    "attribution_window": timedelta(days=1),
}


def test_options_are_taken_or_refused_as_the_table_says(store: Any) -> None:
    people = {"user": "anna"}
    for option, value in GIVEN.items():
        is_personal = option in ("max_contributions", "privacy_unit", "window")
        options = {**(PEOPLE if is_personal else {}), option: value}
        if why := OPTIONS_WITH_CONTEXTS[option]:
            with pytest.raises(ValueError, match=f"{option}= is not for it: {why[:20]}"):
                store.create(option, policy(), **options)
            assert option not in store
            continue
        campaign = store.create(option, policy(), **options)
        decision = campaign.ask(context=PLACES[0], **(people if is_personal else {}))
        assert campaign.tell(decision, 1) == "recorded"


def test_the_guide_has_the_table_of_options() -> None:
    page = Path(__file__).parents[2] / "docs" / "guides" / "contexts.md"
    table = page.read_text(encoding="utf-8").partition("## Options")[2]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    listed = dict[str, bool]()
    for row in rows:
        options = re.findall(r"`(\w+)`", row.partition(" | ")[0])
        listed |= dict.fromkeys(options, not row.endswith("| yes |"))
    assert listed == {option: bool(why) for option, why in OPTIONS_WITH_CONTEXTS.items()}
    verbs = {"eligible", "add_arm", "pause_arm", "resume_arm", "retire_arm", "drop_open", "close"}
    assert {*GIVEN} | verbs | {"scope"} == {*OPTIONS_WITH_CONTEXTS}


def test_who_only_looks_sees_a_campaign_without_private_rows(lite: Lite) -> None:
    """As far as its database lets it: the sealed row is not needed."""
    from dpbandits.service.parts import Setting, loaded
    from dpbandits.service.sealing import StoreSeal

    campaign = create(lite.open())
    for place in PLACES[:60]:
        campaign.tell(campaign.ask(context=place), 1)

    def look(part: Any, found: Any) -> Any:
        setting = Setting(StoreSeal(None), lambda: 0.0, None, None, True)
        return loaded(part.row, part.head, found, setting, None).session

    looked = inside(campaign, look)
    assert looked.state == inside(campaign, lambda part, _: part.session.state)
    assert looked.ledger
    assert "newest 1,500" in looked.statement()


def test_a_closed_campaign_is_opened_again(lite: Lite) -> None:
    now = [1e6]
    options = {**PEOPLE, "attribution_window": timedelta(hours=1)}
    campaign = create(lite.open(clock=lambda: now[0]), policy(first=50), **options)
    asked = [campaign.ask(context=PLACES[at], user=f"user {at}") for at in range(20)]
    campaign.tell_many([(each, 1) for each in asked[:15]])
    campaign.close("over", winner=0)
    now[0] += 3_601
    campaign = lite.open(clock=lambda: now[0])["c"]
    campaign.settle()
    assert not campaign.ask(context=PLACES[0], user="late").learn
    campaign.erase("user 3")
    campaign = lite.open(clock=lambda: now[0])["c"]
    assert campaign.ask(context=PLACES[0], user="later").action == 0
    assert rows(lite, "open_cell") == []
    assert len(rows(lite, "context")) == 19
    assert all(row[-1] is None for row in rows(lite, "decision"))


def test_predictions_say_that_one_person_counts_repeatedly(lite: Lite) -> None:
    store, people = lite.open(), {"privacy_unit": "user", "max_contributions": 3}
    session = dpb.Session(policy(), **people, noise=dpb.SimulatedNoise(1))
    for each in (session, create(store, **people), remote(client_of(store))["c"]):
        assert "Outcomes of one person may count repeatedly" in str(each.predictions())
