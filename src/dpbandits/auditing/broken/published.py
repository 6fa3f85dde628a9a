"""BROKEN ON PURPOSE: what was published with too little noise, under the claim it was published
with.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpbandits.auditing.broken.specimen import ONE, Specimen
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Block, EachArm, PurePrice
from dpbandits.mechanisms.base import Around
from dpbandits.noise.sources import Noise
from dpbandits.oracles import UniformMatroid
from dpbandits.policies.bandit.tree import HybridUCB
from dpbandits.policies.base import Statistics
from dpbandits.policies.experts.noisy_leader import RNMFTNL
from dpbandits.policies.matroid.lazy import DPUCBMAT


@dataclass(frozen=True, kw_only=True)
class Understated(Around):
    """BROKEN ON PURPOSE: promises `epsilon`, whatever `inner` costs a record of its width."""

    inner: EachArm
    epsilon: Fraction
    width: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "width", self.inner.width)

    def promise(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, grid=self.grid)


class OneVectorStart(DPUCBMAT):  # type: ignore[misc]  # final for everybody else
    """BROKEN ON PURPOSE: round 1 observes all L elements at once, each at epsilon/K: that record
    pays L·epsilon/K.
    """

    def mechanism(self) -> Any:
        honest = super().mechanism()
        return Understated(inner=replace(honest, width=self.arms), epsilon=self.budget)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        if state.t == 0:
            everything = tuple(range(self.arms))
            return Hold(everything, 1, everything)
        return super().plan(state, rng)


class NoisyWinner(NamedTuple):
    """Public: the winner and its noisy sum. (Arrays, where an auditor plays many runs at once.)"""

    action: Any
    total: Any


@dataclass(frozen=True, kw_only=True)
class MaxWithValue(PurePrice):
    """BROKEN ON PURPOSE: report noisy max that also tells the winner's noisy sum. one_sided:
    exponential noise, which only adds.
    """

    actions: int = 3
    one_sided: bool = False

    def init(self, coordinates: int) -> None:
        return None

    def answer(
        self, memory: None, block: Block, noise: Noise
    ) -> tuple[None, tuple[NoisyWinner, ...]]:
        noisy = np.stack([self.noised(total, noise) for total in block.sums])
        return None, (NoisyWinner(noisy.argmax(axis=0), noisy.max(axis=0) / self.grid.steps),)

    def noised(self, total: Any, noise: Noise) -> Any:
        draw = noise.laplace(total, sensitivity=2 * self.grid.steps, epsilon=self.epsilon)
        return total + abs(draw - total) if self.one_sided else draw


SPECIMENS = (
    Specimen(
        "RNM-FTNL as published",
        "noisy maximum with Lap(1/ε)",
        lambda: RNMFTNL(actions=2, epsilon=1, preset="published"),
        "exact law",
        "2ε",
    ),
    Specimen(
        "Hybrid-UCB as printed",
        "the full tree's root is released, too",
        lambda: HybridUCB(arms=2, epsilon=1, preset="published"),
        "transcript",
        "1.5ε",
    ),
    Specimen(
        "DPUCB-MAT started from one vector",
        "all L = 6 elements observed at once at ε/K, K = 2",
        lambda: OneVectorStart(problem=UniformMatroid(arms=6, rank=2), epsilon=1),
        "transcript",
        "(L/K)ε = 3ε",
    ),
    Specimen(
        "noisy max with its value, Laplace",
        "index and noisy sum of the winner of 3, Lap(2/ε)",
        lambda: MaxWithValue(epsilon=ONE, grid=Grid(steps=1)),
        "statistical",
        "Kε/2 = 1.5ε",
    ),
    Specimen(
        "noisy max with its value, exponential",
        "index and noisy sum of the winner of 3, exponential noise",
        lambda: MaxWithValue(epsilon=ONE, grid=Grid(steps=1), one_sided=True),
        "statistical",
        "not DP",
    ),
)
