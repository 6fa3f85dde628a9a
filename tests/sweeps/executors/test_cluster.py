"""A Dask cluster plays the same numbers, and a worker that is killed loses only what it held."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from dpbandits import WorkerError
from dpbandits.sweeps import Cluster, Results, SweepStep, load_config, run_sweep
from dpbandits.sweeps.executors import cluster as room
from tests.conftest import TINY
from tests.places import REPOSITORY
from tests.sweeps.executors.slow_policy import begun, write_slow_sweep

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster's own machinery
TIMES = ["seconds"]


def test_a_cluster_plays_the_same_numbers(
    tiny: Results, tmp_path: Path, start: Callable[..., Any]
) -> None:
    dask = start(2)
    results = run_sweep(tiny.config, tmp_path, executor=Cluster(dask.scheduler_address))
    assert results.computed == 12
    assert_frame_equal(results.summary.drop(TIMES), tiny.summary.drop(TIMES), check_exact=True)
    assert_frame_equal(results.curves, tiny.curves, check_exact=True)
    with distributed.Client(dask) as client:
        threads = client.run(lambda: __import__("numba").config.NUMBA_NUM_THREADS)
    assert list(threads.values()) == [1, 1]


@pytest.mark.long
def test_what_fails_is_tried_twice_more(tmp_path: Path, start: Callable[..., Any]) -> None:
    """As where a disk is full for a moment. What fails for good says so, and is not tried on."""
    one = Cluster(start(1).scheduler_address)
    sweep = write_slow_sweep(tmp_path, cells=2, seconds=0, module="fails_twice", fails=2)
    assert run_sweep(load_config(sweep), tmp_path / "out", executor=one).computed == 2
    assert Counter(mark for mark, _ in begun(tmp_path)) == {0: 3, 1: 3}
    for_ever = tmp_path / "for ever"
    for_ever.mkdir()
    sweep = write_slow_sweep(for_ever, cells=1, seconds=0, module="fails_always", fails=99)
    with pytest.raises(OSError, match="The disk is full"):
        run_sweep(load_config(sweep), for_ever / "out", executor=one)
    assert len(begun(for_ever)) == 3


@pytest.mark.long
def test_the_guide_s_example_runs(
    tmp_path: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's only block of Python, with a cluster in place of the reader's."""
    page = (REPOSITORY / "docs" / "guides" / "clusters.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert "tcp://host:8786" in block
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-sweep.toml").write_text(TINY)
    names: dict[str, Any] = {}
    exec(block.replace("tcp://host:8786", start(1).scheduler_address), names)
    assert names["results"].computed == len(names["results"].cells)
    assert len(names["part"].cells) < len(names["results"].cells)


@pytest.mark.long
def test_a_killed_worker_loses_only_what_was_in_flight(
    tmp_path: Path, start: Callable[..., Any]
) -> None:
    """Killed while it plays; its tasks go to the other worker, and no stored cell is played
    again.
    """
    sweep = write_slow_sweep(tmp_path, cells=16, seconds=0.4, module="slow_killed")
    config, dask = load_config(sweep), start(2)
    stored: list[int] = []
    safe: set[int] = set()

    def kill_one(step: SweepStep) -> None:
        stored.append(step.cell.policy.mark)  # type: ignore[attr-defined]
        if len(stored) == 5:
            safe.update(stored)
            os.kill(begun(tmp_path)[-1][1], signal.SIGKILL)

    results = run_sweep(
        config, tmp_path / "out", executor=Cluster(dask.scheduler_address), progress=kill_one
    )
    times = Counter(mark for mark, _ in begun(tmp_path))
    assert results.computed == len(results.cells) == 16
    assert sorted(times) == list(range(16))
    repeated = {mark for mark, count in times.items() if count > 1}
    assert repeated, "it was killed while it played"
    assert not repeated & safe
    assert all(count <= 2 for count in times.values())


def test_the_scheduler_knows_nothing_of_what_is_stored(
    tmp_path: Path, start: Callable[..., Any]
) -> None:
    """So that no lost worker has it played again: what it knows of is not stored yet."""
    sweep, dask = write_slow_sweep(tmp_path, cells=6, seconds=0, module="slow_known"), start(2)
    known: list[int] = []

    def look(step: SweepStep) -> None:
        known.append(len(dask.scheduler.tasks))

    executor = Cluster(dask.scheduler_address)
    run_sweep(load_config(sweep), tmp_path / "out", executor=executor, progress=look)
    assert len(known) == 6
    assert all(tasks <= 5 - stored for stored, tasks in enumerate(known))


def test_a_scheduler_that_is_not_there(tiny: Results, tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:1 "):
        run_sweep(tiny.config, tmp_path, executor=Cluster("tcp://127.0.0.1:1", soonest=1.0))
    with pytest.raises(WorkerError, match="No Dask scheduler answers at nonsense"):
        run_sweep(tiny.config, tmp_path, executor=Cluster("nonsense://", soonest=1.0))
    assert not list((tmp_path / "cells" / "claims").glob("*.claim")), "what was claimed is free"


@pytest.mark.long
def test_a_cluster_without_workers_or_with_threads(
    tiny: Results, tmp_path: Path, start: Callable[..., Any]
) -> None:
    empty = Cluster(start(0).scheduler_address, latest=1.0)
    with pytest.raises(WorkerError, match="has no workers"):
        run_sweep(tiny.config, tmp_path, executor=empty)
    with pytest.raises(WorkerError, match="one thread each, there is one with 2"):
        run_sweep(tiny.config, tmp_path, executor=Cluster(start(1, 2).scheduler_address))


def test_a_worker_that_has_numba_with_threads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = SimpleNamespace(config=SimpleNamespace(NUMBA_NUM_THREADS=8))
    monkeypatch.setitem(sys.modules, "numba", loaded)
    with pytest.raises(WorkerError, match=r"gives it 8\. Start workers with `NUMBA_NUM_THREADS=1"):
        room.play_pickled(b"", [], (), room.surroundings())


def test_a_worker_with_other_code_is_refused() -> None:
    other = room.surroundings() | {"numpy": "0.1", "python": "2.7"}
    with pytest.raises(WorkerError, match=r"python .* in place of 2\.7, numpy .* in place of 0\.1"):
        room.play_pickled(b"", [], (), other)
