"""Environments that draw rewards: laws for each arm, coins that arms share, and a random order of
arms.
"""

from collections.abc import Callable
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.inputs import MOST_ARMS, Floats, Integers, numbers_in
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import (
    Environment,
    Independent,
    Lattice,
    Records,
    checked_means,
    two_point,
)

# Independent rewards with a known law on [0, 1].


@final
class Bernoulli(Independent):
    """Independent 0/1 rewards.

    Args:
        means: success probabilities, shape (arms,).

    >>> Bernoulli([0.5, 0.25]).gaps.tolist()
    [0.0, 0.25]
    """

    def __init__(self, means: ArrayLike) -> None:
        super().__init__(checked_means(means))

    def __repr__(self) -> str:
        return f"Bernoulli({rounded_means(self.means)})"

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return float(rng.random() < self.means[action])

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        return (rng.random(len(arms)) < self.means[arms]).astype(np.float64)

    def on_grid(self, steps: int) -> Lattice:
        return two_point(self.means, Grid(steps=steps))


@final
class Categorical(Independent):
    """Independent rewards with finitely many values.

    Args:
        values: rewards in [0, 1], shape (levels,).
        probabilities: shape (arms, levels); rows sum to 1.

    >>> Categorical([0, 0.5, 1], [[0.2, 0.3, 0.5]]).means.tolist()
    [0.65]
    """

    def __init__(self, values: ArrayLike, probabilities: ArrayLike) -> None:
        levels = checked_means(values, "values")
        rows = np.atleast_2d(numbers_in(probabilities, "probabilities"))
        fits = rows.ndim == 2 and len(rows) > 0 and rows.shape[1] == len(levels)
        if not (fits and np.all(rows >= 0) and np.allclose(rows.sum(axis=1), 1, atol=1e-9)):
            raise ValueError(
                f"Expected probabilities of shape (arms, {len(levels)}), none negative, rows "
                f"summing to 1; got shape {rows.shape}."
            )
        rows = rows / rows.sum(axis=1, keepdims=True)
        self.values, self.probabilities = levels, rows
        super().__init__(np.clip(rows @ levels, 0, 1))

    def __repr__(self) -> str:
        rows = [rounded_means(row) for row in self.probabilities]
        return f"Categorical({rounded_means(self.values)}, {rows})"

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return float(rng.choice(self.values, p=self.probabilities[action]))

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        levels = (
            rng.random((len(arms), 1)) >= np.cumsum(self.probabilities[arms], axis=1)[:, :-1]
        ).sum(axis=1)
        return np.asarray(self.values[levels])

    def on_grid(self, steps: int) -> Lattice:
        values, where = np.unique(
            np.rint(self.values * steps).astype(np.int64), return_inverse=True
        )
        probabilities = np.zeros((len(self.probabilities), len(values)))
        np.add.at(probabilities.T, where, self.probabilities.T)
        return Lattice(values, probabilities)


@final
class Uniform(Independent):
    """Independent uniform rewards on [low, high] within [0, 1].

    Args:
        low: lower ends, shape (arms,).
        high: upper ends, shape (arms,).

    >>> Uniform([0, 0.5], [1, 0.75]).means.tolist()
    [0.5, 0.625]
    """

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        self.low, self.high = checked_means(low, "low"), checked_means(high, "high")
        if self.low.shape != self.high.shape or np.any(self.low > self.high):
            raise ValueError(
                "Expected low and high of equal length with low <= high for every arm."
            )
        super().__init__((self.low + self.high) / 2)

    def __repr__(self) -> str:
        return f"Uniform({rounded_means(self.low)}, {rounded_means(self.high)})"

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return float(rng.uniform(self.low[action], self.high[action]))

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        return np.asarray(rng.uniform(self.low[arms], self.high[arms]))

    def on_grid(self, steps: int) -> Lattice:
        width = np.maximum(self.high - self.low, 1e-300)
        law = lattice_of(
            lambda arm, x: np.clip((x - self.low[arm]) / width[arm], 0, 1), self.arms, steps
        )
        # a single value may lie on a half step
        for arm in np.flatnonzero(self.low == self.high):
            law.probabilities[arm] = law.values == np.rint(self.low[arm] * steps)
        return law


