"""What deciding by contexts earns, against a policy for each public segment:
python -m benchmarks.contexts_segments --data FOLDER [--runs N] [--out FILE] [--figure FILE]
[--results FILE]

A segment is a group of similar contexts (k-means, without rewards). The figures of policies that
decide by contexts are those of the table that benchmarks.contexts wrote.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.contexts import INSTANCES
from benchmarks.table import read, write_columns

SIZES = (4, 16, 64)
BUDGETS = ("1", "1/4")
ROUNDS_OF_MEANS = 30

NOTE = """\
Mean reward of a round and its standard error over {runs} runs. Without contexts, visitors are put
into public segments, each with a DPRateIMED of its own: groups of similar contexts, by k-means.
"one arm" is the mean of the arm that is best for all. LinTS and DPLinTS are in contexts.csv."""


class Row(NamedTuple):
    """One way on one table at one ε. segments: 0 for one that decides by contexts."""

    table: str
    way: str
    budget: str
    segments: int
    mean: float
    error: float


def grouped(contexts: Any, many: int, seed: int) -> Any:
    """The group of each context, by k-means from a seed."""
    rng = np.random.default_rng(seed)
    means = contexts[rng.choice(len(contexts), many, replace=False)]
    group = np.zeros(len(contexts), np.int64)
    for _ in range(ROUNDS_OF_MEANS):
        squares = (means**2).sum(axis=1) - 2.0 * contexts @ means.T
        group = squares.argmin(axis=1)
        for at in np.unique(group):
            means[at] = contexts[group == at].mean(axis=0)
    return group


def by_segment(table: Any, rounds: int, many: int, budget: str, runs: int) -> tuple[float, float]:
    """Mean reward of a round and its error. A visitor is a random row, so a segment's visitors are
    as many as its rows say, and in a segment an arm's reward is a coin.
    """
    group = grouped(table.contexts, many, 1)
    known = np.unique(group)
    shares = np.array([(group == at).mean() for at in known])
    chances = np.array([table.chances[group == at].mean(axis=0) for at in known])
    policy = dpb.DPRateIMED(arms=table.arms, epsilon=budget)
    earned = np.zeros(runs)
    for run in range(runs):
        counts = np.random.default_rng([1, run]).multinomial(rounds, shares)
        for at, count in enumerate(counts.tolist()):
            if count == 0:
                continue
            world, first = dpb.Bernoulli(chances[at]), run * len(known) + at
            made = dpb.simulate(policy, world, count, seed=2, first=first, workers=1, at=[])
            earned[run] += count * chances[at].max() - float(made.regret()[0])
    means = earned / rounds
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(runs))


def by_contexts(results: Path) -> list[Row]:
    """The rows of LinTS and of DPLinTS at an ε."""
    return [
        Row(
            row["table"],
            row["policy"],
            row["budget"].removeprefix("ε = "),
            0,
            float(row["mean"]),
            float(row["error"]),
        )
        for row in read(results)
        if row["policy"] in ("LinTS", "DPLinTS") and not row["budget"].startswith("ρ")
    ]


def rows_of(folder: Path, runs: int, results: Path, rounds: int | None) -> list[Row]:
    known, found = by_contexts(results), list[Row]()
    for name, instance in INSTANCES.items():
        try:
            table = instance.make(folder)
        except FileNotFoundError as lacking:
            print(f"{name} is left out: there is no {lacking.filename}", flush=True)
            continue
        shown = f"{name} ({table.arms} × {table.features})"
        found.append(Row(shown, "one arm", "–", 1, float(table.means.max()), 0.0))
        for budget in BUDGETS:
            for many in SIZES:
                length = rounds or instance.rounds
                mean, error = by_segment(table, length, many, budget, runs)
                found.append(Row(shown, "DPRateIMED", budget, many, mean, error))
                print(found[-1], flush=True)
        found += [row for row in known if row.table == shown]
    return found


def rounded(rows: list[Row]) -> list[tuple[object, ...]]:
    """What is measured here, with four digits."""
    return [(*row[:4], f"{row.mean:.4f}", f"{row.error:.4f}") for row in rows if row.segments]


def draw(rows: list[Row], file: Path) -> None:
    """Shares of LinTS's mean reward, a panel for each table."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(row.table for row in rows))
    figure, panels = plt.subplots(
        1, len(names), figsize=(10, 3.4), layout="constrained", sharey=True
    )
    looks = {"1": ("#1b6ca8", "o"), "1/4": ("#c8553d", "s")}
    for panel, name in zip(np.atleast_1d(panels), names, strict=True):
        own = [row for row in rows if row.table == name]
        (best,) = [row.mean for row in own if row.way == "LinTS"] or [1.0]
        (one,) = [row.mean for row in own if row.way == "one arm"]
        panel.axhline(one / best, color="0.6", linestyle=":", label="one arm for all")
        panel.axhline(1.0, color="0.3", linewidth=1, label="LinTS, no privacy")
        for budget, (colour, mark) in looks.items():
            ways = [row for row in own if row.budget == budget]
            segments = sorted((row.segments, row) for row in ways if row.way == "DPRateIMED")
            panel.errorbar(
                range(len(segments)),
                [row.mean / best for _, row in segments],
                [2 * row.error / best for _, row in segments],
                fmt=f"{mark}--",
                color=colour,
                label=f"a DPRateIMED per segment, ε = {budget}",
            )
            for row in ways:
                if row.way == "DPLinTS":
                    panel.errorbar(
                        [len(SIZES)],
                        [row.mean / best],
                        [2 * row.error / best],
                        fmt=mark,
                        color=colour,
                        markersize=9,
                        markerfacecolor="none",
                        label=f"DPLinTS, ε = {budget}",
                    )
        panel.set_xticks(range(len(SIZES) + 1), [*map(str, SIZES), "context"])
        panel.set_title(name, fontsize=9)
        panel.set_xlabel("segments, or by context")
    np.atleast_1d(panels)[0].set_ylabel("share of LinTS's mean reward")
    handles, labels = np.atleast_1d(panels)[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rounds", type=int, help="instead of each table's own")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/contexts.csv"))
    asked = parser.parse_args()
    rows = rows_of(asked.data, asked.runs, asked.results, asked.rounds)
    if asked.figure:
        draw(rows, asked.figure)
    command = f"python -m benchmarks.contexts_segments --out {asked.out}"
    write_columns(asked.out, command, Row._fields, rounded(rows), NOTE.format(runs=asked.runs))


if __name__ == "__main__":
    main()
