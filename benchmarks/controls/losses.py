"""Exact losses of short runs, and what published constants really hold."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

import dpbandits as dpb
from benchmarks.controls.repeated import (
    short,
    title,
)
from dpbandits.auditing.broken.published import OneVectorStart
from dpbandits.auditing.exact_law import Streams, exact_law, noisy_max_loss
from dpbandits.auditing.played_noise import Work
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import NoisyMax
from dpbandits.policies.contract import Policy
from dpbandits.policies.matroid import DPUCBMAT

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


EXACT_POINTS = 3e9
"""Of lattices, for one law; what takes longer is not listed, or on a coarser lattice."""


EXACT = """## Exact loss of short runs

Rewards 0 and 1, grid 1. *Exact loss*: the largest log-ratio over all sequences of decisions, all
tables and all replacements of one round; it is at least the figure and, for the pair of tables that
shows it, at most the error higher. *Attainable*: what the releases made before the last decision
tell about one reward, at most. Where the loss is below that, decisions of so few rounds do not show
it, which is no sign of stronger privacy.

"""


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
