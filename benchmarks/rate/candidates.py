"""An index that was tried beside DPRateIMED's, with its compiled player: DP-KLUCB with the exact
rate in place of n·d_eps.
"""

from __future__ import annotations

import math
from typing import Any

import dpbandits as dpb
from dpbandits.policies.formulas.indices import IndexNumbers
from dpbandits.simulation.compiled import players
from dpbandits.simulation.compiled.batches import read_cumulative
from dpbandits.simulation.compiled.driver import UNLIMITED, player
from dpbandits.simulation.compiled.jit import best_share, clip01, inline, jit, slowing_total


class RateKLUCB(dpb.DPRateIMED):
    """Plays the arm with the largest q such that I(x; q) <= level·ln t. For simulation only."""


@jit
def rate_upper(x: float, n: int, draws: int, u: float, eps: float) -> float:
    """max{q: I(x; q) <= u}: each θ bounds it from above, and the θ best for one bound gives the
    next (from q = 1 down; quadratic near the end).
    """
    x, q = clip01(x), 1.0
    if x >= 1.0:
        return 1.0
    for _ in range(50):
        share = best_share(x, q, n, draws, eps)
        theta = share * eps
        noise = draws * (math.log1p(-share) + math.log1p(share))
        low = -math.expm1(-(u + theta * n * x - noise) / n) / -math.expm1(-theta)
        if low >= q - 1e-10:
            return q
        q = low
    return q


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """The largest index, the lowest arm on a tie; an arm without a release first."""
    top, level = -1.0, p.constant * math.log(t)
    for arm in range(len(s.n)):
        if s.n[arm] == 0:
            s.chosen[0] = arm
            return 1, UNLIMITED
    for arm in range(len(s.n)):
        value = rate_upper(s.means[arm], s.n[arm], s.draws[arm], level, p.eps)
        if value > top:
            s.chosen[0], top = arm, value
    return 1, UNLIMITED


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    n = s.n[arm]
    return p.first if n == 0 else math.ceil(slowing_total(n, p.first, p.alpha)) - n


play_rate_klucb = player(
    "rate_klucb", Numbers=IndexNumbers, choose=choose, batch=batch, read=read_cumulative
)


def kernel(policy: Any, steps: int) -> Any:
    numbers = players.kernel_for(dpb.DPRateIMED(**taken(policy))).args[0]  # type: ignore[union-attr]  # it has one
    return lambda *rest: play_rate_klucb(numbers, steps, *rest)


def taken(policy: Any) -> dict[str, Any]:
    return {name: getattr(policy, name) for name in ("arms", "epsilon", "first", "alpha", "level")}


players.BUILDERS[RateKLUCB] = kernel
