"""Headline A/B tests of the Upworthy Research Archive (Matias et al. 2021, CC BY 4.0), read from a
path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final, overload

import numpy as np
from numpy.typing import NDArray

from dpbandits.datasets.files import PathLike
from dpbandits.datasets.reading.columns import TEXT, WHOLE, Columns, read_columns
from dpbandits.environments.laws import Bernoulli

IMBALANCED = (201326, 201402)
"""First and last week left out by default: the archive's authors warn that from 25 June 2013 to 10
January 2014 visitors were not split evenly at random between the arms, so click rates of one test
are not comparable.
"""

KINDS = {
    "clickability_test_id": TEXT,
    "test_week": WHOLE,
    "headline": TEXT,
    "impressions": WHOLE,
    "clicks": WHOLE,
}


@final
@dataclass(frozen=True)
class Experiment:
    """One test. An arm is a package: a headline with its image, so a headline can occur twice. One
    number an arm.

    weeks: first and last week, as year·100 + week.
    """

    name: str
    weeks: tuple[int, int]
    headlines: tuple[str, ...]
    impressions: tuple[int, ...]
    clicks: tuple[int, ...]

    @property
    def environment(self) -> Bernoulli:
        """Every impression is an independent coin with the arm's click rate."""
        return Bernoulli([c / n for c, n in zip(self.clicks, self.impressions, strict=True)])

    @property
    def imbalanced(self) -> bool:
        """Whether any of it ran while the archive's randomisation was uneven."""
        return self.weeks[0] <= IMBALANCED[1] and self.weeks[1] >= IMBALANCED[0]


@overload
def upworthy(path: PathLike, *, keep_imbalanced: bool = False) -> dict[str, Experiment]: ...
@overload
def upworthy(path: PathLike, test: str, *, keep_imbalanced: bool = False) -> Experiment: ...
def upworthy(
    path: PathLike, test: str | None = None, *, keep_imbalanced: bool = False
) -> dict[str, Experiment] | Experiment:
    """Every test of the archive by its id (in the file's order), or the one named.

    Args:
        path: CSV (also .csv.gz) or Parquet, one row an arm, with columns clickability_test_id,
            test_week, headline, impressions and clicks.
        test: a clickability_test_id.
        keep_imbalanced: also the tests of the weeks `IMBALANCED`, whose arms were not randomised
            evenly.

    Raises:
        DataError: the file is not such a table; the message says where.
        KeyError: there is no such test, or it is left out.
    """
    everything = experiments(read_columns(path, KINDS))
    if test is None:
        return {name: e for name, e in everything.items() if keep_imbalanced or not e.imbalanced}
    if test not in everything:
        raise KeyError(
            f"Expected the id of one of the {len(everything)} tests, for example "
            f"{next(iter(everything))!r}; got {test!r}."
        )
    found = everything[test]
    if found.imbalanced and not keep_imbalanced:
        raise KeyError(
            f"Test {test!r} ran in weeks {found.weeks[0]} to {found.weeks[1]}; from "
            f"{IMBALANCED[0]} to {IMBALANCED[1]} arms were not "
            "randomised evenly, so their rates are not comparable. Pass keep_imbalanced=True to "
            "use it all the same."
        )
    return found


def experiments(rows: Columns) -> dict[str, Experiment]:
    """Rows gathered by test, both in the file's order."""
    impressions, clicks = rows["impressions"], rows["clicks"]
    rows.require(impressions > 0, "at least one impression")
    rows.require(clicks <= impressions, "no more clicks than impressions")
    members: dict[str, list[int]] = {}
    for row, test in enumerate(rows["clickability_test_id"]):
        members.setdefault(test, []).append(row)
    return {test: experiment(test, rows, np.array(at)) for test, at in members.items()}


def experiment(test: str, rows: Columns, at: NDArray[np.intp]) -> Experiment:
    weeks = rows["test_week"][at]
    return Experiment(
        name=test,
        weeks=(int(weeks.min()), int(weeks.max())),
        headlines=tuple(rows["headline"][at].tolist()),
        impressions=tuple(rows["impressions"][at].tolist()),
        clicks=tuple(rows["clicks"][at].tolist()),
    )
