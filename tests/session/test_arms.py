"""Arms with names that come and go, decisions that are void, blocks that are dropped."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import PublicRng
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import (
    DPKLUCB,
    DPSE,
    DPUCB,
    LDPKLUCB,
    AnytimeLazyUCB,
    LazyDPTS,
    ThompsonBeta,
)
from tests.session.small import Exact, counts, loaded, recorded

MEANS = {"blue": 0.3, "green": 0.5, "red": 0.9}


def session(policy: Any = None, seed: int = 1) -> dpb.Session:
    policy = policy or DPKLUCB(arms=["blue", "green"], epsilon=1, first=8)
    return dpb.Session(policy, noise=SimulatedNoise(seed), seed=seed)


def play(s: dpb.Session, rounds: int, rng: np.random.Generator, **how: Any) -> Counter[str]:
    labels = Counter[str]()
    for _ in range(rounds):
        decision = s.ask(**how)
        labels[decision.label] += 1  # type: ignore[index]
        s.tell(decision, float(rng.random() < MEANS[decision.label]))  # type: ignore[index]
    return labels


@pytest.mark.parametrize(
    ("arms", "said"),
    [(["a", "a"], "'a' is repeated"), ([1, 2], "text"), ([""], "text"), ([], "arms=0")],
)
def test_names_that_are_none(arms: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DPKLUCB(arms=arms, epsilon=1)


def test_only_eligible_arms_are_played_and_the_best_of_them_most() -> None:
    s, rng = session(DPKLUCB(arms=list(MEANS), epsilon=2, first=8)), np.random.default_rng(1)
    assert set(play(s, 300, rng, eligible=["blue", "green"])) == {"blue", "green"}
    play(s, 300, rng)
    assert play(s, 300, rng, eligible=["blue", "green"])["green"] > 200
    assert play(s, 300, rng, eligible=[1, 2])["red"] > 200
    assert {d.label for d in s.ask(20, eligible=["blue"])} == {"blue"}


@pytest.mark.parametrize(
    ("eligible", "error", "said"),
    [
        (["yellow"], ValueError, "'yellow'"),
        ([], ValueError, "none was named"),
        ("blue", TypeError, "list of arms"),
        ([2], ValueError, "got 2"),
        ([True], ValueError, "got True"),
        (7, TypeError, "list of arms"),
    ],
)
def test_who_is_not_eligible(eligible: Any, error: type[Exception], said: str) -> None:
    s = session()
    with pytest.raises(error, match=said):
        s.ask(eligible=eligible)
    assert s.pending == ()


@pytest.mark.parametrize("policy", [DPSE(arms=3, epsilon=1, horizon=100), ThompsonBeta(arms=3)])
def test_a_policy_that_cannot_choose_says_so(policy: Any) -> None:
    s = session(policy)
    for call in (
        lambda: s.ask(eligible=[0]),
        lambda: s.add_arm("x"),
        lambda: s.retire_arm(0),
        lambda: s.pause_arm(0),
    ):
        with pytest.raises(ValueError, match=r"cannot choose among .*Index policies can: DPKLUCB"):
            call()
    assert (s.events, s.pending) == ((), ())


def test_a_posterior_is_drawn_from_among_the_eligible() -> None:
    """With all arms eligible, by the same law; with some, by that law among those alone."""
    s, rng = session(LazyDPTS(arms=["blue", "green", "red"], epsilon=2)), np.random.default_rng(2)
    play(s, 400, rng)
    state, law = s.state, s.policy.drawn(s.state).law
    assert s.policy.drawn(state, (0, 1, 2)).law == law
    rngs = PublicRng(1, 1), PublicRng(1, 1)
    among = s.policy.drawn(state, (2, 0)).law
    drawn = {among.sample(400, rngs[0]) for _ in range(500)}
    assert drawn <= {0, 2}
    for _ in range(60):
        decision = s.ask(eligible=["blue", "red"])
        assert decision.label in ("blue", "red")
        s.tell(decision, 1.0)
    s.pause_arm("green")
    assert {decision.label for decision in s.ask(100)} <= {"blue", "red"}
    known = [row.propensity for row in s.decisions() if row.id > 400]
    assert set(known) <= {None, 1.0}
    back = loaded(s)
    assert back.ask(20) == s.ask(20)


@pytest.mark.parametrize("kind", [DPKLUCB, AnytimeLazyUCB])
def test_a_better_arm_added_is_played_most_and_a_retired_one_never(kind: Any) -> None:
    s, rng = session(kind(arms=["blue", "green"], epsilon=2)), np.random.default_rng(2)
    play(s, 1_000, rng)
    assert s.add_arm("red") == 2
    first = s.ask()
    assert first.label == "red"
    s.void(first)
    assert play(s, 1_000, rng)["red"] > 700
    s.retire_arm("green")
    assert "green" not in play(s, 500, rng)
    assert s.arms == (("blue", "active"), ("green", "retired"), ("red", "active"))
    assert [(event.what, event.arm) for event in s.events] == [("add", "red"), ("retire", "green")]
    again = loaded(s)
    assert (again.arms, again.events, again.state) == (s.arms, s.events, s.state)
    assert again.policy == s.policy
    assert "green" not in play(again, 200, rng)


def test_a_retired_arms_block_and_late_answers_are_never_read() -> None:
    s = session()
    early = s.ask(3)
    for decision in early[:2]:
        s.tell(decision, 1.0)
    s.retire_arm("blue")
    assert counts(s) == {}
    s.tell(early[2], 1.0)
    assert (s.unread, recorded(s), s.pending) == (1, 2, ())
    assert s.ledger == ()
    assert {d.label for d in s.ask(50)} == {"green"}
    with pytest.raises(ValueError, match="does not come back"):
        s.resume_arm("blue")
    with pytest.raises(ValueError, match="last one"):
        s.pause_arm("green")
    s.retire_arm("blue")  # made again, it changes nothing
    assert len(s.events) == 1


def test_a_paused_arm_comes_back_and_its_answers_count() -> None:
    s = session()
    waiting = s.ask(4)
    s.pause_arm("blue")
    assert {d.label for d in s.ask(20)} == {"green"}
    for decision in waiting:
        s.tell(decision, 1.0)
    assert counts(s) == {0: 4}
    s.resume_arm("blue")
    assert [d.label for d in s.ask(4)] == ["blue"] * 4


def test_names_and_numbers_of_arms_are_never_used_again() -> None:
    s = session()
    s.add_arm("red")
    s.retire_arm("red")
    for label, said in (
        ("red", "is repeated"),
        (None, "Expected a name"),
        ("", "text"),
        (3, "text"),
    ):
        with pytest.raises(ValueError, match=said):
            s.add_arm(label)  # type: ignore[arg-type]
    numbered = session(DPKLUCB(arms=2, epsilon=1))
    assert numbered.add_arm() == 2
    with pytest.raises(ValueError, match="no name for the new arm"):
        numbered.add_arm("red")


def test_an_arm_is_not_added_where_the_price_depends_on_their_number() -> None:
    s = session(DPUCB(arms=2, epsilon=1, horizon=100, preset="published"))
    with pytest.raises(ValueError, match="divides its budget"):
        s.add_arm()
    assert (s.policy.arms, s.events) == (2, ())
    s = session(LDPKLUCB(arms=2, epsilon=1))
    assert s.add_arm() == 2


def test_dropped_blocks_are_never_read_and_the_plan_begins_anew() -> None:
    s = session()
    asked = s.ask(8)
    for decision in asked[:5]:
        s.tell(decision, 1.0)
    s.drop_open()
    assert counts(s) == {}
    for decision in asked[5:]:
        s.tell(decision, 1.0)
    again = loaded(s)
    for each in (s, again):
        for _ in range(5):
            decision = each.ask()
            assert decision.label == "blue"
            each.tell(decision, 1.0)
        assert each.state.rounds == (8, 0)
        assert [(line.start, line.stop) for line in each.ledger] == [(5, 13)]


@pytest.mark.parametrize("verb", ["pause_arm", "retire_arm"])
@pytest.mark.parametrize("saved", [False, True])
def test_batches_are_compared_with_arms_in_play_only(verb: str, saved: bool) -> None:
    """Once the leader is out of play, in the middle of another arm's batch, the session decides and
    releases as one that never had it, though outcomes are late.
    """
    others, means = ["green", "blue"], MEANS | {"blue": 0.45}

    def played(arms: list[str]) -> tuple[list[str], Any]:
        s = dpb.Session(dpb.DPRateIMED(arms=arms, epsilon=1, grid=1), noise=Exact(1), seed=1)
        told = Counter[str]()

        def tell(decision: dpb.Decision) -> None:
            label = str(decision.label)
            told[label] += 1
            s.tell(decision, float(told[label] * 0.618 % 1 < means[label]))

        for decision in s.ask(27 * len(arms)):  # first batches
            tell(decision)
        for _ in range(3):
            tell(s.ask(eligible=others))
        if "red" in arms:
            getattr(s, verb)("red")
            s = dpb.Session.from_json(s.to_json(), noise=Exact(1)) if saved else s
        labels = list[str]()
        for _ in range(100):
            waves = s.ask(9)
            labels += [str(decision.label) for decision in waves]
            for decision in waves:
                tell(decision)
        return labels, [row[:2] for row in (s.state.totals, s.state.rounds, s.state.open)]

    alone = played(others)
    assert played([*others, "red"]) == alone
    assert min(Counter(alone[0]).values()) > 100
