"""Many independent runs of one policy at the price of its distinct histories: runs that drew the
same noise so far are played once.

At each draw the runs of a group draw for themselves, all at once, and part by what came out. The
law is that of separate runs.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import methodcaller
from typing import Any, ClassVar, final

import numpy as np

from dpbandits.auditing.statistical.vector_noise import ManyNoise
from dpbandits.core.errors import Parting, Tossed
from dpbandits.core.plan import Action, PublicRng
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.relay import Relay
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.simulation.transcript import decisions


@final
class Scripted(Relay):
    """Gives back what was drawn before, whole numbers and coins as they fell; then draws from
    `rest`, or parts.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, script: tuple[float, ...], rest: SimulatedNoise | None) -> None:
        self._script, self._rest, self._at = script, rest, 0

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        return self._take(methodcaller(verb, *exact, **price))

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> Any:
        return self.laplace(0, sensitivity=sensitivity, epsilon=epsilon)

    def exceeds(
        self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction
    ) -> bool:
        """One answer: runs part by what it says, not by the noise it was made of."""
        return bool(
            self._take(
                lambda noise: (
                    noise.laplace(value, sensitivity=sensitivity, epsilon=epsilon)
                    >= bar + threshold
                )
            )
        )

    def _take(self, draw: Callable[[Any], Any]) -> Any:
        self._at += 1
        if self._at <= len(self._script):
            return self._script[self._at - 1]
        if self._rest is None:
            raise Parting(draw)
        return draw(self._rest)


@final
class NoCoins(PublicRng):
    """Public randomness that must not be used: a group of runs has none in common."""

    def __init__(self, seed: int, step: int) -> None:
        """Nothing is kept: whoever asks for the seed or the step has a use for them."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise Tossed


def grouped(policy: Policy, table: Any, runs: int, seed: int) -> list[tuple[list[Action], int]]:
    """Decisions with how many of `runs` runs made them. Runs that toss public coins go on alone,
    each with its own.
    """
    found: list[tuple[list[Action], int]] = []
    rest, parted, alone = SimulatedNoise(seed), 0, 0
    groups: list[tuple[tuple[float, ...], int]] = [((), runs)]
    while groups:
        script, size = groups.pop()
        try:
            if size == 1:
                alone += 1
                played = decisions(
                    policy, table, noise=Scripted(script, rest), seed=(seed << 32) + alone
                )
            else:
                played = decisions(
                    policy, table, noise=Scripted(script, None), seed=seed, public=NoCoins
                )
            found.append((played, size))
        except Tossed:
            groups.extend([(script, 1)] * size)
        except Parting as parting:
            parted += 1
            drawn = np.asarray(parting.draw(ManyNoise(size, (seed << 32) + parted)))
            values, counts = np.unique(drawn, return_counts=True)
            groups.extend(
                ((*script, value), count)
                for value, count in zip(values.tolist(), counts.tolist(), strict=True)
            )
    return found
