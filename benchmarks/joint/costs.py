"""What joint releases cost in time. `python -m benchmarks.joint.costs [--data DIR] [--out FILE]`.

A secure draw, a round of a session on MovieLens 1M (17 of 100 films, ε = 2), and, as a measure of
the machine, a step of an empty loop.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.joint.instances import reported
from benchmarks.matroid.instances import Instance
from benchmarks.table import Row, show, write
from dpbandits.core.inputs import Floats

REPEATS = 9
"""Of which the middle one is judged; the fastest is the one that nothing else held up."""

STEPS = 1_000_000
"""Of the empty loop."""

DRAWS = 50

ROUNDS = 20_000

PACE = 20_000
"""Rounds a second that are asked for."""

NOTE = (
    "Rounds are of `DPJointMAT` on MovieLens 1M: 17 of 100 films, ε = 2, whose rewards are 0 or 1; "
    "the last row has rewards between, of the same means (Beta(μ, 1 − μ)). "
    f"Of {REPEATS} repetitions: the middle one, which is judged, and the fastest. Seconds of "
    "different machines, or of one that does other work beside, cannot be compared: the empty "
    "loop says a part of how they differ."
)


class Took(NamedTuple):
    """Seconds of the middle and of the fastest repetition."""

    middle: float
    fastest: float


def repeated(seconds: Callable[[], float]) -> Took:
    found = [seconds() for _ in range(REPEATS)]
    return Took(statistics.median(found), min(found))


def seconds_of(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def empty_loop() -> None:
    for _ in range(STEPS):
        pass


def draws(noise: dpb.SecureNoise, dimension: int) -> None:
    """So many that what is drawn ahead is paid for."""
    for _ in range(DRAWS):
        noise.joint((0,) * dimension, sensitivity=1024, epsilon=Fraction(1))


def drawn_rewards(means: Floats, between: bool) -> Floats:
    """Of all arms in all rounds: 0 or 1, or between."""
    rng, shape = np.random.default_rng(0), (ROUNDS, len(means))
    if between:
        return rng.beta(means, 1.0 - means, shape)
    return (rng.random(shape) < means).astype(float)


def seconds_of_rounds(instance: Instance, between: bool = False) -> float:
    """Ask and tell of a whole campaign, from its first round on; drawing the rewards is not
    counted.
    """
    policy = dpb.DPJointMAT(problem=instance.problem, epsilon=2)
    session, spent = dpb.Session(policy, noise=dpb.SecureNoise()), 0.0
    for row in drawn_rewards(instance.means, between):
        start = time.perf_counter()
        decision = session.ask()
        spent += time.perf_counter() - start
        told = row[list(decision.observe or ())].tolist()
        start = time.perf_counter()
        session.tell(decision, told)
        spent += time.perf_counter() - start
    return spent


def rows_of(instance: Instance) -> list[Row]:
    took, noise = repeated(lambda: seconds_of(empty_loop)), dpb.SecureNoise()
    middle, fastest = (f"{1e9 * seconds / STEPS:.0f} ns" for seconds in took)
    rows = [Row("a step of an empty Python loop", f"{middle}; fastest {fastest}", "", None)]
    for dimension, limit in ((17, 5), (100, 50)):
        took = repeated(lambda k=dimension: seconds_of(lambda: draws(noise, k)))
        middle, fastest = (f"{1e3 * seconds / DRAWS:.2f} ms" for seconds in took)
        what, met = f"secure draw, k = {dimension}", 1e3 * took.middle / DRAWS < limit
        rows.append(Row(what, f"{middle}; fastest {fastest}", f"under {limit} ms", met))
    for between in (False, True):
        took = repeated(lambda kind=between: seconds_of_rounds(instance, kind))
        middle, fastest = (f"{ROUNDS / seconds:,.0f} a second" for seconds in took)
        what = f"secure ask + tell, {ROUNDS:,} rounds" + ", rewards between 0 and 1" * between
        wanted, met = ("", None) if between else (f"≥ {PACE:,}", ROUNDS / took.middle >= PACE)
        rows.append(Row(what, f"{middle}; fastest {fastest}", wanted, met))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    args = parser.parse_args()
    rows, title = (
        rows_of(reported(args.data)["MovieLens 1M, 100 films, ε = 2"][0]),
        "Cost of joint releases",
    )
    show(title, rows)
    write(args.out, f"python -m benchmarks.joint.costs --out {args.out}", {title: rows}, NOTE)


if __name__ == "__main__":
    main()
