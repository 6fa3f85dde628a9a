"""Identical arms: 0/1 rewards of which several arms get the same one each round, as in the lower
bounds for semi-bandits.
"""

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.arrays import Floats, Integers
from dpbandits.core.inputs import MOST_ARMS, numbers_in
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import Environment, Lattice, checked_means, two_point


@final
class SharedCoins(Environment):
    """Every round each coin is tossed once, and all arms that read it get what it shows.

    chances: of each coin, shape (coins,). coins: the number of the coin that an arm reads, shape
        (arms,); a coin that nobody reads changes nothing.

    Raises:
        ValueError: a chance outside [0, 1], or an arm that reads no coin there is.

    >>> SharedCoins([0.5, 0.25], [0, 0, 1]).means.tolist()
    [0.5, 0.5, 0.25]
    """

    def __init__(self, chances: ArrayLike, coins: ArrayLike) -> None:
        self.chances = checked_means(chances, "chances")
        read = numbers_in(coins, "coins")
        if read.ndim != 1 or not 0 < len(read) <= MOST_ARMS:
            raise ValueError(
                "Expected coins to be a list with the number of a coin for each arm, such as [0, "
                f"0, 1], got shape {read.shape}."
            )
        bad = np.flatnonzero(~((read >= 0) & (read < len(self.chances)) & (read == np.rint(read))))
        if len(bad):
            raise ValueError(
                f"Expected coins to be whole numbers from 0 to {len(self.chances) - 1}, one an "
                f"arm; arm {bad[0]} has {read[bad[0]]:g}."
            )
        self.coins: Integers = read.astype(np.int64)
        self.means = self.chances[self.coins]
        self.apart = len(np.unique(self.coins)) == len(self.coins)

    def __repr__(self) -> str:
        chances = [round(float(x), 6) for x in self.chances]
        return f"SharedCoins({chances}, {self.coins.tolist()})"

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return float(rng.random() < self.means[action])

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        return int(rng.binomial(rounds, self.means[action])) * grid.steps

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        shown = rng.random(len(self.chances)) < self.chances
        return shown[self.coins[arms]].astype(np.float64)

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        shown = rng.binomial(rounds, self.chances) * grid.steps
        return np.asarray(shown[self.coins[arms]], np.int64)

    def lattice(self, grid: Grid) -> Lattice:
        """Of each arm alone; which arms are identical it does not tell."""
        return two_point(self.means, grid)
