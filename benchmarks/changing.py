"""Dynamic regret where means change: python -m benchmarks.changing [--figure FILE]

Instances are drawn with seeds from `FRESH` on; constants were chosen on seeds below 100.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.table import Row, write

ROUNDS, ARMS, LASTING = 100_000, 5, 20_000
FRESH = 1_000
"""The first seed of instances that nothing was tuned on."""

STILL = [0.75, 0.625, 0.5, 0.375, 0.25]

TITLE = f"Dynamic regret after {{rounds:,}} rounds of {ARMS} arms, {{instances}} instances"

NOTE = f"""\
Against the best arm of each round, mean ± standard error over instances, one run each.
pieces: means .25 to .75, evenly spaced, in a new order at random rounds.
drift: each mean walks at random, a step of deviation .03 every 250 rounds.
seasons: each mean swings by .25 with a period of {LASTING:,} rounds.
nothing changes: means {STILL}, in a random order.
One fixed setting, lasting={LASTING:_}, for all. The constants (width, surprise, looks) were chosen
at ε = 1 on instances of other seeds. "wanted" was asked for before it was built."""

Place = Callable[[int], dpb.Environment]


def places(rounds: int) -> dict[str, Place]:
    make = dpb.ChangingMeans
    return {
        "5 pieces": lambda seed: make.abrupt(ARMS, rounds, 5, seed=seed),
        "20 pieces": lambda seed: make.abrupt(ARMS, rounds, 20, seed=seed),
        "drift": lambda seed: make.drift(ARMS, rounds, seed=seed),
        "seasons": lambda seed: make.seasonal(ARMS, rounds, LASTING, seed=seed),
        "nothing changes": lambda seed: dpb.Bernoulli(
            np.random.default_rng(seed).permutation(STILL)
        ),
    }


class Entrant(NamedTuple):
    name: str
    budget: str
    policy: Any


def entrants() -> list[Entrant]:
    given: dict[str, Any] = {"arms": ARMS, "lasting": LASTING}
    found = [Entrant("KalmanTS", "–", dpb.KalmanTS(**given))]
    for epsilon in ("1", "1/10"):
        budget = f"ε = {epsilon}"
        plain = dpb.DPKalmanTS(**given, epsilon=epsilon)
        restarts = dpb.DPKalmanTS(**given, epsilon=epsilon, preset="restarts")
        fixed: list[Any] = [
            kind(arms=ARMS, epsilon=epsilon)
            for kind in (dpb.DPRateIMED, dpb.DPKLUCB, dpb.AnytimeLazyUCB)
        ]
        found += [Entrant("DPKalmanTS", budget, plain)]
        found += [Entrant('DPKalmanTS, "restarts"', budget, restarts)]
        found += [Entrant(each.name, budget, each) for each in fixed]
    return found


WANTED = {"5 pieces": 1_760, "20 pieces": 3_560, "drift": 1_430}
"""Of DPKalmanTS at ε = 1."""


def regrets(policy: Any, place: Place, rounds: int, instances: int, at: Any) -> Any:
    """Regret after the rounds `at`, one run an instance, shape (instances, len(at))."""
    return np.array(
        [
            dpb.simulate(policy, place(FRESH + i), rounds, seed=i, at=at, workers=1).regret(at)[0]
            for i in range(instances)
        ]
    )


SHOWN = "5 pieces", "drift", "nothing changes"
"""Of the figure."""

MARKS = 100
"""Rounds at which the figure has regret."""


def draw(rounds: int, instances: int, file: Path) -> None:
    """Regret over rounds, its mean over instances and two standard errors, a panel for each kind of
    means.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    looks = {
        "KalmanTS": ("KalmanTS, no privacy", "0.5", "-"),
        "DPKalmanTS": ("DPKalmanTS", "#1b6ca8", "-"),
        'DPKalmanTS, "restarts"': ('DPKalmanTS, "restarts"', "#1b6ca8", "--"),
        "DPRateIMED": ("DPRateIMED", "#c8553d", "-"),
    }
    figure, panels = plt.subplots(1, len(SHOWN), figsize=(10, 3.4), layout="constrained")
    kinds, at = places(rounds), np.linspace(0, rounds, MARKS + 1).astype(int)[1:]
    for panel, kind in zip(panels, SHOWN, strict=True):
        for entrant in entrants():
            if entrant.name not in looks or entrant.budget == "ε = 1/10":
                continue
            label, colour, line = looks[entrant.name]
            found = regrets(entrant.policy, kinds[kind], rounds, instances, at)
            mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(instances)
            panel.plot(at, mean, line, color=colour, label=label)
            panel.fill_between(at, mean - 2 * error, mean + 2 * error, color=colour, alpha=0.2)
            print(kind, label, f"{mean[-1]:,.0f} ± {error[-1]:,.0f}", flush=True)
        panel.set_title(kind, fontsize=9)
        panel.set_xlabel("rounds")
        panel.set_ylim(bottom=0)
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        panel.tick_params(labelsize=8)
    panels[0].set_ylabel("dynamic regret")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.savefig(file, dpi=120, metadata={"Software": None})
    plt.close(figure)


def row_of(policy: str, budget: str, kind: str, mean: float, error: float) -> Row:
    most = WANTED.get(kind) if (policy, budget) == ("DPKalmanTS", "ε = 1") else None
    return Row(
        f"{policy}, {kind}" if budget == "–" else f"{policy}, {budget}, {kind}",
        f"{mean:,.0f} ± {error:,.0f}",
        f"≤ {most:,}" if most else "",
        bool(mean <= most) if most else None,
    )


def measured(rounds: int, instances: int) -> list[Row]:
    rows = list[Row]()
    for entrant in entrants():
        for kind, place in places(rounds).items():
            found = regrets(entrant.policy, place, rounds, instances, [rounds])
            error = found.std(ddof=1) / np.sqrt(instances)
            rows.append(row_of(entrant.name, entrant.budget, kind, found.mean(), error))
            print(*rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, help="write the table to this file")
    parser.add_argument("--figure", type=Path, help="draw regret over rounds instead of the table")
    asked = parser.parse_args()
    if asked.figure is not None:
        draw(asked.rounds, asked.instances, asked.figure)
        return
    title = TITLE.format(rounds=asked.rounds, instances=asked.instances)
    command = f"python -m benchmarks.changing --out {asked.out}"
    write(asked.out, command, {title: measured(asked.rounds, asked.instances)}, NOTE)


if __name__ == "__main__":
    main()
