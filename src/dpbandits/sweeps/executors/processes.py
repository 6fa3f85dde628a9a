"""The executor of one machine: processes, each a fresh interpreter with one thread."""

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

from joblib.externals.loky import get_reusable_executor

from dpbandits.sweeps.executors.base import THREADS, Job, PlayedJob, play_job, play_jobs
from dpbandits.sweeps.executors.tasks import play_in_tasks


class Processes:
    """Plays jobs in processes of this machine. One worker, or one job, stays in this process.

    Processes are spawned, never forked: a copy of a process with threads may hang.
    """

    def __init__(self, workers: int | None = None) -> None:
        """workers: jobs played at once; None: one a core."""
        self.workers = workers or os.cpu_count() or 1

    def play(self, jobs: Iterable[Job]) -> Iterator[PlayedJob]:
        source = iter(jobs)
        if self.workers == 1:
            yield from map(play_job, source)
            return
        first = list(islice(source, 2))
        if len(first) < 2:
            yield from (play_job(job, self.workers) for job in first)
            return
        pool = pool_of(self.workers)
        try:
            with replacements_unsaid():
                yield from play_in_tasks(
                    chain(first, source),
                    lambda task: pool.submit(play_jobs, task),
                    lambda: 2 * self.workers,  # one at work and one at hand
                )
        except BaseException:
            pool.shutdown(wait=True, kill_workers=True)
            raise


def pool_of(workers: int) -> Any:
    """Processes that wait for the next sweep for a while: their start is dear. Workers that an
    earlier sweep left waiting do not know this sweep's folder: other places, other workers.
    """
    return get_reusable_executor(
        max_workers=workers,
        env=dict.fromkeys(THREADS, "1"),
        initializer=import_from,
        initargs=(tuple(sys.path),),
    )


@contextmanager
def replacements_unsaid() -> Iterator[None]:
    """A worker that has grown, by compiling, is replaced by a fresh one. The pool warns of it in a
    thread of its own; where warnings are errors that thread would end, and the sweep would wait
    for ever.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        yield


def import_from(places: tuple[str, ...]) -> None:
    """A worker imports modules, a policy of one's own among them, from where its parent does."""
    sys.path[:] = places
