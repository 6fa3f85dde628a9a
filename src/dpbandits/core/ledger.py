"""The ledger as it is written: which rounds of which coordinate were read, each line at its price.
Public data only.

It keeps two counts that have to agree, and says so where they do not: what entered a coordinate
(counted by the vault as rewards come in) and what left it, read or dropped (counted here).
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

from dpbandits.core.errors import LedgerError
from dpbandits.core.ledger_lines import counts_from_data, line_from_data, require_lines
from dpbandits.core.privacy import Entry
from dpbandits.core.values import damaged, entries, part, whole

Leaving = tuple[int, int, int]
"""Rewards that leave an open block: coordinate, number, and how many ever entered the coordinate,
by another count.
"""


def unbalanced(what: str) -> LedgerError:
    return LedgerError(
        f"The ledger does not add up: {what}. Nothing was released, and nothing more will be."
    )


@dataclass(slots=True)
class Page:
    """What one release writes into the ledger. It says what the ledger will contain, so writing a
    page twice changes nothing.

    clocks: of the coordinates that are read or dropped.
    dropped: of the coordinates that are dropped, the number of rewards that were ever dropped.
    releases: of the whole run, this one included.
    at: the place in the ledger of the first new line.
    grown: of existing lines that count one release more, by their place: where they stop now.
    lines: new lines.
    singles: for each coordinate, the place of its new line of one-reward releases.
    """

    clocks: dict[int, int]
    dropped: dict[int, int]
    releases: int
    at: int
    grown: dict[int, int] = field(default_factory=dict)
    lines: list[Entry] = field(default_factory=list)
    singles: dict[int, int] = field(default_factory=dict)


@final
class Ledger:
    """Clocks and lines of one run. A coordinate's clock counts the rewards that left its open
    block, whether they were read or dropped.

    cost: what one reading costs a record; None if it is read without noise.
    width: the number of coordinates in which one record may be read.
    """

    def __init__(self, cost: Fraction | None, width: int = 1) -> None:
        self.cost, self.width, self.releases = cost, width, 0
        self._clocks: dict[int, int] = {}
        self._dropped: dict[int, int] = {}  # of what the clocks count, what was never read
        self._entries: list[Entry] = []
        self._singles: dict[int, int] = {}  # coordinate -> its newest line of one-reward releases
        # place of such a line -> where it stops by now; the line itself is as it was begun, for
        # thousands of them may grow in every round, and are looked at once
        self._stops: dict[int, int] = {}

    def entries(self, page: Page | None = None) -> tuple[Entry, ...]:
        """Every reading, including those of a page that is about to be written. Consecutive
        one-reward releases share a line, which counts them.
        """
        stops = self._stops.copy()  # before the lines: every place in it is among them
        if page is None:
            lines = self._entries.copy()
        else:
            lines, stops = self._entries[: page.at] + page.lines, stops | page.grown
        for at, stop in stops.items():
            lines[at] = grown_line(lines[at], stop)
        return tuple(lines)

    @property
    def rounds(self) -> int:
        """Rewards that left their open blocks, all coordinates."""
        return sum(self._clocks.values())

    def clock(self, coordinate: int) -> int:
        return self._clocks.get(coordinate, 0)

    def left(self) -> dict[int, tuple[int, int]]:
        """For each coordinate: the rewards that left its open block, and those never read."""
        return {c: (clock, self._dropped.get(c, 0)) for c, clock in self._clocks.items()}

    def page(self, read: Sequence[Leaving], dropped: Sequence[Leaving]) -> Page:
        """The page for rewards that leave their open blocks now. This does not write it.

        Raises:
            LedgerError: more or fewer rewards left a coordinate than entered it.
        """
        page = Page({}, {}, self.releases + len(read), len(self._entries))
        clocks, known = page.clocks, self._clocks
        for coordinate, count, entered in (*read, *dropped):
            clocks[coordinate] = stop = known.get(coordinate, 0) + count
            if stop != entered:
                raise unbalanced(
                    f"{entered} rewards entered coordinate {coordinate}, {stop} would have left it"
                )
        for coordinate, count, _ in dropped:
            page.dropped[coordinate] = self._dropped.get(coordinate, 0) + count
        singles, stops, lines = self._singles, self._stops, self._entries
        for coordinate, count, entered in read:
            at = singles.get(coordinate) if count == 1 else None
            if at is None or (stops.get(at) or lines[at].stop) != entered - 1:
                self._begin_line(page, coordinate, entered - count, count)
            else:
                page.grown[at] = entered
        return page

    def _begin_line(self, page: Page, coordinate: int, start: int, count: int) -> None:
        """Add to the page that the next `count` rewards of a coordinate are read in one release."""
        if count == 1:
            page.singles[coordinate] = page.at + len(page.lines)
        page.lines.append(Entry(coordinate, start, start + count, self.cost, width=self.width))

    def write(self, page: Page) -> None:
        """Write a page. It can be written again after an interruption, because every step says what
        the ledger will contain, not what is added to it.
        """
        self._clocks.update(page.clocks)
        self._dropped.update(page.dropped)
        self._singles.update(page.singles)
        self._entries[page.at :] = page.lines
        self._stops.update(page.grown)
        self.releases = page.releases

    def to_data(self) -> dict[str, Any]:
        lines = [
            [e.coordinate, e.start, e.stop, None if e.cost is None else str(e.cost), e.releases]
            for e in self.entries()
        ]
        clocks, dropped = sorted(self._clocks.items()), sorted(self._dropped.items())
        return {"clocks": clocks, "dropped": dropped, "releases": self.releases, "lines": lines}

    def readings(self) -> dict[int, tuple[int, int]]:
        """For each coordinate: the number of readings, and of the rewards they covered."""
        read = dict[int, tuple[int, int]]()
        for line in self.entries():
            releases, rewards = read.get(line.coordinate, (0, 0))
            read[line.coordinate] = releases + line.releases, rewards + line.stop - line.start
        return read

    def restore(self, data: object, coordinates: Container[int]) -> None:
        """Continue from what `to_data` returned (after a trip through JSON).

        coordinates: the coordinates that exist.

        Raises:
            DamagedSessionError: coordinates that do not exist; or readings that overlap, run past
                their clock, have another cost, or are more or fewer than were counted.
        """
        saved = part(data, "vault.ledger", "clocks", "dropped", "lines", "releases")
        clocks = counts_from_data(saved["clocks"], "clocks")
        dropped = counts_from_data(saved["dropped"], "dropped")
        lines = [
            line_from_data(line, self.width)
            for line in entries(saved["lines"], "vault.ledger.lines")
        ]
        if not all(coordinate in coordinates for coordinate in clocks):
            raise damaged("vault.ledger has a coordinate that this policy does not have")
        require_lines(lines, clocks, dropped, self.cost)
        releases = whole(saved["releases"], "vault.ledger.releases")
        if releases != sum(line.releases for line in lines):
            raise damaged("vault.ledger has not as many releases as its lines say")
        self._entries, self._clocks, self._dropped, self.releases = lines, clocks, dropped, releases
        self._stops = {}
        self._singles = {
            e.coordinate: at for at, e in enumerate(lines) if e.stop - e.start == e.releases
        }


def grown_line(line: Entry, stop: int) -> Entry:
    """A line of one-reward releases that goes on up to here."""
    return Entry(line.coordinate, line.start, stop, line.cost, stop - line.start, line.width)
