"""CUCB-LDP2 with one radius for a super arm (`policies/super_arms.py`), on listed super arms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.compiled import super_arms
from dpbandits.simulation.compiled.driver import UNLIMITED, player
from dpbandits.simulation.compiled.jit import inline, jit, joint_level, report_square
from dpbandits.simulation.compiled.listed import Sets


class JointRadius(NamedTuple):
    """The constants of the policy.

    Args:
        eps: ε of one report.
        proved: True for the proved level.
        size: the most arms of a super arm.
        scale: of a report's noise, in grid steps.
        cover: super arms that contain all arms except loops, in a row, and the start of each and
            the end of the last.
        sets: as in `listed.py`.
        worth: as in `listed.py`.
    """

    eps: float
    proved: bool
    size: int
    scale: float
    cover: Any
    sets: Any
    worth: Any


class Radii(NamedTuple):
    """The squares of every arm's radius, and the arm that is reported."""

    squares: Any
    observed: Any


@jit
def start(p: Any, s: Any) -> Any:
    return Radii(np.zeros(len(s.n)), np.zeros(1, np.int64))


@jit
def uncovered(p: Any, s: Any) -> int:
    """Write the first super arm of the cover with an unseen arm into `s.chosen`; return its size, 0
    for none.
    """
    arms, starts = p.cover
    for i in range(len(starts) - 1):
        for arm in arms[starts[i] : starts[i + 1]]:
            if s.n[arm] == 0:
                s.chosen[: starts[i + 1] - starts[i]] = arms[starts[i] : starts[i + 1]]
                return starts[i + 1] - starts[i]
    return 0


@jit
def best_rooted(p: Any, s: Any, squares: Any) -> int:
    """Write the first super arm with the largest sum of means plus root of squares into `s.chosen`;
    return its size.
    """
    sets = Sets(*p.sets)
    best, most = 0, -math.inf
    for i in range(len(sets.starts) - 1):
        total, square = 0.0, 0.0
        for arm in sets.arms[sets.starts[i] : sets.starts[i + 1]]:
            total += s.means[arm] - sets.cost
            square += squares[arm]
        value = total + math.sqrt(square)
        if value > most:
            best, most = i, value
    first, last = sets.starts[best], sets.starts[best + 1]
    s.chosen[: last - first] = sets.arms[first:last]
    return last - first


@inline
def choose(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    size = uncovered(p, s)
    if size == 0:
        level = joint_level(t, p.size, p.eps) if p.proved else math.log(t)
        for arm in range(len(s.n)):
            state.squares[arm] = report_square(max(1, s.n[arm]), level, p.eps)
        size = best_rooted(p, s, state.squares)
    return size, UNLIMITED


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    return 1


@inline
def observe(p: Any, s: Any, state: Any, size: int) -> tuple[Any, int]:
    super_arms.least_seen(s, s.chosen, size, state.observed)
    return state.observed, 1


play_rooted = player(
    "rooted", Numbers=JointRadius, start=start, choose=choose, batch=batch, observe=observe
)
