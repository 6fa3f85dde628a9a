"""An environment whose means change, and the drifts of a trial: a trend, a step, waves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.inputs import (
    LARGEST_SEED,
    MOST,
    MOST_ARMS,
    Floats,
    Integers,
    number_within,
    numbers_in,
    real_number,
    shown,
    whole_number,
)
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import InOrder, checked_means

SEASON_STEPS = 50
"""Pieces of a season, in each of which the means stand still."""


@final
class ChangingMeans(InOrder):
    """Independent 0/1 rewards whose means change at given rounds.

    Regret in it is dynamic: against the best arm of each round.

    Args:
        pieces: success probabilities, shape (pieces, arms).
        starts: rounds played before each piece, shape (pieces,), increasing from 0.
        rounds: number of rounds.

    Raises:
        ValueError: a probability outside [0, 1], or starts that do not increase from 0 to below
            `rounds`.

    >>> place = ChangingMeans([[0.2, 0.8], [0.6, 0.4]], starts=[0, 300], rounds=400)
    >>> place.means.tolist(), place.length, float(place.best_until(400))
    ([0.3, 0.7], 400, 300.0)
    """

    changing = True
    apart = True

    def __init__(self, pieces: ArrayLike, starts: ArrayLike, rounds: int) -> None:
        self.pieces = numbers_in(pieces, "pieces")
        if self.pieces.ndim != 2 or 0 in self.pieces.shape or self.pieces.shape[1] > MOST_ARMS:
            raise ValueError(
                f"Expected pieces of shape (pieces, arms), got shape {self.pieces.shape}."
            )
        if not np.all((self.pieces >= 0) & (self.pieces <= 1)):
            raise ValueError("Expected pieces of success probabilities in [0, 1].")
        self.length = whole_number(rounds, "rounds", 1)
        given = numbers_in(starts, "starts")
        fits = given.shape == (len(self.pieces),) and np.all(given == np.rint(given))
        if not fits or given[0] != 0 or not np.all(np.diff(given) > 0) or given[-1] >= rounds:
            raise ValueError(
                f"Expected starts={shown(starts)} to be a whole number for each of the "
                f"{len(self.pieces)} pieces, increasing from 0 and below rounds={rounds:,}."
            )
        self.starts = given.astype(np.int64)
        self.lengths: Integers = np.diff(np.append(self.starts, self.length))
        # expected rewards of each arm, and of the best arm of each round, before each piece
        zero = np.zeros((1, self.pieces.shape[1]))
        self._before = np.vstack((zero, np.cumsum(self.pieces * self.lengths[:, None], axis=0)))
        best = np.cumsum(self.pieces.max(axis=1) * self.lengths)
        self._best_before = np.concatenate(([0.0], best))
        self.means = np.clip(self._before[-1] / self.length, 0.0, 1.0)

    @classmethod
    def abrupt(
        cls,
        arms: int,
        rounds: int,
        pieces: int,
        *,
        seed: int,
        low: float = 0.25,
        high: float = 0.75,
    ) -> Self:
        """Means that jump at random rounds: evenly spaced ones, in a new order in each piece.

        Args:
            arms: number of arms.
            rounds: number of rounds.
            pieces: number of pieces.
            seed: seed of the orders and of the rounds of the jumps.
            low: the smallest mean.
            high: the largest mean.
        """
        arms, rounds, rng = checked_size(arms, rounds, seed)
        pieces = whole_number(pieces, "pieces", 1, rounds)
        spaced = np.linspace(
            number_within(low, "low", 0, 1), number_within(high, "high", 0, 1), arms
        )
        each = np.array([rng.permutation(spaced) for _ in range(pieces)])
        cuts = np.sort(rng.choice(rounds - 1, pieces - 1, replace=False)) + 1
        return cls(each, np.concatenate(([0], cuts)), rounds)

    @classmethod
    def drift(
        cls, arms: int, rounds: int, *, seed: int, step: float = 0.03, every: int = 250
    ) -> Self:
        """Means that walk at random between .1 and .9, each on its own.

        Args:
            arms: number of arms.
            rounds: number of rounds.
            seed: seed of the walks.
            step: standard deviation of a step, at most .2.
            every: rounds between two steps.
        """
        arms, rounds, rng = checked_size(arms, rounds, seed)
        every = whole_number(every, "every", 1)
        size = number_within(step, "step", 0, 0.2, "(]")
        starts = np.arange(0, rounds, every)
        each, means = np.empty((len(starts), arms)), rng.uniform(0.2, 0.8, arms)
        for at in range(len(starts)):
            each[at] = means
            means = means + rng.normal(0.0, size, arms)
            means = np.where(means < 0.1, 0.2 - means, np.where(means > 0.9, 1.8 - means, means))
            means = np.clip(means, 0.1, 0.9)  # a step of many deviations
        return cls(each, starts, rounds)

    @classmethod
    def seasonal(
        cls, arms: int, rounds: int, period: int, *, seed: int, swing: float = 0.25
    ) -> Self:
        """Means that rise and fall with a period, each arm at its own time.

        Args:
            arms: number of arms.
            rounds: number of rounds.
            period: rounds of a season.
            seed: seed of the arms' levels (.4 to .6) and times.
            swing: the largest distance of a mean from its level, at most .4.
        """
        arms, rounds, rng = checked_size(arms, rounds, seed)
        period = whole_number(period, "period", 2)
        height = number_within(swing, "swing", 0, 0.4, "(]")
        starts = np.arange(0, rounds, max(1, period // SEASON_STEPS))
        level, phase = rng.uniform(0.4, 0.6, arms), rng.random(arms)
        turns = starts[:, None] / period + phase
        return cls(np.clip(level + height * np.sin(2 * np.pi * turns), 0, 1), starts, rounds)

    def __repr__(self) -> str:
        return f"ChangingMeans({len(self.pieces)} pieces, {self.arms} arms, {self.length:,} rounds)"

    def best_until(self, rounds: Any) -> Floats:
        done, piece = np.asarray(rounds, np.int64), self._piece(rounds)
        inside = self.pieces.max(axis=1)[piece] * (done - self.starts[piece])
        return np.asarray(self._best_before[piece] + inside)

    def expected(self, start: int, stop: int, arms: Integers) -> Floats:
        return np.asarray((self._until(stop) - self._until(start))[arms], np.float64)

    def _until(self, rounds: int) -> Floats:
        """Return each arm's expected rewards in the first `rounds` rounds, shape (arms,)."""
        piece = int(self._piece(rounds))
        return self._before[piece] + self.pieces[piece] * (rounds - self.starts[piece])

    def _piece(self, rounds: Any) -> Any:
        """Return the piece of the round after so many rounds."""
        return np.searchsorted(self.starts, rounds, side="right") - 1

    def draw(self, action: int, rng: np.random.Generator) -> float:
        chances = self.pieces[self._piece(self._take(1))]
        return float(rng.random() < chances[action])

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        return int(self.block_many(np.array([action]), rounds, grid, rng)[0])

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        chances = self.pieces[self._piece(self._take(1))]
        return np.asarray(rng.random(len(arms)) < chances[arms], np.float64)

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        start = self._take(rounds)
        assert self.length is not None
        first, last = int(self._piece(start)), int(self._piece(start + rounds - 1))
        edges = np.clip(np.append(self.starts[first : last + 1], self.length), start, None)
        times = np.diff(np.minimum(edges, start + rounds))
        times[-1] = rounds - times[:-1].sum()
        chances = self.pieces[first : last + 1][:, arms]
        ones = rng.binomial(times[:, None], chances).sum(axis=0)
        return np.asarray(ones * grid.steps, np.int64)


