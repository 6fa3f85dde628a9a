"""The results of a sweep as tables: every run (`curves`), every curve's bands (`bands`), one row a
cell (`summary`).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import polars as pl

from dpbandits.core.inputs import shown
from dpbandits.core.privacy import Real, as_fraction, printed
from dpbandits.core.tables import frame_of
from dpbandits.sweeps.cells import Cell, Facts, read_cell
from dpbandits.sweeps.config import Config

MAY_BE_NULL = {
    **dict.fromkeys(
        (
            "epsilon",
            "rho",
            "error",
            "q99",
            "q999",
            "lower_bound",
            "upper_bound",
            "regret_order",
            "claimed",
            "spent",
        ),
        pl.Float64,
    ),
    **dict.fromkeys(("own_baseline", "guarantee", "budget"), pl.String),
    "kept": pl.Boolean,
}
"""Columns whose type must not depend on whether any policy of the sweep fills them."""


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """A finished sweep.

    summary: one row a cell; `mean`, `error`, `median`, `q99`, `q999`, `worst` are of the regret at
        the end over runs; a quantile is null where the runs are too few for it (see `enough`).
        `upper_bound` is no less than the expected regret; `regret_order` is an order, no bound.
    bands: one row a cell and kept round: mean regret, its standard error, and quantiles over runs.
    computed, damaged: cells played just now, and what was found wrong with stored files.
    """

    config: Config
    cells: tuple[Cell, ...]
    out: Path
    summary: pl.DataFrame
    bands: pl.DataFrame
    computed: int
    damaged: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Results({self.config.name!r}, {len(self.cells)} cells, in {self.out})"

    @property
    def skipped(self) -> int:
        """Cells that were stored before."""
        return len(self.cells) - self.computed

    @cached_property
    def curves(self) -> pl.DataFrame:
        """Every run at every kept round: label, policy, environment, epsilon, rho, run, round,
        regret, releases, events.
        """
        return pl.concat(with_names(cell, stored(self.out, cell)[0]) for cell in self.cells)

    def pandas(self, table: Literal["summary", "curves", "bands"] = "summary") -> Any:
        """One of the tables as a pandas frame.

        Args:
            table: which: the attribute of this name.

        Raises:
            ImportError: pandas is not installed.
        """
        return frame_of(getattr(self, table).to_dict(as_series=False), "pandas")

    def runs_of(self, label: str, environment: str, epsilon: Real | None = None) -> pl.DataFrame:
        """The runs of one cell at every kept round, with the columns of `curves`.

        Args:
            label: of the policy, as in the sweep file.
            environment: its name there.
            epsilon: as there; None without privacy, or under zCDP.

        Raises:
            LookupError: there is no such cell.
        """
        wanted = None if epsilon is None else float(as_fraction(epsilon, "epsilon"))
        key = label, environment, wanted
        known = [(cell.label, cell.setting, cell.epsilon) for cell in self.cells]
        if key not in known:
            given = f"{label!r} in {environment!r} at ε = {shown(epsilon)}"
            raise LookupError(f"No cell {given}; there are {', '.join(map(str, known))}.")
        cell = self.cells[known.index(key)]
        return with_names(cell, stored(self.out, cell)[0])


def collect(
    config: Config, cells: list[Cell], out: Path, *, computed: int, damaged: tuple[str, ...]
) -> Results:
    """Read every stored cell once, and make the tables."""
    rows, bands = [], []
    for cell in cells:
        frame, facts = stored(out, cell)
        rows.append(row_of(cell, frame, facts))
        bands.append(with_names(cell, bands_of(frame)))
    summary = with_prices(
        pl.DataFrame(rows, schema_overrides=MAY_BE_NULL, infer_schema_length=None)
    )
    return Results(config, tuple(cells), out, summary, pl.concat(bands), computed, damaged)


def stored(out: Path, cell: Cell) -> tuple[pl.DataFrame, Facts]:
    found = read_cell(out, cell)
    if found is None:
        raise FileNotFoundError(f"The result of {cell} is gone from {out}; run the sweep again.")
    return found


def with_names(cell: Cell, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the cell's names in front. Names are not stored in cells: renaming a policy
    must not replay it.
    """
    names = {"label": cell.label, "policy": type(cell.policy).__name__, "environment": cell.setting}
    numbers = {"epsilon": cell.epsilon, "rho": cell.rho}
    return frame.select(
        *(pl.lit(value, pl.String).alias(name) for name, value in names.items()),
        *(pl.lit(value, pl.Float64).alias(name) for name, value in numbers.items()),
        pl.all(),
    )


