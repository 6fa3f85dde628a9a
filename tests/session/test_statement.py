"""The privacy statement, the page for participants, and results once a session is closed."""

import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.session.beliefs import OVER_TIME
from dpbandits.session.lift import ArmLift
from dpbandits.session.statement import posterior_after, statement
from tests.places import REPOSITORY
from tests.service.http.web import client_of, remote
from tests.session.small import Exact, loaded

POLICY = dpb.DPKLUCB(arms=["old", "new"], epsilon=1, first=8)
RHO = dpb.AdaCUCB(arms=2, rho=1)
ADA = "Ada Lovelace, ada@clinic.example"
USERS: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 3}
CLIPPED = dpb.Range(0, 250, clip=True)
CAUTION = "outside the range from 0 to 250 enter as its nearer bound"


def session(policy: Any = POLICY, **options: Any) -> Any:
    return dpb.Session(policy, noise=Exact(1), seed=1, campaign="spring", **options)


def words(text: str) -> str:
    assert max(map(len, text.splitlines())) <= 88
    return " ".join(text.split())


def told(s: Any, rewards: Iterable[Any], by_user: bool = False) -> Any:
    for number, reward in enumerate(rewards):
        s.tell(s.ask(**({"user": number} if by_user else {})), reward)
    return s


def of_users() -> Any:
    s = session(**USERS, rewards=CLIPPED, responsible=ADA)
    told(s, [125.0] * 500, by_user=True).retire_arm("old")
    return s


def in_windows() -> Any:
    s = session(RHO, **USERS, window=timedelta(days=7), clock=lambda: 1e6, user_key=bytes(16))
    for user in (*range(5), 0):
        s.ask(user=user)
    return loaded(s, user_key=bytes(16), clock=lambda: 1e6)


SAID: dict[str, tuple[Callable[[], Any], list[str], list[str]]] = {
    "a round": (
        lambda: told(session(), [1]),
        [
            "Price: ε = 1 for each round. Whoever appears in m rounds",
            "in all of them together at m times that.",
            "had one reward been another.",
            "Rewards recorded: 1.",
            "No responsible person was named. ",
        ],
        ["waited", "Users", "pseudonym", "nearer bound, so", "Results", "ontext"],
    ),
    "a round, zCDP": (lambda: session(RHO), ["in all of them together at m² times that."], []),
    "several rewards of a round": (
        lambda: told(
            session(dpb.DPJointCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=8)), [[1, 1]] * 30
        ),
        [
            "up to the factor e^ε, had all rewards of one round been others.",
            "Rounds whose rewards were recorded: 30.",
            "of any one round have cost in all readings together is ε = 8.",
        ],
        [],
    ),
    "not private": (lambda: session(dpb.UCB1(arms=2)), ["NONE"], ["Price"]),
    "secure": (lambda: dpb.Session(POLICY, noise=dpb.SecureNoise()), [], ["WARNING"]),
    "users": (
        of_users,
        [
            f"Date: {datetime.now(UTC):%Y-%m-%d}. Responsible: {ADA}.",
            *("session spring", "DPKLUCB", "simulated", dpb.__version__, "1/1,024"),
            "ε = 1 per user (all rewards replaced, at most 3",
            "ε = 1/3 for each learned round. A user has at most 3 of them in all",
            "so ε = 1 per user.",
            "all rewards of one user",
            "values from 0 to 250",
            CAUTION,
            "old (retired), new",
            "Decisions made: 500",
            "Stored: single rewards are not kept, but as sums of open blocks",
        ],
        [],
    ),
    "users in windows": (
        in_windows,
        [
            "Price: ρ = 1/9 for each learned round.",
            "pays w² times that",
            "Unit: all rewards of one user in one window of 7 days.",
            "tells and expiries, who takes part.",
            "Users learned from in the window that is open: 5.",
            "Users with learned rounds, answered or not, void ones included: 5.",
            "a pseudonym of each user with a count of learned rounds",
        ],
        [],
    ),
    "users in windows, pure": (
        lambda: session(**USERS, window=timedelta(days=7), clock=lambda: 1e6),
        ["had all rewards of one user in one window of 7 days been others."],
        [],
    ),
    "late": (
        lambda: session(
            dpb.DPKLUCB(arms=2, epsilon=1, grid=1), attribution_window=timedelta(weeks=6)
        ),
        [
            "Answers are waited for 42 days",
            "single answers are held for 42 days",
            "Rewards: 0 or 1; a number between is held as one of them.",
        ],
        [],
    ),
    "contexts": (
        lambda: session(dpb.DPLinTS(arms=2, features=2, epsilon=1)),
        [
            "tells and expiries, contexts.",
            "of each arm the newest 1,500 are kept",
            "It must not carry recorded outcomes",
        ],
        [],
    ),
    "contexts, late": (
        lambda: session(
            dpb.DPLinTS(arms=2, features=2, epsilon=1), attribution_window=timedelta(days=1)
        ),
        ["Public are: decisions, number and time of asks, contexts."],
        [],
    ),
    "a range, coarse": (
        lambda: session(dpb.DPKLUCB(arms=2, epsilon=1, grid=1), rewards=dpb.Range(0, 250)),
        ["values outside refused; held as one of its two ends"],
        ["nearer bound, so"],
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_the_statement_says_what_holds(name: str) -> None:
    made, said, unsaid = SAID[name]
    s = made()
    text = words(s.statement())
    for part in said:
        assert part in text
    for part in unsaid:
        assert part not in text
    assert name != "users" or f"{s.releases} readings" in text


@pytest.mark.parametrize("reward", [1e6, 5.0])
def test_a_caution_about_clipped_means_says_nothing_of_rewards(reward: float) -> None:
    """Eight rewards of a million gave means of 250 without a word."""
    s = session(rewards=CLIPPED)
    before = s.beliefs().caution
    assert before is not None
    assert told(s, [reward] * 8).beliefs().caution == before
    assert CAUTION in str(s.beliefs())
    assert session(rewards=dpb.Range(0, 250)).beliefs().caution is None
    rail = session(guardrail=dpb.Guardrail("refunds", 0.1), rewards=CLIPPED)
    assert rail.harm().caution is None


@pytest.mark.parametrize(
    ("options", "is_said"),
    [({}, False), ({"max_contributions": 2}, True), ({"window": timedelta(days=7)}, True)],
)
def test_estimates_say_that_one_person_may_count_repeatedly(
    options: dict[str, Any], is_said: bool
) -> None:
    """An arm was named "at .95 confidence" by twenty like outcomes of each person."""
    users = {"privacy_unit": "user", "user_key": bytes(32), "max_contributions": 1, **options}
    s = session(**users, guardrail=dpb.Guardrail("refunds", 0.1), rewards=CLIPPED)
    for said in (str(s.beliefs()), str(s.harm()), str(s.lift()), words(s.statement())):
        assert ("Outcomes of one person may count repeatedly" in said) is is_said


# Results, once a session is closed


def test_what_has_no_best_arm_says_so_without_code() -> None:
    """Super arms, and what was learned by context."""
    pair = session(dpb.DPJointCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=8))
    told(pair, [[1, 1]] * 30).close()
    assert (
        "so none of them is named the best. Mean of each arm, with its interval: arm 0: 1"
        in words(pair.statement())
    )
    places = np.eye(2)[[0, 1] * 20]
    by_context = session(dpb.DPLinTS(arms=2, features=2, epsilon=1, public_contexts=places))
    for place in places[:10]:
        by_context.tell(by_context.ask(context=place), 1.0)
    assert "Recorded beside these: 10, in open blocks or" in words(by_context.statement())
    by_context.close()
    said = words(by_context.statement())
    assert "Recorded beside these: 10, dropped unread." in said
    assert "Results: an arm has no one mean where decisions are made by context" in said


