"""Lines of a ledger as plain data: read strictly, checked, and continued."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from dpbandits.core.privacy import Entry, as_fraction
from dpbandits.core.values import damaged, entries, whole

LOWEST = -1
"""The lowest coordinate; it stands for records that are read whole."""


def require_lines(
    lines: Sequence[Entry], clocks: dict[int, int], dropped: dict[int, int], cost: Fraction | None
) -> None:
    """Refuse lines that do not follow one another, cost something else, or do not add up with what
    was dropped to the clocks.
    """
    ends = dict.fromkeys(clocks, 0)
    left = {c: count - dropped.get(c, 0) for c, count in clocks.items()}
    for line in lines:
        at = line.coordinate
        if at not in clocks or not ends[at] <= line.start < line.stop <= clocks[at]:
            raise damaged("a line of vault.ledger does not fit its clock, or the line before it")
        if line.cost != cost:
            raise damaged("a line of vault.ledger has another cost than this policy's")
        ends[at] = line.stop
        left[at] -= line.stop - line.start
    if any(left.values()) or not set(dropped) <= set(clocks):
        raise damaged("the lines of vault.ledger and what was dropped do not add up to its clocks")


def lines_of(
    lines: list[list[Any]], readings: Iterable[tuple[int, int, int]], cost: str | None
) -> list[list[Any]]:
    """Lines as `Ledger.to_data` writes them, with further readings.

    readings: of each its coordinate, its first reward and the one after its last; consecutive
        readings of one reward share a line, as they do in the ledger itself.
    """
    written = [list(line) for line in lines]
    singles = {line[0]: at for at, line in enumerate(written) if line[2] - line[1] == line[4]}
    for coordinate, start, stop in readings:
        at = singles.get(coordinate) if stop - start == 1 else None
        if at is not None and written[at][2] == start:
            written[at][2], written[at][4] = stop, written[at][4] + 1
            continue
        if stop - start == 1:
            singles[coordinate] = len(written)
        written.append([coordinate, start, stop, cost, 1])
    return written


def counts_from_data(data: object, name: str) -> dict[int, int]:
    """A count for each of some coordinates."""
    pairs = [
        entries(pair, f"an entry of vault.ledger.{name}", 2)
        for pair in entries(data, f"vault.ledger.{name}")
    ]
    what = f"a number in vault.ledger.{name}"
    counts = {whole(coordinate, what, LOWEST): whole(count, what) for coordinate, count in pairs}
    if len(counts) < len(pairs):
        raise damaged(f"vault.ledger.{name} has a coordinate twice")
    return counts


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
