"""Tails, which fast exact simulation makes visible. `python -m benchmarks.tails [--runs 20000]
[--out FILE]`.

The default DPKLUCB on every setting of the three papers: 99.9 % below 3 times the mean, mean at
most 1.4 times Σ Δ ln T/d_eps. Their means are at most .75; close to one the first does not hold:
see `benchmarks/instances.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, show, write
from dpbandits.policies.contract import Policy

INSTANCES = {
    ".75 .625 .5 .375 .25": [0.75, 0.625, 0.5, 0.375, 0.25],
    ".5 .4×4": [0.5, 0.4, 0.4, 0.4, 0.4],
    ".9 .8 .85": [0.9, 0.8, 0.85],
}


def settings() -> dict[str, list[float]]:
    """The Bernoulli means of all three papers: C1–C4 for every K, the lazy papers' three settings,
    the journal version's two.
    """
    found: dict[str, list[float]] = {}
    for arms in (3, 5, 10, 20):
        i, a = np.arange(1, arms + 1), 0.5 / (arms - 1) ** 2
        found[f"C1, K = {arms}"] = [0.75] + [0.7] * (arms - 1)
        found[f"C2, K = {arms}"] = np.linspace(0.75, 0.25, arms).tolist()
        found[f"C3, K = {arms}"] = (a * (i - arms) ** 2 + 0.25).tolist()
        found[f"C4, K = {arms}"] = (0.75 - a * (i - 1) ** 2).tolist()
    return found | {"setting 3 (.75 .15×4)": [0.75] + [0.15] * 4, ".5 .4×4": [0.5] + [0.4] * 4}


def summary(policy: Policy, means: list[float], rounds: int, runs: int) -> dict[str, float]:
    return dpb.simulate(policy, dpb.Bernoulli(means), rounds, runs=runs, seed=2026, at=[]).summary()


def described(s: dict[str, float]) -> str:
    tail = (
        f"median {s['median']:.0f}, 99 % {s['q99']:.0f}, 99.9 % {s['q999']:.0f}, worst "
        f"{s['worst']:.0f}"
    )
    return f"mean {s['mean']:.1f} ± {s['error']:.1f}, {tail}"


def default_rows(runs: int) -> list[Row]:
    rows = []
    for name, means in settings().items():
        for epsilon in (0.1, 0.5, 1):
            policy = dpb.DPKLUCB(arms=len(means), epsilon=epsilon)
            s = summary(policy, means, 10**6, runs)
            bound = dpb.lower_bound(policy, dpb.Bernoulli(means), 10**6)
            met = s["q999"] < 3 * s["mean"] and s["mean"] <= 1.4 * bound
            text = f"{described(s)}; mean/bound {s['mean'] / bound:.2f}"
            rows.append(
                Row(
                    f"DPKLUCB, {name}, ε = {epsilon:g}",
                    text,
                    "99.9 % < 3 means, mean ≤ 1.4 bounds",
                    met,
                )
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    args = parser.parse_args()
    parts = {
        "DPKLUCB, the default: regret at T = 10⁶": default_rows(args.runs),
    }
    for title, rows in parts.items():
        show(f"{title}, {args.runs} runs", rows)
    command = f"python -m benchmarks.tails --runs {args.runs} --out {args.out}"
    write(args.out, command, parts)


if __name__ == "__main__":
    main()
