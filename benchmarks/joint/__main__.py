"""Joint releases. `python -m benchmarks.joint [--runs 200] [--data DIR] [--out FILE]`.

1. Level and first batch of the preset "sharp", on instances of their own.
2. Regret and return on other instances, beside the best policies that share the budget out, all
   presets, and the references without privacy.
3. Cost of a secure draw, and of a session's round.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

import dpbandits as dpb
from benchmarks.joint.instances import reported, tuning
from benchmarks.matroid.__main__ import described, regret
from benchmarks.matroid.instances import Instance
from benchmarks.table import Row, markdown, show

GOALS = {
    "MovieLens 1M, 100 films, ε = 2": 6.79,
    "MovieLens 1M, 100 films, ε = 1": 6.73,
    "MovieLens 1M, 100 films, ε = 0.5": 6.60,
}
"""Returns asked for."""

FREE = (dpb.OMM, dpb.KLOSM, dpb.CTSGaussian, dpb.CTSBeta)


def tuning_rows(runs: int) -> list[Row]:
    """Mean / 99 % / worst regret, and the mean over instances of the mean against the least."""
    cells, means = dict[tuple[float, float], list[str]](), dict[tuple[float, float], list[float]]()
    for name, instance in tuning().items():
        for level in (0.2, 0.3, 0.4, 0.6, 1.0):
            for first in (8, 16, 32):
                policy = dpb.DPJointMAT(
                    problem=instance.problem, epsilon=instance.epsilon, level=level, first=first
                )
                lost = regret(policy, instance, runs)
                cells.setdefault((level, first), []).append(f"{name}: {described(lost)}")
                means.setdefault((level, first), []).append(float(lost.mean()))
    least = np.min(list(means.values()), axis=0)
    return [
        Row(
            f"level = {level:g}, first = {first:g}",
            "; ".join(cells[level, first]),
            f"{np.mean(np.array(means[level, first]) / least):.2f} times the least",
            None,
        )
        for level, first in cells
    ]


def regret_rows(instances: dict[str, Instance], runs: int) -> list[Row]:
    rows = []
    for name, instance in instances.items():
        problem, eps = instance.problem, instance.epsilon
        best, back = problem.optimum(instance.means), GOALS.get(name)
        rows.append(Row(f"{name}: optimum", f"{best:.3f}", "", None))
        shared = [cls(problem=problem, epsilon=eps) for cls in (dpb.DPKLMAT, dpb.NoiseAwareMAT)]
        joint = [
            dpb.DPJointMAT(problem=problem, epsilon=eps, preset=preset)
            for preset in ("sharp", "level", "proved")
        ]
        least = np.inf
        for policy in (*shared, *joint, *(cls(problem=problem) for cls in FREE)):
            ours = policy in (*shared, *joint)
            lost = regret(policy, instance, runs if ours else max(10, runs // 10))
            if policy in shared:
                least = min(least, lost.mean())
            wanted, met = "", None
            if policy is joint[0] and back is not None:
                wanted = f"return ≥ {back}"
                met = bool(best - lost.mean() / instance.rounds >= back)
            elif policy is joint[0] and problem.rank >= 6:
                wanted, met = f"≤ {least / 2:.0f}", bool(lost.mean() <= least / 2)
            elif policy is joint[0] and name.startswith("seven"):
                wanted = "≤ 33 / 55 / 250"
                met = bool(
                    lost.mean() <= 33 and np.quantile(lost, 0.99) <= 55 and lost.max() <= 250
                )
            text = f"{described(lost)}; return {best - lost.mean() / instance.rounds:.3f}"
            text += f"; {len(lost)} runs"
            rows.append(Row(f"{name}: {policy.name}", text, wanted, met))
    return rows


def cost_rows(instance: Instance) -> list[Row]:
    rows, noise = [], dpb.SecureNoise()
    for k, limit in ((17, 5), (100, 50)):
        zeros = (0,) * k
        noise.joint(zeros, sensitivity=1024, epsilon=Fraction(1))  # the first one loads OpenDP
        start = time.perf_counter()
        for _ in range(50):
            noise.joint(zeros, sensitivity=1024, epsilon=Fraction(1))
        took = 1e3 * (time.perf_counter() - start) / 50
        rows.append(
            Row(f"secure draw, k = {k}", f"{took:.2f} ms", f"under {limit} ms", took < limit)
        )
    policy = dpb.DPJointMAT(problem=instance.problem, epsilon=2)
    session, rng = dpb.Session(policy, noise=dpb.SecureNoise()), np.random.default_rng(0)
    rewards = (rng.random((20_000, len(instance.means))) < instance.means).astype(float)
    start = time.perf_counter()
    for row in rewards:
        decision = session.ask()
        session.tell(decision, row[list(decision.observe or ())].tolist())
    pace = len(rewards) / (time.perf_counter() - start)
    rows.append(
        Row("secure ask + tell, 20,000 rounds", f"{pace:,.0f} a second", "≥ 20,000", pace >= 20_000)
    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    args = parser.parse_args()
    judged = reported(args.data)
    parts = {
        "Joint releases: regret, mean / 99 % / worst": regret_rows(judged, args.runs),
        "Joint releases: constants of the preset sharp, on other instances": tuning_rows(args.runs),
        "Joint releases: what they cost": cost_rows(list(judged.values())[-1]),
    }
    for title, rows in parts.items():
        show(title, rows)
    if args.out:
        command = f"python -m benchmarks.joint --runs {args.runs} --out {args.out}"
        text = (markdown(title, command, rows) for title, rows in parts.items())
        args.out.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
