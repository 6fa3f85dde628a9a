"""Matroids of counts: so many arms of each category, or of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.arrays import Booleans, Floats, Integers, Places
from dpbandits.core.inputs import MOST_ARMS
from dpbandits.oracles.base import Covering, DecisionSet
from dpbandits.oracles.inputs import (
    SuperArm,
    arms_of,
    bounded_whole,
    checked_probabilities,
    chunks,
    largest_first,
    listed,
    sorted_arms,
)
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


@final
class PartitionMatroid(Matroid):
    """At most `capacities[c]` arms of category c; a basis fills every category as far as it goes.

    categories: shape (arms,), the category of each arm, numbered from 0. Or
    blocks: the arms of each category, every arm in exactly one.
    capacities: one whole number >= 0 a category; arms of a category with capacity 0 are loops.

    >>> PartitionMatroid(categories=[0, 0, 1, 1], capacities=[1, 1]).best([0.1, 0.2, 0.4, 0.3])
    (1, 2)
    >>> PartitionMatroid(blocks=[[0, 3], [1, 2]], capacities=[1, 2]).rank
    3
    """

    def __init__(
        self,
        *,
        categories: ArrayLike | None = None,
        blocks: Iterable[Sequence[int]] | None = None,
        capacities: Iterable[int],
    ) -> None:
        limits = [
            bounded_whole(capacity, f"capacity[{c}]", 0)
            for c, capacity in enumerate(listed(capacities, "capacities", "whole numbers"))
        ]
        if (categories is None) == (blocks is None):
            raise ValueError(
                "Expected either categories (one an arm) or blocks (the arms of each category), "
                "not both."
            )
        self.categories = (
            checked_categories(categories, len(limits))
            if blocks is None
            else from_blocks(blocks, len(limits))
        )
        sizes = np.bincount(self.categories, minlength=len(limits))
        self.capacities = limits
        # what a basis has of each
        self._filled = np.minimum([min(limit, len(self.categories)) for limit in limits], sizes)
        self._place = np.arange(len(self.categories)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._kept = self._place < np.repeat(self._filled, sizes)
        self._set_rank(len(self.categories), int(self._filled.sum()))

    def parameters(self) -> dict[str, Any]:
        return {"categories": self.categories.tolist(), "capacities": self.capacities}

    def _best(self, weights: Floats) -> SuperArm:
        return sorted_arms(self._by_category(largest_first(weights))[self._kept])

    def _by_category(self, order: Places) -> Places:
        """The same order within each category, categories one after another: a stable sort, 16 bits
        at a time (the fast kind).
        """
        for digits in (self.categories & 0xFFFF, self.categories >> 16):
            if digits.any():
                order = order[np.argsort(digits[order].astype(np.uint16), kind="stable")]
        return order

    def _independent(self, arms: SuperArm) -> bool:
        counts = np.bincount(self.categories[list(arms)], minlength=len(self.capacities))
        return bool(np.all(counts <= self._filled))

    def _loops(self) -> SuperArm:
        return sorted_arms(np.flatnonzero(self._filled[self.categories] == 0))

    def _cover(self) -> Covering:
        """Super arm i takes the i-th handful of every category; where a category has run out, its
        first arms.
        """
        sizes = np.bincount(self.categories, minlength=len(self.capacities))
        capacity = np.repeat(self._filled, sizes)
        grouped, first = self._by_category(np.arange(self.arms)), self._place < capacity
        turn = self._place // np.maximum(capacity, 1)
        rounds = -(-sizes // np.maximum(self._filled, 1)) * (self._filled > 0)
        cover = []
        for i in range(int(rounds.max())):
            missing = np.repeat(np.clip((i + 1) * self._filled - sizes, 0, self._filled), sizes)
            chosen = ((turn == i) & (capacity > 0)) | (first & (self._place < missing))
            cover.append(sorted_arms(grouped[chosen]))
        return tuple(cover), self.loops

    def _circuit(self, basis: SuperArm, e: int) -> SuperArm:
        return tuple(f for f in basis if self.categories[f] == self.categories[e])

    def _exchanges(self, basis: SuperArm) -> Booleans:
        return exchange_rows(basis, self.categories[:, None] == self.categories[list(basis)])


def checked_categories(categories: ArrayLike | None, count: int) -> Integers:
    """A known category for every arm."""
    given = np.asarray(categories)
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu":
        raise ValueError(
            "Expected categories to be a non-empty list of whole numbers, got shape "
            f"{given.shape} of {given.dtype}."
        )
    bad = np.flatnonzero((given < 0) | (given >= count))
    if len(bad):
        raise ValueError(
            f"Expected categories[{bad[0]}]={given[bad[0]]} in 0..{count - 1}: there are {count} "
            "capacities."
        )
    return given.astype(np.int64)


def from_blocks(blocks: Iterable[Sequence[int]], count: int) -> Integers:
    """Each arm's category, from the arms of each category."""
    rows = arms_of(blocks, "blocks")
    if len(rows) != count:
        raise ValueError(f"Expected one capacity a block, got {count} for {len(rows)} blocks.")
    total = sum(len(row) for row in rows)
    found = np.full(total, -1, dtype=np.int64)
    for c, row in enumerate(rows):
        for arm in row:
            if arm >= total or found[arm] >= 0:
                what = "comes twice" if arm < total else f"is out of range for {total} arms"
                raise ValueError(
                    f"Expected every arm from 0 on in exactly one block; arm {arm} of "
                    f"blocks[{c}] {what}."
                )
            found[arm] = c
    return found
