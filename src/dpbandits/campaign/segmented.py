"""What is reported by segment, as one table: the rows of all segments, each with its segment's
name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, final

from dpbandits.campaign.believing.beliefs import Beliefs
from dpbandits.core.inputs import shown
from dpbandits.core.tables import Tabular, in_columns


class ReportedRows(Protocol):
    """One segment's table, such as `Beliefs`: an iterable of named tuples of one kind."""

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...


ReportedTable = TypeVar("ReportedTable", bound=ReportedRows)
SegmentRow = TypeVar("SegmentRow", bound=tuple[Any, ...])


class SegmentBelief(NamedTuple):
    """One arm in one segment: see `Belief`."""

    segment: str
    label: str
    people: int
    mean: float | None
    low: float | None
    high: float | None
    chance_best: float | None


@final
@dataclass(frozen=True)
class SegmentedTable(Tabular, Generic[ReportedTable, SegmentRow]):
    """One table for each segment. Iterate over the rows of all of them, or take one by its name.

    parts: the segments' own tables. row: makes a row of a segment's name and its table's row.

    >>> from dpbandits.campaign.believing.beliefs import Belief
    >>> nothing = Beliefs((Belief("a", 0, None, None, None, None),), 0.95, None, None)
    >>> both = segmented_beliefs({"DE": nothing, "FR": nothing})
    >>> [(row.segment, row.label) for row in both], both["FR"] is nothing
    ([('DE', 'a'), ('FR', 'a')], True)
    """

    parts: Mapping[str, ReportedTable]
    row: type[SegmentRow]

    @property
    def segments(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.parts)

    def __iter__(self) -> Iterator[SegmentRow]:
        for name, table in self.parts.items():
            for each in table:
                yield self.row(name, *each)

    def __len__(self) -> int:
        return sum(map(len, self.parts.values()))

    def __getitem__(self, segment: str) -> ReportedTable:
        """One segment's table."""
        if segment not in self.parts:
            raise KeyError(
                f"Expected one of the segments {', '.join(map(repr, self.parts))}, got "
                f"{shown(segment)}."
            )
        return self.parts[segment]

    def __str__(self) -> str:
        return "\n\n".join(f"Segment {name}\n{table}" for name, table in self.parts.items())

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self, self.row)


SegmentedBeliefs = SegmentedTable[Beliefs, SegmentBelief]


def segmented_beliefs(parts: Mapping[str, Beliefs]) -> SegmentedBeliefs:
    """Beliefs by segment, as one table; each segment's hold with their confidence alone."""
    return SegmentedTable(parts, SegmentBelief)
