"""Arms with names that come and go, decisions that are void, blocks that are dropped."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import (
    DPKLUCB,
    DPUCB,
    LDPKLUCB,
)
from tests.session.small import Exact, counts, recorded

MEANS = {"blue": 0.3, "green": 0.5, "red": 0.9}


def session(policy: Any = None, seed: int = 1) -> dpb.Session:
    policy = policy or DPKLUCB(arms=["blue", "green"], epsilon=1, first=8)
    return dpb.Session(policy, noise=SimulatedNoise(seed), seed=seed)


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
