"""Speed: ratios against the plain loops of `loops/`, measured in this very run. Sessions, many arms
and a million actions are measured by `scale/`. `python -m benchmarks.speed [--out FILE]`.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dpbandits as dpb
from benchmarks import loops
from benchmarks.scale import full_information
from benchmarks.table import Row, show, write

MEANS = np.array([0.75, 0.625, 0.5, 0.375, 0.25])
ENVIRONMENT = dpb.Bernoulli(MEANS)
EPS = 0.5


def clock(call: Callable[[], Any], repeats: int = 1) -> float:
    """Median seconds of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def loop_time(loop: Any, rounds: int, repeats: int = 1) -> float:
    loop(MEANS, EPS, 100, np.random.default_rng(0))  # compiles
    return clock(lambda: loop(MEANS, EPS, rounds, np.random.default_rng(1)), repeats)


def run_time(policy: Any, rounds: int, runs: int = 1, repeats: int = 1) -> float:
    """Seconds per run, play counts at the end only, on one core as the loops are."""
    dpb.simulate(policy, ENVIRONMENT, min(rounds, 1000), at=[])  # compiles
    seeds = iter(range(10**6))

    def played() -> None:
        dpb.simulate(policy, ENVIRONMENT, rounds, runs=runs, seed=next(seeds), at=[], workers=1)

    return clock(played, repeats) / runs


def lazy_rows() -> list[Row]:
    policy, rounds = dpb.AnytimeLazyUCB(arms=5, epsilon=EPS), 5 * 10**7
    slow = loop_time(loops.lazy_ucb, rounds)
    one, many = (
        run_time(policy, rounds, repeats=21),
        run_time(policy, rounds, runs=1000, repeats=21),
    )
    return [
        Row(
            "AnytimeLazyUCB, T = 5·10⁷, one run",
            f"{slow / one:,.0f} times faster than the loop",
            "at least 1,000",
            slow / one >= 1000,
        ),
        Row(
            "… a batch of 1,000 runs on one core, per run",
            f"{slow / many:,.0f} times faster than the loop",
            "at least 50,000",
            slow / many >= 50_000,
        ),
    ]


def growth_rows() -> list[Row]:
    rows = []
    for policy in (
        dpb.AnytimeLazyUCB(arms=5, epsilon=EPS),
        dpb.DPKLUCB(arms=5, epsilon=EPS),
        dpb.AdaPUCB(arms=5, epsilon=EPS),
        dpb.DPSE(arms=5, epsilon=EPS, beta=1e-6),
    ):
        short, long = (run_time(policy, rounds, runs=500, repeats=5) for rounds in (10**6, 10**12))
        text = f"{long / short:.2f} times the time ({1e3 * long:.2f} ms a run)"
        rows.append(
            Row(f"{policy.name}, T = 10¹² against T = 10⁶", text, "at most 3", long / short <= 3)
        )
    return rows


def thompson_rows() -> list[Row]:
    slow = loop_time(loops.lazy_ts, 10**6, repeats=5)
    fast = run_time(dpb.LazyDPTS(arms=5, epsilon=EPS), 10**6, repeats=21)
    return [
        Row(
            "LazyDPTS, T = 10⁶, one run",
            f"{slow / fast:.1f} times faster than the loop",
            "at least 100",
            slow / fast >= 100,
        )
    ]


def every_round_rows() -> list[Row]:
    rounds, rows = 10**6, []
    for loop, policy in (
        (loops.ucb1, dpb.UCB1(arms=5)),
        (loops.kl_ucb, dpb.KLUCB(arms=5)),
        (loops.thompson, dpb.ThompsonBeta(arms=5)),
        (loops.tree_ucb, dpb.DPUCB(arms=5, epsilon=EPS, horizon=rounds)),
        (loops.hybrid_ucb, dpb.HybridUCB(arms=5, epsilon=EPS)),
        (loops.ldp_ucb, dpb.LDPUCB(arms=5, epsilon=EPS)),
        (loops.ldp_klucb, dpb.LDPKLUCB(arms=5, epsilon=EPS)),
    ):
        ratio = run_time(policy, rounds, repeats=3) / loop_time(loop, rounds, repeats=3)
        rows.append(
            Row(
                f"{policy.name}, T = 10⁶",
                f"{ratio:.2f} times the loop",
                "at most 1.5",
                ratio <= 1.5,
            )
        )
    return rows


def memory_row() -> Row:
    """Growth of the peak of the whole process when a policy that releases every round plays 100
    times longer.
    """
    policy = dpb.UCB1(arms=5)
    dpb.simulate(policy, ENVIRONMENT, 10**5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    dpb.simulate(policy, ENVIRONMENT, 10**7)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return Row(
        "UCB1, peak memory at T = 10⁷ beyond T = 10⁵",
        f"{grown:.1f} MB",
        "independent of T",
        grown < 5,
    )


def import_row() -> Row:
    """In a fresh interpreter, its own start taken off. Byte code is kept, as it is by default."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    bare, full = (
        clock(
            lambda code=code: subprocess.run([sys.executable, "-c", code], env=kept, check=True), 9
        )
        for code in ("pass", "import dpbandits")
    )
    return Row("import dpbandits", f"{full - bare:.2f} s", "under 0.3 s", full - bare < 0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    out = parser.parse_args().out
    rows: list[Row] = []
    for part in (
        lazy_rows,
        growth_rows,
        thompson_rows,
        every_round_rows,
        lambda: [memory_row()],
        lambda: [import_row()],
        full_information.growth_rows,
        lambda: [full_information.loop_row()],
    ):
        rows += part()
    show("Speed", rows)
    write(out, f"python -m benchmarks.speed --out {out}", {"Speed": rows})


if __name__ == "__main__":
    main()
