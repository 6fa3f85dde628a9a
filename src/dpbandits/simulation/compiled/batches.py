"""Index policies that fill one arm's batch at a time."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.mechanisms import GaussianBatches, LazyCumulative, LazyForgetful
from dpbandits.mechanisms.base import Mechanism
from dpbandits.policies import (
    AdaCUCB,
    AnytimeLazyUCB,
)
from dpbandits.policies.formulas.indices import IndexNumbers, IndexRule
from dpbandits.simulation.compiled.driver import UNLIMITED, EventPlayer, Kernel, player
from dpbandits.simulation.compiled.jit import FORMULAS, clip01, crossing, inline, jit, specialised
from dpbandits.simulation.compiled.parts import gaussian, laplace

# Score and batch rule are the policy's formulas (`policies/formulas/indices.py`), compiled.
#
# Most scores are not computed. Each arm has an upper bound of its score: the score itself if it
# changes with releases alone, else the score at a later round, as scores grow with t. Only arms
# whose bound is near the largest score so far are evaluated, so the decisions equal those of all
# scores, bit for bit. Bounds are recomputed when they expire or admit too many arms.


FEW = 12
"""With fewer arms, computing all scores is faster."""

BLOCK = 16
"""Number of arms that share a largest bound."""

SLACK, LEAST = 1e-9, 2e-15
"""Rounding error of a score: this share of its distance from 1, plus this. Both are 1000 times
too large.
"""

CAPPED = 2.0
"""The bound of an arm whose score is 1, if no score is larger: it remains 1 until the next
release.
"""

SCORE: Any = None
SIZE: Any = None
TIMELESS: Any = None
CAPS: Any = None
"""A policy's formulas and their properties (see `IndexRule`). Set for each policy."""


class Scores(NamedTuple):
    """Upper bounds of scores.

    Args:
        bounds: of each arm's score.
        tops: the largest bound of each block.
        sizes: of each arm's batch.
        best: the largest clipped mean.
        valid: the ln t until which bounds hold, and the span for which they were computed.
        counts: number of arms with a release; the one with the best mean (of several, that with the
            most rounds); number of evaluations since the bounds were computed.
    """

    bounds: Any
    tops: Any
    sizes: Any
    best: Any
    valid: Any
    counts: Any


UNTIL, SPAN = range(2)
SEEN, LEADER, LOOKS = range(3)


