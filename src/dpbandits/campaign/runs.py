"""Decisions as runs of consecutive ones: few of them say which of many decisions are meant."""

from collections.abc import Iterable

from dpbandits.core.values import entries, whole


def id_runs(ids: Iterable[int]) -> list[list[int]]:
    """Runs for JSON: the first decision of each, and how many there are."""
    runs = list[list[int]]()
    for id in sorted(ids):
        if runs and sum(runs[-1]) == id:
            runs[-1][1] += 1
        else:
            runs.append([id, 1])
    return runs


def runs_in(data: object, what: str, asked: int) -> list[range]:
    """What `id_runs` wrote into a part `what` of a saved session, of this many decisions.

    Raises:
        DamagedSessionError: it is not that.
    """
    runs, last = list[range](), 0
    for row in entries(data, f"a part of {what}"):
        first, many = entries(row, f"an entry of {what}", 2)
        first = whole(first, f"a decision in {what}", last + 1, asked)
        last = first - 1 + whole(many, f"a number in {what}", 1, asked - first + 1)
        runs.append(range(first, last + 1))
    return runs
