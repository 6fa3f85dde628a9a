"""Policies on a matroid, or on super arms that are a matroid's bases: the greedy basis for indices
or for samples, played until the next release or drawn every round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.oracles.linear import tableau
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies import (
    DPKLCUCB,
    DPKLMAT,
    DPTSMAT,
    DPUCBMAT,
    KLOSM,
    OMM,
    CTSBeta,
    CTSGaussian,
)
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contract import Policy
from dpbandits.simulation.compiled.driver import UNLIMITED, player, player_together, read
from dpbandits.simulation.compiled.jit import (
    crossing,
    dp_klucb,
    growing_batch,
    inline,
    jit,
    kl_level,
    kl_ucb,
    lazy_ucb,
    ucb1,
)
from dpbandits.simulation.compiled.parts import improve
from dpbandits.simulation.compiled.thompson import beta

UCB, KL_OSM, DP_UCB, DP_KL, BETA, GAUSSIAN, DP_TS = range(7)
# in place of a first batch: release every reward; batches of 1, 2, 4, … released alone
EXACT, FORGET = 0, -1


UNSEEN = 1e15  # as in `policies/matroid.py`


class Numbers(NamedTuple):
    """The constants of a policy: `eps` is an element's share of the budget, `scale` that of its
    noise in grid steps; `problem` is the matroid's tableau (`known`), or what `listed.py` says.
    """

    rule: int
    eps: float
    constant: float
    first: int
    alpha: float
    scale: float
    problem: Any


class Greedy(NamedTuple):
    """The tableau of the basis in `s.chosen`, and buffers for the next one."""

    table: Any
    column: Any
    order: Any
    weights: Any
    prime: int


class Samples(NamedTuple):
    """The basis, the samples' standard deviations, and the number of elements without a release
    except loops.
    """

    greedy: Greedy
    sds: Any
    unseen: Any


@jit
def begin(p: Any, s: Any) -> Any:
    """Return the tableau with its first basis."""
    table, first, prime = p.problem
    arms, rank = table.shape
    column = np.full(arms, -1)
    for j in range(rank):
        s.chosen[j], column[first[j]] = first[j], j
    return Greedy(table.copy(), column, np.arange(arms), np.zeros(arms), prime)


@jit
def start(p: Any, s: Any) -> Any:
    arms, unseen, greedy = len(s.n), np.zeros(1, np.int64), begin(p, s)
    for e in range(arms):
        unseen[0] += int(np.any(greedy.table[e] != 0.0))
    return Samples(greedy, np.zeros(arms), unseen)


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    if p.first > 0:
        return growing_batch(s.n[arm], p.first, p.alpha)
    return max(1, 2 * s.n[arm]) if p.first == FORGET else 1


@jit
def set_scores(
    rule: int, t: int, rank: int, means: Any, n: Any, eps: float, constant: float, weights: Any
) -> None:
    """Compute indices at round t; 0 for seen elements while a sampling policy covers the others."""
    log_t = math.log(rank * t) if rule == DP_UCB else math.log(t)
    level = kl_level(log_t, constant) if rule == KL_OSM else constant * log_t
    for e in range(len(n)):
        if n[e] == 0:
            weights[e] = UNSEEN
        elif rule == UCB:
            weights[e] = ucb1(means[e], n[e], log_t)
        elif rule == KL_OSM:
            weights[e] = kl_ucb(means[e], n[e], level)
        elif rule == DP_UCB:
            weights[e] = lazy_ucb(means[e], n[e], log_t, eps)
        elif rule == DP_KL:
            weights[e] = dp_klucb(means[e], n[e], level, eps)
        else:
            weights[e] = 0.0


@jit
def set_samples(
    rule: int, t: int, rank: int, means: Any, n: Any, sds: Any, eps: float, weights: Any, rng: Any
) -> None:
    """Draw samples at round t; all elements except loops have a release, or a prior."""
    bonus = 3.0 * math.log(rank * t) / eps
    for e in range(len(n)):
        if rule == BETA:
            ones = round(means[e] * n[e])
            weights[e] = beta(ones + 1.0, n[e] - ones + 1.0, rng)
        elif rule == DP_TS:
            weights[e] = means[e] + bonus / max(1, n[e]) + rng.standard_normal() * sds[e]
        else:
            weights[e] = means[e] + rng.standard_normal() * sds[e]


@jit
def first_swap(greedy: Any, basis: Any, means: Any, n: Any, t: int, rounds: int, eps: float) -> int:
    """Return the rounds for which DPUCB-MAT's basis at round t is still the greedy one, at most
    `rounds`.
    """
    table, weights = greedy.table, greedy.weights
    rank, end = len(basis), t + rounds
    if rounds == 1:
        return 1
    log_end, lowest = math.log(rank * (end - 1)), math.inf
    for f in basis:
        lowest = min(lowest, weights[f])
    for e in range(len(n)):
        if greedy.column[e] >= 0 or n[e] == 0:
            continue
        # indices grow, so e cannot overtake an element that is above this already
        top = lazy_ucb(means[e], n[e], log_end, eps)
        if top < lowest:
            continue
        for j in range(rank):
            f = basis[j]
            if table[e, j] != 0.0 and weights[f] <= top and n[f] > 0:
                end = crossing(f, means[f], n[f], e, means[e], n[e], t, end, eps, rank)
    return end - t


@inline
def choose(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose the greedy basis for indices, or for weights that cover unseen elements."""
    greedy = state.greedy
    basis = s.chosen[: greedy.table.shape[1]]
    set_scores(p.rule, t, len(basis), s.means, s.n, p.eps, p.constant, greedy.weights)
    improve(greedy.table, basis, greedy.column, greedy.weights, greedy.order, greedy.prime)
    if p.rule != DP_UCB:
        return len(basis), UNLIMITED
    times = UNLIMITED
    for arm in basis:
        times = min(times, batch(p, s, state, arm) - s.open_[arm])
    return len(basis), first_swap(greedy, basis, s.means, s.n, t, times, p.eps)


