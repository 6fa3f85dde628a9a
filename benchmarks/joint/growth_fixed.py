"""How regret grows with K where L − K is fixed: joint releases beside a policy that shares ε out.
`python -m benchmarks.joint.growth_fixed [--runs 40] [--out FILE]`.

Uniform matroids: K elements of .6 over four of .5, which have the lower numbers. Events are drawn
one by one up to ln T = 400, as in `growth`, for preset "level" and for DPKLMAT at level ln t, whose
index is made for Laplace(K/ε) noise.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.joint.growth import (
    ALPHA,
    BAD,
    EPSILON,
    FIRST,
    GOOD,
    GRID,
    LATE,
    MARKS,
    SIZES,
    Known,
    Line,
    fitted,
    joint_lower,
    joint_upper,
    read,
)
from benchmarks.table import Row, show, write
from dpbandits.core.inputs import Floats
from dpbandits.policies.formulas.indices import d_eps
from dpbandits.simulation.compiled.jit import dp_klucb, jit, joint_variance, log_moment

OUTSIDE = 4
"""L − K."""

SHARED_FIRST = 24.0
"""Rounds in DPKLMAT's first batches, in K/ε: its default."""

MANY = 1e12
"""From so many rounds on a sum of rewards is drawn from the normal law."""


@jit
def kept(marks: Any, at: int, t: float, rounds: float, lost: float, rate: float, out: Any) -> int:
    """Writes regret at the marks that these rounds reach; returns the next mark."""
    while at < len(marks) and marks[at] <= math.log(t + rounds):
        out[at] = lost + rate * max(0.0, math.exp(marks[at]) - t)
        at += 1
    return at


@jit
def undecided(known: Any, order: Any, size: int, uppers: Any, level: float) -> Any:
    """Places of the basis's elements that are new or, where none is, in it by their width alone."""
    new = np.array([known.rounds[e] == 0 for e in order[:size]])
    if new.any():
        return np.flatnonzero(new)
    rival, open_ = order[size], np.zeros(size, np.bool_)
    for i in range(size):
        low = joint_lower(known, order[i], level)
        open_[i] = uppers[rival] > low or (uppers[rival] == low and rival < order[i])
    return np.flatnonzero(open_)


@jit
def play_joint(
    known: Any, means: Any, size: int, eps: float, marks: Any, rng: Any, out: Any
) -> None:
    t, lost, at = 0.0, 0.0, 0
    uppers = np.zeros(len(means))
    while at < len(marks):
        level = math.log(t + 1.0)
        for e in range(len(means)):
            uppers[e] = joint_upper(known, e, level)
        order = np.argsort(-uppers, kind="mergesort")  # stable: the lower number first
        rate = means[-size:].sum() - means[order[:size]].sum()
        told = undecided(known, order, size, uppers, level)
        if len(told) == 0:
            rounds = max(1.0, np.floor((ALPHA - 1.0) * t))  # a float: t outgrows whole numbers
        else:
            least = known.rounds[order[told]].min()
            first = math.ceil(FIRST * math.sqrt(joint_variance(len(told), eps)))
            rounds = max(float(first), math.ceil((ALPHA - 1.0) * least))
            read(known, order, told, int(rounds), means, eps, rng)
        at = kept(marks, at, t, rounds, lost, rate, out)
        t, lost = t + rounds, lost + rate * rounds


@jit
def batch_sum(rounds: float, mean: float, rng: Any) -> float:
    if rounds < MANY:
        return float(rng.binomial(int(rounds), mean))
    return rounds * mean + math.sqrt(rounds * mean * (1.0 - mean)) * rng.standard_normal()


