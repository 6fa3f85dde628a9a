"""Processes that share one folder share its work, and take over what the dead left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from dpbandits.sweeps import load_config, run_sweep
from dpbandits.sweeps.executors import claims
from dpbandits.sweeps.executors.claims import Claims
from tests.sweeps.executors.slow_policy import begun, write_slow_sweep

RUN = (
    "import sys; from pathlib import Path; from dpbandits.sweeps import load_config, run_sweep; "
    "print(run_sweep(load_config(sys.argv[1]), Path(sys.argv[2]), workers=1).computed)"
)


def started(sweep: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(sweep), str(out)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.long
def test_two_processes_share_the_work(tmp_path: Path) -> None:
    sweep = write_slow_sweep(tmp_path, cells=12, seconds=0.5, module="slow_shared")
    pair = [started(sweep, tmp_path / "out") for _ in range(2)]
    computed = [int(process.communicate(timeout=300)[0]) for process in pair]
    times = Counter(mark for mark, _ in begun(tmp_path))
    assert sum(computed) == 12
    assert times == Counter(range(12)), "every cell once"
    assert sorted(p.name for p in (tmp_path / "out/cells/claims").iterdir()) == ["mutex"]


def test_a_dead_owners_cell_is_taken_over(tmp_path: Path) -> None:
    sweep = write_slow_sweep(tmp_path, cells=3, seconds=0.0, module="slow_dead")
    (tmp_path / "slow_dead.py").write_text(
        (tmp_path / "slow_dead.py").read_text().replace("time.sleep(0.0)", "time.sleep(WAIT)")
        + "\nWAIT = 600 if 'hang' in os.environ.get('SLOW', '') else 0\n"
    )
    environment = os.environ | {"SLOW": "hang"}
    victim = subprocess.Popen(
        [sys.executable, "-c", RUN, str(sweep), str(tmp_path / "out")], env=environment
    )
    while not begun(tmp_path):
        assert victim.poll() is None
        time.sleep(0.05)
    folder = tmp_path / "out" / "cells" / "claims"
    assert len(list(folder.glob("*.claim"))) == 1
    with Claims(tmp_path / "out") as mine:
        assert not mine.take(next(folder.glob("*.claim")).stem), "its owner lives"
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert len(list(folder.glob("*.claim"))) == 1, "a dead process cleans nothing up"
    results = run_sweep(load_config(sweep), tmp_path / "out", workers=1)
    assert results.computed == 3
    assert [path.name for path in folder.iterdir()] == ["mutex"]


def test_a_claim_is_one_owners(tmp_path: Path) -> None:
    with Claims(tmp_path) as one, Claims(tmp_path) as other:
        assert one.take("cell")
        assert one.take("cell")
        assert not other.take("cell")
        one.give_back("cell")
        assert other.take("cell")
        (other.folder / "strange.claim").write_text("../../no such owner")
        assert one.take("strange")
        (other.folder / "empty.claim").write_text("")
        assert one.take("empty"), "its owner died while it wrote"


def test_without_locks_every_cell_may_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object, **__: object) -> None:
        raise OSError("No locks available")

    monkeypatch.setattr(claims, "lock", no_locks)
    with Claims(tmp_path) as one, Claims(tmp_path) as other:
        assert one.take("cell")
        assert other.take("cell")
