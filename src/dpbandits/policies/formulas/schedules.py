"""Schedules: how long an arm is played before its next release, how far apart two arms must be
then, and how fast the policies with full information learn.
"""

from __future__ import annotations

import math


def growing_batch(rounds: int, first: int, alpha: float) -> int:
    """Rounds in the batch of an arm with `rounds` released: `first`, then what makes its rounds
    grow by the factor alpha.
    """
    return first if rounds == 0 else max(1, math.ceil(min(2.0**62, (alpha - 1.0) * rounds)))


RUNG = 0.25
"""How far apart the first two totals of the ladder are."""


def next_rung(rounds: int, first: int) -> int:
    """The total after `rounds` on a ladder that is fixed in advance: larger by the factor
    1 + RUNG/√(1 + ln(rounds/first)), which tends to 1.
    """
    growth = RUNG / math.sqrt(1.0 + max(0.0, math.log(rounds / first)))
    return rounds + max(1, math.ceil(min(2.0**61, growth * rounds)))


def slowing_total(rounds: int, first: int, alpha: float) -> float:
    """Rounds grown by 1 + (alpha − 1)/√(1 + ln(rounds/first)): by alpha at first, by ever less
    later.
    """
    return rounds * (1.0 + (alpha - 1.0) / math.sqrt(1.0 + max(0.0, math.log(rounds / first))))


def elimination_width(pulls: int, arms: int, beta: float) -> float:
    """Two confidence radii √(ln(4 K n²/beta)/(2n)) after n pulls of each arm."""
    return 2.0 * math.sqrt(math.log(4.0 * arms * pulls * pulls / beta) / (2.0 * pulls))


def epoch(stage: int, alive: int, beta: float, eps: float) -> tuple[int, float]:
    """Pulls of each arm in epoch `stage`, R_e, and the elimination width 2h_e + 2c_e."""
    gap = 2.0**-stage
    log8 = math.log(8.0 * alive * stage * stage / beta)
    log4 = math.log(4.0 * alive * stage * stage / beta)
    pulls = math.ceil(max(32.0 * log8 / (gap * gap), 8.0 * log4 / (eps * gap)) + 1.0)
    return pulls, 2.0 * math.sqrt(log8 / (2.0 * pulls)) + 2.0 * log4 / (pulls * eps)


def comparison_radius(pulls: int, question: int, arms: int, beta: float) -> float:
    """How far the sum of an arm's pulls may be from its mean: n√(ln(8 K k²/beta)/(2n)) at question
    number k.
    """
    return math.sqrt(0.5 * pulls * math.log(8.0 * arms * question * question / beta))


def comparison_noise(question: int, arms: int, beta: float, share: float) -> float:
    """How far a question's noise and its threshold's may lie together, in rewards: each has scale
    3/share, and there are at most K² at a time.
    """
    log = math.log(16.0 * arms * arms / beta)
    return 3.0 * (2.0 * log + 2.0 * math.log(question)) / share


def next_guess(guess: int, t: int, squared: bool) -> int:
    """The first guess of the horizon beyond round t, from one to the next doubled or squared; at
    most 2⁶².
    """
    while guess <= t and guess < 2**62:
        if not squared:
            guess = 2 * guess
        elif guess < 2**31:
            guess = guess * guess
        else:
            guess = 2**62
    return min(guess, 2**62)


def hedge_rate(round: int, actions: int) -> float:
    """2√(ln K/t)."""
    return 2.0 * math.sqrt(math.log(actions) / round)


def ftrl_rate(horizon: int, actions: int) -> float:
    """√(8 ln K/T)."""
    return math.sqrt(8.0 * math.log(actions) / horizon)
