"""How often the intervals by context hold, and how fast contexts are taken:
python -m benchmarks.contexts_estimates [--runs N] [--rounds N] [--speed] [--out FILE]

Linear laws made from seeds from `FRESH` on; the rule was made and tested on seeds below 100.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import dpbandits as dpb
from benchmarks.table import write_columns
from dpbandits.simulation.compiled.contextual import play_contextual

FRESH, ARMS = 1_000, 4
COLUMNS = ("law", "budget", "what", "found", "error", "at least .95", "width", "runs")

NOTE = """Share of intervals for .95 that hold the truth at the end of a run, and its standard error
over runs, each with a law of its own: for 500 contexts each arm's mean, those of arms that were
played less than half as often as on average, where there are any, the effect between two arms, and
its average; the values of 10 other policies over them (the best one, the worst one, even shares,
random ones). width: on average. Means are linear in 8 features, "linear" within
[.1, .9], "low" within [.01, .1]. always: intervals of always=True.
"""

BUDGETS: dict[str, dict[str, Any]] = {
    "ε = 1": {"epsilon": 1},
    "ρ = 1/2, shaped": {"rho": "1/2", "release": "shaped"},
}


def place_of(law: str, seed: int) -> dpb.ContextTable:
    """1,000 visitors of 8 features, a constant among them."""
    rng = np.random.default_rng(seed)
    measured = rng.standard_normal((1_000, 7)) * rng.uniform(0.3, 2.0, 7)
    contexts = dpb.UnitContexts(measured)(measured)
    weights = rng.standard_normal((8, ARMS))
    low, high = (0.01, 0.1) if law == "low" else (0.1, 0.9)
    means = contexts @ weights
    most = np.abs(means - means.mean(axis=0)).max()
    means = (means - means.mean(axis=0)) / most * 0.5 * (high - low) + 0.5 * (low + high)
    return dpb.ContextTable(contexts, means)


def held(found: Any, truth: Any) -> float:
    return float(np.mean((found.low <= truth) & (truth <= found.high)))


def covered(law: str, budget: str, rounds: int, run: int) -> dict[str, tuple[float, float]]:
    """By what is estimated, the share of intervals that hold, and their mean width."""
    place = place_of(law, FRESH + run)
    policy = dpb.DPLinTS(arms=ARMS, features=8, **BUDGETS[budget])
    played = play_contextual(policy, place, rounds, run, np.array([rounds]), 0)
    state: Any = played.state
    found, contexts = dpb.Predictions.of(policy, state), place.contexts[:500]
    always = dpb.Predictions.of(policy, state, always=True).means(contexts)
    rarely = played.plays[0] * ARMS < rounds / 2
    truth, rng = place.chances[:500], np.random.default_rng([FRESH + run, 1])
    means, effect = found.means(contexts), found.effect(0, 1, contexts)
    average = found.effect(0, 1, contexts, average=True)
    shares = [np.eye(ARMS)[truth.argmax(axis=1)], np.eye(ARMS)[truth.argmin(axis=1)]]
    shares += [np.full((500, ARMS), 1 / ARMS)]
    shares += [np.eye(ARMS)[rng.integers(ARMS, size=500)] for _ in range(7)]
    values = [found.value(each, contexts) for each in shares]
    worth = [float((each * truth).sum(axis=1).mean()) for each in shares]
    both = [held(each, value) for each, value in zip(values, worth, strict=True)]
    widths = [float(each.high - each.low) for each in values]
    told = {
        "means": (held(means, truth), float((means.high - means.low).mean())),
        "effects": (
            held(effect, truth[:, 0] - truth[:, 1]),
            float((effect.high - effect.low).mean()),
        ),
        "average effect": (
            held(average, (truth[:, 0] - truth[:, 1]).mean()),
            float(average.high - average.low),
        ),
        "values": (float(np.mean(both)), float(np.mean(widths))),
        "means, always": (held(always, truth), float((always.high - always.low).mean())),
    }
    if rarely.any():
        rare = dpb.Estimated(*(each[:, rarely] for each in means))
        width = float((rare.high - rare.low).mean())
        told["means, rarely played"] = held(rare, truth[:, rarely]), width
    return told


def coverage_rows(rounds: int, runs: int) -> list[tuple[Any, ...]]:
    rows = list[tuple[Any, ...]]()
    for law in ("linear", "low"):
        for budget in BUDGETS:
            each = [covered(law, budget, rounds, run) for run in range(runs)]
            for what in dict.fromkeys(name for found in each for name in found):
                shares, widths = np.array([found[what] for found in each if what in found]).T
                error = shares.std(ddof=1) / np.sqrt(len(shares))
                met = "yes" if shares.mean() >= 0.95 else "NO"
                cells = f"{shares.mean():.3f}", f"{error:.3f}", met
                rows.append((law, budget, what, *cells, f"{widths.mean():.3f}", len(shares)))
            print(*rows[-6:], sep="\n", flush=True)
    return rows


def speed_rows(rounds: int) -> list[tuple[Any, ...]]:
    """At 21 features and 10 arms, in the processor's time; printed only."""
    rng = np.random.default_rng(1)
    measured = rng.standard_normal((4_000, 20))
    contexts = dpb.UnitContexts(measured)(measured)
    place = dpb.ContextTable.logistic(contexts, rng.standard_normal((10, 21)) * 3.0)
    rows, load = list[tuple[Any, ...]](), f"load {os.getloadavg()[0]:.0f}"
    for budget in ("ε = 1", "ρ = 1/2, shaped"):
        policy = dpb.DPLinTS(
            arms=10, features=21, **BUDGETS[budget], public_contexts=contexts[:1_500]
        )
        session = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
        best = np.inf
        for _ in range(2):
            start = time.process_time()
            for x in contexts:
                session.tell(session.ask(context=x), 1.0)
            best = min(best, time.process_time() - start)
        shown = f"{len(contexts) / best:.0f}"
        rows.append((load, budget, "ask + tell, rounds a second", shown, "", "", "", 2))
        dpb.simulate(policy, place, 2_000, seed=1, workers=1)  # compiles
        start = time.process_time()
        dpb.simulate(policy, place, rounds, seed=2, workers=1, at=[rounds])
        taken = f"{time.process_time() - start:.2f}"
        rows.append((load, budget, f"simulate {rounds:,} rounds, seconds", taken, "", "", "", 1))
    print(*rows, sep="\n", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--speed", action="store_true", help="print how fast contexts are taken")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    if asked.speed:
        speed_rows(50_000)
        return
    rows = coverage_rows(asked.rounds, asked.runs)
    write_columns(asked.out, "python -m benchmarks.contexts_estimates", COLUMNS, rows, NOTE)


if __name__ == "__main__":
    main()
