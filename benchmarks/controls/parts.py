"""What controls are made of. Whatever is built of it here is BROKEN ON PURPOSE unless it says that
it is right: it tests auditors. Never for use.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, final

import numpy as np

from dpbandits.auditing.subjects import feed
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Answer, Block, Mechanism, SeparableDP
from dpbandits.noise import Noise
from dpbandits.policies.base import PrivatePolicy, Statistics, StatisticsPolicy, first_unseen
from dpbandits.policies.contract import About, Policy, Release


def two_sided(rng: np.random.Generator, scale: float) -> int:
    """Discrete Laplace noise, P[z] proportional to e^(−|z|/scale)."""
    return int(rng.exponential(scale)) - int(rng.exponential(scale))


def tenths(reward: float) -> int:
    return round(10 * float(reward))


# What a specimen is, and how one is made of an honest policy. Everything in this folder is BROKEN
# ON PURPOSE: it tests auditors.


@final
@dataclass(frozen=True)
class Control:
    """Something to audit, and what is true of it.

    Attributes:
        name: of it.
        what: is wrong with it, or odd.
        make: makes the subject.
        level: that must fail it if it is wrong; "": any.
        truth: what it really keeps.
        claim: the epsilon it is held to; None: what it promises itself, which may be a rho.
        right: whether the claim holds.
        runs: of the statistical level.
        arms: of a function of data.
    """

    name: str
    what: str
    make: Callable[[], Any]
    level: str
    truth: str
    claim: Fraction | None = Fraction(1)
    right: bool = False
    runs: int = 4_000
    arms: int | None = None


def unseen(
    name: str,
    kind: str,
    what: str,
    subject: Any,
    claim: float,
    truth: str,
    right: bool = False,
    arms: int | None = None,
) -> Control:
    """A control for all levels. kind: of what it is."""
    held = Fraction(str(claim))
    return Control(name, f"{kind}: {what}", lambda: subject, "", truth, held, right, arms=arms)


def odd(name: str, true: float, make: Callable[[], Any], runs: int = 0) -> Control:
    """A control of unusual shape that claims 1.

    true: the epsilon it keeps (inf: none; nan: more than 1). runs: by which a wrong one is caught;
        0: its replays show it.
    """
    level = "statistical" if runs else "transcript"
    truth = "not DP" if math.isinf(true) else "more than 1" if math.isnan(true) else f"{true:.4g}"
    return Control(name, "", make, level, truth, right=true <= 1, runs=runs or 4_000)


def with_mechanism(honest: Policy, breaks: Callable[[Any], Mechanism]) -> Policy:
    """The same policy on a broken mechanism. `breaks` is given the honest one, so a smaller version
    of the policy is broken, too.
    """
    cls = type(honest)

    def mechanism(self: Any) -> Mechanism:
        return breaks(cls.mechanism(self))

    broken = type(
        f"Broken{cls.__name__}", (cls,), {"mechanism": mechanism, "__doc__": "BROKEN ON PURPOSE."}
    )
    made: Policy = broken(**{f.name: getattr(honest, f.name) for f in fields(honest) if f.init})
    return made


@dataclass(frozen=True, kw_only=True)
class Dishonest(SeparableDP):
    """A mechanism for one arm that promises epsilon and does not keep it. Says whose proof it
    borrows.
    """

    proof = "lazy_forgetful"

    def said(self, total: int, rounds: int, draws: int) -> Answer:
        return Answer(total / self.grid.steps, rounds, draws)


# What odd subjects are made of. Their rewards are 0 or 1, and all claim epsilon = 1.


ONE, BITS = Fraction(1), Grid(steps=1)
Told = Callable[[int, int, Noise], float]
"""What is told of a block: its exact sum, its records, the noise source."""


@dataclass(frozen=True, kw_only=True)
class Telling(Dishonest):
    tell: Told = field(repr=False)

    def start(self) -> list[int]:
        return []

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        return memory, Answer(self.tell(total, count, noise), count, 1)


@dataclass(frozen=True, kw_only=True)
class Whole(Mechanism):
    """Records of two actions. tell: both sums and the noise to all that is told."""

    tell: Callable[[list[int], Noise], tuple[float, ...]] = field(repr=False)
    grid: Grid = BITS
    actions: int = 2

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=ONE, grid=self.grid)

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[float, ...]]:
        return None, self.tell([int(total) for total in block.sums], noise)


@dataclass(frozen=True, kw_only=True)
class EveryThird(Dishonest):
    """Noised once for three blocks; until then it tells nothing."""

    def start(self) -> list[int]:
        return [0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        total, blocks = memory[0] + total, memory[1] + 1
        if blocks < 3:
            return [total, blocks], Answer(0.0, count, 0)
        return [0, 0], Answer(lap(noise, total), count, 1)


@dataclass(frozen=True, kw_only=True)
class Ahead(Dishonest):
    """Each release adds what the one before drew, and draws for the next."""

    def start(self) -> list[int]:
        return []

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        drawn = memory or [lap(noise, 0)]
        return [lap(noise, 0)], Answer(total + drawn[0], count, 1)


@dataclass(frozen=True, kw_only=True)
class Tossing(StatisticsPolicy, PrivatePolicy):
    """Its own coins choose what is played: `plan` or `update` tosses them; what it is told is
    noised as it should be.
    """

    about = About(paper="", algorithm="", bound="")
    coin: Callable[[], float] = field(repr=False)
    where: str = "plan"
    chance: float = 0.5
    each: int = 4
    told: Told = field(repr=False, default=lambda total, count, noise: lap(noise, total))

    def mechanism(self) -> Mechanism:
        return Telling(epsilon=self.budget, grid=Grid(steps=self.grid), tell=self.told)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arm = first_unseen(state)
        if arm is None:
            arm = int(state.totals[0] < state.totals[1])
            if self.where == "plan" and self.coin() < self.chance:
                arm = 1 - arm
        return Hold(arm, self.each, (arm,))

    def update(self, state: Statistics, plan: Plan, release: Release) -> Statistics:
        new: Statistics = super().update(state, plan, release)
        if self.where == "update" and self.coin() < self.chance:
            return new._replace(totals=tuple(0.0 for _ in new.totals))
        return new

    def regret_bound(self, means: Any, rounds: int) -> float:
        return math.nan


def lap(noise: Noise, value: int, epsilon: float | Fraction = ONE) -> int:
    return noise.laplace(value, sensitivity=1, epsilon=Fraction(epsilon))


def telling(tell: Told) -> Callable[[], Policy]:
    return lambda: feed(Telling(epsilon=ONE, grid=BITS, tell=tell))


def whole(tell: Callable[[list[int], Noise], tuple[float, ...]]) -> Callable[[], Policy]:
    return lambda: feed(Whole(tell=tell))


@dataclass(frozen=True, kw_only=True)
class Running(Dishonest):
    """Running sums, noised afresh at every release."""

    def start(self) -> list[int]:
        return [0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        return [memory[0] + total], Answer(lap(noise, memory[0] + total), count, 1)
