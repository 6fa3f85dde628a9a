"""A cluster of which something is lost for good: it is said what, and what is stored stays."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from dpbandits import WorkerError
from dpbandits.sweeps import Cluster, SweepStep, load_config, run_sweep
from dpbandits.sweeps.executors import tasks
from tests.places import REPOSITORY
from tests.sweeps.executors.slow_policy import begun, write_slow_sweep

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster's own machinery


@pytest.fixture(autouse=True)
def one_cell_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a cell that is held could keep back the answer of one beside it, as the clock has it."""
    monkeypatch.setattr(tasks, "MOST_JOBS", 1)


@contextmanager
def scheduler_and_worker() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Processes of their own, which may be killed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    dask, address = [sys.executable, "-m", "dask"], f"tcp://127.0.0.1:{port}"
    calls = (
        ("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"),
        ("worker", address, "--nthreads", "1", "--no-dashboard"),
    )
    with ExitStack() as stack:
        running = [
            stack.enter_context(subprocess.Popen([*dask, *call], stderr=subprocess.DEVNULL))
            for call in calls
        ]
        for one in running:
            stack.callback(one.kill)
        yield running[0], address


@pytest.mark.long
def test_cells_that_end_their_workers(tmp_path: Path, start: Callable[..., Any]) -> None:
    """As for want of memory: after some workers no other is tried, and it is said why."""
    sweep = write_slow_sweep(tmp_path, cells=1, seconds=0, module="deadly")
    source = (tmp_path / "deadly.py").read_text()
    ended = f"if os.getpid() != {os.getpid()}: os._exit(1)"  # never the process that asks
    (tmp_path / "deadly.py").write_text(source.replace("time.sleep(0)", ended))
    executor = Cluster(start(1).scheduler_address)
    with pytest.raises(WorkerError, match="died over the same cells"):
        run_sweep(load_config(sweep), tmp_path / "out", executor=executor)
    assert len(begun(tmp_path)) == 4


@pytest.mark.long
@pytest.mark.parametrize(("after", "waiting"), [(1, False), (5, False), (2, True)])
def test_a_scheduler_that_is_lost(
    tmp_path: Path, start: Callable[..., Any], after: int, waiting: bool
) -> None:
    """Killed as an answer is stored, or while the next one is waited for; the same sweep goes on
    from what is stored.
    """
    module = f"slow_lost_{after}"
    sweep = write_slow_sweep(tmp_path, cells=8, seconds=0, module=module, held=after)
    config, stored = load_config(sweep), set[int]()

    def kill() -> None:
        scheduler.kill()
        scheduler.wait()

    def look(step: SweepStep) -> None:
        stored.add(step.cell.policy.mark)  # type: ignore[attr-defined]
        if len(stored) == after:
            threading.Timer(0.5, kill).start() if waiting else kill()

    lost = pytest.raises(WorkerError, match=r"was lost\. Finished cells are kept")
    with scheduler_and_worker() as (scheduler, address), lost:
        run_sweep(config, tmp_path / "out", executor=Cluster(address), progress=look)
    assert len(stored) == after
    (tmp_path / "go").touch()
    again = Cluster(start(2).scheduler_address)
    results = run_sweep(config, tmp_path / "out", executor=again)
    assert results.computed == 8 - after


@pytest.mark.long
def test_a_scheduler_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped, not ended: it counts as lost once it has not answered for long."""
    monkeypatch.setattr(tasks, "LOOK", 0.5)
    monkeypatch.setenv("PYTHONPATH", f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}")
    sweep = write_slow_sweep(tmp_path, cells=4, seconds=0, module="slow_hanging", held=1)
    config = load_config(sweep)

    def stop(step: SweepStep) -> None:
        scheduler.send_signal(signal.SIGSTOP)

    lost = pytest.raises(WorkerError, match=r"was lost\. Finished cells are kept")
    with scheduler_and_worker() as (scheduler, address), lost:
        executor = Cluster(address, latest=10.0)
        run_sweep(config, tmp_path / "out", executor=executor, progress=stop)


@pytest.mark.long
def test_no_worker_is_left(
    tmp_path: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so, and does not wait for ever."""
    monkeypatch.setattr(tasks, "LOOK", 0.2)
    config = load_config(
        write_slow_sweep(tmp_path, cells=6, seconds=0, module="slow_alone", held=1)
    )
    dask = start(1)
    executor = Cluster(dask.scheduler_address, latest=3.0)

    def send_home(step: SweepStep) -> None:
        dask.scale(0)

    with pytest.raises(WorkerError, match="has had no worker for 3 seconds"):
        run_sweep(config, tmp_path / "out", executor=executor, progress=send_home)
    assert not list((tmp_path / "out" / "cells" / "claims").glob("*.claim")), "claims are free"
