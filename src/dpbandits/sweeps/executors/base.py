"""What an executor is: it plays jobs somewhere, in any order, and hands back each that is finished.

A run's numbers are those of its cell, seed and number (`simulate`), so they are the same bit for
bit wherever and in whatever company it is played.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import polars as pl

from dpbandits.sweeps.cells import Cell, Facts
from dpbandits.sweeps.measuring import measure

THREADS = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
"""Read when a library is imported, so they stand in a worker's environment before that."""


class Job(NamedTuple):
    """A cell's runs from number `first` on."""

    cell: Cell
    first: int

    @property
    def runs(self) -> int:
        return self.cell.runs - self.first


class PlayedJob(NamedTuple):
    """What a job comes to: see `measure`."""

    key: str
    frame: pl.DataFrame
    facts: Facts


class Executor(Protocol):
    """Plays jobs and stores nothing: that is `run_sweep`'s part, in its own process."""

    def play(self, jobs: Iterable[Job]) -> Iterator[PlayedJob]:
        """Every job once, in any order, each as soon as it is finished. Jobs are taken only when
        there is somebody to play them: to take one is to keep others from it.
        """
        ...


def play_job(job: Job, workers: int | None = 1) -> PlayedJob:
    """In this process; of one job, runs may be spread over `workers` processes."""
    return PlayedJob(job.cell.key, *measure(job.cell, workers, job.first))


def play_jobs(jobs: list[Job]) -> list[PlayedJob]:
    """A task: many jobs in turn. What it does not return is to be handed out again, so a job that
    fails costs the finished ones before it nothing; as the first of a task, it raises.
    """
    played: list[PlayedJob] = []
    for job in jobs:
        try:
            played.append(play_job(job))
        except Exception:
            if not played:
                raise
            break
    return played


def effort_of(cell: Cell) -> float:
    """Roughly how long a cell takes: some policies play every round, some sample often, the others
    jump from release to release.
    """
    about = cell.policy.about
    return (
        cell.runs * cell.rounds * (1.0 if about.every_round else 0.1 if about.randomised else 0.001)
    )
