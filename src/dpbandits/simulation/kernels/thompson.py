"""Thompson sampling with Beta laws, round by round: ThompsonBeta."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpbandits.simulation.parts.beta import beta
from dpbandits.simulation.parts.jit import jit
from dpbandits.simulation.parts.primitives import play


@jit
def play_thompson(
    probabilities: Any, rounds: int, checkpoints: Any, rng: Any, out: Any
) -> tuple[int, int]:
    """ThompsonBeta. Returns (releases, events)."""
    arms = probabilities.shape[0]
    plays, successes = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    at = 0
    for t in range(rounds):
        chosen, top = 0, -1.0
        for arm in range(arms):
            sample = beta(successes[arm] + 1.0, plays[arm] - successes[arm] + 1.0, rng)
            if sample > top:
                chosen, top = arm, sample
        at = play(chosen, 1, t, plays, checkpoints, out, at)
        successes[chosen] += rng.random() < probabilities[chosen, 1]
    return rounds, rounds
