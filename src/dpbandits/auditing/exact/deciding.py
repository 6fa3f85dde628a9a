"""Which decision follows at each point of a lattice of released totals: the policy is asked."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.auditing.effort import Effort
from dpbandits.core.errors import Unfit
from dpbandits.core.inputs import Floats
from dpbandits.policies.contract import Policy
from dpbandits.policies.cumulative import DPIMED, DPKLUCB
from dpbandits.policies.every_round import DPUCB, DPUCBBound, HybridUCB
from dpbandits.policies.experts import NaiveFTNL
from dpbandits.policies.forgetful import AdaPKLUCB, AdaPUCB, AnytimeLazyUCB

Point = tuple[int, ...]
Decide = Callable[[Point], int]

POINTS_AN_ASK = 200
"""Points of a lattice that are summed in the time in which a policy is asked once."""

HEAVY = 1e-4
"""Of the probability: points that carry more are asked of every policy."""


class TotalRange(NamedTuple):
    """One arm's totals in a box. law: of the noise in its total, centred at 0. most: what its
    rewards may add to it. reach: how far the box goes beyond either.
    """

    law: Floats
    most: int
    reach: int

    @property
    def ends(self) -> tuple[int, int]:
        return -self.reach, self.reach + self.most

    def likelier_than(self, mass: float) -> list[tuple[int, float]]:
        """The totals that come with more than this probability, whatever the rewards, and that
        probability at most.
        """
        low, high = self.ends
        away = {x: max(-x, x - self.most, 0) for x in range(low, high + 1)}
        centre = len(self.law) // 2
        return [
            (x, float(self.law[centre + d]))
            for x, d in away.items()
            if d <= centre and self.law[centre + d] > mass
        ]


Box = Sequence[TotalRange]
"""A range an arm."""


MONOTONE = (
    AdaPKLUCB,
    AdaPUCB,
    AnytimeLazyUCB,
    DPIMED,
    DPKLUCB,
    DPUCB,
    DPUCBBound,
    HybridUCB,
    NaiveFTNL,
)
"""Raising an arm's released total can only favour that arm, and moves nothing else; a test asks
their rules at every point. (Batches of `DPRateIMED` depend on totals.)
"""


def known_monotone(policy: Policy) -> bool:
    """Whether corners say what is between them. A subclass may decide as it likes."""
    return type(policy) in MONOTONE


@final
class Deciding:
    """Asks one policy: at every point, but for a rule that is known to be monotone. One that jumps
    at a single point would not be noticed by asking some of them.
    """

    def __init__(self, policy: Policy, effort: Effort) -> None:
        self.monotone, self.effort = known_monotone(policy), effort
        self.asked = 0

    @property
    def how(self) -> str:
        """For a report."""
        if self.monotone:
            return f"corners, and points of more than {HEAVY:g}: its rule is known to be monotone"
        return "every point"

    def on(self, box: Box, decide: Decide) -> NDArray[np.int16]:
        """The decision at every point of the box.

        Raises:
            Unfit: it takes longer to ask than the effort allows, or the rule is not monotone.
        """
        if not self.monotone:
            return self._everywhere(box, decide)
        asked = cache(decide)
        table = by_corners(box, asked)
        for point in heavy(box):
            if table[tuple(x + span.reach for x, span in zip(point, box, strict=True))] != asked(
                point
            ):
                raise Unfit("its rule is not monotone in the released totals")
        return table

    def _everywhere(self, box: Box, decide: Decide) -> NDArray[np.int16]:
        *others, last = [range(low, high + 1) for low, high in (span.ends for span in box)]
        table = np.zeros((*map(len, others), len(last)), np.int16)
        for at, start in enumerate(product(*others)):
            self.asked += len(last)
            self.effort.spend(POINTS_AN_ASK * len(last))
            if self.effort.left() < 0:
                raise Unfit(
                    "it takes longer than was allowed to ask its rule at every point; take fewer "
                    "rounds, or a larger budget"
                )
            table.reshape(-1, len(last))[at] = [decide((*start, x)) for x in last]
        return table


def heavy(box: Box) -> Iterator[Point]:
    """The points that carry more than `HEAVY` of the probability for some rewards."""
    highest = [float(span.law.max()) for span in box]
    whole = float(np.prod(highest))
    likely = [
        span.likelier_than(HEAVY * top / whole) for span, top in zip(box, highest, strict=True)
    ]
    for together in product(*likely):
        if np.prod([mass for _, mass in together]) > HEAVY:
            yield tuple(x for x, _ in together)


def by_corners(box: Box, asked: Decide) -> NDArray[np.int16]:
    """Of a sub-box whose corners agree only the corners are asked: exact where raising an arm's
    total can only favour that arm, as with every index.
    """
    table = np.zeros([high - low + 1 for low, high in (span.ends for span in box)], np.int16)
    stack = [tuple(span.ends for span in box)]
    while stack:
        part = stack.pop()
        corners = list(product(*[(a, b) if a < b else (a,) for a, b in part]))
        said = [asked(corner) for corner in corners]
        widest = max(range(len(part)), key=lambda i: part[i][1] - part[i][0])
        a, b = part[widest]
        if len(set(said)) == 1:
            cells = (
                slice(a + span.reach, b + span.reach + 1)
                for (a, b), span in zip(part, box, strict=True)
            )
            table[tuple(cells)] = said[0]
        elif b - a <= 1:
            for corner, k in zip(corners, said, strict=True):
                table[tuple(c + span.reach for c, span in zip(corner, box, strict=True))] = k
        else:
            middle = (a + b) // 2
            stack += [
                (*part[:widest], half, *part[widest + 1 :]) for half in ((a, middle), (middle, b))
            ]
    return table
