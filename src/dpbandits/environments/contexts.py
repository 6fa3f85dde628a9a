"""Environments with contexts: visitors whose features say which arm suits them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.contexts import checked_rows
from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import Floats, Integers, numbers_in, switch
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import Environment, Lattice, two_point


@final
class ContextTable(Environment):
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

    def __init__(self, contexts: ArrayLike, means: ArrayLike, *, logged: bool = False) -> None:
        rows = numbers_in(contexts, "contexts")
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(
                f"Expected contexts of shape (rows, features), got shape {rows.shape}."
            )
        self.contexts = checked_rows(rows, rows.shape[1], "contexts")
        self.chances = numbers_in(means, "means")
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
        self._at = 0

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
        rows = numbers_in(contexts, "contexts")
        if len(names) < 2 or rows.shape[:1] != labels.shape:
            raise ValueError(
                f"Expected at least two different classes, and as many labels as contexts; got "
                f"{len(names)} and {len(labels)} for contexts of shape {rows.shape}."
            )
        return cls(rows, np.eye(len(names))[which], logged=logged)

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
        rows, each = numbers_in(contexts, "contexts"), numbers_in(weights, "weights")
        if rows.ndim != 2 or each.ndim != 2 or rows.shape[1] != each.shape[1]:
            raise ValueError(
                "Expected contexts of shape (rows, features) and weights of shape (arms, "
                f"features), got {rows.shape} and {each.shape}."
            )
        score = rows @ each.T + numbers_in(offsets, "offsets")
        return cls(rows, 1.0 / (1.0 + np.exp(-score)))

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
        if not self.in_order:
            return int(rng.integers(len(self.contexts)))
        if self._at >= len(self.contexts):
            raise EnvironmentExhausted(f"All {len(self.contexts)} visitors of the log were played.")
        self._at += 1
        return self._at - 1

    def reward(self, row: int, arm: int, rng: np.random.Generator) -> float:
        """A reward of an arm, for the visitor of this row."""
        return float(rng.random() < self.chances[row, arm])

    def fresh(self) -> ContextTable:
        return self._with(_at=0) if self.in_order else self

    def draw(self, action: int, rng: np.random.Generator) -> float:
        return self.reward(self.visit(rng), action, rng)

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        if self.in_order:
            return sum(round(self.draw(action, rng)) for _ in range(rounds)) * grid.steps
        return int(rng.binomial(rounds, self.means[action])) * grid.steps

    def lattice(self, grid: Grid) -> Lattice | None:
        return None if self.in_order else two_point(self.means, grid)
