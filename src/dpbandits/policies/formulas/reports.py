"""How far sums of means of reports may miss; a report is a reward in [0, 1] and a Laplace draw of
scale 1/eps.

Source: ours; proofs/cucb_ldp2_joint.md.
"""

from __future__ import annotations

import math
from typing import Any


def report_variance(eps: float) -> float:
    """v = 1/4 + 2/eps², no less than the variance of one report."""
    return 0.25 + 2.0 / (eps * eps)


def report_square(n: Any, level: float, eps: float) -> Any:
    """q(n) = (5/2)·v·u/n + 5·(u/(eps·n))² at level u, n a number or an array: the mean of n reports
    misses by √q, and the sum of several arms' means by √Σq, with probability about e^−u.

    √(2Vu) + cu, the sub-gamma bound of variance V = vΣ1/n and scale c = max 1/(eps·n), is at most
    √(5Vu/2 + 5c²u²).
    """
    wide = level / (eps * n)
    return 2.5 * report_variance(eps) * level / n + 5.0 * wide * wide


def joint_level(t: int, size: int, eps: float) -> float:
    """u = 1 + L + K ln(1 + wΛ), of which √Σq is a bound for every super arm of at most K = `size`
    arms, however counts came about: it fails in round t with probability at most 2e^−L, L = ln t +
    2 ln ln t.
    """
    base = math.log(t) + 2.0 * math.log(max(1.0, math.log(t)))
    return raised_level(base, t, size, eps)


def raised_level(base: float, t: int, size: int, eps: float) -> float:
    """The same for another L. Λ = ln((2 + eps)t) is the width of a grid of exponents, w = 2(L + K
    ln(2Λ + 2)) what all arms together can deviate by.
    """
    reach = math.log((2.0 + eps) * t)
    most = 2.0 * (base + size * math.log(2.0 * reach + 2.0))
    return 1.0 + base + size * math.log(1.0 + most * reach)
