"""BROKEN ON PURPOSE: the sparse vector variants that Lyu, Su and Li 2017 found to be wrong.

A stream of rewards; after each, a question: is the sum so far above the threshold (odd rounds), is
its opposite (even rounds)? A replaced reward moves every later question by one, up and down in
turn, which is what these variants cannot stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.auditing.broken.specimen import ONE, Dishonest, Specimen
from dpbandits.core.privacy import Grid
from dpbandits.noise.sources import Noise


class Said(NamedTuple):
    """Public: 1 for above, 0 for below, −1 once it has stopped; and the noisy value, where the
    variant tells it.
    """

    above: Any
    value: Any


@final
@dataclass(frozen=True, kw_only=True)
class Questions(Dishonest):
    """BROKEN ON PURPOSE unless its shares add up as proved.

    threshold: share of epsilon for the threshold's noise, of scale 1/(share·epsilon). query: the
        same for each question; None: no noise.
    most: "above" answers until it stops; None: it never does.
    tells: whether "above" comes with the value it was decided on. bar: the threshold, in rewards.
    """

    threshold: Fraction = Fraction(1, 2)
    query: Fraction | None = Fraction(1, 2)
    most: int | None = 1
    tells: bool = False
    bar: int = 0

    def start(self) -> list[Any]:
        return [0, 0, 0, None]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Said]:
        asked, summed, above, drawn = memory[0] + 1, memory[1] + total, *memory[2:]
        if not self.by_arrays and above >= (self.most or 0):
            return [asked, summed, above, drawn], Said(-1, 0.0)
        if drawn is None:
            draw = noise.laplace if self.by_arrays else lambda _, **price: noise.threshold(**price)
            drawn = draw(0, sensitivity=self.grid.steps, epsilon=self.epsilon * self.threshold)
        yes, value = self.ask(summed if asked % 2 else -summed, drawn, noise)
        if self.by_arrays and self.most is not None:
            going = np.asarray(above) < self.most
            yes, said = yes * going, Said(np.where(going, yes, -1), np.where(going, value, 0.0))
            return [asked, summed, above + yes, drawn], said
        return [asked, summed, above + yes, drawn], Said(yes, value)

    @property
    def by_arrays(self) -> bool:
        """Whether no noised value decides what is asked for next, so that many runs can be played
        at once.
        """
        return self.most is None or self.tells

    def ask(self, question: int, drawn: Any, noise: Noise) -> tuple[Any, Any]:
        steps, bar = self.grid.steps, self.bar * self.grid.steps
        if self.query is None:
            return (question >= bar + drawn) * 1, 0.0
        price = self.epsilon * self.query
        if not self.by_arrays:
            return noise.exceeds(question, bar, drawn, sensitivity=steps, epsilon=price) * 1, 0.0
        noisy = noise.laplace(question, sensitivity=steps, epsilon=price)
        yes = (noisy >= bar + drawn) * 1
        return yes, np.where(yes, noisy / steps, 0.0) if self.tells else 0.0


def questions(**settings: Any) -> Questions:
    return Questions(epsilon=ONE, grid=Grid(steps=1), **settings)


def variant(name: str, what: str, truth: str, level: str, **settings: Any) -> Specimen:
    return Specimen(name, what, lambda: questions(**settings), level, truth)


SPECIMENS = (
    variant(
        "sparse vector variant 3",
        "tells the noisy value it decided on, c = 4",
        "not DP at any ε",
        "statistical",
        tells=True,
        most=4,
    ),
    variant(
        "sparse vector variant 4",
        "questions at 3ε/4 whatever their number, c = 4",
        "(1 + 6c)ε/4 = 6.25ε",
        "transcript",
        threshold=Fraction(1, 4),
        query=Fraction(3, 4),
        most=4,
    ),
    variant(
        "sparse vector variant 5",
        "no noise on questions, never stops",
        "not DP at any ε",
        "statistical",
        query=None,
        most=None,
    ),
    variant(
        "sparse vector variant 6",
        "questions at ε/2 each, never stops",
        "not DP at any ε",
        "statistical",
        most=None,
    ),
)
