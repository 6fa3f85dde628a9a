"""The contract of an environment, which gives the rewards of simulations. A policy never sees
it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import (
    Floats,
    Integers,
    numbers_in,
    refuse_others,
    shown,
    whole_number,
)
from dpbandits.core.privacy import Grid
from dpbandits.policies.contract import Policy, problem_of


class Lattice(NamedTuple):
    """The law of one round's reward on a grid.

    Args:
        values: in grid steps, shape (levels,).
        probabilities: shape (arms, levels).
    """

    values: Integers
    probabilities: Floats


class Records(NamedTuple):
    """Whole rounds, one per row.

    Args:
        steps: rewards in grid steps, shape (rounds, arms).
        rewards: the rewards, shape (rounds, arms).
        drawn: True if a round plays a random row; otherwise round t plays row t.
    """

    steps: Integers
    rewards: Floats
    drawn: bool


class Environment(ABC):
    """Base class of environments: rewards in [0, 1] for `arms` arms.

    Attributes:
        means: each arm's expected reward, shape (arms,), the reference of pseudo-regret.
        length: number of rounds it can be played; None if there is no end or it is unknown.
        fixed: True if every reward of every round is fixed before the run; `between` then sums
            them.
        logged: True for a replayed log: the next round depends on all earlier actions.
        apart: True if the arms' rewards of one round are independent of each other.
        changing: True if means change over rounds; `means` are averages over all rounds then.
        columns: names of the arms, where a data frame had them.
    """

    means: Floats
    length: int | None = None
    fixed: bool = False
    logged: bool = False
    apart: bool = False
    changing: bool = False
    columns: list[str] | None = None

    @final
    @property
    def arms(self) -> int:
        """Number of arms."""
        return len(self.means)

    @abstractmethod
    def draw(self, action: int, rng: np.random.Generator) -> float:
        """Return one round's reward of the arm `action`."""

    @abstractmethod
    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        """Return the sum of `rounds` rewards on the grid, in grid steps. It has the law of `rounds`
        draws, but takes one.
        """

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        """Return one round's rewards of several arms together (they may be correlated), shape
        (len(arms),).

        Raises:
            TypeError: this environment has the played arm's reward only.
        """
        raise TypeError(
            f"{type(self).__name__} shows one arm's reward a round; full information needs every "
            "arm's (a Table, say)."
        )

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        """Return the sums of `rounds` such rounds on the grid, in grid steps, shape (len(arms),);
        the same law, by one draw.

        Raises:
            TypeError: this environment has the played arm's reward only.
        """
        raise TypeError(
            f"{type(self).__name__} shows one arm's reward a round; full information needs every "
            "arm's (a Table, say)."
        )

    def between(self, start: int, stop: int, arms: Integers) -> Floats:
        """Return the sum of each of these arms' rewards in rounds start + 1 … stop, shape
        (len(arms),), in a `fixed` environment.

        Raises:
            TypeError: this environment draws its rewards during the run.
        """
        raise TypeError(
            f"{type(self).__name__} draws its rewards as it is played; only a Table in its order "
            "knows them beforehand."
        )

    def expected(self, start: int, stop: int, arms: Integers) -> Floats:
        """Return the sum of these arms' mean rewards in rounds start + 1 … stop, shape
        (len(arms),).
        """
        return np.asarray(self.means[arms] * (stop - start))

    def best_until(self, rounds: Integers) -> Floats:
        """Return the expected rewards of the best arm of each round (and visitor), summed over the
        first rounds, in the shape of `rounds`.
        """
        return np.asarray(self.means.max() * rounds)

    @property
    def acceptance(self) -> float:
        """The share of accepted entries among those visited so far, in a replayed log. NaN before
        the first entry, and in other environments.
        """
        return float("nan")

    @final
    def gap(self, action: int) -> float:
        """Return the best mean minus this action's mean."""
        return float(
            self.means.max() - self.means[whole_number(action, "action", 0, self.arms - 1)]
        )

    @final
    @property
    def gaps(self) -> Floats:
        """The best mean minus each arm's mean, shape (arms,)."""
        return np.asarray(self.means.max() - self.means)

    def fresh(self) -> Self:
        """Return this environment at its first round; the same object if rounds are independent."""
        return self

    @final
    def _with(self, **changes: Any) -> Self:
        """Return a copy with changes, such as another position; the data are neither copied nor
        checked again.
        """
        copy = object.__new__(type(self))
        copy.__dict__ |= self.__dict__ | changes
        return copy

    def lattice(self, grid: Grid) -> Lattice | None:
        """Return the exact law on the grid if rounds are independent, else None."""
        return None

    def rows_on(self, grid: Grid) -> Records | None:
        """Return the rounds' rewards on the grid if they are the rows of a table, else None."""
        return None

    @cached_property
    def _lattices(self) -> dict[Grid, Lattice]:
        """Laws on grids, each worked out once."""
        return {}

    @final
    def _lattice_on(self, grid: Grid, on_grid: Callable[[int], Lattice]) -> Lattice:
        """Return the law that the vault adds up, with rounding, in an environment of independent
        rounds.

        Args:
            on_grid: returns the law of round(steps · reward).
        """
        if grid not in self._lattices:
            of_steps = grid.rounding != "bernoulli"
            self._lattices[grid] = on_grid(grid.steps) if of_steps else two_point(self.means, grid)
        return self._lattices[grid]


