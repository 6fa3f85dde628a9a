"""Processes of one machine: fresh interpreters with one thread, and tasks of a sensible size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpbandits.sweeps import Processes, Results, load_config, run_sweep
from dpbandits.sweeps.executors.base import THREADS, Job
from dpbandits.sweeps.executors.processes import pool_of
from dpbandits.sweeps.executors.tasks import MOST_JOBS, SECONDS, Pace
from tests.sweeps.executors.slow_policy import begun, write_slow_sweep


def environment_of_a_worker() -> dict[str, str]:
    return {name: os.environ.get(name, "") for name in THREADS} | {
        "parent": str(os.getppid()),
        "numba": str(__import__("numba").config.NUMBA_NUM_THREADS),
    }


def test_workers_have_one_thread_from_before_the_import() -> None:
    found = pool_of(2).submit(environment_of_a_worker).result()
    assert all(found[name] == "1" for name in THREADS)
    assert found["numba"] == "1"


def test_tasks_are_made_of_as_many_jobs_as_take_some_seconds(tiny: Results) -> None:
    jobs = [Job(tiny.cells[0], 0)] * 2000
    pace = Pace()
    assert len(pace.task(iter(jobs))) == 1, "nothing is known yet"
    pace.note(jobs[0], 0.1)
    assert len(pace.task(iter(jobs))) == round(SECONDS / 0.1)
    for _ in range(40):
        pace.note(jobs[0], 1e-6)
    assert len(pace.task(iter(jobs))) == MOST_JOBS
    assert pace.task(iter([])) == []


FAILING = """
import dpbandits as dpb
from dataclasses import dataclass

@dataclass(frozen=True, kw_only=True)
class Failing(dpb.UCB1):
    def init(self):
        raise RuntimeError("this policy fails")
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failure_keeps_what_was_finished(tmp_path: Path, workers: int) -> None:
    sweep = write_slow_sweep(tmp_path, cells=6, seconds=0.0, module=f"slow_failing{workers}")
    (tmp_path / f"failing{workers}.py").write_text(FAILING)
    whole = sweep.read_text()
    sweep.write_text(
        whole + f'[[policies]]\nclass = "failing{workers}:Failing"\nrounds = 2\n'  # the last
    )
    with pytest.raises(RuntimeError, match="this policy fails"):
        run_sweep(load_config(sweep), tmp_path / "out", executor=Processes(workers))
    sweep.write_text(whole)
    results = run_sweep(load_config(sweep), tmp_path / "out", executor=Processes(1))
    assert results.computed == 0 or workers == 2
    # with two workers a cell may be cut off, or not be begun, when the other one fails
    assert 6 <= len(begun(tmp_path)) <= 6 + results.computed


WARNINGS_ARE_ERRORS = """
import sys, warnings
from pathlib import Path
from dpbandits.sweeps import Processes, load_config, run_sweep
from dpbandits.sweeps.executors import processes

def grown_after_every_task(places):
    sys.path[:] = places
    from joblib.externals.loky import process_executor
    process_executor._MAX_MEMORY_LEAK_SIZE = -1
    process_executor._MEMORY_LEAK_CHECK_DELAY = 0.0

if __name__ == "__main__":
    warnings.simplefilter("error")
    processes.import_from = grown_after_every_task
    sweep = Path(sys.argv[1])
    results = run_sweep(load_config(sweep), sweep.parent / "out", executor=Processes(2))
    assert len(results.cells) == 5
"""


@pytest.mark.long
def test_a_sweep_goes_on_when_workers_are_replaced(tmp_path: Path) -> None:
    """Also where warnings are errors: the pool's own thread would end, and nobody would notice."""
    sweep = write_slow_sweep(tmp_path, cells=5, seconds=0.0, module="slow_replaced")
    script = tmp_path / "replaced.py"
    script.write_text(WARNINGS_ARE_ERRORS)
    command = [sys.executable, str(script), str(sweep)]
    subprocess.run(command, check=True, timeout=300)
    assert {mark for mark, _ in begun(tmp_path)} == set(range(5))
    assert len({process for _, process in begun(tmp_path)}) > 2, "no worker was replaced"
