"""Guardrails: harm is read in the draw of the reward, and suspends an arm that does too much."""

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.session.small import changed, document, loaded

RAIL = dpb.Guardrail("refunds", limit=0.1)
ARMS = ["blue", "green", "red"]


def session(rail: Any = RAIL, policy: Any = None, **options: Any) -> dpb.Session:
    policy = dpb.DPKLUCB(arms=ARMS, epsilon=1) if policy is None else policy
    return dpb.Session(policy, noise=SimulatedNoise(2), seed=3, guardrail=rail, **options)


def play(of: dpb.Session, rounds: int, harms: Any, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        decision = of.ask()
        assert isinstance(decision.action, int)
        of.tell(decision, (float(rng.random() < 0.5), float(rng.random() < harms[decision.action])))


def test_an_arm_that_harms_is_suspended_for_all_to_see() -> None:
    of = session()
    play(of, 6_000, (0.0, 0.6, 0.0))
    assert dict(of.arms) == {"blue": "active", "green": "paused", "red": "active"}
    (event,) = of.events
    assert (event.what, event.arm) == ("suspend", "green")
    after = [row for row in of.decisions() if row.id > event.asked]
    assert {row.label for row in after} == {"blue", "red"}
    harm = of.harm()
    low: dict[str, Any] = {row.label: row.low for row in harm}
    assert low["green"] > 0.1 > max(low["blue"], low["red"])
    assert (harm.best, harm.more, harm["green"].chance_best) == (None, None, None)
    assert harm.advice == "green is known at .95 confidence to be above the limit of 0.1."
    assert "best" not in str(harm)
    assert of.spent == 1
    unnamed = session(policy=dpb.DPKLUCB(arms=3, epsilon=1))
    play(unnamed, 6_000, (0.0, 0.6, 0.0))
    assert unnamed.harm().advice.startswith("arm 1 is known")


def test_the_last_arm_is_not_suspended_but_said() -> None:
    of = session()
    play(of, 8_000, (0.9, 0.9, 0.9))
    assert [event.what for event in of.events][:2] == ["suspend", "suspend"]
    assert {event.what for event in of.events[2:]} <= {"alarm"}
    assert sum(status == "active" for _, status in of.arms) == 1


def test_each_time_that_an_arm_is_resumed_is_said() -> None:
    """An arm that was suspended again after it was resumed, and then resumed once more, was not."""
    of, seen, waiting = session(), list[str](), list[dpb.Decision]()
    play(of, 6_000, (0.0, 0.9, 0.0))
    for _ in range(2):
        seen += ["suspend", "resume"]
        of.resume_arm("green")
        of.resume_arm("green")  # it is in play: nothing happens
        assert [event.what for event in of.events] == seen
        while dict(of.arms)["green"] == "active":
            waiting = waiting or of.ask(9_000, eligible=["green"])
            of.tell(waiting.pop(), (1.0, 1.0))  # so all happens after as many decisions
    again = loaded(of)
    again.resume_arm("green")
    assert [event.what for event in again.events] == [*seen, "suspend", "resume"]


def test_people_until_an_arm_is_suspended() -> None:
    """Of 20 sessions; were each so with chance .85, fewer than 8 would be with probability 6e-7."""
    policy, within = dpb.DPRateIMED(arms=ARMS, epsilon=1, grid=1), 0
    expected = RAIL.people(policy, 0.5)
    for seed in range(20):
        of = dpb.Session(policy, noise=SimulatedNoise(seed), seed=seed, guardrail=RAIL)
        rng, people = np.random.default_rng(seed), 0
        while dict(of.arms)["green"] == "active" and people <= 2 * expected:
            decision = of.ask(eligible=["green"])
            of.tell(decision, (0.5, float(rng.random() < 0.5)))
            people += 1
        within += expected / 2 <= people <= 2 * expected
    assert within >= 8
    assert RAIL.people(policy, 0.2, in_period=5) > RAIL.people(policy, 0.2) > expected
    for harm in (0.05, 0.1):
        with pytest.raises(ValueError, match="ever suspended"):
            RAIL.people(policy, harm)
    for other in (dpb.KLUCB(arms=3), dpb.DPUCB(arms=3, epsilon=1, horizon=99)):
        with pytest.raises(ValueError, match=r"Expected a policy that releases|cannot choose"):
            RAIL.people(other, 0.5)


def test_a_document_without_an_arm_that_was_added_since_the_last_release_goes_on() -> None:
    """So they were saved before such an arm was added to what is known of harm at once."""
    of = session()
    play(of, 300, [0.0] * 3)
    of.add_arm("pink")
    arms = document(of)["public"]["harm"]["history"]["arms"]
    other = loaded(changed(document(of), "public.harm.history.arms", arms[:-1]))
    assert other.harm() == of.harm()
    for each in (of, other):
        play(each, 300, [0.0] * 4)
    assert other.harm() == of.harm()
