"""CUCB-LDP2 with one radius for a super arm (`policies/super_arms.py`), where super arms
are written down.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.compiled import super_arms
from dpbandits.simulation.compiled.driver import FAR, player
from dpbandits.simulation.compiled.jit import inline, jit, joint_level, report_square
from dpbandits.simulation.compiled.listed import Sets


class JointRadius(NamedTuple):
    """proved: the level. scale: of a report's noise, in grid steps. cover: super arms that hold all
    arms but the loops, one after the other, and where each starts and the last one ends. sets,
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
    """squares: of every arm's radius. told: the arm that is."""

    squares: Any
    told: Any


@jit
def start(p: Any, s: Any) -> Any:
    return Radii(np.zeros(len(s.n)), np.zeros(1, np.int64))


@jit
def uncovered(p: Any, s: Any) -> int:
    """The first super arm of the cover with an unseen arm into `s.chosen`; its size, 0 if none."""
    arms, starts = p.cover
    for i in range(len(starts) - 1):
        for arm in arms[starts[i] : starts[i + 1]]:
            if s.n[arm] == 0:
                s.chosen[: starts[i + 1] - starts[i]] = arms[starts[i] : starts[i + 1]]
                return starts[i + 1] - starts[i]
    return 0


@jit
def best_rooted(p: Any, s: Any, squares: Any) -> int:
    """The first super arm with the largest sum of means and root of squares; its size."""
    sets = Sets(*p.sets)
    found, most = 0, -math.inf
    for i in range(len(sets.starts) - 1):
        total, square = 0.0, 0.0
        for arm in sets.arms[sets.starts[i] : sets.starts[i + 1]]:
            total += s.means[arm] - sets.cost
            square += squares[arm]
        value = total + math.sqrt(square)
        if value > most:
            found, most = i, value
    first, last = sets.starts[found], sets.starts[found + 1]
    s.chosen[: last - first] = sets.arms[first:last]
    return last - first


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    size = uncovered(p, s)
    if size == 0:
        level = joint_level(t, p.size, p.eps) if p.proved else math.log(t)
        for arm in range(len(s.n)):
            own.squares[arm] = report_square(max(1, s.n[arm]), level, p.eps)
        size = best_rooted(p, s, own.squares)
    return size, FAR


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    return 1


@inline
def observe(p: Any, s: Any, own: Any, size: int) -> tuple[Any, int]:
    super_arms.least_seen(s, s.chosen, size, own.told)
    return own.told, 1


play_rooted = player(
    "rooted", Numbers=JointRadius, start=start, choose=choose, batch=batch, observe=observe
)
