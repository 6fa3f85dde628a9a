"""The lattice on which laws are summed, and the draws that answers contain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpbandits.auditing.exact_law import Axis, Streams, carry, mass
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import BinaryTree, Hybrid, LazyCumulative

ONE = Fraction(1)


def test_draws_of_a_tree_and_of_a_hybrid() -> None:
    """Which noise is in which answer, found by running the mechanisms."""
    grid = Grid(steps=1)
    tree = Streams(BinaryTree(epsilon=ONE, leaves=7, grid=grid)).draws((1,) * 4)
    assert tree.inside == ((1, 0, 0, 0), (0, 1, 0, 0), (0, 1, 1, 0), (0, 0, 0, 1))
    hybrid = Streams(Hybrid(epsilon=ONE, segments="doubling", grid=grid)).draws((1,) * 3)
    # the full segment is answered without the tree's node
    assert hybrid.inside == ((1, 0, 0), (1, 1, 0), (1, 0, 1))
    lazy = Streams(LazyCumulative(epsilon=ONE, grid=grid)).draws((1, 2, 3))
    assert lazy.inside == ((1, 0, 0), (1, 1, 0), (1, 1, 1))


def test_the_lattice_adds_up_like_sums_of_draws() -> None:
    law, reach = mass((ONE, ONE), 1e-12)
    one = Axis(0, (0,), (ONE,), True, 1e-12)
    two = Axis(0, (0, 1), (ONE, ONE), True, 1e-12)
    both = carry(carry(np.ones(()), [], [one]), [one], [two])
    assert both.shape == law.shape == (2 * reach + 1,)
    assert np.abs(both - law).max() < 1e-12
    assert 1 - 1e-11 < both.sum() <= 1
