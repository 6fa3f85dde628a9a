"""What the world answers. A policy never sees an environment; hosts do. Whether the two fit each
other is said before anything is played.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.inputs import Floats, Integers, numbers_in, refuse_class, shown, whole_number
from dpbandits.core.privacy import Grid
from dpbandits.policies.contract import Policy


class Lattice(NamedTuple):
    """The law of one round's reward on a grid: values in grid steps, shape (levels,);
    probabilities, shape (arms, levels).
    """

    values: Integers
    probabilities: Floats


class Records(NamedTuple):
    """Whole rounds, one a row: rewards in grid steps and as they are, each of shape (rounds, arms).

    drawn: a round plays a random row; else round t plays row t.
    """

    steps: Integers
    rewards: Floats
    drawn: bool


class Environment(ABC):
    """Rewards in [0, 1] for `arms` arms.

    means: each arm's expected reward, shape (arms,): what pseudo-regret is measured against.
    length: rounds it can be played for; None where there is no end or none that is known.
    fixed: whether every reward of every round is fixed before play starts; `between` then sums
        them.
    logged: whether the past is replayed: which round comes next depends on every earlier action.
    apart: whether the arms' rewards of one round are independent of each other.
    """

    means: Floats
    length: int | None = None
    fixed: bool = False
    logged: bool = False
    apart: bool = False

    @final
    @property
    def arms(self) -> int:
        return len(self.means)

    @abstractmethod
    def draw(self, action: int, rng: np.random.Generator) -> float:
        """One round's reward."""

    @abstractmethod
    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        """The sum of `rounds` rewards put on the grid, in grid steps; the same law as so many
        draws, by one draw.
        """

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        """One round's rewards of several arms together (they may be correlated), shape
        (len(arms),).

        Raises:
            TypeError: this environment knows the played arm's reward only.
        """
        raise TypeError(
            f"{type(self).__name__} shows one arm's reward a round; full information needs every "
            "arm's (a Table, say)."
        )

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        """The sums of `rounds` such rounds put on the grid, in grid steps, shape (len(arms),); the
        same law, by one draw.

        Raises:
            TypeError: this environment knows the played arm's reward only.
        """
        raise TypeError(
            f"{type(self).__name__} shows one arm's reward a round; full information needs every "
            "arm's (a Table, say)."
        )

    def between(self, start: int, stop: int, arms: Integers) -> Floats:
        """What each of these arms gives in rounds start + 1 … stop together, shape (len(arms),), of
        a `fixed` environment.

        Raises:
            TypeError: this environment draws its rewards as it is played.
        """
        raise TypeError(
            f"{type(self).__name__} draws its rewards as it is played; only a Table in its order "
            "knows them beforehand."
        )

    @property
    def acceptance(self) -> float:
        """The share of accepted entries among those walked so far, in a replayed log. NaN before
        the first entry, and in other environments.
        """
        return float("nan")

    @final
    def gap(self, action: int) -> float:
        """Best mean minus this action's mean."""
        return float(
            self.means.max() - self.means[whole_number(action, "action", 0, self.arms - 1)]
        )

    @final
    @property
    def gaps(self) -> Floats:
        return np.asarray(self.means.max() - self.means)

    def fresh(self) -> Self:
        """This environment at its first round; the same object if rounds are independent."""
        return self

    @final
    def _with(self, **changes: Any) -> Self:
        """The same data with another position, say; nothing of it is copied or checked again."""
        copy = object.__new__(type(self))
        copy.__dict__ |= self.__dict__ | changes
        return copy

    def lattice(self, grid: Grid) -> Lattice | None:
        """The exact law on the grid if rounds are independent, else None."""
        return None

    def rows_on(self, grid: Grid) -> Records | None:
        """The rounds' rewards on the grid, where they are the rows of a table, else None."""
        return None


class Independent(Environment):
    """Independent rounds, and arms independent of each other. Subclasses say how to draw one reward
    and what its law is on a grid.
    """

    apart = True

    def __init__(self, means: Floats) -> None:
        self.means = means

    @cached_property
    def _lattices(self) -> dict[Grid, Lattice]:
        """Laws that were asked for; also of a subclass whose constructor calls no other."""
        return {}

    @abstractmethod
    def on_grid(self, steps: int) -> Lattice:
        """The law of round(steps · reward)."""

    @abstractmethod
    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        """One round's rewards of several arms, independent of each other."""

    @final
    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        values, probabilities = self.lattice(grid)
        if len(values) == 2:
            ones = rng.binomial(rounds, probabilities[arms, 1])
            return np.asarray(values[0] * (rounds - ones) + values[1] * ones, np.int64)
        return np.asarray(rng.multinomial(rounds, probabilities[arms]) @ values, np.int64)

    @final
    def lattice(self, grid: Grid) -> Lattice:
        """The law the vault adds up, rounding included."""
        if grid not in self._lattices:
            self._lattices[grid] = (
                two_point(self.means, grid)
                if grid.rounding == "bernoulli"
                else self.on_grid(grid.steps)
            )
        return self._lattices[grid]

    @final
    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        values, probabilities = self.lattice(grid)
        row = probabilities[action]
        if len(values) == 2:
            ones = int(rng.binomial(rounds, row[1]))
            return int(values[0]) * (rounds - ones) + int(values[1]) * ones
        return int(rng.multinomial(rounds, row) @ values)


def two_point(means: Floats, grid: Grid) -> Lattice:
    """0/1 rewards: a Bernoulli law, or what Bernoulli rounding makes of any law with these
    means.
    """
    return Lattice(np.array([0, grid.steps]), np.stack([1 - means, means], axis=1))


def checked_means(means: ArrayLike, what: str = "means") -> Floats:
    """A non-empty vector of numbers in [0, 1]."""
    array = numbers_in(means, what)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"Expected {what} to be a list of at least one number, such as [0.5, 0.4], got shape "
            f"{array.shape}."
        )
    bad = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if len(bad):
        raise ValueError(f"Expected {what} in [0, 1]; entry {bad[0]} is {array[bad[0]]}.")
    return array


def require_pair(policy: object, environment: object) -> None:
    """Raise unless this is a policy, that an environment, and both have as many arms.

    Raises:
        TypeError: something else, or a class in place of an instance.
        ValueError: the numbers of arms differ.
    """
    refuse_class(policy, "a policy", "dpbandits.DPKLUCB(arms=5, epsilon=1)")
    refuse_class(environment, "an environment", "dpbandits.Bernoulli([0.5, 0.4])")
    if not isinstance(policy, Policy):
        raise TypeError(
            f"Expected a policy such as dpbandits.DPKLUCB(arms=5, epsilon=1), got {shown(policy)}."
        )
    if not isinstance(environment, Environment):
        raise TypeError(
            "Expected an environment such as dpbandits.Bernoulli([0.5, 0.4]), got "
            f"{shown(environment)}."
        )
    if policy.arms != environment.arms:
        raise ValueError(
            f"The policy has arms={policy.arms}, the environment has {environment.arms}; they "
            "must be equal."
        )
