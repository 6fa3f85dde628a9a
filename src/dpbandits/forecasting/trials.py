"""Trials that are played to see when a winner is named: whole blocks at once, with least shares of
arms, rates that change, and people who never answer.

The rewards are drawn, the noise is simulated, and the evidence is that of `beliefs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.plan import Cycle, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.environments.changing import Drift
from dpbandits.mechanisms import Block
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy, Release
from dpbandits.session.arms import Assignment
from dpbandits.session.beliefs import (
    NoiseMoments,
    ReleaseHistory,
    best_compared,
    changed_of,
    interval,
)

PARTS = 200
"""Rates that change are taken as constant over a part of the trial of this length."""

COINS = 6
"""Sets the stream of a played trial's rewards apart from others."""


class Conditions(NamedTuple):
    """Of a trial.

    Args:
        visitors: people who are asked.
        min_share: each arm's least share.
        silent: the share of people who never answer.
        drift: how rates change; None: they stay.
    """

    visitors: int
    min_share: float = 0.0
    silent: float = 0.0
    drift: Drift | None = None

    @property
    def are_plain(self) -> bool:
        return not (self.min_share or self.silent or self.drift)

    def rates(self, means: Floats) -> Floats:
        """Return the means over the trial, shape (parts, arms): of one part where they stay.

        Raises:
            ValueError: one of them leaves [0, 1].
        """
        if self.drift is None:
            return means[None, :]
        times = (np.arange(PARTS) + 0.5) / PARTS
        path = means[None, :] + self.drift.added(times, len(means))
        if not ((path >= 0.0) & (path <= 1.0)).all():
            raise ValueError(
                "Expected rates that stay in the range of rewards while they change; one goes from "
                f"{path.min():.4g} to {path.max():.4g} of it. Give a smaller drift."
            )
        return np.asarray(path)


class PlayedTrial(NamedTuple):
    """What came of a trial.

    Args:
        plays: how often each arm was shown by each kept round, shape (rounds, arms).
        loss: against the arm that is best over the trial for everybody, in mean rewards.
        named: the arm that was named first, and after how many people; None: none was.
        widths: of the final intervals, shape (arms,); 1 where nothing was released.
    """

    plays: Integers
    loss: float
    named: tuple[int, int] | None
    widths: Floats


def play_trial(
    policy: Policy, means: Floats, at: Integers, how: Conditions, seed: int, delta: float
) -> PlayedTrial:
    """Play a trial.

    Args:
        means: of the arms at the beginning, shape (arms,).
        at: increasing rounds at which plays are kept, the last one the end.
        delta: the most probability of a wrong name.
    """
    rates, arms = how.rates(means), len(means)
    kept, shown_at = np.zeros((len(at), arms), np.int64), np.zeros(arms, np.int64)
    best, earned, people, place, named = rates.mean(axis=0).max(), 0.0, 0, 0, None
    known = ReleaseHistory.of(policy)
    for asked, history, part in steps_of(policy, rates, how, seed):
        before, people = people, people + int(asked.sum())
        while place < len(at) and at[place] <= people:  # a block of one arm, as a rule
            share = (int(at[place]) - before) / max(1, people - before)
            kept[place] = shown_at + np.rint(asked * share).astype(np.int64)
            place += 1
        shown_at = shown_at + asked
        earned += float(asked @ rates[part])
        if history is not None:
            known = history
            found = None if named is not None else best_compared(known, range(arms), delta)
            if found is not None and not has_changed(known, delta):
                named = found, people
    kept[place:] = shown_at
    return PlayedTrial(kept, float(best) * people - earned, named, final_widths(known, delta))


