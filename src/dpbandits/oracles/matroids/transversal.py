"""Arms that can be matched to sets they belong to, each set used once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from dpbandits.core.arrays import Booleans, Floats
from dpbandits.core.inputs import MOST_ARMS
from dpbandits.oracles.inputs import SuperArm, arms_of, bounded_whole, largest_first, sorted_arms
from dpbandits.oracles.matroids.matroid import Matroid, exchange_rows


@final
class TransversalMatroid(Matroid):
    """Independent arms have a system of distinct representatives: arm e may stand for any set that
    contains it.

    sets: the arms of each set, for instance the workers who can do each job.
    arms: how many arms there are; one more than the largest named if not given. Arms in no set are
        loops.

    >>> TransversalMatroid([[0, 1], [1, 2]]).best([0.9, 0.1, 0.8])
    (0, 2)
    """

    def __init__(self, sets: Iterable[Iterable[int]], *, arms: int | None = None) -> None:
        self.sets = [sorted(set(row)) for row in arms_of(sets, "sets", MOST_ARMS)]
        most = max((row[-1] for row in self.sets if row), default=-1) + 1
        count = most if arms is None else bounded_whole(arms, "arms", 1, MOST_ARMS)
        if count < most:
            raise ValueError(
                f"Expected arms below arms={count} in every set, found arm {most - 1}."
            )
        self._sets_of: dict[int, list[int]] = {}  # of arms in a set: there may be many more
        for i, row in enumerate(self.sets):
            for arm in row:
                self._sets_of.setdefault(arm, []).append(i)
        self._set_rank(count, len(self._match(sorted(self._sets_of))))

    def parameters(self) -> dict[str, Any]:
        return {"sets": self.sets, "arms": self.arms}

    def _best(self, weights: Floats) -> SuperArm:
        return sorted_arms(self._match(largest_first(weights).tolist(), self.rank).values())

    def _independent(self, arms: SuperArm) -> bool:
        return len(self._match(arms)) == len(arms)

    def _loops(self) -> SuperArm:
        return tuple(arm for arm in range(self.arms) if arm not in self._sets_of)

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        return self._freed(e, self._match(basis))

    def _exchanges(self, basis: SuperArm) -> Booleans:
        owner = self._match(basis)
        table = np.array([np.isin(basis, self._freed(arm, owner)) for arm in range(self.arms)])
        return exchange_rows(basis, table)

    def _freed(self, e: int, owner: dict[int, int]) -> SuperArm:
        """Who can be set free when e comes: the arms matched to sets that alternating paths from e
        reach.
        """
        reached, _ = self._search(e, owner, set())
        return tuple(sorted(owner[i] for i in reached if i in owner))

    def _match(self, arms: Iterable[int], most: int | None = None) -> dict[int, int]:
        """The greedy's matching, set to arm. A set seen in a failed search never leads to a free
        one later: it is skipped.
        """
        owner: dict[int, int] = {}
        held: dict[int, int] = {}  # the other way round
        dead: set[int] = set()
        for arm in arms:
            reached, end = self._search(arm, owner, dead)
            if end is None:
                dead.update(reached)
            # back along the path: everyone takes the next set and leaves their own
            while end is not None:
                taker = reached[end]
                owner[end] = taker
                held[taker], end = end, held.get(taker)
            if len(owner) == most:
                break
        return owner

    def _search(
        self, arm: int, owner: dict[int, int], dead: set[int]
    ) -> tuple[dict[int, int], int | None]:
        """Breadth first from an arm over sets it could take from others: who reached each set, and
        the first free one.
        """
        reached: dict[int, int] = {}
        queue = [arm]
        for current in queue:
            for i in self._sets_of.get(current, ()):
                if i in reached or i in dead:
                    continue
                reached[i] = current
                if i not in owner:
                    return reached, i
                queue.append(owner[i])
        return reached, None