PIECES = 1_000
"""Into so many pieces of constant means a drift is divided at most."""

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
        number_within(self.at, "at", 0, 1, "()", of="a share of the trial")
        number_within(self.periods, "periods", 0, 1e6, "(]")
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

    def environment(self, means: ArrayLike, rounds: int) -> ChangingMeans:
        """Return an environment whose means drift like this, in at most `PIECES` pieces.

        Args:
            means: success probabilities before the drift, shape (arms,).
            rounds: how long the trial is.

        Raises:
            ValueError: a mean that leaves [0, 1] on the way.

        >>> Drift(0.1).environment([0.2, 0.3], rounds=1001).means.round(6).tolist()
        [0.25, 0.35]
        """
        first, rounds = checked_means(means), whole_number(rounds, "rounds", 1, MOST)
        starts = np.unique(np.linspace(0, rounds, min(rounds, PIECES), endpoint=False).astype(int))
        ends, last = np.append(starts[1:], rounds), max(1, rounds - 1)
        times = np.concatenate((starts, [rounds - 1], (starts + ends - 1) / 2.0)) / last
        path = first + self.added(times, len(first))
        if not ((path >= -1e-12) & (path <= 1.0 + 1e-12)).all():
            raise ValueError(
                "Expected rates that stay in [0, 1] while they change; they go from "
                f"{path.min():.4g} to {path.max():.4g}. Give a smaller drift."
            )
        return ChangingMeans(np.clip(path[-len(starts) :], 0, 1), starts, rounds)

    @property
    def is_common(self) -> bool:
        """Whether it is the same for all arms."""
        return isinstance(self.size, float)

    def __str__(self) -> str:
        more = {"step": f" after {self.at:g} of the trial", "wave": f" in {self.periods:g} periods"}
        return f"{self.shape} of {self.size}{more.get(self.shape, '')}"


def checked_size(arms: int, rounds: int, seed: int) -> tuple[int, int, np.random.Generator]:
    """Return the numbers of arms and rounds, and a generator."""
    rng = np.random.default_rng(whole_number(seed, "seed", 0, LARGEST_SEED))
    return whole_number(arms, "arms", 1, MOST_ARMS), whole_number(rounds, "rounds", 1), rng
