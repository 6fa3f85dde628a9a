"""Public weights of arms: the share of a record's budget that each arm of a super arm is charged.

With equal shares each of the K rewards of a record has ε/K. Where a few arms are in nearly every
super arm, these may have less and the many others more: any weights do whose sum over each super
arm is at most 1. The part of regret that privacy adds grows with Σ 1/weight over the arms, so
`arm_weights` makes that sum small (proofs/weights.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpbandits.core.inputs import Floats, shown
from dpbandits.core.privacy import as_fraction, printed
from dpbandits.oracles.base import DecisionSet, SuperArm, shortened
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.super_arm_bounds import super_arms

COARSEST = 256
"""The most noise of an arm, as a multiple of the unit that all arms' noise is counted in."""

FINEST = 16
"""The least noise of an arm among weights from `arm_weights`, in the same unit."""

STEPS, CLOSE = 4_000, 1.002
"""Steps of `arm_weights`, and the ratio to the least sum at which it ends."""


class Shares(NamedTuple):
    """Weights as fractions of one number: arm i has unit/kinds[i]."""

    unit: Fraction
    kinds: tuple[int, ...]


def shares_of(weights: tuple[Fraction, ...]) -> Shares:
    """Return weights as fractions of their least common multiple.

    Raises:
        ValueError: an arm's weight is less than 1/256 of it.
    """
    common = math.lcm(*(weight.denominator for weight in weights))
    counts = [int(weight * common) for weight in weights]
    unit = math.lcm(*counts)
    kinds = tuple(unit // count for count in counts)
    if max(kinds) > COARSEST:
        raise ValueError(
            f"Expected weights that are one number divided by whole numbers up to {COARSEST}, such "
            f"as 1/2 and 1/14; here one would be divided by {max(kinds):,}. Round the weights, or "
            "take those of dpbandits.arm_weights."
        )
    return Shares(Fraction(unit, common), kinds)


def checked_arm_weights(problem: DecisionSet, weights: Iterable[object]) -> tuple[Fraction, ...]:
    """Return weights as exact fractions, after the check that no super arm's exceed 1 together.

    Raises:
        ValueError: not a number above 0 for each arm; the super arms cannot be searched exactly; or
            one's weights exceed 1.
    """
    if isinstance(weights, str) or not isinstance(weights, Iterable):
        raise ValueError(
            f'Expected weights={shown(weights)} to be a number for each arm, or "balanced".'
        )
    exact = tuple(as_fraction(weight, "a weight") for weight in weights)  # type: ignore[arg-type]
    if len(exact) != problem.arms:
        raise ValueError(f"Expected {problem.arms} weights, one an arm, got {len(exact)}.")
    action = heaviest(problem, exact)
    total = sum((exact[arm] for arm in action), Fraction(0))
    if total > 1:
        raise ValueError(
            "Expected weights whose sum over each super arm is at most 1, got "
            f"{printed(total)} over {shortened(action)}. Divide all of them by it."
        )
    return exact


def heaviest(problem: DecisionSet, weights: tuple[Fraction, ...]) -> SuperArm:
    """Return a super arm with the largest sum of weights, exactly.

    Raises:
        ValueError: the super arms are too many to list, and the oracle is not exact for sums.
    """
    if isinstance(problem, Matroid):  # the greedy algorithm uses the order of the weights alone
        ranks = {weight: rank for rank, weight in enumerate(sorted(set(weights)), 1)}
        return problem.best([float(ranks[weight]) for weight in weights])
    common = math.lcm(*(weight.denominator for weight in weights))
    counts = [int(weight * common) for weight in weights]
    listed = super_arms(problem)
    if listed:
        return max(listed, key=lambda action: sum(counts[arm] for arm in action))
    if problem.alpha != 1 or problem.beta != 1 or not problem.linear or problem.costs:
        raise ValueError(
            "Expected a decision set whose heaviest super arm can be found exactly: a matroid, at "
            "most 20,000 super arms, or an exact oracle for sums of rewards; got "
            f"{type(problem).__name__}. Leave weights out: every arm then has the same share."
        )
    if sum(counts) >= 2**53:
        raise ValueError(
            "Expected weights with a common denominator that is small enough for exact sums, got "
            f"{common:.1e}. Round them to fractions such as 1/100."
        )
    return problem.best([float(count) for count in counts])


def arm_weights(problem: DecisionSet) -> tuple[Fraction, ...]:
    """Return weights of arms, for `weights=`, that make Σ 1/weight nearly as small as possible.

    With them the part of regret that privacy adds is in proportion to that sum, which is m·K for
    equal weights 1/K. The result is within 1 part in 8 of the least sum.

    Args:
        problem: a list of super arms, a matroid, or another set of at most 20,000 super arms.

    Returns:
        A weight for each arm. The sum over every super arm is at most 1, and 1 for some.

    Raises:
        ValueError: the super arms can be searched in none of these ways.

    Source: ours (proofs/weights.md).

    >>> from dpbandits import ExplicitSet, UniformMatroid
    >>> [str(weight) for weight in arm_weights(UniformMatroid(arms=4, rank=2))]
    ['1/2', '1/2', '1/2', '1/2']
    >>> sets = ExplicitSet([(0, own) for own in range(1, 26)])
    >>> [str(weight) for weight in arm_weights(sets)[:3]]
    ['1/6', '5/6', '5/6']
    """
    search = searched(problem)
    loops = [arm for arm in range(problem.arms) if arm in set(problem.loops)]
    rows, q, steps = problem.cover(), np.zeros(problem.arms), 0
    for row in rows:  # a mixture in which every arm has a part, except loops
        q[list(row)] += 1.0 / len(rows)
    while True:
        # maximise Σ √q over mixtures q of super arms: the best weights are in proportion to 1/√q
        root = np.sqrt(q)
        slope = np.where(root > 0.0, 1.0 / np.maximum(root, 1e-300), 0.0)
        action = list(search(slope))
        steps += 1
        if slope[action].sum() <= CLOSE * root.sum() or steps == STEPS:
            break
        towards = np.zeros(problem.arms)
        towards[action] = 1.0
        q = improved(q, towards)
    raw = np.where(slope > 0.0, slope, slope.max())
    kinds = [
        min(COARSEST, math.ceil(FINEST * raw.max() / each * (1.0 - 1e-9))) for each in raw.tolist()
    ]
    for arm in loops:
        kinds[arm] = FINEST
    parts = tuple(Fraction(1, kind) for kind in kinds)
    unit = 1 / sum((parts[arm] for arm in heaviest(problem, parts)), Fraction(0))
    return tuple(unit * part for part in parts)


def searched(problem: DecisionSet) -> Callable[[Floats], SuperArm]:
    """Return a function of weights to a super arm with the largest sum of them."""
    if isinstance(problem, Matroid):
        return problem.best
    listed = super_arms(problem)
    if not listed:
        raise ValueError(
            "Expected a matroid, or a decision set of at most 20,000 super arms, got "
            f"{type(problem).__name__}."
        )
    flat = np.concatenate([np.array(row) for row in listed])
    starts = np.cumsum([0, *map(len, listed[:-1])])
    return lambda weights: listed[int(np.argmax(np.add.reduceat(weights[flat], starts)))]


HALVINGS = 40


def improved(q: Floats, towards: Floats) -> Floats:
    """Return the mixture on the way from `q` to a super arm where Σ √q is largest."""
    low, high = 0.0, 1.0
    used = (q > 0.0) | (towards > 0.0)
    for _ in range(HALVINGS):
        step = (low + high) / 2.0
        now = (1.0 - step) * q[used] + step * towards[used]
        rises = float(np.sum((towards[used] - q[used]) / np.sqrt(np.maximum(now, 1e-300)))) > 0.0
        low, high = (step, high) if rises else (low, step)
    return np.asarray((1.0 - low) * q + low * towards)
