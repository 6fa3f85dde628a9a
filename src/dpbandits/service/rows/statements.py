"""Statements as the drivers take them: these are most of a store's work."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from dpbandits.service.rows.records import HeadRow, KeyRow

RESOLVE = (
    'UPDATE decision SET status = ?, moved = ?, pseudonym = NULL, "window" = NULL '
    "WHERE campaign = ? AND seq BETWEEN ? AND ?"
)
"""Of consecutive decisions that stand alike."""

LOSE = (
    "UPDATE decision SET status = 'lost', moved = ?, pseudonym = NULL, \"window\" = NULL "
    "WHERE campaign = ? AND status = 'waiting'"
)
"""Of all that wait."""


@cache
def insertion(table: str, names: tuple[str, ...], by: tuple[str, ...] = ()) -> str:
    """SQL that inserts a row. by: the columns by which it may be there already, and is then written
    anew.
    """
    marks = ", ".join("?" * len(names))
    said = f'INSERT INTO "{table}" ({quoted(names)}) VALUES ({marks})'
    if not by:
        return said
    rest = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name not in by)
    return f"{said} ON CONFLICT ({quoted(by)}) DO UPDATE SET {rest}"


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


HOLD = insertion("held", ("campaign", "seq", "body"), ("campaign", "seq"))
"""A sealed row of a decision whose answer is waited for, which stays where it is once it is there:
nothing but its content says that it was written over.
"""

HEAD_OF = f"SELECT {quoted(HeadRow._fields)} FROM head WHERE campaign = ?"
"""The head of a campaign."""

KEYS = f"SELECT {quoted(KeyRow._fields)} FROM access_key ORDER BY created"
KEY_OF = f"SELECT {quoted(KeyRow._fields)} FROM access_key WHERE hash = ?"
"""Bearer keys, which every request is asked for."""


def runs(resolved: Mapping[int, str]) -> Iterator[tuple[int, int, str]]:
    """Decisions as runs of consecutive ones that stand alike: first, last, status."""
    first = last = 0
    status = ""
    for seq in sorted(resolved):
        if seq == last + 1 and resolved[seq] == status:
            last = seq
            continue
        if first:
            yield first, last, status
        first, last, status = seq, seq, resolved[seq]
    if first:
        yield first, last, status
