"""Bounds that hold for all instances at once: the worst gaps for a number of arms and rounds.

An arm whose gap is below a threshold costs at most that a round; the others at most (K − 1) times
the largest Δ·E[plays]. Both are bounded with Hoeffding's inequality for any means, so that
√(KT ln T) + K ln T/ε comes out with constants (Audibert and Bubeck 2009; Sajed and Sheffet 2019,
Theorem 4.4; Hu, Huang, Mehta and Hegde 2024, Theorem 3, Corollary 11).
"""

from __future__ import annotations

import math

import numpy as np

from dpbandits.policies.bandit.forgetful import AnytimeLazyUCB
from dpbandits.policies.bandit.ucb import UCB1
from dpbandits.policies.bounds.batches import lazy_low
from dpbandits.policies.bounds.experts import ftrl_later, prefix_worst
from dpbandits.policies.bounds.tails import excess
from dpbandits.policies.contract import Policy
from dpbandits.policies.experts.leaders import DecreasingHedge, TreeFTRL
from dpbandits.policies.experts.noisy_leader import RNMFTNL, NaiveFTNL, PrefixExponential
from dpbandits.policies.identification.elimination import DPSE


def split(rounds: int, arms: int, over_gap: float, each: float) -> float:
    """min over a threshold D of D·T + (K − 1)(over_gap/D + each)."""
    others = arms - 1
    return 2.0 * math.sqrt(others * over_gap * rounds) + others * each


def instance_independent_bound(policy: Policy, rounds: int) -> float:
    """No more than this is lost in expectation, whatever the means; NaN where we have no proof of a
    number.

    UCB1; AnytimeLazyUCB; DPSE with a known horizon; DecreasingHedge; RNMFTNL; NaiveFTNL;
    PrefixExponential; TreeFTRL. NaN for LazyDPTS, whose O(√(KT ln T) + K ln T/ε) (Hu, Huang, Mehta
    and Hegde 2024, Theorem 5) has no constants.
    """
    log_t, arms = math.log(max(2, rounds)), policy.arms
    if isinstance(policy, UCB1):
        found = split(rounds, arms, 8.0 * log_t, 1.0 + math.pi**2 / 3.0)
    elif isinstance(policy, AnytimeLazyUCB):
        found = lazy_worst(policy, rounds, log_t)
    elif isinstance(policy, DPSE) and policy.beta is not None:
        found = elimination_worst(policy, rounds, policy.beta)
    elif isinstance(policy, DecreasingHedge):
        found = math.sqrt(rounds * math.log(arms))
    elif isinstance(policy, RNMFTNL | NaiveFTNL):
        found = leader_worst(policy, rounds)
    elif isinstance(policy, PrefixExponential):
        found = prefix_worst(arms, rounds, float(policy.epsilon))
    elif isinstance(policy, TreeFTRL):
        found = tree_worst(policy, rounds)
    else:
        return math.nan
    return min(float(rounds), found)


def lazy_worst(policy: AnytimeLazyUCB, rounds: int, log_t: float) -> float:
    """Δ·E[plays] <= 96 ln T/min(Δ, ε) + 3: batches up to 2^d, d = ⌈lg(24 ln T/(Δ min(Δ, ε)))⌉, are
    played; later ones have chance T⁻³ and less (proofs/anytime_lazy_ucb.md).
    """
    eps = float(policy.epsilon)
    low = lazy_low(policy.arms + 1, rounds, excess(eps, policy.grid))
    return split(rounds, policy.arms, 96.0 * log_t, 96.0 * log_t / eps + 3.0) + low


def elimination_worst(policy: DPSE, rounds: int, beta: float) -> float:
    """Δ·pulls <= 171 L/Δ + 32 L/ε + 3, L = ln(8K e²/β), e <= lg T + 1: the epochs of Lemma 4.2."""
    eps = float(policy.epsilon)
    log = math.log(8.0 * policy.arms * (math.log2(rounds) + 1.0) ** 2 / beta)
    fails = beta * (1.0 + 2.0 * excess(eps, policy.grid)) * math.pi**2 / 24.0
    return split(rounds, policy.arms, 171.0 * log, 32.0 * log / eps + 3.0) + rounds * fails


def tree_worst(policy: TreeFTRL, rounds: int) -> float:
    """Round 1 by equal weights loses at most 1 − 1/K; later ones have no gap in their bound."""
    horizon = policy.horizon
    later = ftrl_later(policy.arms, rounds, horizon, horizon.bit_length(), policy.scale)
    return 1.0 - 1.0 / policy.arms + later


def leader_worst(policy: RNMFTNL | NaiveFTNL, rounds: int) -> float:
    """Epoch by epoch, with p(Δ) the chance of an action of gap Δ: D + K·max over Δ >= D of Δ·p(Δ),
    at the best D (the split of Corollary 11).
    """
    edges = np.concatenate([np.geomspace(1e-9, 1.0, 400), [1.0]])
    total, played, length = 1.0, 1, 1
    while played < rounds:
        following = min(2 * length, rounds - played)
        chances = policy.chance(edges[:-1], length)
        later = np.maximum.accumulate((edges[1:] * chances)[::-1])[::-1]
        total += following * min(1.0, float(np.min(edges[:-1] + policy.arms * later)))
        played, length = played + following, 2 * length
    return total
