"""Covers: sets that together have every element of a universe, at the least cost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, final

import numpy as np

from dpbandits.core.arrays import Booleans, Floats
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.inputs import Label, SuperArm, checked_label, listed
from dpbandits.oracles.sets.cover_bounds import cheapest_cover, largest_cover

EXACT = 200  # sets up to which `optimum` is found by integer programming


@final
class SetCover(DecisionSet):
    """Sets that cover a universe, none of which can be left out; an arm is a set, and rewards are 1
    - its cost, costs in [0, 1]. The best cover is the cheapest.

    sets: the elements of each set, whole numbers or strings; repeated ones count once.
    universe: all elements, if sets shall be checked against them; else those of the sets.

    A cover of which a set can be left out is no super arm: it costs more for nothing, and would
    make `size`, with which noise grows, the number of sets.

    The oracle is the greedy: the set of the least cost for an element not yet covered, on a tie the
    one with more of those, then the lower number; of the sets that were made superfluous the
    dearest is left out first, the higher number on a tie. Its cost is at most H_d = 1 + 1/2 + ... +
    1/d times the least, d the number of elements of the largest set. The value is minus a cost, so
    alpha = H_d is 1 or more: the answer is worth at least alpha times the optimum, as everywhere.
    An index above 1 counts as cost 0: no cost is negative.

    size: a bound (see `largest_cover`); of stations on the Sioux Falls roads 13 for 11, on an
        internet provider's routers 47 for 42. `optimum` is exact up to 200 sets, by integer
        programming (to a part in 10¹² of the dearest set), else the value of the oracle's answer.

    Source: Chvátal 1979, the greedy and its ratio.

    Raises:
        ValueError: no sets, an element that is in no set, or a set's element that is not in the
            universe.

    >>> stops = SetCover([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "b", "c", "d")])
    >>> stops.best([0.5, 0.9, 0.6, 0.8, 0.4]), stops.alpha
    ((1, 3), 2.0833333333333335)
    """

    costs = True

    def __init__(
        self, sets: Iterable[Iterable[Label]], *, universe: Iterable[Label] | None = None
    ) -> None:
        given = [
            [checked_label(e, "element") for e in listed(row, f"sets[{arm}]", "elements")]
            for arm, row in enumerate(listed(sets, "sets", "lists of elements"))
        ]
        index = self._numbered(given, universe)
        self._labels = list(index)
        self._members = [sorted({index[e] for e in row}) for row in given]
        self._holders = [
            np.array([arm for arm, row in enumerate(self._members) if e in row])
            for e in range(len(index))
        ]
        lost = next((label for label, e in index.items() if not len(self._holders[e])), None)
        if lost is not None:
            raise ValueError(
                f"Expected sets that cover the universe; {lost!r} is in none. Add a set with it."
            )
        self.arms = len(given)
        self.size = largest_cover(self._members, self._holders)
        self.alpha = math.fsum(1 / k for k in range(1, max(map(len, self._members)) + 1))

    def _numbered(
        self, given: list[list[Label]], universe: Iterable[Label] | None
    ) -> dict[Label, int]:
        """Every element's number: its place in the universe, or in the order they come."""
        found = dict.fromkeys(element for row in given for element in row)
        if not found:
            raise ValueError(f"Expected at least one set with an element, got {given!r}.")
        self.universe = (
            None
            if universe is None
            else [checked_label(e, "element") for e in listed(universe, "universe", "elements")]
        )
        index = {e: i for i, e in enumerate(found if self.universe is None else self.universe)}
        if self.universe is not None and len(index) < len(self.universe):
            twice = next(e for i, e in enumerate(self.universe) if index[e] != i)
            raise ValueError(f"Expected different elements in universe; {twice!r} comes twice.")
        for element in found:
            if element not in index:
                raise ValueError(
                    f"Expected sets of elements of the universe; {element!r} is not in it."
                )
        return index

    def parameters(self) -> dict[str, Any]:
        sets = [[self._labels[e] for e in row] for row in self._members]
        return {"sets": sets, "universe": self.universe}

    @cached_property
    def _table(self) -> Booleans:
        """Which set has which element, shape (arms, elements)."""
        table = np.zeros((self.arms, len(self._labels)), bool)
        for arm, row in enumerate(self._members):
            table[arm, row] = True
        return table

    def _best(self, weights: Floats) -> SuperArm:
        costs = np.maximum(1 - weights, 0)
        fresh = np.array([len(row) for row in self._members], np.float64)
        left, chosen = np.ones(len(self._labels), bool), list[int]()
        while left.any():
            rates = np.divide(costs, fresh, out=np.full(self.arms, np.inf), where=fresh > 0)
            ties = np.flatnonzero((rates == rates.min()) & (fresh > 0))
            chosen.append(int(ties[np.argmax(fresh[ties])]))
            for e in np.flatnonzero(left & self._table[chosen[-1]]):
                fresh[self._holders[e]] -= 1
            left &= ~self._table[chosen[-1]]
        return self._pruned(chosen, costs)

    def _pruned(self, chosen: Iterable[int], costs: Floats) -> SuperArm:
        """The cover without sets that the others make superfluous, the dearest out first."""
        kept = sorted(chosen, key=lambda arm: (-costs[arm], -arm))
        times = self._table[kept].sum(axis=0)
        for arm in tuple(kept):
            if np.all(times[self._members[arm]] > 1):
                times[self._members[arm]] -= 1
                kept.remove(arm)
        return tuple(sorted(kept))

    def _contains(self, action: SuperArm) -> bool:
        times = self._table[list(action)].sum(axis=0)
        return bool(np.all(times > 0)) and all(
            np.any(times[self._members[arm]] == 1) for arm in action
        )

    def _containing(self, arm: int) -> SuperArm | None:
        """An arm is in a cover where it is the only set with one of its elements, and sets without
        that element have the rest.
        """
        for e in self._members[arm]:
            chosen = [arm, *np.flatnonzero(~self._table[:, e]).tolist()]
            if self._table[chosen].any(axis=0).all():
                return self._pruned(chosen, np.arange(float(self.arms)))
        return None

    def _optimum(self, means: Floats) -> float:
        found = [self._best(means)]
        if self.arms <= EXACT:
            found.append(cheapest_cover(self._table, np.maximum(1 - means, 0)))
        return max(self._value(action, means) for action in found)