def test_results_come_once_the_session_is_closed() -> None:
    s = session(responsible=ADA)
    for arm, ones in (("old", 20), ("new", 90)):
        s.record(arm, (100, ones), key=arm)
    again = dpb.Session.from_json(s.to_json(key=bytes(16)), key=bytes(16))
    assert again.responsible == ADA
    s.close("enough")
    said, row, pair = words(s.statement()), s.beliefs()["new"], s.lift()["new"]
    assert f"new {row.mean:.4g} ({row.low:.4g} to {row.high:.4g}, 100 rounds)" in said
    assert ["before a fence" in words(statement(s, None, fences=n)) for n in (0, 1)] == [0, 1]
    assert s.beliefs().advice in said
    assert f"Difference to old: new {pair.difference:+.4g} ({pair.low:+.4g} to" in said
    shared = session(min_share={"new": 0.5})
    for arm, ones in (("old", 45), ("new", 55)):
        shared.record(arm, (100, ones), key=arm)
    assert shared.lift().control == "new"
    assert "more rounds" in shared.beliefs().advice
    shared.close()
    assert "Difference to new: old " in words(shared.statement())
    found = shared.beliefs()
    assert (found.more, found.at_share) == (None, None)
    assert found.advice == "No arm is named the best at .95 confidence."


def test_arms_are_not_compared_over_periods() -> None:
    """One of two equal arms was seen later, when rates were higher: their difference excluded 0."""
    now = datetime(2026, 1, 1)
    s = session(min_share=0.2, period=timedelta(days=7), clock=lambda: now)
    for rate in (0.0, 1.0):
        for decision in s.ask(200):
            s.tell(decision, rate)
        now += timedelta(days=7)
    assert s.lift()["new"] == ArmLift("new", s.beliefs()["new"].people)
    assert OVER_TIME in str(s.lift())
    assert "Shares stand still within each period of 7 days;" in words(s.statement())
    s.close()
    assert f"The mean of old, new has changed meanwhile. {OVER_TIME}" in words(s.statement())
    assert "Difference" not in s.statement()


