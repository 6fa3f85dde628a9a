"""The executor of many machines: the workers of a Dask cluster. Needs `dpbandits[cluster]`.

Workers need no common folder with us: results come back over the network, and only the process that
asked for them writes. Work that a lost worker had not handed back is handed out again.
"""

import os
import pickle
import platform
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from itertools import chain
from typing import Any

from dpbandits.core.errors import WorkerError
from dpbandits.sweeps.digests import code_digest, own_digest
from dpbandits.sweeps.executors.base import THREADS, Job, PlayedJob, play_jobs
from dpbandits.sweeps.executors.sending import send
from dpbandits.sweeps.executors.tasks import play_in_tasks
from dpbandits.sweeps.executors.workers import Workers, lost_scheduler

SOONEST = 10.0
"""Seconds within which a scheduler has to answer."""

LATEST = 60.0
"""Seconds within which a worker has to be there."""

RETRIES = 2
"""How often a task that raises is tried again, perhaps elsewhere. A lost worker's tasks are the
scheduler's to repeat, and are not counted here.
"""

DECIDING = ("numpy", "scipy", "numba", "polars")
"""Libraries whose version may decide a last digit, beside Python's."""


class Cluster:
    """Plays jobs on the workers of a Dask scheduler, each with one thread.

    Raises:
        WorkerError: on play: the scheduler or its workers do not answer, are lost for good, have
            several threads, or run other code than this process.
    """

    def __init__(self, scheduler: str, *, soonest: float = SOONEST, latest: float = LATEST) -> None:
        """scheduler: its address, as in tcp://host:8786. soonest: seconds within which it has to
        be there. latest: seconds within which a worker has to come, the first one and another one
        where the last one left; more where workers wait in a queue themselves.
        """
        self.scheduler, self.soonest, self.latest = scheduler, soonest, latest

    def play(self, jobs: Iterable[Job]) -> Iterator[PlayedJob]:
        source = iter(jobs)
        first = next(source, None)
        if first is None:
            return
        with self.connected() as client, self.named_losses():
            places, around = tuple(sys.path), surroundings()

            def submit(task: list[Job]) -> Future[list[PlayedJob]]:
                parcel = pickle.dumps(task), own_code(task)
                return send(client, play_pickled, *parcel, places, around, retries=RETRIES)

            workers = Workers(client, self.scheduler, self.latest)
            yield from play_in_tasks(chain([first], source), submit, workers.width)

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """A client of the scheduler, once a worker is there."""
        import distributed

        make: Any = distributed.Client
        try:
            client = make(self.scheduler, timeout=self.soonest, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise WorkerError(
                f"No Dask scheduler answers at {self.scheduler} ({' '.join(str(error).split())}). "
                "Start one with `dask scheduler`, and give the address that it prints."
            ) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=self.latest)
            except TimeoutError:
                raise WorkerError(
                    f"The Dask scheduler at {self.scheduler} has no workers. Start some with "
                    f"`NUMBA_NUM_THREADS=1 dask worker {self.scheduler} --nthreads 1`."
                ) from None
            except OSError:
                raise lost_scheduler(self.scheduler) from None
            yield client

    @contextmanager
    def named_losses(self) -> Iterator[None]:
        """What Dask raises where workers or the scheduler are lost, in one sentence."""
        from distributed.client import ClosedClientError
        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise WorkerError(
                f"Several workers of {self.scheduler} died over the same cells, for want of memory "
                f"perhaps. Finished cells are kept. Dask says: {' '.join(str(error).split())}"
            ) from None
        except (CancelledError, ClosedClientError):
            raise lost_scheduler(self.scheduler) from None


def keep_to_one_thread() -> None:
    """On a worker: what its libraries start by themselves is one thread, too.

    Raises:
        WorkerError: it is too late, for numba was imported with more.
    """
    numba: Any = sys.modules.get("numba")
    if numba is None:
        os.environ.update(dict.fromkeys(THREADS, "1"))
    elif numba.config.NUMBA_NUM_THREADS != 1:
        raise WorkerError(
            f"Expected compiled code to have one thread, a worker on {platform.node()} gives it "
            f"{numba.config.NUMBA_NUM_THREADS}. Start workers with `NUMBA_NUM_THREADS=1 dask "
            "worker ADDRESS --nworkers CORES --nthreads 1`."
        )


@cache
def surroundings() -> dict[str, str]:
    """What numbers depend on beside a cell: this package's code, Python, and some libraries."""
    return {
        "dpbandits": code_digest()[:12],
        "python": platform.python_version(),
        **{name: version(name) for name in DECIDING},
    }


def own_code(task: Iterable[Job]) -> list[str]:
    """A hash of the file of each job's policy, where that is the user's own."""
    return [own_digest(type(job.cell.policy)) for job in task]


def play_pickled(
    task: bytes, own: list[str], places: tuple[str, ...], around: dict[str, str]
) -> list[PlayedJob]:
    """On a worker: see `play_jobs`. The jobs are unpacked only here, once a policy of the user's
    own can be found, and libraries that it imports know that they have one thread.

    own: what `own_code` says of these jobs where they come from.

    Raises:
        WorkerError: this worker's code, its libraries or a policy's file are not those of the
            sender, or have threads.
    """
    here = surroundings()
    if here != around:
        other = ", ".join(
            f"{name} {here[name]} in place of {around[name]}"
            for name in around
            if here[name] != around[name]
        )
        raise WorkerError(
            f"A worker on {platform.node()} has other code, which might give other numbers: "
            f"{other}. Install the same there."
        )
    keep_to_one_thread()
    sys.path.extend(place for place in places if place not in sys.path)
    jobs: list[Job] = pickle.loads(task)
    for job, here_too, sent in zip(jobs, own_code(jobs), own, strict=True):
        if here_too != sent:
            raise WorkerError(
                f"A worker on {platform.node()} has imported another file as "
                f"{type(job.cell.policy).__module__} than this sweep's: it was edited since, or "
                "lies in another folder. Start the workers anew."
            )
    return play_jobs(jobs)
