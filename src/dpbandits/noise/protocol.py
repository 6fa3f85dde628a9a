"""What mechanisms ask of a noise source, and sources that do the same with every question: refuse
it, script it, write it down, pass it on.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.privacy import NoiseKind

Values = Sequence[int] | NDArray[np.int64]
"""Whole grid steps."""

Selection = Literal["laplace", "exponential", "permute-and-flip"]
"""The noise of a noisy maximum: Laplace; Gumbel (the exponential mechanism); exponential (the
permute-and-flip mechanism).
"""


class Noise(Protocol):
    """What mechanisms ask of a noise source. `value` and `sensitivity` are whole grid steps.

    A source of one's own derives from it, and gives the methods without a body.
    """

    kind: ClassVar[NoiseKind]

    @abstractmethod
    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        """`value` plus discrete Laplace noise of scale sensitivity/epsilon (rounded up, never
        down).
        """

    @abstractmethod
    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        """`value` plus discrete Gaussian noise of variance sensitivity²/(2 rho) (rounded up, never
        down).
        """

    @abstractmethod
    def joint(self, values: Values, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        """`values` plus one draw z for all of them, P[z] proportional to
        e^(−max|z_i|·epsilon/sensitivity): for values of which each may move by `sensitivity`.
        """

    @abstractmethod
    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        """Index of the largest value after noise of scale 2·sensitivity/epsilon (rounded up, never
        down); the first on a tie.
        """

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> int:
        """Discrete Laplace noise of scale sensitivity/epsilon for the threshold of a sparse vector.
        It stays in private memory.
        """
        return self.laplace(0, sensitivity=sensitivity, epsilon=epsilon)

    def exceeds(
        self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction
    ) -> bool:
        """Whether `value` plus such noise, drawn afresh, reaches the public `bar` plus what
        `threshold` gave last.
        """
        return self.laplace(value, sensitivity=sensitivity, epsilon=epsilon) >= bar + threshold

    @abstractmethod
    def uniform(self) -> float:
        """A uniform number in [0, 1), for coins a randomizer or Bernoulli rounding throws."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """The source's position, as plain data a saved session keeps in its private part."""


def laplaces(noise: Noise, values: Values, *, sensitivity: int, epsilon: Fraction) -> list[int]:
    """`noise.laplace` for each value in turn, in one question where the source's class takes
    several.
    """
    several = getattr(type(noise), "laplaces", None)
    if several is None:
        return [noise.laplace(v, sensitivity=sensitivity, epsilon=epsilon) for v in values]
    noised: list[int] = several(noise, values, sensitivity=sensitivity, epsilon=epsilon)
    return noised


def toss(noise: Noise, part: int, whole: int) -> bool:
    """A coin of bias part/whole: exact where the source's class throws such coins, else its uniform
    number decides, to within the last bit of a float.
    """
    exact = getattr(type(noise), "toss", None)
    return noise.uniform() < part / whole if exact is None else bool(exact(noise, part, whole))


class Relay(ABC):
    """A noise source all of whose questions come to `ask`, but for those it answers itself."""

    @abstractmethod
    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        """The answer. verb: the method of `Noise` that was called. exact: its exact values. price:
        what it was called with by name, in the order of the protocol.
        """

    def laplace(self, value: Any, *, sensitivity: int, epsilon: Fraction) -> Any:
        return self.ask("laplace", value, sensitivity=sensitivity, epsilon=epsilon)

    def gaussian(self, value: Any, *, sensitivity: int, rho: Fraction) -> Any:
        return self.ask("gaussian", value, sensitivity=sensitivity, rho=rho)

    def select(self, values: Any, *, sensitivity: int, epsilon: Fraction, law: Selection) -> Any:
        return self.ask("select", values, sensitivity=sensitivity, epsilon=epsilon, law=law)

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> Any:
        return self.ask("joint", values, sensitivity=sensitivity, epsilon=epsilon)

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> Any:
        return self.ask("threshold", sensitivity=sensitivity, epsilon=epsilon)

    def exceeds(
        self, value: Any, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction
    ) -> Any:
        return self.ask("exceeds", value, bar, threshold, sensitivity=sensitivity, epsilon=epsilon)

    def uniform(self) -> Any:
        return self.ask("uniform")

    def state(self) -> dict[str, Any]:
        """Nothing: there is no such source in a saved session."""
        return {}
