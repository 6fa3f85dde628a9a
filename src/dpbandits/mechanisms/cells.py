"""How blocks of contextual policies are kept and read.

A record is a reward and a public context. Two forms of an arm's block:

* "cells": a codebook of directions splits contexts, up to sign, into cells. The record adds its
  reward r to the sum of one cell, or 1 − r where the context points against the cell's direction.
  Which cell and which of the two follows from public data, so replacing a reward moves one
  coordinate by at most 1.
* "vector": the record adds r·x to a vector. Replacing a reward moves it by at most ‖x‖ ≤ 1.
* "shaped": as "vector", and the vector is turned by a public matrix A of whole numbers before it
  gets noise. Replacing a reward moves it by at most the largest ‖A·x‖ of the block's contexts,
  which are public. A few matrices are fixed when the block opens, and one of them is chosen when it
  is released, by public counts.

Contexts are in whole steps of 2^−20 (see `core.contexts`), so all are exact whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np

from dpbandits.core.contexts import FINE
from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.privacy import Grid, Guarantee, as_fraction
from dpbandits.mechanisms.base import (
    Around,
    Block,
    Mechanism,
    NewestBatch,
    Readings,
)
from dpbandits.noise.protocol import Noise, laplaces

Layout = Literal["cells", "vector", "shaped"]

PUBLIC = ("decisions", "number and time of asks, tells and expiries", "contexts")
"""What the guarantee does not protect."""

STEPS = int(FINE)

ROW = 2**10
"""The largest norm of a row of A."""

SHIFT = 4
"""Entries of A·x, below 2^30 in whole steps, are kept to 2^SHIFT of them where norms are taken."""


class ContextRecord(NamedTuple):
    """A reward in grid steps, and its context. Private."""

    steps: int
    context: Floats

    def __repr__(self) -> str:
        return "ContextRecord()"


class PublicCounts(NamedTuple):
    """What stands beside the sums of an arm's open block. Public.

    Args:
        counts: records by cell, shape (cells,); of a vector shape (1,).
        negatives: of them, those that added 1 − r.
        directions: B, shape (cells, features): by cell the sum of ±x; of a vector Σ x xᵀ.
        reach: of "shaped", by matrix A the `largest_reach` of the block's contexts; else empty.
    """

    counts: Integers
    negatives: Integers
    directions: Floats
    reach: Integers


class Shape(NamedTuple):
    """How a vector is turned before it gets noise. Public.

    Args:
        matrix: A, whole numbers, shape (features, features).
        reach: the `largest_reach` of the block's contexts.
    """

    matrix: Integers
    reach: int

    @property
    def sensitivity(self) -> int:
        """At least ‖A·x‖ in whole steps, for each context x of the block."""
        return (math.isqrt(self.reach) + 1) << SHIFT

    def covariance(self, rho: float) -> Floats:
        """The covariance of the noise in Σ r·x, in reward units, shape (features, features)."""
        inverse = np.linalg.inv(self.matrix.astype(np.float64))
        found: Floats = inverse @ inverse.T * (self.sensitivity / STEPS) ** 2 / (2.0 * rho)
        return found


class ShapedBlock(NamedTuple):
    """A `Block`, and how its vectors are turned. Private.

    Args:
        coordinates, sums, counts: see `Block`.
        shapes: one a coordinate; public.
    """

    coordinates: tuple[int, ...]
    sums: Any
    counts: tuple[int, ...]
    shapes: tuple[Shape, ...]

    def __repr__(self) -> str:
        return f"ShapedBlock(coordinates={self.coordinates}, counts={self.counts})"


class ContextAnswer(NamedTuple):
    """Public: what was released of an arm's block.

    Args:
        totals: the noised sums in reward units, shape (cells,) or (features,).
        rounds: records in the block.
        counts, negatives, directions, reach: see `PublicCounts`.
        recent: the newest contexts that were played with the arm, shape (contexts, features).
    """

    totals: Floats
    rounds: int
    counts: Integers
    negatives: Integers
    directions: Floats
    reach: Integers
    recent: Floats


def cell_of(book: Floats, context: Floats) -> tuple[int, bool]:
    """The cell of a context, and whether it points against the cell's direction. Public.

    Args:
        book: shape (cells, features), the directions of an arm's open block.

    >>> cell_of(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.1, -0.5]))
    (1, True)
    """
    along = book.dot(context)
    cell = int(np.abs(along).argmax())
    return cell, bool(along[cell] < 0.0)


def largest_reach(matrices: Integers, contexts: Integers) -> Integers:
    """The largest upper bounds of ‖A·x‖² in units of 2^(2·SHIFT) steps, exact whole numbers, one a
    matrix.

    Args:
        matrices: matrices A one below the other, shape (matrices · features, features), whose rows
            have a norm of at most `ROW`.
        contexts: in whole steps of 2^−20, shape (contexts, features).
    """
    features = contexts.shape[1]
    turned = (np.abs(contexts @ matrices.T) >> SHIFT) + 1
    squares = (turned * turned).reshape(len(contexts), -1, features).sum(axis=2)
    found: Integers = squares.max(axis=0)
    return found


def signed_steps(steps: int, against: bool, grid: int) -> int:
    """What a reward adds to its cell, in grid steps: r, or 1 − r."""
    return grid - steps if against else steps


@final
@dataclass(frozen=True, kw_only=True)
class CellBatches(Around):
    """Each cell's sum with a draw of its own. Guarantee: the inner mechanism's, because a record is
    in one cell.

    Args:
        inner: `LazyForgetful` (pure) or `GaussianBatches` (zCDP).
    """

    inner: NewestBatch
    layout: ClassVar[Layout] = "cells"

    @property
    def guarantee(self) -> Guarantee | None:
        guarantee = self.inner.guarantee
        return None if guarantee is None else replace(guarantee, proof="context", public=PUBLIC)

    @property
    def law(self) -> None:
        return None  # a cell's sum says nothing of an arm's mean

    def widened(self, memory: Any, coordinates: int) -> Any:
        return self.inner.widened(memory, coordinates)

    def answer(
        self, memory: Any, block: Block, noise: Noise
    ) -> tuple[Any, tuple[tuple[Floats, int], ...]]:
        """Noised sums of each arm's cells, in reward units, and the records behind them."""
        found = []
        for sums, count in zip(block.sums, block.counts, strict=True):
            noised = self.inner.noised(np.asarray(sums, np.int64).tolist(), noise)
            found.append((np.array(noised, np.float64) / self.grid.steps, count))
        return memory, tuple(found)


