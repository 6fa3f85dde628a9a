"""Policies that release after every round: UCB1, KL-UCB, DP-UCB, DP-UCB-Bound, Hybrid-UCB, LDP-UCB,
LDP-KLUCB.

One compiled loop over rounds, memory independent of their number.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from dpbandits.simulation.kernels.counters import hybrid_leaf, popcount, tree_leaf
from dpbandits.simulation.parts.jit import (
    dp_ucb_bound,
    dp_ucb_published,
    dp_ucb_tight,
    forced_rounds,
    hybrid_ucb,
    inline,
    jit,
    kl_level,
    kl_ucb,
    ldp_ucb,
    ucb1,
)
from dpbandits.simulation.parts.primitives import argmax, laplace, reward

UCB1, KL_UCB, PUBLISHED, TIGHT, BOUND, HYBRID, LDP_UCB = range(7)
PLAIN, LOCAL_LAPLACE, RESPONSE = range(3)
EXACT, TREE, POWERS, DOUBLING, PRINTED = range(5)


@inline
def fill_scores(
    rule: int,
    t: int,
    means: Any,
    n: Any,
    draws: Any,
    eps: float,
    constant: float,
    horizon: int,
    scale: float,
    scores: Any,
) -> None:
    """Every arm's index at round t. One branch on the rule a round, not one an arm: this is the
    loop that costs.
    """
    arms, log_t = len(n), math.log(t)
    if rule == UCB1:
        for arm in range(arms):
            scores[arm] = ucb1(means[arm], n[arm], log_t)
    elif rule == KL_UCB:
        level = kl_level(log_t, constant)
        for arm in range(arms):
            scores[arm] = kl_ucb(means[arm], n[arm], level)
    elif rule == TIGHT:
        for arm in range(arms):
            scores[arm] = dp_ucb_tight(means[arm], n[arm], log_t, draws[arm], scale)
    elif rule == PUBLISHED:
        for arm in range(arms):
            scores[arm] = dp_ucb_published(means[arm], n[arm], log_t, eps, arms, horizon, constant)
    elif rule == BOUND:
        for arm in range(arms):
            scores[arm] = dp_ucb_bound(means[arm], n[arm], log_t, eps)
    elif rule == HYBRID:
        for arm in range(arms):
            scores[arm] = hybrid_ucb(means[arm], n[arm], log_t, eps)
    else:
        fewest = n[0]
        for arm in range(arms):
            fewest = min(fewest, n[arm])
            scores[arm] = ldp_ucb(means[arm], n[arm], log_t, eps)
        if fewest <= forced_rounds(t):
            for arm in range(arms):
                scores[arm] = -n[arm]


@inline
def received(feedback: int, x: int, steps: int, scale: float, keep: float, rng: Any) -> int:
    """What the server gets of a reward of x grid steps."""
    if feedback == LOCAL_LAPLACE:
        return x + laplace(rng, scale)
    if feedback == RESPONSE:
        bit = rng.random() * steps < x
        return steps if bit == (rng.random() < keep) else 0
    return x


@cache
def round_player(rule: int, feedback: int, counter: int) -> Any:
    """The loop over rounds for one combination. The three numbers are constants to the compiler,
    which drops every other branch.
    """

    @jit
    def play_rounds(
        eps: float,
        constant: float,
        horizon: int,
        scale: float,
        keep: float,
        radius_scale: float,
        steps: int,
        values: Any,
        probabilities: Any,
        rounds: int,
        checkpoints: Any,
        rng: Any,
        out: Any,
    ) -> tuple[int, int]:
        """scale: noise of the reports or of the counter's nodes, in grid steps. Returns (releases,
        events).
        """
        arms, levels = probabilities.shape
        n, draws, sums = (
            np.zeros(arms, np.int64),
            np.zeros(arms, np.int64),
            np.zeros(arms, np.int64),
        )
        means, scores, chances = np.zeros(arms), np.zeros(arms), probabilities[:, levels - 1].copy()
        exact, noised = np.zeros((arms, 64), np.int64), np.zeros((arms, 64), np.int64)
        # number, leaves and exact sum of the open segment; noised sum of the closed ones
        segments = np.zeros((arms, 4), np.int64)
        start = 0
        for at in range(len(checkpoints)):
            for t in range(start, checkpoints[at]):
                arm = t
                if t >= arms:  # every arm once, then the largest index, the lowest arm on a tie
                    fill_scores(
                        rule, t + 1, means, n, draws, eps, constant, horizon, radius_scale, scores
                    )
                    arm = argmax(scores)
                if levels == 2:
                    x = values[1] if rng.random() < chances[arm] else values[0]
                else:
                    x = reward(rng, arm, values, probabilities)
                x = received(feedback, x, steps, scale, keep, rng)
                n[arm] += 1
                if counter == EXACT:
                    sums[arm] += x
                elif counter == TREE:
                    sums[arm] = tree_leaf(exact[arm], noised[arm], n[arm], x, scale, rng, sums[arm])
                    draws[arm] = popcount(n[arm])
                else:
                    first = 0 if counter == POWERS else 1
                    sums[arm] = hybrid_leaf(
                        segments[arm],
                        exact[arm],
                        noised[arm],
                        x,
                        scale,
                        first,
                        counter == PRINTED,
                        rng,
                    )
                means[arm] = sums[arm] / (steps * n[arm])
            start = checkpoints[at]
            out[at] = n
        return rounds, rounds

    return play_rounds
