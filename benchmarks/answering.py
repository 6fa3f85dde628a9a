"""False alarms and power of the test whether answers come for every arm alike: python -m
benchmarks.answering --out benchmarks/results/answering.csv
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.stats import norm

from benchmarks.table import Row, show, write
from dpbandits.core.inputs import Floats
from dpbandits.session.evidence import AT_START
from dpbandits.session.traffic import (
    FRACTION,
    HALF,
    HALF_FRACTION,
    LEAST_USUAL,
    LEVEL,
    LONGEST,
    OF_ANSWERS,
    SHORTEST,
    SIGNED,
    SIGNED_WEIGHTS,
)

PEOPLE, WEEK = 5_000, 700

NOTE = f"""\
`sample_ratio().alarm()` is raised when answers of arms differ (proofs/answering.md), with a share
of {OF_ANSWERS:g} of its level of {LEVEL:g}. Histories are of {PEOPLE:,} people, looked at whenever
a stretch of them is resolved. Tilts, their weights and the lengths of stretches were set once,
before anything ran.
False alarms: arms make no difference; histories are shared equally by two arms, half each, four
arms, a quarter each, and three arms by a policy with min_share=.05.
Power: histories with an alarm by {PEOPLE:,} people, and the people by whom 95 % have one.
"best, any time": a likelihood-ratio test that knows every rate, with the level {LEVEL:g} at all
times together.
"best, once": the best test that looks once, after {PEOPLE:,} people.
A test that may be looked at after every decision needs more people than one that looks once, and
more again because it knows no rate: 95 % by {PEOPLE:,} people are missed."""

FALSE, POWER = "False alarms", "Power"


class Drawing(NamedTuple):
    """How arms are drawn.

    Args:
        law: probabilities; with `blocks` those of the planned arm and of the others.
        blocks: whether the planned arm changes when a block of it has so many answers as it takes,
            as with a policy and `min_share=`. Then the law depends on who was drawn and answered.
    """

    title: str
    law: tuple[float, ...]
    blocks: bool = False


EVEN = Drawing("two arms, half each", (0.5, 0.5))
DRAWINGS = (
    EVEN,
    Drawing("four arms, a quarter each", (0.25,) * 4),
    Drawing("three arms by a policy with `min_share=.05`", (0.9, 0.05, 0.05), blocks=True),
)

AT = np.arange(PEOPLE) / PEOPLE
COMMON: dict[str, Floats] = {
    "70 % answer": np.full(PEOPLE, 0.7),
    "rising from 30 % to 95 %": 0.3 + 0.65 * AT,
    "falling from 95 % to 30 %": 0.95 - 0.65 * AT,
    f"weekly, 60 % to 95 %, {WEEK} people a week": 0.775
    + 0.175 * np.sin(2.0 * np.pi * np.arange(PEOPLE) / WEEK),
}


@njit(cache=True)  # type: ignore[untyped-decorator]
def drawn(
    rng: Any, answering: Any, law: Any, blocks: bool, arms: Any, answered: Any, planned: Any
) -> None:
    """Draw a history.

    Args:
        answering: how likely an answer is, shape (people, arms).
        arms, answered, planned: shape (people,), written: the arm, whether an answer came, and the
            arm that the policy plans (0 without `blocks`).
    """
    count, plan, left = len(law), 0, 32.0
    size = 32.0
    for i in range(len(arms)):
        coin, arm = rng.random(), 0
        while arm < count - 1 and coin >= law[arm]:
            coin -= law[arm]
            arm += 1
        arm = (arm + plan) % count
        came = rng.random() < answering[i, arm]
        arms[i], answered[i], planned[i] = arm, came, plan
        if blocks and arm == plan and came:
            left -= 1.0
            if left <= 0.0:
                plan, size = int(rng.random() * count), size * 1.1
                left = size


@njit(cache=True)  # type: ignore[untyped-decorator]
def found_at(
    law: Any, arms: Any, answered: Any, planned: Any, bar: float, tilts: Any, weights: Any
) -> tuple[int, float]:
    """Return after how many decisions the evidence first exceeds e^bar (0: never), and the
    logarithm of the largest evidence, as `AnswerTest` computes it.
    """
    count, people = len(law), len(arms)
    scores = np.zeros((count, len(tilts)))
    told, lost = np.zeros(count), np.zeros(count)
    usual_lost, usual, highest, hit, since = 0.5, 1.0, 0.0, 0, 0
    while since < people:
        most, until = min(LONGEST, max(SHORTEST, since // FRACTION)), since
        told[:], lost[:] = 0.0, 0.0
        while until < people and planned[until] == planned[since]:
            # the length is looked at before each decision, and grows with their number
            most = min(LONGEST, max(SHORTEST, until // FRACTION))
            if until - since >= most:
                break
            if answered[until]:
                told[arms[until]] += 1.0
            else:
                lost[arms[until]] += 1.0
            until += 1
        share = min(max(usual_lost / usual, LEAST_USUAL), 1.0 - LEAST_USUAL)
        odds, all_told, all_lost = math.log(share / (1.0 - share)), told.sum(), lost.sum()
        total = 0.0
        for arm in range(count):
            p = law[(arm - planned[since]) % count]
            for at in range(len(tilts)):
                this = 1.0 / (1.0 + math.exp(-(odds + tilts[at] * (1.0 - p))))
                others = 1.0 / (1.0 + math.exp(-(odds - tilts[at] * p)))
                mean = p * this + (1.0 - p) * others
                scores[arm, at] += (
                    lost[arm] * math.log(this / mean)
                    + (all_lost - lost[arm]) * math.log(others / mean)
                    + told[arm] * math.log((1.0 - this) / (1.0 - mean))
                    + (all_told - told[arm]) * math.log((1.0 - others) / (1.0 - mean))
                )
                total += math.exp(scores[arm, at] + weights[at])
        highest = max(highest, math.log(total * AT_START / count))
        if not hit and highest >= bar:
            hit = until
        kept = 0.5 ** ((until - since) / max(HALF, until / HALF_FRACTION))
        usual_lost, usual = kept * usual_lost + all_lost, kept * usual + all_told + all_lost
        since = until
    return hit, highest


@njit(cache=True)  # type: ignore[untyped-decorator]
def best_at(law: Any, missing: Any, arms: Any, answered: Any, bar: float) -> int:
    """The same for the likelihood ratio of a test that knows how often each arm's answers miss."""
    mean, score = (law * missing).sum(), 0.0
    for i in range(len(arms)):
        share = missing[arms[i]]
        if answered[i]:
            score += math.log((1.0 - share) / (1.0 - mean))
        else:
            score += math.log(share / mean)
        if score >= bar:
            return i + 1
    return 0


