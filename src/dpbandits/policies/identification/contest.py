"""What `AdaPTT` knows: of each arm its newest released batches, and how long it was played."""

from __future__ import annotations

import math
from typing import NamedTuple

from dpbandits.mechanisms.base import Answer
from dpbandits.policies.contract import Release


class Contest(NamedTuple):
    """Public state of `AdaPTT`, one entry an arm unless said."""

    # (noised sum of rewards, rounds) of the newest batches, oldest first
    batches: tuple[tuple[tuple[float, int], ...], ...]
    phases: tuple[int, ...]  # batches released
    pulls: tuple[int, ...]  # rounds told
    open: tuple[int, ...]  # rounds told since the last release
    t: int  # rounds told, all arms
    arm: int  # the identified arm; −1: none yet
    decided: int  # rounds that took


def windows(state: Contest) -> tuple[list[float], list[int]]:
    """Every arm's mean and rounds over its newest batches."""
    rounds = [sum(n for _, n in batches) for batches in state.batches]
    return [
        math.fsum(total for total, _ in b) / n for b, n in zip(state.batches, rounds, strict=True)
    ], rounds


def counted(state: Contest, release: Release, keep: int) -> Contest:
    """The contest after one plan: counts move by what was told, released arms get a new batch in
    their window.
    """
    pulls, open_ = list(state.pulls), list(state.open)
    batches, phases = list(state.batches), list(state.phases)
    for arm, times in release.told:
        pulls[arm] += times
        open_[arm] += times
    for arm, answer in zip(release.coordinates, release.answers, strict=True):
        total, rounds, _ = Answer(*answer)
        batches[arm] = (*batches[arm], (total, rounds))[-keep:]
        phases[arm], open_[arm] = phases[arm] + 1, 0
    return state._replace(
        batches=tuple(batches),
        phases=tuple(phases),
        pulls=tuple(pulls),
        open=tuple(open_),
        t=release.round,
    )
