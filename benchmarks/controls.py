"""Positive and negative controls of the auditor, and exact losses. `python -m benchmarks.controls
[--repetitions 50] [--out FILE]`.

1. Every specimen, at the level that must catch it; everything correct, at the levels that must pass
  it; and subjects of unusual shape, right and wrong (`benchmarks/odd`). Asked for: no false alarm,
  and no specimen missed more than once in fifty repetitions.
2. The exact loss of short runs, beside what their releases could show.
3. What published constants really hold.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from typing import Any

import dpbandits as dpb
from benchmarks.audit_controls import (
    Control,
    Row,
    broken,
    correct,
    markdown,
    run,
    short,
    title,
    verdicts,
)
from benchmarks.odd import CORRECT, MISSED, WRONG, Odd
from benchmarks.odd.releases import SPECIMENS as RELEASES
from dpbandits.auditing.broken.published import OneVectorStart
from dpbandits.auditing.effort import Work
from dpbandits.auditing.exact import exact_law, noisy_max_loss
from dpbandits.auditing.exact.probe import Streams
from dpbandits.auditing.mechanism_policy import Feeding
from dpbandits.auditing.transcript.level import transcript_level
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import NoisyMax
from dpbandits.policies.contract import Policy
from dpbandits.policies.matroid.lazy import DPUCBMAT

ONE = Fraction(1)
COUNTERS: list[Policy] = [
    policy
    for epsilon in (1, 2)
    for policy in (
        dpb.DPUCB(arms=2, epsilon=epsilon, horizon=8),
        dpb.DPUCBBound(arms=2, epsilon=epsilon),
        dpb.HybridUCB(arms=2, epsilon=epsilon),
    )
]
"""Several draws are alive in their answers at once, so lattices are larger and losses come with an
error.
"""

THREE: list[Policy] = [
    dpb.AnytimeLazyUCB(arms=3, epsilon=1),
    dpb.DPKLUCB(arms=3, epsilon=1, first=1),
    dpb.DPUCBBound(arms=3, epsilon=1),
]

COUNTED = (
    "blocks left out by the source's coins",
    "redrawn until plausible",
    "rejection by coins",
    "two draws where the sum is large, one told",
    "noise shared in turn by two actions",
    "half of a noisy maximum",
    "coins in plan",
)
FEW = 2_000
"""Odd subjects that are correct and judged by runs, too, and how many: most are played one run
after the other.
"""

EXACT_POINTS = 3e9
"""Of lattices, for one law; what takes longer is not listed, or on a coarser lattice."""

EXACT = """## Exact loss of short runs

Rewards 0 and 1, grid 1. *Exact loss*: the largest log-ratio over all sequences of decisions, all
tables and all replacements of one round; it is at least the figure and, for the pair of tables that
shows it, at most the error higher. *Attainable*: what the releases made before the last decision
tell about one reward, at most. Where the loss is below that, decisions of so few rounds do not show
it, which is no sign of stronger privacy.

"""


def all_broken() -> Iterator[Control]:
    """The shipped specimens, and odd ones."""
    yield from broken()
    for odd in (*WRONG, *RELEASES):
        yield odd_control(odd, "statistical" if odd.runs else "transcript", True)


def all_correct() -> Iterator[Control]:
    """What is shipped, and what is odd: of that the auditor may say nothing, but no ill."""
    yield from correct()
    for odd in CORRECT:
        yield odd_control(odd, "transcript", False)
        if odd.name in COUNTED:
            yield odd_control(odd, "statistical", False)


def all_missed() -> Iterator[Control]:
    """What so many runs cannot show, at the level that comes nearest."""
    for odd in MISSED:
        yield odd_control(odd, "statistical", True)


def odd_control(odd: Odd, level: str, wrong: bool) -> Control:
    truth = (
        "not DP"
        if math.isinf(odd.true)
        else "more than 1"
        if math.isnan(odd.true)
        else f"{odd.true:.4g}"
    )
    return Control(
        odd.name,
        wrong,
        level,
        lambda: bare(odd.make(), level),
        ONE,
        truth,
        runs=odd.runs or FEW,
        open=not wrong,
    )


def bare(policy: Policy, level: str) -> Any:
    """Of a mechanism that is only fed, runs look at the mechanism's answers."""
    return policy.mechanism() if level == "statistical" and isinstance(policy, Feeding) else policy


