"""Regret where each arm is eligible with chance 1/2: python -m benchmarks.eligible

Against the best eligible arm of each round, private over non-private KL-UCB; and the same ratio
with all arms eligible.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

import dpbandits as dpb

MEANS = (0.75, 0.625, 0.5, 0.375, 0.25)
POLICIES = ("DPRateIMED", "DPKLUCB", "AnytimeLazyUCB")
FACTOR = 1.2

HEAD = """# Arms that are not always there

`python -m benchmarks.eligible` with the numbers of rounds and runs below wrote this page.
Five Bernoulli arms (.75 to .25), ε = 1. With
masks each arm is eligible with chance 1/2 in each round (at least one is), and regret is against
the best eligible arm. The ratio of a private policy's regret to that of `KLUCB` with the same masks
is to be at most 1.2 times the same ratio without masks.

It is not, and cannot be where an arm's first answer takes a block of its own (decision 0030): what
privacy adds is a number of rounds an arm, with masks or without, while masks spare `KLUCB` most of
its regret, for it learns of an arm for nothing whenever no better one is there. The price is what a
private policy loses beyond `KLUCB`.
"""


def regret(policy: Any, rounds: int, masked: bool, seed: int) -> float:
    """Pseudo-regret of one run against the best eligible arm of each round."""
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(seed), seed=seed)
    rng, lost = np.random.default_rng([seed, 1]), 0.0
    order = rng.permutation(len(MEANS))
    for _ in range(rounds):
        there = np.flatnonzero(rng.random(len(MEANS)) < 0.5) if masked else np.arange(len(MEANS))
        eligible = there if len(there) else rng.integers(0, len(MEANS), 1)
        decision = session.ask(eligible=eligible.tolist()) if masked else session.ask()
        mean = MEANS[order[decision.action]]
        lost += max(MEANS[order[arm]] for arm in eligible) - mean
        session.tell(decision, float(rng.random() < mean))
    return lost


def mean_regret(policy: Any, rounds: int, masked: bool, runs: int) -> tuple[float, float]:
    """Its mean and standard error."""
    losses = [regret(policy, rounds, masked, seed) for seed in range(runs)]
    return float(np.mean(losses)), float(np.std(losses) / np.sqrt(runs))


def cell(found: tuple[float, float]) -> str:
    return f"{found[0]:.1f} ± {found[1]:.1f}"


def compared(found: list[tuple[float, float]], base: list[tuple[float, float]]) -> str:
    """Both ratios, whether they are as asked, and both differences."""
    pairs = list(zip(found, base, strict=True))
    plain, masked = (mine[0] / theirs[0] for mine, theirs in pairs)
    prices = " | ".join(cell((a - b, math.hypot(e, f))) for (a, e), (b, f) in pairs)
    said = "met" if masked <= FACTOR * plain else "NOT met"
    return f"{plain:.2f} | {masked:.2f} | {said} | {prices}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/measured/regret/eligible.md"))
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    arms = len(MEANS)
    base = [mean_regret(dpb.KLUCB(arms=arms), given.rounds, m, given.runs) for m in (False, True)]
    lines = [HEAD, f"{given.rounds:,} rounds, {given.runs} runs, mean ± standard error.", ""]
    lines += [
        "| policy | all arms | with masks | ratio | ratio with masks | | price | with masks |",
        "|---|---|---|---|---|---|---|---|",
        f"| KLUCB | {cell(base[0])} | {cell(base[1])} | 1 | 1 | | 0 | 0 |",
    ]
    for name in POLICIES:
        policy = getattr(dpb, name)(arms=arms, epsilon=1)
        found = [mean_regret(policy, given.rounds, m, given.runs) for m in (False, True)]
        lines.append(f"| {name} | {cell(found[0])} | {cell(found[1])} | {compared(found, base)} |")
        print(lines[-1], flush=True)
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
