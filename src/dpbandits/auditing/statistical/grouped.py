"""Many independent runs at once, in law those of separate ones.

Of a policy, at the price of its distinct histories: runs that drew the same noise so far are played
once. At each draw the runs of a group draw for themselves, all at once, and part by what came out.
Of a mechanism, with noise that is an array with a number a run.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from operator import methodcaller
from typing import Any, ClassVar, final

import numpy as np

from dpbandits.core.errors import Parting, Tossed
from dpbandits.core.inputs import Integers
from dpbandits.core.plan import Action, PublicRng
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.protocol import Relay, Selection
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.simulation.transcript import decisions

ENDLESS = 1000
"""Draws for one release after which a loop is given up that waits for noise it likes."""


@final
class ManyNoise(Relay):
    """The laws of `SimulatedNoise`, `runs` independent draws a call. Code that branches on a noised
    value cannot use it and raises.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, runs: int, seed: int, watched: Integers | None = None) -> None:
        """watched: places of runs whose answers are written down, in `kept`."""
        self.runs, self._rng = (
            runs,
            np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, 341]))),
        )
        self._watched, self.kept, self.asked = watched, list[Any](), 0

    def _keep(self, answer: Any) -> Any:
        self.asked += 1
        if self.asked > ENDLESS:
            raise TypeError(
                "Noise is drawn again and again: it may never please all runs at once. One run "
                "at a time."
            )
        if self._watched is not None:
            self.kept.append(np.broadcast_to(answer, self.runs)[self._watched])
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

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[Any, ...]:
        size, rate = len(values), float(epsilon) / sensitivity
        radius, waiting = np.zeros(self.runs, np.int64), np.arange(self.runs)
        while len(waiting):
            m = self._rng.negative_binomial(size + 1, -math.expm1(-rate), len(waiting))
            chance = np.ones(len(waiting))
            for i in range(1, size + 1):
                chance *= (2 * m + 1) / (2 * (m + i))
            taken = self._rng.random(len(waiting)) < chance
            radius[waiting[taken]], waiting = m[taken], waiting[~taken]
        noise = self._rng.integers(-radius, radius, (size, self.runs), endpoint=True)
        return tuple(self._keep(value + z) for value, z in zip(values, noise, strict=True))

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

    def _two_sided(self, scale: float) -> Integers:
        one, other = self._rng.exponential(scale, (2, self.runs)).astype(np.int64)
        return np.asarray(one - other)


@final
class Scripted(Relay):
    """Gives back what was drawn before, whole numbers and coins as they fell; then draws from
    `rest`, or parts.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, script: tuple[Any, ...], rest: SimulatedNoise | None) -> None:
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
    groups: list[tuple[tuple[Any, ...], int]] = [((), runs)]
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
            # of a joint draw, shape (values, runs), runs part by all of it
            values, counts = np.unique(drawn, axis=-1, return_counts=True)
            groups.extend(
                ((*script, tuple(value) if isinstance(value, list) else value), count)
                for value, count in zip(values.T.tolist(), counts.tolist(), strict=True)
            )
    return found