@final
class Beta(Independent):
    """Independent Beta(a, b) rewards.

    Args:
        a: first shapes, positive, shape (arms,).
        b: second shapes, positive, shape (arms,).

    >>> Beta([1, 3], [1, 1]).means.tolist()
    [0.5, 0.75]
    """

    def __init__(self, a: ArrayLike, b: ArrayLike) -> None:
        self.a, self.b = np.atleast_1d(numbers_in(a, "a")), np.atleast_1d(numbers_in(b, "b"))
        shapes = (
            np.stack([self.a, self.b])
            if self.a.shape == self.b.shape and self.a.ndim == 1
            else np.empty((2, 0))
        )
        if shapes.size == 0 or not np.all((shapes > 0) & np.isfinite(shapes)):
            raise ValueError(
                "Expected shapes a and b of equal length, at least one of each, all finite and > 0."
            )
        super().__init__(self.a / (self.a + self.b))

    def __repr__(self) -> str:
        return f"Beta({rounded_means(self.a)}, {rounded_means(self.b)})"

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return float(rng.beta(self.a[action], self.b[action]))

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        return np.asarray(rng.beta(self.a[arms], self.b[arms]))

    def on_grid(self, steps: int) -> Lattice:
        from scipy.special import betainc  # slow to import, rarely needed

        return lattice_of(
            lambda arm, x: betainc(self.a[arm], self.b[arm], np.clip(x, 0, 1)), self.arms, steps
        )


def rounded_means(numbers: Floats) -> list[float]:
    """Return numbers with six decimals, for reprs."""
    return [round(float(x), 6) for x in numbers]


def lattice_of(cdf: Callable[[int, Floats], Floats], arms: int, steps: int) -> Lattice:
    """Return the law of round(steps · X) for continuous X: the mass between neighbouring half
    steps.
    """
    edges = (np.arange(steps + 2) - 0.5) / steps
    masses = np.stack([np.diff(cdf(arm, edges)) for arm in range(arms)])
    return Lattice(np.arange(steps + 1), masses / masses.sum(axis=1, keepdims=True))


# Identical arms: several arms get the same 0/1 reward each round, as in the lower bounds for
# semi-bandits.


@final
class SharedCoins(Environment):
    """0/1 rewards from coins that arms share: each coin is tossed once a round, and gives the
    reward of all its arms.

    Args:
        chances: success probability of each coin, shape (coins,).
        coins: number of each arm's coin, shape (arms,). Coins without an arm have no effect.

    Raises:
        ValueError: a probability outside [0, 1], or an arm whose coin does not exist.

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
        return f"SharedCoins({rounded_means(self.chances)}, {self.coins.tolist()})"

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return float(rng.random() < self.means[action])

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        return int(rng.binomial(rounds, self.means[action])) * grid.steps

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        faces = rng.random(len(self.chances)) < self.chances
        return faces[self.coins[arms]].astype(np.float64)

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        faces = rng.binomial(rounds, self.chances) * grid.steps
        return np.asarray(faces[self.coins[arms]], np.int64)

    def lattice(self, grid: Grid) -> Lattice:
        """Return the law of each arm alone, without the identity of arms."""
        return two_point(self.means, grid)


# An environment with renumbered arms, so that a policy's first plays do not favour the arm that a
# file lists first.


@final
class Reordered(Environment):
    """An environment with renumbered arms: arm j is arm order[j] of `of`.

    Args:
        of: the environment.
        order: a permutation of its arms, shape (arms,).
    """

    def __init__(self, of: Environment, order: Integers) -> None:
        self.of, self.order, self.means = of, order, of.means[order]
        self.length, self.fixed, self.logged, self.apart = of.length, of.fixed, of.logged, of.apart
        self.changing = of.changing

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

    def expected(self, start: int, stop: int, arms: Integers) -> Floats:
        return self.of.expected(start, stop, self.order[arms])

    def best_until(self, rounds: Integers) -> Floats:
        return self.of.best_until(rounds)

    @property
    def acceptance(self) -> float:
        return self.of.acceptance

    def lattice(self, grid: Grid) -> Lattice | None:
        law = self.of.lattice(grid)
        return None if law is None else Lattice(law.values, law.probabilities[self.order])

    def rows_on(self, grid: Grid) -> Records | None:
        records = self.of.rows_on(grid)
        if records is None:
            return None
        return Records(records.steps[:, self.order], records.rewards[:, self.order], records.drawn)


def random_order(environment: Environment, rng: np.random.Generator) -> Integers:
    """Return a random order of the arms. It does not depend on their given order (except among
    equal means), because they are sorted first.
    """
    return np.asarray(
        np.argsort(environment.means, kind="stable")[rng.permutation(environment.arms)]
    )
