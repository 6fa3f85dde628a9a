"""What better counters bring. `python -m benchmarks.counters [--runs 4] [--out FILE]`.

With full information, `TreeFTRL` with its signed tree against the published binary tree, and
`RootFTRL` at ρ = ε²/2, on tables of 0/1 rewards: one action better by .1, and means that change
eight times. For bandits, `DPUCB` and `CUCBDP` with their binary trees and with signed ones, beside
a policy that releases seldom.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, described, show, write
from dpbandits.core.inputs import Floats
from dpbandits.policies import CUCBDP
from dpbandits.policies.contract import Policy

ACTIONS = 10
ROUNDS = (20_000, 100_000)
BANDIT_ROUNDS = 100_000

# Full information.


def better_by_a_tenth(rounds: int, rng: np.random.Generator) -> Floats:
    means = np.full(ACTIONS, 0.5)
    means[rng.integers(ACTIONS)] += 0.1
    return (rng.random((rounds, ACTIONS)) < means).astype(float)


def changing(rounds: int, rng: np.random.Generator) -> Floats:
    """Every fourth action is good for an eighth of the rounds, in turn; action 0 a little more."""
    turn = np.arange(rounds)[:, None] // max(1, rounds // 8) + np.arange(ACTIONS)
    means = np.where(turn % 4 == 0, 0.65, 0.5) + 0.02 * (np.arange(ACTIONS) == 0)
    return (rng.random((rounds, ACTIONS)) < means).astype(float)


KINDS = {"one better by .1": better_by_a_tenth, "changing": changing}


def learners(rounds: int, epsilon: float) -> list[Policy]:
    same: dict[str, Any] = {"actions": ACTIONS, "horizon": rounds, "grid": 1, "play": "weights"}
    return [
        dpb.TreeFTRL(epsilon=epsilon, preset="published", **same),
        dpb.TreeFTRL(epsilon=epsilon, **same),
        dpb.RootFTRL(rho=epsilon**2 / 2, **same),
        dpb.DecreasingHedge(actions=ACTIONS, grid=1, play="weights"),
    ]


def full_information(runs: int) -> list[Row]:
    rows = list[Row]()
    for rounds in ROUNDS:
        for kind, make in KINDS.items():
            tables = [make(rounds, np.random.default_rng([7, run])) for run in range(runs)]
            for epsilon in (1.0, 0.1):
                published, signed, root, plain = (
                    regrets(policy, tables, rounds) for policy in learners(rounds, epsilon)
                )
                others = {"RootFTRL": root, "no privacy": plain}
                what = f"T = {rounds:,}, {kind}, ε = {epsilon:g}"
                rows.append(compared(what, published, signed, others, 4 if epsilon == 1.0 else 0))
    return rows


def compared(
    what: str, binary: Floats, signed: Floats, others: Mapping[str, Floats], aim: int
) -> Row:
    """Regret with both trees, how many times less the second lost, and regret of other policies.
    aim: how many times less was asked for; 0: nothing was.
    """
    factor = binary.mean() / signed.mean()
    beside = ", ".join(f"{name} {described(lost)}" for name, lost in others.items())
    return Row(
        what,
        f"binary tree {described(binary)}, signed {described(signed)}: {factor:.1f} times less; "
        f"{beside}",
        f"{aim} times less" if aim else "",
        bool(factor >= aim) if aim else None,
    )


def regrets(policy: Policy, tables: Sequence[Floats], rounds: int) -> Floats:
    """Each table's regret against its best action, in a run of its own."""
    found = [
        dpb.simulate(policy, dpb.Table(table), rounds, runs=1, seed=run, at=[], shuffle=False)
        for run, table in enumerate(tables)
    ]
    return np.concatenate([runs.regret() for runs in found])


# Bandits.

PAPERS = {
    "C1": (0.75, 0.7, 0.7, 0.7, 0.7),
    "C2": (0.75, 0.625, 0.5, 0.375, 0.25),
    "C3": (0.75, 0.53125, 0.375, 0.28125, 0.25),
    "C4": (0.75, 0.71875, 0.625, 0.46875, 0.25),
}
"""Means of Sajed and Sheffet 2019, five arms."""


def bandits(runs: int) -> list[Row]:
    pairs = dpb.UniformMatroid(arms=5, rank=2)
    rows = list[Row]()
    for epsilon in (1.0, 0.25, 0.1):
        given: dict[str, Any] = {"epsilon": epsilon, "grid": 1}
        tree = given | {"horizon": BANDIT_ROUNDS}
        for policies in (
            (
                dpb.DPUCB(arms=5, **tree),
                dpb.DPUCB(arms=5, preset="signed", **tree),
                dpb.DPKLUCB(arms=5, **given),
            ),
            (
                CUCBDP(problem=pairs, **tree),
                CUCBDP(problem=pairs, preset="signed", **tree),
                dpb.DPJointMAT(problem=pairs, **given),
            ),
        ):
            for instance, means in PAPERS.items():
                binary, signed, seldom = (in_any_order(each, means, runs) for each in policies)
                what = f"{policies[0].name}, {instance}, ε = {epsilon:g}"
                rows.append(compared(what, binary, signed, {policies[2].name: seldom}, 2))
                print(*rows[-1], flush=True)
    return rows


def in_any_order(policy: Policy, means: Sequence[float], runs: int) -> Floats:
    """Regret of each run, its arms in an order of its own: ties go to the lower number, and while
    all indices are clipped at 1 there are ties.
    """
    found = list[float]()
    for run in range(runs):
        order = np.random.default_rng([11, run]).permutation(means)
        made = dpb.simulate(
            policy, dpb.Bernoulli(order), BANDIT_ROUNDS, runs=1, seed=run, at=[], workers=1
        )
        found += made.regret().tolist()
    return np.array(found)


NOTE = f"""\
Mean regret ± its standard error. Nothing is tuned.
Full information: TreeFTRL with its published binary tree and its signed one, {ACTIONS} actions,
played by weights, each run on its own table (seeds [7, run]). RootFTRL has ρ = ε²/2.
Bandits: the five arms of Sajed and Sheffet 2019, each run in an order of its own (seeds
[11, run]); CUCBDP plays two. Where all indices of CUCBDP are above 1 it plays the first two arms,
so its regret is that of the order."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--out", type=Path, help="write the tables to this file")
    args = parser.parse_args()
    tables = {
        f"Full information, {ACTIONS} actions": full_information(args.runs),
        f"Bandits, five arms, T = {BANDIT_ROUNDS:,}": bandits(args.runs),
    }
    for title, rows in tables.items():
        show(title, rows)
    command = f"python -m benchmarks.counters --runs {args.runs} --out {args.out}"
    write(args.out, command, tables, NOTE)


if __name__ == "__main__":
    main()
