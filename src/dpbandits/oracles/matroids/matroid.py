"""Matroids: sets of arms that are independent of each other. The super arms are the bases, found
greedily.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import SupportsIndex, final

import numpy as np

from dpbandits.core.arrays import Booleans, Floats
from dpbandits.oracles.base import Covering, DecisionSet, covering
from dpbandits.oracles.inputs import SuperArm, bounded_whole, largest_first, listed, sorted_arms


class Matroid(DecisionSet):
    """The bases of a matroid. A subclass needs `_independent` and `parameters`, and calls
    `_set_rank` when it is built.

    All bases have `size == rank` arms. The greedy algorithm (heaviest arm first, lower number first
    on a tie, skipping what depends on the arms taken) finds a heaviest basis for weights of either
    sign (Edmonds 1971).

    Source: Oxley, Matroid Theory, chapters 1 and 2.
    """

    rank: int

    @final
    def independent(self, subset: Iterable[SupportsIndex]) -> bool:
        """Whether these arms are independent; a repeated arm is not.

        Raises:
            ValueError: an unknown arm.
        """
        arms = [
            bounded_whole(arm, "arm", 0, self.arms - 1) for arm in listed(subset, "subset", "arms")
        ]
        return (
            len(arms) <= self.rank
            and len(set(arms)) == len(arms)
            and self._independent(tuple(sorted(arms)))
        )

    @final
    def fundamental_circuit(self, basis: Iterable[SupportsIndex], e: SupportsIndex) -> SuperArm:
        """Every f in the basis for which basis - f + e is a basis: (e,) where e is in it already,
        () for a loop.

        Raises:
            ValueError: not a basis, or an unknown arm.
        """
        checked = self.checked(basis)
        arm = bounded_whole(e, "arm", 0, self.arms - 1)
        return (arm,) if arm in checked else self._circuit(checked, arm)

    @final
    def exchanges(self, basis: Iterable[SupportsIndex]) -> Booleans:
        """All fundamental circuits, shape (arms, rank): entry [e, j] says whether basis - basis[j]
        + e is a basis.

        Columns follow the sorted basis.
        """
        return self._exchanges(self.checked(basis))

    @final
    def circuits(
        self, basis: Iterable[SupportsIndex], arms: Iterable[SupportsIndex]
    ) -> list[SuperArm]:
        """`fundamental_circuit` of each of these arms.

        Raises:
            ValueError: not a basis, or an unknown arm.
        """
        asked = [bounded_whole(e, "arm", 0, self.arms - 1) for e in listed(arms, "arms", "arms")]
        checked = self.checked(basis) if asked else ()
        inside = set(checked)
        others = iter(self._circuits(checked, [e for e in asked if e not in inside]))
        return [(e,) if e in inside else next(others) for e in asked]

    def _set_rank(self, arms: int, rank: int) -> None:
        """Number of arms and rank, once they are known.

        Raises:
            ValueError: rank 0, where the only basis is empty and nothing can be played.
        """
        if rank < 1:
            raise ValueError(
                f"Expected a {type(self).__name__} of rank >= 1, got rank 0: {arms} arms, all "
                "loops. Give an independent arm."
            )
        self.arms, self.rank, self.size = arms, rank, rank

    @abstractmethod
    def _independent(self, arms: SuperArm) -> bool:
        """Whether these sorted, distinct arms, at most `rank` of them, are independent."""

    def _best(self, weights: Floats) -> SuperArm:
        return greedy(largest_first(weights).tolist(), self._independent, self.rank)

    def _contains(self, action: SuperArm) -> bool:
        return len(action) == self.rank and self._independent(action)

    def _loops(self) -> SuperArm:
        return tuple(arm for arm in range(self.arms) if not self._independent((arm,)))

    def _cover(self) -> Covering:
        return covering(self, self.loops)

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        swapped = ((f, (*(x for x in basis if x != f), e)) for f in basis)
        return tuple(f for f, arms in swapped if self._independent(tuple(sorted(arms))))

    def _circuits(self, basis: SuperArm, arms: list[int]) -> list[SuperArm]:
        """The circuits of arms outside the basis."""
        return [self._circuit(basis, e) for e in arms]

    def _exchanges(self, basis: SuperArm) -> Booleans:
        table = np.zeros((self.arms, self.rank), dtype=bool)
        for arm in range(self.arms):
            table[arm] = np.isin(basis, (arm,) if arm in basis else self._circuit(basis, arm))
        return table


def greedy(order: Iterable[int], independent: Callable[[SuperArm], bool], rank: int) -> SuperArm:
    """The first basis in this order of arms."""
    chosen: SuperArm = ()
    for arm in order:
        longer = sorted_arms((*chosen, arm))
        if independent(longer):
            chosen = longer
            if len(chosen) == rank:
                break
    return chosen


def exchange_rows(basis: SuperArm, table: Booleans) -> Booleans:
    """Puts the basis arms' own rows into a table of circuits: each can replace only itself."""
    table[list(basis)] = np.eye(len(basis), dtype=bool)
    return table
