"""Noise sources that do the same with every question: refuse it, script it, write it down, pass it
on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from dpbandits.noise.sources import Selection


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
