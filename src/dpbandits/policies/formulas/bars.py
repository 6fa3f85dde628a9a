"""The bars of the stopping rules, in ranges high − low = 2R, and the bound on when they halt.
Functions of public numbers only.
"""

from __future__ import annotations

import math


def nas_bar(t: int, alpha: float, beta: float) -> float:
    """t·h_t(1 + 1/alpha)/(2R), h_t = R√((2/t) ln(4t²/beta)): Hoeffding at confidence 1 −
    beta/(2t²).
    """
    log = math.log(4.0) - math.log(beta) + 2.0 * math.log(t)
    return (1.0 + 1.0 / alpha) * math.sqrt(0.5 * t * log)


def private_bar(t: int, log_asked: float, alpha: float, beta: float, eps: float) -> float:
    """(t·h_t(1 + 1/alpha) + c_t)/(2R) at question number i, log_asked = ln i.

    h_t = R√((2/t) ln(16i²/beta)), c_t = σ₁ ln(4/beta) + σ₂ ln(8i²/beta) + (σ₃/alpha) ln(4/beta), σ₁
    = σ₂ = 12R/eps, σ₃ = 4R/eps.
    """
    inverse, twice = -math.log(beta), 2.0 * log_asked
    log4, log8, log16 = (
        math.log(4.0) + inverse,
        math.log(8.0) + inverse + twice,
        math.log(16.0) + inverse + twice,
    )
    return (1.0 + 1.0 / alpha) * math.sqrt(0.5 * t * log16) + (
        6.0 * log4 + 6.0 * log8 + 2.0 * log4 / alpha
    ) / eps


def stopping_time_bound(
    mean: float, width: float, *, alpha: float, beta: float, epsilon: float
) -> float:
    """2000(t₀ + t₁ + t₂) of Sajed and Sheffet 2019, Theorem 3.3, for values of this mean in a range
    of half-width `width` (R).

    With probability 1 − beta `DPExponentialNAS` halts by then, for beta <= 0.08 and R >=
    e·alpha·|mean| (see its proof page).
    """
    inverse = width / abs(mean) if mean else math.inf
    if math.isinf(inverse):
        return math.inf
    log = math.log(math.log(inverse / alpha) / beta)
    return 2000.0 * (
        (inverse / alpha) ** 2 * log
        + inverse * log / epsilon
        + inverse * math.log(1.0 / beta) / (epsilon * alpha)
    )
