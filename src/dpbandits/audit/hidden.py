"""The exact loss of answers that are sums of noise, where sums do not tell each draw apart.

Let the answers be A z with independent Laplace draws z of rates λ, and let a changed record ask for noise moved by δ. Any move u with
A u = A δ gives the same answers, so the loss is at most min Σ λ|u| over these moves; and it comes as near to that as you like far out
in the tails, because −ln P[A z = n·v] grows like n times that minimum. It is a linear programme.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpbandits.audit.decoding import Exhausted, numbers
from dpbandits.checks.tape import Diverged, Draw, Recorder
from dpbandits.simulate.replay import Transcript

Floats = NDArray[np.float64]
MOST = 600
"""Draws of a run whose sums are looked at."""


def loss_of_sums(run: Transcript, before: Sequence[Draw], after: Sequence[Draw]) -> Fraction | None:
    """Of two recordings that gave the same answers; None: not all noise is Laplace, or the answers are not sums of it.

    The programme is solved in floating point, and the fraction nearest to what comes out is taken, of those with small denominators.
    """
    if not 0 < len(before) <= MOST or any(draw.family != "laplace" for draw in before):
        return None
    matrix = sums_of(run, before)
    if matrix is None:
        return None
    moved = np.array([float((b.noisy - b.value) - (a.noisy - a.value)) / a.sensitivity for a, b in zip(before, after, strict=True)])
    return least([float(draw.price) for draw in before], matrix, matrix @ moved)


def sums_of(run: Transcript, draws: Sequence[Draw]) -> Floats | None:
    """How the run's answers move with each draw, shape (numbers, draws), by a step of its sensitivity; None: not by sums."""
    try:
        plain = answered(run, draws)
        columns = [answered(run, moved(draws, {at: 1})) - plain for at in range(len(draws))]
        matrix = np.stack(columns, axis=1)
        rng = np.random.default_rng(len(draws))
        for _ in range(3):  # far away, too
            far = rng.integers(-50, 51, len(draws))
            if not np.allclose(answered(run, moved(draws, dict(enumerate(far.tolist())))), plain + matrix @ far, atol=1e-6):
                return None
    except (Diverged, Exhausted, ValueError):  # another number of draws, or of answers
        return None
    return matrix


def moved(draws: Sequence[Draw], by: dict[int, int]) -> list[Draw]:
    return [draw._replace(noisy=draw.noisy + by.get(at, 0) * draw.sensitivity) for at, draw in enumerate(draws)]


def answered(run: Transcript, draws: Sequence[Draw]) -> Floats:
    """Every number the run's releases answer with such noise."""
    return numbers([answer.answers for _, _, answer in run.answers({}, Recorder(0, script=list(draws)))])


def least(rates: Sequence[float], matrix: Floats, target: Floats) -> Fraction | None:
    """min Σ rates·|u| subject to matrix u = target."""
    from scipy.optimize import linprog

    found = linprog([*rates, *rates], A_eq=np.hstack([matrix, -matrix]), b_eq=target, bounds=(0, None), method="highs")
    return Fraction(found.fun).limit_denominator(10**6) if found.success else None
