"""Successive elimination: what a run pulls while every confidence bound holds, and what the others
may cost (Even-Dar, Mannor and Mansour 2006, Theorem 8; Sajed and Sheffet 2019, Lemma 4.2).

DP-SE's Lemma 4.2 rounds the sum of its epochs up to constants 1024 and 96; here it is the sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpbandits.policies.formulas.schedules import (
    comparison_noise,
    comparison_radius,
    elimination_width,
    epoch,
    next_guess,
)

BASEL = math.pi**2 / 6.0


def passes(gap: float, arms: int, beta: float, rounds: int) -> int:
    """Passes after which an arm with this gap is surely out: two widths below it."""
    low, high = 0, 1
    while high < rounds and 2.0 * elimination_width(high, arms, beta) >= gap:
        low, high = high, 2 * high
    while high - low > 1:  # the width falls from n = 2 on
        middle = (low + high) // 2
        inside = 2.0 * elimination_width(middle, arms, beta) >= gap
        low, high = (middle, high) if inside else (low, middle)
    return min(high, rounds)


def passes_bound(means: Sequence[float], rounds: int, beta: float) -> float:
    """SuccessiveElimination: a mean is ever further from its arm's than its radius with probability
    at most βπ²/12.
    """
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    wrong = math.fsum(gap * passes(gap, len(means), beta, rounds) for gap in gaps)
    worst = max(gaps, default=0.0)
    return min(wrong + worst * rounds * min(1.0, beta * BASEL / 2.0), worst * rounds)


def last_epoch(gap: float) -> int:
    """The first epoch with 2^−e <= gap: its radii add up to less than the gap, so it is the arm's
    last.
    """
    return max(1, math.ceil(-math.log2(gap) - 1e-12))


def epochs_cost(gaps: Sequence[float], beta: float, eps: float, rounds: int) -> float:
    """Σ Δ · (pulls of the arm up to its last epoch), the arms alive being those not yet out."""
    arms = len(gaps)
    wrong = [(gap, last_epoch(gap)) for gap in gaps if gap > 0.0]
    cost, pulled = 0.0, 0.0
    for stage in range(1, max((last for _, last in wrong), default=0) + 1):
        alive = arms - sum(1 for _, last in wrong if last < stage)
        planned, _ = epoch(stage, alive, beta, eps)
        pulls = min(float(planned), max(0.0, rounds - pulled))
        cost += pulls * math.fsum(gap for gap, last in wrong if last >= stage)
        pulled += pulls
        if pulled >= rounds:
            break
    return cost


def elimination_bound(
    means: Sequence[float], rounds: int, beta: float, eps: float, tail: float
) -> float:
    """DP-SE with β: some width fails with probability at most β(2 + 2c − 1)π²/24, c `tail`."""
    gaps = [max(means) - mean for mean in means]
    worst = max(gaps)
    fails = min(1.0, beta * (1.0 + 2.0 * tail) * BASEL / 4.0)
    return min(epochs_cost(gaps, beta, eps, rounds) + worst * rounds * fails, worst * rounds)


def guessing_bound(
    means: Sequence[float], rounds: int, first: int, squared: bool, eps: float, tail: float
) -> float:
    """DP-SE that guesses the horizon: the sum over guesses G, a phase of each with β = 1/G.

    The phase of a guess begins when the one before is reached, or later. It ends by round 6G, or
    after the first epoch: later epochs begin before G, and the next is at most five times as long
    as all before.
    """
    gaps = [max(means) - mean for mean in means]
    worst, total, guess, begins = max(gaps), 0.0, first, 0
    while begins < rounds:
        pulls, _ = epoch(1, len(means), 1.0 / guess, eps)
        length = min(float(rounds), max(6.0 * guess, float(len(means) * pulls)))
        fails = min(1.0, (1.0 + 2.0 * tail) * BASEL / 4.0 / guess)
        cost = epochs_cost(gaps, 1.0 / guess, eps, rounds)
        total += min(cost + worst * length * fails, worst * length)
        begins, guess = guess, next_guess(guess, guess, squared)
    return min(total, worst * rounds)


def comparisons_bound(
    means: Sequence[float], rounds: int, beta: float, share: float, tail: float
) -> float:
    """SparseVectorSE: an arm is out at the first question for which its gap adds up to four radii,
    twice the noise and a unit of rounding. Some radius fails with probability at most βπ²/24, some
    draw of noise with at most 2c(π²/6 + 1)β/16, c `tail`.
    """
    worst = max(means) - min(means)

    def pulls(gap: float) -> int:
        number, n = 1, 2
        while n < rounds and gap * n < 1.0 + 2.0 * (
            2.0 * comparison_radius(n, number, len(means), beta)
            + comparison_noise(number, len(means), beta, share)
        ):
            number, n = number + 1, 2 * n
        return min(n, rounds)

    gaps = [max(means) - mean for mean in means if mean < max(means)]
    fails = beta * (BASEL / 4.0 + tail * (BASEL + 1.0) / 8.0)
    cost = math.fsum(gap * pulls(gap) for gap in gaps)
    return min(cost + worst * rounds * min(1.0, fails), worst * rounds)
