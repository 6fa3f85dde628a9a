"""After how many visitors the best arm can be named: the intervals of `beliefs`, at play counts as
simulated and released totals as expected.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.plan import Cycle, Draw, Plan, PublicRng
from dpbandits.mechanisms import Block
from dpbandits.mechanisms.base import AnswerLaw
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy, Release
from dpbandits.session.beliefs import Believed, MeanReader, NoiseMoments, least_bounds, level

CONFIDENCE = 0.95

MOST_RELEASES = 3000
"""Releases of an arm that are played to learn its draws; later ones bring none, but for reports."""


class Schedule(NamedTuple):
    """What an arm's releases have inside: rounds, increasing, and the noise's moments, shape
    (releases, thetas). level: ln(1/share) of each theta, for one arm on one side. ends: as in
    `MeanReader`. grows: whether every reward brings a draw. onward: whether rounds beyond the last
    of these are released, too.
    """

    rounds: Integers
    moments: Floats
    thetas: Floats
    level: float
    ends: tuple[float, float]
    grows: bool
    onward: bool


def schedule_of(policy: Policy, visitors: int) -> Schedule | None:
    """None where answers say nothing of means, or a single arm is never released."""
    if MeanReader.of(policy).law is None:
        return None
    alone = one_arm_alone(replace(policy, arms=1), visitors)
    law, kept = alone.reader.law, alone.arms[0].kept
    if law is None or not kept:
        return None
    noise = NoiseMoments(law)
    u = level(Believed.of(policy), 0, 1.0 - CONFIDENCE, len(noise.thetas))
    if law.redraws:  # as many rows as `beliefs` keeps
        rows = 12.0 + np.log(visitors) / np.log(1.1)
        u += float(np.log(rows * (rows + 1.0)))
    rounds = np.array([row.rounds for row in kept])
    moments = noise.of_each(row.draws for row in kept)
    onward = alone.arms[0].answers == MOST_RELEASES
    reader = alone.reader
    return Schedule(rounds, moments, noise.thetas, u, reader.ends, reader.reports, onward)


def plain_schedule(arms: int) -> Schedule:
    """Of an experiment without noise whose counts are known at every visitor."""
    noise = NoiseMoments(AnswerLaw("none"))
    u = float(np.log(2.0 * len(noise.thetas) * (arms + 1) / (1.0 - CONFIDENCE)))
    nothing = np.zeros((1, len(noise.thetas)))
    return Schedule(np.array([1]), nothing, noise.thetas, u, (0.0, 1.0), False, True)


def one_arm_alone(policy: Policy, visitors: int) -> Believed:
    """All releases of an arm that is played by itself; rewards are nobody's."""
    history, state, t = Believed.of(policy, growth=1.0), policy.init(), 0
    mechanism, noise = policy.reader, SimulatedNoise(0)
    memory = mechanism.init(1)
    for step in range(MOST_RELEASES):
        plan = policy.plan(state, PublicRng(0, step))
        rounds = length_of(plan)
        release = () if isinstance(plan, Draw) else plan.release
        if t + rounds > visitors or not (release or isinstance(plan, Draw)):
            break
        t += rounds
        memory, answers = mechanism.answer(memory, Block((0,), (0,), (rounds,)), noise)
        released = Release((0,), answers, t, ((0, rounds),))
        history, state = history.after(released), policy.update(state, plan, released)
    return history


def length_of(plan: Plan) -> int:
    """Rounds of a plan for one arm."""
    if isinstance(plan, Draw):
        return plan.limits[0]
    return plan.each if isinstance(plan, Cycle) else plan.rounds


def named_after(schedule: Schedule, plays: Integers, means: Floats, kept: Integers) -> Floats:
    """The first kept round at which the best arm's interval lies above all others', infinite if
    none; shape (draws,).

    plays: shape (draws, rounds, arms). means: shape (draws, arms). kept: the rounds.
    """
    low, high = expected_bounds(schedule, plays, means)
    best = means.argmax(axis=1)[:, None, None]
    lowest = np.take_along_axis(low, best, axis=2)[:, :, 0]
    np.put_along_axis(high, best, -1.0, axis=2)
    apart = lowest > high.max(axis=2)
    first = apart.argmax(axis=1)
    return np.where(apart.any(axis=1), kept[first].astype(np.float64), np.inf)


def expected_bounds(schedule: Schedule, plays: Integers, means: Floats) -> tuple[Floats, Floats]:
    """Low and high for every mean of what is summed, in the shape of plays."""
    (zero, one), at = schedule.ends, np.searchsorted(schedule.rounds, plays, side="right") - 1
    later = (at == len(schedule.rounds) - 1) & schedule.onward
    released = np.where(later, plays, schedule.rounds[at])
    rounds = np.maximum(1.0, released.ravel().astype(np.float64))
    moments = schedule.moments[at.ravel()]
    if schedule.grows:
        moments = moments * (rounds / schedule.rounds[at.ravel()])[:, None]
    summed = np.broadcast_to((zero + means * (one - zero))[:, None, :], plays.shape).ravel()
    u = np.full(len(rounds), schedule.level)
    high = least_bounds(rounds * summed, rounds, moments, u, schedule.thetas)
    low = 1.0 - least_bounds(rounds * (1.0 - summed), rounds, moments, u, schedule.thetas)
    nothing = (at < 0).ravel()
    low[nothing], high[nothing] = 0.0, 1.0
    return low.reshape(plays.shape), high.reshape(plays.shape)
