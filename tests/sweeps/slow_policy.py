"""A policy that takes its time, and writes a line for every run that is begun: so that it can be
seen who played what, and how often.
"""

from collections.abc import Collection
from pathlib import Path

from tests.sweeps.texts import sweep_text

SOURCE = '''
import os, time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
import dpbandits as dpb

LOG = Path({log!r})

@dataclass(frozen=True, kw_only=True)
class Slow(dpb.UCB1):
    """Waits, and writes that it began."""

    mark: int = 0

    def init(self) -> Any:
        with open(LOG, "a") as file:
            file.write(f"{{self.mark}} {{os.getpid()}}\\n")
        time.sleep({seconds})
        tries = [line.split()[0] for line in LOG.read_text().splitlines()]
        if self.mark in {fails} and tries.count(str(self.mark)) == 1:
            raise OSError("The disk is full for a moment.")
        return super().init()
'''


def write_slow_sweep(
    folder: Path, cells: int, seconds: float, module: str, fails: Collection[int] = ()
) -> Path:
    """A sweep file of so many cells, each of one run, beside its policy. module: another name for
    each test, for a process keeps what it has imported. fails: cells that raise at first.
    """
    source = SOURCE.format(log=str(folder / "log"), seconds=seconds, fails=tuple(fails))
    (folder / f"{module}.py").write_text(source)
    each = [f'{module}:Slow\nlabel = "slow {mark}"\nmark = {mark}' for mark in range(cells)]
    text = sweep_text(*each, rounds=10, runs=1, head="at = [10]")
    (folder / "slow.toml").write_text(text)
    return folder / "slow.toml"


def begun(folder: Path) -> list[tuple[int, int]]:
    """Which cells were begun, by which process, in order."""
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(mark), int(pid)) for mark, pid in map(str.split, lines)]
