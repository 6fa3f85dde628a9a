"""Many arms: what a run costs by policy and number of arms, beside the loop that looks at each arm
at every release.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.loops.indices import dp_klucb
from benchmarks.table import Row

TITLE = "Arms"
ARMS = (5, 50, 500, 10_000)
ROUNDS = 10**6
UNDER = {500: 5e-3, 10_000: 0.5}
"""By arms, the seconds that a run may take."""

LOOP_ARMS = 500
"""The plain loop's longest run: it takes K times K log T."""


SEEDS = 5


def typical(call: Callable[[int], Any], repeats: int) -> float:
    """Processor seconds of a call, given a seed: of each of several seeds the least, for others on
    the machine lengthen it; and of these the mean, for a seed may be lucky.
    """
    return fmean(min(seconds(call, seed) for _ in range(repeats)) for seed in range(SEEDS))


def seconds(call: Callable[[int], Any], seed: int) -> float:
    start = time.process_time()
    call(seed)
    return time.process_time() - start


def means(arms: int) -> Any:
    return np.linspace(0.75, 0.25, arms)


def run_time(make: Callable[[int], dpb.Policy], arms: int, rounds: int = ROUNDS) -> float:
    """Seconds of one run, play counts at the end only."""
    policy, environment = make(arms), dpb.Bernoulli(means(arms))
    dpb.simulate(policy, environment, 1000, at=[])  # compiles
    runs = 20 if arms <= 50 else 1  # what surrounds a run counts little

    def play(seed: int) -> None:
        dpb.simulate(policy, environment, rounds, runs=runs, seed=seed, at=[], workers=1)

    return typical(play, 3) / runs


def loop_time(policy: Any) -> float:
    eps, law = float(policy.epsilon), means(policy.arms)

    def play(seed: int, rounds: int = ROUNDS) -> None:
        rng = np.random.default_rng(seed)
        dp_klucb(law, eps, rounds, rng, policy.first, float(policy.alpha))

    play(0, 1000)  # compiles
    return typical(play, 1)


def default(arms: int) -> dpb.DPKLUCB:
    return dpb.DPKLUCB(arms=arms, epsilon=1)


Times = dict[int, float]
"""Seconds of a run, by its arms or by its rounds."""


class Measured(NamedTuple):
    """By policy: growth with arms, and with rounds at 500 arms."""

    in_arms: dict[str, Times]
    in_rounds: dict[str, Times]


def measured() -> Measured:
    arms = {default(2).name: {k: run_time(default, k) for k in ARMS}}
    for make in OTHERS:
        arms[make(2).name] = {k: run_time(make, k) for k in (500, 10_000)}
    rounds = {10**power: run_time(default, 500, 10**power) for power in POWERS}
    return Measured(arms, {default(2).name: rounds})


def in_arms(times: Times) -> list[Row]:
    """DPKLUCB: each K beside the loop, and beside K log K from the one before."""
    rows, before = [], 0.0
    for at, (arms, seconds) in enumerate(times.items()):
        text, wanted, met = f"{1e3 * seconds:.2f} ms a run", "", None
        if arms <= LOOP_ARMS:
            faster = loop_time(default(arms)) / seconds
            text += f", {faster:,.0f} times faster than the loop"
        if at:
            less = ARMS[at - 1]
            most = 2 * arms * math.log(arms) / (less * math.log(less))
            text += f", {seconds / before:.1f} times the time of K = {less:,}"
            limit = UNDER.get(arms, math.inf)
            wanted, met = f"at most 2 K log K: {most:.0f} times", seconds / before <= most
            if arms in UNDER:
                wanted, met = f"under {1e3 * limit:.0f} ms, {wanted}", met and seconds < limit
        rows.append(Row(f"DPKLUCB, K = {arms:,}, T = 10⁶", text, wanted, met))
        before = seconds
    return rows


OTHERS: tuple[Callable[[int], dpb.Policy], ...] = (
    lambda arms: dpb.DPRateIMED(arms=arms, epsilon=1),
    lambda arms: dpb.DPIMED(arms=arms, epsilon=1),
    lambda arms: dpb.AnytimeLazyUCB(arms=arms, epsilon=1),
    lambda arms: dpb.AdaPUCB(arms=arms, epsilon=1),
    lambda arms: dpb.AdaPKLUCB(arms=arms, epsilon=1),
    lambda arms: dpb.AdaCUCB(arms=arms, rho=0.5),
)


def of_others(times: dict[str, Times]) -> list[Row]:
    rows = []
    for name, (few, many) in ((name, by_arms.values()) for name, by_arms in times.items()):
        most = 2 * 20 * math.log(10_000) / math.log(500)
        text = f"{1e3 * few:.2f} ms and {1e3 * many:.0f} ms a run, {many / few:.1f} times the time"
        wanted = f"under 5 ms and 500 ms, at most 2 K log K: {most:.0f} times"
        met = few < UNDER[500] and many < UNDER[10_000] and many / few <= most
        rows.append(Row(f"{name}, K = 500 and 10,000, T = 10⁶", text, wanted, met))
    return rows


def in_rounds(times: Times) -> list[Row]:
    """DPKLUCB, K = 500: a release takes a few indices, and releases grow with log T."""
    said = (f"T = {POWERS[len(str(t)) - 1]}: {1e3 * times[t]:.1f} ms" for t in times)
    text, ratio = ", ".join(said), times[10**12] / times[10**6]
    wanted = "T = 10¹² against 10⁶: at most 5 times"
    return [Row("DPKLUCB, K = 500", f"{text}; {ratio:.1f} times", wanted, ratio <= 5)]


POWERS = {5: "10⁵", 6: "10⁶", 8: "10⁸", 10: "10¹⁰", 12: "10¹²"}


def rows(found: Measured) -> list[Row]:
    first, *others = found.in_arms.items()
    (rounds,) = found.in_rounds.values()
    return [*in_arms(first[1]), *of_others(dict(others)), *in_rounds(rounds)]
