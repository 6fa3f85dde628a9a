"""What stands in one panel of a figure: the policies at one ε in one environment, together with
those without an ε; and a policy's colour and dash, the same in every figure. Colours are told apart
under the common colour-vision deficiencies.
"""

from typing import NamedTuple

import polars as pl

from dpbandits.core.privacy import printed_epsilon
from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.results import Results


class Panel(NamedTuple):
    """One panel. epsilon: None if nothing in the sweep has an ε."""

    environment: str
    epsilon: float | None

    @property
    def title(self) -> str:
        return self.environment + (
            "" if self.epsilon is None else f", ε = {printed_epsilon(self.epsilon)}"
        )


def panels_of(results: Results) -> list[Panel]:
    """Every environment with each of its budgets, in the sweep's order, small ε first."""
    panels = []
    for name in results.summary["environment"].unique(maintain_order=True):
        epsilons = (
            results.summary.filter(pl.col("environment") == name)["epsilon"]
            .drop_nulls()
            .unique()
            .sort()
        )
        panels += [Panel(name, epsilon) for epsilon in epsilons] or [Panel(name, None)]
    return panels


def in_panel(frame: pl.DataFrame, panel: Panel) -> pl.DataFrame:
    """The panel's rows of a results table."""
    return frame.filter(
        (pl.col("environment") == panel.environment)
        & (pl.col("epsilon").is_null() | pl.col("epsilon").eq(panel.epsilon))
    )


def compared(results: Results, panel: Panel) -> pl.DataFrame:
    """The panel's rows of the summary, private policies first, least mean regret first."""
    return in_panel(results.summary, panel).sort(pl.col("guarantee").is_null(), "mean")


class Look(NamedTuple):
    """colour: hexadecimal. dash: matplotlib's (offset, pattern), in multiples of the line's
    width.
    """

    colour: str
    dash: tuple[int, tuple[float, ...]]


SOLID: tuple[int, tuple[float, ...]] = (0, ())
DASHES: tuple[tuple[int, tuple[float, ...]], ...] = (
    SOLID,
    (0, (5, 2)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (1.5, 1.5)),
)

# Private policies are coloured (Okabe and Ito's palette, then Tol's), those without privacy are
# grey and dashed.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, WINE, OLIVE = "#E69F00", "#56B4E9", "#882255", "#999933"
DARK, GREY, LIGHT = "#4d4d4d", "#808080", "#a6a6a6"

LOOKS: dict[str, Look] = {
    "DPKLUCB": Look(BLUE, SOLID),
    "LazyDPTS": Look(GREEN, SOLID),
    "AnytimeLazyUCB": Look(PURPLE, SOLID),
    "AdaPKLUCB": Look(ORANGE, SOLID),
    "DPSE": Look(SKY, SOLID),
    "LDPKLUCB": Look(WINE, SOLID),
    "AdaCUCB": Look(OLIVE, SOLID),
    "SparseVectorSE": Look(OLIVE, DASHES[1]),
    "RNMFTNL": Look(BLUE, DASHES[1]),
    "PrefixExponential": Look(GREEN, DASHES[1]),
    "NaiveFTNL": Look(VERMILION, DASHES[1]),
    "TreeFTRL": Look(ORANGE, DASHES[1]),
    "FollowTheLeader": Look(DARK, DASHES[2]),
    "DecreasingHedge": Look(GREY, DASHES[1]),
    "DPIMED": Look(BLUE, DASHES[2]),
    "DPRateIMED": Look(VERMILION, DASHES[3]),
    "HybridUCB": Look(VERMILION, DASHES[2]),
    "DPUCB": Look(GREEN, DASHES[2]),
    "DPUCBBound": Look(PURPLE, DASHES[2]),
    "AdaPUCB": Look(ORANGE, DASHES[2]),
    "LDPUCB": Look(WINE, DASHES[2]),
    "DPJointCUCB": Look(SKY, DASHES[2]),
    "DPJointMAT": Look(ORANGE, SOLID),
    "DPKLCUCB": Look(BLUE, DASHES[3]),
    "LazyCUCB": Look(PURPLE, DASHES[1]),
    "CUCBDP": Look(GREEN, DASHES[3]),
    "CUCBDPMax": Look(ORANGE, DASHES[3]),
    "CUCBLDP1": Look(SKY, DASHES[1]),
    "CUCBLDP2": Look(WINE, DASHES[1]),
    "CUCB": Look(DARK, DASHES[3]),
    "DPKLMAT": Look(BLUE, SOLID),
    "DPUCBMAT": Look(PURPLE, SOLID),
    "DPTSMAT": Look(GREEN, SOLID),
    "OMM": Look(DARK, DASHES[1]),
    "KLOSM": Look(GREY, DASHES[1]),
    "CTSGaussian": Look(GREY, DASHES[2]),
    "CTSBeta": Look(LIGHT, DASHES[1]),
    "AdaPTT": Look(PURPLE, DASHES[3]),
    "CTBTT": Look(WINE, DASHES[3]),
    "KLUCB": Look(DARK, DASHES[1]),
    "ThompsonBeta": Look(GREY, DASHES[2]),
    "UCB1": Look(LIGHT, DASHES[1]),
    "SuccessiveElimination": Look(LIGHT, DASHES[3]),
}
OTHERS = (OLIVE, SKY, WINE, GREEN)  # policies from outside this package, in the order they come
BOUND = "#000000"


def looks(cells: list[Cell]) -> dict[str, Look]:
    """The look of every label. Further variants of one class keep its colour and change the
    dash.
    """
    found: dict[str, Look] = {}
    seen: dict[str, int] = {}
    for cell in cells:
        if cell.label in found:
            continue
        name = type(cell.policy).__name__
        base = LOOKS.get(name) or Look(OTHERS[len(found) % len(OTHERS)], SOLID)
        variant = seen.get(name, 0)
        found[cell.label] = base._replace(
            dash=DASHES[(DASHES.index(base.dash) + variant) % len(DASHES)]
        )
        seen[name] = variant + 1
    return found


def extremes(column: pl.Series) -> tuple[float, float]:
    """The least and the largest number of a column."""
    numbers = column.to_numpy()
    return float(numbers.min()), float(numbers.max())
