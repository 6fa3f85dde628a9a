"""Real data as environments: whole tables of rewards, and logs of decisions somebody else made."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.environments.base import Environment, Exhausted, Integers, Lattice, two_point
from dpbandits.privacy import Grid


@final
class Table(Environment):
    """A table of rewards, shape (rounds, arms), entries in [0, 1]: round t of a run plays row t, one person a row.

    resample: draw a random row each round (with replacement) instead; rounds are then independent and unlimited.
    """

    def __init__(self, rewards: ArrayLike, *, resample: bool = False) -> None:
        self.rewards = np.asarray(rewards, dtype=np.float64)
        if self.rewards.ndim != 2 or 0 in self.rewards.shape:
            raise ValueError(f"Expected rewards of shape (rounds, arms) with at least one of each, got shape {self.rewards.shape}.")
        if not np.all((self.rewards >= 0) & (self.rewards <= 1)):
            row, arm = np.argwhere(~((self.rewards >= 0) & (self.rewards <= 1)))[0]
            raise ValueError(f"Expected rewards in [0, 1]; row {row}, arm {arm} is not (rescale, or fill what is missing).")
        self.resample, self.means, self._next = resample, self.rewards.mean(axis=0), 0

    def __repr__(self) -> str:
        return f"Table(rounds={len(self.rewards)}, arms={self.arms}, resample={self.resample})"

    def fresh(self) -> Self:
        return self if self.resample else type(self)(self.rewards)

    def draw(self, action: int, rng: np.random.Generator) -> float:
        row = int(rng.integers(len(self.rewards))) if self.resample else self._take(1)
        return float(self.rewards[row, action])

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        if self.resample:
            values, probabilities = self.lattice(grid)  # type: ignore[misc]
            return int(rng.multinomial(rounds, probabilities[action]) @ values)
        start = self._take(rounds)
        rewards = self.rewards[start : start + rounds, action]
        if grid.rounding == "bernoulli":
            return grid.steps * int((rng.random(rounds) < rewards).sum())
        return int(np.rint(rewards * grid.steps).sum())

    def lattice(self, grid: Grid) -> Lattice | None:
        if not self.resample:
            return None
        if grid.rounding == "bernoulli":
            return two_point(self.means, grid)
        steps = np.rint(self.rewards * grid.steps).astype(np.int64)
        values, where = np.unique(steps, return_inverse=True)
        where = where.reshape(steps.shape)
        counts = np.stack([np.bincount(where[:, arm], minlength=len(values)) for arm in range(self.arms)])
        return Lattice(values, counts / len(self.rewards))

    def _take(self, rounds: int) -> int:
        if self._next + rounds > len(self.rewards):
            raise Exhausted(f"The table has {len(self.rewards)} rows; use resample=True to play longer.")
        self._next += rounds
        return self._next - rounds


@final
class LoggedReplay(Environment):
    """Replay of logged decisions by rejection sampling (Li, Chu, Langford and Wang 2011): unbiased under random logging.

    A round walks down the log to the next entry whose action is the policy's; entries passed over are lost. Under uniform
    logging one entry in `arms` is accepted. Other propensities are evened out: an entry with propensity p is first kept with
    probability (smallest propensity)/p.

    actions, rewards: shape (entries,). propensities: shape (entries,), the logging policy's probability of what it did.
    """

    def __init__(self, actions: ArrayLike, rewards: ArrayLike, *, arms: int, propensities: ArrayLike | None = None) -> None:
        self.actions: Integers = np.asarray(actions, dtype=np.int64)
        self.rewards = np.asarray(rewards, dtype=np.float64)
        n = len(self.actions)
        if self.actions.shape != (n,) or self.rewards.shape != (n,) or n == 0:
            raise ValueError(f"Expected actions and rewards of one equal length, got shapes {self.actions.shape} and {self.rewards.shape}.")
        if self.actions.min() < 0 or self.actions.max() >= arms:
            raise ValueError(f"Expected actions from 0 to {arms - 1}, found {self.actions.min()} to {self.actions.max()}.")
        if not np.all((self.rewards >= 0) & (self.rewards <= 1)):
            raise ValueError("Expected rewards in [0, 1].")
        counts = np.bincount(self.actions, minlength=arms)
        if counts.min() == 0:
            raise ValueError(f"Arm {counts.argmin()} never occurs in the log: nothing can be replayed for it.")
        self.means = np.bincount(self.actions, self.rewards, minlength=arms) / counts
        self.keep = self._keep(propensities, n)
        self._next = self.accepted = 0

    def __repr__(self) -> str:
        return f"LoggedReplay(entries={len(self.actions)}, arms={self.arms})"

    @property
    def acceptance(self) -> float:
        """Accepted entries over entries walked, so far; NaN before the first."""
        return self.accepted / self._next if self._next else float("nan")

    @property
    def expected_acceptance(self) -> float:
        """The rate a policy should see: (mean probability of being kept)/arms."""
        return float(self.keep.mean()) / self.arms

    def fresh(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__ |= self.__dict__
        copy._next = copy.accepted = 0
        return copy

    def draw(self, action: int, rng: np.random.Generator) -> float:
        while self._next < len(self.actions):
            i = self._next
            self._next += 1
            if self.actions[i] == action and (self.keep[i] >= 1 or rng.random() < self.keep[i]):
                self.accepted += 1
                return float(self.rewards[i])
        raise Exhausted(f"The log of {len(self.actions)} entries is used up.")

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        raise TypeError("A log is replayed round by round: which entry comes next depends on every earlier action.")

    @staticmethod
    def _keep(propensities: ArrayLike | None, n: int) -> NDArray[np.float64]:
        if propensities is None:
            return np.ones(n)
        p = np.asarray(propensities, dtype=np.float64)
        if p.shape != (n,) or not np.all((p > 0) & (p <= 1)):
            raise ValueError(f"Expected {n} propensities in (0, 1].")
        keep: NDArray[np.float64] = p.min() / p
        return keep
