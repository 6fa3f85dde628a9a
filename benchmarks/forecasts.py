"""How long a forecast takes: python -m benchmarks.forecasts

Four arms, four policies, three ε, 200 draws of the prior, 50,000 visitors, in fresh processes. The
first one may compile; the others are counted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import dpbandits as dpb
from benchmarks.table import Row, show, write

POLICIES = ("DPRateIMED", "DPKLUCB", "AnytimeLazyUCB", "LDPKLUCB")
WANTED = 20

TITLE = "How long a forecast takes"
ABOUT = """
`dpb.forecast` of 50,000 visitors: four arms whose rates are drawn 200 times from a prior (3 %
today, the best a fifth better), four policies at three ε, and what they are without privacy. Each
in a process of its own; what is compiled was compiled before.
"""


class Took(NamedTuple):
    """Seconds by the clock, of the processor, and the load of the machine before."""

    wall: float
    processor: float
    load: float


def one() -> None:
    """The forecast itself."""
    prior = dpb.Prior(base=0.03, best=0.2, arms=4)
    dpb.forecast(prior, visitors=50_000, epsilon=["1/10", "1/2", 1], policies=POLICIES, seed=1)


def timed() -> Took:
    load, before, start = os.getloadavg()[0], os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "benchmarks.forecasts", "--once"], check=True)
    after = os.times()
    spent = sum(after[2:4]) - sum(before[2:4])
    return Took(time.perf_counter() - start, spent, load)


def rows(repetitions: int) -> list[Row]:
    timed()
    found = [timed() for _ in range(repetitions)]
    best = min(found)
    cores = os.cpu_count()
    return [
        Row(f"by the clock, {cores} cores, best of {repetitions}", f"{best.wall:.1f} s",
            f"under {WANTED} s", best.wall < WANTED),
        Row("of the processor, in it", f"{best.processor:.1f} s", "", None),
        Row("load of the machine before it", f"{best.load:.1f}", "", None),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--once", action="store_true", help="the forecast alone, without a page")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.once:
        return one()
    found = rows(arguments.repetitions)
    show(TITLE, found)
    command = f"python -m benchmarks.forecasts --out {arguments.out}"
    write(arguments.out, command, {TITLE: found}, ABOUT)
    return None


if __name__ == "__main__":
    main()
