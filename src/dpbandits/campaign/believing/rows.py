"""What an arm's releases said, as rows that can be saved."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

from dpbandits.core.inputs import MOST
from dpbandits.core.values import damaged, entries, whole
from dpbandits.mechanisms.meaning import NoiseDraws


class ReleasedRow(NamedTuple):
    """All that was released of an arm up to its so-manieth answer.

    total: the noised sum of its rewards, in [0, 1] each, or of the reports about them. rounds: how
        many. draws: the noise inside (see `NoisedSum`).
    """

    release: int
    total: float
    rounds: int
    draws: NoiseDraws


class ArmHistory(NamedTuple):
    """One arm. answers: how many there were. kept: rows, oldest first. newest: the last row, which
    counts for intervals once a row is kept.
    """

    label: str
    answers: int = 0
    kept: tuple[ReleasedRow, ...] = ()
    newest: ReleasedRow | None = None


def mirrored_row(row: ReleasedRow, ends: float) -> ReleasedRow:
    """The row of 1 less each reward, whose noise is as likely to be as much above as below.

    ends: what is summed for a reward of 0 and for one of 1, together.
    """
    return row._replace(total=ends * row.rounds - row.total)


def rows_together(before: ReleasedRow, newest: ReleasedRow) -> ReleasedRow:
    """The rows of two answers about different rewards, as one."""
    draws: Counter[int] = Counter(dict(before.draws))
    draws.update(dict(newest.draws))
    return ReleasedRow(
        newest.release,
        before.total + newest.total,
        before.rounds + newest.rounds,
        tuple(sorted(draws.items())),
    )


def row_data(row: ReleasedRow | None) -> list[Any] | None:
    return None if row is None else [*row[:3], [list(pair) for pair in row.draws]]


def restored_arm(data: object) -> ArmHistory:
    label, answers, kept, newest = entries(data, "an arm of beliefs.arms", 4)
    if not isinstance(label, str):
        raise damaged("an arm's label in beliefs is not text")
    rows = tuple(map(restored_row, entries(kept, "an arm's rows in beliefs")))
    last = None if newest is None else restored_row(newest)
    answers = whole(answers, "an arm's answers in beliefs")
    numbers = [row.release for row in (*rows, *((last,) if last else ()))]
    if numbers != sorted(numbers) or (numbers and numbers[-1] > answers) or (rows and not last):
        raise damaged("an arm's rows in beliefs are not in order")
    return ArmHistory(label, answers, rows, last)


def restored_row(data: object) -> ReleasedRow:
    release, total, rounds, draws = entries(data, "a row of beliefs", 4)
    if type(total) not in (int, float) or not math.isfinite(total):
        raise damaged("a total in beliefs is no finite number")
    pairs = []
    for pair in entries(draws, "draws in beliefs"):
        kind, count = entries(pair, "draws in beliefs", 2)
        pairs.append(
            (whole(kind, "a kind of draw in beliefs", 1), whole(count, "draws in beliefs"))
        )
    rounds = whole(rounds, "rounds in beliefs", 1, MOST)
    return ReleasedRow(whole(release, "a release in beliefs", 1), total, rounds, tuple(pairs))
