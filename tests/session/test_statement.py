"""The privacy statement: what a round and a user pay, who took part, what was done to arms."""

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.session.statement import posterior_after
from tests.service.http.web import client_of, remote
from tests.session.small import Exact, begun, loaded

POLICY = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=8)
RHO = dpb.AdaCUCB(arms=2, rho=1)


def session(policy: Any = POLICY, **options: Any) -> Any:
    return begun(policy, noise=SimulatedNoise(1), seed=1, **options)


def words(of: Any) -> str:
    return " ".join(of.statement().split())


def by_user(**options: Any) -> Any:
    return session(privacy_unit="user", max_contributions=3, **options)


def test_the_statement_says_what_is_promised_and_what_was_read() -> None:
    s = session(
        privacy_unit="user",
        max_contributions=3,
        rewards=dpb.Range(0, 250, clip=True),
        campaign="Trial",
    )
    for user in range(500):
        s.tell(s.ask(user=user), 125.0)
    s.retire_arm("c")
    text = s.statement()
    for said in (
        "session Trial",
        "DPKLUCB",
        "ε = 1 per user (all rewards replaced, at most 3",
        "all rewards of one user",
        "values from 0 to 250",
        "1/1,024",
        "a, b, c (retired)",
        "Decisions made: 500",
        f"{s.releases} readings",
        "simulated",
        dpb.__version__,
    ):
        assert said in " ".join(text.split()), said
    assert max(map(len, text.splitlines())) <= 88
    secure = dpb.Session(POLICY, noise=dpb.SecureNoise()).statement()
    assert "WARNING" not in secure
    assert "NONE" in session(dpb.UCB1(arms=2)).statement()


def test_the_statement_says_how_long_answers_are_waited_for_and_how_they_are_held() -> None:
    policy = dpb.DPKLUCB(arms=2, epsilon=1, grid=1)
    text = session(policy, attribution_window=timedelta(weeks=6)).statement()
    words = " ".join(text.split())
    assert "Answers are waited for 42 days" in words
    assert "Rewards: 0 or 1; a number between is held as one of them." in words
    odd = session(policy, rewards=dpb.Range(0, 250)).statement()
    assert "values outside refused; held as one of its two ends" in " ".join(odd.split())
    assert "had one reward been another." in words
    assert "waited" not in session(policy).statement()


@pytest.mark.parametrize(
    ("policy", "options", "said"),
    [
        (POLICY, {}, "Price: ε = 1 for each round. Whoever appears in m rounds"),
        (POLICY, {}, "in all of them together at m times that."),
        (RHO, {}, "in all of them together at m² times that."),
        (POLICY, {"cap": 3}, "ε = 1/3 for each learned round. A user has at most 3 of them in all"),
        (POLICY, {"cap": 3}, "so ε = 1 per user."),
        (RHO, {"cap": 3}, "Price: ρ = 1/9 for each learned round."),
        (RHO, {"cap": 3, "window": timedelta(days=7)}, "pays w² times that"),
    ],
)
def test_what_a_round_and_a_user_pay(policy: Any, options: Any, said: str) -> None:
    options = dict(options)
    cap = options.pop("cap", None)
    if cap is not None:
        options |= {"privacy_unit": "user", "max_contributions": cap}
    assert said in words(session(policy, **options))
    assert "Price" not in words(session(dpb.UCB1(arms=2)))


def test_people_are_counted_once_and_saved() -> None:
    """Those among them, too, of whom nothing is learned."""
    s = by_user(user_key=bytes(16))
    for _ in range(5):
        s.ask(user="ann")
    s.void(s.ask(user="ben"))
    for each in (s, loaded(s, user_key=bytes(16))):
        assert "Users asked for, whether learned from or not: 2." in words(each)
    assert "Users" not in words(session())


@pytest.mark.parametrize("reward", [1e6, 5.0])
def test_clipped_means_come_with_a_caution_that_says_nothing_of_rewards(reward: float) -> None:
    """Eight rewards of a million gave means of 10 without a word."""
    policy = dpb.DPKLUCB(arms=1, epsilon=4, first=8)
    s = session(policy, rewards=dpb.Range(0, 10, clip=True))
    assert s.beliefs().caution is not None
    before = s.beliefs().caution
    for _ in range(8):
        s.tell(s.ask(), reward)
    assert s.beliefs().caution == before
    for said in (words(s), " ".join(str(s.beliefs()).split())):
        assert "outside the range from 0 to 10 enter as its nearer bound" in said
    plain = session(policy, rewards=dpb.Range(0, 10))
    assert plain.beliefs().caution is None
    assert "nearer bound, so" not in words(plain)
    rail = session(guardrail=dpb.Guardrail("refunds", 0.1), rewards=dpb.Range(0, 10, clip=True))
    assert rail.harm().caution is None


TOP = dpb.TopK(arms=4, k=2)