def bands_of(frame: pl.DataFrame) -> pl.DataFrame:
    """Mean regret with its standard error, and quantiles over runs, at every kept round."""
    regret = pl.col("regret")
    levels = {"q05": 0.05, "median": 0.5, "q95": 0.95, "q99": 0.99, "q999": 0.999}
    return (
        frame.group_by("round", maintain_order=True)
        .agg(
            regret.mean().alias("mean"),
            (regret.std() / regret.len().sqrt()).alias("error"),
            *(regret.quantile(q, "higher").alias(name) for name, q in levels.items()),
            regret.max().alias("worst"),
        )
        .sort("round")
    )


def row_of(cell: Cell, frame: pl.DataFrame, facts: Facts) -> dict[str, object]:
    """One row of the summary."""
    end = frame.filter(pl.col("round") == cell.rounds)
    last = bands_of(end).row(0, named=True)
    return {
        "label": cell.label,
        "policy": type(cell.policy).__name__,
        "environment": cell.setting,
        "epsilon": cell.epsilon,
        "rho": cell.rho,
        "rounds": cell.rounds,
        "runs": cell.runs,
        **{name: last[name] for name in ("mean", "error", "median", "worst")},
        **{
            name: last[name] if enough(q, cell.runs) else None
            for name, q in (("q99", 0.99), ("q999", 0.999))
        },
        "releases": end["releases"].mean(),
        "events": end["events"].mean(),
        "lower_bound": facts["lower_bound"],
        "upper_bound": facts["upper_bound"],
        "regret_order": facts.get("regret_order"),
        "own_baseline": facts["own_baseline"] or None,
        "claimed": optional_float(facts["claimed"]),
        "spent": optional_float(facts["spent"]),
        "budget": spent_of_promised(facts),
        "kept": kept(facts),
        "guarantee": facts["guarantee"],
        "paper": facts["paper"],
        "seconds": facts["seconds"],
        "key": cell.key,
    }


def enough(q: float, runs: int) -> bool:
    """Whether a quantile of so many runs says something: at least ten of them should lie beyond
    it.
    """
    return runs >= round(10 / (1 - q))


def spent_of_promised(facts: Facts) -> str | None:
    """What was spent of what was promised, never rounded down; None without privacy."""
    if facts["claimed"] is None:
        return None
    spent = "an unknown part" if facts["spent"] is None else printed(Fraction(facts["spent"]))
    return f"{spent} of {printed(Fraction(facts['claimed']))}"


def optional_float(text: str | None) -> float | None:
    return None if text is None else float(Fraction(text))


def with_prices(summary: pl.DataFrame) -> pl.DataFrame:
    """Adds `baseline` and `price`: the policy without privacy that loses least there, and mean
    regret minus its mean regret.

    One baseline for all: with one for each, a policy of lower regret looks dearer where its own
    is the better one. Null where no policy without privacy was played as long, and of those
    policies themselves.
    """
    where = ["environment", "rounds"]
    baselines = (
        summary.filter(pl.col("guarantee").is_null())
        .sort("mean", maintain_order=True)
        .unique(where, keep="first", maintain_order=True)
        .select(*where, pl.col("label").alias("baseline"), pl.col("mean").alias("least"))
    )
    joined = summary.join(baselines, on=where, how="left", maintain_order="left")
    private = pl.col("guarantee").is_not_null()
    price = pl.when(private).then(pl.col("mean") - pl.col("least"))
    baseline = pl.when(private).then(pl.col("baseline"))
    return joined.with_columns(price=price, baseline=baseline).drop("least")


def kept(facts: Facts) -> bool | None:
    """Whether the ledger, in exact fractions, stayed within the promise; null without privacy."""
    claimed, total = facts["claimed"], facts["spent"]
    return None if claimed is None else total is not None and Fraction(total) <= Fraction(claimed)