def test_results_of_a_guardrail_come_with_them() -> None:
    s = session(guardrail=dpb.Guardrail("refunds", 0.1))
    for decision in s.ask(80):
        s.tell(decision, (1.0, float(decision.label == "new")))
    assert "Harm" not in s.statement()
    s.close()
    row, said = s.harm()["new"], words(s.statement())
    assert f"Harm (refunds): {s.harm().advice} Mean of each arm, " in said
    assert f"; new {row.mean:.4g} ({row.low:.4g} to {row.high:.4g}, {row.people} rounds)." in said


def test_a_name_is_no_claim_about_an_arm_out_of_play() -> None:
    """It was said to be that of the best arm, beside the larger mean of a suspended one."""
    s = session(dpb.DPKLUCB(arms=["old", "new", "risky"], epsilon=1))
    for arm, ones in (("old", 20), ("new", 90), ("risky", 100)):
        s.record(arm, (100, ones), key=arm)
    assert s.beliefs().out_of_play == ()
    s.pause_arm("risky")
    s.close("over")
    assert s.beliefs().out_of_play == ("risky",)
    assert "The best of the arms in play is named at .95 confidence: new." in words(s.statement())


def test_what_was_released_of_a_retired_arm_stays_in_the_results() -> None:
    """And the rewards of the statement add up: 8 + 40 of 58 were read, 10 dropped with an arm."""
    s = session(dpb.DPKLUCB(arms=["old", "new", "late", "never"], epsilon=1, first=8))
    for arm, outcomes in (("late", (8, 6)), ("late", (3, 3)), ("never", (7, 7)), ("old", (40, 40))):
        s.record(arm, outcomes, key=f"{arm} {outcomes}")
    for arm in ("late", "never"):
        s.retire_arm(arm)
    s.close()
    said, row = words(s.statement()), s.beliefs()["late"]
    span = f"{row.low:.4g} to {row.high:.4g}, 8 rounds, until it was retired"
    assert f"late 0.75 ({span}); " in said
    assert "; never unknown, for it was retired before its first release." in said
    assert "Rewards recorded: 58. " in said
    assert "of 48 rewards" in said
    assert "Recorded beside these: 10, dropped unread" in said
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
            assert "more rounds" not in seen.beliefs().advice
            text = words(seen.statement())
            assert all(part in text for part in (ADA, "STATEMENT of the campaign trial", "Results"))
            assert ADA in words(seen.participant_text())
        assert far.beliefs() == campaign.beliefs()
        metrics = client_of(store).get("/metrics").text
        assert 'dpbandits_resolved_total{campaign="trial"} 33.0' in metrics


# The page for participants


def test_the_page_for_participants_is_plain_and_true() -> None:
    said = words(session(responsible=ADA, **USERS, user_key=bytes(16)).participant_text())
    for part in (
        "We compare 2 options: old, new.",
        "may think 23.2 % after seeing everything",
        "We learn from you at most 3 times; this holds for all these times together.",
        "That you took part, when, which option you got",
        "Also whether we got your outcome.",
        "thrown away; a pseudonym of you and how often we learned from you, the list of choices",
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
    assert "It is not" in words(session(dpb.UCB1(arms=2)).participant_text())
    shown = words(
        session(dpb.DPLinTS(arms=2, features=["age", "sex"], epsilon=1)).participant_text()
    )
    assert "The program chooses by it: age, sex. Unlike your outcome, this is not hidden." in shown
    watched = words(session(guardrail=dpb.Guardrail("refunds", 0.1)).participant_text())
    assert "as two numbers, one of them for refunds." in watched


def test_who_answered_is_hidden_where_the_answer_is_and_not_from_a_server_with_reports() -> None:
    """In the local model the guarantee is against the server, too."""
    local, open_ = dpb.LDPUCB(arms=2, epsilon=1), dpb.UCB1(arms=2)
    for policy, hides in ((POLICY, True), (local, False), (open_, False)):
        waits = session(policy, attribution_window=timedelta(days=2))
        if waits.guarantee is not None:
            assert ("number and time of asks" in waits.guarantee.public) is hides
        assert ("Who answered is as private as the answer." in words(waits.statement())) is hides
        assert ("is hidden, too." in words(waits.participant_text())) is hides


def test_odds_move_by_e_to_the_epsilon_at_most_as_the_tutorial_says() -> None:
    page = (REPOSITORY / "docs/guides/trial.md").read_text(encoding="utf-8")
    for epsilon in (0.1, 0.5, 1, 2, 4):
        row = list[str]()
        for before in (0.01, 0.1, 0.5):
            odds = before / (1 - before) * math.exp(epsilon)
            assert posterior_after(before, epsilon) == pytest.approx(odds / (1 + odds))
            row.append(f"{100 * odds / (1 + odds):.1f} %")
        assert f"| {epsilon} | {' | '.join(row)} |" in page