def steps_of(
    policy: Any, rates: Floats, how: Conditions, seed: int
) -> Iterator[tuple[Integers, ReleaseHistory | None, int]]:
    """Yield people by arm, what is known after them if something was released, and the part of the
    trial whose rates they have.
    """
    rng, noise, arms = np.random.default_rng([seed, COINS]), SimulatedNoise(seed), policy.arms
    mechanism, state, known = policy.reader, policy.init(), ReleaseHistory.of(policy)
    memory, steps = mechanism.init(arms), mechanism.grid.steps
    sums, counts = [0] * arms, [0] * arms
    people, told_ever, number, length = 0, 0, 0, len(rates)
    while people < how.visitors:
        public = PublicRng(seed, number)
        plan: Plan = policy.plan(state, public)
        progress = Progress(plan, partial(policy.room, state))
        due: tuple[int, ...] | None = None
        asked_here = 0
        while due is None and people < how.visitors:
            part = min(length - 1, people * length // how.visitors)
            left = how.visitors - people
            if length > 1:
                left = min(left, max(1, (part + 1) * how.visitors // length - people))
            asked = next_people(policy, state, plan, progress, how, public, rng, left, asked_here)
            for arm in np.flatnonzero(asked).tolist():
                many = int(asked[arm])
                answered = int(rng.binomial(many, 1.0 - how.silent)) if how.silent else many
                sums[arm] += int(rng.binomial(answered, rates[part, arm])) * steps
                counts[arm] += answered
                told_ever += answered
                due = (answered and progress.count(arm, answered)) or due
            many = int(asked.sum())
            people, asked_here = people + many, asked_here + many
            if due is None:
                yield asked, None, part
        if due is None:
            return
        read = tuple(arm for arm in due if counts[arm])
        block = Block(read, tuple(sums[arm] for arm in read), tuple(counts[arm] for arm in read))
        memory, answers = mechanism.answer(memory, block, noise)
        for arm in (*read, *plan_drops(plan)):
            sums[arm] = counts[arm] = 0
        told = tuple(sorted((arm, times) for arm, times in progress.told.items()))
        release = Release(read, tuple(answers), told_ever, told)
        state, known, number = policy.update(state, plan, release), known.after(release), number + 1
        yield asked, known, part


def plan_drops(plan: Plan) -> tuple[int, ...]:
    return () if isinstance(plan, Draw) else plan.drop


def next_people(
    policy: Any,
    state: Any,
    plan: Plan,
    progress: Progress,
    how: Conditions,
    public: PublicRng,
    rng: np.random.Generator,
    most: int,
    asked: int,
) -> Integers:
    """Return how many of the next people are shown each arm: as many as fill no more than one
    block.

    Args:
        most: of them. asked: people since the plan was made.
    """
    arms, told = policy.arms, progress.told
    found = np.zeros(arms, np.int64)
    if not how.min_share:
        if isinstance(plan, Hold):
            arm: Any = plan.action
            found[arm] = min(most, plan.rounds - told.get(arm, 0))
        elif isinstance(plan, Cycle):
            for action in plan.actions:
                missing = plan.each - told.get(action, 0)
                if missing > 0:
                    found[action] = min(most, missing)
                    break
        else:
            drawn: Any = plan.action_at(asked, asked + 1, public)
            found[drawn] = 1
        return found
    ahead = policy.ahead(state, told, public, None)
    planned = ahead.action_at(0, asked + 1, public)
    law = Assignment(False, how.min_share).law({}, planned, range(arms))
    rooms = [max(1, (policy.room(state, arm) or 1) - told.get(arm, 0)) for arm in range(arms)]
    many = 1 if isinstance(ahead, Draw) else min(most, *rooms)
    return np.asarray(rng.multinomial(many, np.array(law) / sum(law)), np.int64)


def has_changed(known: ReleaseHistory, delta: float) -> bool:
    return bool(changed_of(known, intervals_of(known, delta), delta))


def intervals_of(known: ReleaseHistory, delta: float) -> dict[int, Any]:
    assert known.reader.law is not None
    noise = NoiseMoments(known.reader.law)
    found = {arm: interval(known, arm, delta, noise) for arm in range(len(known.arms))}
    return {arm: each for arm, each in found.items() if each is not None}


def final_widths(known: ReleaseHistory, delta: float) -> Floats:
    """Return the widths of all intervals, shape (arms,)."""
    found = intervals_of(known, delta)
    return np.array(
        [
            found[arm].high - found[arm].low if arm in found else 1.0
            for arm in range(len(known.arms))
        ]
    )
