"""Who plays a sweep changes none of its numbers, and what is killed loses only what it had in hand:
processes of this machine, Dask workers, shards.
"""

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from dpbandits import WorkerError
from dpbandits.sweeps import Results, SweepStep, load_config, run_sweep
from dpbandits.sweeps.run import play
from tests.places import REPOSITORY
from tests.sweeps.slow_policy import begun, write_slow_sweep


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Starts Dask clusters on this machine, whose workers find this package."""
    monkeypatch.setenv("PYTHONPATH", f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}")
    distributed, running = pytest.importorskip("distributed"), list[Any]()

    def starter(workers: int) -> Any:
        running.append(
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            )
        )
        return running[-1]

    yield starter
    for one in running:
        one.close()


class Killing:
    """Ends the newest worker after so many cells. stored: all their marks; safe: files by then."""

    def __init__(self, folder: Path, after: int) -> None:
        self.folder, self.after = folder, after
        self.stored, self.safe = list[int](), dict[Path, bytes]()

    def __call__(self, step: SweepStep) -> None:
        self.stored.append(step.cell.policy.mark)  # type: ignore[attr-defined]
        if len(self.stored) == self.after:
            files = (self.folder / "out" / "cells").rglob("*")
            self.safe = {path: path.read_bytes() for path in files if path.is_file()}
            os.kill(begun(self.folder)[-1][1], signal.SIGKILL)


def same(results: Results, others: Results) -> None:
    frames = (each.summary.drop("seconds") for each in (results, others))
    assert_frame_equal(*frames, check_exact=True)
    assert_frame_equal(results.curves, others.curves, check_exact=True)


def test_two_processes_play_the_same_numbers(tiny: Results, tmp_path: Path) -> None:
    results = run_sweep(tiny.config, tmp_path, workers=2)
    assert results.computed == 12
    same(results, tiny)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_plays_the_same_numbers(
    tiny: Results, tmp_path: Path, start: Callable[..., Any]
) -> None:
    results = run_sweep(tiny.config, tmp_path, scheduler=start(2).scheduler_address)
    assert results.computed == 12
    same(results, tiny)


def test_shards_copied_into_one_folder_are_the_sweep(tiny: Results, tmp_path: Path) -> None:
    played = []
    for i in (1, 2, 3):
        part = run_sweep(tiny.config, tmp_path / str(i), workers=1, shard=(i, 3))
        played += [(cell.label, cell.setting, cell.epsilon) for cell in part.cells]
        shutil.copytree(tmp_path / str(i) / "cells", tmp_path / "all/cells", dirs_exist_ok=True)
    assert len(played) == len(set(played)) == 12
    whole = run_sweep(tiny.config, tmp_path / "all", workers=1)
    assert whole.computed == 0
    same(whole, tiny)
    for wrong in ((0, 3), (4, 3), (13, 20), "1/3", 3):  # of twelve cells
        with pytest.raises(ValueError, match="i at most 12"):
            run_sweep(tiny.config, tmp_path, shard=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="workers=0 to be a whole number"):
        run_sweep(tiny.config, tmp_path, workers=0)


def test_a_worker_with_other_code_is_refused(tiny: Results) -> None:
    cell = tiny.cells[0]
    with pytest.raises(WorkerError, match="other code or libraries"):
        play(pickle.dumps(cell), 0, "another key", ())


def test_a_failure_keeps_what_was_finished(tmp_path: Path) -> None:
    sweep = write_slow_sweep(tmp_path, cells=6, seconds=0.0, module="slow_failing", fails={3})
    config = load_config(sweep)
    with pytest.raises(OSError, match="The disk is full"):
        run_sweep(config, tmp_path / "out", workers=1)
    assert run_sweep(config, tmp_path / "out", workers=1).computed == 3
    assert Counter(mark for mark, _ in begun(tmp_path)) == Counter(range(6)) + Counter([3])


@pytest.mark.long
def test_a_killed_process_loses_only_what_it_had_in_hand(tmp_path: Path) -> None:
    sweep = write_slow_sweep(tmp_path, cells=8, seconds=0.2, module="slow_killed")
    config, killing = load_config(sweep), Killing(tmp_path, 3)
    with pytest.raises(WorkerError, match=r"A worker process died.*Finished cells are kept"):
        run_sweep(config, tmp_path / "out", workers=2, progress=killing)
    again = run_sweep(config, tmp_path / "out", workers=1)
    assert again.computed == 8 - len(killing.stored)
    times = Counter(mark for mark, _ in begun(tmp_path))
    assert all(times[mark] == 1 for mark in killing.stored)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_killed_dask_worker_loses_only_what_it_had_in_hand(
    tmp_path: Path, start: Callable[..., Any]
) -> None:
    """The other worker plays it. (Dask may play a stored cell again, with the same numbers.)"""
    sweep = write_slow_sweep(tmp_path, cells=12, seconds=0.4, module="slow_dask")
    address, killing = start(2).scheduler_address, Killing(tmp_path, 4)
    results = run_sweep(load_config(sweep), tmp_path / "out", scheduler=address, progress=killing)
    assert results.computed == 12
    assert sorted({mark for mark, _ in begun(tmp_path)}) == sorted(killing.stored) == [*range(12)]
    assert len(killing.safe) >= 3
    assert {path: path.read_bytes() for path in killing.safe} == killing.safe


RUN = (
    "import sys; from pathlib import Path; from dpbandits.sweeps import load_config, run_sweep; "
    "run_sweep(load_config(sys.argv[1]), Path(sys.argv[2]), workers=2, "
    "progress=lambda step: print(step.cell.policy.mark, flush=True))"
)


@pytest.mark.long
def test_a_killed_driver_loses_only_what_was_in_flight(tmp_path: Path) -> None:
    sweep = write_slow_sweep(tmp_path, cells=10, seconds=0.2, module="slow_driver")
    command = [sys.executable, "-c", RUN, str(sweep), str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        stored = [int(driver.stdout.readline()) for _ in range(3)]
        driver.kill()
    again = run_sweep(load_config(sweep), tmp_path / "out", workers=1)
    assert again.computed <= 10 - len(stored)
    times = Counter(mark for mark, _ in begun(tmp_path))
    assert all(times[mark] == 1 for mark in stored)


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there(
    tiny: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("dpbandits.sweeps.run.PATIENCE", 1.0)
    with pytest.raises(WorkerError, match=r"scheduler at tcp://127\.0\.0\.1:1 or its workers"):
        run_sweep(tiny.config, tmp_path, scheduler="tcp://127.0.0.1:1")
