"""Figures 1 to 12 of Hu, Huang and Mehta 2021, one a setting: regret at every ε, and final regret
against ε. Then full information.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import polars as pl
from matplotlib.figure import Figure

from dpbandits.core.privacy import printed_epsilon
from dpbandits.plots import SOLID, Look, Panel, looks
from dpbandits.sweeps.results import Results
from papers.drawing import DOTTED, Drawing, Lines, final_floor, line_grid, regret_grid, sized

ROWS = ((0.1, 0.25, 0.5, 1.0), (8.0, 64.0, 128.0))
GAPS, ARMS = (0.2, 0.05, 0.0125), (4, 16, 64, 256, 1024)
TREE_ARMS = (4, 16, 64)
SHADES = ("#9ecae1", "#6baed6", "#3182bd", "#08519c", "#08264d")
FIGURES = {
    "setting 1": "Figures 1 to 5 and 9",
    "setting 2": "Up to ε = 1 Anytime-Lazy-UCB loses far less than Hybrid-UCB. "
    "Figures 6 to 8, 10 and 11",
    "setting 3": "Figure 12",
}

WORST = "Dotted: the lower bound on the worst instance with this K and Δ, at this T"


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    for name, numbers in FIGURES.items() if "lazy2021" in results else ():
        rows = [[Panel(name, epsilon) for epsilon in row] for row in ROWS]
        yield Drawing(
            name.replace(" ", "-"),
            f"{numbers}: mean reward {name}; the two Hybrid-UCB lie on each other. {DOTTED}",
            regret_grid(results["lazy2021"], rows, ends=name),
            shown=name == "setting 2",
        )
    if "lazy2021-full-information" in results and "lazy2021-no-privacy" in results:
        yield Drawing(
            "full-information-k",
            "Full information, equal gaps: regret against K. Dashed: ln K/min(Δ, ε), which the "
            f"2024 paper could no longer prove. {WORST}. FTNL as corrected and with permute and "
            "flip almost coincide",
            against_arms(results["lazy2021-full-information"], results["lazy2021-no-privacy"]),
        )
    if "lazy2021-full-information" in results:
        yield Drawing(
            "full-information-rate",
            "Full information: regret · min(Δ, ε)/ln K against ε/Δ. Shaded: within the factor 3 of "
            f"its geometric mean. {WORST}",
            rate_of(results["lazy2021-full-information"]),
            shown=False,
        )
    if "lazy2021-tree" in results:
        yield Drawing(
            "full-information-tree",
            "Full information, equal gaps, 2¹² rounds, ε = 1: tree-based FTRL beside FTNL. "
            f"{WORST}",
            beside_trees(results["lazy2021-tree"]),
        )


def beside_trees(results: Results) -> Figure:
    """Final regret against K, a panel for each Δ."""
    frame = sized(results).with_columns(x=pl.col("arms"), y=pl.col("mean"))
    row = []
    for gap in (0.2, 0.05):
        floor = [worst_case(results, k, gap, 1.0) for k in TREE_ARMS]
        part = frame.filter(pl.col("gap") == gap)
        row.append(Lines(f"Δ = {gap:g}", part, {"lower bound": floor}, TREE_ARMS))
    return line_grid([row], looks(results.cells), x="number of actions K (log scale)", y="regret")


def against_arms(private: Results, plain: Results) -> Figure:
    """Final regret against K, a panel for each Δ and ε."""
    frame = pl.concat([sized(private), sized(plain)], how="diagonal_relaxed").with_columns(
        x=pl.col("arms"), y=pl.col("mean")
    )
    rows = [
        [
            Lines(
                f"Δ = {gap:g}, ε = {printed_epsilon(epsilon)}",
                frame.filter(
                    (pl.col("gap") == gap)
                    & (pl.col("epsilon").is_null() | pl.col("epsilon").eq(epsilon))
                ),
                {
                    "ln K/min(Δ, ε)": [math.log(k) / min(gap, epsilon) for k in ARMS],
                    "lower bound": [worst_case(private, k, gap, epsilon) for k in ARMS],
                },
                ARMS,
            )
            for gap in GAPS
        ]
        for epsilon in (0.1, 1.0)
    ]
    return line_grid(
        rows,
        looks([*private.cells, *plain.cells]),
        x="number of actions K (log scale)",
        y="final regret",
    )


def worst_case(results: Results, arms: int, gap: float, epsilon: float) -> float:
    """The lower bound at the last round."""
    return final_floor(results, Panel(f"K = {arms}, Δ = {gap:g}", epsilon))


def rate_of(results: Results) -> Figure:
    """How constant the ratio of regret to the rate is."""
    frame = sized(results).with_columns(
        x=pl.col("epsilon") / pl.col("gap"), y=pl.col("mean") / pl.col("rate")
    )
    at = frame.unique("x").sort("x")
    gaps, epsilons = at["gap"].to_list(), at["epsilon"].to_list()
    least = [
        worst_case(results, ARMS[-1], gap, epsilon) * min(gap, epsilon) / math.log(ARMS[-1])
        for gap, epsilon in zip(gaps, epsilons, strict=True)
    ]
    guides = {f"lower bound, K = {ARMS[-1]}": least}
    panels = []
    for label in ("FTNL (published)", "FTNL (corrected)", "random prefix"):
        part = frame.filter(pl.col("label") == label)
        centre = math.exp(part["y"].log().mean())
        shown = part.with_columns(
            label=pl.format("K = {}", "arms"), error=pl.col("error") / pl.col("rate")
        )
        panels.append(Lines(label, shown, guides, at["x"].to_list(), (centre / 3, centre * 3)))
    styles = {f"K = {k}": Look(shade, SOLID) for k, shade in zip(ARMS, SHADES, strict=True)}
    return line_grid([panels], styles, x="ε/Δ (log scale)", y="regret · min(Δ, ε)/ln K")
