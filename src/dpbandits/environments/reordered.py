"""An environment whose arms go by other numbers, so that nothing a policy does first favours the
arm that a file lists first.
"""

from typing import Self, final

import numpy as np

from dpbandits.core.arrays import Floats, Integers
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import Environment, Lattice, Records


@final
class Reordered(Environment):
    """Arm j here is arm order[j] of `of`; order is a permutation of its arms, shape (arms,)."""

    def __init__(self, of: Environment, order: Integers) -> None:
        self.of, self.order, self.means = of, order, of.means[order]
        self.length, self.fixed, self.logged, self.apart = of.length, of.fixed, of.logged, of.apart

    def __repr__(self) -> str:
        return f"Reordered({self.of!r}, {self.order.tolist()})"

    def fresh(self) -> Self:
        return self._with(of=self.of.fresh())

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return self.of.draw(int(self.order[action]), rng)

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        return self.of.block(int(self.order[action]), rounds, grid, rng)

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        return self.of.draw_many(self.order[arms], rng)

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        return self.of.block_many(self.order[arms], rounds, grid, rng)

    def between(self, start: int, stop: int, arms: Integers) -> Floats:
        return self.of.between(start, stop, self.order[arms])

    @property
    def acceptance(self) -> float:
        return self.of.acceptance

    def lattice(self, grid: Grid) -> Lattice | None:
        law = self.of.lattice(grid)
        return None if law is None else Lattice(law.values, law.probabilities[self.order])

    def rows_on(self, grid: Grid) -> Records | None:
        found = self.of.rows_on(grid)
        if found is None:
            return None
        return Records(found.steps[:, self.order], found.rewards[:, self.order], found.drawn)


def random_order(environment: Environment, rng: np.random.Generator) -> Integers:
    """A random order of the arms. It does not depend on the order in which they came (except among
    equal means), because they are sorted first.
    """
    return np.asarray(
        np.argsort(environment.means, kind="stable")[rng.permutation(environment.arms)]
    )
