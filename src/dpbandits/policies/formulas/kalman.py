"""Formulas of beliefs about means that change: a Kalman filter on released sums.

They are plain functions of numbers, compiled by the simulator.
"""

import math

LARGEST_VARIANCE = 1.0 / 12.0
"""Variance of a mean of which nothing is known: uniform on [0, 1]."""


def grown_variance(variance: float, drift: float, rounds: int) -> float:
    """Return the variance of a belief about a mean after so many more rounds."""
    return min(variance + drift * rounds, LARGEST_VARIANCE)


def block_variance(rounds: int, eps: float) -> float:
    """Return the variance of a block's released mean; eps 0 stands for no noise."""
    sampling = 0.25 / rounds
    return sampling if eps == 0.0 else sampling + 2.0 / (eps * rounds) ** 2


def surprise_of(error: float, variance: float, noise: float) -> float:
    """Return how many standard deviations a released mean is from its prediction."""
    return abs(error) / math.sqrt(variance + noise)


def gain_of(variance: float, noise: float) -> float:
    """Return the share of a prediction's error by which a belief moves."""
    return variance / (variance + noise)


def look_chance(arms: int, block: int, lasting: int, looks: float) -> float:
    """Return the probability that a block goes to the arm that was released longest ago, so that
    each arm is expected to be looked at `looks` times in `lasting` rounds; at most 1/2.
    """
    return min(0.5, looks * arms * block / lasting)