class InOrder(Environment):
    """Base class of environments that have a `length` if they play given rounds once, in their
    order.
    """

    _ended: ClassVar[str] = "All {:,} rounds were played."
    _next: int = 0

    def fresh(self) -> Self:
        return self if self.length is None else self._with(_next=0)

    @final
    def _take(self, rounds: int) -> int:
        """Return the number of rounds before the next `rounds` ones.

        Raises:
            EnvironmentExhausted: there are not so many more.
        """
        assert self.length is not None
        if self._next + rounds > self.length:
            raise EnvironmentExhausted(self._ended.format(self.length))
        self._next += rounds
        return self._next - rounds


class Independent(Environment):
    """Base class of environments with independent rounds and arms. Subclasses define how to draw
    one reward, and its law on a grid.
    """

    apart = True

    def __init__(self, means: ArrayLike) -> None:
        self.means = np.asarray(means, np.float64)

    @abstractmethod
    def on_grid(self, steps: int) -> Lattice:
        """Return the law of round(steps · reward)."""

    @abstractmethod
    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        """Return one round's rewards of several arms, independent of each other."""

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
        return self._lattice_on(grid, self.on_grid)

    @final
    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        values, probabilities = self.lattice(grid)
        row = probabilities[action]
        if len(values) == 2:
            ones = int(rng.binomial(rounds, row[1]))
            return int(values[0]) * (rounds - ones) + int(values[1]) * ones
        return int(rng.multinomial(rounds, row) @ values)


def two_point(means: Floats, grid: Grid) -> Lattice:
    """Return the law of 0/1 rewards: a Bernoulli law, or any law with these means after Bernoulli
    rounding.
    """
    return Lattice(np.array([0, grid.steps]), np.stack([1 - means, means], axis=1))


def checked_means(means: ArrayLike, what: str = "means") -> Floats:
    """Return a non-empty vector of numbers in [0, 1]."""
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


def require_pair(policy: Any, environment: Any) -> None:
    """Raise unless the arguments are a policy and an environment with the same number of arms.

    Raises:
        TypeError: another object, or a class instead of an instance.
        ValueError: the numbers of arms differ.
    """
    refuse_others(policy, Policy, "a policy", "dpbandits.DPKLUCB(arms=5, epsilon=1)")
    refuse_others(environment, Environment, "an environment", "dpbandits.Bernoulli([0.5, 0.4])")
    if policy.arms != environment.arms:
        raise ValueError(
            f"The policy has arms={policy.arms}, the environment has {environment.arms}; they "
            "must be equal."
        )
    places = {name: at for at, name in enumerate(policy.labels or ())}
    columns = [] if environment.columns is None else list(environment.columns)
    if any(places.get(name, at) != at for at, name in enumerate(columns)):
        arms = [name for name in columns if name in places]  # others may be a first row of rewards
        raise ValueError(
            f"Expected the columns of the rewards in the order of the arms, {list(places)[:8]}; "
            f"got {shown(arms)}."
        )
    if environment.changing and problem_of(policy) is not None:
        raise ValueError(
            f"Expected a policy that plays single arms in {environment!r}, got {policy.name}: "
            "dynamic regret of super arms is not computed."
        )
