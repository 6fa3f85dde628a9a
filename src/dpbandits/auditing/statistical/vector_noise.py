"""Simulated noise for many runs at once: every answer is an array with a number a run."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.relay import Relay
from dpbandits.noise.sources import Selection

Whole = NDArray[np.int64]

ENDLESS = 1000
"""Draws for one release after which a loop is given up that waits for noise it likes."""


@final
class ManyNoise(Relay):
    """The laws of `SimulatedNoise`, `runs` independent draws a call. Code that branches on a noised
    value cannot use it and raises.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, runs: int, seed: int, kept: list[Any] | None = None) -> None:
        """kept: where every answer is written down, if anywhere."""
        self.runs, self._rng = (
            runs,
            np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, 341]))),
        )
        self._kept, self.asked = kept, 0

    def _keep(self, answer: Any) -> Any:
        self.asked += 1
        if self.asked > ENDLESS:
            raise TypeError(
                "Noise is drawn again and again: it may never please all runs at once. One run "
                "at a time."
            )
        if self._kept is not None:
            self._kept.append(np.broadcast_to(answer, self.runs))
        return answer

    def laplace(self, value: Any, *, sensitivity: int, epsilon: Fraction) -> Any:
        return self._keep(value + self._two_sided(sensitivity / float(epsilon)))

    def gaussian(self, value: Any, *, sensitivity: int, rho: Fraction) -> Any:
        sigma = sensitivity / math.sqrt(2 * float(rho))
        scale, draws = math.floor(sigma) + 1, np.zeros(self.runs, np.int64)
        waiting = np.arange(self.runs)
        while len(waiting):
            draw = self._two_sided(scale)[: len(waiting)]
            taken = self._rng.random(len(waiting)) < np.exp(
                -((np.abs(draw) - sigma * sigma / scale) ** 2) / (2 * sigma * sigma)
            )
            draws[waiting[taken]] = draw[taken]
            waiting = waiting[~taken]
        return self._keep(value + draws)

    def select(self, values: Any, *, sensitivity: int, epsilon: Fraction, law: Selection) -> Any:
        scale, exact = (
            2 * sensitivity / float(epsilon),
            np.stack([np.broadcast_to(v, self.runs) for v in values], axis=1),
        )
        if law == "laplace":
            draws: Any = self._rng.exponential(scale, exact.shape).astype(
                np.int64
            ) - self._rng.exponential(scale, exact.shape).astype(np.int64)
        else:
            draws = (
                self._rng.gumbel(0.0, scale, exact.shape)
                if law == "exponential"
                else self._rng.exponential(scale, exact.shape)
            )
        return self._keep(np.argmax(exact + draws, axis=1))

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        raise TypeError("A question's answer decides what is asked next: one run at a time.")

    def uniform(self) -> Any:
        return self._keep(self._rng.random(self.runs))

    def _two_sided(self, scale: float) -> Whole:
        one, other = self._rng.exponential(scale, (2, self.runs)).astype(np.int64)
        return np.asarray(one - other)
