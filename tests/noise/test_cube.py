"""The joint sampler, exactly: its geometric draws are given, every outcome of its coins is tried,
and the chances are added up as fractions. Nothing here is random.

A geometric draw is g with chance (1 − p)pᵍ, so n of them make m with chance C(m + n − 1, m)pᵐ
times a constant. The law is right if every point z, and every radius m behind it, has a chance of
pᵐ times one constant that does not depend on m or z.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from dpbandits.noise import exact
from dpbandits.noise.exact import cube

Sampler = Callable[[int, Callable[[int], list[int]]], list[int]]
HALF = Fraction(1, 2)


class Another(Exception):
    """The sampler throws a coin beyond those that were given: below which number."""


class Rejected(Exception):
    """It asks for geometric draws a second time."""


class Scripted:
    """One try at a radius: coins fall as given, and it is noted what was asked for."""

    def __init__(self, radius: int, given: Sequence[int]) -> None:
        self.radius, self.given, self.asked, self.draws = radius, given, list[int](), 0

    def geometrics(self, count: int) -> list[int]:
        if self.draws:
            raise Rejected
        self.draws = count
        return [self.radius, *[0] * (count - 1)]

    def whole_below(self, size: int) -> int:
        if len(self.asked) == len(self.given):
            raise Another(size)
        self.asked.append(size)
        return self.given[len(self.asked) - 1]


class Tried:
    """Tries a sampler on given coins."""

    def __init__(self, sampler: Sampler, dimension: int, patch: pytest.MonkeyPatch) -> None:
        self.sampler, self.dimension, self.patch = sampler, dimension, patch

    def __call__(self, radius: int, given: Sequence[int]) -> tuple[str, list[int] | int, Scripted]:
        coins = Scripted(radius, given)
        self.patch.setattr(exact, "whole_below", coins.whole_below)
        try:
            point = self.sampler(self.dimension, coins.geometrics)
        except Another as size:
            return "another", size.args[0], coins
        except Rejected:
            return "rejected", 0, coins
        return "drawn", point, coins


def weight(radius: int, count: int) -> Fraction:
    """The chance, over (1 − p)^count, that so many geometric draws make this radius; p = 1/2."""
    return math.comb(radius + count - 1, radius) * HALF**radius


def unrejected(dimension: int, geometrics: Callable[[int], list[int]]) -> list[int]:
    """BROKEN ON PURPOSE: every radius is taken."""
    m = sum(geometrics(dimension + 1))
    return [exact.whole_below(2 * m + 1) - m for _ in range(dimension)]


def of_dimension_less(dimension: int, geometrics: Callable[[int], list[int]]) -> list[int]:
    """BROKEN ON PURPOSE: the radius is that of a dimension less."""
    while True:
        m = sum(geometrics(dimension))
        if all(exact.whole_below(2 * (m + i)) < 2 * m + 1 for i in range(1, dimension)):
            return [exact.whole_below(2 * m + 1) - m for _ in range(dimension)]


def of_geometrics_less(dimension: int, geometrics: Callable[[int], list[int]]) -> list[int]:
    """BROKEN ON PURPOSE: a geometric draw too few."""
    return cube(dimension, lambda count: geometrics(count - 1))


TWINS = [unrejected, of_dimension_less, of_geometrics_less]


def chance_of_a_point(tried: Tried, radius: int) -> Fraction:
    """The chance of one point of this radius, over pᵐ, where there are too many courses to follow:
    of every coin all outcomes are tried, the others being 0.

    The other coins do not matter: that is tried with each of them at its largest outcome, too.
    """
    given, sizes, chance = list[int](), list[int](), Fraction(1)
    while True:
        what, said, coins = tried(radius, given)
        if what != "another":
            break
        assert isinstance(said, int)
        goes_on = [
            throw for throw in range(said) if tried(radius, [*given, throw])[0] != "rejected"
        ]
        assert goes_on == list(range(len(goes_on)))
        last = [count - 1 for count in sizes] + [goes_on[-1]]
        assert tried(radius, last)[0] != "rejected"
        chance *= Fraction(len(goes_on), said)
        sizes.append(len(goes_on))
        given.append(0)
    assert what == "drawn"
    points = sizes[-tried.dimension :]
    assert points == [2 * radius + 1] * tried.dimension
    for place in range(tried.dimension):
        at = len(given) - tried.dimension + place
        moved = [
            tried(radius, [*given[:at], throw, *given[at + 1 :]])[1] for throw in range(points[0])
        ]
        assert [p[place] for p in moved if isinstance(p, list)] == list(range(-radius, radius + 1))
        assert len({tuple(p[:place] + p[place + 1 :]) for p in moved if isinstance(p, list)}) == 1
    over = chance / Fraction(2 * radius + 1) ** tried.dimension
    return over * weight(radius, coins.draws) / HALF**radius


@pytest.mark.parametrize("dimension", [1, 2, 3, 17])
def test_any_dimension_has_its_law_exactly(dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Tried(cube, dimension, monkeypatch)
    found = {chance_of_a_point(tried, radius) for radius in (0, 1, 2, 5, 40)}
    assert found == {Fraction(1, 2**dimension * math.factorial(dimension))}


@pytest.mark.parametrize("dimension", [2, 17])
@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_broken_twins_have_another_law(
    twin: Sampler, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Tried(twin, dimension, monkeypatch)
    assert len({chance_of_a_point(tried, radius) for radius in (0, 1, 2)}) > 1


def test_only_the_sum_of_the_geometric_draws_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests above take for granted: they give the whole radius in one draw."""
    for given in ([4, 0, 0], [0, 4, 0], [1, 1, 2], [0, 3, 1]):
        coins = Scripted(4, [0] * 4)
        monkeypatch.setattr(exact, "whole_below", coins.whole_below)
        assert cube(2, lambda count, given=given: given[:count]) == [-4, -4]  # type: ignore[misc]
        assert coins.asked == [10, 12, 9, 9]
