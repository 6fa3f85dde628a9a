"""Joint releases on roads, an internet provider's map and the areas of a site, beside the policies
that share the budget out. `python -m benchmarks.joint.networks [--rounds 20000]
[--runs 100] [--data DIR] [--out FILE]`.

The policies that share it out get the best of many constants on each instance. A joint policy
stands beside them twice: with its defaults, which favours the others, and with the best of as many
constants of its own. Constants are chosen on other runs than those that are reported: the least of
many means looks less than it is. Which arms DPJointCUCB releases was chosen among several rules
with these instances in view. Coverage has no oracle that is sure to be right, so regret is against
the super arm that the greedy algorithm finds when it knows the means. What has no data here is left
out.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.joint.__main__ import late
from benchmarks.matroid.__main__ import described
from benchmarks.table import Row, show, write
from dpbandits.core.inputs import Floats
from dpbandits.oracles.base import DecisionSet
from dpbandits.sweeps import laws

ROADS = Path("tntp/SiouxFalls/SiouxFalls_net.tntp")
PARTS = (0.125, 0.25, 0.5, 1.0)
"""First batches that are tried, of the default's: of a joint policy twice as long ones."""

LEVELS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0)
SETTINGS: dict[str, tuple[Path, Callable[..., laws.Loaded]]] = {
    "Sioux Falls, path from 1 to 20": (ROADS, partial(laws.roads, source="1", target="20")),
    "RocketFuel 3967, cheapest tree": (Path("rocketfuel/3967.latencies.intra"), laws.isp),
    "MSWeb, 3 areas of 20 featured": (Path("msweb"), partial(laws.msweb_coverage, k=3)),
}


class World(NamedTuple):
    problem: DecisionSet
    environment: dpb.Bernoulli
    epsilon: float
    rounds: int

    def regret(self, policy: dpb.Policy, runs: int, seed: int = 5) -> Floats:
        """Against the oracle's answer for the true means."""
        problem, means = self.problem, self.environment.means
        found = dpb.simulate(
            policy, self.environment, self.rounds, runs=runs, seed=seed, at=[]
        ).regret()
        best = problem.value(problem.best(means), means)
        return np.asarray(found + self.rounds * (best - problem.alpha * problem.optimum(means)))


def shared(world: World) -> list[dpb.Policy]:
    """ε shared out over the arms, in several constants; first: a share of the default's."""
    cls = dpb.DPKLMAT if isinstance(world.problem, dpb.Matroid) else dpb.DPKLCUCB
    given = {"problem": world.problem, "epsilon": world.epsilon}
    usual = cls(**given).first or 1
    return [
        cls(**given, first=max(1, round(usual * part)), level=level)
        for part in PARTS
        for level in LEVELS
    ]


def joint(world: World) -> list[dpb.Policy]:
    """The joint policy with its defaults, then with several constants."""
    cls = dpb.DPJointMAT if isinstance(world.problem, dpb.Matroid) else dpb.DPJointCUCB
    given = {"problem": world.problem, "epsilon": world.epsilon}
    usual = cls(**given)
    tried = [
        cls(**given, first=usual.first * part * 2, level=level)
        for part in PARTS
        for level in LEVELS
    ]
    return [usual, *tried]


def compared(what: str, world: World, runs: int) -> list[Row]:
    """What shares ε out, with the constants that are best here, and the joint policy beside it.

    All policies that share it out play as many runs to be chosen as are reported. Joint ones are
    slower: all play a tenth, the best quarter four tenths.
    """
    rival = least(shared(world), world, runs, seed=6)
    usual, *tried = joint(world)
    few = least(tried, world, math.ceil(0.1 * runs), seed=6, count=math.ceil(len(tried) / 4))
    [chosen] = least(few, world, math.ceil(0.4 * runs), seed=7)
    theirs = world.regret(rival[0], runs)
    rows = [Row(f"{what}: shared out", f"{named(rival[0])}: {described(theirs)}", "", None)]
    for which, policy in (("defaults", usual), ("best constants", chosen)):
        ours = world.regret(policy, runs)
        ratio = ours.mean() / theirs.mean()
        met = bool(ratio <= 0.5 and late(ours) <= late(theirs))
        text = f"{named(policy)}: {described(ours)}; {ratio:.2f} of it"
        rows.append(Row(f"{what}: joint, {which}", text, "half; 99 % no worse", met))
    return rows


def least(
    tried: list[dpb.Policy], world: World, runs: int, seed: int, count: int = 1
) -> list[dpb.Policy]:
    """The policies with the least mean regret, the least first."""
    lost = {policy: float(world.regret(policy, runs, seed).mean()) for policy in tried}
    return sorted(tried, key=lost.__getitem__)[:count]


def named(policy: Any) -> str:
    return f"{policy.name}, first = {policy.first:g}, level = {policy.level:g}"


def rows(data: Path, rounds: int, runs: int) -> list[Row]:
    found = list[Row]()
    for name, (path, load) in SETTINGS.items():
        if not (data / path).exists():
            continue
        loaded = load(data, path)
        assert loaded.problem is not None
        for epsilon in (2.0, 1.0):
            world = World(loaded.problem, loaded.environment, epsilon, rounds)
            what = f"{name} (K = {loaded.problem.size}), ε = {epsilon:g}"
            found += compared(what, world, runs)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, help="write the table as markdown, too")
    args = parser.parse_args()
    title = "Joint releases on networks"
    note = (
        f"{args.rounds:,} rounds, {args.runs} runs: mean / 99 % / worst. Policies that share ε out "
        f"have the best of {len(PARTS) * len(LEVELS)} constants for each instance, chosen on other "
        "runs of it; joint ones have their defaults, and below the best of as many. Which arms "
        "DPJointCUCB releases, and the form of its defaults, were chosen on others with these "
        "instances in view, too (decision 7)."
    )
    table = rows(args.data, args.rounds, args.runs)
    show(title, table)
    command = f"python -m benchmarks.joint.networks --rounds {args.rounds} --runs {args.runs}"
    write(args.out, f"{command} --out {args.out}", {title: table}, note)


if __name__ == "__main__":
    main()
