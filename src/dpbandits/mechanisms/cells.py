"""How blocks of contextual policies are kept and read.

A record is a reward and a public context. Two forms of an arm's block:

* "cells": a codebook of directions splits contexts, up to sign, into cells. The record adds its
  reward r to the sum of one cell, or 1 − r where the context points against the cell's direction.
  Which cell and which of the two follows from public data, so replacing a reward moves one
  coordinate by at most 1.
* "vector": the record adds r·x to a vector. Replacing a reward moves it by at most ‖x‖ ≤ 1.

Contexts are in whole steps of 2^−20 (see `core.contexts`), so both are exact whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np

from dpbandits.core.contexts import FINE
from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.privacy import Grid, Guarantee, as_fraction
from dpbandits.mechanisms.base import Around, Block, Mechanism, Readings
from dpbandits.mechanisms.batches import GaussianBatches, LazyForgetful
from dpbandits.noise.protocol import Noise, laplaces

Layout = Literal["cells", "vector"]

PUBLIC = ("decisions", "number and time of asks, tells and expiries", "contexts")
"""What the guarantee does not protect."""

STEPS = int(FINE)


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
    """

    counts: Integers
    negatives: Integers
    directions: Floats


class ContextAnswer(NamedTuple):
    """Public: what was released of an arm's block.

    Args:
        totals: the noised sums in reward units, shape (cells,) or (features,).
        rounds: records in the block.
        counts, negatives, directions: see `PublicCounts`.
        recent: the newest contexts that were played with the arm, shape (contexts, features).
    """

    totals: Floats
    rounds: int
    counts: Integers
    negatives: Integers
    directions: Floats
    recent: Floats


def cell_of(book: Floats, context: Floats) -> tuple[int, bool]:
    """The cell of a context, and whether it points against the cell's direction. Public.

    Args:
        book: shape (cells, features), the directions of an arm's open block.

    >>> cell_of(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.1, -0.5]))
    (1, True)
    """
    along = book @ context
    cell = int(np.abs(along).argmax())
    return cell, bool(along[cell] < 0.0)


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

    layout: ClassVar[Layout] = "cells"

    def promise(self) -> Guarantee | None:
        promise = self.inner.promise()
        return None if promise is None else replace(promise, proof="context", public=PUBLIC)

    @property
    def law(self) -> None:
        return None  # a cell's sum says nothing of an arm's mean

    def says(self, answer: Any, release: int) -> None:
        return None

    def widened(self, memory: Any, coordinates: int) -> Any:
        return self.inner.widened(memory, coordinates)

    def answer(
        self, memory: Any, block: Block, noise: Noise
    ) -> tuple[Any, tuple[tuple[Floats, int], ...]]:
        """Noised sums of each arm's cells, in reward units, and the records behind them."""
        found = []
        for sums, count in zip(block.sums, block.counts, strict=True):
            noised = self._noised(np.asarray(sums, np.int64).tolist(), noise)
            found.append((np.array(noised, np.float64) / self.grid.steps, count))
        return memory, tuple(found)

    def _noised(self, sums: list[int], noise: Noise) -> list[int]:
        inner, steps = self.inner, self.grid.steps
        if isinstance(inner, LazyForgetful):
            return laplaces(noise, sums, sensitivity=steps, epsilon=inner.epsilon)
        assert isinstance(inner, GaussianBatches)
        return [noise.gaussian(total, sensitivity=steps, rho=inner.rho) for total in sums]


@final
@dataclass(frozen=True, kw_only=True)
class VectorBatches(Mechanism):
    """Each arm's Σ r·x, exact, or with a discrete Gaussian on each of its numbers.

    Guarantee: rho-zCDP, for the vector moves by at most 1 in Euclidean norm; none if exact.

    Args:
        rho: the price of a record; None: read without noise.
    """

    rho: Fraction | None = None
    grid: Grid = Grid()
    public_memory = True
    layout: ClassVar[Layout] = "vector"

    def __post_init__(self) -> None:
        if self.rho is not None:
            object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))

    def promise(self) -> Guarantee | None:
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


class OpenContexts:
    """Open blocks of a contextual policy, and the public counts beside them; changed in place.

    Args:
        layout: see the module.
        books: each arm's directions, shape (cells, features); not looked at for vectors.
        grid: steps of a reward per unit.
        features: numbers in a context.
        recent: contexts that are kept of an arm.
    """

    __slots__ = ("_counts", "books", "features", "grid", "kept", "layout", "recent", "sums")

    def __init__(
        self, layout: Layout, books: Sequence[Floats], grid: int, features: int, kept: int
    ) -> None:
        self.layout, self.books, self.grid, self.features = layout, list(books), grid, features
        self.kept = kept
        self.sums: dict[int, tuple[int, Integers]] = {}  # records and exact sums by arm. Private
        self._counts: dict[int, PublicCounts] = {}
        self.recent: list[list[Floats]] = [[] for _ in books]

    def __repr__(self) -> str:
        return f"OpenContexts({self.layout}, open={len(self.sums)})"

    def put(self, arm: int, count: int, sums: Integers, counts: PublicCounts) -> None:
        """Put an open block in place. Its arrays are copied."""
        self.sums[arm] = count, np.array(sums, np.int64)
        found, negatives, directions = counts
        self._counts[arm] = PublicCounts(found.copy(), negatives.copy(), directions.copy())

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
            sums += steps * (context * FINE).astype(np.int64)
            counts.counts[0] += 1
            counts.directions[:] += np.outer(context, context)
        self.sums[arm] = count + 1, sums
        if self.kept:
            recent = self.recent[arm]
            recent.append(context)
            if len(recent) >= 2 * self.kept:
                del recent[: -self.kept]

    def _open(self, arm: int) -> None:
        cells = len(self.books[arm]) if self.layout == "cells" else self.features
        groups = cells if self.layout == "cells" else 1
        counts = PublicCounts(
            np.zeros(groups, np.int64), np.zeros(groups, np.int64), np.zeros((cells, self.features))
        )
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


def context_answer(
    answer: tuple[Floats, int], counts: PublicCounts, recent: Sequence[Floats], features: int
) -> ContextAnswer:
    """An answer with the public counts of its block."""
    totals, rounds = answer
    rows = np.array(recent, np.float64).reshape(-1, features)
    return ContextAnswer(totals, rounds, *counts, rows)
