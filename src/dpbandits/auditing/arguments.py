"""The numbers that a caller gives to an audit, read strictly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dpbandits.core.inputs import LARGEST_SEED, real_number, shown, whole_number

MOST_AUDITED_ROUNDS = 10**6
"""The most rounds of one counted run: its transcript is kept as a whole."""

MOST_AUDITED_ARMS = 10**4


class CheckedNumbers(NamedTuple):
    """The arguments of an audit, checked and as plain numbers."""

    budget: float
    seed: int
    arms: int | None
    rounds: int
    workers: int
    runs: int | None


def checked_numbers(
    budget: object, seed: object, arms: object, rounds: object, workers: object, runs: object
) -> CheckedNumbers:
    """The numbers as plain ones. arms, runs: None if the caller gives none.

    Raises:
        ValueError: a number is of the wrong kind or out of range.
    """
    seconds = real_number(budget)
    if seconds is None or not 0 < seconds < math.inf:
        raise ValueError(f"Expected budget={shown(budget)} to be a finite number of seconds > 0.")
    return CheckedNumbers(
        budget=float(seconds),
        seed=whole_number(seed, "seed", 0, LARGEST_SEED),
        arms=None if arms is None else whole_number(arms, "arms", 1, MOST_AUDITED_ARMS),
        rounds=whole_number(rounds, "rounds", 1, MOST_AUDITED_ROUNDS),
        workers=whole_number(workers, "workers", 1, 10_000),
        runs=None if runs is None else whole_number(runs, "runs", 1),
    )


def checked_levels(levels: object, known: Sequence[str]) -> tuple[str, ...]:
    """Some of the levels, by name.

    Raises:
        ValueError: something else.
    """
    named = tuple(levels) if isinstance(levels, (list, tuple, set, frozenset)) else ()
    unknown = [shown(level) for level in named if level not in known]
    if unknown or not named:
        came = ", ".join(unknown) or shown(levels)
        raise ValueError(
            f"Expected levels, a list of some of {', '.join(known)}; got {came}. For example "
            f"levels=[{known[0]!r}]."
        )
    return named
