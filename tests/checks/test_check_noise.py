"""The check of noise sources passes ours, and names each law that a broken one has not."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpbandits.checks import CheckFailed, check_noise
from dpbandits.noise import SecureNoise, SimulatedNoise


def test_ours_pass() -> None:
    check_noise(SimulatedNoise(1))
    with pytest.raises(TypeError):
        check_noise(SimulatedNoise)  # type: ignore[arg-type]


@pytest.mark.long
def test_the_secure_source_passes() -> None:
    check_noise(SecureNoise())


def at_four_fifths(self: SimulatedNoise, value: int, *, sensitivity: int, **cost: Fraction) -> int:
    ((kind, price),) = cost.items()
    draw = SimulatedNoise.laplace if kind == "epsilon" else SimulatedNoise.gaussian
    less = {kind: price * Fraction(5, 4) ** (1 if kind == "epsilon" else 2)}
    return draw(self, value, sensitivity=sensitivity, **less)


def even(self: SimulatedNoise, value: int, **price: Any) -> int:
    return value + 2 * round((SimulatedNoise.laplace(self, 0, **price) + self.uniform() - 0.5) / 2)


def every_second(self: Any, value: int, **price: Any) -> int:
    last = getattr(self, "last", None)
    self.last = SimulatedNoise.laplace(self, 0, **price) if last is None else None
    return value + (self.last if last is None else last)


def none_far_away(self: SimulatedNoise, value: int, **price: Any) -> int:
    return value if value > 1000 else SimulatedNoise.laplace(self, value, **price)


def each_alone(self: SimulatedNoise, values: Any, **price: Any) -> tuple[int, ...]:
    return tuple(self.laplace(value, **price) for value in values)


def largest(self: SimulatedNoise, values: Any, *, law: str, epsilon: Fraction, **price: Any) -> int:
    twice = epsilon * (2 if law == "permute-and-flip" else 1)
    return SimulatedNoise.select(self, values, law=law, epsilon=twice, **price)  # type: ignore[arg-type]


BROKEN: dict[str, tuple[str, Callable[..., Any]]] = {
    "four fifths": ("laplace", at_four_fifths),
    "four fifths, normal": ("gaussian", at_four_fifths),
    "even": ("laplace", even),
    "twice": ("laplace", every_second),
    "by value": ("laplace", none_far_away),
    "several": ("laplaces", lambda self, values, **price: list(values)),
    "alone": ("joint", each_alone),
    "threshold": ("threshold", lambda self, **price: 1),
    "select, permute-and-flip": ("select", largest),
    "uniform": ("uniform", lambda self: SimulatedNoise.uniform(self) ** 1.2),
    "toss": ("toss", lambda self, part, whole: self.uniform() < 0.28),
}


@pytest.mark.parametrize("how", BROKEN)
def test_broken_ones_do_not(how: str) -> None:
    name, broken = BROKEN[how]
    source = type("Broken", (SimulatedNoise,), {name: broken})(1)
    with pytest.raises(CheckFailed, match="has another law"):
        check_noise(source)
