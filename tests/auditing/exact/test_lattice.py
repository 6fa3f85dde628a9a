"""The lattice on which laws are summed, and the draws that answers contain."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpbandits import (
    DPIMED,
    AdaPKLUCB,
)
from dpbandits.auditing.effort import Work
from dpbandits.auditing.exact.branches import worst_pair
from dpbandits.auditing.exact.enumeration import Enumeration
from dpbandits.auditing.exact.lattice import Axis, carry, decisions_on, mass
from dpbandits.auditing.exact.probe import Streams
from dpbandits.core.errors import Unfit
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import BinaryTree, Hybrid, LazyCumulative
from dpbandits.policies.contract import Policy

ONE = Fraction(1)


@pytest.mark.parametrize(
    "policy",
    [DPIMED(arms=2, epsilon=1, first=1, grid=1), AdaPKLUCB(arms=2, epsilon=1, grid=1)],
    ids=repr,
)
def test_asking_corners_is_asking_everywhere(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = worst_pair(Enumeration(policy, 5, Work(), 1e-12).run(), 0.0)

    def everywhere(box: Any, decide: Any) -> Any:
        points = product(*[range(a, b + 1) for a, b in box])
        return np.array([decide(p) for p in points], np.int16).reshape([b - a + 1 for a, b in box])

    monkeypatch.setattr("dpbandits.auditing.exact.enumeration.decisions_on", everywhere)
    assert worst_pair(Enumeration(policy, 5, Work(), 1e-12).run(), 0.0) == quick


def test_a_rule_that_is_not_monotone_is_refused() -> None:
    with pytest.raises(Unfit, match="monotone"):
        decisions_on(((0, 63), (0, 63)), lambda point: int(20 < point[0] < 40))


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
