"""Arms against a control arm, and shares for those who assign people elsewhere. Both are made of
public values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

from dpbandits.core.tables import Rows, aligned, cell_text
from dpbandits.session.beliefs import OVER_TIME, Beliefs
from dpbandits.session.ranges import Range


class ArmLift(NamedTuple):
    """One arm against the control arm, in the user's units. None where nothing was released yet of
    one of them, and with periods, where arms are seen at different times.

    people: how many rewards the arm's released mean covers. difference, low, high: the arm's mean
        less the control arm's. ratio, ratio_low, ratio_high: the arm's mean over the control arm's;
        None where rewards may be negative, or there is no such bound because the control arm's mean
        may be 0.
    """

    label: str
    people: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


class SegmentLift(NamedTuple):
    """One arm against the control arm in one segment: see `ArmLift`."""

    segment: str
    label: str
    people: int
    difference: float | None
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None


@final
@dataclass(frozen=True)
class Lift(Rows[ArmLift]):
    """Differences to the control arm: a row for each other arm, in their order; iterate over it.

    control: the control arm's label.
    confidence: that all intervals hold, of all arms and at all times at once.
    changed: labels of arms whose mean has changed meanwhile: theirs, and all if the control arm is
        among them, are no comparison of the same time.
    in_periods: whether arms are compared within periods alone; then no difference is known.
    caution: see `Beliefs`.
    """

    rows: tuple[ArmLift, ...]
    control: str
    confidence: float
    changed: tuple[str, ...] = ()
    in_periods: bool = False
    caution: str | None = None

    kind: ClassVar[Any] = ArmLift

    def _arms(self, labels: Sequence[str]) -> str:
        return f"an arm beside the control arm {self.control!r}"

    def __str__(self) -> str:
        head = ("arm", "rounds", "difference", "low", "high", "ratio", "low", "high")
        cells = [(row.label, f"{row.people:,}", *map(cell_text, row[2:])) for row in self.rows]
        at = f"{self.confidence:.4g}".replace("0.", ".")
        notes = [
            f"Each arm less {self.control}, and over it; all intervals hold at all times at once "
            f"with confidence {at}."
        ]
        if self.in_periods:
            notes = [OVER_TIME]
        if self.changed:
            notes.append(f"The mean of {', '.join(self.changed)} has changed meanwhile.")
        if self.caution:
            notes.append(self.caution)
        return "\n".join((aligned([head, *cells]), *notes))

    __repr__ = __str__


def lift_of(estimates: Beliefs, control: int, ruler: Range | None) -> Lift:
    """Every other arm against the control arm, by their intervals, which hold together.

    Args:
        control: its number.
        ruler: the user's units; by default [0, 1].

    >>> from dpbandits.session.beliefs import Belief
    >>> rows = (Belief("old", 90, 0.2, 0.1, 0.25, None), Belief("new", 80, 0.3, 0.2, 0.5, None))
    >>> row = lift_of(Beliefs(rows, 0.95, None, None), 0, None)["new"]
    >>> [round(value, 3) for value in row[2:]]
    [0.1, -0.05, 0.4, 1.5, 0.8, 5.0]
    """
    base, has_ratio = estimates.rows[control], ruler is None or ruler.low >= 0
    rows = list[ArmLift]()
    for number, row in enumerate(estimates.rows):
        if number == control:
            continue
        known = row.mean, row.low, row.high, base.mean, base.low, base.high
        if estimates.in_periods or None in known:
            rows.append(ArmLift(row.label, row.people))
            continue
        mean, low, high = (float(each or 0.0) for each in (row.mean, row.low, row.high))
        own, least, most = (float(each or 0.0) for each in (base.mean, base.low, base.high))
        ratios = over(mean, own), over(low, most), over(high, least)
        rows.append(
            ArmLift(
                row.label,
                row.people,
                mean - own,
                low - most,
                high - least,
                *(ratios if has_ratio else (None, None, None)),
            )
        )
    at, changed = estimates.confidence, estimates.changed
    return Lift(tuple(rows), base.label, at, changed, estimates.in_periods, estimates.caution)


def over(value: float, base: float) -> float | None:
    return value / base if base > 0 else None


class ArmPart(NamedTuple):
    """An arm's part of the next people.

    people: a whole number; all arms' add up to those that were asked about. share: of 1, as it is
        on average.
    """

    label: str
    people: int
    share: float


@final
@dataclass(frozen=True)
class Shares(Rows[ArmPart]):
    """The split of the next people: a row for each arm in play; iterate over it.

    people: how many they are.
    """

    rows: tuple[ArmPart, ...]
    people: int

    kind: ClassVar[Any] = ArmPart
    heads: ClassVar[Any] = {}  # each is one person

    def __str__(self) -> str:
        cells = [(row.label, f"{row.people:,}", f"{row.share:.4g}") for row in self.rows]
        return aligned([("arm", "people", "share"), *cells])

    __repr__ = __str__


def shares_of(given: Mapping[str, float], people: int) -> Shares:
    """Shares of so many people, as whole numbers with the largest remainders rounded up.

    >>> [row.people for row in shares_of({"a": 3.4, "b": 3.3, "c": 3.3}, 10)]
    [4, 3, 3]
    """
    whole = {label: int(value + 1e-9) for label, value in given.items()}
    by_rest = sorted(given, key=lambda label: whole[label] - given[label])
    for label in by_rest[: people - sum(whole.values())]:
        whole[label] += 1
    rows = (ArmPart(label, whole[label], value / people) for label, value in given.items())
    return Shares(tuple(rows), people)
