"""An oracle of the caller's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, SupportsIndex, final

from dpbandits.core.arrays import Floats
from dpbandits.core.inputs import MOST_ARMS, real_number, shown, switch
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.inputs import SuperArm, bounded_whole


@final
class UserDecisionSet(DecisionSet):
    """Any function from weights to a super arm. Every answer is checked before it is played.

    arms, size: as in `DecisionSet`; `size` scales the privacy noise, so no answer may be longer.
    oracle: weights, shape (arms,), to a super arm, in any order. It must be a pure function of the
        weights and of public data.
    contains: whether a super arm (sorted) is feasible; without it known, distinct arms, at least
        one, up to `size`, are.
    value: super arm and means to its expected value; without it the sum of the means (of minus the
        costs, where `costs`).
    alpha, beta: the oracle's promise, both in (0, 1].

    Loops are the arms that the oracle does not answer even when no other arm weighs anything.

    >>> best_arm = UserDecisionSet(arms=3, size=1, oracle=lambda weights: [weights.argmax()])
    >>> best_arm.best([0.1, 0.7, 0.2])
    (1,)
    """

    def __init__(
        self,
        *,
        arms: int,
        size: int,
        oracle: Callable[[Floats], Iterable[SupportsIndex]],
        contains: Callable[[SuperArm], bool] | None = None,
        value: Callable[[SuperArm, Floats], float] | None = None,
        alpha: float = 1.0,
        beta: float = 1.0,
        costs: bool = False,
    ) -> None:
        self.arms = bounded_whole(arms, "arms", 1, MOST_ARMS)
        self.size = bounded_whole(size, "size", 1, self.arms)
        self.alpha, self.beta, self.costs = (
            checked_share(alpha, "alpha"),
            checked_share(beta, "beta"),
            switch(costs, "costs"),
        )
        for name, function in (("oracle", oracle), ("contains", contains), ("value", value)):
            if not callable(function) and (function is not None or name == "oracle"):
                raise TypeError(f"Expected {name}={shown(function)} to be a function.")
        self.oracle, self.feasible, self.worth = oracle, contains, value
        self.linear = value is None

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments. Two sets with the same functions are equal; they cannot be
        written as JSON.
        """
        return {
            "arms": self.arms,
            "size": self.size,
            "oracle": self.oracle,
            "contains": self.feasible,
            "value": self.worth,
            "alpha": self.alpha,
            "beta": self.beta,
            "costs": self.costs,
        }

    def to_data(self) -> NoReturn:
        raise TypeError(
            "A UserDecisionSet holds functions and cannot be written. Write its parameters "
            "yourself, or use ExplicitSet."
        )

    def __repr__(self) -> str:
        return (
            f"UserDecisionSet(arms={self.arms}, size={self.size}, "
            f"oracle={getattr(self.oracle, '__name__', '...')})"
        )

    def _best(self, weights: Floats) -> SuperArm:
        return self.checked(self.oracle(weights.copy()))

    def _contains(self, action: SuperArm) -> bool:
        return len(action) > 0 and (self.feasible is None or bool(self.feasible(action)))

    def _value(self, action: SuperArm, means: Floats) -> float:
        return (
            super()._value(action, means)
            if self.worth is None
            else float(self.worth(action, means))
        )


def checked_share(share: object, name: str) -> float:
    """A number in (0, 1]."""
    number = real_number(share)
    if number is None or not 0 < number <= 1:
        raise ValueError(f"Expected {name}={shown(share)} to be a number in (0, 1].")
    return float(number)
