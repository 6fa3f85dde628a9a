"""Does DPUCBMAT pay the factor min{K, ln n} of its bound?
`python -m benchmarks.matroid.growth [--runs 40] [--out FILE]`.

Uniform matroids: K best elements with doubling gaps (or equal ones) over elements of one mean, one
of them or 2K. Budgets are so small that noise is nearly all of the regret, and ε₀ = ε/K is the same
for all K, so that regret for each bad element would not grow but for that factor.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, described, show, write
from dpbandits.core.inputs import Floats
from papers.evidence import contrast
from papers.measures import slope_weights

SIZES, SHARE, ROUNDS = (2, 4, 8), 0.001, 10**12
LOW, FIRST, MISS = 0.1, 0.64, 0.05
"""The bad elements' mean; the largest gap; of the intervals."""


def gaps_of(kind: str, size: int) -> Floats:
    """From the best element down."""
    return FIRST * 0.5 ** (np.arange(size) if kind == "doubling" else np.zeros(size))


def regrets(kind: str, size: int, bad: int, runs: int) -> Floats:
    """Of every run, for each bad element."""
    means = np.concatenate([LOW + gaps_of(kind, size), np.full(bad, LOW)])
    problem = dpb.UniformMatroid(arms=len(means), rank=size)
    policy = dpb.DPUCBMAT(problem=problem, epsilon=SHARE * size)
    played = dpb.simulate(policy, dpb.Bernoulli(means), ROUNDS, runs=runs, seed=3, at=[])
    return played.regret() / bad


def growth_row(kind: str, bad: str, runs: int) -> Row:
    samples = [regrets(kind, k, 1 if bad == "one" else 2 * k, runs) for k in SIZES]
    slope = contrast(samples, slope_weights(SIZES), log=False)
    low, high = slope.interval(MISS)
    ratio = contrast([samples[-1], samples[0]], [1.0, -1.0])
    least, most = ratio.interval(MISS)
    cells = "; ".join(f"K = {k}: {described(x)}" for k, x in zip(SIZES, samples, strict=True))
    text = f"K^{slope.value:.2f} [{low:.2f}, {high:.2f}]; {cells}; K = 8 over 2: ×{ratio.value:.2f}"
    text += f" [{least:.2f}, {most:.2f}]"
    return Row(f"{kind} gaps, {bad} bad", text, "", None)


def harmonic(count: int) -> float:
    """Return 1 + 1/2 + … + 1/count."""
    return math.fsum(1.0 / i for i in range(1, count + 1))


def rank_factor(gaps: Sequence[float] | Floats) -> float:
    """Return the factor of rank in the noise's term on a uniform matroid, for an element with gaps
    Δ_1 >= Δ_2 >= … > 0 to the best ones.

    It is Σ_k (A_k − A_{k+1})/Δ_k, where A_k is the mean of Δ_k, Δ_{k+1}, …; at most
    `harmonic(len(gaps))` and 1 + ln(Δ_1/Δ_K) (proofs/uniform_matroid.md).
    """
    sums, total = [0.0], 0.0
    for gap in reversed(gaps):
        total += float(gap)
        sums.append(total / len(sums))
    means = sums[::-1]
    return math.fsum((means[k] - means[k + 1]) / float(gap) for k, gap in enumerate(gaps))


def bound_rows() -> list[Row]:
    """What the factor may be on doubling gaps, by the three arguments."""
    theirs = [float(np.sum(1 - np.append(g[1:], 0) / g)) for g in doubling()]
    ours = [rank_factor(g) for g in doubling()]
    rows = [
        ("the source's: Σ (1 − Δ_{k+1}/Δ_k)", theirs),
        ("proved here, at these gaps", ours),
        ("proved here, at any gaps: 1 + 1/2 + … + 1/K", [harmonic(k) for k in SIZES]),
    ]
    return [
        Row(name, f"{'; '.join(f'{x:.2f}' for x in row)}; ×{row[-1] / row[0]:.2f}", "", None)
        for name, row in rows
    ]


def doubling() -> list[Floats]:
    return [gaps_of("doubling", size) for size in SIZES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    args = parser.parse_args()
    kinds = (("doubling", "2K"), ("doubling", "one"), ("equal", "2K"))
    parts = {
        "Regret of DPUCBMAT for each bad element": [
            growth_row(kind, bad, args.runs) for kind, bad in kinds
        ],
        "What the factor may be on doubling gaps, K = 2; 4; 8, and K = 8 over 2": bound_rows(),
    }
    for title, rows in parts.items():
        show(title, rows)
    command = f"python -m benchmarks.matroid.growth --runs {args.runs} --out {args.out}"
    note = (
        f"The factor min(K, ln n) on uniform matroids: ε = {SHARE:g} K, T = {ROUNDS:.0e}, "
        f"largest gap {FIRST}, {args.runs} runs; exponents with 95 % intervals, means ± "
        "standard errors. What is proved: proofs/uniform_matroid.md."
    )
    write(args.out, command, parts, note)


if __name__ == "__main__":
    main()