@dataclass(frozen=True, kw_only=True)
class ArmVectors(Mechanism):
    """Base class of mechanisms that release each arm's Σ r·x, and remember nothing.

    Args:
        rho: the cost of a record; None: read without noise.
    """

    rho: Fraction | None = None
    grid: Grid = Grid()
    public_memory = True

    def __post_init__(self) -> None:
        if self.rho is not None:
            object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))

    @property
    def guarantee(self) -> Guarantee | None:
        if self.rho is None:
            return None
        return Guarantee(
            measure="zCDP", rho=self.rho, grid=self.grid, proof="context", public=PUBLIC
        )

    def init(self, coordinates: int) -> list[None]:
        return [None] * coordinates

    def widened(self, memory: list[None], coordinates: int) -> list[None]:
        return self.init(coordinates)

    def remembers(self, memory: Any, readings: Sequence[Readings]) -> bool:
        return isinstance(memory, list) and memory == self.init(len(readings))


@final
@dataclass(frozen=True, kw_only=True)
class VectorBatches(ArmVectors):
    """Each arm's Σ r·x, exact, or with a discrete Gaussian on each of its numbers.

    Guarantee: rho-zCDP, for the vector moves by at most 1 in Euclidean norm; none if exact.
    """

    layout: ClassVar[Layout] = "vector"

    def answer(
        self, memory: list[None], block: Block, noise: Noise
    ) -> tuple[list[None], tuple[tuple[Floats, int], ...]]:
        """The sums of each arm, in reward units, and the records behind them."""
        found, unit = [], self.grid.steps * STEPS
        for sums, count in zip(block.sums, block.counts, strict=True):
            exact = np.asarray(sums, np.int64).tolist()
            if self.rho is not None:
                exact = [noise.gaussian(x, sensitivity=unit, rho=self.rho) for x in exact]
            found.append((np.array(exact, np.float64) / unit, count))
        return memory, tuple(found)