@jit
def play_shares(means: Any, size: int, eps: float, marks: Any, rng: Any, out: Any) -> None:
    t, lost, at, share, arms = 0.0, 0.0, 0, eps / size, len(means)
    totals, n, open_, uppers = np.zeros((4, arms))
    batches = np.full(arms, float(math.ceil(SHARED_FIRST / share)))
    while at < len(marks):
        level = math.log(t + 1.0)
        for e in range(arms):
            uppers[e] = dp_klucb(totals[e] / n[e], n[e], level, share) if n[e] > 0 else math.inf
        chosen = np.argsort(-uppers, kind="mergesort")[:size]
        rate = means[-size:].sum() - means[chosen].sum()
        left = batches[chosen] - open_[chosen]
        rounds = max(1.0, left.min())
        for i in range(size):
            e = chosen[i]
            open_[e] += rounds
            if left[i] <= rounds:
                draw = rng.standard_exponential() - rng.standard_exponential()
                totals[e] += batch_sum(batches[e], means[e], rng) + draw / share
                n[e] += batches[e]
                open_[e], batches[e] = 0.0, max(batches[e], np.ceil((ALPHA - 1.0) * n[e]))
        at = kept(marks, at, t, rounds, lost, rate, out)
        t, lost = t + rounds, lost + rate * rounds


def means_of(size: int) -> Floats:
    return np.array([BAD] * OUTSIDE + [GOOD] * size)


def joint_regret(size: int, runs: int) -> Floats:
    """Shape (runs, marks)."""
    means, out = means_of(size), np.zeros((runs, len(MARKS)))
    thetas = EPSILON * GRID
    scales = -1.0 / np.expm1(-thetas)
    moments = np.array([[log_moment(max(1, k), y) for y in GRID] for k in range(size + 1)])
    for run in range(runs):
        noise, rounds = np.zeros((len(means), len(GRID))), np.zeros(len(means), np.int64)
        known = Known(np.zeros(len(means)), rounds, noise, moments, thetas, scales)
        play_joint(known, means, size, EPSILON, MARKS, np.random.default_rng([size, run]), out[run])
    return out


def shared_regret(size: int, runs: int) -> Floats:
    """Shape (runs, marks)."""
    out = np.zeros((runs, len(MARKS)))
    for run in range(runs):
        rng = np.random.default_rng([size, run, 1])
        play_shares(means_of(size), size, EPSILON, MARKS, rng, out[run])
    return out


def rows_of(lines: dict[int, Line], share: Callable[[int], float], flat: bool) -> list[Row]:
    """share: what the policy's index takes ε for, by K. flat: whether no K was asked for in the
    slope.
    """
    middle, rows = float(np.mean([line.slope for line in lines.values()])), list[Row]()
    for size, line in lines.items():
        exact = (GOOD - BAD) / d_eps(BAD, GOOD, share(size))
        burnt = line.once * OUTSIDE / (size * (size + OUTSIDE) / EPSILON)
        text = (
            f"{line.slope:.2f} ± {line.slope_error:.2f} an element a unit of ln T (Δ/d to α·Δ/d: "
            f"{exact:.2f} to {ALPHA * exact:.2f}); once {line.once:.0f} ± {line.once_error:.0f} an "
            f"element, {burnt:.1f} · KL/ε in all"
        )
        met = abs(line.slope / middle - 1.0) <= 0.25 if flat else None
        asked = "slope within a quarter of the mean over K" if flat else ""
        rows.append(Row(f"K = {size}, L = {size + OUTSIDE}", text, asked, met))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    args = parser.parse_args()
    joint = {size: fitted(joint_regret(size, args.runs), OUTSIDE) for size in SIZES}
    shared = {size: fitted(shared_regret(size, args.runs), OUTSIDE) for size in SIZES}
    parts = {
        "DPJointMAT[level]": rows_of(joint, lambda size: EPSILON, flat=True),
        "DPKLMAT, level = 1: ε shared out": rows_of(
            shared, lambda size: EPSILON / size, flat=False
        ),
    }
    for title, rows in parts.items():
        show(title, rows)
    note = (
        f"Uniform matroids, K elements of {GOOD:g} over {OUTSIDE} of {BAD:g}; regret for each "
        f"of the {OUTSIDE}. ε = {EPSILON:g}, fitted over ln T = {LATE:g} to 400; {args.runs} runs."
    )
    command = f"python -m benchmarks.joint.growth_fixed --runs {args.runs} --out {args.out}"
    write(args.out, command, parts, note)


if __name__ == "__main__":
    main()
