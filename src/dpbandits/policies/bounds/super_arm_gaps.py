"""Gaps over super arms: of each arm the smallest gap of a super arm that contains it, Δⁱ_min, and
the largest gap of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from dpbandits.oracles.base import DecisionSet, SuperArm
from dpbandits.oracles.coverage import VertexChoice
from dpbandits.oracles.matroids import Matroid
from dpbandits.oracles.sets import ExplicitSet

MOST = 20_000  # super arms or subsets that are tried one by one
SAME = 1e-9  # values that differ by less are equal


class SuperArmGaps(NamedTuple):
    """Gaps to alpha times the best value.

    least: of each arm the smallest positive gap of a super arm with it; infinite if there is none.
    largest: 0 if every super arm is best.
    """

    least: tuple[float, ...]
    largest: float


def super_arm_gaps(problem: DecisionSet, means: Sequence[float]) -> SuperArmGaps | None:
    """The gaps of this instance; None where super arms are too many to list.

    On a matroid the least gap is that of single exchanges, which no basis undercuts.
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
    """A basis loses the sum of the gaps of its exchanges, none negative, so at least the smallest
    positive one of its elements outside the best basis.
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
    """Every super arm; None if there may be too many."""
    if isinstance(problem, ExplicitSet):
        return list(problem.super_arms)
    if possible_sets(problem) > MOST:
        return None
    if isinstance(problem, VertexChoice):
        nodes = list(dict.fromkeys(node for node, _ in problem.edges))
        return [problem.action(chosen) for chosen in combinations(nodes, problem.k)]
    sizes = range(1, problem.size + 1)
    tried: Iterable[SuperArm] = chain.from_iterable(
        combinations(range(problem.arms), size) for size in sizes
    )
    return [action for action in tried if problem.contains(action)]


def possible_sets(problem: DecisionSet) -> int:
    """How many sets of arms would have to be tried to list every super arm; counted up to more than
    `MOST`.
    """
    if isinstance(problem, VertexChoice):
        return math.comb(len({node for node, _ in problem.edges}), problem.k)
    count = 0
    for size in range(1, problem.size + 1):
        count += math.comb(problem.arms, size)
        if count > MOST:
            break
    return count
