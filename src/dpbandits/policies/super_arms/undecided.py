"""Which arms of a super arm are in it only because little is known of them. Public values only."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from dpbandits.core.arrays import Booleans
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.inputs import SuperArm
from dpbandits.oracles.matroids.matroid import Matroid

Answering = Callable[[Sequence[float]], SuperArm]


def rival_above(replacing: Booleans, upper: Sequence[float], arm: int, low: float) -> bool:
    """Whether one of the elements that can replace `arm` comes before it at weight `low` in the
    greedy's order (ties: the lower number).
    """
    return any(
        upper[e] > low or (upper[e] == low and e < arm)
        for e in np.flatnonzero(replacing).tolist()
        if e != arm
    )


@lru_cache(maxsize=32)
def exchanges_of(matroid: Matroid, basis: SuperArm) -> Booleans:
    """One row an element of the basis; kept, as a basis is played for many rounds."""
    return matroid.exchanges(basis).T


def outbid(
    matroid: Matroid, basis: SuperArm, upper: Sequence[float], lower: Sequence[float]
) -> SuperArm:
    """The elements of the best basis that would leave it if their lower bound stood in place of
    their upper one. lower: of the basis's elements.
    """
    return tuple(
        arm
        for arm, low, replacing in zip(basis, lower, exchanges_of(matroid, basis), strict=True)
        if rival_above(replacing, upper, arm, low)
    )


def disputed(
    problem: DecisionSet,
    best: Answering,
    action: SuperArm,
    upper: Sequence[float],
    lower: Sequence[float],
    rounds: Sequence[int],
) -> SuperArm:
    """The arms without which the best super arm would not stand: the others may all have their
    lower bounds at once, and it is the oracle's answer still.

    Best known arms are lowered first. On a matroid one arm's bound is nothing to another's place,
    so these are the arms that leave when lowered alone. upper, lower, rounds: of all arms.
    """
    if isinstance(problem, Matroid):
        return outbid(problem, action, upper, [lower[arm] for arm in action])
    weights = list(upper)
    for arm in action:
        weights[arm] = lower[arm]
    if best(weights) == action:
        return ()
    weights, left = list(upper), []
    for arm in sorted(action, key=lambda arm: (-rounds[arm], arm)):
        weights[arm] = lower[arm]
        if best(weights) != action:
            weights[arm] = upper[arm]
            left.append(arm)
    return tuple(sorted(left))
