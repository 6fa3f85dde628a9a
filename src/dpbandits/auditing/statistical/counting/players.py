"""Plays runs on several cores, each lot from a seed of its own."""

import math
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Self, final

import numpy as np

from dpbandits.auditing.statistical.counting.events import Event, hits
from dpbandits.auditing.statistical.counting.tables import Neighbours
from dpbandits.auditing.statistical.subjects import Subject
from dpbandits.core.arrays import Floats, Integers

CELLS = 4_000_000
"""Numbers of outcomes that a task holds at once, and the most runs a task plays."""

TASKS = 2
"""Into so many parts every lot is cut at least, however many workers there are: the same lot on
every machine.
"""

SOON = 0.003
"""Seconds of play that tell how long a run takes."""


@final
class Players:
    """Plays runs on all cores. Every task has a seed of its own, so no two share noise.

    A subject whose randomness does not follow the seed is played in this process alone: copies of a
    process repeat each other's draws.
    """

    def __init__(self, subject: Subject, workers: int) -> None:
        global _playing
        _playing, self.subject = subject, subject
        self.seeded = follows_its_seed(subject)
        self.workers = workers if sys.platform == "linux" and self.seeded else 1
        # Forked, so that objects which cannot be pickled can be audited too.
        self._pool = (
            ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork"))
            if self.workers > 1
            else None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def outcomes(self, pair: Neighbours, runs: int, seed: int) -> tuple[Floats, Floats]:
        """Outcomes on either table."""
        lots = self._all(pair, runs, seed, None)
        return np.concatenate([a for a, _ in lots]), np.concatenate([b for _, b in lots])

    def counts(self, pair: Neighbours, event: Event, runs: int, seed: int) -> Integers:
        """Hits of a learnt event; outcomes are forgotten as they come."""
        total: Integers = np.sum(self._all(pair, runs, seed, event), axis=0)
        return total

    def pace(self, pair: Neighbours, seed: int) -> float:
        """Seconds it takes to play a run on either table: of few runs if they are slow."""
        runs, took = 1, 0.0
        while True:
            began = time.perf_counter()
            self.outcomes(pair, runs, seed)
            took = time.perf_counter() - began
            if took > SOON or runs > 10**5:
                return max(1e-9, took) / runs
            runs *= 10

    def _all(self, pair: Neighbours, runs: int, seed: int, event: Event | None) -> list[Any]:
        tasks = max(math.ceil(runs * pair.a.size / CELLS), min(TASKS, runs))
        sizes = [runs // tasks + (i < runs % tasks) for i in range(tasks)]
        seeds = (
            np.random.SeedSequence([seed % 2**32, 342])
            .generate_state(2 * tasks, np.uint64)
            .reshape(tasks, 2)
            .tolist()
        )
        jobs = [
            (pair, size, pair_of_seeds, event)
            for size, pair_of_seeds in zip(sizes, seeds, strict=True)
        ]
        if self._pool is not None:
            return list(self._pool.map(play_here, jobs))
        return [play_pair(self.subject, *job) for job in jobs]


def follows_its_seed(subject: Subject) -> bool:
    """Whether runs of one seed are the same."""
    table = subject.pairs()[0].a
    return bool(np.array_equal(subject.outcomes(table, 20, 1), subject.outcomes(table, 20, 1)))


_playing: Subject | None = None


def play_here(job: tuple[Any, ...]) -> Any:
    assert _playing is not None
    return play_pair(_playing, *job)


def play_pair(
    subject: Subject, pair: Neighbours, runs: int, seeds: list[int], event: Event | None
) -> Any:
    a, b = (
        subject.outcomes(table, runs, seed)
        for table, seed in zip((pair.a, pair.b), seeds, strict=True)
    )
    return (a, b) if event is None else hits(event, a, b)
