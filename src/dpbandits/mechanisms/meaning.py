"""What answers say of means: how much of an answer is rewards, and which noise is in it. All of it
is public.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

NoiseDraws = tuple[tuple[int, int], ...]
"""Noise inside a total, in pairs: the kind of a draw, and how many of it there are."""


class NoisedSum(NamedTuple):
    """A sum of rewards with noise inside (reward units), the rounds it covers, and the draws."""

    total: float
    rounds: int
    draws: NoiseDraws


@dataclass(frozen=True, slots=True)
class AnswerLaw:
    """The noise in the totals of one coordinate, and how its answers follow each other.

    family: what a draw of kind k adds, in reward units. "laplace": Laplace noise of scale k/price;
        "joint": one coordinate of a joint draw for k arms at this price; "gaussian": normal noise
        of variance k/(2 price). Discrete noise has no larger moments.
    forgets: an answer covers its newest block alone, so answers are to be added up.
    redraws: the noise in an answer may take the place of noise in the one before, over the same
        rewards. Of a coordinate's so-manieth answer it is known beforehand which draws it has.
    """

    family: Literal["none", "laplace", "joint", "gaussian"]
    price: float = 1.0
    forgets: bool = False
    redraws: bool = False
