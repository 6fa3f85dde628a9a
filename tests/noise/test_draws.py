"""Our own samplers, exactly: every course that their coins may take is followed, and the chances
are added up. Nothing here is random.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count

import pytest

from dpbandits.auditing.laws import selection_law
from dpbandits.noise import exact

TINY = 1e-6
"""Courses less likely than this are not followed; how much that leaves out is known."""

REACH = 30
"""Proposals beyond this are left out."""


class Undecided(Exception):
    """A coin is thrown whose outcome is not given yet: its chances."""


class Anew(Exception):
    """The sampler throws its first coin again: what follows has the same law."""


class Coins:
    """Throws the coins as given, in place of `whole_below` and `exponential_coin`."""

    def __init__(self, given: Sequence[int]) -> None:
        self._given, self._first = iter(given), 0

    def throw(self, chances: Sequence[float]) -> int:
        for outcome in self._given:
            return outcome
        raise Undecided(chances)

    def whole_below(self, size: int) -> int:
        if size == self._first:
            raise Anew
        self._first = self._first or size
        return self.throw([1 / size] * size)

    def exponential_coin(self, part: int, whole: int) -> bool:
        kept = math.exp(-part / whole)
        return bool(self.throw([1 - kept, kept]))


def law(
    sampler: Callable[[Coins], int], patch: pytest.MonkeyPatch
) -> tuple[dict[int, float], float, float]:
    """Chances of outcomes over courses that end, of those that start anew, and of the others."""
    found, anew, left, courses = dict[int, float](), 0.0, 0.0, [((), 1.0)]
    while courses:
        given, chance = courses.pop()
        coins = Coins(given)
        patch.setattr(exact, "whole_below", coins.whole_below)
        patch.setattr(exact, "exponential_coin", coins.exponential_coin)
        try:
            outcome = sampler(coins)
        except Undecided as asked:
            shares = [(throw, chance * share) for throw, share in enumerate(asked.args[0])]
            left += sum(share for _, share in shares if share < TINY)
            courses += [((*given, throw), share) for throw, share in shares if share >= TINY]  # type: ignore[misc]
        except Anew:
            anew += chance
        else:
            found[outcome] = found.get(outcome, 0.0) + chance
    return found, anew, left


def check(found: dict[int, float], anew: float, left: float, exact: Callable[[int], float]) -> None:
    """Each chance lies between what was found and that plus what was left out."""
    assert left < 1e-3
    assert sum(found.values()) + anew + left == pytest.approx(1, abs=1e-9)
    for outcome, chance in found.items():
        assert (
            chance / (1 - anew) - 1e-9
            <= exact(outcome)
            <= (chance + left) / (1 - anew - left) + 1e-9
        )


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3), Fraction(3, 2), Fraction(1, 3)])
def test_laplace(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    q = math.exp(-1 / scale)
    found, anew, left = law(lambda coins: exact.discrete_laplace(scale), monkeypatch)
    assert set(found) >= {-2, -1, 0, 1, 2}
    check(found, anew, left, lambda x: (1 - q) / (1 + q) * q ** abs(x))


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(7, 3)])
def test_gaussian(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its proposals are replaced by coins with the law that the test above holds them to."""

    def sampler(coins: Coins) -> int:
        asked = count()

        def proposed(scale: Fraction) -> int:
            if next(asked):
                raise Anew
            q = math.exp(-1 / scale)
            return (
                coins.throw([(1 - q) / (1 + q) * q ** abs(x - REACH) for x in range(2 * REACH + 1)])
                - REACH
            )

        monkeypatch.setattr(exact, "discrete_laplace", proposed)
        return exact.discrete_gaussian(variance)

    found, anew, left = law(sampler, monkeypatch)
    beyond = 1 - sum(found.values()) - anew - left  # proposals beyond our reach
    total = sum(math.exp(-x * x / (2 * variance)) for x in range(-40, 41))
    check(found, anew, left + beyond, lambda x: math.exp(-x * x / (2 * variance)) / total)


@pytest.mark.parametrize("values", [[3, 1, 2], [0, 0], [5], [7, 2, 7, 0]])
def test_choices(values: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    scale = Fraction(5, 2)
    for sampler, name in (
        (exact.permute_and_flip, "permute-and-flip"),
        (exact.exponential, "exponential"),
    ):
        found, anew, left = law(lambda coins, sampler=sampler: sampler(values, scale), monkeypatch)  # type: ignore[misc]
        expected = selection_law(values, scale=float(scale), selection=name)  # type: ignore[arg-type]
        check(found, anew, left, lambda i, expected=expected: float(expected[i]))  # type: ignore[misc]
        assert set(found) == set(range(len(values)))


@pytest.mark.parametrize(("part", "whole"), [(0, 3), (1, 7), (3, 4), (1, 1), (5, 2), (30, 4)])
def test_the_coin(part: int, whole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole·k below part, and an odd last one says yes: a bias of Σ (−part/whole)^k/k!."""
    for tries in (1, 2, 3):
        seen, script = list[int](), iter([0] * (tries - 1) + [10**9])
        monkeypatch.setattr(
            exact,
            "whole_below",
            lambda size, seen=seen, script=script: seen.append(size) or next(script),
        )
        if 0 < part <= whole:
            assert exact.exponential_coin(part, whole) is (tries % 2 == 1)
            assert seen == [whole * k for k in range(1, tries + 1)]


@pytest.mark.parametrize("sensitivity", [1, 3, 1024])
@pytest.mark.parametrize("cost", [Fraction(1, 3), Fraction(2), Fraction(7, 10)])
def test_a_draw_has_exactly_the_scale_of_its_cost(
    sensitivity: int, cost: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sensitivity/epsilon; sensitivity²/(2 rho); for a choice 2 sensitivity/epsilon."""
    scales = list[Fraction]()

    def spy(kept: int) -> Callable[..., int]:
        return lambda *given: scales.append(given[kept]) or 0

    for name, kept in (
        ("discrete_laplace", 0),
        ("discrete_gaussian", 0),
        ("geometric", 0),
        ("exponential", 1),
        ("permute_and_flip", 1),
    ):
        monkeypatch.setattr(exact, name, spy(kept))
    exact.fresh_draw("laplace", sensitivity, cost)
    exact.fresh_draw("gaussian", sensitivity, cost)
    for choice in ("laplace", "exponential", "permute-and-flip"):
        exact.fresh_choice([5], sensitivity, cost, choice)
    single = sensitivity / cost
    assert scales == [single, sensitivity * single / 2, *[2 * single] * 3]
    scales.clear()
    exact.fresh_cube(2, sensitivity, cost)
    assert set(scales) == {single}
