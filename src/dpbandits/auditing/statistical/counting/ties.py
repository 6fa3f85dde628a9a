"""Are runs tied together? A bound counted from runs holds if they are independent. Runs that get
their randomness from a seed they share, such as the second at which they are played, are not.
"""

import numpy as np

from dpbandits.auditing.statistical.counting.scorers import keys_of
from dpbandits.core.inputs import Floats

FEWEST = 12
"""Neighbours that are alike, before anything is said of a few."""

DEVIATIONS = 6
"""Standard deviations."""


def tied_together(rows: Floats) -> bool:
    """Whether runs that were played one after the other are alike more often than any two of them.

    All orders of independent runs are equally likely. The number of neighbours that are alike has
    the mean and the variance of the number of runs of Wald and Wolfowitz, for many categories.

    >>> tied_together(np.repeat([[1.0], [2.0]], 50, axis=0)), tied_together(np.ones((100, 1)))
    (True, False)
    """
    keys = keys_of(rows)
    alike, n = int((keys[1:] == keys[:-1]).sum()), len(keys)
    sizes = np.unique(keys, return_counts=True)[1].astype(float)
    squares, cubes = (sizes**2).sum(), (sizes**3).sum()
    mean = (squares - n) / n
    variance = (squares * (squares + n * (n + 1.0)) - 2 * n * cubes - n**3.0) / (
        n**2.0 * max(1, n - 1)
    )
    return alike >= FEWEST and bool(
        alike > mean + DEVIATIONS * np.sqrt(max(0.0, variance)) + 1e-6 * n
    )
