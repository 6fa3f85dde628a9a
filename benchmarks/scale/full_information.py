"""Speed of full information: growth in K and T, the plain loop, and what `learners.py` plays of a
million actions.
"""

from __future__ import annotations

import time
from statistics import median

import numpy as np

import dpbandits as dpb
from benchmarks import loops
from benchmarks.table import Row

# The peak of this process alone: what `resource` tells begins with that of the parent.
MILLION = """
import time
import numpy as np
import dpbandits as dpb
environment = dpb.Bernoulli(np.random.default_rng(0).random(10**6))
dpb.simulate(dpb.RNMFTNL(actions=2, epsilon=1), dpb.Bernoulli([0.5, 0.4]), 10)  # compiles
start = time.perf_counter()
dpb.simulate(dpb.RNMFTNL(actions=10**6, epsilon=1), environment, 10**9)
taken = time.perf_counter() - start
peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(taken, int(peak[0].split()[1]) / 1024)
"""


def run_time(actions: int, rounds: int) -> float:
    policy, environment = (
        dpb.RNMFTNL(actions=actions, epsilon=1),
        dpb.Bernoulli(np.random.default_rng(0).random(actions)),
    )
    dpb.simulate(policy, environment, 10, at=[])
    times = []
    for seed in range(7):
        start = time.perf_counter()
        dpb.simulate(policy, environment, rounds, seed=seed, at=[])
        times.append(time.perf_counter() - start)
    return median(times)


def growth_rows() -> list[Row]:
    """K log T: ten times the actions cost ten times as much, a squared horizon twice as much."""
    wide = run_time(100_000, 10**6) / run_time(10_000, 10**6)
    long = run_time(10_000, 10**12) / run_time(10_000, 10**6)
    return [
        Row(
            "RNMFTNL, K = 10⁵ against K = 10⁴, T = 10⁶",
            f"{wide:.1f} times the time",
            "about 10 (at most 12)",
            wide <= 12,
        ),
        Row(
            "RNMFTNL, T = 10¹² against T = 10⁶, K = 10⁴",
            f"{long:.2f} times the time",
            "about 2 (at most 2.2)",
            long <= 2.2,
        ),
    ]


def loop_row() -> Row:
    means, rounds = np.random.default_rng(0).random(1000), 2**17 - 1
    loops.rnm_ftnl(means, 1.0, 7, np.random.default_rng(0))  # compiles
    start = time.perf_counter()
    loops.rnm_ftnl(means, 1.0, rounds, np.random.default_rng(1))
    slow = time.perf_counter() - start
    faster = f"{slow / run_time(1000, rounds):,.0f} times faster than the loop"
    return Row("RNMFTNL, K = 1,000, T = 131,071", faster, "for the record", None)
