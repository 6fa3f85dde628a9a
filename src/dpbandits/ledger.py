"""The ledger as it is written: which rounds of which coordinate were read, each line at its price. Public data only."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from dpbandits.privacy import Entry, as_fraction
from dpbandits.strict import damaged, entries, part, whole

LOWEST = -1
"""The lowest coordinate: of records that are read whole."""


@final
class Ledger:
    """Clocks and lines of one run. A coordinate's clock counts the rewards that left its open block, read or dropped.

    cost: what one reading costs a record; None: read without noise. width: of how many coordinates one record may be read.
    """

    def __init__(self, cost: Fraction | None, width: int = 1) -> None:
        self.cost, self.width, self.releases = cost, width, 0
        self._clocks: dict[int, int] = {}
        self._entries: list[Entry] = []
        self._singles: dict[int, int] = {}  # coordinate -> its newest line of one-reward releases

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every reading. A coordinate's consecutive one-reward releases share a line that counts them."""
        return tuple(self._entries)

    @property
    def rounds(self) -> int:
        """Rewards that left their open blocks, all coordinates."""
        return sum(self._clocks.values())

    def write(self, coordinate: int, count: int) -> None:
        """The next `count` rewards of a coordinate were read in one release."""
        start = self._clocks.get(coordinate, 0)
        self._clocks[coordinate] = stop = start + count
        self.releases += 1
        at = self._singles.get(coordinate) if count == 1 else None
        if at is not None and self._entries[at].stop == start:
            self._entries[at] = self._entries[at]._replace(stop=stop, releases=self._entries[at].releases + 1)
            return
        if count == 1:
            self._singles[coordinate] = len(self._entries)
        self._entries.append(Entry(coordinate, start, stop, self.cost, width=self.width))

    def skip(self, coordinate: int, count: int) -> None:
        """The next `count` rewards of a coordinate were dropped unread: no line, no price."""
        self._clocks[coordinate] = self._clocks.get(coordinate, 0) + count

    def to_data(self) -> dict[str, Any]:
        lines = [[e.coordinate, e.start, e.stop, None if e.cost is None else str(e.cost), e.releases] for e in self._entries]
        return {"clocks": sorted(self._clocks.items()), "releases": self.releases, "lines": lines}

    def restore(self, data: object) -> None:
        """Continue from what `to_data` returned (after a trip through JSON).

        Raises:
            ValueError: damaged data: readings that overlap, run past their clock or are not the number that was counted.
        """
        saved = part(data, "vault.ledger", "clocks", "lines", "releases")
        pairs = [entries(pair, "a clock of vault.ledger", 2) for pair in entries(saved["clocks"], "vault.ledger.clocks")]
        clocks = {whole(c, "a clock's coordinate", LOWEST): whole(count, "a clock of vault.ledger") for c, count in pairs}
        lines = [line_from_data(line, self.width) for line in entries(saved["lines"], "vault.ledger.lines")]
        ends = dict.fromkeys(clocks, 0)
        for line in lines:
            if line.coordinate not in clocks or not ends[line.coordinate] <= line.start < line.stop <= clocks[line.coordinate]:
                raise damaged("a line of vault.ledger does not fit its clock, or the line before it")
            if (line.cost is None) is not (self.cost is None):
                raise damaged("a line of vault.ledger has no cost, or one for what is read without noise")
            ends[line.coordinate] = line.stop
        if whole(saved["releases"], "vault.ledger.releases") != sum(line.releases for line in lines):
            raise damaged("vault.ledger has not as many releases as its lines say")
        self._entries, self._clocks, self.releases = lines, clocks, saved["releases"]
        self._singles = {e.coordinate: at for at, e in enumerate(lines) if e.stop - e.start == e.releases}


def line_from_data(data: object, width: int) -> Entry:
    """One line of a saved ledger."""
    coordinate, start, stop, cost, releases = entries(data, "a line of vault.ledger", 5)
    what = "a number in a line of vault.ledger"
    numbers = whole(coordinate, what, LOWEST), whole(start, what), whole(stop, what)
    try:
        price = None if cost is None else as_fraction(cost, "cost")
    except ValueError:
        raise damaged("a cost in vault.ledger is no positive number") from None
    return Entry(*numbers, price, whole(releases, what, 1, numbers[2] - numbers[1]), width)
