"""How much one outcome of recorded noise tells two inputs apart: its exact log-ratio, a lower bound
on epsilon that holds for certain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from dpbandits.checks.tape import RecordedDraw
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.relay import Relay
from dpbandits.noise.selection_law import selection_law
from dpbandits.noise.sources import Selection, SimulatedNoise, Values

LARGEST = 10**7
"""The largest product of actions and scale for which the law of a Laplace selection is summed up.
"""


AGAIN = 32
"""How often in a row the same may be asked before noise falls freely again. Code that redraws until
it likes the noise would otherwise wait for ever.
"""

RARE = 2.0**-30
"""The chance of a coin that is pushed to an end."""


class Pushed(Relay):
    """Seeded noise that lies at least a unit to one side of the exact value, and coins that are
    often next to 0 or to 1. Such outcomes are possible and tell much.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, seed: int, *, up: bool) -> None:
        self._plain, self._sign = SimulatedNoise(seed), 1 if up else -1
        self._asked, self._times = tuple[Any, ...](), 0

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        if verb in ("threshold", "exceeds"):
            return getattr(self._plain, verb)(*exact, **price)
        (value,), noise = exact, getattr(self._plain, verb)(0, **price)
        if self._again(value, *price.values()):
            return value + noise
        return value + self._sign * (price["sensitivity"] + abs(noise))

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        """The action least likely to be named, or the likeliest."""
        return int(np.argmax(values) if self._sign > 0 else np.argmin(values))

    def uniform(self) -> float:
        coin, end = self._plain.uniform(), self._plain.uniform()
        return coin * RARE if end < 1 / 3 else 1 - max(coin, 0.5) * RARE if end < 2 / 3 else coin

    def state(self) -> dict[str, Any]:
        return self._plain.state()

    def _again(self, *asked: Any) -> bool:
        """Whether the same was asked too many times in a row."""
        self._times = self._times + 1 if asked == self._asked else 1
        self._asked = asked
        return self._times > AGAIN


def log_ratio(
    before: Sequence[RecordedDraw], after: Sequence[RecordedDraw]
) -> float | Fraction | None:
    """ln P[these noised values | before]/P[these | after], of recordings that gave the same
    answers; exact if all noise is Laplace.

    Returns None if the law of some of the noise is not known here.
    """
    total: float | Fraction = Fraction(0)
    for old, new in zip(before, after, strict=True):
        if (old.value, old.noisy) == (new.value, new.noisy):
            continue
        ratio = one_ratio(old, new)
        if ratio is None:
            return None
        total += ratio
    return total


def one_ratio(old: RecordedDraw, new: RecordedDraw) -> float | Fraction | None:
    if old.family == "laplace":
        return old.price * Fraction(
            abs(new.value - new.noisy) - abs(old.value - old.noisy), old.sensitivity
        )
    if old.family.startswith("select by "):
        law = cast(Selection, old.family.removeprefix("select by "))
        scale = float(2 * old.sensitivity / old.price)
        if (
            law == "laplace"
            and len(old.value) * (scale + max(old.value) - min(old.value)) > LARGEST
        ):
            return None
        before, after = (
            selection_law(d.value, scale=scale, selection=law)[old.noisy] for d in (old, new)
        )
        return math.log(before) - math.log(after) if min(before, after) > 1e-12 else None
    return None
