"""Means to tell apart, the exact law of what is released, and the rate of false alarms."""

import math

import numpy as np
from scipy.stats import binom

FALSE_ALARM = 1e-6
INSTANCES = {
    "easy": [0.95, 0.5, 0.3],
    "ladder": [0.75, 0.625, 0.5, 0.375, 0.25],
    "last": [0.1, 0.1, 0.3],
}


def pmf_of_windows(
    n: int, mu: float, eps: float, draws: int, reach: int
) -> tuple[np.ndarray, np.ndarray]:
    """The exact law of a noised sum of n 0/1 rewards on the grid of ones: values and chances."""
    p, k = math.exp(-eps), np.arange(-reach, reach + 1)
    law = binom.pmf(np.arange(n + 1), n, mu)
    for _ in range(draws):
        law = np.convolve(law, (1 - p) / (1 + p) * p ** np.abs(k))
    return np.arange(-draws * reach, n + draws * reach + 1), law
