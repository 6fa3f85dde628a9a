"""KL-UCB's arm while it stays the same: what is told by one divergence is what all indices say."""

import math
from typing import Any

import numpy as np
import pytest

from dpbandits.policies.formulas.indices import kl_level, kl_ucb
from dpbandits.simulation.kernels import rounds, streaks
from dpbandits.simulation.parts.jit import inline, specialised
from dpbandits.simulation.parts.primitives import argmax

OFTEN = ((0.5, 0.5), (0.3, 0.6, 0.59, 0.61))
MEANS = (*OFTEN, (0.03, 0.036), (1.0, 0.999), (0.0, 0.0, 0.001))
"""Equals and a common case, where arms often stay; clicks and edges, where arms may alternate."""


def best(t: int, means: Any, n: Any, constant: float) -> int:
    level = kl_level(math.log(t), constant)
    return int(np.argmax([kl_ucb(mean, k, level) for mean, k in zip(means, n, strict=True)]))


@pytest.mark.parametrize("chances", MEANS)
@pytest.mark.parametrize(("constant", "response"), [(0.0, False), (3.0, False), (0.0, True)])
def test_an_arm_that_stays_has_the_largest_index(
    chances: tuple[float, ...], constant: float, response: bool
) -> None:
    """Round by round, beside every arm's index. Responses have means outside 0 … 1."""
    rng, arms = np.random.default_rng(7), len(chances)
    n, sums, told = np.zeros(arms, np.int64), np.zeros(arms), 0
    streak = np.zeros(streaks.SIZE)
    streak[streaks.ARM], streak[streaks.SPAN] = -1.0, 16.0
    for t in range(1, 1500):
        means = sums / np.maximum(n, 1)
        arm = t - 1
        if t > arms:
            arm = best(t, means, n, constant)
            if streaks.is_still_best.py_func(t, streak, means, n):
                told += 1
                assert int(streak[streaks.ARM]) == arm, t
            else:
                streaks.watch.py_func(t, arm, streak, means, n, constant)
        x = float(rng.random() < chances[arm])
        sums[arm] += (x - 0.27) / 0.46 if response else x
        n[arm] += 1
    assert told > 500 or chances not in OFTEN


@inline
def by_all_indices(rule: int, t: int, p: Any, s: Any) -> int:
    rounds.fill_scores(rule, t, p, s)
    arm: int = argmax(s.scores)
    return arm


@pytest.mark.long
def test_the_player_plays_what_all_indices_say() -> None:
    """Bit for bit, over long runs, from a compiled loop that computes every index in every
    round.
    """
    parts = {"RULE": rounds.KL_UCB, "FEEDBACK": rounds.RESPONSE, "COUNTER": rounds.EXACT}
    run = specialised(rounds.run_rounds, "all", arm_to_play=by_all_indices, **parts)
    plain = specialised(rounds.drive_rounds, "all", run_rounds=run)
    fast = rounds.round_player(rounds.KL_UCB, rounds.RESPONSE, rounds.EXACT)
    at = np.array([1_000, 30_000, 200_000])
    for seed, chances in enumerate((*MEANS, tuple(np.linspace(0.2, 0.3, 20)))):
        found = []
        for player in (plain, fast):
            law = np.stack([1 - np.array(chances), chances], axis=1)
            out = np.zeros((len(at), len(chances)), np.int64)
            numbers = tuple(rounds.Numbers(0.0, 1.0 * (seed % 2), 0.0, 0.73))
            rng = np.random.default_rng(seed)
            player(numbers, 1, np.array([0, 1]), law, 200_000, at, rng, out)
            found.append((out.tolist(), rng.random()))
        assert found[0] == found[1], chances
