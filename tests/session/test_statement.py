"""The privacy statement: what a round and a user pay, who took part, what was done to arms."""

from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.session.small import begun, loaded

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
