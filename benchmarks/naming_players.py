"""Campaigns that are played to see when an arm is named: block by block where whole blocks can be
drawn at once, period by period, or person by person in a `Session`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.environments.changing import Drift
from dpbandits.forecasting.trials import Conditions, periods_of
from dpbandits.policies.contract import begin_step
from dpbandits.session.arms import Assignment
from dpbandits.session.beliefs import ReleaseHistory
from dpbandits.simulation.plain import open_vault

REWARDS = 5
"""Sets the stream of rewards apart from others."""


class Setting(NamedTuple):
    """A kind of campaign.

    Args:
        means: of the arms at the beginning.
        people: how many are asked for.
        drift: how means change; None: they stay.
        epsilon: the budget.
        delay: after so many further people answers come, at most.
        silent: how many of them never do.
        min_share: see `Session`.
        periods: how many there are.
    """

    means: tuple[float, ...]
    people: int = 12_000
    drift: Drift | None = None
    epsilon: str = "1"
    delay: int = 0
    silent: float = 0.0
    min_share: float | None = None
    periods: int = 0

    @property
    def in_blocks(self) -> bool:
        """Whether whole blocks can be drawn at once."""
        return not (self.delay or self.silent or self.min_share)

    @property
    def drawn(self) -> Assignment | None:
        """How arms are drawn; None where they have no least shares."""
        return Assignment(False, self.min_share) if self.min_share else None

    @property
    def length(self) -> int:
        """People in a period."""
        return -(-self.people // self.periods)

    def path(self) -> Floats:
        """Return the means in each round, shape (people, arms)."""
        means = np.array(self.means)
        if self.drift is None:
            return np.broadcast_to(means, (self.people, len(means)))
        times = np.linspace(0.0, 1.0, self.people)
        return means + self.drift.added(times, len(means))

    def policy(self, goal: str = "reward") -> Any:
        return dpb.recommend(arms=len(self.means), epsilon=self.epsilon, goal=goal)  # type: ignore[arg-type]

    def __str__(self) -> str:
        words = [", ".join(f"{mean:g}" for mean in self.means)]
        if self.drift is not None:
            size = self.drift.size
            words.append(
                {
                    "trend": f"rising by {size:g}",
                    "step": f"a step of {size:g}",
                    "wave": f"waves of {size:g}, {self.drift.periods:g} in all",
                }[self.drift.shape]
            )
        words += [f"ε = {self.epsilon}"] if self.epsilon != "1" else []
        words += [f"answers up to {self.delay:,} people late"] if self.delay else []
        words += [f"{self.silent:.0%} never answer"] if self.silent else []
        words += [f"min_share={self.min_share:g}"] if self.min_share else []
        words += [f"{self.periods} periods"] if self.periods else []
        return "; ".join(words)


class Turn(NamedTuple):
    """A campaign after a release: people so far, what is known, and how the policy goes on."""

    people: int
    known: ReleaseHistory
    policy: Any
    state: Any
    number: int


def turns(setting: Setting, seed: int) -> Iterator[Turn]:
    """Play a campaign: in the way that is fastest for it."""
    if setting.in_blocks:
        return in_blocks(setting, seed)
    if setting.periods and not setting.silent:
        rng, people = np.random.default_rng([seed, REWARDS]), setting.people
        coins, luck, waits = rng.random(people), rng.random(people), waits_of(setting, rng)
        return in_periods(setting, seed, coins, luck, waits)
    return in_session(setting, seed)


def waits_of(setting: Setting, rng: np.random.Generator) -> Integers:
    """Return after how many further people each answer comes."""
    return np.asarray(rng.integers(0, setting.delay + 1, setting.people), np.int64)


def in_blocks(setting: Setting, seed: int) -> Iterator[Turn]:
    """Play a campaign whose answers come at once, block by block."""
    policy, path = setting.policy(), setting.path()
    rng, known = np.random.default_rng([seed, REWARDS]), ReleaseHistory.of(policy)
    vault = open_vault(policy, dpb.SimulatedNoise(seed))
    steps, state, people, number = vault.vault.grid.steps, policy.init(), 0, 0
    while True:
        plan = begin_step(policy, state, number, partial(PublicRng, seed)).plan
        if not isinstance(plan, Hold) or people + plan.rounds > setting.people:
            return
        arm, count = int(plan.action), plan.rounds  # type: ignore[arg-type]
        ones = int((rng.random(count) < path[people : people + count, arm]).sum())
        vault.add_block(arm, ones * steps, count)
        people, number = people + count, number + 1
        release = vault.release(plan.release, people, ((arm, count),), plan.drop)
        state, known = policy.update(state, plan, release), known.after(release)
        yield Turn(people, known, policy, state, number)


def in_periods(
    setting: Setting, seed: int, coins: Floats, luck: Floats, waits: Integers
) -> Iterator[Turn]:
    """Play a campaign with least shares and periods: what a `Session` does, with whole stretches of
    answers added at a time. Yields at the end of each period.

    Args:
        coins: by which arms are drawn, shape (people,). luck: who has a mean above it has a 1.
        waits: after how many further people each answer comes.
    """
    assignment = Assignment(False, setting.min_share or 0.0)
    how = Conditions(setting.people, assignment, period=setting.length)
    policy, comes, people = setting.policy(), np.arange(setting.people) + waits, 0
    for end in periods_of(policy, setting.path(), how, coins, luck, comes, seed):
        people += len(end.drawn)
        yield Turn(people, end.known, policy, end.state, end.number)


def in_session(setting: Setting, seed: int) -> Iterator[Turn]:
    """Play a campaign in a `Session`, person by person."""
    policy, options = setting.policy(), dict[str, Any]()
    now, people = [0.0], setting.people
    if setting.min_share:
        options["min_share"] = setting.min_share
    if setting.periods:
        options |= {"period": timedelta(seconds=setting.length), "clock": lambda: now[0]}
    noise, rng = dpb.SimulatedNoise(seed), np.random.default_rng([seed, REWARDS])
    session = dpb.Session(policy, noise=noise, seed=seed, max_pending=10**6, **options)
    path, late = setting.path(), list[tuple[int, int, Any, float]]()
    luck, waits = rng.random(people), waits_of(setting, rng)
    answers, releases = rng.random(people) >= setting.silent, 0
    for t in range(people):
        now[0] = float(t)
        decision = session.ask()
        reward = float(luck[t] < path[t, decision.action])
        if answers[t]:
            heapq.heappush(late, (t + int(waits[t]), t, decision, reward))
        while late and late[0][0] <= t:
            session.tell(*heapq.heappop(late)[2:])
        if session.releases != releases:
            releases, state = session.releases, session._state
            yield Turn(t + 1, state.history, state.policy, state.learned, state.step)
