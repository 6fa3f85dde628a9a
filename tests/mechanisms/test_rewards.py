"""What counts as a reward: numbers of any kind; nothing that only spells, hides or half is one.
Errors name the arm, never the value.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms.rewards import (
    FEW,
    checked_reward,
    checked_rewards,
    few_on_grid,
    scaled_value,
    vector_on_grid,
)
from dpbandits.policies import CUCBLDP1, LazyCUCB

NO_NUMBERS: list[Any] = [
    "0.5",
    b"1",
    bytearray(b"1"),
    memoryview(b"1"),
    np.str_("0.5"),
    np.bytes_(b"1"),
    np.array("0.5"),
    np.array("0.5", object),
    1 + 0j,
    np.complex128(1),
    np.array(1 + 1j),
    np.ma.masked,
    np.ma.array(0.5, mask=True),
    np.ma.array(0.5),
    np.timedelta64(1),
    np.datetime64(1, "s"),
    np.array([0.5]),
    None,
    [0.5],
]


def named(value: object) -> str:
    """The same in every process: what shows an address is named by its type."""
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else f"{type(value).__name__} {text}"[:40]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=named)
def test_what_is_no_number_is_no_reward(value: Any) -> None:
    for check in (checked_reward, lambda x: scaled_value(x, 0, 1)):
        with pytest.raises(
            dpb.RewardError, match=f"object of type {type(value).__name__}"
        ) as error:
            check(value)
        assert "0.5" not in str(error.value)
    if np.ndim(value) == 0:
        with pytest.raises(dpb.RewardError):
            checked_rewards([0.5, value], 2)


class Unhashable(type):
    """A type that cannot be looked up among those that are known."""

    def __hash__(cls) -> int:
        raise RuntimeError("0.7314")


class Telling(metaclass=Unhashable):
    """A reward whose own conversion would tell it."""

    def __float__(self) -> float:
        raise RuntimeError("0.7314")


def test_code_of_a_reward_and_of_its_type_tells_nothing() -> None:
    for call in (lambda: checked_reward(Telling()), lambda: checked_rewards([0.5, Telling()], 2)):
        with pytest.raises(dpb.RewardError) as error:
            call()
        assert "7314" not in str(error.value)
        assert error.value.__context__ is None


@pytest.mark.parametrize(
    "values",
    [
        ["0.5", "1"],
        [b"1", "1"],
        [0.5, "1"],
        "01",
        np.array(["0.5", "1"]),
        np.array(["0.5", 1], object),
        [1 + 1j, 0],
        np.array([1 + 1j, 0]),
        np.ma.array([0.5, 1], mask=[True, False]),
        np.ma.array([0.5, 1]),
        [np.ma.masked, 1],
        [None, 1],
        np.array([1, 1], "m8[s]"),
        {0: 1, 1: 0},
        iter([1, 0]),
    ],
    ids=named,
)
def test_what_is_no_vector_of_numbers_is_refused(values: Any) -> None:
    with pytest.raises(
        dpb.RewardError, match="Expected a vector of 2 rewards that are numbers"
    ) as error:
        checked_rewards(values, 2)
    assert "0.5" not in str(error.value)
    s = dpb.Session(LazyCUCB(problem=dpb.TopK(arms=3, k=2), epsilon=1), noise=dpb.SimulatedNoise(1))
    d = s.ask()
    with pytest.raises(dpb.RewardError):
        s.tell(d, values)
    assert s.pending == (d,)


@pytest.mark.parametrize(
    "half",
    [
        0.5,
        Decimal("0.5"),
        Fraction(1, 2),
        np.float32(0.5),
        np.float16(0.5),
        np.longdouble(0.5),
        np.array(0.5),
        np.array(0.5, object),
    ],
)
def test_numbers_of_any_kind(half: Any) -> None:
    assert checked_reward(half) == scaled_value(half, 0, 1) == 0.5
    for values in ([half, 1], (half, True), np.array([half, 1], object)):
        assert checked_rewards(values, 2).tolist() == [0.5, 1.0]
    for kind in (np.float32, np.int8, np.uint64, bool):
        assert checked_rewards(np.array([0, 1], kind), 2).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("rounding", ["nearest", "bernoulli"])
def test_few_plain_numbers_take_a_shorter_way(rounding: Any) -> None:
    """To the same steps; whatever else comes takes the longer one, with its checks."""
    grid, noise = Grid(steps=1024, rounding=rounding), dpb.SimulatedNoise(1)
    for length in (1, 2, 17, FEW // 2, FEW):
        rng = np.random.default_rng(length)
        drawn, halves = rng.integers(0, 2, length), rng.integers(0, 2049, length) / 2048
        between = rng.random(length).tolist(), halves.tolist()  # half a step, too
        for values in (drawn.tolist(), drawn.astype(float).tolist(), (drawn > 0).tolist()):
            long = vector_on_grid(checked_rewards(values, length), grid, noise).tolist()
            assert few_on_grid(values, length, grid) == long
            assert few_on_grid([*values, 1.0], length, grid) is None
            for wrong in (1.5, -1e-300, np.nan, np.inf, 2, 10**400):
                assert few_on_grid([*values[1:], wrong], length, grid) is None
        for values in between:
            few = few_on_grid(values, length, grid)
            long = vector_on_grid(checked_rewards(values, length), grid, noise).tolist()
            assert few == (long if rounding == "nearest" and length <= FEW // 2 else None)
    assert few_on_grid([-0.0, True], 2, grid) == [0, 1024]


@pytest.mark.parametrize(
    "values",
    [(0.0, 1.0), np.array([0.0, 1.0]), [np.float64(0), 1.0], [None, 1.0], ["0", "1"], "01", 1.0],
    ids=named,
)
def test_the_shorter_way_is_for_plain_numbers_in_a_list(values: Any) -> None:
    assert few_on_grid(values, 2, Grid(steps=8)) is None
    assert few_on_grid([0.0] * (FEW + 1), FEW + 1, Grid(steps=8)) is None


def test_the_error_names_the_arm() -> None:
    problem = dpb.UserDecisionSet(arms=4, size=2, oracle=lambda weights: [1, 3])
    s = dpb.Session(LazyCUCB(problem=problem, epsilon=1), noise=dpb.SimulatedNoise(1), seed=1)
    d = s.ask()
    for tell in (lambda: s.tell(d, [0.5, 1.5]), lambda: s.tell_many([(d, [0.5, 1.5])])):
        with pytest.raises(dpb.RewardError, match="that of arm 3 is a value outside it"):
            tell()
    # on a user's device the arms are not known here
    with pytest.raises(dpb.RewardError, match="entry 1 is NaN"):
        CUCBLDP1(problem=dpb.TopK(arms=4, k=2), epsilon=1).randomizer().report(
            [0.5, np.nan], dpb.SimulatedNoise(1)
        )
