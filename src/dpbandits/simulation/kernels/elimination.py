"""Successive elimination, with and without privacy: one event an arm and epoch (or pass)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpbandits.simulation.parts.jit import elimination_width, epoch, jit
from dpbandits.simulation.parts.primitives import block_sum, laplace, play


@jit
def drop_arms(alive: Any, means: Any, width: float) -> None:
    top = means[alive].max()
    for arm in range(len(alive)):
        if alive[arm] and top - means[arm] > width:
            alive[arm] = False


@jit
def play_elimination(
    private: bool,
    eps: float,
    beta: float,
    guess: int,
    scale: float,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int, int, int]:
    """DP-SE (private) or successive elimination by passes. `guess` > 0: guess-and-double.

    Returns (releases, events, the one arm left or −1, rounds until it was alone).
    """
    arms = probabilities.shape[0]
    plays, alive = np.zeros(arms, np.int64), np.ones(arms, np.bool_)
    # sums and counts not yet released, kept over restarts
    open_, opened = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    sums, n, means = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms)
    t, at, releases, events, stage, decided = 0, 0, 0, 0, 1, 0
    while t < rounds:
        left = alive.sum()
        if private:
            size, width = epoch(stage, left, beta if guess == 0 else 1.0 / guess, eps)
        else:
            size, width = 1, elimination_width(stage, arms, beta)
        if left == 1:
            size = max(1, guess - t) if guess > 0 else rounds
        played = 0
        for arm in range(arms):
            if not alive[arm] or t >= rounds:
                continue
            played += 1
            times = min(size, rounds - t)
            at = play(arm, times, t, plays, checkpoints, out, at)
            t, events, opened[arm] = t + times, events + 1, opened[arm] + times
            if times < size:
                return releases, events, arm if left == 1 else -1, decided
            if left > 1 or guess > 0:
                open_[arm] += block_sum(rng, arm, times, values, probabilities)
        if played < left:  # the horizon came between two arms: nothing of this epoch is released
            break
        if left > 1:
            for arm in range(arms):
                if alive[arm]:
                    if private:
                        means[arm] = (open_[arm] + laplace(rng, scale)) / (steps * opened[arm])
                    else:
                        sums[arm] += open_[arm]
                        n[arm] += opened[arm]
                        means[arm] = sums[arm] / (steps * n[arm])
                    open_[arm], opened[arm], releases = 0, 0, releases + 1
            drop_arms(alive, means, width)
            stage += 1
            decided = t if alive.sum() == 1 else 0
        if guess > 0 and t >= guess:
            ratio = t // guess
            while ratio > 0:
                ratio, guess = ratio // 2, guess * 2
            alive[:], stage, decided = True, 1, 0
    return releases, events, int(np.argmax(alive)) if alive.sum() == 1 else -1, decided
