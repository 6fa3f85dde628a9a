"""Exact sums that an answer holds out of sight: none of these may pass."""

from __future__ import annotations

import functools
import struct
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpbandits.auditing.report import LevelResult
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.errors import Foreign
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer
from dpbandits.mechanisms.base import Pure
from dpbandits.noise import Noise
from dpbandits.simulation.transcript import form_of, identical


@dataclass(frozen=True, kw_only=True)
class Hides(Pure):
    """Correct, but for what `hide` makes of its noised total and the exact one."""

    epsilon: Fraction = Fraction(1)
    grid: Grid = Grid(steps=1)
    hide: Any = None
    proof = "lazy_forgetful"

    def start(self) -> list[int]:
        return []

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return memory, Answer(self.hide(noisy / self.grid.steps, total), count, 1)


class Slotted(float):
    __slots__ = ("exact",)


@dataclass
class Told:
    noisy: float
    exact: int


KEPT: list[float] = [0.0, 0.0]


def in_a_slot(noisy: float, total: int) -> float:
    told = Slotted(noisy)
    told.exact = total  # type: ignore[attr-defined]
    return told


def in_the_bits_of_nan(noisy: float, total: int) -> tuple[float, float]:
    return noisy, struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000000 | total))[0]


def in_the_order(noisy: float, total: int) -> Any:
    return np.array([[noisy, 1.0], [2.0, 3.0]], order="F" if total else "C")


def in_notes_on_the_type(noisy: float, total: int) -> Any:
    return np.array(noisy, dtype=np.dtype(float, metadata={"exact": total}))


def in_the_rest_of_an_array(noisy: float, total: int) -> Any:
    return np.array([noisy, total])[:1]


def in_an_object_that_is_kept(noisy: float, total: int) -> list[float]:
    """The object that was answered before changes, too, and so all answers were equal."""
    KEPT[:] = noisy, total
    return KEPT


HIDDEN = [
    in_a_slot,
    in_the_bits_of_nan,
    in_the_order,
    in_notes_on_the_type,
    in_the_rest_of_an_array,
    in_an_object_that_is_kept,
    Told,
]


def found(hide: Any) -> LevelResult:
    return transcript_level(feed(Hides(hide=hide)), rounds=32, replays=12)


@pytest.mark.parametrize("hide", HIDDEN)
def test_exact_sums_out_of_sight_do_not_pass(hide: Any) -> None:
    level = found(hide)
    # what is no plain value cannot be compared; and the bits are no sum of any noise, so nobody
    # can say what would make up for the record
    seen = hide in (in_the_order, in_an_object_that_is_kept)
    assert level.outcome == ("failed" if seen else "not applicable"), level


@pytest.mark.parametrize("hide", [lambda noisy, _: noisy, lambda noisy, _: np.array([noisy])])
def test_what_hides_nothing_passes(hide: Any) -> None:
    assert found(hide).outcome == "passed"


@pytest.mark.parametrize(
    "hide", [lambda noisy, total: functools.partial(abs, total), lambda _, total: {total}]
)
def test_of_what_cannot_be_compared_there_is_no_verdict(hide: Any) -> None:
    level = found(hide)
    assert (level.outcome, level.lower_bound) == ("not applicable", 0.0)
    assert "cannot be compared" in level.evidence


class Odd(float):
    pass


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize(
    "value",
    [
        Odd(1),
        Slotted(1),
        Colour.RED,
        Told(1.0, 2),
        {1},
        bytearray(b"a"),
        lambda: 0,
        np.void(b"a"),
        np.array([0, 1])[:1],
        np.array([1, "a"], object),
        [np.zeros(2, np.dtype(float, metadata={"exact": 1}))],
    ],
)
def test_what_may_hold_more_than_is_seen_is_not_compared(value: Any) -> None:
    with pytest.raises(Foreign, match="cannot be compared"):
        form_of(value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.zeros((2, 2)), np.zeros((2, 2)), True),
        (np.zeros((2, 2)), np.zeros((2, 2), order="F"), False),
        (np.zeros(2), np.zeros(2, np.float32), False),
        (np.float64(1), 1.0, False),
        ((1, 2), [1, 2], False),
        (True, 1, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), True),
        (Fraction(1, 3), Fraction(1, 3), True),
        (Fraction(1, 3), Fraction(1, 2), False),
        (Answer(1.0, 2, 3), Answer(1.0, 2, 3), True),
        (Answer(1.0, 2, 3), (1.0, 2, 3), False),
        ({"a": [1]}, {"a": [1]}, True),
        (b"a", b"a", True),
    ],
)
def test_all_that_a_value_holds_is_compared(one: Any, other: Any, same: bool) -> None:
    assert identical(one, other) is same
