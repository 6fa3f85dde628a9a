"""Which arms of a super arm are in it only because little is known of them. Public values only."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from dpbandits.core.arrays import Booleans
from dpbandits.oracles.base import DecisionSet, SuperArm
from dpbandits.oracles.matroids import Matroid

Answering = Callable[[Sequence[float]], SuperArm]

CARRIED = 0.25
"""What `contested` names carries at least this part of the width in dispute."""


@lru_cache(maxsize=32)
def exchanges_of(matroid: Matroid, basis: SuperArm) -> Booleans:
    """One row an element of the basis; kept, as a basis is played for many rounds."""
    return matroid.exchanges(basis).T


def outbid(
    matroid: Matroid, basis: SuperArm, upper: Sequence[float], lower: Sequence[float]
) -> SuperArm:
    """The elements of the best basis that would leave it if their lower bound stood in place of
    their upper one: an element that can replace them comes before them then. lower: of the basis's
    elements.
    """
    weights, low = np.asarray(upper), np.asarray(lower)[:, None]
    arms, own = np.arange(len(weights)), np.array(basis)[:, None]
    # in the greedy's order at that weight; ties: the lower number
    before = (weights > low) | ((weights == low) & (arms < own))
    leaves = (exchanges_of(matroid, basis) & before & (arms != own)).any(axis=1)
    return tuple(arm for arm, gone in zip(basis, leaves.tolist(), strict=True) if gone)


def leaving(
    best: Answering, action: SuperArm, upper: Sequence[float], lower: Sequence[float]
) -> SuperArm:
    """The arms of the best super arm that would leave it if their lower bound, and no other arm's,
    stood in place of their upper one. lower: of the super arm's.
    """
    found = []
    for arm, low in zip(action, lower, strict=True):
        weights = list(upper)
        weights[arm] = low
        if arm not in best(weights):
            found.append(arm)
    return tuple(found)


def contested(
    best: Answering, action: SuperArm, upper: Sequence[float], lower: Sequence[float]
) -> SuperArm:
    """What has to be known better before the best super arm may be held unread: nothing, if it is
    the oracle's answer still with the lower bounds of all its arms at once.

    Else a rival is the answer then, and the arms that the rival does without are in dispute. Named
    are the arms that leave when lowered alone and, until a quarter of the width in dispute is
    carried, the widest of those in dispute. Lowered alone is not enough: each arm may stay where
    all together would not, and a wrong super arm would never be read again. lower: of the super
    arm's.
    """
    weights = list(upper)
    for arm, low in zip(action, lower, strict=True):
        weights[arm] = low
    rival = best(weights)
    if rival == action:
        return ()
    widths = {arm: upper[arm] - low for arm, low in zip(action, lower, strict=True)}
    open_ = [arm for arm in action if arm not in rival] or list(action)  # a rival may have all
    needed = CARRIED * math.fsum(widths[arm] for arm in open_)
    found = set(leaving(best, action, upper, lower))
    for arm in sorted(open_, key=lambda arm: (-widths[arm], arm)):
        if math.fsum(widths[one] for one in found) >= needed:
            break
        found.add(arm)
    return tuple(sorted(found))


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
