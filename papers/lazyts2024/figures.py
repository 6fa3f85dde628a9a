"""Figures 1 and 2 of Hu, Huang, Mehta and Hegde 2024, with DP-KLUCB and the lower bound beside the
paper's four; the conclusion's instance for full information.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import polars as pl
from matplotlib.figure import Figure

from dpbandits.core.privacy import printed_epsilon
from dpbandits.plots import Panel, looks
from dpbandits.sweeps.results import Results
from papers.drawing import DOTTED, Drawing, Lines, final_floor, line_grid, regret_grid, sized

ARMS = (3, 4, 5, 7, 9, 11)
INSTANCES = {"equal": "all gaps Δ", "doubling": "gaps Δ, 2Δ, 4Δ, …"}
FIGURES = {
    "different gaps": "means .75 .625 .5 .375 .25",
    "equal gaps": "means .5 and four times .4",
}


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    for number, (name, means) in enumerate(FIGURES.items() if "lazyts2024" in results else (), 1):
        row = [Panel(name, epsilon) for epsilon in (0.25, 0.5, 1.0)]
        yield Drawing(
            f"figure-{number}",
            "Of the published policies Lazy-DP-TS loses least. "
            f"Figure {number}: {name}, {means}. {DOTTED}",
            regret_grid(results["lazyts2024"], [row]),
        )
    if "lazyts2024-full-information" in results:
        yield Drawing(
            "doubling-gaps",
            "Full information, Δ = 0.001: ε · regret against K on equal and on doubling gaps. "
            "Dashed: ln K; dashes and dots: the number of brackets (the upper bound); dotted: the "
            "lower bound on the worst instance",
            doubling(results["lazyts2024-full-information"]),
        )


def doubling(results: Results) -> Figure:
    """A row for each instance, a column for each ε."""
    frame = sized(results).with_columns(
        x=pl.col("arms"),
        y=pl.col("mean") * pl.col("epsilon"),
        error=pl.col("error") * pl.col("epsilon"),
    )
    rows = []
    for instance, what in INSTANCES.items():
        row = []
        for epsilon in (0.0001, 0.001):
            part = frame.filter(
                pl.col("environment").str.starts_with(instance) & pl.col("epsilon").eq(epsilon)
            )
            first = part.filter(
                (pl.col("arms") == 3) & (pl.col("label") == "RNM-FTNL (corrected)")
            )["y"].item()
            guides = {"∝ ln K": [first * math.log(k) / math.log(3) for k in ARMS]}
            if instance == "doubling":
                guides["∝ K − 1"] = [first * (k - 1) / 2 for k in ARMS]
            guides["ε · lower bound"] = [
                epsilon * final_floor(results, Panel(f"{instance}, K = {k}", epsilon)) for k in ARMS
            ]
            row.append(Lines(f"{what}, ε = {printed_epsilon(epsilon)}", part, guides, ARMS))
        rows.append(row)
    return line_grid(
        rows, looks(results.cells), x="number of actions K (log scale)", y="ε · final regret"
    )
