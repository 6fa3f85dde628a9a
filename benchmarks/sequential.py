"""How soon evidence decides, and that it does not err.

`python -m benchmarks.sequential [--seeds 10] [--audits 6000]`


1. `AnytimeLazyUCB(epsilon=1)` held to 1/2, with several numbers of runs.
2. Audits of what keeps its claim exactly: how often the wealth reaches 20 and 1,000 when it is
   largest, and how often more than the claim is certified.
"""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction

import numpy as np

import dpbandits as dpb
from dpbandits.auditing.adversary import learn
from dpbandits.auditing.evidence import bets_of, certified, log_wealth, no_bets
from dpbandits.core.inputs import Floats


def caught(runs: int, seeds: int) -> tuple[int, float, float]:
    """How many seeds refute the claim, the median bound, and seconds an audit."""
    bounds, failed, start = list[float](), 0, time.perf_counter()
    for seed in range(seeds):
        report = dpb.audit(
            "AnytimeLazyUCB",
            Fraction(1, 2),
            epsilon=1,
            levels=["statistical"],
            runs=runs,
            seed=seed,
            workers=1,
        )
        bounds.append(report.lower_bound)
        failed += report.failed
    return failed, float(np.median(bounds)), (time.perf_counter() - start) / seeds


LAWS = ("one bit", "Laplace", "two sums, one of them told half of the time")


def outcomes(law: str, side: int, runs: int, rng: np.random.Generator) -> Floats:
    """Of what is exactly 1-private."""
    if law == "one bit":
        told = rng.random((runs, 1)) < 1 / (1 + math.exp(-1))
        return np.where(told, float(side), 1.0 - side)
    noise = rng.geometric(1 - math.exp(-1), (runs, 2, 2))
    sums = (noise[:, :, 0] - noise[:, :, 1]).astype(float)
    sums[:, 0] += side
    if law != "Laplace":
        sums[rng.random(runs) < 0.5, 0] = -100.0
    return sums


def wealths(law: str, seed: int, lots: int = 8, size: int = 120) -> tuple[float, float]:
    """An audit: the largest logarithm of the wealth against the true claim at any time, and the
    largest bound at any time.
    """
    rng = np.random.default_rng([seed, 77])
    a, b = outcomes(law, 0, size, rng), outcomes(law, 1, size, rng)
    bets, most, bound = no_bets(), -math.inf, 0.0
    for _ in range(lots):
        adversary, on_a = learn(a, b, lots * size), int(rng.binomial(size, 0.5))
        lot = outcomes(law, 0, on_a, rng), outcomes(law, 1, size - on_a, rng)
        bets = bets + bets_of(adversary(lot[0]), adversary(lot[1]))
        most = max(most, float(log_wealth(bets, [1.0])[0]))
        bound = max(bound, certified(bets))
        a, b = np.concatenate([a, lot[0]]), np.concatenate([b, lot[1]])
    return most, bound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--audits", type=int, default=6_000)
    given = parser.parse_args()
    print("AnytimeLazyUCB(epsilon=1) held to 1/2: runs on either table, caught, median bound, s")
    for runs in (500, 750, 1_000, 1_500):
        failed, bound, seconds = caught(runs, given.seeds)
        print(f"{runs:6,} | {failed} of {given.seeds} | {bound:.3f} | {seconds:.1f}", flush=True)
    print("1-private: audits, wealth ever 20 (at most 1 in 20), ever 1,000, certified above 1")
    for law in LAWS:
        found = np.array([wealths(law, seed) for seed in range(given.audits // len(LAWS))])
        often = [int((found[:, 0] >= math.log(bar)).sum()) for bar in (20, 1_000)]
        above = int((found[:, 1] > 1).sum())
        print(f"{law} | {len(found):,} | {often[0]} | {often[1]} | {above}", flush=True)


if __name__ == "__main__":
    main()
