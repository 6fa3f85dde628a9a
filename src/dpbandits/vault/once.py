"""Noise that is drawn once for a release, however often the release is tried.

A release may be interrupted after its noise was drawn, and where it was interrupted may show what
was drawn (a traceback names the line). Tried again with fresh noise it would tell about the same
rewards twice; so it goes on with what was drawn.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

import numpy as np

from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.protocol import Noise, Relay
from dpbandits.noise.sources import SimulatedNoise

Drawn = list[tuple[tuple[Any, ...], Any]]
"""What a release asked its noise source, and what it was given: private, and thrown away with the
release.
"""


@final
class OnceDrawn(Relay):
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

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        what = verb, [given if np.ndim(given) == 0 else [*given] for given in exact], price
        at = self._next
        if at < len(self._drawn) and self._drawn[at][0] != what:
            del self._drawn[at:]
        if at == len(self._drawn):
            self._drawn.append((what, getattr(self._source, verb)(*exact, **price)))
        self._next = at + 1
        return self._drawn[at][1]

    def laplaces(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> list[Any]:
        """What `laplace` gives for each value in turn."""
        # Any other source may fail between two of the draws, and each that was made counts.
        if type(self._source) is not SimulatedNoise:
            return [self.laplace(v, sensitivity=sensitivity, epsilon=epsilon) for v in values]
        made: list[Any] = self.ask("laplaces", values, sensitivity=sensitivity, epsilon=epsilon)
        return made

    def state(self) -> dict[str, Any]:
        return self._source.state()
