"""Which policy has the lowest mean regret, and where DPKLUCB's tail is fat, on instances nobody
tuned for.

`python -m benchmarks.instances [--runs 2000] [--out FILE]`. Arms are in a random order in every
run.

1. DPKLUCB, DPIMED and the presets of DPRateIMED on three instances that constants were tuned on,
  on click rates, near one, with a hundred arms, at a tiny gap, and on real rates.
2. DPKLUCB's 99.9 % quantile over its mean, as means come close to zero or one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, show, write
from benchmarks.tails import INSTANCES, described
from dpbandits import datasets
from dpbandits.sweeps.results import enough

POLICIES: dict[str, Callable[..., dpb.Policy]] = {
    "DPKLUCB": dpb.DPKLUCB,
    "DPIMED": dpb.DPIMED,
    "DPRateIMED": dpb.DPRateIMED,
    "DPRateIMED mean": partial(dpb.DPRateIMED, preset="mean"),
    "DPRateIMED safe": partial(dpb.DPRateIMED, preset="safe"),
}

NEAR_THE_ENDS = {
    ".036 .03": [0.036, 0.03],
    ".0036 .003": [0.0036, 0.003],
    ".99 .98 .97": [0.99, 0.98, 0.97],
    ".999 .998 .997": [0.999, 0.998, 0.997],
    ".9999 .9998 .9997": [0.9999, 0.9998, 0.9997],
}
TAIL_RUNS = 20_000


class Instance(NamedTuple):
    """share: of the asked runs, where a run takes long."""

    name: str
    means: list[float]
    rounds: int = 10**5
    share: float = 1.0


def instances(data: Path) -> list[Instance]:
    """data: a folder with obd/item_click_rates.csv and upworthy/upworthy_selected_tests.csv; what
    is not there is left out.
    """
    found = [Instance(f"tuned on: {name}", means) for name, means in INSTANCES.items()]
    found += [
        Instance("click rates: .036 .03", [0.036, 0.03]),
        Instance("click rates: .06 .05×3", [0.06, 0.05, 0.05, 0.05]),
        Instance("near one: .999 .998 .997", [0.999, 0.998, 0.997]),
        Instance("K = 100: .75 .7×99", [0.75] + [0.7] * 99, share=0.0125),
        Instance("K = 100: .75 … .25 evenly", np.linspace(0.75, 0.25, 100).tolist(), share=0.0125),
        Instance("gap 10⁻³: .5 .499, T = 10⁷", [0.5, 0.499], rounds=10**7, share=0.2),
    ]
    found += [
        Instance(f"trial: {name}", datasets.clinical(name).environment.means.tolist())
        for name in datasets.TRIALS
    ]
    return found + clicks(data)


def clicks(data: Path) -> list[Instance]:
    """Real click rates: the items of a fashion site's campaign, and a headline test."""
    rates, tests = (
        data / "obd" / "item_click_rates.csv",
        data / "upworthy" / "upworthy_selected_tests.csv",
    )
    found = []
    if rates.exists():
        found.append(
            Instance(
                "Open Bandit Dataset, men: 34 items",
                datasets.obd_rates(rates, "men").means.tolist(),
                share=0.1,
            )
        )
    if tests.exists():
        name, test = next(iter(datasets.upworthy(tests).items()))
        means = test.environment.means.tolist()
        found.append(Instance(f"Upworthy test {name[-6:]}: {len(means)} headlines", means))
    return found


def played(policy: dpb.Policy, means: list[float], rounds: int, runs: int) -> dict[str, float]:
    summary = dpb.simulate(
        policy, dpb.Bernoulli(means), rounds, runs=runs, seed=2026, at=[], shuffle=True
    ).summary()
    return summary | {
        name: summary[name] if enough(q, runs) else np.nan
        for name, q in (("q99", 0.99), ("q999", 0.999))
    }


def told(name: str, s: dict[str, float], runs: int) -> str:
    tail = "" if np.isnan(s["q99"]) else f", 99 % {s['q99']:.0f}"
    return f"{name} {s['mean']:.1f} ± {s['error']:.1f}{tail}, worst {s['worst']:.0f} of {runs:,}"


def means_rows(runs: int, data: Path) -> list[Row]:
    rows = []
    for instance in instances(data):
        for epsilon in (1, 0.1):
            found, texts = dict[str, dict[str, float]](), list[str]()
            for name, kind in POLICIES.items():
                count = max(5, int(runs * instance.share))
                policy = kind(arms=len(instance.means), epsilon=epsilon)
                found[name] = played(policy, instance.means, instance.rounds, count)
                texts.append(told(name, found[name], count))
            rows.append(
                Row(
                    f"{instance.name}, ε = {epsilon:g}",
                    f"{'; '.join(texts)}. {lowest(found)}",
                    "",
                    None,
                )
            )
            print(rows[-1], flush=True)
    return rows


def lowest(found: dict[str, dict[str, float]]) -> str:
    """The policy of the lowest mean, if it is more than three standard errors below the next."""
    (first, a), (second, b), *_ = sorted(found.items(), key=lambda item: item[1]["mean"])
    if b["mean"] - a["mean"] < 3 * np.hypot(a["error"], b["error"]):
        return f"**lowest: {first} or {second}** (within three standard errors)"
    return f"**lowest: {first}**"


def tail_rows() -> list[Row]:
    rows = []
    for name, means in NEAR_THE_ENDS.items():
        for epsilon in (1, 0.1):
            s = played(dpb.DPKLUCB(arms=len(means), epsilon=epsilon), means, 10**6, TAIL_RUNS)
            text = f"{described(s)}; 99.9 % is {s['q999'] / s['mean']:.1f} means"
            rows.append(
                Row(
                    f"DPKLUCB, {name}, ε = {epsilon:g}",
                    text,
                    "99.9 % < 3 means",
                    s["q999"] < 3 * s["mean"],
                )
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs",
        type=int,
        default=2_000,
        help="runs of a fast policy; slow ones and many arms take fewer",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("../shared/data"),
        help="folder with obd/ and upworthy/; skipped where absent",
    )
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    args = parser.parse_args()
    parts = {
        "Mean regret at T = 10⁵ on tuned and other instances": means_rows(args.runs, args.data),
        f"DPKLUCB near zero and near one: regret at T = 10⁶, {TAIL_RUNS} runs": tail_rows(),
    }
    for title, rows in parts.items():
        show(title, rows)
    command = f"python -m benchmarks.instances --runs {args.runs} --out {args.out}"
    write(args.out, command, parts)


if __name__ == "__main__":
    main()
