"""People who never answer: others are asked in their place, so that every arm is read."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.session.overdue import usual_delay
from tests.session.small import begun, reward_of

NAMES = ["blue", "green", "red"]
MEANS = (0.15, 0.4, 0.7)
POLICY: dict[str, Any] = {
    "index": dpb.DPKLUCB(arms=NAMES, epsilon=1, first=6),
    "IMED": dpb.DPRateIMED(arms=NAMES, epsilon=1, first=6),
    "every round": dpb.UCB1(arms=NAMES),
    "doubling": dpb.AnytimeLazyUCB(arms=NAMES, epsilon=1),
    "posterior draws": dpb.LazyDPTS(arms=NAMES, epsilon=1),
    "reports": dpb.LDPKLUCB(arms=NAMES, epsilon=1),
    "top two": dpb.AdaPTT(arms=3, epsilon=4, delta=0.1, first=6),
    "elimination": dpb.DPSE(arms=3, epsilon=8, beta=0.5),
}
CHOOSING = [name for name, policy in POLICY.items() if policy.chooses]


def answered(s: Any, people: int, is_silent: Callable[[dpb.Decision], bool], **ask: Any) -> Any:
    """So many people come; who is not silent answers at once. How often each arm was played."""
    played, rng = Counter[Any](), np.random.default_rng(0)
    for _ in range(people):
        decision = s.ask(**ask)
        played[decision.action] += 1
        if not is_silent(decision):
            reward = float(rng.random() < MEANS[decision.action % 3])
            s.tell(decision, reward_of(s, decision, reward))
    return played


def first_two() -> Callable[[dpb.Decision], bool]:
    """The first two people who get an arm never answer."""
    seen = Counter[Any]()

    def is_silent(decision: dpb.Decision) -> bool:
        seen[decision.action] += 1
        return seen[decision.action] <= 2

    return is_silent


@pytest.mark.parametrize("options", [{}, {"assignment": "shuffled"}], ids=str)
@pytest.mark.parametrize("name", CHOOSING)
def test_two_silent_people_an_arm_keep_none_unread(name: str, options: Any) -> None:
    s = begun(POLICY[name], **options)
    is_silent = first_two()
    answered(s, 150, is_silent)
    assert min(s.state.rounds) > 0
    s.add_arm("late")
    answered(s, 150, is_silent)
    assert min(s.state.rounds) > 0


def test_plans_that_play_arms_in_turn_are_topped_up_and_not_begun_anew() -> None:
    """One person in twenty is silent; epochs begun anew took up to 2.7 times as many people."""
    policy = POLICY["elimination"]
    s = begun(policy)
    each = s.plan.each
    answered(s, round(3 * each / 0.95) + 40, lambda decision: decision.id % 20 == 0)
    assert s.state.stage == 2


def test_an_arm_whose_people_never_answer_does_not_get_everybody() -> None:
    """Patience doubles: 32 requests in 32, 64, 128 … decisions."""
    s = begun(dpb.DPRateIMED(arms=NAMES, epsilon=1))
    played = answered(s, 4_000, lambda decision: decision.action == 1)
    assert 3 * 32 <= played[1] <= 8 * 32
    (alarm,) = s.alarms
    assert alarm.arm == "green"


@pytest.mark.parametrize(
    ("late", "answers", "usual"),
    [
        ({}, 9, None),
        ({}, 10, 0),
        ({200: 1}, 10, 0),
        ({200: 1}, 10**6, 0),
        ({8: 2}, 10, 2),
        ({8: 50, 200: 2}, 60, 2),
        ({8: 500, 20: 600}, 10_000, 19),
    ],
)
def test_one_very_late_answer_is_not_usual(
    late: dict[int, int], answers: int, usual: int | None
) -> None:
    assert usual_delay(late, answers) == usual


def waiting_for_green() -> Any:
    """Each block takes four. The second person who gets green is silent, and the next one, too."""
    s = begun(dpb.DPKLUCB(arms=["blue", "green"], epsilon=1, first=4))
    answered(s, 40, lambda decision: decision.id == 6 or (decision.id > 8 and decision.action == 1))
    return s


def test_an_arm_that_waits_is_said_until_it_waits_no_more() -> None:
    s = waiting_for_green()
    (alarm,) = s.alarms
    assert (alarm.what, alarm.arm) == ("overdue", "green")
    assert alarm.advice.startswith(
        "green waits for 1 answer since decision 6; nothing is learned of it until they are "
        "recorded or expired"
    )
    assert [event[:3] for event in s.events] == [("overdue", "green", alarm.asked)]
    s.expire(6)
    assert s.state.rounds[1] == 4
    assert s.alarms == ()
    assert [event.what for event in s.events] == ["overdue"]