@final
@dataclass(frozen=True, kw_only=True)
class ShapedBatches(ArmVectors):
    """Each arm's Σ r·x, turned by a public matrix A of whole numbers, with a discrete Gaussian on
    each number.

    The block's `shapes` name A and bound ‖A·x‖ for each of its contexts, so noise need not cover
    directions in which no context lies far out. Nothing is clipped.

    Guarantee: rho-zCDP, for the turned vector moves by at most that bound in Euclidean norm.
    """

    rho: Fraction = field()
    layout: ClassVar[Layout] = "shaped"

    def answer(
        self, memory: list[None], block: Block | ShapedBlock, noise: Noise
    ) -> tuple[list[None], tuple[tuple[Floats, int], ...]]:
        """Σ r·x of each arm with noise, in reward units, and the records behind it."""
        assert isinstance(block, ShapedBlock)
        found = []
        for sums, count, shape in zip(block.sums, block.counts, block.shapes, strict=True):
            exact, sensitivity = np.asarray(sums).tolist(), self.grid.steps * shape.sensitivity
            turned = [
                sum(a * s for a, s in zip(row, exact, strict=True)) for row in shape.matrix.tolist()
            ]
            noised = [noise.gaussian(x, sensitivity=sensitivity, rho=self.rho) for x in turned]
            back = np.linalg.solve(shape.matrix.astype(np.float64), np.array(noised, np.float64))
            found.append((back / (self.grid.steps * STEPS), count))
        return memory, tuple(found)


class OpenContexts:
    """Open blocks of a contextual policy, and the public counts beside them; changed in place.

    Args:
        layout: see the module.
        books: each arm's directions, shape (cells, features), or its matrices A one below the
            other; not looked at for vectors.
        grid: steps of a reward per unit.
        features: numbers in a context.
        recent: contexts that are kept of an arm.
    """

    __slots__ = (
        "_counts",
        "_matrices",
        "books",
        "features",
        "grid",
        "kept",
        "layout",
        "recent",
        "sums",
    )

    def __init__(
        self, layout: Layout, books: Sequence[Floats], grid: int, features: int, kept: int
    ) -> None:
        self.layout, self.books, self.grid, self.features = layout, list(books), grid, features
        self._matrices = [np.asarray(book, np.int64) for book in books if layout == "shaped"]
        self.kept = kept
        self.sums: dict[int, tuple[int, Integers]] = {}  # records and exact sums by arm. Private
        self._counts: dict[int, PublicCounts] = {}
        self.recent: list[list[Floats]] = [[] for _ in books]

    def __repr__(self) -> str:
        return f"OpenContexts({self.layout}, open={len(self.sums)})"

    def put(self, arm: int, count: int, sums: Integers, counts: PublicCounts) -> None:
        """Put an open block in place. Its arrays are copied."""
        self.sums[arm] = count, np.array(sums, np.int64)
        found, negatives, directions, reach = counts
        self._counts[arm] = PublicCounts(
            found.copy(), negatives.copy(), directions.copy(), reach.copy()
        )

    def add(self, arm: int, record: ContextRecord) -> None:
        """Add a record to its arm's open block."""
        steps, context = record
        if arm not in self.sums:
            self._open(arm)
        count, sums = self.sums[arm]
        counts = self._counts[arm]
        if self.layout == "cells":
            cell, against = cell_of(self.books[arm], context)
            sums[cell] += signed_steps(steps, against, self.grid)
            counts.counts[cell] += 1
            counts.negatives[cell] += against
            counts.directions[cell] += -context if against else context
        else:
            whole = (context * FINE).astype(np.int64)
            sums += steps * whole
            counts.counts[0] += 1
            counts.directions[:] += np.outer(context, context)
            if self.layout == "shaped":
                reach = largest_reach(self._matrices[arm], whole[None])
                np.maximum(counts.reach, reach, out=counts.reach)
        self.sums[arm] = count + 1, sums
        if self.kept:
            recent = self.recent[arm]
            recent.append(context)
            if len(recent) >= 2 * self.kept:
                del recent[: -self.kept]

    def _open(self, arm: int) -> None:
        cells = len(self.books[arm]) if self.layout == "cells" else self.features
        counts = no_counts(self.layout, self.books[arm], self.features)
        self.put(arm, 0, np.zeros(cells, np.int64), counts)

    def public(self) -> dict[int, PublicCounts]:
        """The public counts of open blocks, by arm."""
        return dict(self._counts)

    def newest(self, arm: int) -> tuple[Floats, ...]:
        """The newest contexts of an arm, oldest first."""
        return tuple(self.recent[arm][-self.kept :]) if self.kept else ()

    def close(self, arm: int) -> None:
        """Forget an arm's open block, which was read or dropped."""
        self.sums.pop(arm, None)
        self._counts.pop(arm, None)


