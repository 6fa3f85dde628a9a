"""BROKEN ON PURPOSE: sums that are released without noise, with shared noise, or again and
again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from dpbandits.auditing.broken.specimen import ONE, Dishonest, Specimen, with_mechanism
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer, Block, Mechanism, PurePrice
from dpbandits.noise.protocol import Noise
from dpbandits.policies.cumulative import DPKLUCB
from dpbandits.policies.every_round import DPUCBBound
from dpbandits.policies.forgetful import AnytimeLazyUCB
from dpbandits.policies.identification import DPSE


@final
@dataclass(frozen=True, kw_only=True)
class FirstExact(Dishonest):
    """BROKEN ON PURPOSE: the newest batch, noised, but each arm's first batch as it is."""

    def start(self) -> list[int]:
        return [0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        if not memory[0]:
            return [1], self.said(total, count, 0)
        return [1], self.said(
            noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon), count, 1
        )


@final
@dataclass(frozen=True, kw_only=True)
class Redrawn(Dishonest):
    """BROKEN ON PURPOSE: the exact running sum with fresh noise at every release, so a reward is
    told again each time.
    """

    def start(self) -> list[int]:
        return [0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        total, count = memory[0] + total, memory[1] + count
        return [total, count], self.said(
            noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon), count, 1
        )


@final
@dataclass(frozen=True, kw_only=True)
class ExactIncrements(Dishonest):
    """BROKEN ON PURPOSE: the logarithmic counter, to which the exact sum since the last power of
    two is added.
    """

    def start(self) -> list[int]:
        return [0, 0, 0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        leaf, pending, noisy, rounds = (
            memory[0] + 1,
            memory[1] + total,
            memory[2],
            memory[3] + count,
        )
        if leaf.bit_count() == 1:
            noisy, pending = (
                noisy + noise.laplace(pending, sensitivity=self.grid.steps, epsilon=self.epsilon),
                0,
            )
        return [leaf, pending, noisy, rounds], self.said(noisy + pending, rounds, leaf.bit_length())


@final
@dataclass(frozen=True, kw_only=True)
class RawBatchEnds(Dishonest):
    """BROKEN ON PURPOSE: a batch ends, and is noised, as soon as its exact sum reaches three; until
    then the last answer again.
    """

    def start(self) -> list[int]:
        return [0, 0, 0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        pending, waiting, noisy, rounds = memory[0] + total, memory[1] + count, memory[2], memory[3]
        if pending >= 3 * self.grid.steps or not rounds:
            noisy = noise.laplace(pending, sensitivity=self.grid.steps, epsilon=self.epsilon)
            pending, waiting, rounds = 0, 0, waiting
        return [pending, waiting, noisy, rounds], self.said(noisy, rounds, 1)


@final
@dataclass(frozen=True, kw_only=True)
class RawStopping(Dishonest):
    """BROKEN ON PURPOSE: says nothing until its exact sum reaches three, then the noised one, and
    is done.
    """

    def start(self) -> list[int]:
        return [0, 0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer | None]:
        summed, rounds, done = memory[0] + total, memory[1] + count, memory[2]
        if done or summed < 3 * self.grid.steps:
            return [summed, rounds, done], None
        noisy = noise.laplace(summed, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return [summed, rounds, 1], self.said(noisy, rounds, 1)


@final
@dataclass(frozen=True, kw_only=True)
class SharedNoise(PurePrice):
    """BROKEN ON PURPOSE: one draw for all arms of a release. It cancels when two arms are
    compared.
    """

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Answer, ...]]:
        shared = noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.epsilon)
        pairs = zip(block.sums, block.counts, strict=True)
        return None, tuple(
            Answer((int(total) + shared) / self.grid.steps, count, 1) for total, count in pairs
        )


def remade_as(cls: Callable[..., Mechanism]) -> Callable[[Any], Mechanism]:
    """Put in place of a mechanism with an epsilon and a grid."""
    return lambda honest: cls(epsilon=honest.epsilon, grid=honest.grid)


def short_epochs() -> Any:
    """DP-SE whose epochs are short enough to be seen."""
    return with_mechanism(replace(DPSE(arms=2, epsilon=8, beta=0.9)), remade_as(SharedNoise))


LAZY, COUNTERS = AnytimeLazyUCB(arms=2, epsilon=1), DPUCBBound(arms=2, epsilon=1)

SPECIMENS = (
    Specimen(
        "first pull not noised",
        "AnytimeLazyUCB, each arm's first reward as it is",
        lambda: with_mechanism(LAZY, remade_as(FirstExact)),
        "transcript",
        "not DP from round K + 1 on",
    ),
    Specimen(
        "first pull not noised, by its decisions",
        "the same, seen by decisions alone",
        lambda: with_mechanism(LAZY, remade_as(FirstExact)),
        "exact law",
        "not DP from round K + 1 on",
    ),
    Specimen(
        "noise redrawn every round",
        "UCB on running sums, fresh Lap(1/ε) each round",
        lambda: with_mechanism(COUNTERS, remade_as(Redrawn)),
        "transcript",
        "T-fold composition",
    ),
    Specimen(
        "cumulative sums, re-released",
        "AnytimeLazyUCB whose batches are running sums, fresh Lap(1/ε) each",
        lambda: with_mechanism(LAZY, remade_as(Redrawn)),
        "exact law",
        "ε for each batch a reward is in",
    ),
    Specimen(
        "exact increments between powers of two",
        "DP-UCB-Bound on a counter that adds raw rewards",
        lambda: with_mechanism(COUNTERS, remade_as(ExactIncrements)),
        "transcript",
        "not DP",
    ),
    Specimen(
        "batch ends decided on raw sums",
        "a batch closes when its exact sum reaches 3",
        lambda: RawBatchEnds(epsilon=ONE, grid=Grid(steps=1)),
        "transcript",
        "unbounded",
    ),
    Specimen(
        "batch ends decided on raw sums, black box",
        "the same, from its answers alone",
        lambda: RawBatchEnds(epsilon=ONE, grid=Grid(steps=1)),
        "statistical",
        "unbounded",
    ),
    Specimen(
        "stopping decided on raw sums",
        "halts when its exact sum reaches 3, and tells it noised",
        lambda: RawStopping(epsilon=ONE, grid=Grid(steps=1)),
        "transcript",
        "unbounded",
    ),
    Specimen(
        "one scalar noise shared by all arms",
        "DP-SE with one draw an epoch",
        short_epochs,
        "transcript",
        "not DP",
        Fraction(8),
    ),
    Specimen(
        "cumulative batches without forgetting",
        "DPKLUCB on running sums, fresh Lap(1/ε) each",
        lambda: with_mechanism(DPKLUCB(arms=2, epsilon=1, first=1), remade_as(Redrawn)),
        "transcript",
        "ε for each batch",
    ),
)
