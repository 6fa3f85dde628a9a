"""What most policies know: the released statistics of each arm, and how a release changes them."""

from collections.abc import Collection
from typing import NamedTuple

from dpbandits.policies.contract import Release


class Statistics(NamedTuple):
    """Public state, one number an arm unless said."""

    totals: tuple[float, ...]  # released sum of rewards
    rounds: tuple[int, ...]  # rounds behind `totals`; 0: nothing released yet
    draws: tuple[int, ...]  # noise draws inside `totals`
    pulls: tuple[int, ...]  # rounds told
    open: tuple[int, ...]  # rounds told since the last release
    t: int  # rounds told, all arms


def empty(arms: int) -> Statistics:
    zeros = (0,) * arms
    return Statistics((0.0,) * arms, zeros, zeros, zeros, zeros, 0)


def fold(s: Statistics, release: Release) -> Statistics:
    """The statistics after one plan: counts move by what was told, released arms get their new
    answer.
    """
    pulls, open_ = list(s.pulls), list(s.open)
    for action, times in release.told:
        for arm in action if isinstance(action, tuple) else (action,):
            pulls[arm] += times
            open_[arm] += times
    if not release.coordinates:
        return s._replace(pulls=tuple(pulls), open=tuple(open_), t=release.round)
    totals, rounds, draws = list(s.totals), list(s.rounds), list(s.draws)
    for arm, answer in zip(release.coordinates, release.answers, strict=True):
        totals[arm], rounds[arm], draws[arm] = answer
        open_[arm] = 0
    return Statistics(
        tuple(totals), tuple(rounds), tuple(draws), tuple(pulls), tuple(open_), release.round
    )


def first_unseen(s: Statistics) -> int | None:
    """The lowest arm without a release, if any."""
    return s.rounds.index(0) if 0 in s.rounds else None


def fold_dropped(s: Statistics, release: Release, arms: Collection[int] | None) -> Statistics:
    """The statistics after an unplanned drop: what was told counts, the open blocks of these arms
    (None: of all) are empty.
    """
    s = fold(s, release)
    kept = [0 if arms is None or arm in arms else open_ for arm, open_ in enumerate(s.open)]
    return s._replace(open=tuple(kept))


def widened(s: Statistics, arms: int) -> Statistics:
    """The statistics with further arms, never played."""
    more = (0,) * (arms - len(s.rounds))
    return Statistics(
        s.totals + (0.0,) * len(more),
        s.rounds + more,
        s.draws + more,
        s.pulls + more,
        s.open + more,
        s.t,
    )
