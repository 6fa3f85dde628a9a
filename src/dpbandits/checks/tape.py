"""Scripted worlds and transparent noise: what the checks play policies on."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np

from dpbandits.environments.base import Environment
from dpbandits.noise import Noise, SimulatedNoise
from dpbandits.privacy import Grid, NoiseKind


@final
class Tape(Environment):
    """The j-th reward of each arm is fixed: rewards, shape (arms, length). Every host that plays it sees the same."""

    def __init__(self, rewards: np.ndarray[Any, Any]) -> None:
        self.rewards = np.asarray(rewards, np.float64)
        self.means = self.rewards.mean(axis=1)
        self._next = [0] * len(self.rewards)

    def fresh(self) -> Self:
        return type(self)(self.rewards)

    def draw(self, action: int, rng: np.random.Generator) -> float:
        self._next[action] += 1
        return float(self.rewards[action, self._next[action] - 1])

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        start = self._next[action]
        self._next[action] += rounds
        return int(np.rint(self.rewards[action, start : start + rounds] * grid.steps).sum())


def random_tape(arms: int, length: int, seed: int) -> Tape:
    """0/1 rewards with means spread over (0, 1): on 0/1 tapes no rounding coin is thrown, so hosts can be compared exactly."""
    rng = np.random.default_rng(seed)
    means = np.linspace(0.8, 0.2, arms) if arms > 1 else np.array([0.5])
    return Tape((rng.random((arms, length)) < means[:, None]).astype(float))


class Draw(NamedTuple):
    """One call of a noise source: the exact value, what came out, and at what price per unit of change."""

    family: str
    value: int
    noisy: int
    sensitivity: int
    price: Fraction


class Diverged(AssertionError):
    """A replay asked for something else than the recording: something private reached a decision."""


@final
@dataclass
class Recorder:
    """Seeded noise that writes down every call; with `script`, the same noised values come out again whatever goes in."""

    seed: int
    script: list[Draw] | None = None
    draws: list[Draw] = field(default_factory=list)
    kind: ClassVar[NoiseKind] = "simulated"

    def __post_init__(self) -> None:
        self._base: Noise = SimulatedNoise(self.seed)

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        return self._record("laplace", value, sensitivity, epsilon)

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        return self._record("gaussian", value, sensitivity, rho)

    def uniform(self) -> float:
        return self._base.uniform()

    def state(self) -> dict[str, Any]:
        return self._base.state()

    def loss(self) -> Fraction:
        """Exact privacy loss between the recording and this replay: Σ |Δ|ε/sensitivity, or Σ Δ²ρ/sensitivity² for Gaussians."""
        total = Fraction(0)
        for old, new in zip(self.script or [], self.draws, strict=True):
            change = Fraction(abs(old.value - new.value), old.sensitivity)
            total += old.price * (change if old.family == "laplace" else change**2)
        return total

    def _record(self, family: str, value: int, sensitivity: int, price: Fraction) -> int:
        if self.script is None:
            call = self._base.laplace if family == "laplace" else self._base.gaussian
            noisy = call(value, sensitivity=sensitivity, **{"epsilon" if family == "laplace" else "rho": price})
        else:
            at = len(self.draws)
            if at >= len(self.script):
                raise Diverged(f"The replay draws noise {at + 1} times, the recording {at} times.")
            old = self.script[at]
            if (old.family, old.sensitivity, old.price) != (family, sensitivity, price):
                raise Diverged(f"Noise draw {at + 1} differs in kind or scale between recording and replay.")
            noisy = old.noisy
        self.draws.append(Draw(family, value, noisy, sensitivity, price))
        return noisy
