"""The last lot of runs, which alone enters the bound: how much is played, and what it says."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from dpbandits.auditing.statistical.counting.bounds import Bound, bound
from dpbandits.auditing.statistical.counting.events import Event
from dpbandits.auditing.statistical.counting.pilot import Tried, run_share
from dpbandits.auditing.statistical.counting.players import Players

ALPHA = 1e-6


MOST = 12_000_000
"""Runs a side of the last lot; a tight mechanism at epsilon = 0.1 needs 3.2 million for nine
tenths.
"""


LOOKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""With a budget of seconds the last lot is looked at after these multiples of the runs there should
be time for, as far as there is.
"""


@final
@dataclass(frozen=True)
class RunPlan:
    """How much is played: for `budget` seconds, or so many runs a side (of tapes of more than 64
    rounds fewer, in proportion).
    """

    budget: float
    runs: int | None
    seed: int
    tell: Callable[[str], None]
    start: float

    def left(self) -> float:
        """Seconds; a little is kept for what comes after."""
        return 0.95 * self.budget - (time.perf_counter() - self.start)


class Counted(NamedTuple):
    """What the last lot says at its best look. alpha: what that look may be wrong with. runs: of
    all looks together.
    """

    bound: Bound
    counts: list[int]
    alpha: float
    runs: int


def count(players: Players, found: Tried, event: Event, plan: RunPlan, scoring: float) -> Counted:
    """All at once if a number of runs is given. Otherwise after fixed shares of a number that is
    settled before the first of them.
    """
    pair, seed, start = found.pair, plan.seed + 20_000, time.perf_counter()
    if plan.runs is not None:
        ends, alpha = [max(30, int(min(MOST, plan.runs) * run_share(pair)))], ALPHA
    else:
        pace, left = players.pace(pair, seed + 7) + scoring / players.workers, plan.left()
        whole = int(np.clip(0.9 * left / pace, 40, MOST))
        ends, alpha = [min(MOST, max(1, int(share * whole))) for share in LOOKS], ALPHA / len(LOOKS)
    total, done, best = np.zeros(4, np.int64), 0, None
    for at, end in enumerate(ends):
        if done and (
            end == done
            or (
                plan.runs is None
                and (time.perf_counter() - start) / done * (end - done) > plan.left()
            )
        ):
            break
        plan.tell(f"counting {end:,} runs on either table")
        total, done = total + players.counts(pair, event, end - done, seed + 10**6 * (at + 1)), end
        seen = Counted(bound(total, done, alpha), total.tolist(), alpha, done)
        best = seen if best is None or seen.bound.epsilon >= best.bound.epsilon else best
    assert best is not None
    return best._replace(runs=done)
