"""How NoiseAwareTS's constants were found. `python -m benchmarks.noise_aware [--runs 4000] [--out
FILE]`.

Regret at T = 10⁵ as mean / 99.9 % / worst, for variations of the variance factor c, the net, and
the first batch.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import dpbandits as dpb
from benchmarks.table import Row, markdown, show
from benchmarks.tails import INSTANCES

VARIANTS: list[dict[str, Any]] = [
    {"preset": "gaussian"},
    {"preset": "optimistic"},
    *({"preset": "gaussian", "c": c} for c in (1.5, 2.0)),
    *({"preset": "gaussian", "net": net} for net in (0.4, 0.5, 0.6, 0.7, 0.8)),
    *({"c": c, "net": net} for c in (0.5, 0.6, 0.7) for net in (0.6, 0.65, 0.7)),
    *({"preset": "safe", "first": multiple} for multiple in (24, 48)),
]


def regret(policy: dpb.Policy, means: list[float], runs: int) -> str:
    s = dpb.simulate(policy, dpb.Bernoulli(means), 10**5, runs=runs, seed=5, at=[]).summary()
    return f"{s['mean']:.0f} / {s['q999']:.0f} / {s['worst']:.0f}"


def row(name: str, make: Any, runs: int) -> Row:
    cells = [
        f"{text}, ε = {eps:g}: {regret(make(len(means), eps), means, runs)}"
        for text, means in INSTANCES.items()
        for eps in (1, 0.1)
    ]
    return Row(name, "; ".join(cells), "", None)


def variant(variation: dict[str, Any], arms: int, eps: float) -> dpb.Policy:
    given = dict(variation)
    if "first" in given:
        given["first"] = math.ceil(given["first"] / eps)
    return dpb.NoiseAwareTS(arms=arms, epsilon=eps, **given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    args = parser.parse_args()
    rows = [row("DPKLUCB", lambda arms, eps: dpb.DPKLUCB(arms=arms, epsilon=eps), args.runs)]
    for variation in VARIANTS:
        name = ", ".join(f"{k} = {v}{'/ε' if k == 'first' else ''}" for k, v in variation.items())
        rows.append(row(name, lambda arms, eps, v=variation: variant(v, arms, eps), args.runs))
    title = "Variations of NoiseAwareTS"
    said = f"Mean / 99.9 % / worst regret at T = 10⁵, {args.runs} runs."
    show(title, rows)
    if args.out:
        command = f"python -m benchmarks.noise_aware --runs {args.runs} --out {args.out}"
        args.out.write_text(markdown(title, command, rows, said), encoding="utf-8")


if __name__ == "__main__":
    main()
