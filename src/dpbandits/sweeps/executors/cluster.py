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
from dpbandits.sweeps.digests import code_digest
from dpbandits.sweeps.executors.base import THREADS, Job, PlayedJob, play_jobs
from dpbandits.sweeps.executors.sending import send
from dpbandits.sweeps.executors.tasks import play_in_tasks

SOONEST = 10.0
"""Seconds within which a scheduler has to answer."""

LATEST = 60.0
"""Seconds within which its first worker has to be there."""

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
        """scheduler: its address, as in tcp://host:8786. soonest, latest: seconds that the
        scheduler, and its first worker, have to be there.
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
                parcel = pickle.dumps(task)
                return send(client, play_pickled, parcel, places, around, retries=RETRIES)

            def width() -> int:
                try:
                    return max(2, 2 * len(threads_of(client)))
                except OSError:
                    raise self.lost() from None

            yield from play_in_tasks(chain([first], source), submit, width)

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
            require_one_thread(max(threads_of(client).values()))
            yield client

    @contextmanager
    def named_losses(self) -> Iterator[None]:
        """What Dask raises where workers or the scheduler are lost, in one sentence."""
        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise WorkerError(
                f"Several workers of {self.scheduler} died over the same cells, for want of memory "
                f"perhaps. Finished cells are kept. Dask says: {' '.join(str(error).split())}"
            ) from None
        except CancelledError:
            raise self.lost() from None

    def lost(self) -> WorkerError:
        return WorkerError(
            f"The Dask scheduler at {self.scheduler} was lost. Finished cells are kept: the same "
            "command goes on from here."
        )


def threads_of(client: Any) -> dict[str, int]:
    """The threads of each worker, by its address."""
    return dict(client.nthreads())


def require_one_thread(most: int) -> None:
    """Compiled loops take one core each, and have never been tried side by side in one process."""
    if most != 1:
        raise WorkerError(
            f"Expected workers with one thread each, there is one with {most}. Start them with "
            "`NUMBA_NUM_THREADS=1 dask worker ADDRESS --nworkers CORES --nthreads 1`."
        )


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


def play_pickled(task: bytes, places: tuple[str, ...], around: dict[str, str]) -> list[PlayedJob]:
    """On a worker: see `play_jobs`. The jobs are unpacked only here, once a policy of the user's
    own can be found, and libraries that it imports know that they have one thread.

    Raises:
        WorkerError: this worker's code or libraries are not those of the sender, or have threads.
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
    return play_jobs(jobs)