@pytest.mark.parametrize(
    ("policy", "whole"),
    [
        (dpb.DPJointCUCB(problem=TOP, epsilon=8), True),
        (dpb.RNMFTNL(actions=4, epsilon=2), True),
        (dpb.CUCBDP(problem=TOP, epsilon=8, horizon=99), False),
    ],
    ids=["released together", "full information", "released by arm"],
)
def test_several_rewards_of_a_round_are_said_to_be_protected_together(
    policy: Any, whole: bool
) -> None:
    """Whoever read it took one of them for all that is protected."""
    s = session(policy)
    for _ in range(30):
        decision = s.ask()
        s.tell(decision, [1] * len(decision.observe or range(4)))
    said, read = words(s), sum(line.stop - line.start for line in s.ledger)
    assert "up to the factor e^ε, had all rewards of one round been others." in said
    assert "Rounds whose rewards were recorded: 30." in said
    assert (f"of the rewards of {read} rounds, each" in said) is whole
    assert (f"of {read} rewards, each read once" in said) is not whole
    paid = (
        f"the rewards of any one round have cost in all readings together is ε = {policy.epsilon}."
    )
    assert paid in said
    one = session()
    one.tell(one.ask(), 1)
    assert "had one reward been another." in words(one)
    assert "Rewards recorded: 1." in words(one)


# What a board reads


TWO_ARMS = dpb.DPKLUCB(arms=["old", "new"], epsilon=1, first=8)
ADA = "Ada Lovelace, ada@clinic.example"
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2}


def spring(**options: Any) -> dpb.Session:
    return dpb.Session(TWO_ARMS, noise=Exact(1), seed=1, campaign="spring", **options)


def plain(text: str) -> str:
    assert max(map(len, text.splitlines())) <= 88
    return " ".join(text.split())


def test_a_statement_has_what_a_board_asks_for() -> None:
    s = spring(responsible=ADA, **PEOPLE, window=timedelta(days=7), clock=lambda: 1e6)
    for user in range(5):
        s.ask(user=user)
    said = plain(s.statement())
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
    other = plain(spring().statement())
    assert "No responsible person was named. " in other
    assert "pseudonym" not in other
    held = plain(spring(attribution_window=timedelta(days=3)).statement())
    assert "single answers are held for 3 days" in held


def test_who_is_responsible_is_saved() -> None:
    s = spring(responsible=ADA)
    loaded = dpb.Session.from_json(s.to_json(key=bytes(16)), key=bytes(16))
    assert loaded.responsible == ADA


def test_results_come_once_the_session_is_closed() -> None:
    s = spring()
    for arm, ones in (("old", 20), ("new", 90)):
        s.record(arm, [1.0] * ones + [0.0] * (100 - ones), key=arm)
    s.close("enough")
    said = plain(s.statement())
    row = s.beliefs()["new"]
    assert f"new {row.mean:.4g} ({row.low:.4g} to {row.high:.4g}, 100 people)" in said
    assert s.beliefs().advice in said
    assert "STATEMENT of the session spring" in said
    pair = s.lift()["new"]
    assert f"Difference to old: new {pair.difference:+.4g} ({pair.low:+.4g} to" in said
    shared = spring(min_share={"new": 0.5})
    shared.tell_many([(each, float(each.action)) for each in shared.ask(60)])
    assert shared.lift().control == "new"
    shared.close()
    assert "Difference to new: old " in plain(shared.statement())


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
    said, row = plain(s.statement()), s.beliefs()["late"]
    span = f"{row.low:.4g} to {row.high:.4g}, 8 people, until it was retired"
    assert f"late 0.75 ({span}); " in said
    assert "; never unknown, for it was retired before its first release." in said
    assert "Rewards recorded: 58. " in said
    assert "of 48 rewards" in said
    assert "Recorded beside these: 10, in open blocks or dropped unread" in said
    assert "We compare 2 options: old, new. " in plain(s.participant_text())


@pytest.mark.parametrize("read", [True, False])
def test_a_closed_campaign_does_not_count_void_decisions_as_answered(read: bool) -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        campaign = store.create("trial", TWO_ARMS, responsible=ADA)
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
            assert ADA in plain(seen.statement())
            assert "STATEMENT of the campaign trial" in plain(seen.statement())
            assert "Results: " in plain(seen.statement())
            assert ADA in plain(seen.participant_text())
        assert far.beliefs() == campaign.beliefs()
        metrics = client_of(store).get("/metrics").text
        assert 'dpbandits_resolved_total{campaign="trial"} 33.0' in metrics


def test_the_page_for_participants_is_plain_and_true() -> None:
    said = plain(spring(responsible=ADA, **PEOPLE, user_key=bytes(16)).participant_text())
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
    once = plain(spring(privacy_unit="user", max_contributions=1).participant_text())
    assert "We learn from you once at most. " in once
    for text in (once, plain(spring().participant_text())):
        assert "weaker" not in text
    secure = dpb.Session(TWO_ARMS, noise=dpb.SecureNoise(), attribution_window=timedelta(days=2))
    said = plain(secure.participant_text())
    assert "WARNING" not in said
    assert "Whether we got your outcome is hidden, too." in said
    assert "for longer than 2 days" in said
    local = dpb.Session(dpb.LDPUCB(arms=2, epsilon=1), noise=dpb.SecureNoise())
    assert "Your own device changes it at random" in plain(local.participant_text())
    none = dpb.Session(dpb.UCB1(arms=2), noise=dpb.SimulatedNoise(1))
    assert "It is not" in plain(none.participant_text())


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
    s = spring()
    for arm, ones in (("old", 45), ("new", 55)):
        s.record(arm, (100, ones), key=arm)
    assert "more people" in s.beliefs().advice
    s.close()
    found = s.beliefs()
    assert (found.more, found.at_share) == (None, None)
    assert found.advice == "No arm is named the best at .95 confidence."