def bar() -> float:
    """The logarithm of the evidence that raises an alarm."""
    return -math.log(OF_ANSWERS * LEVEL)


@njit(cache=True)  # type: ignore[untyped-decorator]
def histories(
    rng: Any,
    runs: int,
    answering: Any,
    law: Any,
    blocks: bool,
    bars: Any,
    missing: Any,
    tilts: Any,
    weights: Any,
) -> Any:
    """When the alarm is raised in each history, and when the best test has its evidence: shape
    (runs, 2); 0: never.
    """
    found, people = np.zeros((runs, 2), np.int64), len(answering)
    arms, planned = np.zeros(people, np.int64), np.zeros(people, np.int64)
    answered = np.zeros(people, np.bool_)
    for run in range(runs):
        drawn(rng, answering, law, blocks, arms, answered, planned)
        found[run, 0] = found_at(law, arms, answered, planned, bars[0], tilts, weights)[0]
        if len(missing):
            found[run, 1] = best_at(law, missing, arms, answered, bars[1])
    return found


def simulated(seed: int, runs: int, answering: Floats, drawing: Drawing, missing: Any = ()) -> Any:
    law = np.array(drawing.law)
    each = np.broadcast_to(answering.reshape(len(answering), -1), (len(answering), len(law)))
    bars = np.array([bar(), -math.log(LEVEL)])
    rng, rates = np.random.default_rng(seed), np.array(missing, np.float64)
    shape = np.ascontiguousarray(each), law, drawing.blocks
    return histories(rng, runs, *shape, bars, rates, SIGNED, SIGNED_WEIGHTS)


