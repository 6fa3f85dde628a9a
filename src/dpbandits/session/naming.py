"""How many more people will a policy, as it allocates them, take to name the best arm? A forecast
from released values, as a range: no privacy cost, and no promise.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.core.plan import Cycle, Hold, PublicRng
from dpbandits.mechanisms.base import Answer
from dpbandits.policies.base import Statistics
from dpbandits.policies.contract import Policy, Release, checked_plan
from dpbandits.policies.identification import Identifier
from dpbandits.session.arms import Assignment
from dpbandits.session.beliefs import (
    ArmHistory,
    ReleaseHistory,
    Sight,
    best_compared,
    draws_variance,
    posterior,
)

TIMES, RELEASES = 10, 64
"""A name is in sight within so many times the people so far, and so many releases."""

FUTURES = 20
"""Futures that are played. A further one is between the first and the last but one of them with
probability 18/21; the rest of 8 of 10 is for what normal draws miss.
"""


def people_ahead(
    policy: Policy,
    learned: Any,
    step: int,
    seed: int,
    known: ReleaseHistory,
    among: Sequence[int],
    delta: float,
    drawn: Assignment | None,
) -> Sight | None:
    """Return how many more people the policy takes to name the best arm, in futures in which means
    are drawn from what is known of them, and rewards and noise from their laws; None if that cannot
    be foreseen.

    Args:
        learned, step: the policy's state, and the number of its plan.
        known: what was released. among: the arms that are compared.
        drawn: how arms are drawn by their least shares; None: they have none.
    """
    law = known.reader.law
    if law is None or any(known.arms[arm].newest is None for arm in among):
        return None
    rng, counts = np.random.default_rng(step), list[float]()
    curves = {arm: mean_curve(known, arm) for arm in among}
    for _ in range(FUTURES):
        means = {arm: float(np.interp(rng.random(), *curve)) for arm, curve in curves.items()}
        people = named_ahead(policy, learned, step, seed, known, among, delta, drawn, means, rng)
        if people is None:
            return None
        counts.append(people)
    counts.sort()
    low, middle, high = counts[0], likeliest(counts), counts[-2]
    return Sight(*(None if math.isinf(each) else int(each) for each in (low, middle, high)))


def likeliest(counts: Sequence[float]) -> float:
    """Return the number within a factor of two of which most futures lie; infinity if the name is
    not in sight in half of them.

    Args:
        counts: of people, one for each future, in rising order.
    """
    if math.isinf(counts[len(counts) // 2]):
        return math.inf
    ends = [bisect_right(counts, 4.0 * low) for low in counts if low < math.inf]
    first = max(range(len(ends)), key=lambda at: ends[at] - at)
    return math.sqrt(counts[first] * counts[ends[first] - 1])


def mean_curve(known: ReleaseHistory, arm: int) -> tuple[Floats, Floats]:
    """Return the probabilities that the mean of what is summed of an arm is at most each of these
    values, and the values.
    """
    row, law, (zero, one) = known.arms[arm].newest, known.reader.noise.law, known.reader.ends
    assert row is not None
    means, below = posterior(known, row, draws_variance(law, row.draws))
    return below, zero + (one - zero) * means


def named_ahead(
    policy: Policy,
    learned: Any,
    step: int,
    seed: int,
    known: ReleaseHistory,
    among: Sequence[int],
    delta: float,
    drawn: Assignment | None,
    means: Mapping[int, float],
    rng: np.random.Generator,
) -> float | None:
    """Return the same in one future, infinity if it is not in sight; None if it cannot be foreseen.

    Args:
        means: of what is summed, by arm.
    """
    first, people = known.arms, 0.0
    most = TIMES * sum(arm.newest.rounds for arm in first if arm.newest is not None)
    for number in range(step, step + RELEASES):
        plan = checked_plan(policy, learned, PublicRng(seed, number))
        sizes = dict[int, int]()
        if isinstance(plan, Hold) and isinstance(plan.action, int):
            if drawn is None:
                played, released = {plan.action: plan.rounds}, plan.release
                people += plan.rounds
            else:
                shared = next_released(policy, learned, plan.action, drawn, among, rng)
                if shared is None:
                    return None
                arm, played, more = shared
                people, released = people + more, (arm,)
                if isinstance(learned, Statistics):  # of its block, the rounds before this plan
                    sizes[arm] = learned.open[arm]
        elif isinstance(plan, Cycle) and drawn is None:
            played, released = dict.fromkeys(plan.actions, plan.each), plan.release
            people += sum(played.values())
        else:
            return None
        if people > most or not released:
            return math.inf
        if not set(released) <= played.keys() & means.keys():
            return None
        answers = tuple(
            drawn_answer(known, first[arm], arm, played[arm] + sizes.get(arm, 0), means[arm], rng)
            for arm in released
        )
        release = Release(released, answers, 0, tuple(played.items()))
        learned, known = policy.update(learned, plan, release), known.after(release, among)
        if isinstance(policy, Identifier) and policy.delta <= delta * (1.0 + 1e-9):
            is_named = policy.best_arm(learned) is not None
        else:
            is_named = best_compared(known, among, delta) is not None
        if is_named:
            return people
    return math.inf


def next_released(
    policy: Policy,
    learned: Any,
    planned: int,
    drawn: Assignment,
    among: Sequence[int],
    rng: np.random.Generator,
) -> tuple[int, dict[int, int], float] | None:
    """Return, where arms have least shares, the arm whose block is full first, the rounds of
    each arm until then, and the people; None if no block is closed by its own count.

    Args:
        planned: the arm that gets the other people.
    """
    shares = dict(zip(among, drawn.law({}, planned, among), strict=True))
    rooms, times = dict[int, int](), dict[int, float]()
    for arm, share in shares.items():
        room = policy.room(learned, arm)
        if room is None:
            return None
        rooms[arm], times[arm] = room, room if share else math.inf
        if 0.0 < share < 1.0:
            times[arm] += float(rng.negative_binomial(room, share))
    full = min(times, key=times.__getitem__)
    people, played = times[full], {full: rooms[full]}
    for arm, share in shares.items():
        others = int(people) - rooms[full]  # people who did not get the arm that is full
        if arm != full and rooms[arm] > 1 and others > 0:
            rest = min(1.0, share / (1.0 - shares[full]))
            played[arm] = min(rooms[arm] - 1, int(rng.binomial(others, rest)))
    return full, {arm: rounds for arm, rounds in played.items() if rounds}, people


def drawn_answer(
    known: ReleaseHistory,
    first: ArmHistory,
    arm: int,
    rounds: int,
    mean: float,
    rng: np.random.Generator,
) -> Answer:
    """Return the answer to a block of rewards and noise that are drawn, as normal variables.

    Args:
        first: the arm as it is now. mean: of what is summed.
    """
    row, now, law = first.newest, known.arms[arm].newest, known.reader.noise.law
    assert row is not None
    assert now is not None
    before = sum(count for _, count in now.draws)
    each = -(-sum(count for _, count in row.draws) // first.answers)
    kind = row.draws[0][0] if row.draws else 1
    if known.reader.reports:
        noise, each, before = ((kind, rounds),), 0, 0
    else:
        noise = ((kind, each),)
    zero, one = known.reader.ends
    share = (mean - zero) / (one - zero)
    spread = rounds * share * (1.0 - share) * (one - zero) ** 2 + draws_variance(law, noise)
    total = mean * rounds + math.sqrt(max(0.0, spread)) * float(rng.standard_normal())
    if law.forgets:
        return Answer(total, rounds, each)
    return Answer(now.total + total, now.rounds + rounds, before + each)
