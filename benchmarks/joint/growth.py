"""How the regret of joint releases grows with K: what is paid once, and what every ln T costs.
`python -m benchmarks.joint.growth [--runs 20] [--out FILE] [--figure FILE]`.

K pairs, .6 against .5, one of each pair is played (L = 2K). Events are drawn one by one up to
ln T = 400, by the policy's bounds (preset "level") and batches. t is a float, and the best theta of
a bound is that of a grid; every theta's bound is valid. Sizes have equally many pairs in all.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.table import Row, show, write
from dpbandits.core.inputs import Floats
from dpbandits.policies.formulas.indices import d_eps
from dpbandits.simulation.compiled.jit import jit, joint_variance, log_moment

SIZES = (2, 4, 8, 16, 32)
EPSILON, GOOD, BAD = 1.0, 0.6, 0.5
ALPHA, FIRST = 1.5, 16.0  # the policy's defaults
MARKS = np.arange(4.0, 401.0, 4.0)
"""ln T at which regret is kept."""

LATE = 240.0
"""The line is fitted from here on."""


GRID = 1.0 / (1.0 + np.exp(-np.linspace(-18.0, 7.0, 160)))
"""theta/eps. As n grows a bound comes to within theta of the mean, so small ones are needed."""


class Known(NamedTuple):
    """Of every element: released total, rounds, and what its noise weighs at every theta.

    moments: shape (K + 1, thetas), of one draw for so many elements. thetas, scales: theta, and
        1/(1 − e^−theta).
    """

    totals: Any
    rounds: Any
    noise: Any
    moments: Any
    thetas: Any
    scales: Any


@jit
def bound(known: Any, e: int, total: float, level: float) -> float:
    """The upper bound of `rate_bound` at this total, by the best theta of the grid."""
    n, least = known.rounds[e], 1.0
    total = min(float(n), max(0.0, total))
    for i in range(len(known.thetas)):
        weight = level + known.thetas[i] * total + known.noise[e, i]
        least = min(least, -math.expm1(-weight / n) * known.scales[i])
    return least


@jit
def joint_upper(known: Any, e: int, level: float) -> float:
    return math.inf if known.rounds[e] == 0 else bound(known, e, known.totals[e], level)


@jit
def joint_lower(known: Any, e: int, level: float) -> float:
    return 1.0 - bound(known, e, known.rounds[e] - known.totals[e], level)


@jit
def released_of(known: Any, chosen: Any, uppers: Any, level: float) -> Any:
    """The pairs whose element is new, or, where none is, undecided."""
    pairs = len(chosen)
    new = np.array([known.rounds[chosen[i]] == 0 for i in range(pairs)])
    if new.any():
        return np.flatnonzero(new)
    open_ = np.zeros(pairs, np.bool_)
    for i in range(pairs):
        e = chosen[i]
        other = 4 * i + 1 - e  # the pair's two numbers add up to 4i + 1
        low = joint_lower(known, e, level)
        open_[i] = uppers[other] > low or (uppers[other] == low and other < e)
    return np.flatnonzero(open_)


@jit
def read(known: Any, chosen: Any, told: Any, rounds: int, means: Any, eps: float, rng: Any) -> None:
    """One draw for all that is released."""
    count = len(told)
    radius = rng.standard_gamma(count + 1.0) / eps
    for i in told:
        e = chosen[i]
        known.totals[e] += rng.binomial(rounds, means[e]) + radius * (2.0 * rng.random() - 1.0)
        known.rounds[e] += rounds
        known.noise[e] += known.moments[count]


@jit
def play(known: Any, means: Any, eps: float, marks: Any, rng: Any, out: Any) -> None:
    """Regret at every mark. Even elements are the better ones."""
    pairs = len(means) // 2
    t, lost, at = 0.0, 0.0, 0
    chosen, uppers = np.zeros(pairs, np.int64), np.zeros(2 * pairs)
    while at < len(marks):
        level = math.log(t + 1.0)
        for e in range(2 * pairs):
            uppers[e] = joint_upper(known, e, level)
        rate = 0.0
        for i in range(pairs):
            chosen[i] = 2 * i if uppers[2 * i] >= uppers[2 * i + 1] else 2 * i + 1
            rate += means[2 * i] - means[chosen[i]]
        told = released_of(known, chosen, uppers, level)
        if len(told) == 0:
            rounds = max(1.0, np.floor((ALPHA - 1.0) * t))  # a float: t outgrows whole numbers
        else:
            least = known.rounds[chosen[told[0]]]
            for i in told:
                least = min(least, known.rounds[chosen[i]])
            first = math.ceil(FIRST * math.sqrt(joint_variance(len(told), eps)))
            rounds = max(float(first), math.ceil((ALPHA - 1.0) * least))
            read(known, chosen, told, int(rounds), means, eps, rng)
        while at < len(marks) and marks[at] <= math.log(t + rounds):
            out[at] = lost + rate * max(0.0, math.exp(marks[at]) - t)
            at += 1
        t, lost = t + rounds, lost + rate * rounds


def simulated(size: int, runs: int) -> Floats:
    """Regret, shape (runs, marks), of more runs where K is smaller."""
    runs = runs * SIZES[-1] // size
    means, out = np.array([GOOD, BAD] * size), np.zeros((runs, len(MARKS)))
    thetas = EPSILON * GRID
    scales = -1.0 / np.expm1(-thetas)
    moments = np.array([[log_moment(max(1, k), y) for y in GRID] for k in range(size + 1)])
    for run in range(runs):
        noise, rounds = np.zeros((2 * size, len(GRID))), np.zeros(2 * size, np.int64)
        known = Known(np.zeros(2 * size), rounds, noise, moments, thetas, scales)
        rng = np.random.default_rng([size, run])
        play(known, means, EPSILON, MARKS, rng, out[run])
    return out


class Line(NamedTuple):
    """Of regret an element: growth a unit of ln T, and what was paid before, each with its standard
    error.
    """

    slope: float
    slope_error: float
    once: float
    once_error: float


def fitted(regret: Floats, size: int) -> Line:
    late = MARKS >= LATE
    lines = np.array([np.polyfit(MARKS[late], run[late] / size, 1) for run in regret])
    errors = lines.std(axis=0) / math.sqrt(len(lines))
    return Line(*(float(x) for x in (lines[:, 0].mean(), errors[0], lines[:, 1].mean(), errors[1])))


def rows_of(lines: dict[int, Line]) -> list[Row]:
    exact = (GOOD - BAD) / d_eps(BAD, GOOD, EPSILON)
    slopes = [line.slope for line in lines.values()]
    middle = float(np.mean(slopes))
    rows = [
        Row(
            f"K = {size}, L = {2 * size}",
            f"{line.slope:.2f} ± {line.slope_error:.2f} an element a unit of ln T; once "
            f"{line.once:.0f} ± {line.once_error:.0f} an element, "
            f"{line.once * size / (2 * size * size / EPSILON):.1f} · KL/ε in all",
            "slope within a quarter of the mean over K",
            abs(line.slope / middle - 1.0) <= 0.25,
        )
        for size, line in lines.items()
    ]
    text = f"{exact:.2f} to {ALPHA * exact:.2f}"
    return [*rows, Row("Δ/d to α·Δ/d, the theorem's slope", text, "", None)]


def draw(results: dict[int, Floats], lines: dict[int, Line], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for size, regret in results.items():
        left.plot(MARKS, regret.mean(axis=0) / size, label=f"K = {size}")
    left.set(xlabel="ln T", ylabel="regret an element", title="Lines of one slope, shifted")
    left.legend(frameon=False)
    sizes = list(lines)
    for name, values, errors in (
        ("paid once", [x.once for x in lines.values()], [x.once_error for x in lines.values()]),
        (
            "100 units of ln T",
            [100 * x.slope for x in lines.values()],
            [100 * x.slope_error for x in lines.values()],
        ),
    ):
        right.errorbar(sizes, values, yerr=2 * np.array(errors), fmt="o-", capsize=3, label=name)
    right.set(xlabel="K", ylabel="regret an element", title="What K costs, and what it does not")
    right.set_xticks(sizes, [str(size) for size in sizes])
    right.legend(frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    parser.add_argument("--figure", type=Path, help="and draw it")
    args = parser.parse_args()
    results = {size: simulated(size, args.runs) for size in SIZES}
    lines = {size: fitted(regret, size) for size, regret in results.items()}
    title = "Joint releases: growth with K"
    note = (
        f"ε = {EPSILON:g}, fitted over ln T = {LATE:g} to 400: {args.runs * SIZES[-1]} pairs "
        f"each, {args.runs} to {args.runs * SIZES[-1] // 2} runs. L = 2K, as in the proof that no "
        "policy escapes the burn-in, so the table has regret an element; L − K "
        "fixed, beside a policy that shares ε out: joint_growth_fixed.csv."
    )
    show(title, rows_of(lines))
    if args.figure:
        draw(results, lines, args.figure)
    command = (
        f"python -m benchmarks.joint.growth --runs {args.runs} --out {args.out} "
        f"--figure {args.figure}"
    )
    write(args.out, command, {title: rows_of(lines)}, note)


if __name__ == "__main__":
    main()
