"""What a board reads: who is responsible, what epsilon means, what is stored, and the results; and
the page for participants.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.session.statement import posterior_after
from tests.service.http.web import client_of, remote
from tests.session.small import Exact

POLICY = dpb.DPKLUCB(arms=["old", "new"], epsilon=1, first=8)
ADA = "Ada Lovelace, ada@clinic.example"
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2}


def session(**options: Any) -> dpb.Session:
    return dpb.Session(POLICY, noise=Exact(1), seed=1, campaign="spring", **options)


def words(text: str) -> str:
    assert max(map(len, text.splitlines())) <= 88
    return " ".join(text.split())


def test_a_statement_has_what_a_board_asks_for() -> None:
    s = session(responsible=ADA, **PEOPLE, window=timedelta(days=7), clock=lambda: 1e6)
    for user in range(5):
        s.ask(user=user)
    said = words(s.statement())
    for part in (
        f"Date: {datetime.now(UTC):%Y-%m-%d}. Responsible: {ADA}.",
        "Unit: all rewards of one user in one window of 7 days. In odds: someone who thought an "
        "outcome 10 % likely may think 23.2 % after seeing everything.",
        "Users learned from in the window that is open: 5.",
        "Stored: single rewards are not kept, but as sums of open blocks",
        "a pseudonym of each user with a count of learned rounds",
    ):
        assert part in said
    assert "Results" not in said
    other = words(session().statement())
    assert "No responsible person was named. " in other
    assert "pseudonym" not in other
    held = words(session(attribution_window=timedelta(days=3)).statement())
    assert "single answers are held for 3 days" in held


def test_who_is_responsible_is_saved() -> None:
    s = session(responsible=ADA)
    loaded = dpb.Session.from_json(s.to_json(key=bytes(16)), key=bytes(16))
    assert loaded.responsible == ADA


def test_results_come_once_the_session_is_closed() -> None:
    s = session()
    for arm, ones in (("old", 20), ("new", 90)):
        s.record(arm, [1.0] * ones + [0.0] * (100 - ones), key=arm)
    s.close("enough")
    said = words(s.statement())
    row = s.beliefs()["new"]
    assert f"new {row.mean:.4g} ({row.low:.4g} to {row.high:.4g}, 100 people)" in said
    assert s.beliefs().advice in said
    assert "STATEMENT of the session spring" in said
    pair = s.lift()["new"]
    assert f"Difference to old: new {pair.difference:+.4g} ({pair.low:+.4g} to" in said
    shared = session(min_share={"new": 0.5})
    shared.tell_many([(each, float(each.action)) for each in shared.ask(60)])
    assert shared.lift().control == "new"
    shared.close()
    assert "Difference to new: old " in words(shared.statement())


def test_what_was_released_of_a_retired_arm_stays_in_the_results() -> None:
    """And the rewards of the statement add up: 8 + 40 of 58 were read, 10 dropped with an arm."""
    s = dpb.Session(
        dpb.DPKLUCB(arms=["old", "new", "late", "never"], epsilon=1, first=8),
        noise=Exact(1),
        seed=1,
    )
    s.record("late", [1.0] * 6 + [0.0] * 2, key="late")
    s.record("late", [1.0] * 3, key="more")
    s.record("never", [1.0] * 7, key="never")
    s.record("old", [1.0] * 40, key="old")
    for arm in ("late", "never"):
        s.retire_arm(arm)
    s.close()
    said, row = words(s.statement()), s.beliefs()["late"]
    span = f"{row.low:.4g} to {row.high:.4g}, 8 people, until it was retired"
    assert f"late 0.75 ({span}); " in said
    assert "; never unknown, for it was retired before its first release." in said
    assert "Rewards recorded: 58. " in said
    assert "of 48 rewards" in said
    assert "Recorded beside these: 10, in open blocks or dropped unread" in said
    assert "We compare 2 options: old, new. " in words(s.participant_text())


@pytest.mark.parametrize("read", [True, False])
def test_a_closed_campaign_does_not_count_void_decisions_as_answered(read: bool) -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        campaign = store.create("trial", POLICY, responsible=ADA)
        far = remote(client_of(store))["trial"]
        asked = campaign.ask(30)
        campaign.tell_many([(each, 1) for each in asked[:20]])
        campaign.void(asked[20])
        assert (campaign.summary().told, campaign.summary().void) == (20, 1)
        campaign.close("over", winner="new", read=read)
        campaign.ask(3)
        for seen in (campaign, far):
            said = seen.summary()
            assert (said.asked, said.told, said.waiting, said.void) == (33, 20, 0, 13)
            assert said.resolved == 33
            assert "more people" not in seen.beliefs().advice
            assert ADA in words(seen.statement())
            assert "STATEMENT of the campaign trial" in words(seen.statement())
            assert "Results: " in words(seen.statement())
            assert ADA in words(seen.participant_text())
        assert far.beliefs() == campaign.beliefs()
        metrics = client_of(store).get("/metrics").text
        assert 'dpbandits_resolved_total{campaign="trial"} 33.0' in metrics


def test_the_page_for_participants_is_plain_and_true() -> None:
    said = words(session(responsible=ADA, **PEOPLE, user_key=bytes(16)).participant_text())
    for part in (
        "We compare 2 options: old, new.",
        "may think 23.2 % after seeing everything",
        "We learn from you at most 2 times; this holds for all these times together.",
        "That you took part, when, which option you got",
        "Also whether we got your outcome.",
        f"Questions? Ask {ADA}.",
        "WARNING: this is a test with simulated noise",
    ):
        assert part in said
    assert len(said.split()) < 400, "one page"
    assert "ε" not in said
    once = words(session(privacy_unit="user", max_contributions=1).participant_text())
    assert "We learn from you once at most. " in once
    for text in (once, words(session().participant_text())):
        assert "weaker" not in text
    secure = dpb.Session(POLICY, noise=dpb.SecureNoise(), attribution_window=timedelta(days=2))
    said = words(secure.participant_text())
    assert "WARNING" not in said
    assert "Whether we got your outcome is hidden, too." in said
    assert "for longer than 2 days" in said
    local = dpb.Session(dpb.LDPUCB(arms=2, epsilon=1), noise=dpb.SecureNoise())
    assert "Your own device changes it at random" in words(local.participant_text())
    none = dpb.Session(dpb.UCB1(arms=2), noise=dpb.SimulatedNoise(1))
    assert "It is not" in words(none.participant_text())


def test_odds_move_by_e_to_the_epsilon_at_most_as_the_tutorial_says() -> None:
    page = Path(__file__).parents[2] / "docs" / "guides" / "trial.md"
    for epsilon in (0.1, 0.5, 1, 2, 4):
        row = list[str]()
        for before in (0.01, 0.1, 0.5):
            odds = before / (1 - before) * math.exp(epsilon)
            assert posterior_after(before, epsilon) == pytest.approx(odds / (1 + odds))
            row.append(f"{100 * odds / (1 + odds):.1f} %")
        assert f"| {epsilon} | {' | '.join(row)} |" in page.read_text(encoding="utf-8")


def test_a_closed_session_speaks_of_no_more_people() -> None:
    s = session()
    for arm, ones in (("old", 45), ("new", 55)):
        s.record(arm, (100, ones), key=arm)
    assert "more people" in s.beliefs().advice
    s.close()
    found = s.beliefs()
    assert (found.more, found.at_share) == (None, None)
    assert found.advice == "No arm is named the best at .95 confidence."
