"""The protocol of noise sources, and a base class for sources that treat every request alike:
refuse, script, record or forward it.
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
    """The protocol of noise sources. `value` and `sensitivity` are whole grid steps.

    A user-defined source derives from it and implements the abstract methods;
    `dpbandits.checks.check_noise` checks its laws.
    """

    kind: ClassVar[NoiseKind]

    @abstractmethod
    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        """Return `value` plus discrete Laplace noise of scale sensitivity/epsilon (rounded up,
        never down).
        """

    @abstractmethod
    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        """Return `value` plus discrete Gaussian noise of variance sensitivity²/(2 rho) (rounded up,
        never down).
        """

    @abstractmethod
    def joint(self, values: Values, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        """Return `values` plus one joint draw z, P[z] proportional to
        e^(−max|z_i|·epsilon/sensitivity). Each value may move by `sensitivity`.
        """

    @abstractmethod
    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        """Return the index of the largest value after noise of scale 2·sensitivity/epsilon (rounded
        up, never down); the first on a tie.
        """

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> int:
        """Return discrete Laplace noise of scale sensitivity/epsilon for the threshold of a sparse
        vector. It stays in private memory.
        """
        return self.laplace(0, sensitivity=sensitivity, epsilon=epsilon)

    def exceeds(
        self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction
    ) -> bool:
        """Return whether `value` plus a fresh discrete Laplace draw reaches the public `bar` plus
        `threshold`, the result of the last `threshold` call.
        """
        return self.laplace(value, sensitivity=sensitivity, epsilon=epsilon) >= bar + threshold

    @abstractmethod
    def uniform(self) -> float:
        """Return a uniform number in [0, 1), for coins of randomizers and of Bernoulli rounding."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the source's position as plain data, for the private part of a saved session."""


def laplaces(noise: Noise, values: Values, *, sensitivity: int, epsilon: Fraction) -> list[int]:
    """Apply `noise.laplace` to each value, in one call if the source's class supports it."""
    several = getattr(type(noise), "laplaces", None)
    if several is None:
        return [noise.laplace(v, sensitivity=sensitivity, epsilon=epsilon) for v in values]
    return several(noise, values, sensitivity=sensitivity, epsilon=epsilon)


def toss(noise: Noise, part: int, whole: int) -> bool:
    """Return a coin of bias part/whole.

    It is exact if the source's class implements `toss`. Otherwise its uniform number decides, up to
    the last bit of a float.
    """
    exact = getattr(type(noise), "toss", None)
    return noise.uniform() < part / whole if exact is None else bool(exact(noise, part, whole))


class Relay(ABC):
    """A noise source that forwards all requests to `ask`, except for methods that a subclass
    overrides.
    """

    @abstractmethod
    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        """Answer a request.

        Args:
            verb: name of the `Noise` method that was called.
            exact: its exact values.
            cost: its keyword arguments, in the order of the protocol.
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
        """Return no data: no saved session has such a source."""
        return {}
