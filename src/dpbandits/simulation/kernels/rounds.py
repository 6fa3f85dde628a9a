"""Policies that release after every round: UCB1, KL-UCB, DP-UCB-Bound, Hybrid-UCB, LDP-UCB,
LDP-KLUCB.

One compiled loop over rounds, memory independent of their number.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.kernels.streaks import ARM, SIZE, SPAN, is_still_best, watch
from dpbandits.simulation.parts.borrowed import borrowed
from dpbandits.simulation.parts.counters import hybrid_leaf
from dpbandits.simulation.parts.jit import (
    dp_ucb_bound,
    forced_rounds,
    hybrid_ucb,
    inline,
    kl_level,
    kl_ucb,
    ldp_ucb,
    specialised,
    ucb1,
)
from dpbandits.simulation.parts.primitives import argmax, copy_to, laplace, reward

UCB1, KL_UCB, BOUND, HYBRID, LDP_UCB = range(5)
PLAIN, LOCAL_LAPLACE, RESPONSE = range(3)
EXACT, POWERS, DOUBLING, PRINTED = range(4)


class Numbers(NamedTuple):
    """scale: noise of the reports or of the counter's nodes, in grid steps. keep: chance that a
    randomised bit is the true one.
    """

    eps: float
    constant: float
    scale: float
    keep: float


class Tracked(NamedTuple):
    """Of each arm: rounds, sum in grid steps, mean, index; the nodes of its counter; and its
    segment's number, leaves and exact sum while open, noised sum of the closed ones. streak: how
    long KL-UCB's arm stays the same.
    """

    n: Any
    sums: Any
    means: Any
    scores: Any
    exact: Any
    noised: Any
    segments: Any
    streak: Any


@inline
def fill_scores(rule: int, t: int, p: Any, s: Any) -> None:
    """Every arm's index at round t. One branch on the rule a round, not one an arm: this is the
    loop that costs.
    """
    means, n, scores, arms, log_t = s.means, s.n, s.scores, len(s.n), math.log(t)
    if rule == UCB1:
        for arm in range(arms):
            scores[arm] = ucb1(means[arm], n[arm], log_t)
    elif rule == KL_UCB:
        level = kl_level(log_t, p.constant)
        for arm in range(arms):
            scores[arm] = kl_ucb(means[arm], n[arm], level)
    elif rule == BOUND:
        for arm in range(arms):
            scores[arm] = dp_ucb_bound(means[arm], n[arm], log_t, p.eps)
    elif rule == HYBRID:
        for arm in range(arms):
            scores[arm] = hybrid_ucb(means[arm], n[arm], log_t, p.eps)
    else:
        local_scores(t, log_t, p, s)


@inline
def local_scores(t: int, log_t: float, p: Any, s: Any) -> None:
    """LDP-UCB's indices; while some arm has too few rounds, those with fewest go first."""
    means, n, scores, fewest = s.means, s.n, s.scores, s.n[0]
    for arm in range(len(n)):
        fewest = min(fewest, n[arm])
        scores[arm] = ldp_ucb(means[arm], n[arm], log_t, p.eps)
    if fewest <= forced_rounds(t):
        for arm in range(len(n)):
            scores[arm] = -n[arm]


@inline
def arm_to_play(rule: int, t: int, p: Any, s: Any) -> int:
    """The arm of the largest index at round t, the lowest on a tie."""
    if rule == KL_UCB and is_still_best(t, s.streak, s.means, s.n):
        return int(s.streak[ARM])
    fill_scores(rule, t, p, s)
    arm: int = argmax(s.scores)
    if rule == KL_UCB:
        watch(t, arm, s.streak, s.means, s.n, p.constant)
    return arm


@inline
def received(feedback: int, x: int, steps: int, scale: float, keep: float, rng: Any) -> int:
    """What the server gets of a reward of x grid steps."""
    if feedback == LOCAL_LAPLACE:
        return x + laplace(rng, scale)
    if feedback == RESPONSE:
        bit = rng.random() * steps < x
        return steps if bit == (rng.random() < keep) else 0
    return x


@inline
def take_in(counter: int, p: Any, s: Any, arm: int, x: int, rng: Any) -> None:
    """Take x grid steps of an arm into its sum, exact or through the counter."""
    s.n[arm] += 1
    if counter == EXACT:
        s.sums[arm] += x
    else:
        first, root = 0 if counter == POWERS else 1, counter == PRINTED
        segment, exact, noised = s.segments[arm], s.exact[arm], s.noised[arm]
        s.sums[arm] = hybrid_leaf(segment, exact, noised, x, p.scale, first, root, rng)


RULE: Any = None
FEEDBACK: Any = None
COUNTER: Any = None
"""Set for each combination."""


def drive_rounds(
    numbers: Any,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Returns (releases, events)."""
    arms = probabilities.shape[0]
    # arrays of their own: rows of one would not begin where the processor reads four at once
    n, sums = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    exact, noised = np.zeros((arms, 64), np.int64), np.zeros((arms, 64), np.int64)
    segments = np.zeros((arms, 4), np.int64)
    streak = np.zeros(SIZE)
    streak[ARM], streak[SPAN] = -1.0, 16.0
    s = Tracked(n, sums, np.zeros(arms), np.zeros(arms), exact, noised, segments, streak)
    chances = probabilities[:, probabilities.shape[1] - 1].copy()
    law = (values, probabilities, chances)
    run_rounds(Numbers(*numbers), s, steps, law, (checkpoints, out), rng)
    return rounds, rounds


def run_rounds(p: Any, s: Any, steps: int, law: Any, kept: Any, rng: Any) -> None:
    """What `drive_rounds` makes of its arguments. law: levels, their probabilities, the last one's.
    kept: rounds at which play counts are kept, and where.
    """
    p, s, rng = borrowed(p), borrowed(s), borrowed(rng)
    (values, probabilities, chances), (checkpoints, out) = borrowed(law), borrowed(kept)
    start, arms, levels = 0, len(s.n), len(values)
    for at in range(len(checkpoints)):
        for t in range(start, checkpoints[at]):
            arm = t
            if t >= arms:  # every arm once, then the largest index, the lowest arm on a tie
                arm = arm_to_play(RULE, t + 1, p, s)
            if levels == 2:
                x = values[1] if rng.random() < chances[arm] else values[0]
            else:
                x = reward(rng, arm, values, probabilities)
            x = received(FEEDBACK, x, steps, p.scale, p.keep, rng)
            take_in(COUNTER, p, s, arm, x, rng)
            s.means[arm] = s.sums[arm] / (steps * s.n[arm])
        start = checkpoints[at]
        copy_to(out[at], s.n)


@cache
def round_player(rule: int, feedback: int, counter: int) -> Any:
    """The loop over rounds for one combination. The three numbers are constants to the compiler,
    which drops every other branch.
    """
    name = f"{rule}_{feedback}_{counter}"
    run = specialised(run_rounds, name, RULE=rule, FEEDBACK=feedback, COUNTER=counter)
    return specialised(drive_rounds, name, run_rounds=run)
