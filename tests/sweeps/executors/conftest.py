"""Dask clusters on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.places import REPOSITORY


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Starts clusters on this machine, whose workers find this package."""
    monkeypatch.setenv("PYTHONPATH", f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    distributed, running = pytest.importorskip("distributed"), list[Any]()

    def starter(workers: int, threads: int = 1) -> Any:
        running.append(
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=threads, dashboard_address=None
            )
        )
        return running[-1]

    yield starter
    for one in running:
        one.close()
