"""Super arms written down one by one: an explicit matroid, whose axioms are verified, and any
explicit list.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.inputs import MOST_ARMS, shown, switch
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.inputs import SuperArm, arms_of, bounded_whole, largest_first
from dpbandits.oracles.matroids.matroid import Matroid, greedy

FeasibleSets = set[frozenset[int]]


@final
class ExplicitMatroid(Matroid):
    """A matroid by all its bases, or by all its independent sets, the empty one included; the
    axioms are verified here.

    arms: how many arms there are.
    bases, independent_sets: give one of the two. The check compares pairs of sets: up to a few
        thousand are fine.

    Raises:
        ValueError: not a matroid; the message names the violated axiom and the sets that show it.

    >>> ExplicitMatroid(arms=4, bases=[(0, 1), (0, 2)]).loops
    (3,)
    """

    def __init__(
        self,
        *,
        arms: int,
        bases: Iterable[Iterable[int]] | None = None,
        independent_sets: Iterable[Iterable[int]] | None = None,
    ) -> None:
        count = bounded_whole(arms, "arms", 1, MOST_ARMS)
        if bases is not None and independent_sets is None:
            tops = frozensets(bases, "bases", count)
            check_exchange(tops)
        elif independent_sets is not None and bases is None:
            tops = maximal(frozensets(independent_sets, "independent_sets", count))
        else:
            raise ValueError("Expected either bases or independent_sets, not both.")
        self.bases = sorted(tuple(sorted(basis)) for basis in tops)
        self._bases = tops
        self._set_rank(count, len(self.bases[0]))

    def parameters(self) -> dict[str, Any]:
        return {"arms": self.arms, "bases": [list(basis) for basis in self.bases]}

    def _independent(self, arms: SuperArm) -> bool:
        wanted = frozenset(arms)
        return any(wanted <= basis for basis in self._bases)

    def _best(self, weights: Floats) -> SuperArm:
        left = self._bases  # the bases that hold all arms taken

        def fits(chosen: SuperArm) -> bool:
            nonlocal left
            wanted = set(chosen)
            fitting = {basis for basis in left if wanted <= basis}
            left = fitting or left
            return bool(fitting)

        return greedy(largest_first(weights).tolist(), fits, self.rank)


@final
class ExplicitSet(DecisionSet):
    """A list of super arms, none empty.

    super_arms: the arms of each. Their order does not matter.
    arms: how many arms there are; one more than the largest named if not given. Arms in no super
        arm are loops.
    costs: rewards are 1 - cost.

    >>> ExplicitSet([(0, 1), (2,)]).best([0.5, 0.1, 0.55])
    (0, 1)
    """

    def __init__(
        self, super_arms: Iterable[Iterable[int]], *, arms: int | None = None, costs: bool = False
    ) -> None:
        given = frozensets(
            super_arms,
            "super_arms",
            None if arms is None else bounded_whole(arms, "arms", 1, MOST_ARMS),
        )
        if not given or frozenset() in given:
            raise ValueError(
                "Expected at least one super arm, each of at least one arm; got "
                f"{'an empty one' if given else 'none'}."
            )
        self.super_arms = sorted(tuple(sorted(arms)) for arms in given)
        self.arms = max(row[-1] for row in self.super_arms) + 1 if arms is None else int(arms)
        self.size, self.costs = max(map(len, self.super_arms)), switch(costs, "costs")
        self._flat = np.concatenate([np.array(row) for row in self.super_arms])
        self._starts = np.cumsum([0, *map(len, self.super_arms[:-1])])
        self._known = set(self.super_arms)

    def parameters(self) -> dict[str, Any]:
        return {
            "super_arms": [list(row) for row in self.super_arms],
            "arms": self.arms,
            "costs": self.costs,
        }

    def _best(self, weights: Floats) -> SuperArm:
        values = np.add.reduceat(weights[self._flat] - self.costs, self._starts)
        return self.super_arms[int(np.argmax(values))]

    def _contains(self, action: SuperArm) -> bool:
        return action in self._known

    def _containing(self, arm: int) -> SuperArm | None:
        return next((row for row in self.super_arms if arm in row), None)


def frozensets(rows: Iterable[Iterable[int]], what: str, arms: int | None) -> FeasibleSets:
    """Sets of known arms, each without repetition."""
    found: FeasibleSets = set()
    for i, row in enumerate(arms_of(rows, what, MOST_ARMS if arms is None else arms)):
        if len(set(row)) < len(row):
            raise ValueError(f"Expected {what}[{i}]={shown(row)} not to repeat an arm.")
        found.add(frozenset(row))
    return found


def check_exchange(bases: FeasibleSets) -> None:
    """There is a basis, and for bases A, B and x in A but not B some y in B but not A makes A - x +
    y a basis.
    """
    if not bases:
        raise ValueError("Not a matroid: there is no basis. Give at least one.")
    ordered = sorted(bases, key=sorted)
    for a in ordered:
        reachable = {
            x: {y for y in frozenset().union(*bases) - a if a - {x} | {y} in bases} for x in a
        }
        for b in ordered:
            for x in a - b:
                if reachable[x].isdisjoint(b):
                    raise ValueError(
                        f"Not a matroid, basis exchange fails: {sorted(a)} and {sorted(b)} are "
                        "bases, "
                        f"but no arm of the second can replace arm {x} of the first."
                    )


def maximal(independent: FeasibleSets) -> FeasibleSets:
    """The bases, after a check of the three axioms of independence."""
    if frozenset() not in independent:
        raise ValueError(
            "Not a matroid: the empty set must be independent. Add () to independent_sets."
        )
    for large in sorted(independent, key=sorted):
        for x in sorted(large):
            if large - {x} not in independent:
                raise ValueError(
                    f"Not a matroid, heredity fails: {sorted(large)} is independent, but its "
                    f"subset {sorted(large - {x})} is not."
                )
    growths = {
        small: {x for x in frozenset().union(*independent) - small if small | {x} in independent}
        for small in independent
    }
    for small, large in combinations(sorted(independent, key=lambda s: (len(s), sorted(s))), 2):
        if len(small) < len(large) and growths[small].isdisjoint(large):
            raise ValueError(
                f"Not a matroid, augmentation fails: {sorted(small)} and {sorted(large)} are "
                "independent, "
                "but no arm of the second can be added to the first."
            )
    rank = max(map(len, independent))
    return {s for s in independent if len(s) == rank}
