"""One count of a histogram a record: for everything private at once.

A record is the index of one count, which says its arm, the cell of its context, and whether its
reward was 1. Replacing a record by any other one takes 1 from one count and adds 1 to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np

from dpbandits.core.inputs import Integers
from dpbandits.core.privacy import Grid, Guarantee, as_fraction
from dpbandits.mechanisms.base import Block, Mechanism, Readings
from dpbandits.noise.protocol import Noise, laplaces

MOVES = 2
"""By how much replacing a record moves all counts together."""

COIN = Grid(steps=1, rounding="bernoulli")
"""A reward is 0 or 1; one between them is rounded by an exact coin."""

PUBLIC = ("released counts", "number and time of asks")
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
            public=PUBLIC,
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
