"""Who plays on a Dask cluster, as long as a sweep lasts."""

from __future__ import annotations

from time import monotonic
from typing import Any

from dpbandits.core.errors import WorkerError


class Workers:
    """The workers of a client's scheduler, asked anew before each task and while none is answered.

    latest: seconds within which the scheduler has to say, and within which another worker has to
        come where the last one left.
    """

    def __init__(self, client: Any, scheduler: str, latest: float) -> None:
        self._client, self._scheduler, self._latest = client, scheduler, latest
        self._seen = monotonic()

    def width(self) -> int:
        """For how many tasks there is work: two a worker, so that none waits for the next.

        Raises:
            WorkerError: the scheduler is lost or hangs, no worker is left, or one has several
                threads.
        """
        threads = self._threads()
        if threads:
            require_one_thread(max(threads.values()))
            self._seen = monotonic()
        elif monotonic() - self._seen > self._latest:
            raise WorkerError(
                f"The Dask scheduler at {self._scheduler} has had no worker for "
                f"{self._latest:g} seconds. Start some with `NUMBA_NUM_THREADS=1 dask worker "
                f"{self._scheduler} --nthreads 1`, where `dpbandits[cluster]` is installed; one "
                "that ends at once says why in its log. Finished cells are kept."
            )
        return max(2, 2 * len(threads))

    def _threads(self) -> dict[str, int]:
        """The threads of each worker, by its address."""
        client = self._client
        try:
            return dict(client.sync(client.scheduler.ncores, callback_timeout=self._latest))
        except (OSError, AttributeError):  # a client that has given up knows no scheduler
            raise lost_scheduler(self._scheduler) from None


def lost_scheduler(scheduler: str) -> WorkerError:
    return WorkerError(
        f"The Dask scheduler at {scheduler} was lost. Finished cells are kept: the same command "
        "goes on from here."
    )


def require_one_thread(most: int) -> None:
    """Compiled loops take one core each, and have never been tried side by side in one process."""
    if most != 1:
        raise WorkerError(
            f"Expected workers with one thread each, there is one with {most}. Start them with "
            "`NUMBA_NUM_THREADS=1 dask worker ADDRESS --nworkers CORES --nthreads 1`."
        )
