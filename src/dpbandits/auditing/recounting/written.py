"""What a stranger's report says, read strictly: whatever is no report is named in a sentence, and
nothing in it is taken for granted.
"""

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpbandits.auditing.audit import MOST_AUDITED_ARMS, MOST_AUDITED_ROUNDS
from dpbandits.auditing.statistical import ALPHA, LOOKS, MOST
from dpbandits.core.inputs import LARGEST_SEED, Floats, shown, whole_number

NEEDED = ("counts", "runs", "alpha", "tables", "event", "pair")


def expect(holds: bool, wanted: str) -> None:
    """Refuse a report of which this does not hold."""
    if not holds:
        raise ValueError(f"Expected {wanted}")


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
    expect(
        bool(found),
        "a report with a statistical level that counted an event: only that can be recounted.",
    )
    expect(len(found) == 1, f"one statistical level, as an audit writes, got {len(found)}.")
    return found


def claim_of(report: dict[str, Any]) -> Fraction | None:
    """The epsilon it was held to; None: it says that there was none."""
    expect("claim" in report, "a report with a claim (null, if there was none), got none.")
    said = report["claim"]
    claim = None
    with suppress(ValueError, TypeError, ArithmeticError):
        claim = None if said is None else Fraction(said)
    expect(
        said is None or (claim is not None and claim > 0),
        f'the report\'s claim to be a number > 0, such as "1/2", or null, got {shown(said)}.',
    )
    return claim


class WrittenSetting(NamedTuple):
    """With what an audit was made. subject, epsilon: of what it made from a name."""

    arms: int | None
    rounds: int
    seed: int
    subject: str | None
    epsilon: Any


def written_setting(report: dict[str, Any]) -> WrittenSetting:
    """Its setting, each number within what an audit takes."""
    setting = a_mapping(report.get("setting", {}), "setting")
    made = a_mapping(setting.get("made", {}), "made")
    arms, subject = setting.get("arms"), made.get("subject")
    expect(
        subject is None or isinstance(subject, str),
        f"the report's subject to be a name, got {shown(subject)}.",
    )
    return WrittenSetting(
        None if arms is None else whole_number(arms, "arms", 1, MOST_AUDITED_ARMS),
        whole_number(setting.get("rounds", 8), "rounds", 1, MOST_AUDITED_ROUNDS),
        whole_number(setting.get("seed", 0), "seed", 0, LARGEST_SEED),
        subject,
        made.get("epsilon"),
    )


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
    expect(
        not missing,
        f"details of the report with {', '.join(NEEDED)}; {', '.join(missing)} is missing.",
    )
    runs, alpha, counts = seen["runs"], report_number(seen["alpha"], "alpha"), seen["counts"]
    expect(
        type(runs) is int and 1 <= runs <= MOST,
        f"runs of the report to be a whole number from 1 to {MOST:,}, got {shown(runs)}.",
    )
    expect(
        isinstance(counts, list)
        and len(counts) == 4
        and all(type(count) is int and 0 <= count <= runs for count in counts),
        f"four counts, whole numbers between 0 and {runs}, got {shown(counts)}.",
    )
    expect(
        ALPHA / len(LOOKS) * (1 - 1e-9) <= alpha <= ALPHA,
        f"a look that may be wrong with probability {ALPHA:g}, or a share of a {len(LOOKS)}th, "
        f"got {alpha:g}.",
    )
    a, b = tables_of(seen)
    expect(int((a != b).any(axis=-1).sum()) == 1, "two tables that differ in one record.")
    a_mapping(seen["event"], "event")
    return runs, alpha


def tables_of(seen: dict[str, Any]) -> tuple[Floats, Floats]:
    """Two tables of rewards: what is no reward proves nothing against a claim on rewards."""
    try:
        a, b = (np.array(table, np.float64) for table in seen["tables"])
    except (TypeError, ValueError):
        raise ValueError("Expected two tables of numbers, with as many in every row.") from None
    expect(
        a.shape == b.shape and a.ndim in (2, 3) and a.size > 0,
        "two tables of one shape, (rounds, arms) or (releases, rounds, arms), got "
        f"{a.shape} and {b.shape}.",
    )
    expect(
        all(((table >= 0) & (table <= 1)).all() for table in (a, b)),
        "two tables of rewards in [0, 1]; the claim says nothing of other numbers.",
    )
    return a, b
