"""Clicks: the Open Bandit Dataset (Saito, Aihara, Matsutani and Narita 2021), logged on fashion
items, with production click rates; and headline A/B tests of the Upworthy Research Archive (Matias
et al. 2021, CC BY 4.0), read from a path. And visits to microsoft.com in a week of 1998 (UCI
"Anonymous Microsoft Web Data"): every person makes one row, so a guarantee per round is one per
person.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final, overload

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.datasets.tables import Columns, Kind, PathLike, existing, read_columns, shuffled
from dpbandits.environments.laws import Bernoulli
from dpbandits.environments.tables import LoggedReplay, Table

CAMPAIGNS = {"all": 80, "men": 34, "women": 46}
"""Number of items of each campaign."""


def obd(path: PathLike, *, position: int | None = None, items: int | None = None) -> LoggedReplay:
    """A replay of one log: the arms are the items, the reward is the click.

    Take a log of the random policy. Under the Thompson policy some items were almost never shown;
    replay evens that out by passing over nearly the whole log. And mind the sample's size: of 80
    items 51 have no click at all in 10,000 random decisions, so `means` of this environment are
    mostly noise. For a bandit instance with this site's rates use `obd_rates`.

    Args:
        path: a log, CSV or CSV.gz, with columns item_id, position, click and propensity_score.
        position: only decisions for this place on the page (1, 2 or 3); by default all of them.
        items: number of items of the campaign; by default the highest item_id of the log and one.

    Raises:
        DataError: the file is not such a log, or hardly anything of it could be replayed; the
        message says what to do.
    """
    log = read_columns(
        path,
        {
            "item_id": "whole",
            "position": "whole",
            "click": "reward",
            "propensity_score": "positive",
        },
    )
    log.require(np.isin(log["click"], (0, 1)), "click to be 0 or 1")
    log.require(log["propensity_score"] <= 1, "propensity_score to be at most 1")
    arms = int(log["item_id"].max()) + 1 if items is None else items
    log.require(log["item_id"] < arms, f"item_id below {arms}, the number of items")
    mine = np.full(len(log), True) if position is None else log["position"] == position
    if not mine.any():
        raise DataError(
            f"Expected position= one of {np.unique(log['position']).tolist()}, got {position!r}."
        )
    return logged_replay(
        log["item_id"][mine], log["click"][mine], log["propensity_score"][mine], arms
    )


def logged_replay(
    actions: NDArray[Any], clicks: NDArray[Any], propensities: NDArray[Any], arms: int
) -> LoggedReplay:
    try:
        environment = LoggedReplay(actions, clicks, arms=arms, propensities=propensities)
    except ValueError as error:
        raise DataError(
            f"This part of the log cannot be replayed: {error} Take a longer log, or all positions."
        ) from None
    expected = environment.expected_acceptance * len(actions)
    if expected < 1:
        raise DataError(
            f"Replay would accept about {expected:.2g} of these {len(actions)} decisions: the "
            "logging policy hardly ever showed some item. "
            "Take a log of the random policy."
        )
    return environment


def obd_rates(path: PathLike, campaign: str = "all") -> Bernoulli:
    """A campaign's items with their click rates in production, near 0.4 %, as independent coins.

    The rates are prior_alpha/(prior_alpha + prior_beta), the counts the site's operator started
    data collection from. The same file's counts of the 10,000-row logs are noise at such rates
    (most items have no click) and are not used.

    Args:
        path: item_click_rates.csv, with columns campaign, item_id, prior_alpha and prior_beta.
        campaign: "all" (80 items), "men" (34) or "women" (46).

    Raises:
        DataError: the file is not such a table.
        ValueError: no such campaign in it.
    """
    rates = read_columns(
        path,
        {
            "campaign": "text",
            "item_id": "whole",
            "prior_alpha": "positive",
            "prior_beta": "positive",
        },
    )
    mine = rates["campaign"] == campaign
    if not mine.any():
        raise ValueError(
            f"Expected campaign= one of {', '.join(sorted(set(rates['campaign'])))}; got "
            f"{campaign!r}."
        )
    items = rates["item_id"][mine]
    if sorted(items) != list(range(len(items))):
        raise DataError(
            f"Expected campaign {campaign!r} to list items 0 to {len(items) - 1}, each once."
        )
    clicks, others = rates["prior_alpha"][mine], rates["prior_beta"][mine]
    return Bernoulli((clicks / (clicks + others))[np.argsort(items)])


IMBALANCED = (201326, 201402)
"""First and last week left out by default: the archive's authors warn that from 25 June 2013 to 10
January 2014 visitors were not split evenly at random between the arms, so click rates of one test
are not comparable.
"""

KINDS: dict[str, Kind] = {
    "clickability_test_id": "text",
    "test_week": "whole",
    "headline": "text",
    "impressions": "whole",
    "clicks": "whole",
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


VISITS, AREAS = "msweb_visits.csv.gz", "vroots.csv"


class Area(NamedTuple):
    """One area of the site and how many people visited it."""

    number: int
    title: str
    visitors: int


def msweb(
    path: PathLike,
    areas: int | Sequence[int | str] | None = None,
    *,
    seed: int | None = 0,
    resample: bool = False,
) -> Table:
    """Visitors × areas, 1 where a person visited an area: round t offers person t one area; the
    reward is whether they went there.

    Args:
        path: the folder with msweb_visits.csv.gz (user, vroot: one line a visit) and vroots.csv
            (vroot, title: one line an area).
        areas: how many of the most visited areas to take; or which ones, by number or title; None:
            all, in the order of `msweb_areas`.
        seed: of the order people come in; None: the file's order.
        resample: each round plays a random person (with replacement), for as long as you like.

    Raises:
        DataError: a file is not as described; the message says where.
        ValueError: an area that is not there.
    """
    matrix, known = visit_matrix(existing(path, "folder"))
    return Table(shuffled(matrix[:, chosen_columns(areas, known)], seed), resample=resample)


def msweb_areas(path: PathLike) -> tuple[Area, ...]:
    """Every area, the most visited first (the lower number first on a tie).

    Args:
        path: the folder, as of `msweb`.
    """
    return visit_matrix(existing(path, "folder"))[1]


def visit_matrix(folder: Path) -> tuple[NDArray[np.uint8], tuple[Area, ...]]:
    """The whole 0/1 matrix, most visited area first, and its columns. A visit listed twice counts
    once.
    """
    listed = read_columns(folder / AREAS, {"vroot": "whole", "title": "text"})
    numbers, titles = listed["vroot"], listed["title"]
    if len(np.unique(numbers)) < len(numbers):
        raise DataError(f"{AREAS} lists an area twice: expected every vroot once.")
    visits = read_columns(folder / VISITS, {"user": "whole", "vroot": "whole"})
    visits.require(np.isin(visits["vroot"], numbers), f"a vroot that {AREAS} lists")
    users, row = np.unique(visits["user"], return_inverse=True)
    order = np.argsort(numbers)
    matrix = np.zeros((len(users), len(numbers)), np.uint8)
    matrix[row, order[np.searchsorted(numbers, visits["vroot"], sorter=order)]] = 1
    visitors = matrix.sum(axis=0, dtype=np.int64)
    ranked = np.lexsort((numbers, -visitors))
    areas = tuple(Area(int(numbers[j]), str(titles[j]), int(visitors[j])) for j in ranked)
    return matrix[:, ranked], areas


def chosen_columns(areas: int | Sequence[int | str] | None, known: tuple[Area, ...]) -> list[int]:
    """Columns of the ranked matrix."""
    if areas is None:
        return list(range(len(known)))
    if isinstance(areas, int):
        if not 1 <= areas <= len(known):
            raise ValueError(
                f"Expected areas={areas} to be from 1 to {len(known)}, or a list of areas."
            )
        return list(range(areas))
    if isinstance(areas, str) or not areas:
        raise ValueError(
            f"Expected areas={areas!r} to be a number of areas or a non-empty list of them."
        )
    return [column(area, known) for area in areas]


def column(area: int | str, known: tuple[Area, ...]) -> int:
    found = [j for j, k in enumerate(known) if area in (k.number, k.title)]
    if not found:
        raise ValueError(
            f"No area {area!r} among {len(known)}; the most visited are "
            f"{[(k.number, k.title) for k in known[:4]]}."
        )
    if len(found) > 1:
        raise ValueError(
            f"{len(found)} areas are called {area!r}: name one by its number, "
            f"{[known[j].number for j in found]}."
        )
    return found[0]
