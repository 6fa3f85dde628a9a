"""Any so many arms: the uniform matroid, and the same super arms where only the best of them
counts.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from dpbandits.core.arrays import Booleans, Floats
from dpbandits.core.inputs import MOST_ARMS
from dpbandits.oracles.base import Covering, DecisionSet
from dpbandits.oracles.inputs import SuperArm, bounded_whole, checked_probabilities, sorted_arms
from dpbandits.oracles.matroids.matroid import Matroid, exchange_rows


class UniformMatroid(Matroid):
    """Every `rank` of the arms are a basis.

    >>> UniformMatroid(arms=4, rank=2).best([0.5, 0.9, 0.5, 0.1])
    (0, 1)
    """

    def __init__(self, *, arms: int, rank: int) -> None:
        most = bounded_whole(arms, "arms", 1, MOST_ARMS)
        self._set_rank(most, bounded_whole(rank, "rank", 0, most))

    def parameters(self) -> dict[str, Any]:
        return {"arms": self.arms, "rank": self.rank}

    def _best(self, weights: Floats) -> SuperArm:
        return top(weights, self.rank)

    def _independent(self, arms: SuperArm) -> bool:
        return True

    def _loops(self) -> SuperArm:
        return ()

    def _cover(self) -> Covering:
        return chunks(self.arms, self.rank), ()

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        return basis

    def _exchanges(self, basis: SuperArm) -> Booleans:
        return exchange_rows(basis, np.ones((self.arms, self.rank), dtype=bool))


@final
class TopK(UniformMatroid):
    """Exactly k arms, the k best: the uniform matroid under the name it has elsewhere.

    >>> TopK(arms=4, k=2).best([0.5, 0.9, 0.5, 0.1])
    (0, 1)
    """

    def __init__(self, *, arms: int, k: int) -> None:
        most = bounded_whole(arms, "arms", 1, MOST_ARMS)
        super().__init__(arms=most, rank=bounded_whole(k, "k", 1, most))

    def parameters(self) -> dict[str, Any]:
        return {"arms": self.arms, "k": self.rank}


@final
class TopKMax(DecisionSet):
    """Exactly k arms, worth the chance that at least one of them answers 1: 1 - prod(1 - mean), for
    independent 0/1 rewards.

    The k largest means maximise it, so the oracle is exact. Not linear: a Bernoulli case of the
    expected maximum.

    >>> TopKMax(arms=3, k=2).value((0, 1), [0.5, 0.5, 0.1])
    0.75
    """

    linear = False

    def __init__(self, *, arms: int, k: int) -> None:
        self.arms = bounded_whole(arms, "arms", 1, MOST_ARMS)
        self.size = bounded_whole(k, "k", 1, self.arms)

    def parameters(self) -> dict[str, Any]:
        return {"arms": self.arms, "k": self.size}

    @property
    def b_one(self) -> float:
        """One mean moves the chance by at most its own error."""
        return 1.0

    def _best(self, weights: Floats) -> SuperArm:
        return top(weights, self.size)

    def _contains(self, action: SuperArm) -> bool:
        return len(action) == self.size

    def _value(self, action: SuperArm, means: Floats) -> float:
        return 1 - float(np.prod(1 - checked_probabilities(means)[list(action)]))

    def _cover(self) -> Covering:
        return chunks(self.arms, self.size), ()


def top(weights: Floats, k: int) -> SuperArm:
    """The k heaviest arms, lower numbers first on a tie, without sorting them all."""
    last = np.partition(weights, len(weights) - k)[len(weights) - k]
    above = np.flatnonzero(weights > last)
    level = np.flatnonzero(weights == last)[: k - len(above)]
    return sorted_arms(np.concatenate([above, level]))


def chunks(arms: int, k: int) -> tuple[SuperArm, ...]:
    """What the greedy cover is here: k arms after k, the last few filled up with the first ones."""
    starts = range(0, arms, k)
    return tuple(
        tuple(range(i, i + k)) if i + k <= arms else (*range(k - arms + i), *range(i, arms))
        for i in starts
    )
