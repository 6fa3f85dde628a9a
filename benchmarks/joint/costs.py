"""What joint releases cost in time. `python -m benchmarks.joint.costs [--data DIR] [--out FILE]`.

A secure draw, a round of a session on MovieLens 1M (17 of 100 films, ε = 2), and, as a measure of
the machine, a step of an empty loop.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

import dpbandits as dpb
from benchmarks.joint.instances import reported
from benchmarks.matroid.instances import Instance
from benchmarks.table import Row, markdown, show

REPEATS = 9
"""Of which the fastest counts: the one that nothing else on the machine held up."""

STEPS = 1_000_000
"""Of the empty loop."""

ROUNDS = 20_000

SAID = (
    "Rounds are of `DPJointMAT` on MovieLens 1M: 17 of 100 films, ε = 2. "
    f"The fastest of {REPEATS} repetitions. The empty loop says how fast the machine was: seconds "
    "of different machines, or of one that does other work beside, cannot be compared without it."
)


def fastest(seconds: Callable[[], float]) -> float:
    return min(seconds() for _ in range(REPEATS))


def seconds_of(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def empty_loop() -> None:
    for _ in range(STEPS):
        pass


def draws(noise: dpb.SecureNoise, dimension: int) -> None:
    """Fifty of them, so that what is drawn ahead is paid for."""
    for _ in range(50):
        noise.joint((0,) * dimension, sensitivity=1024, epsilon=Fraction(1))


def seconds_of_rounds(instance: Instance) -> float:
    """Ask and tell of a whole campaign, from its first round on; drawing the rewards is not
    counted.
    """
    policy = dpb.DPJointMAT(problem=instance.problem, epsilon=2)
    session, rng = dpb.Session(policy, noise=dpb.SecureNoise()), np.random.default_rng(0)
    rewards, spent = rng.random((ROUNDS, len(instance.means))) < instance.means, 0.0
    for row in rewards.astype(float):
        start = time.perf_counter()
        decision = session.ask()
        spent += time.perf_counter() - start
        told = row[list(decision.observe or ())].tolist()
        start = time.perf_counter()
        session.tell(decision, told)
        spent += time.perf_counter() - start
    return spent


def rows_of(instance: Instance) -> list[Row]:
    step = fastest(lambda: seconds_of(empty_loop)) / STEPS
    rows = [Row("a step of an empty Python loop", f"{1e9 * step:.0f} ns", "", None)]
    noise = dpb.SecureNoise()
    for dimension, limit in ((17, 5), (100, 50)):
        took = 1e3 * fastest(lambda k=dimension: seconds_of(lambda: draws(noise, k))) / 50
        what = f"secure draw, k = {dimension}"
        rows.append(Row(what, f"{took:.2f} ms", f"under {limit} ms", took < limit))
    pace = ROUNDS / fastest(lambda: seconds_of_rounds(instance))
    what = f"secure ask + tell, {ROUNDS:,} rounds"
    rows.append(Row(what, f"{pace:,.0f} a second", "≥ 20,000", pace >= 20_000))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    args = parser.parse_args()
    rows, title = rows_of(reported(args.data)["MovieLens 1M, 100 films, ε = 2"][0]), "Their cost"
    show(title, rows)
    if args.out:
        command = f"python -m benchmarks.joint.costs --out {args.out}"
        page = markdown("Cost of joint releases", command, rows, SAID)
        args.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
