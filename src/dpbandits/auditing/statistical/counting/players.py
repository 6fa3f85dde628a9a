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
from dpbandits.core.errors import MixedRuns
from dpbandits.core.inputs import Floats, Integers

CELLS = 4_000_000
"""Numbers of outcomes that a task holds at once, and the most runs a task plays."""

TASKS = 2
"""Into so many parts every lot is cut at least, however many workers there are: the same lot on
every machine.
"""

SAME = 20
"""Runs that are played twice from one seed, to see whether they follow it."""

TURNS, SHORTEST = 500, 4
"""Into so many turns a task is cut where tables take turns, and the fewest runs of a turn."""

SOON = 0.003
"""Seconds of play that tell how long a run takes."""


@final
class Players:
    """Plays runs on all cores. Every task has a seed of its own, so no two share noise.

    A subject whose randomness does not follow the seed is played in this process alone, since
    copies of a process repeat each other's draws; and on either table by turns, so that what else
    changes in the meantime changes for both.
    """

    def __init__(self, subject: Subject, workers: int, *, clocked: bool = False) -> None:
        """clocked: a lot that mixed its runs is not played again run by run, which may take longer
        than there is time for; MixedRuns is raised.
        """
        global _playing
        _playing, self.subject, self._clocked = subject, subject, clocked
        self.seeded, varies = follows_its_seed(subject)
        # what is the same with every seed may have it from a clock that stood still
        self.by_turns = not (self.seeded and varies)
        self.workers = workers if sys.platform == "linux" and not self.by_turns else 1
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
        try:
            return self._played(jobs)
        except MixedRuns:
            if self._clocked:
                raise
            return self._played(jobs)

    def _played(self, jobs: list[Any]) -> list[Any]:
        if self._pool is not None:
            return list(self._pool.map(play_here, jobs))
        play = play_by_turns if self.by_turns else play_pair
        return [play(self.subject, *job) for job in jobs]


def follows_its_seed(subject: Subject) -> tuple[bool, bool]:
    """Whether runs of one seed are the same, and whether runs of different seeds differ."""
    table = subject.pairs()[0].a
    try:
        one, other = (subject.outcomes(table, SAME, 1) for _ in range(2))
    except MixedRuns:
        return follows_its_seed(subject)
    return bool(np.array_equal(one, other)), bool((one != one[0]).any())


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


def play_by_turns(
    subject: Subject, pair: Neighbours, runs: int, seeds: list[int], event: Event | None
) -> Any:
    """As `play_pair`, a few runs on one table and as many on the other; which comes first is drawn
    for each turn.
    """
    rng, size = np.random.default_rng(seeds), max(SHORTEST, -(-runs // TURNS))
    tables, lots = (pair.a, pair.b), (list[Floats](), list[Floats]())
    for done in range(0, runs, size):
        for side in rng.permutation(2).tolist():
            drawn = int(rng.integers(2**63))
            lots[side].append(subject.outcomes(tables[side], min(size, runs - done), drawn))
    a, b = map(np.concatenate, lots)
    return (a, b) if event is None else hits(event, a, b)
