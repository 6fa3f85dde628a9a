"""Figures 1 to 5 of the matroid paper: return per round and regret on the seven vectors at each ε,
regret over ln n up to 10⁶ rounds, regret against 1/ε, and films: those of figures 3 and 4b, table
3, and random users beside independent coins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from dpbandits.plots import Panel, in_panel, looks
from dpbandits.sweeps.results import Results
from papers.drawing import DOTTED, Drawing, Lines, final_floor, floor_at, line_grid, regret_grid
from papers.paper import PageTable, recommended_films

SEVEN, FILMS = 2.15, 6.901325  # what the best basis returns
FIRST = 100  # the first round that is drawn
RETURNS = "Dashed: the best basis. Dotted: less the lower bound"
COINS, USERS = "films, independent coins", "films, random users"
TABLE = ["DPUCB-MAT", "DP-KL-MAT (ours)"]  # whose films table 3 lists


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    if "matroid2023" in results:
        row = [Panel("seven vectors", epsilon) for epsilon in (1e-4, 2.0, 1e5)]
        yield Drawing(
            "returns",
            f"Figures 1, 2 and 4a: seven vectors, mean return per round so far. {RETURNS}",
            returns(results["matroid2023"], row, SEVEN),
            shown=False,
        )
        yield Drawing(
            "seven-vectors",
            "DP-Joint-MAT loses least from ε = 2 on; at ε = 0.0001 no private policy learns. "
            f"Figures 1, 2 and 4a: seven vectors, by ε. {DOTTED}, cut off at the worst basis",
            regret_grid(results["matroid2023"], [row], ends="seven vectors"),
        )
    if "matroid2023-growth" in results:
        yield Drawing(
            "growth",
            "Figure 5a: seven vectors, ε = 2, regret over ln n. Dotted: the lower bound over ln n, "
            "no floor at finite n",
            over_log(results["matroid2023-growth"], Panel("seven vectors, long", 2.0)),
        )
    if "matroid2023-budgets" in results:
        yield Drawing(
            "budgets",
            "Figure 5b: regret after 10⁴ rounds against 1/ε. Dashed: in proportion to 1/ε. "
            f"{DOTTED}",
            against_budget(results["matroid2023-budgets"]),
        )
    yield from film_drawings(results)


def film_drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    """Nothing where the data is not here."""
    films, users = results.get("matroid2023-films"), results.get("matroid2023-users")
    if films is not None:
        yield Drawing(
            "films-returns",
            f"Figures 3 and 4b: a hundred films, ε = 2, mean return per round so far. {RETURNS}",
            returns(films, [Panel("films", 2.0)], FILMS),
            shown=False,
        )
        yield Drawing(
            "films",
            "Figures 3 and 4b as regret: a hundred films, 6,040 users (the paper: 6,036), "
            f"ε = 2. The paper's two lie on each other. {DOTTED}",
            regret_grid(films, [[Panel("films", 2.0)]]),
        )
    if users is not None:
        yield Drawing(
            "films-users",
            "Section 5.2: one random user a round beside independent coins, films of MovieLens' "
            f"small set. {DOTTED}; none is known for users",
            regret_grid(users, [[Panel(COINS, 2.0), Panel(USERS, 2.0)]]),
            shown=False,
        )


def tables(results: Mapping[str, Results]) -> Iterator[PageTable]:
    """Table 3, where the data is here."""
    films = results.get("matroid2023-films")
    if films is not None:
        yield from recommended_films(films, Panel("films", 2.0), TABLE)


def returns(results: Results, row: list[Panel], optimum: float) -> Figure:
    """Mean return per round up to each round, beside that of the best basis, and the most that the
    lower bound leaves.
    """
    panels = []
    for panel in row:
        frame = in_panel(results.bands, panel).filter(pl.col("round") >= FIRST)
        x = pl.col("round")
        frame = frame.with_columns(x=x, y=optimum - pl.col("mean") / x, error=pl.col("error") / x)
        at = frame["x"].unique().sort().to_list()
        most = optimum - floor_at(results, panel, at) / np.array(at)
        guides = {"best basis": [optimum] * len(at), "best − lower bound/n": most.tolist()}
        panels.append(Lines(panel.title, frame, guides, at))
    figure = by_round(results, panels, "return per round")
    lowest = min(
        min(panel.frame["y"].to_numpy().min(), panel.guides["best − lower bound/n"][-1])
        for panel in panels
    )
    return level_axes(figure, optimum - 1.05 * (optimum - lowest), optimum + 0.02)


def over_log(results: Results, panel: Panel) -> Figure:
    """Regret over ln n at each round n."""
    frame = in_panel(results.bands, panel).filter(pl.col("round") >= FIRST)
    log = pl.col("round").log()
    frame = frame.with_columns(
        x=pl.col("round"), y=pl.col("mean") / log, error=pl.col("error") / log
    )
    at = frame["x"].unique().sort().to_list()
    guides = {"lower bound/ln n": (floor_at(results, panel, at) / np.log(at)).tolist()}
    return by_round(results, [Lines(panel.title, frame, guides, at)], "regret over ln n")


def by_round(results: Results, panels: list[Lines], y: str) -> Figure:
    return line_grid([panels], looks(results.cells), x="round n (log scale)", y=y)


def level_axes(figure: Figure, low: float, high: float) -> Figure:
    """The figure with even scales from `low` to `high`."""
    for ax in figure.axes:
        ax.set_yscale("linear")
        ax.set_ylim(low, high)
    return figure


def against_budget(results: Results) -> Figure:
    """Final regret against 1/ε, both scales logarithmic."""
    frame = results.summary.filter(pl.col("epsilon").is_not_null())
    frame = frame.with_columns(x=1.0 / pl.col("epsilon"), y=pl.col("mean")).sort("x")
    places = frame.unique("x").sort("x")
    at, epsilons = places["x"].to_list(), places["epsilon"].to_list()
    steepest = frame.filter((pl.col("label") == "DPTS-MAT") & (pl.col("x") == at[-1]))["y"][0]
    name = "seven vectors, budgets"
    guides = {
        "in proportion to 1/ε": [steepest * x / at[-1] for x in at],
        "lower bound": [final_floor(results, Panel(name, epsilon)) for epsilon in epsilons],
    }
    return line_grid(
        [[Lines("seven vectors", frame, guides, at)]],
        looks(results.cells),
        x="1/ε (log scale)",
        y="final regret",
    )
