"""Environments from real data: a table of rewards, a log of past decisions, and a table of visitors
whose features say which arm suits them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.core.contexts import by_name, checked_rows, labels_of
from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import MOST_ARMS, Floats, Integers, numbers_in, switch, whole_number
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import Environment, InOrder, Lattice, Records, two_point


@final
class Table(InOrder):
    """A table of rewards: round t of a run plays row t, one person per row.

    Args:
        rewards: shape (rounds, arms), entries in [0, 1].
        resample: True draws a random row each round (with replacement) instead; rounds are then
            independent and unlimited.

    >>> Table([[1, 0], [0, 0]]).means.tolist()
    [0.5, 0.0]
    """

    _ended = "The table has {} rows; use resample=True to play longer."

    def __init__(self, rewards: ArrayLike, *, resample: bool = False) -> None:
        self.rewards = numbers_in(rewards, "rewards", secret=True)
        if self.rewards.ndim != 2 or 0 in self.rewards.shape:
            raise ValueError(
                "Expected rewards of shape (rounds, arms) with at least one of each, got shape "
                f"{self.rewards.shape}."
            )
        if not np.all((self.rewards >= 0) & (self.rewards <= 1)):
            row, arm = np.argwhere(~((self.rewards >= 0) & (self.rewards <= 1)))[0]
            raise ValueError(
                f"Expected rewards in [0, 1]; row {row}, arm {arm} is not (rescale, or fill what "
                "is missing)."
            )
        self.columns = labels_of(rewards)
        self.resample = switch(resample, "resample")
        self.means = self.rewards.mean(axis=0)
        self.length = None if self.resample else len(self.rewards)
        self.fixed = not self.resample
        self._rows: dict[Grid, Integers] = {}

    def __repr__(self) -> str:
        return f"Table(rounds={len(self.rewards)}, arms={self.arms}, resample={self.resample})"

    def draw(self, action: int, rng: np.random.Generator) -> float:
        row = int(rng.integers(len(self.rewards))) if self.resample else self._take(1)
        return float(self.rewards[row, action])

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        law = self.lattice(grid)
        if law is not None:
            values, probabilities = law
            return int(rng.multinomial(rounds, probabilities[action]) @ values)
        start = self._take(rounds)
        rewards = self.rewards[start : start + rounds, action]
        if grid.rounding == "bernoulli":
            return grid.steps * int((rng.random(rounds) < rewards).sum())
        return int(np.rint(rewards * grid.steps).sum())

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        row = int(rng.integers(len(self.rewards))) if self.resample else self._take(1)
        return np.asarray(self.rewards[row, arms])

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        """Draw how often each row is played and sum, so that one person's rewards remain
        together.
        """
        times, rows = self._times(rounds, rng)
        if grid.rounding == "bernoulli":
            return np.asarray(
                grid.steps * rng.binomial(times[:, None], self.rewards[rows][:, arms]).sum(axis=0),
                np.int64,
            )
        played = self._on_grid(grid)[rows]
        return np.asarray(
            (times @ played)[arms] if len(arms) == self.arms else times @ played[:, arms], np.int64
        )

    def between(self, start: int, stop: int, arms: Integers) -> Floats:
        if self.resample:
            return super().between(start, stop, arms)
        return np.asarray(self.rewards[start:stop, arms].sum(axis=0))

    def _times(self, rounds: int, rng: np.random.Generator) -> tuple[Integers, Integers | slice]:
        """Return how often each of which rows is played in the next `rounds` rounds."""
        if not self.resample:
            start = self._take(rounds)
            return np.ones(rounds, np.int64), slice(start, start + rounds)
        n = len(self.rewards)
        if rounds < n:
            rows, times = np.unique(rng.integers(n, size=rounds), return_counts=True)
            return times, rows
        return rng.multinomial(rounds, np.full(n, 1 / n)), slice(None)

    def lattice(self, grid: Grid) -> Lattice | None:
        return self._lattice_on(grid, self._counted) if self.resample else None

    def rows_on(self, grid: Grid) -> Records | None:
        if grid.rounding == "bernoulli":
            return None
        return Records(self._on_grid(grid), self.rewards, self.resample)

    def _on_grid(self, grid: Grid) -> Integers:
        """Return the table in grid steps."""
        if grid not in self._rows:
            self._rows[grid] = np.rint(self.rewards * grid.steps).astype(np.int64)
        return self._rows[grid]

    def _counted(self, steps: int) -> Lattice:
        rounded = np.rint(self.rewards * steps).astype(np.int64)
        values, where = np.unique(rounded, return_inverse=True)
        where = where.reshape(rounded.shape)
        counts = np.stack(
            [np.bincount(where[:, arm], minlength=len(values)) for arm in range(self.arms)]
        )
        return Lattice(values, counts / len(self.rewards))


@final
class LoggedReplay(Environment):
    """Replay of logged decisions by rejection sampling; unbiased under random logging.

    A round moves down the log to the next entry whose action is the policy's; entries passed over
    are lost. Under uniform logging one entry in `arms` is accepted. Other propensities are
    equalised: an entry with propensity p is first kept with probability (smallest propensity)/p.

    Source: Li, Chu, Langford and Wang 2011.

    Args:
        actions: logged actions, shape (entries,).
        rewards: their rewards in [0, 1], shape (entries,).
        arms: number of arms.
        propensities: the logging policy's probabilities of its actions, shape (entries,); None for
            uniform logging.

    >>> LoggedReplay([0, 1, 1], [1, 0, 1], arms=2).means.tolist()
    [1.0, 0.5]
    """

    logged = True

    def __init__(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        *,
        arms: int,
        propensities: ArrayLike | None = None,
    ) -> None:
        arms = whole_number(arms, "arms", 1, MOST_ARMS)
        self.actions = whole_actions(actions, arms)
        self.rewards = numbers_in(rewards, "rewards", secret=True)
        n = len(self.actions)
        if self.rewards.shape != (n,):
            raise ValueError(
                f"Expected a reward for each of the {n} actions, got shape {self.rewards.shape}."
            )
        outside = np.flatnonzero(~((self.rewards >= 0) & (self.rewards <= 1)))
        if len(outside):
            raise ValueError(
                f"Expected rewards in [0, 1]; that of entry {outside[0]} is not (rescale, or "
                "drop what is missing)."
            )
        self.keep = self._keep(propensities, n)
        # A policy meets kept entries, so entries are weighted by their probability to be kept.
        self.means = np.bincount(self.actions, self.rewards * self.keep, arms) / np.bincount(
            self.actions, self.keep, arms
        )
        self._next = self.accepted = 0

    def __repr__(self) -> str:
        return f"LoggedReplay(entries={len(self.actions)}, arms={self.arms})"

    @property
    def acceptance(self) -> float:
        """Accepted entries over visited entries, so far; NaN before the first."""
        return self.accepted / self._next if self._next else float("nan")

    @property
    def expected_acceptance(self) -> float:
        """The expected rate: (mean probability of being kept)/arms."""
        return float(self.keep.mean()) / self.arms

    def fresh(self) -> Self:
        return self._with(_next=0, accepted=0)

    def draw(self, action: int, rng: np.random.Generator) -> float:
        while self._next < len(self.actions):
            i = self._next
            self._next += 1
            if self.actions[i] == action and (self.keep[i] >= 1 or rng.random() < self.keep[i]):
                self.accepted += 1
                return float(self.rewards[i])
        raise EnvironmentExhausted(f"The log of {len(self.actions)} entries is used up.")

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        raise TypeError(
            "A log is replayed round by round: which entry comes next depends on every earlier "
            "action."
        )

    @staticmethod
    def _keep(propensities: ArrayLike | None, n: int) -> NDArray[np.float64]:
        if propensities is None:
            return np.ones(n)
        p = numbers_in(propensities, "propensities")
        if p.shape != (n,) or not np.all((p > 0) & (p <= 1)):
            raise ValueError(
                f"Expected {n} propensities in (0, 1], one an entry; got shape {p.shape}, or one "
                "outside."
            )
        return np.asarray(p.min() / p)


def whole_actions(actions: ArrayLike, arms: int) -> Integers:
    """Return a non-empty vector of arm numbers, each of which occurs."""
    try:
        given = np.asarray(actions)
    except ValueError:
        raise ValueError(
            "Expected actions to be a list of whole numbers, got lists of unequal length."
        ) from None
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu":
        raise ValueError(
            f"Expected actions to be a non-empty list of whole numbers, got shape {given.shape} "
            f"of {given.dtype}."
        )
    if given.min() < 0 or given.max() >= arms:
        raise ValueError(
            f"Expected actions from 0 to {arms - 1}, got {given.min()} to {given.max()}."
        )
    whole: Integers = given.astype(np.int64)
    counts = np.bincount(whole, minlength=arms)
    if counts.min() == 0:
        raise ValueError(
            f"Arm {counts.argmin()} never occurs in the log: nothing can be replayed for it."
        )
    return whole


# With contexts.


@final
class ContextTable(InOrder):
    """Visitors are the rows of a table: a context, and the mean reward of every arm.

    A reward is 0 or 1, with the visitor's mean as its chance. A policy without contexts may play
    it, too: for that an arm's reward is that of a random visitor. Regret of either is against the
    best arm for each visitor.

    Args:
        contexts: shape (rows, features), each of norm at most 1 (see `dpbandits.UnitContexts`).
        means: shape (rows, arms), in [0, 1]. Means of 0 and 1 are rewards themselves.
        logged: True to play the rows once, in their order, as a log of visitors; by default each
            round plays a random row.

    >>> table = ContextTable([[0.6, 0.8], [0.8, 0.6]], [[0.1, 0.9], [0.3, 0.2]])
    >>> table.means.tolist(), round(table.best, 3)
    ([0.2, 0.55], 0.6)
    """

    _ended = "All {} visitors of the log were played."

    def __init__(self, contexts: ArrayLike, means: ArrayLike, *, logged: bool = False) -> None:
        rows = numbers_in(contexts, "contexts", secret=True)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(
                f"Expected contexts of shape (rows, features), got shape {rows.shape}."
            )
        self.contexts = checked_rows(rows, rows.shape[1], "contexts")
        self.names, self.columns = labels_of(contexts), labels_of(means)
        self.chances = numbers_in(means, "means", secret=True)
        fits = self.chances.ndim == 2 and len(self.chances) == len(rows) and self.chances.size
        if not fits or not np.all((self.chances >= 0) & (self.chances <= 1)):
            got = "some outside of it" if fits else f"shape {self.chances.shape}"
            raise ValueError(
                f"Expected means in [0, 1] of shape ({len(rows)}, arms), a row for each context, "
                f"got {got}."
            )
        self.means = self.chances.mean(axis=0)
        self.in_order = self.changing = switch(logged, "logged")
        self.length = len(rows) if self.in_order else None

    @classmethod
    def of_classes(
        cls, contexts: ArrayLike, classes: Sequence[Any] | ArrayLike, *, logged: bool = False
    ) -> Self:
        """A table of labelled rows as a bandit: an arm is a class, in sorted order, and its reward
        is 1 where it is the row's own.

        Args:
            contexts: shape (rows, features).
            classes: a label for each row.
        """
        labels = np.asarray(classes)
        if labels.ndim != 1 or any(each is None or each != each for each in labels.tolist()):
            raise ValueError("Expected classes to be one label a row, and none of them missing.")
        names, which = np.unique(labels, return_inverse=True)
        rows = numbers_in(contexts, "contexts", secret=True)
        if len(names) < 2 or rows.shape[:1] != labels.shape:
            raise ValueError(
                f"Expected at least two different classes, and as many labels as contexts; got "
                f"{len(names)} and {len(labels)} for contexts of shape {rows.shape}."
            )
        made = cls(contexts, np.eye(len(names))[which], logged=logged)
        made.columns = [str(name) for name in names]
        return made

    @classmethod
    def logistic(
        cls, contexts: ArrayLike, weights: ArrayLike, offsets: ArrayLike | float = 0.0
    ) -> Self:
        """Rewards of chance 1/(1 + e^−(w_a·x + b_a)).

        Args:
            contexts: shape (rows, features); each round plays a random row.
            weights: w, shape (arms, features).
            offsets: b, shape (arms,), or one for all arms.
        """
        rows = numbers_in(contexts, "contexts", secret=True)
        each = numbers_in(by_name(weights, labels_of(contexts)), "weights")
        if rows.ndim != 2 or each.ndim != 2 or rows.shape[1] != each.shape[1]:
            raise ValueError(
                "Expected contexts of shape (rows, features) and weights of shape (arms, "
                f"features), got {rows.shape} and {each.shape}."
            )
        score = rows @ each.T + numbers_in(offsets, "offsets")
        return cls(contexts, 1.0 / (1.0 + np.exp(-score)))

    def __repr__(self) -> str:
        rows, features = self.contexts.shape
        order = ", logged=True" if self.in_order else ""
        return f"ContextTable({rows} rows, {features} features, {self.arms} arms{order})"

    @property
    def features(self) -> int:
        """Numbers in a context."""
        return int(self.contexts.shape[1])

    @property
    def best(self) -> float:
        """Mean reward of a round if every visitor gets the arm that is best for them."""
        return float(self.chances.max(axis=1).mean())

    def best_until(self, rounds: Any) -> Floats:
        if not self.in_order:
            return np.asarray(self.best * np.asarray(rounds))
        return np.append(0.0, np.cumsum(self.chances.max(axis=1)))[rounds]

    def expected(self, start: int, stop: int, arms: Integers) -> Floats:
        if not self.in_order:
            return super().expected(start, stop, arms)
        return np.asarray(self.chances[start:stop, arms].sum(axis=0))

    def visit(self, rng: np.random.Generator) -> int:
        """The row of the next visitor.

        Raises:
            EnvironmentExhausted: a log is at its end.
        """
        return self._take(1) if self.in_order else int(rng.integers(len(self.contexts)))

    def reward(self, row: int, arm: int, rng: np.random.Generator) -> float:
        """A reward of an arm, for the visitor of this row."""
        return float(rng.random() < self.chances[row, arm])

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return self.reward(self.visit(rng), action, rng)

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        if self.in_order:
            start = self._take(rounds)
            ones = rng.random(rounds) < self.chances[start : start + rounds, action]
            return int(ones.sum()) * grid.steps
        return int(rng.binomial(rounds, self.means[action])) * grid.steps

    def lattice(self, grid: Grid) -> Lattice | None:
        return None if self.in_order else two_point(self.means, grid)
