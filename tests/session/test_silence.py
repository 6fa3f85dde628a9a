"""People who never answer: others are asked in their place, so that every arm is read, and nothing
else changes.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import dpbandits as dpb
from dpbandits.checks.examples import examples
from dpbandits.policies import POLICIES
from dpbandits.session.overdue import usual_delay
from tests.session.small import begun, reward_of

NAMES = ["blue", "green", "red"]
MEANS = (0.15, 0.4, 0.7)
JOINT = dpb.UniformMatroid(arms=4, rank=2)
POLICY: dict[str, Any] = {
    "index": dpb.DPKLUCB(arms=NAMES, epsilon=1, first=6),
    "IMED": dpb.DPRateIMED(arms=NAMES, epsilon=1, first=6),
    "every round": dpb.UCB1(arms=NAMES),
    "doubling": dpb.AnytimeLazyUCB(arms=NAMES, epsilon=1),
    "posterior draws": dpb.LazyDPTS(arms=NAMES, epsilon=1),
    "reports": dpb.LDPKLUCB(arms=NAMES, epsilon=1),
    "top two": dpb.AdaPTT(arms=3, epsilon=4, delta=0.1, first=6),
    "elimination": dpb.DPSE(arms=3, epsilon=8, beta=0.5),
    "joint": dpb.DPJointMAT(problem=JOINT, epsilon=4, first=2.0),
    "joint, any oracle": dpb.DPJointCUCB(problem=JOINT, epsilon=4, first=2.0),
}
CHOOSING = [name for name, policy in POLICY.items() if policy.chooses]


def session(policy: Any, seed: int = 1, **options: Any) -> Any:
    noise = dpb.SimulatedNoise(seed)
    return begun(policy, noise=noise, seed=seed, campaign="trial", **options)


def tell(s: Any, decision: dpb.Decision, rewards: Any) -> None:
    """rewards: one for each arm that is observed."""
    reward = rewards[0] if decision.observe is None else rewards[: len(decision.observe)]
    randomizer = s.policy.randomizer()
    noise = dpb.SimulatedNoise(decision.id)
    s.tell(decision, reward if randomizer is None else randomizer.report(reward, noise))


def answered(s: Any, people: int, is_silent: Callable[[dpb.Decision], bool], **ask: Any) -> Any:
    """So many people come; who is not silent answers at once. How often each arm was played."""
    played, rng = Counter[Any](), np.random.default_rng(0)
    for _ in range(people):
        decision = s.ask(**ask)
        played[decision.action] += 1
        if not is_silent(decision):
            arms = decision.observe or (decision.action,)
            tell(s, decision, [float(rng.random() < MEANS[arm % 3]) for arm in arms])
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
    s = session(POLICY[name], **options)
    is_silent = first_two()
    answered(s, 150, is_silent)
    assert min(s.state.rounds) > 0
    s.add_arm("late")
    answered(s, 150, is_silent)
    assert min(s.state.rounds) > 0


def test_plans_that_play_arms_in_turn_are_topped_up_and_not_begun_anew() -> None:
    """One person in twenty is silent. An epoch that was begun anew for each arm that lacks answers
    took up to 2.7 times as many people as answer.
    """
    policy = POLICY["elimination"]
    s = session(policy)
    each = s.plan.each
    answered(s, round(3 * each / 0.95) + 40, lambda decision: decision.id % 20 == 0)
    assert s.state.stage == 2


@pytest.mark.parametrize("name", ["joint", "joint, any oracle"])
def test_super_arms_most_of_whose_people_are_silent_are_read(name: str) -> None:
    """Of those who are asked first, too few answer for a block to be read short."""
    s = session(POLICY[name])
    answered(s, 400, lambda decision: decision.id <= 40 and decision.id % 4 > 0)
    assert min(s.state.rounds) > 0


def test_an_arm_whose_people_never_answer_does_not_get_everybody() -> None:
    """Patience doubles: 32 requests in 32, 64, 128 … decisions."""
    s = session(dpb.DPRateIMED(arms=NAMES, epsilon=1))
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


def late_play(s: Any, people: int, kind: str) -> list[Any]:
    """Every person answers: at once, 25 people later, in no order, or forty together."""
    rng, late = np.random.default_rng(5), np.random.default_rng(6)
    queue, made = list[tuple[int, int, Any]](), list[Any]()
    for t in range(1, people + 1):
        decision = s.ask()
        made.append((decision.action, decision.observe))
        wait = {"late": 25, "random": int(late.geometric(0.1)) - 1}.get(kind, 0)
        heapq.heappush(queue, (t + wait, t, decision))
        while queue and queue[0][0] <= t and not (kind == "together" and t % 40):
            told = heapq.heappop(queue)[2]
            s.tell(told, reward_of(s, told, float(rng.integers(0, 2))))
    return made


@pytest.mark.parametrize("kind", ["prompt", "late", "random", "together"])
@pytest.mark.parametrize("name", POLICIES)
def test_where_everybody_answers_decisions_are_as_they_were(name: str, kind: str) -> None:
    """As if no request were ever overdue."""
    watched, unwatched = (
        dpb.Session(examples(name)[0], noise=dpb.SimulatedNoise(3), seed=3) for _ in range(2)
    )
    log = unwatched._log
    unwatched._log = replace(log, state=replace(log.state, delays=None))
    assert late_play(watched, 100, kind) == late_play(unwatched, 100, kind)
    assert watched.events == ()


def test_with_an_attribution_window_nobody_is_overdue() -> None:
    """Whoever did not answer in time counts with the default, however many come meanwhile."""
    now = [0.0]
    s = session(POLICY["index"], attribution_window=timedelta(seconds=10), clock=lambda: now[0])
    for t in range(300):
        now[0] = float(t) if t < 100 else 100.0
        decision = s.ask()
        if t % 3:
            s.tell(decision, 1.0)
    assert (s.events, s.alarms) == ((), ())
    assert json.loads(s.to_json(unsealed=True))["public"]["delays"] is None


def waiting_for_green() -> Any:
    """Each arm's block takes four. The second person who gets green is silent, and so is who is
    asked in their place.
    """
    s = session(dpb.DPKLUCB(arms=["blue", "green"], epsilon=1, first=4))
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


def test_paused_arms_wait_and_retired_ones_do_not() -> None:
    s = waiting_for_green()
    s.pause_arm("green")
    answered(s, 60, lambda decision: False)
    assert [alarm.arm for alarm in s.alarms] == ["green"]
    s.resume_arm("green")
    assert s.ask().label == "green"
    s.retire_arm("green")
    assert s.alarms == ()
