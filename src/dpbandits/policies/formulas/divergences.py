"""Bernoulli divergences and their inverses, as plain scalar functions (the simulator compiles these
same functions).

`d_eps` is the divergence of Azize, Wu, Honda, Orabona, Ito and Basu 2025 that governs regret under
epsilon-DP:
d_eps(x, y) = inf over z between x and y of eps·|z − x| + kl(z, y). It is kl for eps → ∞ and at most
eps·|x − y|.
"""

from __future__ import annotations

import math


def clip01(x: float) -> float:
    """x held in [0, 1]."""
    return min(1.0, max(0.0, x))


def kl(p: float, q: float) -> float:
    """Relative entropy of Bernoulli(p) to Bernoulli(q); inf where q cannot produce what p does."""
    if p == q:
        return 0.0
    value = 0.0
    if p > 0.0:
        if q <= 0.0:
            return math.inf
        value += p * math.log(p / q)
    if p < 1.0:
        if q >= 1.0:
            return math.inf
        value += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return max(0.0, value)


def kl_upper(p: float, level: float) -> float:
    """The largest q in [p, 1] with kl(p, q) <= level.

    Newton from the right on a convex function: every iterate stays above the root, and what is
    missing after a step is about its square over 2 (q − p), so the last one needs no other to
    confirm it.
    """
    if p >= 1.0 or level <= 0.0:
        return p
    if p <= 0.0:
        return -math.expm1(-level)
    entropy = -p * math.log(p) - (1.0 - p) * math.log1p(-p)
    q = min(p + math.sqrt(level / 2.0), -math.expm1(-(level + entropy) / (1.0 - p)))
    for _ in range(100):
        if q >= 1.0:
            return 1.0
        step = (kl(p, q) - level) * q * (1.0 - q) / (q - p)
        q -= step
        if step <= 1e-8 * (q - p):
            return q
    return q


def d_eps(x: float, y: float, eps: float) -> float:
    """inf over z between x and y of eps·|z − x| + kl(z, y), in closed form."""
    if x > y:
        x, y = 1.0 - x, 1.0 - y
    if y >= 1.0:
        return eps * (1.0 - x)
    shrunk = y * math.exp(-eps)
    if x >= shrunk / (1.0 - y + shrunk):
        return kl(x, y)
    return -math.log1p(y * math.expm1(-eps)) - eps * x


def d_eps_upper(x: float, level: float, eps: float) -> float:
    """The largest q in [x, 1] with d_eps(x, q) <= level, in closed form but for the ordinary KL
    inverse.
    """
    if x >= 1.0 or level <= 0.0:
        return x
    # x e^eps/(1 − x + x e^eps) without the overflow: up to there the infimum is reached inside,
    # beyond it d_eps is kl.
    edge = x / (x + (1.0 - x) * math.exp(-eps)) if x > 0.0 else 0.0
    if level >= kl(x, edge):
        return min(1.0, -math.expm1(-(level + eps * x)) / -math.expm1(-eps))
    return kl_upper(x, level)
