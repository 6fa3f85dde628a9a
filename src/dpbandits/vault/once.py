"""Noise that is drawn once for a release, however often the release is tried.

A release may be interrupted after its noise was drawn, and where it was interrupted may show what
was drawn (a traceback names the line). Tried again with fresh noise it would tell about the same
rewards twice; so it goes on with what was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar, final

import numpy as np

from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.sources import Noise, Selection, Values

Result = TypeVar("Result")

Drawn = list[tuple[tuple[Any, ...], Any]]
"""What a release asked its noise source, and what it was given: private, and thrown away with the
release.
"""


@final
class OnceDrawn:
    """A noise source for one try: it repeats what earlier tries drew, call by call, then draws on.

    drawn: shared by the tries of one release; an earlier question that differs from today's is
        asked anew.
    """

    def __init__(self, source: Noise, drawn: Drawn) -> None:
        self._source, self._drawn, self._next = source, drawn, 0
        self.kind: NoiseKind = source.kind

    def __getattr__(self, name: str) -> Any:
        """What a source has beyond the protocol."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._source, name)

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        what = "laplace", value, sensitivity, epsilon
        return self._once(
            what, lambda: self._source.laplace(value, sensitivity=sensitivity, epsilon=epsilon)
        )

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        what = "gaussian", value, sensitivity, rho
        return self._once(
            what, lambda: self._source.gaussian(value, sensitivity=sensitivity, rho=rho)
        )

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        what = "select", np.asarray(values, np.int64).tobytes(), sensitivity, epsilon, law
        return self._once(
            what,
            lambda: self._source.select(values, sensitivity=sensitivity, epsilon=epsilon, law=law),
        )

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> int:
        return self._once(
            ("threshold", sensitivity, epsilon),
            lambda: self._source.threshold(sensitivity=sensitivity, epsilon=epsilon),
        )

    def exceeds(
        self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction
    ) -> bool:
        def ask() -> bool:
            return self._source.exceeds(
                value, bar, threshold, sensitivity=sensitivity, epsilon=epsilon
            )

        return self._once(("exceeds", value, bar, threshold, sensitivity, epsilon), ask)

    def uniform(self) -> float:
        return self._once(("uniform",), self._source.uniform)

    def state(self) -> dict[str, Any]:
        return self._source.state()

    def _once(self, what: tuple[Any, ...], draw: Callable[[], Result]) -> Result:
        at = self._next
        if at < len(self._drawn) and self._drawn[at][0] != what:
            del self._drawn[at:]
        if at == len(self._drawn):
            self._drawn.append((what, draw()))
        self._next = at + 1
        result: Result = self._drawn[at][1]
        return result
