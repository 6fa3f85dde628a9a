"""The lots of runs. The pilot says which pair of tables tells most: all are tried with a few runs,
the better ones with more, the best with many; nothing that is seen there is counted in the bound.
The last lot alone enters it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.auditing.statistical.counting.events import (
    Bound,
    Event,
    bound,
    certified,
    choose_event,
    hits,
)
from dpbandits.auditing.statistical.counting.features import lattice
from dpbandits.auditing.statistical.counting.players import Players
from dpbandits.auditing.statistical.counting.scorers import cell_numbers, cuts_of, keys_of
from dpbandits.auditing.statistical.counting.tables import Neighbours
from dpbandits.core.arrays import Floats

HEATS = 3
FEWEST_TRIED, MOST_TRIED = 20, 400
"""Runs a side of every pair in the first heat, a hundredth of those that will be counted, within
these bounds; five times as many in each further heat.
"""

FEW_PAIRS, MANY_PAIRS = 24, 200
"""Pairs that are tried where a number of runs is given: a fiftieth of it, within these bounds."""

LEARNING = 1500
"""Runs a side from which on a heat learns events; of fewer, single numbers and whole outcomes are
looked at.
"""

MORE = 20
"""So many times the runs of a heat are thought to be counted in the end."""

ALPHA = 1e-6

LONG = 64
"""Rounds; of longer tapes fewer runs are played, in proportion, so that a pair of them takes as
long as another.
"""


class Tried(NamedTuple):
    """The best pair, and how many were tried."""

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
        end = until - seconds * (0.6, 0.25, 0.0)[heat]
        scores = list[float]()
        for at, pair in enumerate(left):
            if runs is None and at >= 2 and time.perf_counter() > end:
                break
            each = (
                runs_of(pair, runs, heat)
                if runs is not None
                else afforded(players, pair, seed, end - time.perf_counter(), heat)
            )
            if not each and at >= 2:
                scores.append(-np.inf)
                continue
            scores.append(
                expected_bound(
                    *players.outcomes(pair, max(each, 10), seed + 10**5 * (heat + 1) + at)
                )
            )
            tell(f"trying pair {at + 1} of {len(left)} of tables, heat {heat + 1} of {HEATS}")
        tried = tried or left[: len(scores)]
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], left[at].rounds, at))
        left = [left[at] for at in order[: (max(4, len(scores) // 8), 3, 1)[heat]]]
    return Tried(left[0], tried or list(pairs))


def runs_of(pair: Neighbours, runs: int, heat: int) -> int:
    return max(
        (20, 40, 80)[heat],
        int(min(max(runs // 100, FEWEST_TRIED), MOST_TRIED) * 5**heat * run_share(pair)),
    )


def run_share(pair: Neighbours) -> float:
    """The share of runs that a tape of this length is played for."""
    return min(1.0, LONG / pair.rounds)


def afforded(players: Players, pair: Neighbours, seed: int, seconds: float, heat: int) -> int:
    """Runs for a pair of this heat, for which `seconds` are left: a share of the time, ten runs at
    least; none if these take too long.
    """
    pace, share = players.pace(pair, seed + 17 * heat), (0.005, 0.05, 0.3)[heat] * seconds
    if pace > share:  # ten runs would take ten shares
        return 0
    return int(np.clip(share / pace, 10, (2_000, 30_000, 200_000)[heat]))


def expected_bound(a: Floats, b: Floats) -> float:
    """About what these runs tell; of many runs, what more of them should certify."""
    if len(a) < LEARNING:
        return rough(a, b)
    half = len(a) // 2
    runs = MORE * (len(a) - half)
    counts = hits(choose_event(a[:half], b[:half], runs, ALPHA), a[half:], b[half:]).astype(float)
    likely, unlikely = (
        counts[at] + sign * np.sqrt(counts[at]) for at, sign in (([0, 2], -1), ([1, 3], 1))
    )
    return float(
        certified(
            MORE * np.maximum(0, likely), np.minimum(runs, MORE * unlikely), runs, ALPHA
        ).max()
    )


def rough(a: Floats, b: Floats) -> float:
    """By whole outcomes that repeat, by how many numbers of an outcome are told again in it, and by
    stretches of each number and of its lattice.
    """
    keys, where = np.unique(keys_of(np.concatenate([a, b])), return_inverse=True)
    best = told_by(where[: len(a)], where[len(a) :], len(keys))
    both = np.concatenate([a, b])
    if (np.rint(both) != both).any():  # decisions, which are whole, are told again and again
        again = (np.diff(np.sort(both, axis=1), axis=1) == 0).sum(axis=1)
        best = max(best, told_by(again[: len(a)], again[len(a) :], both.shape[1]))
    vary = np.flatnonzero((both != both[0]).any(axis=0)).tolist()
    # what comes late may be what tells
    for j in vary if len(vary) <= LONG else vary[: LONG // 2] + vary[-LONG // 2 :]:
        for column in (both[:, j], lattice(both[:, j])):
            cuts = cuts_of(column, 16)
            at = cell_numbers(column[:, None], [cuts])
            best = max(best, told_by(at[: len(a)], at[len(a) :], len(cuts) + 1, ordered=True))
    return best


def told_by(a: ArrayLike, b: ArrayLike, size: int, ordered: bool = False) -> float:
    """By single cells, and where they are in order by all up to one, or from one on."""
    one, other = (np.bincount(np.asarray(part), minlength=size) for part in (a, b))
    if ordered:
        one, other = (np.concatenate([h, np.cumsum(h), np.cumsum(h[::-1])]) for h in (one, other))
    return max(cautious_log_ratio(one, other), cautious_log_ratio(other, one))


def cautious_log_ratio(likely: ArrayLike, unlikely: ArrayLike) -> float:
    """The largest log-ratio of frequencies, each taken two standard deviations worse."""
    hits, others = np.asarray(likely, float), np.asarray(unlikely, float)
    return float(
        np.max(
            np.log(np.maximum(hits - 2 * np.sqrt(hits), 0.5))
            - np.log(others + 2 * np.sqrt(others) + 2)
        )
    )


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
