"""The lots of runs. The pilot says which pair of tables tells most: all are tried with a few runs,
the better ones with more, the best with many; nothing that is seen there is counted in the bound.
The last lot alone enters it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from dpbandits.auditing.statistical.counting.events import Bound, Event, bound
from dpbandits.auditing.statistical.counting.pair_scores import expected_bound
from dpbandits.auditing.statistical.counting.players import Players
from dpbandits.auditing.statistical.counting.tables import Neighbours

HEATS = 3
FEWEST_TRIED, MOST_TRIED = 20, 400
"""Runs a side of every pair in the first heat, a hundredth of those that will be counted, within
these bounds; five times as many in each further heat.
"""

FEW_PAIRS, MANY_PAIRS = 24, 200
"""Pairs that are tried where a number of runs is given: a fiftieth of it, within these bounds."""

ALPHA = 1e-6

PILOT = 0.35
"""Share of the budget for the choice of tables."""

LONG = 64
"""Rounds; of longer tapes fewer runs are played, in proportion, so that a pair of them takes as
long as another.
"""


class Tried(NamedTuple):
    """The best pair, and those whose runs were compared."""

    pair: Neighbours
    tried: list[Neighbours]


def pilot(
    players: Players,
    pairs: Sequence[Neighbours],
    seed: int,
    *,
    runs: int | None,
    seconds: float,
    tell: Callable[[str], None],
) -> Tried:
    """runs: where given, so many are to be counted, the pilot plays in proportion, and the clock is
    not looked at; otherwise `seconds`.
    """
    until, left, tried = time.perf_counter() + seconds, list(pairs), list[Neighbours]()
    if runs is not None:
        left = left[: int(np.clip(runs // 50, FEW_PAIRS, MANY_PAIRS))]
    for heat in range(HEATS if len(left) > 1 else 0):
        end, scores = until - seconds * (0.6, 0.25, 0.0)[heat], dict[int, float]()
        shortest, slow = min(pair.rounds for pair in left), set[int]()
        for at, pair in enumerate(left):
            if runs is None:
                each = 0 if pair.rounds in slow else afforded(players, pair, seed, end, heat)
                if not each and pair.rounds <= shortest:
                    break  # no other takes less
            else:
                each = runs_of(pair, runs, heat)
            if not each:
                slow |= {pair.rounds} if pair.rounds > LONG else set()
                continue
            lots = players.outcomes(pair, each, seed + 10**5 * (heat + 1) + at)
            scores[at] = expected_bound(*lots, ALPHA)
            tell(f"trying pair {at + 1} of {len(left)} of tables, heat {heat + 1} of {HEATS}")
        tried = tried or [left[at] for at in scores]
        if not scores:
            break
        order = sorted(scores, key=lambda at: (-scores[at], left[at].rounds, at))
        left = [left[at] for at in order[: (max(4, len(scores) // 8), 3, 1)[heat]]]
    return Tried(left[0], tried or left[:1])


def runs_of(pair: Neighbours, runs: int, heat: int) -> int:
    return max(
        (20, 40, 80)[heat],
        int(min(max(runs // 100, FEWEST_TRIED), MOST_TRIED) * 5**heat * run_share(pair)),
    )


def run_share(pair: Neighbours) -> float:
    """The share of runs that a tape of this length is played for."""
    return min(1.0, LONG / pair.rounds)


FEWEST, SLOW = 10, 0.25
"""Runs a side of a pair that takes long, and the part of the heat's time that they may take."""


def afforded(players: Players, pair: Neighbours, seed: int, end: float, heat: int) -> int:
    """Runs for a pair of this heat, which ends at `end`: a share of the time that is left; none if
    even a few take too long.
    """
    if time.perf_counter() > end:
        return 0
    pace = players.pace(pair, seed + 17 * heat)
    seconds = end - time.perf_counter()
    if FEWEST * pace > SLOW * seconds:
        return 0
    share = (0.005, 0.05, 0.3)[heat] * seconds
    return int(np.clip(share / pace, FEWEST, (2_000, 30_000, 200_000)[heat]))


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
