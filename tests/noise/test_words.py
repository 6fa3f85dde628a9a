"""Whole numbers from bytes: which bytes are read, and what is made of them. Nothing here is
random.
"""

import os
from collections.abc import Callable
from fractions import Fraction

import pytest

from dpbandits.noise import SecureNoise, SimulatedNoise
from dpbandits.noise.exact import truth, whole_below
from dpbandits.noise.protocol import toss

LAST = 2**64 - 1


def scripted(*words: int) -> Callable[[int], bytes]:
    """`os.urandom` that gives these words of 8 bytes, in this order."""
    left = b"".join(word.to_bytes(8, "big") for word in words)

    def read(size: int) -> bytes:
        nonlocal left
        given, left = left[:size], left[size:]
        assert len(given) == size, "more bytes are read than expected"
        return given

    return read


@pytest.mark.parametrize(
    ("size", "words", "drawn"),
    [
        (1, [LAST], 0),
        (2, [5], 1),
        (3, [LAST, LAST - 1], 2),  # 2^64 is 1 modulo 3: the last word alone is refused
        (3, [LAST - 1], 2),
        (2**64, [LAST], LAST),
        (2**64 + 1, [0, 7], 7),
        (2**64 + 1, [1, 3], 2),  # 2^64 + 3
        (2**64 + 1, [LAST, LAST, 0, 4], 4),  # and so is 2^128 modulo 2^64 + 1
        (2**128, [1, 0], 2**64),
    ],
)
def test_what_is_made_of_the_words(
    size: int, words: list[int], drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", scripted(*words))
    assert whole_below(size) == drawn


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 12])
def test_every_number_is_as_likely(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accepted are the last 2·size words below the bound; those beyond are refused."""
    bound = 2**64 - 2**64 % size
    found = []
    for word in range(bound - 2 * size, bound):
        monkeypatch.setattr(os, "urandom", scripted(word))
        found.append(whole_below(size))
    assert found == [*range(size)] * 2
    for word in range(bound, 2**64):
        monkeypatch.setattr(os, "urandom", scripted(word, 0))
        assert whole_below(size) == 0


def test_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secure coin is exact; another source's is its uniform number's."""
    part = 2**60 + 1
    for word, lands in ((part - 1, True), (part, False)):
        monkeypatch.setattr(os, "urandom", scripted(word))
        assert toss(SecureNoise(), part, 2**64) is lands
    number = SimulatedNoise(3).uniform()
    for bias in (number / 2, number * 1.01):
        assert toss(SimulatedNoise(3), *bias.as_integer_ratio()) is (number < bias)
    monkeypatch.setattr(os, "urandom", scripted(2**11))
    assert SecureNoise().uniform() == 2.0**-53


@pytest.mark.parametrize(
    "epsilon",
    ["1/1000000", "1/7", "1/3", "1", "5/2", "10", "36", "37", "40", "41", f"1/{10**90}", "1e90"],
)
def test_the_truth_is_the_largest_multiple_that_is_private(epsilon: str) -> None:
    """q on a grid of 2^-53 is private, the next larger one is not, by bounds of e^ε."""
    exact = Fraction(epsilon)
    chance = Fraction(truth(exact), 2**64)
    assert chance * 2**53 % 1 == 0
    assert Fraction(1, 2) <= chance < 1
    cost, below, term = min(exact, Fraction(40)), Fraction(0), Fraction(1)
    for turn in range(1, 300):
        below += term
        term = term * cost / turn
        if turn % 8 == 0:  # short numbers, rounded down
            term = Fraction(int(term * 2**400), 2**400)
    above = below + Fraction(1, 2**100)  # what is left of the series, and the rounding
    assert chance <= below * (1 - chance)
    larger = chance + Fraction(1, 2**53)
    assert larger == 1 or larger > above * (1 - larger)
