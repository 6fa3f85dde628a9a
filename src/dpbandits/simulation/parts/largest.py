"""How likely each arm is to have the largest of independent normal samples, or of mean + |normal|.

An arm's weight is ∫ f_a Π_{b≠a} F_b = ∫ (f_a/F_a) Π F_b, by Gauss–Legendre on panels no wider than
every arm asks for that is not constant there. A table keeps each arm's hazard f_a/F_a and ln F_a at
the nodes: when one arm changes, its column alone is computed anew, and with it all weights.
Panels are finer than is asked for, so that they serve many changes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.parts.jit import inline, jit

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)
MOST = 512
"""Panels. Those of all arms with nested laws, from one round to 10¹², are about 240."""

REACH = 8.5
"""Standard deviations beyond which a law is constant: a tail of 10⁻¹⁷."""

FINER = 0.6
BEFORE, ENOUGH = -40.0, -30.0
"""ln ΠF where panels begin, and where they may begin at the latest: e^−30 = 10⁻¹³."""

PANELS, TOP = range(2)


class Quadrature(NamedTuple):
    """edges: of the panels. nodes, spread: where and how much. hazards, logs: a row a node, a
    column an arm. sums: of `logs` over arms. now: how many panels (0: they serve no more), and the
    largest mean they were made for.
    """

    edges: Any
    nodes: Any
    spread: Any
    hazards: Any
    logs: Any
    sums: Any
    now: Any


@jit
def empty_table(arms: int) -> Any:
    size = MOST * len(NODES)
    nodes, spread, sums = np.empty(size), np.empty(size), np.empty(size)
    hazards, logs = np.empty((size, arms)), np.empty((size, arms))
    return Quadrature(np.empty(MOST + 1), nodes, spread, hazards, logs, sums, np.zeros(2))


@inline
def law(u: float, optimistic: bool) -> tuple[float, float]:
    """Density and distribution function of a standard normal, or of its absolute value."""
    density = math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    if not optimistic:
        return density, max(1e-300, 0.5 * math.erfc(-u / math.sqrt(2.0)))
    if u < 0.0:
        return 0.0, 1e-300
    return 2.0 * density, max(1e-300, math.erf(u / math.sqrt(2.0)))


@inline
def width(arms: int) -> float:
    """Widest panel, in standard deviations: the largest of K normals varies at 1/√(2 ln K)."""
    return 2.0 if arms < 5 else 3.6 / math.sqrt(2.0 * math.log(arms))


@jit
def log_below(x: float, means: Any, sds: Any, optimistic: bool) -> float:
    """ln Π F(x); anything below BEFORE when it is."""
    total = 0.0
    for arm in range(len(means)):
        total += math.log(law((x - means[arm]) / sds[arm], optimistic)[1])
        if total < BEFORE:
            break
    return total


@jit
def lay_panels(table: Any, means: Any, sds: Any, optimistic: bool) -> None:
    top, high = means.max(), (means + 9.0 * sds).max()
    low = top if optimistic else (means - 9.0 * sds).max()
    right = high
    for _ in range(12):
        middle = 0.5 * (low + right)
        if log_below(middle, means, sds, optimistic) < BEFORE:
            low = middle
        else:
            right = middle
    x, panels, share = low, 0, FINER * width(len(means))
    table.edges[0] = x
    while x < high and panels < MOST:
        step = (high - x) / (MOST - panels) if panels > MOST // 2 else 0.0
        least = high - x
        for arm in range(len(means)):
            if x < means[arm] + REACH * sds[arm]:
                least = min(least, share * sds[arm])
        x += max(step, least)
        panels += 1
        table.edges[panels] = x
    table.now[PANELS], table.now[TOP] = panels, top
    for panel in range(panels):
        half = 0.5 * (table.edges[panel + 1] - table.edges[panel])
        for at in range(len(NODES)):
            node = panel * len(NODES) + at
            table.nodes[node] = table.edges[panel] + half * (1.0 + NODES[at])
            table.spread[node] = half * NODE_WEIGHTS[at]


@jit
def fill_column(table: Any, arm: int, mean: float, sd: float, optimistic: bool) -> None:
    for node in range(int(table.now[PANELS]) * len(NODES)):
        density, below = law((table.nodes[node] - mean) / sd, optimistic)
        table.hazards[node, arm] = density / (sd * below) * table.spread[node]
        table.logs[node, arm] = math.log(below)


@jit
def serves(table: Any, arm: int, means: Any, sds: Any, optimistic: bool) -> bool:
    """Whether the panels are right for this arm's new law, too."""
    panels, mean, sd = int(table.now[PANELS]), means[arm], sds[arm]
    if panels == 0 or (optimistic and means.max() != table.now[TOP]):
        return False
    if table.edges[panels] < mean + 8.0 * sd or (not optimistic and table.sums[0] > ENOUGH):
        return False
    for panel in range(panels):
        left, right = table.edges[panel], table.edges[panel + 1]
        inside = right > mean - REACH * sd and left < mean + REACH * sd
        if inside and right - left > width(len(means)) * sd:
            return False
    return True


@jit
def arm_changed(table: Any, arm: int, means: Any, sds: Any, optimistic: bool) -> None:
    """Keep the table for the arm's new law, or give it up."""
    if table.now[PANELS] > 0:
        size = int(table.now[PANELS]) * len(NODES)
        table.sums[:size] -= table.logs[:size, arm]
        fill_column(table, arm, means[arm], sds[arm], optimistic)
        table.sums[:size] += table.logs[:size, arm]
        if not serves(table, arm, means, sds, optimistic):
            table.now[PANELS] = 0.0


@jit
def set_weights(table: Any, means: Any, sds: Any, optimistic: bool, weights: Any) -> None:
    """Each arm's probability of the largest sample; errors below 1e-10."""
    if table.now[PANELS] == 0:
        lay_panels(table, means, sds, optimistic)
        for arm in range(len(means)):
            fill_column(table, arm, means[arm], sds[arm], optimistic)
        for node in range(int(table.now[PANELS]) * len(NODES)):
            table.sums[node] = table.logs[node].sum()
    weights[:] = 0.0
    for node in range(int(table.now[PANELS]) * len(NODES)):
        below = math.exp(table.sums[node])
        if below > 1e-25:
            for arm in range(len(weights)):
                weights[arm] += table.hazards[node, arm] * below
    weights /= weights.sum()
