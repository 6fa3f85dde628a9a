"""Exact samplers that take every random bit from the operating system, and the probability of
randomised response.

They keep no generator's state between two numbers. All numbers are whole, and no scale is rounded
(Canonne, Kamath and Steinke 2020, Algorithms 1 to 3).
"""

import math
import os
from collections.abc import Callable, Sequence
from fractions import Fraction


def whole_below(size: int) -> int:
    """Return a uniform whole number in 0 … size − 1, by rejection.

    Words of 8 bytes, the highest first, make a number below W = 2^64 (more words for a larger
    `size`). It is drawn again if it lies beyond the largest multiple of `size` in W.
    """
    words = max(1, -(-(size - 1).bit_length() // 64))
    reach = 2 ** (64 * words)
    while True:
        drawn = int.from_bytes(os.urandom(8 * words), "big")
        if drawn < reach - reach % size:
            return drawn % size


LARGEST_SCALE = 2**50
"""The largest scale, in grid steps. Noise of this scale exceeds 64 bits at rate e^-8192."""


def check_scale(sensitivity: int, cost: Fraction) -> None:
    if sensitivity / cost > LARGEST_SCALE:
        raise ValueError(
            f"Expected a budget of at least {sensitivity / LARGEST_SCALE:.1g} for "
            f"grid={sensitivity}, got {float(cost):.1g}."
        )


def fresh_draw(family: str, sensitivity: int, cost: Fraction) -> int:
    """Return one draw of the discrete Laplace or Gaussian law, at exactly the scale that costs
    `cost`.

    Raises:
        ValueError: the noise would not fit into 64 bits.
    """
    check_scale(sensitivity, cost)
    return (
        discrete_laplace(sensitivity / cost)
        if family == "laplace"
        else discrete_gaussian(sensitivity**2 / (2 * cost))
    )


def fresh_cube(dimension: int, sensitivity: int, cost: Fraction) -> list[int]:
    """Return one draw of the cube's law, at exactly the scale that costs `cost`.

    Raises:
        ValueError: the noise would not fit into 64 bits.
    """
    check_scale(sensitivity * (dimension + 1), cost)
    scale = sensitivity / cost
    return cube(dimension, lambda count: [geometric(scale) for _ in range(count)])


def fresh_choice(values: list[int], sensitivity: int, cost: Fraction, law: str) -> int:
    """Return the noisy maximum by any of the three laws, at exactly the scale that costs `cost`."""
    scale = 2 * sensitivity / cost
    if law == "laplace":
        noised = [value + discrete_laplace(scale) for value in values]
        return noised.index(max(noised))
    return exponential(values, scale) if law == "exponential" else permute_and_flip(values, scale)


def geometric(scale: Fraction) -> int:
    """Return a draw with P[X = x] proportional to e^(−x/scale), x = 0, 1, 2, …"""
    whole, parts = scale.numerator, scale.denominator
    rest = whole_below(whole)
    while not exponential_coin(rest, whole):
        rest = whole_below(whole)
    wholes = 0
    while exponential_coin(1, 1):
        wholes += 1
    return (rest + whole * wholes) // parts


def cube(dimension: int, geometrics: Callable[[int], list[int]]) -> list[int]:
    """Return a draw z on Z^dimension with P[z] proportional to e^(−max|z_i|/scale).

    The largest |z_i| is m with probability proportional to (2m + 1)^dimension e^(−m/scale), by
    rejection: a sum m of dimension + 1 geometric variables is accepted with probability Π_i (2m +
    1)/(2(m + i)), the quotient of two whole numbers. Then z is uniform on {−m … m}.

    Args:
        dimension: number of coordinates.
        geometrics: returns the requested number of fresh draws of `geometric` at this scale.
    """
    while True:
        m = sum(geometrics(dimension + 1))
        if all(whole_below(2 * (m + i)) < 2 * m + 1 for i in range(1, dimension + 1)):
            return [whole_below(2 * m + 1) - m for _ in range(dimension)]


def discrete_laplace(scale: Fraction) -> int:
    """Return a discrete Laplace draw: P[X = x] is proportional to e^(−|x|/scale)."""
    while True:
        size, negative = geometric(scale), whole_below(2)
        if size or not negative:  # zero has one sign only
            return -size if negative else size


def discrete_gaussian(variance: Fraction) -> int:
    """Return a discrete Gaussian draw: P[X = x] is proportional to e^(−x²/(2·variance))."""
    scale = math.isqrt(variance.numerator // variance.denominator) + 1
    while True:
        draw = discrete_laplace(Fraction(scale))
        excess = (abs(draw) - variance / scale) ** 2 / (2 * variance)
        if exponential_coin(excess.numerator, excess.denominator):
            return draw


def permute_and_flip(values: Sequence[int], scale: Fraction) -> int:
    """Return the index of the largest value plus exponential noise of mean `scale`.

    Indices are visited in random order; the first whose coin of bias e^((value − largest)/scale)
    succeeds is returned (McKenna and Sheldon 2020).
    """
    left, largest = list(range(len(values))), max(values)
    while True:
        index = left.pop(whole_below(len(left)))
        if exponential_coin((largest - values[index]) * scale.denominator, scale.numerator):
            return index


def exponential(values: Sequence[int], scale: Fraction) -> int:
    """Return index i with probability proportional to e^(values[i]/scale), by rejection from the
    uniform law.
    """
    largest = max(values)
    while True:
        index = whole_below(len(values))
        if exponential_coin((largest - values[index]) * scale.denominator, scale.numerator):
            return index


def exponential_coin(part: int, whole: int) -> bool:
    """Return a coin of bias e^(−part/whole), for whole numbers part >= 0 and whole > 0."""
    while part > whole:
        if not exponential_coin(1, 1):
            return False
        part -= whole
    tries = 1
    while whole_below(whole * tries) < part:
        tries += 1
    return tries % 2 == 1


# The probability of the true bit in randomised response, in whole numbers: every machine computes
# the same one.


PRECISION = 2**128
"""Represents 1 in the sum."""

CERTAIN = Fraction(40)
"""A larger ε changes nothing: e^-40 < 2^-53."""


def truth(epsilon: Fraction) -> int:
    """Return the probability of the true bit, in parts of 2^64. It is a multiple of 2^11, so that
    53-bit coins have it exactly.

    It is never above 1/(1 + e^−ε): each term of the series of e^ε is rounded down, and then the
    quotient. It is at least one half.

    >>> truth(Fraction(1)) / 2**64, 2**64 - truth(Fraction(99))
    (0.7310585786300048, 2048)
    """
    capped = min(epsilon, CERTAIN)
    term = growth = PRECISION
    power = 0
    while term:
        power += 1
        term = term * capped.numerator // (capped.denominator * power)
        growth += term
    return 2**53 * growth // (growth + PRECISION) * 2**11
