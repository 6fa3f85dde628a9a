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

    Halley's steps, of which each leaves about the cube of what was missing. They begin at the first
    terms of the root's series in √level, where these are near, and else at the less of two bounds
    above it. Five are enough wherever rounding lets a step count; eight end the rest.
    """
    if p >= 1.0 or level <= 0.0:
        return p
    if p <= 0.0:
        return -math.expm1(-level)
    rest = 1.0 - p
    near = math.sqrt(2.0 * p * rest * level)
    if near < 0.5 * min(p, rest):
        q = p + near + (1.0 - 2.0 * p) * level * (2.0 / 3.0)
    else:
        entropy = -p * math.log(p) - rest * math.log1p(-p)
        q = min(p + math.sqrt(level / 2.0), -math.expm1(-(level + entropy) / rest))
    for _ in range(8):
        if q >= 1.0:
            return 1.0
        if q <= p:
            return p
        other, gap = 1.0 - q, q - p
        above = p * math.log(p / q) + rest * math.log(rest / other) - level
        newton = above * q * other / gap
        bend = (p * other * other + rest * q * q) / (q * other * gap)
        step = newton / max(0.5, 1.0 - 0.5 * newton * bend)
        q -= step
        if abs(step) <= 1e-5 * (q - p):
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
