"""Full information: leaders by epochs. Memory and cost of an epoch are those of one pass over the
actions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpbandits.simulation.parts.jit import inline, jit
from dpbandits.simulation.parts.primitives import argmax, block_sum, laplace, play

LAPLACE, GUMBEL, EXPONENTIAL = range(3)

OVERLOOKED = 64.0 * math.log(2.0) + math.log(62.0)
"""−ln of the chance that an epoch may overlook: 62 epochs have 2^−64 together."""


@inline
def noise_of(noise: int, scale: float, rng: Any) -> float:
    """Noise of one sum."""
    if noise == LAPLACE:
        return float(laplace(rng, scale))
    draw = rng.standard_exponential()
    return -scale * math.log(draw) if noise == GUMBEL else scale * draw


@jit
def mean_steps(values: Any, probabilities: Any) -> Any:
    """Every action's expected reward, in grid steps."""
    means = np.zeros(probabilities.shape[0])
    for action in range(len(means)):
        for level in range(len(values)):
            means[action] += values[level] * probabilities[action, level]
    return means


@inline
def largest_sum(mean: float, rounds: int, low: float, high: float, log_odds: float) -> float:
    """What the sum of so many rewards in [low, high] exceeds with probability e^−log_odds at most
    (Bernstein).
    """
    third = (high - low) * log_odds / 3.0
    spread = 2.0 * rounds * (mean - low) * (high - mean) * log_odds
    return min(rounds * high, rounds * mean + third + math.sqrt(third * third + spread))


@jit
def noisy_winner(
    noise: int, scale: float, rounds: int, values: Any, probabilities: Any, means: Any, rng: Any
) -> int:
    """The action with the largest noised sum of `rounds` fresh rewards, the lowest on a tie; sums
    are drawn, compared and forgotten one by one.

    The action with the largest mean comes first. Of another one the sum is not drawn if its noise
    leaves it no way to the top, nor the noise if that has none to leave; a chance of 2^−64 in all
    is overlooked, less than one uniform number can tell. Hence most actions cost a comparison.
    """
    actions, low, high = len(means), float(values[0]), float(values[-1])
    log_odds = OVERLOOKED + math.log(2.0 * actions)
    widest = (high - low) * math.sqrt(0.5 * rounds * log_odds) + scale * log_odds  # Hoeffding
    winner = argmax(means)
    top = block_sum(rng, winner, rounds, values, probabilities) + noise_of(noise, scale, rng)
    first = winner
    for action in range(actions):
        mean = means[action]
        if action == first or rounds * mean + widest < top:
            continue
        most = largest_sum(mean, rounds, low, high, log_odds) + 1e-9 * rounds * high
        if most + scale * log_odds < top:
            continue
        draw = noise_of(noise, scale, rng)
        if most + draw < top:
            continue
        score = block_sum(rng, action, rounds, values, probabilities) + draw
        if score > top or (score == top and action < winner):
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
    means = mean_steps(values, probabilities)
    t, at, releases, events, action, length = 0, 0, 0, 0, 0, 1
    while t < rounds:
        read = length // 2 + 1 + int(rng.random() * (length - length // 2)) if prefix else length
        at = play(action, min(length, rounds - t), t, plays, checkpoints, out, at)
        events += 1
        if t + read > rounds:
            break
        action = noisy_winner(noise, scale, read, values, probabilities, means, rng)
        releases += 1
        if read < length and t + read < rounds:
            events += 1
        t, length = t + length, 2 * length
    return releases, events
