"""Thompson sampling on beliefs about means that change, in one compiled loop over blocks; and the
environment whose means change.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.environments.changing import ChangingMeans
from dpbandits.policies.changing import IN_A_ROW, UNKNOWN_MEAN, KalmanPolicy
from dpbandits.policies.formulas.indices import LARGEST_VARIANCE
from dpbandits.simulation.compiled.driver import Kernel, RunPlayer
from dpbandits.simulation.compiled.jit import (
    block_variance,
    gain_of,
    grown_variance,
    jit,
    surprise_of,
)
from dpbandits.simulation.compiled.parts import block_sum, laplace, play


class Numbers(NamedTuple):
    """A policy's numbers: see `KalmanPolicy`. noise: scale of a draw in grid steps; 0: none."""

    block: int
    eps: float
    noise: float
    width: float
    drift: float
    surprise: float
    look: float


def numbers_of(policy: KalmanPolicy, steps: int) -> Numbers:
    eps = policy.noise_parameter
    assert policy.block is not None
    return Numbers(
        policy.block,
        eps,
        steps / eps if eps else 0.0,
        float(policy.width),
        policy.drift,
        float(policy.surprise) if policy.preset == "restarts" else math.inf,
        policy.look,
    )


@jit
def earn(
    mean: float, start: int, times: int, checkpoints: Any, at: int, total: float, worth: Any
) -> int:
    """Add the mean rewards of rounds start + 1 … start + times, and keep the sums at checkpoints.

    mean: of these rounds. total: the sum before them. worth: sums at the checkpoints.
    """
    while at < len(checkpoints) and checkpoints[at] <= start + times:
        worth[at] = total + mean * (checkpoints[at] - start)
        at += 1
    return at


@jit
def drawn_arm(p: Any, means: Any, variances: Any, seen: Any, rng: Any) -> int:
    arm, top = 0, -math.inf
    if p.look > 0.0 and rng.random() < p.look:
        for other in range(len(seen)):
            if seen[other] < seen[arm]:
                arm = other
        return arm
    for other in range(len(means)):
        score = means[other] + p.width * math.sqrt(variances[other]) * rng.standard_normal()
        if score > top:
            arm, top = other, score
    return arm


@jit
def play_blocks(
    p: Any,
    steps: int,
    values: Any,
    probabilities: Any,
    levels: Any,
    starts: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
    worth: Any,
) -> tuple[int, int]:
    """Play one run; return (releases, events).

    Args:
        probabilities: of each piece, arm and level of a reward.
        levels: of each piece and arm the mean reward.
        starts: rounds before each piece.
        worth: see `earn`.
    """
    arms = probabilities.shape[1]
    means, variances = np.full(arms, UNKNOWN_MEAN), np.full(arms, LARGEST_VARIANCE)
    seen, surprises = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    plays = np.zeros(arms, np.int64)
    t, piece, at, kept, earned, releases, events = 0, 0, 0, 0, 0.0, 0, 0
    while t < rounds:
        arm = drawn_arm(p, means, variances, seen, rng)
        end, total = min(t + p.block, rounds), 0
        full = end == t + p.block
        events += 1
        while t < end:
            while piece + 1 < len(starts) and starts[piece + 1] <= t:
                piece += 1
            stop = min(end, starts[piece + 1]) if piece + 1 < len(starts) else end
            total += block_sum(rng, arm, stop - t, values, probabilities[piece])
            level = levels[piece, arm]
            kept = earn(level, t, stop - t, checkpoints, kept, earned, worth)
            earned += level * (stop - t)
            at = play(arm, stop - t, t, plays, checkpoints, out, at)
            t = stop
        if not full:
            break
        total += laplace(rng, p.noise) if p.noise > 0.0 else 0
        releases += 1
        for other in range(arms):
            variances[other] = grown_variance(variances[other], p.drift, p.block)
        mean, noise = total / (steps * p.block), block_variance(p.block, p.eps)
        far = surprise_of(mean - means[arm], variances[arm], noise) > p.surprise
        surprises[arm] = surprises[arm] + 1 if far else 0
        if surprises[arm] >= IN_A_ROW:
            means[:], variances[:], surprises[:] = UNKNOWN_MEAN, LARGEST_VARIANCE, 0
        gain = gain_of(variances[arm], noise)
        means[arm] += gain * (mean - means[arm])
        variances[arm] *= 1.0 - gain
        seen[arm] = t
    return releases, events


def play_fixed(
    p: Any,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Play one run where means do not change."""
    worth, starts = np.zeros(len(checkpoints)), np.zeros(1, np.int64)
    pieces = np.ascontiguousarray(probabilities[np.newaxis])
    levels = pieces @ (values / steps)
    law = values, pieces, levels, starts
    found: tuple[int, int] = play_blocks(p, steps, *law, rounds, checkpoints, rng, out, worth)
    return found


def with_beliefs(policy: Any, steps: int) -> Kernel:
    """Return the kernel of a policy with beliefs about means that change."""
    return partial(play_fixed, numbers_of(policy, steps), steps)


def changing_player(
    policy: KalmanPolicy, environment: ChangingMeans, rounds: int, seed: int
) -> RunPlayer:
    """Return the player of runs in an environment whose means change."""
    steps, chances = policy.reader.grid.steps, environment.pieces
    laws = np.stack([1.0 - chances, chances], axis=2)
    given = np.array([0, steps]), laws, chances, environment.starts, rounds
    kernel = partial(play_blocks, numbers_of(policy, steps), steps, *given)
    return RunPlayer(kernel, policy.arms, np.int64, rounds, seed, "earned")