def judged(kind: Callable[[], Iterator[Control]], repetitions: int) -> list[Row]:
    """Every control, one a core at a time. Controls make their subjects with functions of their
    own, so they are named by their place.
    """
    places = range(len(list(kind())))
    rows = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for row in pool.map(one_row, repeat(kind), places, repeat(repetitions)):
            rows.append(Row(list(kind())[row[0]], *row[1:]))
            print(markdown([rows[-1]]).splitlines()[-1], flush=True)
    return rows


def one_row(
    kind: Callable[[], Iterator[Control]], place: int, repetitions: int
) -> tuple[int, int, int, float, float]:
    return place, *run(list(kind())[place], repetitions)[1:]


def controls_text(repetitions: int) -> str:
    bad, good, missed_ones = (
        judged(kind, repetitions) for kind in (all_broken, all_correct, all_missed)
    )
    specimens, missed, alarms = verdicts([*bad, *good])
    runs = sum(row.runs for row in good)
    return (
        f"{specimens} specimens, at most {missed} time(s) missed in {repetitions} repetitions; "
        f"{alarms} false alarms in {runs} audits of "
        f"what is correct.\n\n## Broken on purpose\n\n{markdown(bad)}\n## Broken, and too seldom "
        f"to be seen\n\n{markdown(missed_ones)}\n"
        f"## Correct\n\n{markdown(good)}"
    )


def exact_text() -> str:
    """Loss of the decisions, and of the releases behind them."""
    cases = [(policy, 2, rounds) for policy in (*short(), *COUNTERS) for rounds in (4, 6, 8)]
    cases += [(policy, 3, rounds) for policy in THREE for rounds in (4, 5, 6)]
    lines = [
        (
            "| policy | arms | ε | T | exact loss of the decisions | error | attainable from the "
            "releases |"
        ),
        "|---|---|---|---|---|---|---|",
    ]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(exact_line, *zip(*cases, strict=True)):
            lines.append(line)
            print(line, flush=True)
    return "\n".join(lines) + "\n"


def exact_line(policy: Policy, arms: int, rounds: int) -> str:
    found = exact_law(policy, rounds, Work(EXACT_POINTS), arms=arms)
    loss, error = (
        (f"{found.lower_bound:.4f}", f"{max(found.error, 1e-12):.0e}")
        if found.outcome == "passed"
        else ("–", found.evidence)
    )
    attainable = "–" if found.attainable is None else f"{found.attainable:g}"
    return (
        f"| {title(policy)} | {arms} | {float(getattr(policy, 'budget', 1)):g} | {rounds} | "
        f"{loss} | {error} | {attainable} |"
    )


def published_text() -> str:
    lines = ["| published | rounds | claims | holds | ours |", "|---|---|---|---|---|"]
    for n in (2, 4, 64):
        published, ours = (
            noisy_max_loss(NoisyMax(epsilon=e * ONE, grid=Grid(steps=1024)), n) for e in (2, 1)
        )
        lines.append(
            f"| RNM-FTNL, noise Lap(1/ε), an epoch of {n} rounds | {n} | 1 | {published:.3f} | "
            f"{ours:.3f} with Lap(2/ε) |"
        )
    for leaves in (4, 8, 16):
        prices = [
            Streams(dpb.HybridUCB(arms=2, epsilon=1, preset=p).mechanism()).price((1,) * leaves)
            for p in ("published", "corrected")
        ]
        lines.append(
            f"| Hybrid-UCB's tree, root released | {leaves} of an arm | 1 | "
            f"{float(prices[0] or 0):g} | {float(prices[1] or 0):g} |"
        )
    problem = dpb.UniformMatroid(arms=6, rank=2)
    losses = [
        transcript_level(start(problem=problem, epsilon=1), rounds=100).details["loss"]
        for start in (OneVectorStart, DPUCBMAT)
    ]
    lines.append(
        f"| DPUCB-MAT, started from one vector of L = 6 elements, K = 2 | 100 | 1 | {losses[0]} "
        f"| {losses[1]} from covering bases |"
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    sections = (
        (
            "# Controls of the auditor, and exact losses\n\nWritten by `python -m "
            "benchmarks.controls`; do not edit.\n"
        ),
        controls_text(arguments.repetitions),
        EXACT + exact_text(),
        "## What published constants hold, at ε = 1\n\n" + published_text(),
    )
    text = "\n".join(sections)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
