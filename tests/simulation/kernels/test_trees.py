"""DP-UCB by stretches has the law of DP-UCB round by round. All chances are 10⁻⁶ altogether."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpbandits.checks.law import smallest_p
from dpbandits.policies import DPUCB
from dpbandits.simulation.kernels.trees import tree_player
from dpbandits.simulation.parts.counters import popcount, tree_leaf
from dpbandits.simulation.parts.jit import dp_ucb_published, dp_ucb_tight, jit
from dpbandits.simulation.parts.leaps import blocks_of, first_dip
from dpbandits.simulation.parts.primitives import argmax, laplace, reward
from dpbandits.simulation.players.round_table import tree_ucb

FALSE_ALARM, STEPS = 1e-6, 1024
LONG = pytest.mark.long
COIN = ([0, STEPS], [[0.3, 0.7], [0.4, 0.6], [0.6, 0.4]])
THREE = ([0, 256, STEPS], [[0.2, 0.3, 0.5], [0.3, 0.4, 0.3], [0.1, 0.8, 0.1]])


@jit
def by_rounds(published, eps, gamma, horizon, scale, radius, values, law, marks, rng, out):
    """The policy as it is printed."""
    arms, at = len(law), 0
    n, sums, scores = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms)
    exact, noised = np.zeros((arms, 64), np.int64), np.zeros((arms, 64), np.int64)
    for t in range(marks[-1]):
        arm = t
        if t >= arms:
            for a in range(arms):
                mean, log_t = sums[a] / (STEPS * n[a]), math.log(t + 1)
                if published:
                    scores[a] = dp_ucb_published(mean, n[a], log_t, eps, arms, horizon, gamma)
                else:
                    scores[a] = dp_ucb_tight(mean, n[a], log_t, popcount(n[a]), radius)
            arm = argmax(scores)
        n[arm] += 1
        x = reward(rng, arm, values, law)
        sums[arm] = tree_leaf(exact[arm], noised[arm], n[arm], x, scale, rng, sums[arm])
        if t + 1 == marks[at]:
            out[at] = n
            at += 1


@pytest.mark.parametrize(
    ("preset", "eps", "law", "rounds", "runs"),
    [
        pytest.param("tight", 1, COIN, 300, 4000, marks=LONG),
        pytest.param("tight", 10, COIN, 3000, 2000, marks=LONG),
        pytest.param("tight", 10, THREE, 20_000, 600, marks=LONG),
        pytest.param("tight", 1000, COIN, 20_000, 600, marks=LONG),
        pytest.param("published", 40, COIN, 3000, 2000, marks=LONG),
        pytest.param("published", 1000, THREE, 20_000, 600, marks=LONG),
    ],
)
def test_stretches_have_the_law_of_rounds(preset, eps, law, rounds, runs):
    """Play counts at a third of the rounds and at their end, false-alarm rate 10⁻⁶/6 each."""
    policy = DPUCB(arms=3, epsilon=eps, horizon=rounds, preset=preset)
    values, chances = np.array(law[0]), np.array(law[1])
    fast, marks = tree_ucb(policy, STEPS), np.array([rounds // 3, rounds])
    node = rounds.bit_length() / float(policy.tree_epsilon)
    numbers = (preset == "published", float(eps), policy.gamma, rounds, STEPS * node, node)
    played = np.zeros((2, runs, 2, 3), np.int64)
    for run in range(runs):
        rng, other = np.random.default_rng([7, run]), np.random.default_rng([8, run])
        assert fast(values, chances, rounds, marks, rng, played[0, run]) == (rounds, rounds)
        by_rounds(*numbers, values, chances, marks, other, played[1, run])
    assert (played.sum(axis=3) == marks).all()
    assert smallest_p(*played.reshape(2, runs, 6)) > FALSE_ALARM / 6


@pytest.mark.parametrize(
    ("levels", "beyond"),
    [
        pytest.param(2, 0.0, marks=LONG),
        (4, 0.0),
        pytest.param(6, 0.0, marks=LONG),
        pytest.param(6, 1.0, marks=LONG),
    ],
)
def test_blocks_dip_as_their_noise_does(levels, beyond):
    """The first leaf that dips and its prefix sum, false-alarm rate 10⁻⁶/8 each."""
    scale, trials = 50.0, 400_000
    gap = blocks_of(scale).gap[levels] + beyond * scale
    found = dips(levels, gap, scale, trials, True, np.random.default_rng(9))
    drawn = dips(levels, gap, scale, trials, False, np.random.default_rng(10))
    assert min((table[:, 0] > 0).sum() for table in (found, drawn)) > 100
    assert smallest_p(found, drawn) > FALSE_ALARM / 8


@jit
def dips(levels, gap, scale, trials, skipped, rng):
    """By trial the first leaf that dips and its prefix sum, drawn as a whole or node by node."""
    b, table = blocks_of(scale), np.zeros((trials, 2), np.int64)
    for trial in range(trials):
        leaf = 0
        if skipped:
            leaf = first_dip(b, levels, gap, rng)
        else:
            for node in range(1, 1 << levels):
                b.noise[node] = laplace(rng, scale)
                b.prefix[node] = b.prefix[node & (node - 1)] + b.noise[node]
                if leaf == 0 and b.prefix[node] <= -gap:
                    leaf = node
        table[trial, 0], left = leaf, leaf
        while left:
            table[trial, 1] += b.noise[left]
            left &= left - 1
    return table


def test_one_player_a_preset():
    assert tree_player(True) is tree_player(True)
    assert tree_player(True) is not tree_player(False)
