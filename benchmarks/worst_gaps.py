"""The worst gaps: regret of one better arm among five, for gaps from tiny to one half. `python -m
benchmarks.worst_gaps [--runs 40] [--out FILE]`.

Each policy's mean regret, at T = 10⁶ or with full information 10⁵, is held below its bound on the
instance and below the bound for all instances; the worst over gaps is shown beside what any bandit
policy of this privacy loses on some instance.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, show, write
from dpbandits.policies.contract import Policy
from dpbandits.theory import minimax_lower_bound

ARMS = 5
LONG, SHORT = 10**6, 10**5  # bandits; full information, whose loops see every round
GAPS = [round(0.5 * 2.0 ** (-half / 2), 4) for half in range(17)]  # .5 down to .002
Maker = Callable[[float], Policy]

POLICIES: dict[str, Maker] = {
    "UCB1": lambda eps: dpb.UCB1(arms=ARMS),
    "AnytimeLazyUCB": lambda eps: dpb.AnytimeLazyUCB(arms=ARMS, epsilon=eps),
    "DPSE": lambda eps: dpb.DPSE(arms=ARMS, epsilon=eps, horizon=LONG),
    "DPKLUCB": lambda eps: dpb.DPKLUCB(arms=ARMS, epsilon=eps),
    "DecreasingHedge": lambda eps: dpb.DecreasingHedge(actions=ARMS),
    "RNMFTNL": lambda eps: dpb.RNMFTNL(actions=ARMS, epsilon=eps),
}
FREE = ("UCB1", "DecreasingHedge")


def swept(policy: Policy, runs: int) -> Row:
    """The gap that costs most, and whether every mean is below its bounds."""
    bandit = policy.about.feedback == "bandit"
    rounds = LONG if bandit else SHORT
    everywhere = dpb.instance_independent_bound(policy, rounds)
    means, bounds, below = [], [], True
    for gap in GAPS:
        environment = dpb.Bernoulli([0.5 - gap / 2] * (ARMS - 1) + [0.5 + gap / 2])
        regret = dpb.simulate(policy, environment, rounds, runs=runs, seed=2026, at=[]).regret()
        mean, error = float(regret.mean()), float(regret.std(ddof=1)) / math.sqrt(runs)
        means.append(mean)
        bounds.append(dpb.upper_bound(policy, environment, rounds))
        least = bounds[-1] if math.isnan(everywhere) else min(bounds[-1], everywhere)
        below = below and mean <= least + 5 * error
    worst = int(np.argmax(means))
    all_gaps = "none proved" if math.isnan(everywhere) else f"{everywhere:,.0f}"
    epsilon = getattr(policy, "epsilon", None)
    floor = f"; any loses {minimax_lower_bound(ARMS, rounds, epsilon):,.0f} on some instance"
    name = policy.name if epsilon is None else f"{policy.name}, ε = {float(epsilon):g}"
    return Row(
        name,
        f"worst gap {GAPS[worst]:g}: {means[worst]:,.0f}, bound there {bounds[worst]:,.0f}; worst "
        f"bound {max(bounds):,.0f}; for all instances {all_gaps}{floor if bandit else ''}",
        "every mean ≤ its bounds",
        below,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    args = parser.parse_args()
    rows = [
        swept(make(eps), args.runs)
        for name, make in POLICIES.items()
        for eps in ((1.0,) if name in FREE else (0.1, 1.0))
    ]
    title = "Worst gaps"
    note = (
        f"Regret over 17 gaps, {ARMS} arms, {args.runs} runs: T = 10⁶, with full information 10⁵."
    )
    show(title, rows)
    command = f"python -m benchmarks.worst_gaps --runs {args.runs} --out {args.out}"
    write(args.out, command, {title: rows}, note)


if __name__ == "__main__":
    main()
