"""Simulated campaigns whose releases the real vault makes, folded into what beliefs are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpbandits import Bernoulli
from dpbandits.checks.checks import horizon_of
from dpbandits.noise import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.session.beliefs import (
    GROWTH,
    ReleaseHistory,
    counted_rows,
    in_rewards,
    level,
    row_bounds,
    row_levels,
)
from dpbandits.session.evidence import NoiseMoments
from dpbandits.simulation.plain import open_vault, play_events


class Watched:
    """A vault whose releases are folded in as they happen."""

    def __init__(self, vault: Any, history: ReleaseHistory) -> None:
        self.vault, self.history = vault, history

    def __getattr__(self, name: str) -> Any:
        return getattr(self.vault, name)

    def release(self, *where: Any) -> Any:
        answered = self.vault.release(*where)
        self.history = self.history.after(answered)
        return answered


def campaign(
    policy: Policy, means: Any, rounds: int, seed: int, growth: float = GROWTH
) -> ReleaseHistory:
    """What was released in one campaign with rewards of 0 and 1."""
    rounds, noise = min(rounds, horizon_of(policy)), SimulatedNoise(seed)
    watched = Watched(open_vault(policy, noise), ReleaseHistory.of(policy, growth=growth))
    play_events(
        policy,
        Bernoulli(means),
        rounds,
        np.array([rounds]),
        noise=noise,
        seed=seed,
        rng=np.random.default_rng([seed, 5]),
        vault=watched,
    )
    return watched.history


def missed(history: ReleaseHistory, means: Any, delta: float) -> bool:
    """Whether an interval of any row of any arm misses. Rewards are 0 and 1: nothing is rounded."""
    law = history.reader.law
    assert law is not None
    history = replace(history, reader=replace(history.reader, rounding=0.0))
    noise = NoiseMoments(law)
    for at, arm in enumerate(history.arms):
        rows = counted_rows(history, arm)
        if rows:
            u = level(history, at, delta, len(noise.thetas))
            bounds = row_bounds(rows, noise, row_levels(len(rows), u, law.redraws))
            for low, high in bounds.tolist():
                low, high = in_rewards(history, low, high)
                if not low <= means[at] <= high:
                    return True
    return False
