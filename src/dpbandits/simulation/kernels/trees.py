"""DP-UCB by stretches: while its leader cannot lose, rounds are played without being looked at.

Over a stretch only the leader's tree changes; the other arms' indices rise with ln t, so those at
the stretch's end are bounds. The leader is safe at a leaf if its noised mean is above a level. As
rewards only add to the sum, noise alone brings it down: blocks of leaves are passed by `leaps`
where the sum is far enough above, and leaves are played one by one where it is not. Exact in law.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.parts.borrowed import borrowed
from dpbandits.simulation.parts.counters import popcount, tree_leaf
from dpbandits.simulation.parts.jit import (
    dp_ucb_published,
    dp_ucb_tight,
    jit,
    specialised,
)
from dpbandits.simulation.parts.leaps import MOST_LEVELS, blocks_of, first_dip, leap, prefix_sum
from dpbandits.simulation.parts.primitives import play, reward

SHORTEST = 64  # leaves of a stretch, or the 256th part of those the arm has
LEAST = 3  # levels of a block worth passing at once
MARGIN = 1e-12  # of an index, for rounding


class Numbers(NamedTuple):
    """scale: noise of a tree's nodes in grid steps; radius_scale: in rewards."""

    eps: float
    gamma: float
    horizon: int
    scale: float
    radius_scale: float


class Trees(NamedTuple):
    """Of each arm: leaves, noised sum, and the nodes of its tree."""

    n: Any
    sums: Any
    exact: Any
    noised: Any


PUBLISHED: Any = None
"""Which of the two indices: set for each."""


def index_of(p: Any, mean: float, n: int, log_t: float, draws: int, arms: int) -> float:
    if PUBLISHED:
        return dp_ucb_published(mean, n, log_t, p.eps, arms, p.horizon, p.gamma)
    return dp_ucb_tight(mean, n, log_t, draws, p.radius_scale)


index: Any = None


def best_but(p: Any, s: Any, steps: int, t: int, left_out: int) -> tuple[int, float]:
    """The arm with the largest index at round t, the lowest on a tie, of all but one; and its
    index.
    """
    best, top, log_t, arms = -1, -math.inf, math.log(t), len(s.n)
    for arm in range(arms):
        if arm != left_out:
            mean = s.sums[arm] / (steps * s.n[arm])
            score = index(p, mean, s.n[arm], log_t, popcount(s.n[arm]), arms)
            if score > top:
                best, top = arm, score
    return best, top


best_arm: Any = None


def safe_mean(p: Any, s: Any, steps: int, t: int, arm: int, leaves: int) -> float:
    """Above this noised mean, in grid steps, the arm is played in whichever of the rounds t … t +
    leaves − 1, with so many leaves more than it has now at most.
    """
    _, rival = best_arm(p, s, steps, t + leaves - 1, arm)
    bonus = index(p, 0.0, s.n[arm] + leaves - 1, math.log(t), 1, len(s.n))
    return steps * (rival + MARGIN - bonus)


safe_level: Any = None


def run_trees(p: Any, s: Any, steps: int, law: Any, rounds: int, kept: Any, rng: Any) -> None:
    """What `drive_trees` makes of its arguments. law: levels and their probabilities. kept: rounds
    at which play counts are kept, and where.
    """
    p, s, rng = borrowed(p), borrowed(s), borrowed(rng)
    law, (checkpoints, out) = borrowed(law), borrowed(kept)
    t, at, arms, plays, blocks = 0, 0, len(s.n), s.n.copy(), blocks_of(p.scale)
    while t < rounds:
        arm, leaves, level = t, 1, math.inf  # every arm once
        if t >= arms:
            arm, _ = best_arm(p, s, steps, t + 1, -1)
            leaves = min(max(SHORTEST, s.n[arm] >> 8), rounds - t)
            level = safe_level(p, s, steps, t + 1, arm, leaves)
        before = s.n[arm]
        stretch(s, arm, level, leaves, blocks, law, rng)
        times = s.n[arm] - before
        at = play(arm, times, t, plays, checkpoints, out, at)
        t += times


@jit
def stretch(s: Any, arm: int, level: float, leaves: int, b: Any, law: Any, rng: Any) -> None:
    """Leaves of one arm, the first in any case, as long as its noised mean is above the level."""
    exact, noised, n, total = s.exact[arm], s.noised[arm], s.n[arm], s.sums[arm]
    last, safe = n + leaves, True
    (values, probabilities), tail = law, max(level, 0.0)
    while safe and n < last:
        levels = block_levels(n, last - n, total - level * n, tail, b)
        if levels >= LEAST:
            gap = total - level * n - tail * (1 << levels)
            dip = first_dip(b, levels, gap, rng)
            n = leap(exact, noised, n, dip, levels, b, arm, law, rng)
            total = prefix_sum(noised, n)
        else:
            n += 1
            x = reward(rng, arm, values, probabilities)
            total = tree_leaf(exact, noised, n, x, b.scale, rng, total)
        safe = total > level * n
    s.n[arm], s.sums[arm] = n, total


@jit
def block_levels(n: int, leaves: int, above: float, tail: float, b: Any) -> int:
    """Levels of the largest block that begins after leaf n and whose noise may be skipped. above:
    of the sum, what it has above the level; tail: what a leaf without a reward takes of that.
    """
    levels = 0
    while (
        levels < MOST_LEVELS
        and (n >> levels) & 1 == 0
        and 2 << levels <= leaves
        and above - tail * (2 << levels) > b.gap[levels + 1]
    ):
        levels += 1
    return levels


def drive_trees(
    numbers: Any,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Returns (releases, events): every round is both."""
    arms = probabilities.shape[0]
    n, sums = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    exact, noised = np.zeros((arms, 64), np.int64), np.zeros((arms, 64), np.int64)
    s = Trees(n, sums, exact, noised)
    law, kept = (values, probabilities), (checkpoints, out)
    run_trees(Numbers(*numbers), s, steps, law, rounds, kept, rng)
    return rounds, rounds


@cache
def tree_player(published: bool) -> Any:
    """The loop with one of the two indices."""
    name = "published" if published else "tight"
    parts: dict[str, Any] = {"index": specialised(index_of, name, PUBLISHED=published)}
    parts["best_arm"] = specialised(best_but, name, **parts)
    parts["safe_level"] = specialised(safe_mean, name, **parts)
    return specialised(drive_trees, name, run_trees=specialised(run_trees, name, **parts))
