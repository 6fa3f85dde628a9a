"""A policy that takes its time, and writes a line for every run that is begun: so that it can be
seen who played what, and how often.
"""

from __future__ import annotations

from pathlib import Path

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
        began = len(LOG.read_text().splitlines())
        while began > {held} and not LOG.with_name("go").exists():
            time.sleep(0.02)
        tries = [line.split()[0] for line in LOG.read_text().splitlines()]
        if tries.count(str(self.mark)) <= {fails}:
            raise OSError("The disk is full for a moment.")
        return super().init()
'''

SWEEP = """
name = "slow"
title = "Slow cells"
rounds = 10
runs = 1
at = [10]
[[environments]]
name = "two arms"
law = "bernoulli"
means = [0.7, 0.5]
"""


def write_slow_sweep(
    folder: Path, cells: int, seconds: float, module: str, fails: int = 0, held: int = 10**9
) -> Path:
    """A sweep file of so many cells, each of one run, beside its policy. module: another name for
    each test, for a process keeps what it has imported. fails: how often each cell raises first.
    held: after so many, those that are begun wait until there is a file `go` in the folder.
    """
    source = SOURCE.format(log=str(folder / "log"), seconds=seconds, fails=fails, held=held)
    (folder / f"{module}.py").write_text(source)
    entry = '[[policies]]\nclass = "{module}:Slow"\nlabel = "slow {mark}"\nmark = {mark}\n'
    text = SWEEP + "".join(entry.format(module=module, mark=mark) for mark in range(cells))
    (folder / "slow.toml").write_text(text)
    return folder / "slow.toml"


def begun(folder: Path) -> list[tuple[int, int]]:
    """Which cells were begun, by which process, in order."""
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(mark), int(pid)) for mark, pid in map(str.split, lines)]
