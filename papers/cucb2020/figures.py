"""What Chen et al. 2020 prove, drawn: regret as K grows, as ε shrinks, and in the central model.
The paper has no figures of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl
from matplotlib.figure import Figure

from dpbandits.figures.grids import Drawing, regret_grid
from dpbandits.figures.lines import Lines, line_grid
from dpbandits.figures.panels import Panel, looks
from dpbandits.sweeps.results import Results

WIDTHS = (1, 2, 4, 8)
SHOWN = {"4 choices": "K = {}", "24 choices": "K = {}, 24 choices"}
OURS = "DP-KLCUCB (ours, central)"
LABELS = ["CUCB-LDP1 (published)", "CUCB-LDP2 (published, any K)", OURS]
CENTRAL = "Linear rewards, ε-DP:"
UNKNOWN = (
    "No lower bound is drawn: on super arms that are no matroid's none is known with constants "
    "for an instance"
)


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    yield Drawing(
        "super-arm-size",
        (
            "Local privacy, shared arms: final regret against K at ε = 8. Dashed: growth with "
            "K², from CUCB-LDP1's regret at K = 1. DP-KLCUCB is ε-DP, not locally private: a "
            f"curator sees the rewards. {UNKNOWN}"
        ),
        against_width(results["cucb2020"]),
    )
    central = results["cucb2020-central"]
    for number, name in enumerate(("shared arms", "K-path"), start=1):
        row = [Panel(name, epsilon) for epsilon in (4.0, 8.0, 32.0)]
        yield Drawing(
            f"central-{number}",
            f"{CENTRAL} {name} instance. {UNKNOWN}",
            regret_grid(central, [row], ends=name),
        )


def against_width(results: Results) -> Figure:
    """Final regret against the size of super arms, a panel for each number of choices."""
    panels = []
    for title, pattern in SHOWN.items():
        widths = {pattern.format(k): k for k in WIDTHS}
        frame = results.summary.filter(
            pl.col("label").is_in(LABELS) & pl.col("environment").is_in(list(widths))
        )
        frame = frame.with_columns(
            x=pl.col("environment").replace_strict(widths, return_dtype=pl.Int64), y=pl.col("mean")
        ).sort("x")
        start = frame.filter(pl.col("label") == LABELS[0])["mean"][0]
        at = sorted(set(frame["x"].to_list()))
        panels.append(Lines(title, frame, {"K²": [start * k**2 for k in at]}, at))
    return line_grid(
        [panels],
        looks([c for c in results.cells if c.label in LABELS]),
        x="K (log scale)",
        y="final regret",
    )
