"""A declared range: exact bounds, both ways, and the default in the user's units."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbandits as dpb
from dpbandits.policies import DPKLUCB
from dpbandits.session.ranges import Range
from tests.session.small import begun, blocks, loaded

BOUNDS = st.integers(-(10**12), 10**12).map(lambda thousandths: thousandths / 1000)


def test_bounds_are_exact() -> None:
    tenth = Range(0.1, Decimal("0.3"))
    assert (tenth.low, tenth.high) == (Fraction(1, 10), Fraction(3, 10))
    assert tenth == Range(Fraction(1, 10), np.float64(0.3))
    assert Range(np.int64(-5), 5).span == 10.0
    assert hash(Range(0, 1)) == hash(Range(low=0, high=1.0))


@given(BOUNDS, BOUNDS, st.floats(0, 1), st.booleans())
def test_there_and_back(a: float, b: float, share: float, minimise: bool) -> None:
    low, high = sorted((a, b))
    if high - low < 1e-3:
        return
    ruler = Range(low, high, minimise=minimise)
    value = min(high, max(low, low + share * (high - low)))
    unit = ruler.to_unit(value)
    assert 0.0 <= unit <= 1.0
    assert abs(ruler.from_unit(unit) - value) <= 1e-14 * (abs(low) + abs(high))
    assert ruler.to_unit(low) == (1.0 if minimise else 0.0)
    assert ruler.to_unit(high) == (0.0 if minimise else 1.0)


# In a session


COINS: Any = DPKLUCB(arms=["a", "b"], epsilon=1, grid=1)
FINE: Any = DPKLUCB(arms=["a", "b"], epsilon=1)


@pytest.mark.parametrize(
    ("policy", "rewards", "default"),
    [
        (FINE, None, 0.0),
        (FINE, dpb.Range(0, 60), 0.0),
        (FINE, dpb.Range(0, 60, minimise=True), 0.0),
        (FINE, dpb.Range(-5, 5), 0.0),
        (FINE, dpb.Range(1, 5), 1.0),
        (FINE, dpb.Range(1, 5, minimise=True), 5.0),
        (FINE, dpb.Range(-60, -10), -60.0),
        (FINE, dpb.Range(0.1, 0.7), 0.1),
        (COINS, dpb.Range(-5, 5), -5.0),  # with grid=1 it is one that can be held
        (COINS, dpb.Range(-5, 5, minimise=True), 5.0),
        (COINS, dpb.Range(-5, 0), 0.0),
        (COINS, dpb.Range(0, 5, minimise=True), 0.0),
    ],
)
def test_who_did_not_answer_counts_as_nothing_or_as_the_worst(
    policy: Any, rewards: Any, default: float
) -> None:
    """Stars from 1 to 5 were refused, for want of a default that nobody had given."""
    s = begun(policy, rewards=rewards)
    assert s.default == default
    s.expire(s.ask())
    assert loaded(s).default == default


@pytest.mark.parametrize(
    "policy",
    [
        dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=3, rank=2), epsilon=1),
        dpb.RNMFTNL(actions=2, epsilon=1),
    ],
    ids=lambda policy: policy.name,
)
def test_units_are_of_short_lists_too(policy: Any) -> None:
    """Where 1 in the user's units is 1/4: what is told must not be taken for rewards already."""
    given, plain = begun(policy, rewards=dpb.Range(0, 4)), begun(policy)
    for told in ([1.0, 0.0], [0, 1], [4.0, 1.0], [0.5, 0.25], [1, 1]):
        given.tell(given.ask(), told)
        plain.tell(plain.ask(), [x / 4 for x in told])
    assert blocks(given) == blocks(plain)
    assert any(max(sums) > 0 for _, sums in blocks(plain).values())
