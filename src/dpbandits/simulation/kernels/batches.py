"""Index policies that fill one arm's batch at a time: AdaP-UCB, AdaP-KLUCB, AdaC-UCB, DP-KLUCB,
DP-IMED, DP-Rate-IMED, Anytime-Lazy-UCB.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.simulation.kernels.driver import FAR, player
from dpbandits.simulation.parts.jit import (
    adac_ucb,
    adap_klucb,
    adap_ucb,
    clip01,
    crossing,
    dp_imed,
    dp_klucb,
    growing_batch,
    inline,
    jit,
    kl_level,
    lazy_ucb,
    rate_imed,
    settling_batch,
)
from dpbandits.simulation.parts.primitives import gaussian, laplace

ADAP_UCB, ADAP_KLUCB, ADAC_UCB, DP_KLUCB, DP_IMED, RATE_IMED, LAZY_UCB = range(7)


class Numbers(NamedTuple):
    """first: rounds in an arm's first batch, each further one growing its arm by alpha (RATE_IMED:
    by what its index asks for, alpha at most); 0: doubling episodes that forget. scale: of the
    noise, in grid steps. counted: draws that RATE_IMED counts, at most; doubt, trust: what its
    rate counts for.
    """

    rule: int
    eps: float
    scale: float
    constant: float = 0.0
    first: int = 0
    alpha: float = 2.0
    counted: int = FAR
    doubt: float = 0.0
    trust: float = 1.0


class KeptScores(NamedTuple):
    """Scores of RATE_IMED, which hold until the arm is released again or the best mean moves.
    rounds: of each arm at its score. best: the best mean then. sizes: of each arm its next batch.
    """

    scores: Any
    rounds: Any
    best: Any
    sizes: Any


@jit
def start(p: Any, s: Any) -> Any:
    size = len(s.n) if p.rule == RATE_IMED else 0
    rounds, sizes = np.zeros((2, size), np.int64)
    return KeptScores(np.zeros(size), rounds, np.full(1, -1.0), sizes)


@jit
def score(p: Any, s: Any, arm: int, log_t: float, level: float, best: float) -> float:
    mean, n = s.means[arm], s.n[arm]
    if p.rule == RATE_IMED:
        draws = min(s.draws[arm], p.counted)
        return rate_imed(mean, best, n, draws, p.constant, p.eps, p.doubt, p.trust)
    if p.rule == DP_KLUCB:
        return dp_klucb(mean, n, level, p.eps)
    if p.rule == ADAP_UCB:
        return adap_ucb(mean, n, log_t, p.eps, p.constant)
    if p.rule == ADAP_KLUCB:
        return adap_klucb(mean, n, log_t, p.eps, p.constant)
    if p.rule == ADAC_UCB:
        return adac_ucb(mean, n, log_t, p.eps, p.constant)
    if p.rule == LAZY_UCB:
        return lazy_ucb(mean, n, log_t, p.eps)
    return dp_imed(mean, n, best, p.eps)


@inline
def kept_score(p: Any, s: Any, own: Any, arm: int, best: float) -> float:
    if own.rounds[arm] != s.n[arm]:
        own.scores[arm] = score(p, s, arm, 0.0, 0.0, best)
        own.rounds[arm] = s.n[arm]
    return own.scores[arm]


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """The arm with the largest score, the lowest on a tie; an arm without a release first."""
    best = 0.0
    for arm in range(len(s.n)):
        if s.n[arm] == 0:
            s.chosen[0] = arm
            return 1, FAR
        best = max(best, clip01(s.means[arm]))
    top, log_t, leading = -math.inf, math.log(t), 0
    level = kl_level(log_t, p.constant) if p.rule == DP_KLUCB else 0.0
    if p.rule == RATE_IMED and own.best[0] != best:
        own.best[0], own.rounds[:] = best, 0
    for arm in range(len(s.n)):
        if p.rule == RATE_IMED:
            value = kept_score(p, s, own, arm, best)
            if clip01(s.means[arm]) >= best:
                leading = max(leading, s.n[arm])
        else:
            value = score(p, s, arm, log_t, level, best)
        if value > top:
            s.chosen[0], top = arm, value
    if p.rule == RATE_IMED:
        set_size(p, s, own, s.chosen[0], best, leading)
    return 1, FAR


@inline
def set_size(p: Any, s: Any, own: Any, arm: int, best: float, leading: int) -> None:
    """How long the batch that begins will be: as the policy's `batch`."""
    draws = min(s.draws[arm] + 1, p.counted)
    own.sizes[arm] = settling_batch(
        s.means[arm],
        best,
        s.n[arm],
        draws,
        leading,
        p.constant,
        p.first,
        p.alpha,
        p.eps,
        p.doubt,
        p.trust,
    )


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    if p.rule == RATE_IMED:
        return own.sizes[arm] if s.n[arm] > 0 else p.first
    if p.first > 0:
        return growing_batch(s.n[arm], p.first, p.alpha)
    return max(1, s.plays[arm] - s.open_[arm])


@inline
def read(p: Any, s: Any, own: Any, arm: int, total: int, rng: Any) -> None:
    if p.first == 0:
        s.totals[arm], s.n[arm], s.draws[arm] = 0, 0, 0
    s.totals[arm] += total + (
        gaussian(rng, p.scale) if p.rule == ADAC_UCB else laplace(rng, p.scale)
    )
    s.n[arm] += s.open_[arm]
    s.draws[arm] += 1


play_batches = player(
    "batches", Numbers=Numbers, start=start, choose=choose, batch=batch, read=read
)


@inline
def choose_lazy(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """The largest index, until another arm's overtakes it."""
    arm, top, log_t = 0, -math.inf, math.log(t)
    for j in range(len(s.n)):
        value = lazy_ucb(s.means[j], s.n[j], log_t, p.eps) if s.n[j] > 0 else math.inf
        if value > top:
            arm, top = j, value
    s.chosen[0] = arm
    end = t + batch_lazy(p, s, own, arm) - s.open_[arm]
    if s.n[arm] > 0:
        for j in range(len(s.n)):
            if j != arm:
                end = crossing(arm, s.means[arm], s.n[arm], j, s.means[j], s.n[j], t, end, p.eps)
    return 1, end - t


@inline
def batch_lazy(p: Any, s: Any, own: Any, arm: int) -> int:
    return max(1, 2 * s.n[arm])


@inline
def read_newest(p: Any, s: Any, own: Any, arm: int, total: int, rng: Any) -> None:
    """Lazy and forgetful: the newest block alone, noised once."""
    s.totals[arm], s.n[arm] = total + laplace(rng, p.scale), s.open_[arm]
    s.draws[arm] += 1


play_lazy = player(
    "lazy_ucb", Numbers=Numbers, choose=choose_lazy, batch=batch_lazy, read=read_newest
)
