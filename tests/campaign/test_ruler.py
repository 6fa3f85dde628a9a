"""A declared range: exact bounds, both ways, and refusals that never show a reward."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbandits.session.ranges import Range
from dpbandits.core.errors import RewardError

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


def test_clipping_is_asked_for() -> None:
    assert Range(0, 250, clip=True).to_unit(-3) == 0.0
    assert Range(0, 250, clip=True, minimise=True).to_unit(10**400 // 10**390) == 0.0
    with pytest.raises(RewardError, match="wider range, or clip=True"):
        Range(0, 250).to_unit(251)


def test_rewards_of_any_kind_of_number() -> None:
    ruler = Range(0, 4)
    for value in (1, np.int64(1), np.float32(1), Fraction(1), Decimal(1), np.array(1.0)):
        assert ruler.to_unit(value) == 0.25


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "73.14", None, [73.14], 7314j, 10**400, 7.314e9]
)
def test_no_refusal_shows_the_reward(value: Any, clip: bool) -> None:
    ruler = Range(0, 100, clip=clip)
    if clip and value == 7.314e9:
        assert ruler.to_unit(value) == 1.0
        return
    with pytest.raises(RewardError, match="Nothing was recorded") as caught:
        ruler.to_unit(value)
    error: BaseException | None = caught.value
    while error is not None:
        assert "7314" not in str(error)
        assert "73.14" not in str(error)
        error = error.__context__


class Telling:
    """A reward whose own conversion would tell it."""

    def __float__(self) -> float:
        raise RuntimeError("73.14")


def test_code_of_the_reward_tells_nothing() -> None:
    with pytest.raises(RewardError) as caught:
        Range(0, 100).to_unit(Telling())
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1, 1, "low < high"),
        (2, 1, "low < high"),
        (float("nan"), 1, "low=nan"),
        (0, float("inf"), "high=inf"),
        (0, Decimal("1e999999999"), "high="),
        (0, Decimal("1e99999"), "high="),
        (Decimal("1e-99999"), 1, "low="),
        pytest.param(0, 10**5000, "high=", id="digits"),
        (True, 2, "low=True"),
        (0, np.True_, "high="),
        ("0", 1, "without quotes"),
        (0, None, "high=None"),
        (0, 1j, "high=1j"),
        (10**20, 10**20 + 1, "differ as floats do"),
    ],
)
def test_bounds_that_are_none(low: Any, high: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        Range(low, high)
    assert len(str(caught.value)) < 300


def test_switches_are_switches() -> None:
    with pytest.raises(ValueError, match="clip="):
        Range(0, 1, clip="no")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="minimise="):
        Range(0, 1, minimise=1)  # type: ignore[arg-type]


def test_words() -> None:
    assert Range(0, 0.1, minimise=True).words == (
        "values from 0 to 0.1, smaller is better, values outside refused"
    )
