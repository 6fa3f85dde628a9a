"""Tasks of some seconds, made of many jobs: as many as the finished ones let one expect."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.executors.base import Job, PlayedJob

SECONDS = 2.0
"""What a task should take: long against the cost of sending it, short against what a lost worker
loses.
"""

MOST_JOBS = 500
"""Of one task, so that its results, too, stay small."""

LOOK = 10.0
"""Seconds without an answer, after which one looks whether anybody is there who could give it."""

Submit = Callable[[list[Job]], Future[list[PlayedJob]]]


class Pace:
    """How long jobs take, by the policy's class and the rounds."""

    def __init__(self) -> None:
        self.seconds_a_run: dict[tuple[type, int], float] = {}

    def note(self, job: Job, seconds: float) -> None:
        """Later jobs count more: the first ones also compile."""
        kind, took = job_kind(job.cell), seconds / job.runs
        self.seconds_a_run[kind] = (self.seconds_a_run.get(kind, took) + took) / 2

    def expected(self, job: Job) -> float:
        """Seconds; a kind that is not known yet fills a task alone."""
        return job.runs * self.seconds_a_run.get(job_kind(job.cell), SECONDS)

    def task(self, jobs: Iterator[Job]) -> list[Job]:
        """The next task; empty when there is no job left."""
        task: list[Job] = []
        seconds = 0.0
        while seconds < SECONDS and len(task) < MOST_JOBS:
            job = next(jobs, None)
            if job is None:
                break
            task.append(job)
            seconds += self.expected(job)
        return task


def job_kind(cell: Cell) -> tuple[type, int]:
    return type(cell.policy), cell.rounds


def play_in_tasks(
    jobs: Iterable[Job], submit: Submit, width: Callable[[], int]
) -> Iterator[PlayedJob]:
    """Keep `width()` tasks on their way until every job is played. What a task did not finish goes
    out again, as a task of its own.

    width: raises where there is nobody who plays; not asked once all is answered.
    """
    source, pace = iter(jobs), Pace()
    running: dict[Future[list[PlayedJob]], list[Job]] = {}
    try:
        while True:
            # one task goes out in any case: once the last one is answered, nobody is asked for
            while (not running or len(running) < width()) and (task := pace.task(source)):
                running[submit(task)] = task
            if not running:
                return
            for future in done_of(running, width):
                task = running.pop(future)
                played = future.result()
                if rest := task[len(played) :]:
                    running[submit(rest)] = rest
                for job, one in zip(task, played, strict=False):
                    pace.note(job, one.facts["seconds"])
                    yield one
    finally:
        for future in running:
            future.cancel()


def done_of(
    running: Iterable[Future[list[PlayedJob]]], width: Callable[[], int]
) -> list[Future[list[PlayedJob]]]:
    """The tasks that are done, once there are some: those that failed come last, so that nothing of
    the others is lost.
    """
    while not (done := wait(running, timeout=LOOK, return_when=FIRST_COMPLETED).done):
        width()
    return sorted(done, key=lambda future: future.cancelled() or future.exception() is not None)