@jit
def start(p: Any, s: Any) -> Any:
    arms = len(s.n)
    bounds, tops = np.zeros(arms), np.zeros((arms + BLOCK - 1) // BLOCK)
    valid, counts = np.array([-1.0, 0.1]), np.zeros(3, np.int64)
    return Scores(bounds, tops, np.zeros(arms, np.int64), np.full(1, -1.0), valid, counts)


@jit
def set_top(state: Any, block: int) -> None:
    top = -math.inf
    for arm in range(block * BLOCK, min((block + 1) * BLOCK, len(state.bounds))):
        top = max(top, state.bounds[arm])
    state.tops[block] = top


@jit
def set_best(s: Any, state: Any) -> bool:
    """Recompute the largest clipped mean; return whether it changed."""
    before, best, leader = state.best[0], -1.0, 0
    for arm in range(len(s.n)):
        mean = clip01(s.means[arm])
        if mean > best or (mean == best and s.n[arm] > s.n[leader]):
            best, leader = mean, arm
    state.best[0], state.counts[LEADER] = best, leader
    return best != before


def score_at(p: Any, s: Any, state: Any, arm: int, log_t: float) -> float:
    return SCORE(p, s.means[arm], s.n[arm], s.draws[arm], log_t, state.best[0])


def bounds_until(p: Any, s: Any, state: Any, log_t: float) -> None:
    """Recompute all bounds, for scores up to this ln t."""
    state.valid[UNTIL], state.counts[LOOKS] = log_t, 0
    for arm in range(len(s.n)):
        state.bounds[arm] = score_at(p, s, state, arm, log_t)
    for block in range(len(state.tops)):
        set_top(state, block)


@inline
def least_near(top: float) -> float:
    """Return the least score that rounding may have put below this one."""
    return top - SLACK * abs(1.0 - top) - LEAST


def largest_of_all(p: Any, s: Any, state: Any, log_t: float) -> int:
    """Return the arm with the largest score, the lowest on a tie."""
    arm, top = 0, -math.inf
    for other in range(len(s.n)):
        value = state.bounds[other] if TIMELESS else score_at(p, s, state, other, log_t)
        if value > top:
            arm, top = other, value
    return arm


def largest_of_likely(p: Any, s: Any, state: Any, log_t: float) -> int:
    """Return the same arm from the scores of a few arms."""
    bounds, tops, valid, looks = state.bounds, state.tops, state.valid, state.counts[LOOKS]
    if not TIMELESS and (log_t > valid[UNTIL] or looks > len(bounds)):
        valid[SPAN] = min(1.0, 2.0 * valid[SPAN]) if looks < len(bounds) else 0.5 * valid[SPAN]
        bounds_until(p, s, state, log_t + valid[SPAN])
    first, arm, top, least = 0, -1, -math.inf, -math.inf
    for block in range(len(tops)):
        if tops[block] > tops[first]:
            first = block
    for at in range(-1, len(tops)):  # the block of the largest bound before the others
        block = first if at < 0 else at
        if at == first or tops[block] < least:
            continue
        for other in range(block * BLOCK, min((block + 1) * BLOCK, len(bounds))):
            if bounds[other] < least or (CAPS and top >= 1.0 and other > arm):
                continue
            value = bounds[other]
            if CAPS and value == CAPPED:
                value = 1.0
            elif not TIMELESS:
                state.counts[LOOKS] += 1
                value = score_at(p, s, state, other, log_t)
                if CAPS and value >= 1.0:
                    bounds[other] = tops[block] = CAPPED
            if value > top or (value == top and other < arm):
                arm, top = other, value
                least = least_near(top)
    return arm


def choose_largest(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose the arm with the largest score, the lowest on a tie; an arm without a release
    first.
    """
    arm, counts = state.counts[SEEN], state.counts
    if arm == len(s.n):
        log_t = math.log(t)
        if len(s.n) < FEW:
            arm = largest_of_all(p, s, state, log_t)
        else:
            arm = largest_of_likely(p, s, state, log_t)
    s.chosen[0], n, pulls = arm, s.n[arm], s.plays[arm] - s.open_[arm]
    state.sizes[arm] = SIZE(
        p, s.means[arm], n, s.draws[arm], pulls, state.best[0], s.n[counts[LEADER]]
    )
    return 1, UNLIMITED


def choose_until_overtaken(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose the same arm until another arm's score overtakes it, for Anytime-Lazy-UCB."""
    choose_largest(p, s, state, t, rng)
    arm, bounds, tops = s.chosen[0], state.bounds, state.tops
    if state.counts[SEEN] < len(s.n):
        return 1, UNLIMITED
    end, least = t + state.sizes[arm] - s.open_[arm], -math.inf
    if len(s.n) >= FEW and math.log(end) <= state.valid[UNTIL]:
        least = least_near(score_at(p, s, state, arm, math.log(t)))
    for block in range(len(tops)):
        if least == -math.inf or tops[block] >= least:
            for j in range(block * BLOCK, min((block + 1) * BLOCK, len(bounds))):
                if j != arm and bounds[j] >= least:
                    end = crossing(
                        arm, s.means[arm], s.n[arm], j, s.means[j], s.n[j], t, end, p.eps
                    )
    return 1, end - t


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    return state.sizes[arm]


def learn_bounds(p: Any, s: Any, state: Any, t: int) -> None:
    """Update the score of a released arm, and perhaps the best mean."""
    arm, counts = s.chosen[0], state.counts
    if s.open_[arm] > 0:
        return
    counts[SEEN] += counts[SEEN] == arm
    if counts[SEEN] < len(s.n):
        return
    moved = False
    if TIMELESS and (clip01(s.means[arm]) >= state.best[0] or arm == counts[LEADER]):
        moved = set_best(s, state)
        if moved:
            bounds_until(p, s, state, 0.0)
    if (TIMELESS and not moved) or (not TIMELESS and len(s.n) >= FEW):
        state.bounds[arm] = score_at(p, s, state, arm, state.valid[UNTIL])
        set_top(state, arm // BLOCK)


@inline
def read_cumulative(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    """Add one noise draw to a block, which remains in the sum."""
    s.totals[arm] += total + laplace(rng, p.noise)
    s.n[arm] += s.open_[arm]
    s.draws[arm] += 1


@inline
def read_newest(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    """Keep the newest block alone, with one noise draw."""
    s.totals[arm] = total + laplace(rng, p.noise)
    s.n[arm], s.draws[arm] = s.open_[arm], 1


@inline
def read_gaussian(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    """Keep the newest block alone, with Gaussian noise."""
    s.totals[arm] = total + gaussian(rng, p.noise)
    s.n[arm], s.draws[arm] = s.open_[arm], 1


READS = {
    LazyCumulative: read_cumulative,
    LazyForgetful: read_newest,
    GaussianBatches: read_gaussian,
}


@cache
def index_player(
    score: str,
    size: str,
    capped: bool,
    timeless: bool,
    read: Any,
    overtaken: bool,
    few: int = FEW,
) -> EventPlayer:
    """Return the loop for an index policy, by the names of its formulas.

    Args:
        score: name of the score's formula.
        size: name of the batch rule's formula.
        capped: see `IndexRule`.
        timeless: see `IndexRule`.
        read: the mechanism.
        overtaken: True if an arm is left as soon as another one's score is larger.
        few: below this number of arms, all scores are computed.
    """
    name = f"{score}_{few}"
    parts: dict[str, Any] = {"SCORE": FORMULAS[score], "SIZE": FORMULAS[size], "FEW": few}
    parts |= {"CAPS": capped, "TIMELESS": timeless}
    for part, compiler in (
        (score_at, jit),
        (bounds_until, jit),
        (largest_of_all, jit),
        (largest_of_likely, jit),
        (choose_largest, inline),
        (learn_bounds, inline),
        (choose_until_overtaken, inline),
    ):
        parts[part.__name__] = specialised(part, name, compiler=compiler, **parts)
    choose = parts["choose_until_overtaken" if overtaken else "choose_largest"]
    loop = {"choose": choose, "learn": parts["learn_bounds"], "start": start, "batch": batch}
    return player(name, Numbers=IndexNumbers, read=read, **loop)


def player_of(
    rule: IndexRule, mechanism: Mechanism, overtaken: bool = False, few: int = FEW
) -> EventPlayer | None:
    """Return the loop for this rule and mechanism; None if no loop supports the mechanism."""
    score, size, read = rule.score.__name__, rule.size.__name__, READS.get(type(mechanism))
    if read is None:
        return None
    return index_player(score, size, rule.capped, rule.timeless, read, overtaken, few)


def by_batches(policy: Any, steps: int) -> Kernel | None:
    """Return the kernel of index policies whose batches are released one at a time."""
    scale = (2 * float(policy.rho)) ** 0.5 if isinstance(policy, AdaCUCB) else float(policy.epsilon)
    numbers = policy.rule.numbers._replace(noise=steps / scale)
    overtaken = isinstance(policy, AnytimeLazyUCB)
    loop = player_of(policy.rule, policy.reader, overtaken)
    return None if loop is None else partial(loop, tuple(numbers), steps)
