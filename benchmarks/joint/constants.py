"""Joint releases beside the policies that share the budget out, with the best of their constants.
`python -m benchmarks.joint.constants [--runs 400] [--data DIR] [--out FILE]`.

1. Instances with a rank of six or more. The policies that share ε out get the best of many
   constants on each instance, chosen in view: that favours them. Joint releases have one default,
   chosen on other instances.
2. The index that knows the law of the noise, beside the one it takes the place of.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import dpbandits as dpb
from benchmarks.joint.__main__ import EXACT_RATE, late
from benchmarks.joint.instances import reported
from benchmarks.matroid.__main__ import described, regret
from benchmarks.matroid.instances import Instance
from benchmarks.table import Row, show, write
from dpbandits.core.inputs import Floats

JUDGED = ("partition 48 × 8, ε = 1", "linear 30 × 6, ε = 1", "MovieLens small, 100 films, ε = 1")
GRID: tuple[tuple[Any, str, tuple[float, ...]], ...] = (
    (dpb.DPKLMAT, "level", (0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 1.0)),
)
"""Policies that share ε out, the constant beside `first`, and its values."""
PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""First blocks, as shares of a policy's default."""

FILMS = "MovieLens 1M, 100 films, ε = 2"


def shares(instance: Instance) -> dict[str, dpb.Policy]:
    """The policies that share ε out, in several constants."""
    given = {"problem": instance.problem, "epsilon": instance.epsilon}
    found = dict[str, dpb.Policy]()
    for cls, constant, values in GRID:
        usual = cls(**given).first or 1
        for part in PARTS:
            for value in values:
                chosen = {"first": max(1, round(usual * part)), constant: value}
                said = ", ".join(f"{key} = {number:g}" for key, number in chosen.items())
                found[f"{cls.__name__}, {said}"] = cls(**given, **chosen)
    return found


def played(policy: dpb.Policy, instance: Instance, runs: int) -> Floats:
    """Regret of every run; presets other than "sharp" are slow, and play a quarter of them."""
    fast = isinstance(policy, dpb.DPKLMAT) or getattr(policy, "preset", "") == "sharp"
    return regret(policy, instance, runs if fast else math.ceil(runs / 4))


def told(lost: Floats) -> str:
    return f"{described(lost)}; {len(lost):,} runs"


def judged_rows(instances: dict[str, list[Instance]], runs: int) -> list[Row]:
    rows = list[Row]()
    for name in JUDGED:
        if name not in instances:
            continue
        instance = instances[name][0]
        found = {said: played(each, instance, runs) for said, each in shares(instance).items()}
        for cls, _, _ in GRID:
            lost = {said: each for said, each in found.items() if said.startswith(cls.__name__)}
            best = min(lost, key=lambda said: float(lost[said].mean()))
            what = f"{name}: best of {len(lost)}, {best}"
            rows.append(Row(what, told(lost[best]), "", None))
        theirs = min(found.values(), key=lambda lost: float(lost.mean()))
        joint = dpb.DPJointMAT(problem=instance.problem, epsilon=instance.epsilon)
        ours = played(joint, instance, runs)
        ratio = ours.mean() / theirs.mean()
        met = bool(ratio <= 0.5 and late(ours) <= late(theirs))
        text = f"{told(ours)}; {ratio:.2f} of the least of theirs"
        rows.append(Row(f"{name}: {joint.name}", text, "half; 99 % no worse", met))
    return rows


def rate_rows(instance: Instance, runs: int) -> list[Row]:
    """DPKLMAT at level ln t, and the presets that know the noise's law."""
    given = {"problem": instance.problem, "epsilon": instance.epsilon}
    first = math.ceil(32 * instance.problem.rank / instance.epsilon)
    lost = played(dpb.DPKLMAT(**given, first=first, level=1.0), instance, runs)
    what = f"{FILMS}: DPKLMAT, first = 32 K/ε = {first}, level = 1 (ln t)"
    rows = [Row(what, told(lost), "", None)]
    level, proved = (
        played(dpb.DPJointMAT(**given, preset=preset), instance, runs)
        for preset in ("level", "proved")
    )
    asked = f"mean ≤ {EXACT_RATE:,}", bool(level.mean() <= EXACT_RATE)
    rows.append(Row(f"{FILMS}: DPJointMAT[level], ln t", told(level), *asked))
    what = f"{FILMS}: DPJointMAT[proved], ln t + 4 ln ln t"
    return [*rows, Row(what, told(proved), "", None)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    args = parser.parse_args()
    instances = reported(args.data)
    parts = {"Where the rank is six or more": judged_rows(instances, args.runs)}
    if FILMS in instances:
        parts["The exact rate of the noise"] = rate_rows(instances[FILMS][0], args.runs)
    for title, rows in parts.items():
        show(title, rows)
    note = (
        "20,000 rounds; regret as mean / 99 % / worst. Constants of what shares ε out are the "
        "best of those tried, in view of these runs; the joint policy has its default. 5,600 "
        "was asked beside 8,527, which is DPKLMAT's regret at first = 32, level = 1 in "
        "matroid.csv, and is played again here."
    )
    command = f"python -m benchmarks.joint.constants --runs {args.runs} --out {args.out}"
    write(args.out, command, parts, note)


if __name__ == "__main__":
    main()
