"""What better counters bring. `python -m benchmarks.counters [--runs 4] [--out FILE]`.

With full information, `TreeFTRL` with its signed tree against the published binary tree, and
`RootFTRL` at ρ = ε²/2, on tables of 0/1 rewards: one action better by .1, and means that change
eight times. For bandits, the tight presets of `DPUCB` and `CUCBDP` with either tree, beside a
policy that releases seldom.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, described, sections, show
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import EVERY
from dpbandits.mechanisms import Answer, Block, EachArm, SeparableDP, SignedTree
from dpbandits.mechanisms.base import Readings
from dpbandits.noise.protocol import Noise
from dpbandits.policies import CUCBDP
from dpbandits.policies.contract import Policy, policy_dataclass
from dpbandits.policies.every_round import DPUCB
from dpbandits.policies.formulas.indices import IndexRule

ACTIONS = 10
ROUNDS = (20_000, 100_000)
BANDIT_ROUNDS = 20_000
BANDIT_RUNS = 3

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
                lost = [regrets(policy, tables, rounds) for policy in learners(rounds, epsilon)]
                published, tight, root, free = map(described, lost)
                factor = lost[0].mean() / lost[1].mean()
                rows.append(
                    Row(
                        f"T = {rounds:,}, {kind}, ε = {epsilon:g}",
                        f"published {published}; tight {tight}, {factor:.1f} times less; "
                        f"`RootFTRL` at ρ = ε²/2 {root}; without privacy {free}",
                        "4 times less" if epsilon == 1.0 else "",
                        bool(factor >= 4) if epsilon == 1.0 else None,
                    )
                )
    return rows


def regrets(policy: Policy, tables: Sequence[Floats], rounds: int) -> Floats:
    """Each table's regret against its best action, in a run of its own."""
    found = [
        dpb.simulate(policy, dpb.Table(table), rounds, runs=1, seed=run, at=[], shuffle=False)
        for run, table in enumerate(tables)
    ]
    return np.concatenate([runs.regret() for runs in found])


# Bandits: a signed tree for each arm, which no policy of the package has.


@dataclass(frozen=True, kw_only=True)
class SignedArm(SeparableDP):
    """A signed tree for single rewards."""

    leaves: int

    @cached_property
    def tree(self) -> SignedTree:
        return SignedTree(epsilon=self.epsilon, grid=self.grid, leaves=self.leaves, actions=1)

    def start(self) -> Any:
        return self.tree.init(1)

    def fits(self, memory: Any, read: Readings) -> bool:
        return self.tree.remembers(memory, [read])

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Answer]:
        memory, answers = self.tree.answer(memory, Block((EVERY,), (total,), (count,)), noise)
        return memory, answers[0]


@policy_dataclass
class SignedDPUCB(DPUCB):
    """`DPUCB`'s tight preset on signed trees."""

    def mechanism(self) -> Any:
        grid = super().mechanism().grid
        return SignedArm(epsilon=self.budget, leaves=self.horizon, grid=grid)

    @cached_property
    def rule(self) -> IndexRule:
        scale = self.mechanism().tree.levels / float(self.budget)
        honest = DPUCB(arms=self.arms, epsilon=self.budget, horizon=self.horizon).rule
        return IndexRule(honest.score, honest.numbers._replace(scale=scale))


@policy_dataclass
class SignedCUCBDP(CUCBDP):  # type: ignore[misc]  # final for users, not for this comparison
    """`CUCBDP`'s tight preset on signed trees."""

    @property
    def node_scale(self) -> float:
        return self.mechanism().inner.tree.levels / float(self.tree_epsilon)

    def mechanism(self) -> Any:
        grid = super().mechanism().inner.grid
        arm = SignedArm(epsilon=self.tree_epsilon, leaves=self.horizon, grid=grid)
        return EachArm(inner=arm, width=self.width)


def bandits() -> list[Row]:
    means = [0.375, 0.625, 0.25, 0.75, 0.5]
    pairs = dpb.UniformMatroid(arms=5, rank=2)
    rows = list[Row]()
    for epsilon in (1.0, 0.1):
        same: dict[str, Any] = {"epsilon": epsilon, "horizon": BANDIT_ROUNDS, "grid": 1}
        for name, binary, signed, seldom in (
            (
                "`DPUCB`",
                DPUCB(arms=5, **same),
                SignedDPUCB(arms=5, **same),
                dpb.DPKLUCB(arms=5, epsilon=epsilon, grid=1),
            ),
            (
                "`CUCBDP`, two of five",
                CUCBDP(problem=pairs, **same),
                SignedCUCBDP(problem=pairs, **same),
                dpb.DPJointMAT(problem=pairs, epsilon=epsilon, grid=1),
            ),
        ):
            lost = [
                dpb.simulate(
                    policy, dpb.Bernoulli(means), BANDIT_ROUNDS, runs=BANDIT_RUNS, seed=5, at=[]
                ).regret()
                for policy in (binary, signed, seldom)
            ]
            factor = lost[0].mean() / lost[1].mean()
            rows.append(
                Row(
                    f"{name}, T = {BANDIT_ROUNDS:,}, ε = {epsilon:g}",
                    f"binary tree {described(lost[0])}; signed tree {described(lost[1])}, "
                    f"{factor:.1f} times less; `{seldom.name}` {described(lost[2])}",
                    "half",
                    bool(factor >= 2),
                )
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    args = parser.parse_args()
    parts = {"Full information": full_information(args.runs), "Bandits": bandits()}
    for name, rows in parts.items():
        show(name, rows)
    if args.out:
        command = f"python -m benchmarks.counters --runs {args.runs} --out {args.out}"
        said = (
            f"Regret, {ACTIONS} actions with full information ({args.runs} tables, played by "
            f"weights, one run each), and five arms otherwise ({BANDIT_RUNS} runs). Nothing is "
            "tuned. Signed trees for single arms are no part of the package."
        )
        args.out.write_text(sections("Counters", command, parts, said), encoding="utf-8")


if __name__ == "__main__":
    main()
