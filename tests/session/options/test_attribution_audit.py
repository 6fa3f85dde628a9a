"""Whether somebody answered is part of the reward: an audit over (value or absence), as a black box
that shows all that is public; and the same with a count of answers published on purpose.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import DPKLUCB, AnytimeLazyUCB

pytestmark = pytest.mark.long

EPSILON, RUNS = 1, 2_000
DAY = timedelta(days=1)
POLICIES: dict[str, Any] = {
    "AnytimeLazyUCB": AnytimeLazyUCB(arms=2, epsilon=EPSILON),
    "DPKLUCB": DPKLUCB(arms=2, epsilon=EPSILON, first=1),
}


def answer(reward: float) -> float | None:
    """What a record of the auditor's tables stands for: its moves are an answer that becomes none
    (1 to 0, .97 to .02), one that becomes the default (1 to 1/2), and the default that was told and
    becomes silence (1/2 to 1/4).
    """
    if reward > 0.6:
        return reward
    return 0.0 if reward > 0.3 else None


def public(session: dpb.Session) -> list[float]:
    """Who waits, what was done, and the released totals of both arms."""
    done = session.resolved, session.unread, session.releases
    return [len(session.pending), *done, *session.state.totals]


def played(table: Any, policy: Any, seed: int, leaks: bool) -> list[float]:
    """Two decisions a day; all that is public after each."""
    now = datetime(2026, 3, 1)
    session = dpb.Session(
        policy,
        noise=SimulatedNoise(seed),
        seed=seed,
        attribution_window=DAY,
        clock=lambda: now,
    )
    seen = list[float]()
    for rewards in table:
        decision = session.ask()
        assert isinstance(decision.action, int)
        told = answer(rewards[decision.action])
        if told is not None:
            session.tell(decision, told)
        seen += [decision.action, *public(session)]
        if leaks:
            seen.append(len(session._vault.held))
        now += DAY / 2
    now += DAY
    session.settle()
    return seen + public(session)


def audited(name: str, leaks: bool) -> dpb.AuditReport:
    def record(rewards: Any, seed: int, arms: int = 2) -> list[float]:
        return played(rewards, POLICIES[name], seed, leaks)

    return dpb.audit(record, EPSILON, runs=RUNS, arms=2, rounds=6, workers=1)


@pytest.mark.parametrize("name", POLICIES)
def test_an_answer_or_none_costs_at_most_epsilon(name: str) -> None:
    """A false alarm comes with probability 10⁻⁶."""
    report = audited(name, leaks=False)
    assert report.verdict == "not refuted", report.levels
    assert report.lower_bound <= EPSILON
    assert report.lower_bound > 0.5, "nothing is found of the reward: the test misses its aim"


def test_a_count_of_answers_that_is_published_is_found() -> None:
    report = audited("AnytimeLazyUCB", leaks=True)
    assert report.failed
    assert report.lower_bound > 2 * EPSILON
