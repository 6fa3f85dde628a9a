"""The law of a report that is made with coins alone, exactly: the report as a step function of
every coin that is thrown.

A coin is one of 2⁵³ equally likely numbers. Where the report, or what later coins make of it,
differs between two probes, the switching point between them is found to the last bit. What happens
only in a window narrower than 1/128 that no probe hits is not seen; windows at either end of a
coin, however narrow, are.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import cycle, pairwise
from typing import Any, final

from dpbandits.core.errors import NotSteps
from dpbandits.core.privacy import NoiseKind

ReportLaw = dict[int, Fraction]
ReportFunction = Callable[[Any], int]
"""What a randomizer makes of one reward and a source of coins."""

FACES = 2**53
DEEPEST = 4
"""Coins thrown for one report, at most."""

ENDLESS = 1000
"""Coins or draws of noise after which a loop that waits for a lucky one is given up."""

SWITCHES = 16
"""Switching points of one coin, at most."""

PROBES = sorted(
    {0, FACES - 1}
    | {2**k for k in range(53)}
    | {FACES - 2**k for k in range(53)}
    | {FACES * (2 * i + 1) // 256 + 77 for i in range(128)}
)
LATER = [
    [random.Random(i).randrange(FACES) for i in range(j, j + DEEPEST)]
    for j in range(0, 12 * DEEPEST, DEEPEST)
]
"""Fixed throws of later coins: by them, two throws of an earlier one are told apart."""


@final
class Coins:
    """Throws that are given; after them others, over and over."""

    kind: NoiseKind = "simulated"

    def __init__(self, first: Sequence[int], later: Sequence[int] = (FACES // 2,)) -> None:
        self.thrown, self._first, self._later = 0, first, cycle(later)

    def uniform(self) -> float:
        self.thrown += 1
        if self.thrown > ENDLESS:
            raise NotSteps("it throws coins again and again")
        return (
            self._first[self.thrown - 1] if self.thrown <= len(self._first) else next(self._later)
        ) / FACES

    def __getattr__(self, name: str) -> Any:
        raise NotSteps("it throws coins and draws noise for one reward")


def coin_law(report: ReportFunction, first: tuple[int, ...] = ()) -> ReportLaw:
    """The probability of every report, the `first` coins given."""
    coins = Coins(first)
    said = report(coins)
    if coins.thrown <= len(first):
        return {said: Fraction(1)}
    if len(first) == DEEPEST:
        raise NotSteps(f"it throws more than {DEEPEST} coins")
    law: ReportLaw = {}
    for low, high in steps(report, first):
        at_ends = [
            coin_law(report, (*first, coin)) for coin in sorted({low, (low + high) // 2, high - 1})
        ]
        if any(other != at_ends[0] for other in at_ends):
            raise NotSteps(
                "what later coins do depends on the value of an earlier one, not on its side of "
                "a few switching points"
            )
        for said, chance in at_ends[0].items():
            law[said] = law.get(said, Fraction(0)) + chance * Fraction(high - low, FACES)
    return law


def steps(report: ReportFunction, first: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """The stretches [low, high) of the next coin on which the report stays what it is."""
    starts, here = [0], shape(report, (*first, 0))
    for old, probe in pairwise(PROBES):
        low, there = old, shape(report, (*first, probe))
        while here != there:
            low = switching_point(report, first, low, probe)
            here = shape(report, (*first, low))
            starts.append(low)
            if len(starts) > SWITCHES:
                raise NotSteps(f"it switches more than {SWITCHES} times along one coin")
    return pairwise([*starts, FACES])


def switching_point(report: ReportFunction, first: tuple[int, ...], low: int, high: int) -> int:
    """The first throw above `low` with another outcome, if there is one switch between; one of the
    switches otherwise.
    """
    here = shape(report, (*first, low))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shape(report, (*first, middle)) == here else (low, middle)
    return high


def shape(report: ReportFunction, first: tuple[int, ...]) -> tuple[int, ...]:
    """What the report becomes for some throws of the later coins, if there are later ones."""
    said: list[int] = []
    for later in LATER:
        coins = Coins(first, later)
        said.append(report(coins))
        if coins.thrown <= len(first):
            break
    return tuple(said)
