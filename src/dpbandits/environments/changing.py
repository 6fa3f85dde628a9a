"""Rates that change while a trial runs: a trend, a step, waves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import MOST, Floats, Integers, real_number, shown, whole_number
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import Environment, checked_means

SHAPES = ("trend", "step", "wave")


@final
@dataclass(frozen=True)
class Drift:
    """How rates change over a trial: what is added to them at each time.

    Args:
        size: by how much; a number for all arms, so that none gets better than another by it, or
            one for each arm.
        shape: "trend" (from 0 at the start to `size` at the end), "step" (0, then `size`), or
            "wave" (`size` times a sine).
        at: of a step, the share of the trial after which it comes.
        periods: of waves, how many there are in the trial.

    Raises:
        ValueError: an argument out of its range.

    >>> Drift(0.2).added(np.array([0.0, 0.5, 1.0]), arms=2).tolist()
    [[0.0, 0.0], [0.1, 0.1], [0.2, 0.2]]
    """

    size: float | tuple[float, ...]
    shape: Literal["trend", "step", "wave"] = "trend"
    at: float = 0.5
    periods: float = 1.0

    def __post_init__(self) -> None:
        many = isinstance(self.size, (list, tuple, np.ndarray))
        given: Sequence[object] = list(self.size) if many else [self.size]  # type: ignore[arg-type]
        sizes = [real_number(each) for each in given]
        if not sizes or any(size is None or not abs(size) <= 1e100 for size in sizes):
            raise ValueError(
                f"Expected size={shown(self.size)} to be a number, or one for each arm: what is "
                "added to the rates."
            )
        if self.shape not in SHAPES:
            raise ValueError(f"Expected shape={shown(self.shape)} to be among {', '.join(SHAPES)}.")
        at, periods = real_number(self.at), real_number(self.periods)
        if at is None or not 0.0 < at < 1.0:
            raise ValueError(f"Expected at={shown(self.at)} to be a share between 0 and 1.")
        if periods is None or not 0.0 < periods <= 1e6:
            raise ValueError(f"Expected periods={shown(self.periods)} to be a number above 0.")
        plain = tuple(float(size or 0.0) for size in sizes)
        object.__setattr__(self, "size", plain if many else plain[0])

    def added(self, times: Floats, arms: int) -> Floats:
        """Return what is added to each arm's rate, shape (times, arms).

        Args:
            times: as shares of the trial, shape (times,).

        Raises:
            ValueError: it has sizes of another number of arms.
        """
        sizes: Floats = np.atleast_1d(np.asarray(self.size, np.float64))
        if len(sizes) != arms and not self.is_common:
            raise ValueError(
                f"Expected size= of the drift to be a number, or {arms} numbers, one an arm; got "
                f"{len(sizes)}."
            )
        if self.shape == "trend":
            share = times
        elif self.shape == "step":
            share = (times >= self.at).astype(np.float64)
        else:
            share = np.sin(2.0 * math.pi * self.periods * times)
        return np.asarray(share[:, None] * np.broadcast_to(sizes, arms)[None, :])

    @property
    def is_common(self) -> bool:
        """Whether it is the same for all arms."""
        return isinstance(self.size, float)

    def __str__(self) -> str:
        more = {"step": f" after {self.at:g} of the trial", "wave": f" in {self.periods:g} periods"}
        return f"{self.shape} of {self.size}{more.get(self.shape, '')}"


@final
class Changing(Environment):
    """Independent 0/1 rewards whose means change.

    Its `means` are averages over all rounds. Pseudo-regret is against the arm that is best over the
    rounds that were played, by the means at each of them.

    Args:
        means: success probabilities before the drift, shape (arms,).
        drift: what is added to them.
        rounds: how long the trial is.

    Raises:
        ValueError: a mean that leaves [0, 1] on the way.

    >>> Changing([0.2, 0.3], Drift(0.1), rounds=1001).means.round(6).tolist()
    [0.25, 0.35]
    """

    apart, fixed = True, True

    def __init__(self, means: ArrayLike, drift: Drift, rounds: int) -> None:
        if not isinstance(drift, Drift):
            raise TypeError(
                f"Expected drift={shown(drift)} to be dpbandits.Drift(0.2), say: what is added to "
                "the means."
            )
        first = checked_means(means)
        self.length, self.drift = whole_number(rounds, "rounds", 1, MOST), drift
        path = path_of(first, drift, self.length)
        self._sums = np.concatenate([np.zeros((1, len(first))), np.cumsum(path, axis=0)])
        self._path, self._next, self.means = path, 0, path.mean(axis=0)
        self._first = first

    def __repr__(self) -> str:
        first = [round(float(mean), 6) for mean in self._first]
        return f"Changing({first}, {self.drift!r}, rounds={self.length})"

    def fresh(self) -> Self:
        return self._with(_next=0)

    def draw(self, action: int, rng: np.random.Generator) -> float:
        at = self._take(1)
        return float(rng.random() < self._path[at, action])

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        at = self._take(1)
        return np.asarray(rng.random(len(arms)) < self._path[at, arms], np.float64)

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        at = self._take(rounds)
        chances = self._path[at : at + rounds, action]
        return grid.steps * int((rng.random(rounds) < chances).sum())

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        at = self._take(rounds)
        chances = self._path[at : at + rounds, arms]
        ones = (rng.random((rounds, len(arms))) < chances).sum(axis=0)
        return np.asarray(grid.steps * ones, np.int64)

    def between(self, start: int, stop: int, arms: Integers) -> Floats:
        """Return the sum of each of these arms' means in rounds start + 1 … stop, shape
        (len(arms),).
        """
        return np.asarray(self._sums[stop, arms] - self._sums[start, arms])

    def _take(self, rounds: int) -> int:
        start = self._next
        assert self.length is not None
        if start + rounds > self.length:
            raise EnvironmentExhausted(
                f"The means are given for {self.length:,} rounds, and {start + rounds:,} were "
                "played. Give Changing(…, rounds=) more."
            )
        self._next += rounds
        return start


def path_of(means: Floats, drift: Drift, rounds: int) -> Floats:
    """Return the means in each round, shape (rounds, arms).

    Raises:
        ValueError: one of them leaves [0, 1].
    """
    times = np.linspace(0.0, 1.0, rounds) if rounds > 1 else np.zeros(1)
    path = means[None, :] + drift.added(times, len(means))
    if not ((path >= -1e-12) & (path <= 1.0 + 1e-12)).all():
        low, high = float(path.min()), float(path.max())
        raise ValueError(
            f"Expected rates that stay in [0, 1] while they change; they go from {low:.4g} to "
            f"{high:.4g}. Give a smaller drift."
        )
    return np.asarray(np.clip(path, 0.0, 1.0))
