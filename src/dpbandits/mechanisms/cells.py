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
from dpbandits.core.inputs import Floats, Integers, opaque
from dpbandits.core.privacy import Grid, Guarantee, as_fraction
from dpbandits.mechanisms.base import (
    Around,
    Block,
    Mechanism,
    NewestBatch,
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


@opaque
class ContextRecord(NamedTuple):
    """A reward in grid steps, and its context. Private."""

    steps: int
    context: Floats


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
        return inverse @ inverse.T * (self.sensitivity / STEPS) ** 2 / (2.0 * rho)


@opaque
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


class ContextAnswer(NamedTuple):
    """Public: what was released of an arm's block.

    Args:
        totals: the noised sums in reward units, shape (cells,) or (features,).
        rounds: records in the block.
        public: what stood beside the sums.
        recent: the newest contexts that were played with the arm, shape (contexts, features).
    """

    totals: Floats
    rounds: int
    public: PublicCounts
    recent: Floats


def cells_of(book: Floats, contexts: Floats) -> tuple[Integers, Any]:
    """The cells of contexts, and whether each points against its cell's direction. Public.

    Args:
        book: shape (cells, features), the directions of an arm's open block.
        contexts: shape (contexts, features).

    >>> cells_of(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.1, -0.5]]))
    (array([1]), array([ True]))
    """
    along = contexts @ book.T
    cells: Integers = np.abs(along).argmax(axis=1)
    return cells, along[np.arange(len(contexts)), cells] < 0.0


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
    return squares.max(axis=0)


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
    law = None  # a cell's sum says nothing of an arm's mean

    @property
    def guarantee(self) -> Guarantee | None:
        guarantee = self.inner.guarantee
        return None if guarantee is None else replace(guarantee, proof="context", public=PUBLIC)

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


def with_records(
    layout: Layout,
    book: Floats,
    grid: int,
    sums: Integers,
    counts: PublicCounts,
    records: Sequence[ContextRecord],
) -> tuple[Integers, PublicCounts]:
    """An arm's open block with these records: its exact sums, which are private, and its public
    counts. What is given is not changed.

    Args:
        layout: see the module.
        book: the arm's directions, shape (cells, features), or its matrices A one below the other;
            not looked at for vectors.
        grid: steps of a reward per unit.
    """
    steps = np.array([record.steps for record in records], np.int64)
    contexts = np.array([record.context for record in records])
    found, negatives, directions, reach = counts
    sums, directions = sums.copy(), directions.copy()
    if layout == "cells":
        cells, against = cells_of(book, contexts)
        np.add.at(sums, cells, np.where(against, grid - steps, steps))  # r, or 1 − r
        np.add.at(directions, cells, np.where(against[:, None], -contexts, contexts))
        found = found + np.bincount(cells, minlength=len(found))
        negatives = negatives + np.bincount(cells[against], minlength=len(found))
    else:
        whole = (contexts * FINE).astype(np.int64)
        sums += steps @ whole
        directions += contexts.T @ contexts
        found = found + len(records)
        if layout == "shaped":
            reach = np.maximum(reach, largest_reach(book.astype(np.int64), whole))
    return sums, PublicCounts(found, negatives, directions, reach)


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

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Counts]]:
        """The block's counts with noise. Its `sums` are exact counts, `counts` the visits."""
        exact = np.asarray(block.sums, np.int64).ravel().tolist()
        noised = laplaces(noise, exact, sensitivity=MOVES, epsilon=self.epsilon)
        (visits,) = block.counts
        return None, (Counts(np.array(noised, np.int64).reshape(self.shape), visits),)
