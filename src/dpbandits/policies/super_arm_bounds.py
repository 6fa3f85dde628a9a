"""Upper bounds of the regret of policies for super arms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.inputs import Booleans, Floats, Integers
from dpbandits.oracles.base import DecisionSet, SuperArm
from dpbandits.oracles.coverage import VertexChoice
from dpbandits.oracles.matroids import Matroid
from dpbandits.oracles.sets import ExplicitSet
from dpbandits.policies.arm_bounds import (
    counted,
    distances,
    falling_sum,
    noise_chance,
    sum_radii,
    whole_cells,
)
from dpbandits.policies.formulas.joint import joint_level, raised_level, report_square

# Gaps over super arms: for each arm the smallest gap of a super arm that contains it, Δⁱ_min, and
# the largest gap of all.


MOST = 20_000  # the most super arms or subsets that are tried one by one
SAME = 1e-9  # values that differ by less are equal


class SuperArmGaps(NamedTuple):
    """Gaps to alpha times the best value.

    Args:
        least: for each arm the smallest positive gap of a super arm with it; infinite if there is
            none.
        largest: the largest gap; 0 if every super arm is best.
    """

    least: tuple[float, ...]
    largest: float


def super_arm_gaps(problem: DecisionSet, means: Sequence[float]) -> SuperArmGaps | None:
    """Return the gaps of this instance; None if the super arms are too many to list.

    On a matroid the least gap is that of single exchanges; no basis has a smaller one.
    """
    if isinstance(problem, Matroid):
        return exchange_gaps(problem, means)
    listed = super_arms(problem)
    if listed is None:
        return None
    values = np.array([problem.value(action, means) for action in listed])
    gaps = problem.alpha * float(values.max()) - values
    least = [math.inf] * problem.arms
    for action, gap in zip(listed, gaps.tolist(), strict=True):
        if gap > SAME:
            for arm in action:
                least[arm] = min(least[arm], gap)
    return SuperArmGaps(tuple(least), max(0.0, float(gaps.max())))


def exchange_gaps(matroid: Matroid, means: Sequence[float]) -> SuperArmGaps:
    """Return the gaps on a matroid. A basis loses the sum of the gaps of its exchanges, none of
    them negative, so at least the smallest positive one of its elements outside the best basis.
    """
    best = matroid.best(means)
    outside = sorted(set(range(matroid.arms)) - set(best) - set(matroid.loops))
    positive = {
        e: [means[k] - means[e] for k in best if means[k] - means[e] > SAME] for e in outside
    }
    smallest = min((gap for gaps in positive.values() for gap in gaps), default=math.inf)
    tied = {e for e in outside if len(positive[e]) < len(best)}
    least = [smallest if e in best or e in tied else math.inf for e in range(matroid.arms)]
    for e in set(outside) - tied:
        least[e] = min(positive[e])
    worst = matroid.best([-mean for mean in means])
    largest = math.fsum(means[k] for k in best) - math.fsum(means[k] for k in worst)
    return SuperArmGaps(tuple(least), largest)


def super_arms(problem: DecisionSet) -> list[SuperArm] | None:
    """Return every super arm; None if there may be too many."""
    if isinstance(problem, ExplicitSet):
        return list(problem.super_arms)
    if possible_sets(problem) > MOST:
        return None
    if isinstance(problem, VertexChoice):
        nodes = list(dict.fromkeys(node for node, _ in problem.edges))
        return [problem.action(chosen) for chosen in combinations(nodes, problem.k)]
    sizes = range(1, problem.size + 1)
    candidates: Iterable[SuperArm] = chain.from_iterable(
        combinations(range(problem.arms), size) for size in sizes
    )
    return [action for action in candidates if problem.contains(action)]


def possible_sets(problem: DecisionSet) -> int:
    """Return the number of sets of arms to try for a list of all super arms, counted up to more
    than `MOST`.
    """
    if isinstance(problem, VertexChoice):
        return math.comb(len({node for node, _ in problem.edges}), problem.k)
    count = 0
    for size in range(1, problem.size + 1):
        count += math.comb(problem.arms, size)
        if count > MOST:
            break
    return count


# Semi-bandits: the cost of super arms with gaps while every bound holds, and otherwise.
#
# While every arm's index is at least its mean and at most w above it, a super arm S with gap Δ has
# Δ <= B₁ Σ_{i in S} w_i. As Δ >= Δⁱ_min for its arms, Δ <= Σ_i 2(B₁w_i − Δⁱ_min/(2K)) (Wang and
# Chen 2017; Chen et al. 2020, Lemma 2), so regret is at most the sum of that over arms and their
# rewards. Likewise Δ <= B∞ w_i for the least-seen arm, which every round that uses it sees again.


Width = Callable[[Floats, Floats], Floats]
"""Twice the radius at the last round, by the first and the last number of rewards of a cell."""


def smooth_bound(
    problem: DecisionSet,
    means: Sequence[float],
    rounds: int,
    width: Width,
    low: float,
    *,
    narrow: bool = False,
    batches: bool = False,
    shares: Floats | None = None,
) -> float:
    """Return an upper bound of the regret; NaN if the super arms are too many to list, or no
    smoothness is known.

    Args:
        problem: the decision set.
        means: mean rewards, shape (arms,).
        rounds: number of rounds.
        width: see `Width`.
        low: expected number of rounds in which some bound fails.
        narrow: True if one reward a round is used.
        batches: True if the mean is that of a batch of 1, 2, 4, … rewards, in use for twice as many
            rounds.
        shares: of each arm in a super arm's gap, shape (arms,), at most 1 over each super arm; 1/K
            by default. With shares `width` has a row for each arm.
    """
    gaps = super_arm_gaps(problem, means)
    if gaps is None or math.isnan(problem.b_one):
        return math.nan
    if gaps.largest <= 0.0:
        return 0.0
    if batches:
        n: Floats = np.asarray(2.0 ** np.arange(max(1, rounds.bit_length())), np.float64)
        sizes, wide = 2.0 * n, np.minimum(1.0, width(n, n))
    else:
        parts = whole_cells(1, rounds)
        sizes, wide = parts.sizes, np.minimum(1.0, width(parts.first, parts.last))
    finite = np.isfinite(gaps.least)
    least = np.array(gaps.least)[finite, None]
    rows = wide if shares is None else wide[finite]
    sizes = np.append(1.0, sizes)
    wide = np.insert(rows, 0, 1.0, axis=-1)  # an unseen arm's index is 1
    even = shares is None or len(set(shares.tolist())) == 1
    largest_error = np.minimum(gaps.largest, problem.b_max * wide)
    errors = np.where(problem.b_max * wide >= least, largest_error, 0.0)
    single = float(np.sum(sizes * errors)) if even else math.inf  # the least-seen arm is the widest
    portions = np.array(1.0 / problem.size) if shares is None else shares[finite, None]
    each = np.maximum(0.0, problem.b_one * wide - portions * least / 2.0)
    every = math.inf if narrow else 2.0 * float(np.sum(sizes * each))
    return min(min(single, every) + low * gaps.largest, rounds * gaps.largest)


def statistical_radius(n: Floats, t: int) -> Floats:
    """Return √(3 ln t / (2n)), CUCB's radius. It is exceeded with probability at most t⁻³ on each
    side. Chen, Wang, Yuan and Wang 2016.
    """
    return np.asarray(np.sqrt(1.5 * math.log(t) / n))


def noisy_radius(n: Floats, draws: Floats, t: int, scale: float) -> Floats:
    """Return CUCB's radius plus the error that `draws` Laplace draws of this scale add to a mean of
    n, at δ = t⁻³. Chan, Shi and Song 2011, Corollary 2.9.
    """
    noise = sum_radii(draws, scale, math.log(2.0) + 3.0 * math.log(t)) / n
    return statistical_radius(n, t) + noise


def noisy_width(rounds: int, scale: float, draws: Width) -> Width:
    """Return twice the `noisy_radius` of `draws`."""
    return lambda n, last: 2.0 * noisy_radius(n, draws(n, last), rounds, scale)


def tree_draws(most: Callable[[int], int]) -> Width:
    """Return the most nodes of a tree in the sum of n rewards."""
    return lambda _, last: counted(most, last)


def lazy_width(log_mt: float, eps: float, shares: Floats) -> Width:
    """Return the width of LazyCUCB, a row for each arm: √(3 ln(mT)/(2n)) + 3 ln(mT)/(wεn)."""
    noise = 3.0 * log_mt / (eps * shares[:, None])
    return lambda n, _: np.asarray(2.0 * (np.sqrt(1.5 * log_mt / n) + noise / n))


def published_tree_width(arms: int, horizon: int, size: int, eps: float) -> Width:
    """Return the width of CUCB-DP as published: √(4 ln(mT)/n) + 12K ln³T/(εn)."""
    log_h = math.log(max(2, horizon))
    extra, log_mt = 12.0 * size * log_h**3 / eps, math.log(arms) + log_h
    return lambda n, _: 2.0 * (np.sqrt(4.0 * log_mt / n) + extra / n)


JOINT_FAILING = 11.0
"""Σ_t 4/(t max(1, ln t)²), rounded up: the expected rounds in which some joint radius fails."""


def joint_width(problem: DecisionSet, rounds: int, eps: float, factor: float) -> Width:
    """Return (factor·√q + √K·√q')/K: the joint radius of the best super arm, by `ceiling_factor`,
    and that of the played one, at the level of all super arms together.
    """
    size = problem.size
    log_t = math.log(rounds)
    base = log_t + 2.0 * math.log(max(1.0, log_t)) + size * math.log(problem.arms + 1.0)
    levels = joint_level(rounds, size, eps), raised_level(base, rounds, size, eps)

    def width(n: Floats, _: Floats) -> Floats:
        best, played = (np.sqrt(report_square(n, level, eps)) for level in levels)
        return np.asarray((factor * best + math.sqrt(size) * played) / size)

    return width


def published_report_width(horizon: int, scale: float) -> Width:
    """Return the width of CUCB-LDP as published: 4·scale·√(2 ln T/n)."""
    return lambda n, _: 8.0 * scale * np.sqrt(2.0 * math.log(horizon) / n)


def failing_rounds(arms: int, rounds: int, each: float) -> float:
    """Return Σ_t of m·t·each·t⁻³, at most 1: each of m arms, n <= t rewards, and both sides."""
    return falling_sum(lambda t: np.minimum(1.0, each * arms * t**-2.0), 1, rounds)


def lazy_failing(arms: int, rounds: int, tail: float) -> float:
    """Return the same for batches in use up to 2t rounds: 2t·m(lg t + 1)(2 + 2c)(mt)⁻³."""

    def missed(t: Floats) -> Floats:
        chance = arms * (np.log2(t) + 1.0) * (2.0 + 2.0 * tail) * (arms * t) ** -3.0
        return np.asarray(2.0 * t * np.minimum(1.0, chance))

    return float(missed(np.array([1.0]))[0]) + falling_sum(missed, 2, rounds)


def published_tree_failing(
    arms: int, rounds: int, horizon: int, scale: float, eps: float, size: int
) -> float:
    """Return Σ_t m·t·2((mT)⁻⁸ + P[nodes of this scale >= 12K ln³T/ε])."""
    log_h = math.log(max(2, horizon))
    noise = noise_chance(float(horizon.bit_length()), scale, 12.0 * size * log_h**3 / eps)
    each = 2.0 * ((arms * float(max(2, horizon))) ** -8.0 + noise)
    return float(min(float(rounds), arms * each * rounds * (rounds + 1.0) / 2.0))


def published_report_failing(arms: int, rounds: int, horizon: int, scale: float) -> float:
    """Return T·m·Σ_n 2P[error of n reports >= 4·scale·√(2 ln T/n)], at most T.

    At any exponent the logarithm of Chernoff's bound is convex in √n, so in a cell it is largest at
    an end.
    """
    parts, log_h = whole_cells(1, rounds), math.log(horizon)
    theta = np.linspace(0.01, 0.99, 99) / scale
    cost = theta**2 / 8.0 - np.log1p(-np.square(theta * scale))

    def exponent(n: Floats) -> Floats:
        push = 4.0 * scale * np.sqrt(2.0 * log_h * n)
        return np.asarray(np.multiply.outer(n, cost) - np.multiply.outer(push, theta))

    worst = np.maximum(exponent(parts.first), exponent(parts.last)).min(axis=1)
    chances = 2.0 * np.exp(np.minimum(0.0, worst))
    return min(float(rounds), rounds * arms * float(np.sum(parts.sizes * chances)))


# The least regret of consistent policies on sums of independent 0/1 rewards: a convex program.
#
# With n_i plays of arm i for each ln T, an alternative λ that makes a wrong super arm S best, and
# leaves the arms of the best ones as they are, asks Σ n_i d(μ_i, λ_i) >= 1 (d is kl, or d_ε for
# ε-DP policies: proofs/super_arm_lower.md). The n that cost least are found by cutting planes:
# linear programs over a growing list of alternatives.

TOLERANCE = 1e-3
"""The share of the value that it may be too low by."""

PROGRAMS, HALVES = 200, 50
"""Linear programs, at most; and bisections of a multiplier."""

LARGEST = 10**7
"""Super arms times arms that hang together, at most: larger programs take long."""


class Rivals(NamedTuple):
    """Wrong super arms, a row each.

    Args:
        gaps: shape (sets,).
        arms: the arms that are in no best super arm, filled up with 0; shape (sets, size).
        used: which of these are arms; shape (sets, size).
    """

    gaps: Floats
    arms: Integers
    used: Booleans


@lru_cache(maxsize=64)  # a figure asks for the same one at many horizons
def lower_constant(problem: DecisionSet, means: tuple[float, ...], epsilon: float | None) -> float:
    """Return the least lim inf of regret/ln T of consistent policies, ε-DP ones with `epsilon`.

    NaN if the super arms are too many to list, if their value is no sum, or if `least_cost` is not
    known to `TOLERANCE`.

    Source: Combes, Talebi, Proutiere and Lelarge 2015, Theorem 1; under ε-DP ours
    (proofs/super_arm_lower.md).
    """
    listed = super_arms(problem) if problem.linear and problem.alpha == 1 else None
    if not listed:
        return math.nan
    known = np.array(means)  # a tuple would be checked entry by entry for each super arm
    values = np.array([problem.value(action, known) for action in listed])
    gaps = float(values.max()) - values
    free = {arm for action, gap in zip(listed, gaps, strict=True) if gap <= SAME for arm in action}
    rows = [
        (gap, others)
        for action, gap in zip(listed, gaps.tolist(), strict=True)
        if gap > SAME and (others := [arm for arm in action if arm not in free])
    ]
    if not rows:
        return 0.0
    arms = np.zeros((len(rows), max(len(row) for _, row in rows)), np.int64)
    used = np.zeros(arms.shape, np.bool_)
    for at, (_, row) in enumerate(rows):
        arms[at, : len(row)], used[at, : len(row)] = row, True
    return least_cost(Rivals(np.array([gap for gap, _ in rows]), arms, used), known, epsilon)


def least_cost(rivals: Rivals, means: Floats, epsilon: float | None) -> float:
    """Return Σ x·gap of the best plays x of wrong super arms, from below; see `lower_constant`.

    Each linear program bounds it on both sides. From above: its plays, divided by the least
    evidence that they give on a rival. From below: its dual prices, reduced so far that no super
    arm's plays are worth more than their gap. Neither needs the solver to be exact.

    Returns:
        The bound from below when both differ by at most `TOLERANCE`; NaN if the solver fails,
        `PROGRAMS` programs do not bring them so close, or too many super arms hang together.
    """
    from scipy.optimize import linprog  # slow to import
    from scipy.sparse import coo_array, diags_array, hstack, vstack
    from scipy.sparse.csgraph import connected_components

    possible = np.where(rivals.used, 1.0 - means[rivals.arms], 0.0).sum(axis=1) > rivals.gaps
    if not possible.any():
        return 0.0
    asked = Rivals(*(part[possible] for part in rivals))

    def by_arm(of: Rivals, entries: Floats) -> Any:
        row, place = np.nonzero(of.used)
        places = (row, of.arms[row, place])
        return coo_array((entries[row, place], places), shape=(len(of.gaps), len(means))).tocsr()

    # The variables are the regret of each super arm and the plays of each arm, in units of `scale`:
    # then no coefficient is so small that the solver drops it.
    each = by_arm(rivals, np.broadcast_to(1.0 / rivals.gaps[:, None], rivals.arms.shape))
    number, group = connected_components(each.T @ each, directed=False)
    sets = np.bincount(group[rivals.arms[:, 0]], minlength=number)
    if int((sets * np.bincount(group)).max()) > LARGEST:
        return math.nan
    scale = np.maximum(each.max(axis=0).toarray(), 1.0)
    linked = hstack([each.T, -diags_array(scale)])
    cost = np.append(np.ones(len(rivals.gaps)), np.zeros(len(means)))
    cuts = by_arm(asked, np.zeros(asked.arms.shape))[:0]
    plays, regret, lower = np.zeros(len(means)), math.inf, 0.0
    for _ in range(PROGRAMS):
        tangents = nearest(asked, means, np.maximum(plays, 1e-12), epsilon)
        evidence = (tangents * plays[asked.arms]).sum(axis=1)
        if lower * evidence.min() >= (1.0 - TOLERANCE) * regret:
            return lower
        cuts = vstack([cuts, by_arm(asked, tangents)[evidence < 1.0 - TOLERANCE / 10.0]])
        found = linprog(
            cost,
            A_ub=hstack([coo_array((cuts.shape[0], len(rivals.gaps))), -cuts * scale]),
            b_ub=-np.ones(cuts.shape[0]),
            A_eq=linked,
            b_eq=np.zeros(len(means)),
            method="highs-ipm",  # several times faster on thousands of sets
        )
        if not found.success:
            break
        spent = np.maximum(found.x[: len(rivals.gaps)], 0.0)
        plays, regret = each.T @ spent, float(spent.sum())
        prices = np.maximum(-found.ineqlin.marginals, 0.0)
        worth = each @ (cuts.T @ prices)
        lower = max(lower, float(prices.sum() / worth.max()))
    return math.nan


def nearest(rivals: Rivals, means: Floats, n: Floats, epsilon: float | None) -> Floats:
    """Return d(μ_i, λ_i) of the arms of each rival's nearest alternative, which has the least
    Σ n_i d(μ_i, λ_i) of those that raise its sum by its gap; shape (sets, size).
    """
    start, count = means[rivals.arms], n[rivals.arms]
    low = np.full(len(rivals.gaps), -60.0)
    high = np.full(len(rivals.gaps), 60.0)
    for _ in range(HALVES):
        middle = (low + high) / 2.0
        raised = raised_means(start, np.exp(middle)[:, None] / count, epsilon)
        enough = np.where(rivals.used, raised - start, 0.0).sum(axis=1) >= rivals.gaps
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    raised = raised_means(start, np.exp(high)[:, None] / count, epsilon)
    return np.where(rivals.used, distances(start, raised, epsilon), 0.0)


def turning(start: Floats, epsilon: float) -> Floats:
    """Return the derivative of d_eps(μ, λ) at the λ up to which it is kl."""
    return np.asarray(-math.expm1(-epsilon) * (start * math.exp(min(epsilon, 700.0)) + 1.0 - start))


def raised_means(start: Floats, slope: Floats, epsilon: float | None) -> Floats:
    """Return the means λ >= μ at which the derivative of d(μ, λ) is `slope`, at most 1."""
    half = slope - 1.0
    root = np.sqrt(half * half + 4.0 * slope * start)
    # the root of sλ² + (1 − s)λ − μ = 0, without cancellation
    with np.errstate(divide="ignore", invalid="ignore"):
        raised = np.where(half >= 0.0, (half + root) / (2.0 * slope), 2.0 * start / (root - half))
    if epsilon is not None:
        turned = 1.0 / -math.expm1(-epsilon) - 1.0 / slope
        raised = np.where(slope <= turning(start, epsilon), raised, turned)
    return np.asarray(np.clip(raised, start, 1.0))