@inline
def choose_sampled(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose the greedy basis for samples, drawn every round; before that, a basis that covers new
    elements.
    """
    greedy = state.greedy
    basis = s.chosen[: greedy.table.shape[1]]
    if state.unseen[0] > 0 and p.rule != BETA:
        return choose(p, s, state, t, rng)
    set_samples(p.rule, t, len(basis), s.means, s.n, state.sds, p.eps, greedy.weights, rng)
    order = np.argsort(-greedy.weights)
    improve(greedy.table, basis, greedy.column, greedy.weights, order, greedy.prime)
    return len(basis), 1


@inline
def fold_block(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    """Add an element's noisy block to its sum, or replace the sum."""
    if p.first == FORGET:
        s.totals[arm], s.n[arm] = 0, 0
    read(p, s, state, arm, total, rng)


@inline
def learn_samples(p: Any, s: Any, state: Any, t: int) -> None:
    """Update the standard deviations of samples of released elements."""
    for arm in s.chosen[: state.greedy.table.shape[1]]:
        if s.open_[arm] > 0:
            continue
        state.unseen[0] -= int(s.draws[arm] == 1)
        state.sds[arm] = 1.0 / math.sqrt(s.n[arm])


INDICES = {
    "Numbers": Numbers,
    "start": start,
    "choose": choose,
    "batch": batch,
    "read": fold_block,
}
SAMPLES = INDICES | {"choose": choose_sampled, "learn": learn_samples}
play_indices = player("matroid_indices", **INDICES)
play_samples = player("matroid_samples", **SAMPLES)
play_indices_together = player_together("matroid_indices", **INDICES)
play_samples_together = player_together("matroid_samples", **SAMPLES)


# The constants of each policy


RULES: dict[type[Policy], int] = {
    OMM: UCB,
    KLOSM: KL_OSM,
    DPUCBMAT: DP_UCB,
    DPKLMAT: DP_KL,
    DPKLCUCB: DP_KL,
    CTSBeta: BETA,
    CTSGaussian: GAUSSIAN,
    DPTSMAT: DP_TS,
}


@lru_cache(maxsize=64)
def known(problem: Any) -> tuple[Any, ...] | None:
    """Return table, first basis and prime of a matroid's tableau, cached; None for other problems,
    and without a tableau.
    """
    coordinates = tableau(problem) if isinstance(problem, Matroid) else None
    return (
        None
        if coordinates is None
        else (coordinates.table, np.array(coordinates.basis, np.int64), coordinates.prime)
    )


def on_matroid(policy: Any, steps: int, together: bool = False) -> Callable[..., Any] | None:
    """Return the kernel; None if the matroid has no tableau, so that the policy is played plainly.

    Args:
        together: True for the rows of a table, False for independent rewards.
    """
    coordinates = known(policy.problem)
    if coordinates is None:
        return None
    numbers = (*index_numbers(policy, steps), coordinates)
    if numbers[0] >= BETA:
        loop = play_samples_together if together else play_samples
    else:
        loop = play_indices_together if together else play_indices
    return partial(loop, numbers, steps)


def index_numbers(policy: Any, steps: int) -> tuple[Any, ...]:
    """Return the policy's part of `matroid.Numbers`."""
    rule, private = RULES[type(policy)], isinstance(policy, PrivatePolicy)
    share = policy.share if private else 1.0
    return (
        rule,
        share,
        float(getattr(policy, "level", getattr(policy, "c", 0.0))),
        getattr(policy, "first", FORGET if private else EXACT),
        float(getattr(policy, "alpha", 1.5)),
        steps / share if private else 0.0,
    )
