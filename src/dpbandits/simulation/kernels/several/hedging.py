"""Full information with a release every round: follow the leader, Decreasing Hedge, FTRL on a tree;
for independent rewards by their laws, or for whole records.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.parts.jit import ftrl_rate, hedge_rate, inline, jit
from dpbandits.simulation.parts.primitives import argmax, copy_to, laplace, reward

LEADER, HEDGE, FTRL = range(3)


class Hedging(NamedTuple):
    """scale: of a draw's noise, in grid steps. levels: of a tree."""

    rule: int
    weighted: bool
    horizon: int
    levels: int
    scale: float
    steps: int


class World(NamedTuple):
    """What is played: records (of no row: independent rewards by their laws), and the rewards that
    are summed up as the actions earn them, perhaps none.
    """

    records: Any
    drawn: bool
    rewards: Any


@jit
def weigh(rate: float, totals: Any, weights: Any) -> None:
    """Weights proportional to exp(rate · total), in place."""
    top, mass = totals.max(), 0.0
    for action in range(len(totals)):
        weights[action] = math.exp(rate * (totals[action] - top))
        mass += weights[action]
    for action in range(len(totals)):
        weights[action] /= mass


@jit
def drawn(rng: Any, weights: Any) -> int:
    u = rng.random()
    for action in range(len(weights) - 1):
        u -= weights[action]
        if u < 0.0:
            return action
    return len(weights) - 1


@jit
def add_tree_noise(
    exact: Any, noised: Any, leaf: int, new: Any, scale: float, rng: Any, totals: Any
) -> None:
    """Put a vector of rewards into every action's binary tree; `totals` become its padded sums (in
    grid steps).
    """
    actions, levels = exact.shape
    done, spare = 0, levels
    while leaf >> done & 1 == 0:
        done += 1
    left = leaf
    while left > 0:
        spare -= left & 1
        left >>= 1
    for action in range(actions):
        node = new[action]
        for level in range(done):
            node += exact[action, level]
            exact[action, level], noised[action, level] = 0, 0
        exact[action, done], noised[action, done] = node, node + laplace(rng, scale)
        total = noised[action].sum()
        for _ in range(spare):
            total += laplace(rng, scale)
        totals[action] = total


@inline
def set_rewards(t: int, law: Any, records: Any, drawn_rows: bool, rng: Any, new: Any) -> int:
    """The rewards of round t + 1, in place: independent ones by their laws or, if there are
    records, those of a row, whose number is returned.
    """
    values, probabilities = law
    if len(records) == 0:
        for action in range(len(new)):
            new[action] = reward(rng, action, values, probabilities)
        return -1
    row = int(rng.random() * len(records)) if drawn_rows else t
    copy_to(new, records[row])
    return row


@inline
def keep(t: int, plays: Any, gain: float, checkpoints: Any, out: Any, gained: Any, at: int) -> int:
    """Keep what was counted if round t is a checkpoint; returns the next one's place."""
    while at < len(checkpoints) and checkpoints[at] <= t:
        copy_to(out[at], plays)
        if len(gained) > 0:
            gained[at] = gain
        at += 1
    return at


@jit
def set_stakes(p: Any, t: int, totals: Any, weights: Any, rng: Any) -> None:
    """What round t plays, in place: a weight for each action, 1 for the only one."""
    if p.rule == LEADER:
        action = argmax(totals)
    else:
        actions = len(totals)
        rate = hedge_rate(t, actions) if p.rule == HEDGE else ftrl_rate(p.horizon, actions)
        weigh(rate / p.steps, totals, weights)
        if p.weighted:
            return
        action = drawn(rng, weights)
    weights[:] = 0.0
    weights[action] = 1.0


@jit
def play_every_round(
    numbers: Any,
    world: Any,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
    gained: Any,
) -> tuple[int, int]:
    """Returns (releases, events). gained: what was earned, at every checkpoint; perhaps empty."""
    p, w, actions = Hedging(*numbers), World(*world), out.shape[1]
    plays, totals = np.zeros(actions, out.dtype), np.zeros(actions)
    new, weights = np.zeros(actions, np.int64), np.zeros(actions)
    nodes = np.zeros((2, actions, p.levels), np.int64)
    at, gain = 0, 0.0
    for t in range(rounds):
        set_stakes(p, t + 1, totals, weights, rng)
        row = set_rewards(t, (values, probabilities), w.records, w.drawn, rng, new)
        for action in range(actions):
            plays[action] += weights[action]
            if len(gained) > 0:
                gain += weights[action] * w.rewards[row, action]
            if p.rule != FTRL:
                totals[action] += new[action]
        at = keep(t + 1, plays, gain, checkpoints, out, gained, at)
        if p.rule == FTRL:
            add_tree_noise(nodes[0], nodes[1], t + 1, new, p.scale, rng, totals)
    return rounds, rounds
