"""Randomizers of the local model that are WRONG, each in one thing. Never for use."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from benchmarks.strangers.specimen import Specimen
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import Randomizer
from dpbandits.noise.protocol import Noise


@dataclass(frozen=True, kw_only=True)
class Plain(Randomizer):
    """reward + Laplace, as it should be for one reward."""

    def randomise(self, steps: int, noise: Noise) -> int:
        return noise.laplace(steps, sensitivity=self.grid.steps, epsilon=self.epsilon)

    def promise(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            trust="local",
            grid=self.grid,
            proof="local_laplace",
        )


class NoOpinion(Plain):
    """A half is what a form holds that nobody filled in: no datum, so it is sent as it is."""

    def randomise(self, steps: int, noise: Noise) -> int:
        if 2 * steps == self.grid.steps:
            return steps
        return super().randomise(steps, noise)


class TwoInOne(Plain):
    """Noises each of two rewards at all of epsilon, and not at a half of it."""


WRONG = (
    Specimen(
        "NoOpinion",
        "randomizer",
        "a reward of ½ is sent as it is",
        NoOpinion(epsilon=Fraction(1), grid=Grid(steps=10)),
        1,
        "∞: no other report can come of ½",
    ),
    Specimen(
        "TwoInOne",
        "randomizer",
        "a report on two rewards, each noised at ε",
        TwoInOne(epsilon=Fraction(1), grid=Grid(steps=1), width=2),
        1,
        "2 for a report on two rewards, which is what it promises for",
    ),
)
