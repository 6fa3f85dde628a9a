"""Regret where each arm is eligible with chance 1/2: python -m benchmarks.eligible

Against the best eligible arm of each round, private over non-private KL-UCB; and the same ratio
with all arms eligible.
"""

from __future__ import annotations

import argparse
import math
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.table import write_columns
from dpbandits.policies import KLUCB

INSTANCES = {
    "Five classic means, .75 to .25": (0.75, 0.625, 0.5, 0.375, 0.25),
    "Five means that are closer, .6 to .4": (0.6, 0.55, 0.5, 0.45, 0.4),
    "Two click rates, .036 and .03": (0.036, 0.03),
}
FACTOR = 1.2
SIMULATED = 50
"""Runs with all arms eligible for each one with masks, for the simulator's compiled players take
them: of 200 enough for 99.9 %.
"""

POLICIES: tuple[tuple[str, dict[str, int]], ...] = (
    ("DPRateIMED", {}),
    ("DPKLUCB", {}),
    ("DPKLUCB", {"first": 12}),
    ("DPKLUCB", {"first": 8}),
    ("AnytimeLazyUCB", {}),
)

NOTE = """\
Bernoulli arms, ε = 1. With masks each arm is eligible with chance 1/2 in each round (at least one
is), and regret is against the best eligible arm. The ratio of a private policy's regret to that of
`KLUCB` with the same masks is to be at most 1.2 times the same ratio without masks: "times" says
how many times it is. The cost is what a policy loses beyond `KLUCB`.

Mostly it is more (decision 11). An arm's first answer takes a block of `first` rounds, 32 at
ε = 1 unless one says otherwise, with masks or without; but masks spare `KLUCB` most of its regret,
for it learns of an arm for nothing whenever no better one is there. `first` is yours to choose:
where gaps are wide a shorter first block loses less with masks, and more in the worst of a thousand
runs without.

What is open here need not be met. On the five classic means 200 runs were played before, with
`first=12` and `first=8`: 1.45 ± 0.05 and 1.38 ± 0.05 times, NOT met (decision 11).
"""

COLUMNS = (
    "table",
    "policy",
    "all arms",
    "its 99.9 %",
    "with masks",
    "ratio",
    "ratio with masks",
    "times",
    "met",
    "cost",
    "cost with masks",
)


class Mean(NamedTuple):
    """A mean and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.1f} ± {self.error:.1f}"

    def minus(self, other: Mean) -> Mean:
        return Mean(self.value - other.value, math.hypot(self.error, other.error))

    def over(self, other: Mean) -> Mean:
        """The quotient, to the first order."""
        value = self.value / other.value
        return Mean(value, value * math.hypot(self.error / self.value, other.error / other.value))


class Row(NamedTuple):
    """What a policy loses with all arms there, at worst in 999 of 1,000 runs, and with masks."""

    plain: Mean
    tail: float
    masked: Mean


def regret(policy: Any, means: tuple[float, ...], rounds: int, seed: int) -> float:
    """Pseudo-regret with masks, of one run, against the best eligible arm of each round."""
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(seed), seed=seed)
    rng, lost = np.random.default_rng([seed, 1]), 0.0
    order = rng.permutation(len(means))
    for _ in range(rounds):
        there = np.flatnonzero(rng.random(len(means)) < 0.5)
        eligible = there if len(there) else rng.integers(0, len(means), 1)
        decision = session.ask(eligible=eligible.tolist())
        assert isinstance(decision.action, int)
        mean = means[order[decision.action]]
        lost += max(means[order[arm]] for arm in eligible) - mean
        session.tell(decision, float(rng.random() < mean))
    return lost


def measured(policy: Any, means: tuple[float, ...], rounds: int, runs: int) -> Row:
    """Both regrets of a policy."""
    env = dpb.Bernoulli(list(means))
    played = dpb.simulate(
        policy, env, rounds, runs=SIMULATED * runs, seed=2026, at=[], shuffle=True
    )
    plain = played.summary()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        losses = list(pool.map(partial(regret, policy, means, rounds), range(runs), chunksize=5))
    masked = Mean(float(np.mean(losses)), float(np.std(losses) / np.sqrt(runs)))
    return Row(Mean(plain["mean"], plain["error"]), plain["q999"], masked)


def said(times: Mean) -> str:
    """Whether it is as asked, where two standard errors tell."""
    if abs(times.value - FACTOR) < 2 * times.error:
        return "open"
    return "yes" if times.value < FACTOR else "NO"


def line(name: str, found: Row, base: Row) -> tuple[str, ...]:
    plain, masked = found.plain.over(base.plain), found.masked.over(base.masked)
    times = masked.over(plain)
    cells = (
        name,
        found.plain,
        f"{found.tail:.0f}",
        found.masked,
        f"{plain.value:.2f}",
        f"{masked.value:.2f}",
        f"{times.value:.2f} ± {times.error:.2f}",
        said(times),
        found.plain.minus(base.plain),
        found.masked.minus(base.masked),
    )
    return tuple(map(str, cells))


def table(means: tuple[float, ...], rounds: int, runs: int) -> list[tuple[str, ...]]:
    """The policies on one instance."""
    arms = len(means)
    base = measured(KLUCB(arms=arms), means, rounds, runs)
    first = ("KLUCB", str(base.plain), f"{base.tail:.0f}", str(base.masked))
    lines: list[tuple[str, ...]] = [(*first, "1", "1", "1", "", "0", "0")]
    for name, options in POLICIES:
        made: Any = getattr(dpb, name)
        policy = made(arms=arms, epsilon=1, **options)
        shown = ", ".join([name, *(f"first={first}" for first in options.values())])
        lines.append(line(shown, measured(policy, means, rounds, runs), base))
        print(*lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/eligible.csv"))
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=200)
    given = parser.parse_args()
    size = (
        f"{given.rounds:,} rounds, mean ± standard error of {given.runs} runs with masks and of "
        f"{SIMULATED * given.runs:,} without; open: within two standard errors of 1.2."
    )
    lines = [
        (name, *line)
        for name, means in INSTANCES.items()
        for line in table(means, given.rounds, given.runs)
    ]
    command = (
        f"python -m benchmarks.eligible --rounds {given.rounds} --runs {given.runs} "
        f"--out {given.out}"
    )
    write_columns(given.out, command, COLUMNS, lines, NOTE + size)


if __name__ == "__main__":
    main()
