"""Full information: leaders by epochs (memory and cost of an epoch are those of one pass over the
actions), and hedging every round.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpbandits.simulation.parts.jit import ftrl_rate, hedge_rate, jit
from dpbandits.simulation.parts.primitives import argmax, block_sum, laplace, play, reward

LAPLACE, GUMBEL, EXPONENTIAL = range(3)
LEADER, HEDGE, FTRL = range(3)


@jit
def noisy_winner(
    noise: int, scale: float, rounds: int, values: Any, probabilities: Any, rng: Any
) -> int:
    """The action with the largest noised sum of `rounds` fresh rewards; sums are drawn, compared
    and forgotten one by one.
    """
    winner, top = 0, -math.inf
    for action in range(probabilities.shape[0]):
        score = float(block_sum(rng, action, rounds, values, probabilities))
        if noise == LAPLACE:
            score += laplace(rng, scale)
        elif noise == GUMBEL:
            score -= scale * math.log(rng.standard_exponential())
        else:
            score += scale * rng.standard_exponential()
        if score > top:
            winner, top = action, score
    return winner


@jit
def play_epochs(
    noise: int,
    scale: float,
    prefix: bool,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Epochs of 1, 2, 4, … rounds; `prefix`: only a random first part of each is read. Returns
    (releases, events).
    """
    plays = np.zeros(probabilities.shape[0], out.dtype)
    t, at, releases, events, action, length = 0, 0, 0, 0, 0, 1
    while t < rounds:
        read = length // 2 + 1 + int(rng.random() * (length - length // 2)) if prefix else length
        at = play(action, min(length, rounds - t), t, plays, checkpoints, out, at)
        events += 1
        if t + read > rounds:
            break
        action = noisy_winner(noise, scale, read, values, probabilities, rng)
        releases += 1
        if read < length and t + read < rounds:
            events += 1
        t, length = t + length, 2 * length
    return releases, events


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


@jit
def play_every_round(
    rule: int,
    weighted: bool,
    horizon: int,
    levels: int,
    scale: float,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Follow the leader, Decreasing Hedge or FTRL on a tree. Returns (releases, events)."""
    actions = probabilities.shape[0]
    plays, totals = np.zeros(actions, out.dtype), np.zeros(actions)
    new, weights = np.zeros(actions, np.int64), np.empty(actions)
    exact, noised = np.zeros((actions, levels), np.int64), np.zeros((actions, levels), np.int64)
    at = 0
    for t in range(rounds):
        if rule == LEADER:
            at = play(argmax(totals), 1, t, plays, checkpoints, out, at)
        else:
            rate = hedge_rate(t + 1, actions) if rule == HEDGE else ftrl_rate(horizon, actions)
            weigh(rate / steps, totals, weights)
            if not weighted:
                at = play(drawn(rng, weights), 1, t, plays, checkpoints, out, at)
            else:
                for action in range(actions):
                    plays[action] += weights[action]
                while at < len(checkpoints) and checkpoints[at] <= t + 1:
                    out[at] = plays
                    at += 1
        for action in range(actions):
            new[action] = reward(rng, action, values, probabilities)
        if rule == FTRL:
            add_tree_noise(exact, noised, t + 1, new, scale, rng, totals)
        else:
            for action in range(actions):
                totals[action] += new[action]
    return rounds, rounds
