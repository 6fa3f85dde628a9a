"""The super arm with the largest Σ means + √Σ squares: the joint radius of independent reports, and
an oracle that only knows sums. Public values only.

Up to `MOST` candidates all super arms are tried. On a larger matroid a basis is improved by single
exchanges; other oracles are asked about sums that lie above (`certified_answer`). What each way is
worth: proofs/cucb_ldp2_joint.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpbandits.core.arrays import Floats, Integers
from dpbandits.oracles.base import DecisionSet, SuperArm
from dpbandits.oracles.matroids import Matroid
from dpbandits.oracles.sets import ExplicitSet
from dpbandits.policies.bounds.super_arm_gaps import possible_sets, super_arms

Solver = Callable[[Floats], SuperArm]

MOST = 2_000
"""Sets of arms that are tried one by one."""

SLACK = 1e-9
"""An exchange has to gain more than this, so that there are finitely many."""

STEPS = 8
"""Questions to the oracle, each halving the ratio between the ends of where the best root lies."""


class Everything(NamedTuple):
    """Super arms one after the other: super arm i is arms[starts[i]:], up to the next start."""

    actions: tuple[SuperArm, ...]
    arms: Integers
    starts: Integers


@lru_cache(maxsize=64)
def every_set(problem: DecisionSet) -> Everything | None:
    """All super arms of a list, or of a problem with few candidates; None for others."""
    if not isinstance(problem, ExplicitSet) and possible_sets(problem) > MOST:
        return None
    found = super_arms(problem)
    if not found:
        return None
    starts = np.cumsum([0, *map(len, found[:-1])])
    return Everything(tuple(found), np.concatenate([np.array(row) for row in found]), starts)


def check_exact_sums(problem: DecisionSet) -> None:
    """Refuse what is solved approximately, or is worth something else than the sum of its arms."""
    if not problem.linear or problem.alpha != 1 or problem.beta < 1:
        raise ValueError(
            'Expected radius="sum" for a problem whose value is no sum of means, or whose oracle '
            f'is not exact; got radius="joint" for {problem!r}.'
        )


def ceiling_factor(problem: DecisionSet) -> float:
    """Where the radius of the best super arm is √Σq, this times the largest √q in the played one
    makes up for it: √K if all are tried, 2√K by exchanges, else at least K.
    """
    root = math.sqrt(problem.size)
    if every_set(problem) is not None:
        return root
    return 2.0 * root if isinstance(problem, Matroid) else max(2.0 * root, float(problem.size))


def rooted(problem: DecisionSet, action: SuperArm, means: Floats, squares: Floats) -> float:
    """Σ means + √Σ squares of a super arm; less one an arm where arms cost."""
    arms = list(action)
    total = float(means[arms].sum()) - problem.costs * len(arms)
    return total + math.sqrt(float(squares[arms].sum()))


def largest_rooted(problem: DecisionSet, best: Solver, means: Floats, squares: Floats) -> SuperArm:
    """The super arm to play. best: the problem's oracle. means, squares: shape (arms,), squares at
    least 0.
    """
    found = every_set(problem)
    if found is not None:
        totals = np.add.reduceat(means[found.arms] - problem.costs, found.starts)
        roots = np.sqrt(np.add.reduceat(squares[found.arms], found.starts))
        return found.actions[int(np.argmax(totals + roots))]
    if isinstance(problem, Matroid):
        return exchanged(problem, best(means + np.sqrt(squares)), means, squares)
    return certified_answer(problem, best, means, squares)


def exchanged(matroid: Matroid, basis: SuperArm, means: Floats, squares: Floats) -> SuperArm:
    """A basis that no single exchange improves: Σ means + 2√Σ squares is then at least the largest
    Σ means + √Σ squares.
    """
    while True:
        arms = list(basis)
        total, square = means[arms].sum(), squares[arms].sum()
        able = matroid.exchanges(basis)
        able[arms] = False
        # a sum of squares that loses its only term may come out below 0
        left = np.maximum(0.0, square + squares[:, None] - squares[arms])
        values = np.where(able, total + means[:, None] - means[arms] + np.sqrt(left), -math.inf)
        e, j = np.unravel_index(int(np.argmax(values)), values.shape)
        if not values[e, j] > total + math.sqrt(square) + SLACK:
            return basis
        basis = tuple(sorted({*basis, int(e)} - {basis[j]}))


def certified_answer(
    problem: DecisionSet, best: Solver, means: Floats, squares: Floats
) -> SuperArm:
    """Of the oracle's answers the best one with Σ means + 2√Σ squares no less than what any super
    arm's Σ means + √Σ squares can be, if there is one; else the answer to the sum of the roots.

    For every s > 0, √x <= x/(2s) + s/2, so an answer to means + squares/(2s) bounds them all.
    """
    radii = np.sqrt(squares)
    plain = best(means + radii)
    answers, ceiling = [plain], total_of(problem, plain, means + radii)
    low = math.sqrt(float(squares.min()))
    high = math.sqrt(float(np.sort(squares)[-problem.size :].sum()))
    for _ in range(STEPS):
        root = math.sqrt(max(low, high * 1e-6) * high)
        if root == 0.0:
            break
        slope = means + squares / (2.0 * root)
        answer = best(slope)
        answers.append(answer)
        ceiling = min(ceiling, total_of(problem, answer, slope) + root / 2.0)
        if squares[list(answer)].sum() > root * root:
            low = root
        else:
            high = root
    return first_best(problem, answers, means, squares, ceiling) or plain


def total_of(problem: DecisionSet, action: SuperArm, weights: Floats) -> float:
    return float(weights[list(action)].sum()) - problem.costs * len(action)


def first_best(
    problem: DecisionSet,
    answers: Iterable[SuperArm],
    means: Floats,
    squares: Floats,
    ceiling: float,
) -> SuperArm | None:
    """The answer with the largest Σ means + √Σ squares of those with Σ means + 2√Σ squares >=
    ceiling.
    """
    found, most = None, -math.inf
    for answer in answers:
        value = rooted(problem, answer, means, squares)
        if rooted(problem, answer, means, 4.0 * squares) >= ceiling and value > most:
            found, most = answer, value
    return found