class Difference(NamedTuple):
    """Of each arm's answers, how many are missing."""

    law: tuple[float, ...]
    missing: tuple[float, ...]


DIFFERENCES = (
    Difference((0.5, 0.5), (0.1, 0.15)),
    Difference((0.8, 0.2), (0.1, 0.15)),
    Difference((0.95, 0.05), (0.1, 0.15)),
    Difference((1 / 3, 1 / 3, 1 / 3), (0.1, 0.1, 0.15)),
    Difference((0.5, 0.5), (0.1, 0.2)),
    Difference((0.5, 0.5), (0.3, 0.4)),
    Difference((0.95, 0.05), (0.1, 0.4)),
)
LATEST = 20_000


def fixed_power(case: Difference, people: int) -> float:
    """The power of the best test that looks once, after so many people; normal approximation."""
    law, missing = np.array(case.law), np.array(case.missing)
    mean = float(law @ missing)

    def entropy(p: Any) -> Any:
        return -p * np.log(p) - (1.0 - p) * np.log1p(-p)

    bits = float(entropy(np.array(mean)) - law @ entropy(missing))
    return float(norm.cdf(math.sqrt(2.0 * people * bits) - norm.isf(LEVEL)))


def alarm_row(title: str, alarms: int, allowed: float, histories: int) -> Row:
    return Row(title, f"{alarms} alarms in {histories:,}", f"≤ {allowed:.0f}", alarms <= allowed)


def power_row(shares: str, missing: str, mine: str, best: str, once: str, by: str) -> Row:
    return Row(
        f"shares {shares}, missing {missing}",
        f"{mine} by {PEOPLE:,} people (best, any time: {best}; best, once: {once}); 95 % by {by}",
        "",
        None,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runs", type=int, default=100_000, help="histories for false alarms")
    parser.add_argument("--few", type=int, default=2_000, help="histories for power")
    options = parser.parse_args()
    each = -(-options.runs // len(DRAWINGS))
    alarms, power = list[Row](), list[Row]()
    for at, (title, answering) in enumerate(COMMON.items()):
        found = sum(
            int((simulated(100 * at + k, each, answering, drawing)[:, 0] > 0).sum())
            for k, drawing in enumerate(DRAWINGS)
        )
        histories = each * len(DRAWINGS)
        alarms.append(alarm_row(title, found, LEVEL * histories, histories))
    for at, case in enumerate(DIFFERENCES):
        answering = np.tile(1.0 - np.array(case.missing), (LATEST, 1))
        found = simulated(1_000 + at, options.few, answering, Drawing("", case.law), case.missing)
        times = np.where(found == 0, LATEST + 1, found)
        mine, best = (times <= PEOPLE).mean(axis=0)
        by = int(np.quantile(times[:, 0], 0.95, method="higher"))
        shares, missing = (", ".join(f"{x:.2g}" for x in row) for row in case)
        latest = f"{by:,}" if by <= LATEST else f"more than {LATEST:,}"
        once = f"{fixed_power(case, PEOPLE):.1%}"
        power.append(power_row(shares, missing, f"{mine:.1%}", f"{best:.1%}", once, latest))
    tables = {FALSE: alarms, POWER: power}
    for title, rows in tables.items():
        show(title, rows)
    write(options.out, f"python -m benchmarks.answering --out {options.out}", tables, NOTE)


if __name__ == "__main__":
    main()
