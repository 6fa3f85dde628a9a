"""BROKEN ON PURPOSE: what was published with too little noise, under the claim it was published
with.

The sparse vector variants are those that Lyu, Su and Li 2017 found to be wrong. A stream of
rewards; after each, a question: is the sum so far above the threshold (odd rounds), is its opposite
(even rounds)? A replaced reward moves every later question by one, up and down in turn, which is
what these variants cannot stand.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.auditing.broken.specimen import ONE, Dishonest, Specimen
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Block, EachArm, PurePrice
from dpbandits.mechanisms.base import Around
from dpbandits.noise.protocol import Noise
from dpbandits.oracles import UniformMatroid
from dpbandits.policies.base import Statistics
from dpbandits.policies.every_round import HybridUCB
from dpbandits.policies.experts import RNMFTNL
from dpbandits.policies.matroid import DPUCBMAT


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


class Said(NamedTuple):
    """Public: 1 for above, 0 for below, −1 once it has stopped; and the noisy value, where the
    variant tells it.
    """

    above: Any
    value: Any


@final
@dataclass(frozen=True, kw_only=True)
class Questions(Dishonest):
    """BROKEN ON PURPOSE unless its shares add up as proved.

    threshold: share of epsilon for the threshold's noise, of scale 1/(share·epsilon). query: the
        same for each question; None: no noise.
    most: "above" answers until it stops; None: it never does.
    tells: whether "above" comes with the value it was decided on. bar: the threshold, in rewards.
    """

    threshold: Fraction = Fraction(1, 2)
    query: Fraction | None = Fraction(1, 2)
    most: int | None = 1
    tells: bool = False
    bar: int = 0

    def start(self) -> list[Any]:
        return [0, 0, 0, None]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Said]:
        asked, summed, above, drawn = memory[0] + 1, memory[1] + total, *memory[2:]
        if not self.by_arrays and above >= (self.most or 0):
            return [asked, summed, above, drawn], Said(-1, 0.0)
        if drawn is None:
            draw = noise.laplace if self.by_arrays else lambda _, **price: noise.threshold(**price)
            drawn = draw(0, sensitivity=self.grid.steps, epsilon=self.epsilon * self.threshold)
        yes, value = self.ask(summed if asked % 2 else -summed, drawn, noise)
        if self.by_arrays and self.most is not None:
            going = np.asarray(above) < self.most
            yes, said = yes * going, Said(np.where(going, yes, -1), np.where(going, value, 0.0))
            return [asked, summed, above + yes, drawn], said
        return [asked, summed, above + yes, drawn], Said(yes, value)

    @property
    def by_arrays(self) -> bool:
        """Whether no noised value decides what is asked for next, so that many runs can be played
        at once.
        """
        return self.most is None or self.tells

    def ask(self, question: int, drawn: Any, noise: Noise) -> tuple[Any, Any]:
        steps, bar = self.grid.steps, self.bar * self.grid.steps
        if self.query is None:
            return (question >= bar + drawn) * 1, 0.0
        price = self.epsilon * self.query
        if not self.by_arrays:
            return noise.exceeds(question, bar, drawn, sensitivity=steps, epsilon=price) * 1, 0.0
        noisy = noise.laplace(question, sensitivity=steps, epsilon=price)
        yes = (noisy >= bar + drawn) * 1
        return yes, np.where(yes, noisy / steps, 0.0) if self.tells else 0.0


def variant(name: str, what: str, truth: str, level: str, **settings: Any) -> Specimen:
    """A sparse vector variant: its questions, and what `Specimen` says of it."""
    return Specimen(
        name, what, lambda: Questions(epsilon=ONE, grid=Grid(steps=1), **settings), level, truth
    )


SPECIMENS = (
    variant(
        "sparse vector variant 3",
        "tells the noisy value it decided on, c = 4",
        "not DP at any ε",
        "statistical",
        tells=True,
        most=4,
    ),
    variant(
        "sparse vector variant 4",
        "questions at 3ε/4 whatever their number, c = 4",
        "(1 + 6c)ε/4 = 6.25ε",
        "transcript",
        threshold=Fraction(1, 4),
        query=Fraction(3, 4),
        most=4,
    ),
    variant(
        "sparse vector variant 5",
        "no noise on questions, never stops",
        "not DP at any ε",
        "statistical",
        query=None,
        most=None,
    ),
    variant(
        "sparse vector variant 6",
        "questions at ε/2 each, never stops",
        "not DP at any ε",
        "statistical",
        most=None,
    ),
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
