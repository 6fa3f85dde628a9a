"""Exact samplers of our own, which ask the operating system for every coin when it is thrown, and
the coins of randomised response.

They keep nothing between two numbers, no generator's state. All is in whole
numbers: no scale is rounded (Canonne, Kamath and Steinke 2020, Algorithms 1 to 3).
"""

import math
import os
from collections.abc import Callable, Sequence
from fractions import Fraction


def whole_below(size: int) -> int:
    """A uniform whole number in 0 … size − 1, by rejection.

    Words of 8 bytes, the first one the highest, make a number below W = 2^64 (of more words, where
    `size` is larger). It is drawn anew if it lies beyond the largest multiple of `size` in W.
    """
    words = max(1, -(-(size - 1).bit_length() // 64))
    reach = 2 ** (64 * words)
    while True:
        drawn = int.from_bytes(os.urandom(8 * words), "big")
        if drawn < reach - reach % size:
            return drawn % size


LARGEST_SCALE = 2**50
"""Grid steps. Noise of this scale stays within 64 bits but with probability e^-8192."""


def check_scale(sensitivity: int, price: Fraction) -> None:
    if sensitivity / price > LARGEST_SCALE:
        raise ValueError(
            f"Expected a price of at least {sensitivity / LARGEST_SCALE:.1g} for "
            f"grid={sensitivity}, got {float(price):.1g}."
        )


def fresh_draw(family: str, sensitivity: int, price: Fraction) -> int:
    """One draw of the discrete Laplace or Gaussian law, at exactly the scale that costs `price`.

    Raises:
        ValueError: the noise would not fit into 64 bits.
    """
    check_scale(sensitivity, price)
    return (
        discrete_laplace(sensitivity / price)
        if family == "laplace"
        else discrete_gaussian(sensitivity**2 / (2 * price))
    )


def fresh_cube(dimension: int, sensitivity: int, price: Fraction) -> list[int]:
    """One draw of the cube's law, at exactly the scale that costs `price`.

    Raises:
        ValueError: the noise would not fit into 64 bits.
    """
    check_scale(sensitivity * (dimension + 1), price)
    scale = sensitivity / price
    return cube(dimension, lambda count: [geometric(scale) for _ in range(count)])


def fresh_choice(values: list[int], sensitivity: int, price: Fraction, law: str) -> int:
    """The noisy maximum by any of the three laws, at exactly the scale that costs `price`."""
    scale = 2 * sensitivity / price
    if law == "laplace":
        noised = [value + discrete_laplace(scale) for value in values]
        return noised.index(max(noised))
    return exponential(values, scale) if law == "exponential" else permute_and_flip(values, scale)


def geometric(scale: Fraction) -> int:
    """P[X = x] is proportional to e^(−x/scale), x = 0, 1, 2, …"""
    whole, parts = scale.numerator, scale.denominator
    rest = whole_below(whole)
    while not decayed(rest, whole):
        rest = whole_below(whole)
    turns = 0
    while decayed(1, 1):
        turns += 1
    return (rest + whole * turns) // parts


def cube(dimension: int, geometrics: Callable[[int], list[int]]) -> list[int]:
    """A draw z of the law on Z^dimension with P[z] proportional to e^(−max|z_i|/scale).

    The largest |z_i| is m with probability proportional to (2m + 1)^dimension e^(−m/scale), by
    rejection: a sum m of dimension + 1 geometric variables is taken with probability
    Π_i (2m + 1)/(2(m + i)), the quotient of two whole numbers. Then z is uniform on {−m … m}.

    geometrics: so many fresh draws of `geometric` at this scale.
    """
    while True:
        m = sum(geometrics(dimension + 1))
        if all(whole_below(2 * (m + i)) < 2 * m + 1 for i in range(1, dimension + 1)):
            return [whole_below(2 * m + 1) - m for _ in range(dimension)]


def discrete_laplace(scale: Fraction) -> int:
    """Discrete Laplace: P[X = x] is proportional to e^(−|x|/scale)."""
    while True:
        size, negative = geometric(scale), whole_below(2)
        if size or not negative:  # zero has one sign only
            return -size if negative else size


def discrete_gaussian(variance: Fraction) -> int:
    """Discrete Gaussian: P[X = x] is proportional to e^(−x²/(2·variance))."""
    scale = math.isqrt(variance.numerator // variance.denominator) + 1
    while True:
        draw = discrete_laplace(Fraction(scale))
        excess = (abs(draw) - variance / scale) ** 2 / (2 * variance)
        if decayed(excess.numerator, excess.denominator):
            return draw


def permute_and_flip(values: Sequence[int], scale: Fraction) -> int:
    """Index of the largest value plus exponential noise of this mean: in random order, the first
    whose coin of bias e^((value − largest)/scale) comes up (McKenna and Sheldon 2020).
    """
    left, largest = list(range(len(values))), max(values)
    while True:
        index = left.pop(whole_below(len(left)))
        if decayed((largest - values[index]) * scale.denominator, scale.numerator):
            return index


def exponential(values: Sequence[int], scale: Fraction) -> int:
    """Index i with probability proportional to e^(values[i]/scale), by rejection of a uniform
    one.
    """
    largest = max(values)
    while True:
        index = whole_below(len(values))
        if decayed((largest - values[index]) * scale.denominator, scale.numerator):
            return index


def decayed(part: int, whole: int) -> bool:
    """A coin of bias e^(−part/whole), for whole numbers part >= 0 and whole > 0."""
    while part > whole:
        if not decayed(1, 1):
            return False
        part -= whole
    tries = 1
    while whole_below(whole * tries) < part:
        tries += 1
    return tries % 2 == 1


# How often randomised response says the truth, in whole numbers: every machine computes the
# same.


PRECISION = 2**128
"""What stands for 1 in the sum."""

CERTAIN = Fraction(40)
"""Beyond this epsilon nothing changes any more: e^-40 < 2^-53."""


def truth(epsilon: Fraction) -> int:
    """The chance to say the truth, in parts of 2^64: a multiple of 2^11, so that 53-bit coins land
    with it, too.

    It is never above 1/(1 + e^−epsilon): each term of the series of e^epsilon is rounded down, and
    then the quotient. It is at least one half.

    >>> truth(Fraction(1)) / 2**64, 2**64 - truth(Fraction(99))
    (0.7310585786300048, 2048)
    """
    price = min(epsilon, CERTAIN)
    term = growth = PRECISION
    turn = 0
    while term:
        turn += 1
        term = term * price.numerator // (price.denominator * turn)
        growth += term
    return 2**53 * growth // (growth + PRECISION) * 2**11
