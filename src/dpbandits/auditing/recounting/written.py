"""What a stranger's report says, read strictly: whatever is no report is named in a sentence, and
nothing in it is taken for granted.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpbandits.auditing.statistical.counting.pilot import ALPHA, LOOKS, MOST
from dpbandits.core.arrays import Floats
from dpbandits.core.inputs import shown

NEEDED = ("counts", "runs", "alpha", "tables", "event", "pair")


def a_mapping(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(
            f"Expected {what} of the report to be an object of names and values, got "
            f"{shown(value)}."
        )
    return value


def counted_levels(report: object) -> list[dict[str, Any]]:
    """Its statistical levels that counted an event."""
    levels = a_mapping(report, "the text").get("levels")
    if not isinstance(levels, list):
        raise ValueError(f"Expected levels of the report to be a list, got {shown(levels)}.")
    found = [level for level in levels if a_mapping(level, "a level").get("level") == "statistical"]
    found = [level for level in found if "counts" in a_mapping(level.get("details", {}), "details")]
    if not found:
        raise ValueError(
            "Expected a report with a statistical level that counted an event: only that can be "
            "recounted."
        )
    return found


def claim_of(report: dict[str, Any]) -> Fraction | None:
    """The epsilon it was held to; None: it says that there was none."""
    if "claim" not in report:
        raise ValueError("Expected a report with a claim (null, if there was none), got none.")
    said = report["claim"]
    try:
        return None if said is None else positive(Fraction(said))
    except (ValueError, TypeError, ArithmeticError):
        raise ValueError(
            'Expected the report\'s claim to be a number > 0, such as "1/2", or null, got '
            f"{shown(said)}."
        ) from None


def positive(value: Fraction) -> Fraction:
    if value <= 0:
        raise ValueError
    return value


def report_number(value: object, what: str) -> float:
    """A JSON number, or "inf" in text, as reports write it."""
    if value == "inf":
        return math.inf
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise ValueError(f"Expected {what} of the report to be a number, got {shown(value)}.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(
            f"Expected {what} of the report to be a number within range, got {shown(value)}."
        ) from None


def stated_bound(level: dict[str, Any]) -> float:
    return report_number(level.get("lower_bound"), "lower_bound")


def checked_look(seen: dict[str, Any]) -> tuple[int, float]:
    """Runs, and what the look may be wrong with; counts and tables are looked at, too."""
    missing = [name for name in NEEDED if name not in seen]
    if missing:
        raise ValueError(
            f"Expected details of the report with {', '.join(NEEDED)}; {', '.join(missing)} is "
            "missing."
        )
    runs, alpha, counts = seen["runs"], report_number(seen["alpha"], "alpha"), seen["counts"]
    if type(runs) is not int or not 1 <= runs <= MOST:
        raise ValueError(
            f"Expected runs of the report to be a whole number from 1 to {MOST:,}, got "
            f"{shown(runs)}."
        )
    if (
        not isinstance(counts, list)
        or len(counts) != 4
        or any(type(count) is not int or not 0 <= count <= runs for count in counts)
    ):
        raise ValueError(
            f"Expected four counts, whole numbers between 0 and {runs}, got {shown(counts)}."
        )
    if not ALPHA / len(LOOKS) * (1 - 1e-9) <= alpha <= ALPHA:
        raise ValueError(
            f"Expected a look that may be wrong with probability {ALPHA:g}, or a share of a "
            f"{len(LOOKS)}th, got {alpha:g}."
        )
    a, b = tables_of(seen)
    if int((a != b).any(axis=-1).sum()) != 1:
        raise ValueError("Expected two tables that differ in one record.")
    a_mapping(seen["event"], "event")
    return runs, alpha


def tables_of(seen: dict[str, Any]) -> tuple[Floats, Floats]:
    """Two tables of rewards: what is no reward proves nothing against a claim on rewards."""
    try:
        a, b = (np.array(table, np.float64) for table in seen["tables"])
    except (TypeError, ValueError):
        raise ValueError("Expected two tables of numbers, with as many in every row.") from None
    if a.shape != b.shape or a.ndim not in (2, 3) or not a.size:
        raise ValueError(
            "Expected two tables of one shape, (rounds, arms) or (releases, rounds, arms), got "
            f"{a.shape} and {b.shape}."
        )
    if not all(((table >= 0) & (table <= 1)).all() for table in (a, b)):
        raise ValueError(
            "Expected two tables of rewards in [0, 1]; the claim says nothing of other numbers."
        )
    return a, b