def no_counts(layout: Layout, book: Floats, features: int) -> PublicCounts:
    """The public counts of a block without records."""
    cells = len(book) if layout == "cells" else features
    groups = cells if layout == "cells" else 1
    return PublicCounts(
        np.zeros(groups, np.int64),
        np.zeros(groups, np.int64),
        np.zeros((cells, features)),
        np.zeros(len(book) // features if layout == "shaped" else 0, np.int64),
    )


def context_answer(
    answer: tuple[Floats, int], counts: PublicCounts, recent: Sequence[Floats], features: int
) -> ContextAnswer:
    """An answer with the public counts of its block."""
    totals, rounds = answer
    rows = np.array(recent, np.float64).reshape(-1, features)
    return ContextAnswer(totals, rounds, *counts, rows)


# Contexts and decisions private, too: a record is the index of one count of a histogram, which
# says its arm, the cell of its context, and whether its reward was 1. Replacing it takes 1 from one
# count and adds 1 to another.


MOVES = 2
"""By how much replacing a record moves all counts together."""

COIN = Grid(steps=1, rounding="bernoulli")
"""A reward is 0 or 1; one between them is rounded by an exact coin."""

PUBLIC_OF_COUNTS = ("released counts", "number and time of asks")
"""What the guarantee does not protect."""

WHAT = "joint DP: context, decision and answer of one ask"
"""Whose change the guarantee is about."""

DUTY = (
    "a decision is shown to its own person alone, and public contexts and calls depend on nobody's "
    "record"
)


class Counts(NamedTuple):
    """A released histogram. Public.

    Args:
        counts: with noise, shape (arms, cells, 2); the last index is the reward.
        visits: asks of which it has the answers that came in time.
    """

    counts: Integers
    visits: int


@final
@dataclass(frozen=True, kw_only=True)
class Histograms(Mechanism):
    """Each count of a block with a discrete Laplace draw of scale 2/ε of its own.

    Guarantee: pure epsilon for replacing one record, in one block or from one block to another:
    either way two counts move by one.

    Args:
        epsilon: of one record.
        shape: (arms, cells, 2).
    """

    epsilon: Fraction
    shape: tuple[int, int, int]
    grid: Grid = COIN
    public_memory = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            grid=self.grid,
            people=WHAT,
            proof="joint_contexts",
            public=PUBLIC_OF_COUNTS,
            duty=DUTY,
        )

    def init(self, coordinates: int) -> None:
        return None

    def remembers(self, memory: object, readings: Sequence[Readings]) -> bool:
        return memory is None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Counts]]:
        """The block's counts with noise. Its `sums` are exact counts, `counts` the visits."""
        exact = np.asarray(block.sums, np.int64).ravel().tolist()
        noised = laplaces(noise, exact, sensitivity=MOVES, epsilon=self.epsilon)
        (visits,) = block.counts
        return None, (Counts(np.array(noised, np.int64).reshape(self.shape), visits),)
