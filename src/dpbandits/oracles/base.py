"""What every oracle is: a set of feasible super arms, and the way the best one is found. Public
data only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from inspect import signature
from operator import index
from typing import Any, Self, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.arrays import Floats
from dpbandits.core.inputs import shown
from dpbandits.oracles.inputs import SuperArm, bounded_whole, checked_weights, listed, shortened

Covering = tuple[tuple[SuperArm, ...], SuperArm]  # a cover, and the loops it leaves out


class DecisionSet(ABC):
    """Which super arms are feasible, and how the best one is found.

    A super arm is a sorted tuple of base arms. A subclass sets `arms` and `size` and fills in
    `_best`, `_contains` and `parameters`; what is not linear fills in `_value` too. Decision sets
    are values: equal when built from equal parameters, never changed after construction.

    arms: base arms, numbered 0 to arms - 1.
    size: the largest number of base arms in a super arm; of a matroid, its rank.
    alpha, beta: with probability at least beta the oracle's answer is worth at least alpha times
        the optimum; of costs, where that is negative, alpha is 1 or more.
    costs: rewards are 1 - cost with costs in [0, 1]; the value of a super arm is minus the sum of
        its costs.
    linear: the value of a super arm is the sum of its arms' means (with costs, less one for each).
    b_one, b_max: B₁ and B∞, the most that the value changes with a unit of the sum of all errors in
        its arms' means, and of the largest one; NaN where neither is known.
    """

    arms: int
    size: int
    alpha: float = 1.0
    beta: float = 1.0
    costs: bool = False
    linear: bool = True

    @property
    def b_one(self) -> float:
        """B₁ (Chen et al. 2020): 1 where the value is a sum."""
        return 1.0 if self.linear else math.nan

    @final
    @property
    def b_max(self) -> float:
        """B∞, at most `size` times B₁ (Chen et al. 2020, Fact 1)."""
        return self.size * self.b_one

    @final
    def best(self, weights: ArrayLike) -> SuperArm:
        """A feasible super arm of (approximately) the largest value; ties are settled by arm
        numbers, never by chance.

        weights: shape (arms,), finite, of either sign.

        Raises:
            ValueError: wrong shape, or an entry that is not finite.
        """
        return self._best(checked_weights(weights, self.arms))

    @final
    def contains(self, action: Iterable[SupportsIndex]) -> bool:
        """Whether these arms, in any order, are a feasible super arm."""
        return self._flaw(tuple(listed(action, "action", "arms"))) is None

    @final
    def checked(self, action: Iterable[SupportsIndex]) -> SuperArm:
        """The super arm as a sorted tuple of ints.

        Raises:
            ValueError: unknown arms, repeated arms, too many, or not a super arm of this set.
        """
        given = tuple(listed(action, "action", "arms"))
        flaw = self._flaw(given)
        if flaw is not None:
            raise ValueError(f"Expected a super arm of {self!r}, got {shortened(given)}: {flaw}.")
        return tuple(sorted(map(index, given)))

    @final
    def value(self, action: Iterable[SupportsIndex], means: ArrayLike) -> float:
        """The expected value of a super arm when the arms' expected rewards are `means`, shape
        (arms,).
        """
        arms = tuple(
            bounded_whole(arm, "arm", 0, self.arms - 1) for arm in listed(action, "action", "arms")
        )
        return self._value(arms, checked_weights(means, self.arms, "means"))

    @final
    def optimum(self, means: ArrayLike) -> float:
        """The best value. Where finding it is hard (`alpha` other than 1, many super arms) it is
        the value of the oracle's answer.
        """
        return self._optimum(checked_weights(means, self.arms, "means"))

    @final
    @cached_property
    def loops(self) -> SuperArm:
        """Arms that are in no super arm."""
        return self._loops()

    @final
    def cover(self) -> tuple[SuperArm, ...]:
        """Super arms that together contain every arm but the loops. Each is the best one if arms
        not seen yet weigh 1 and others 0.
        """
        return self._covering[0]

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments as plain JSON values."""

    def to_data(self) -> dict[str, Any]:
        """A dict to write as JSON; `problem_from_data` reads it again, exactly."""
        return {"kind": type(self).__name__} | self.parameters()

    @final
    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """The decision set that `to_data` described.

        Raises:
            ValueError: another kind, or parameters that this kind does not take.
        """
        kind = kind_of(data)
        if kind != cls.__name__:
            raise ValueError(f"Expected data of kind {cls.__name__!r}, got {shown(kind)}.")
        given = {name: value for name, value in data.items() if name != "kind"}
        unknown = sorted(set(given) - set(signature(cls).parameters))
        if unknown:
            raise ValueError(
                f"{cls.__name__} does not take {', '.join(unknown)}; it takes "
                f"{', '.join(signature(cls).parameters)}."
            )
        missing = [
            p.name
            for p in signature(cls).parameters.values()
            if p.default is p.empty and p.name not in given
        ]
        if missing:
            raise ValueError(
                f"Expected data of a {cls.__name__} to hold {', '.join(missing)}, too."
            )
        return cls(**given)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DecisionSet)
            and type(self) is type(other)
            and self.parameters() == other.parameters()
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        given = (f"{name}={shortened(value)}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({', '.join(given)})"

    @abstractmethod
    def _best(self, weights: Floats) -> SuperArm: ...

    @abstractmethod
    def _contains(self, action: SuperArm) -> bool:
        """Whether this sorted tuple of distinct, known arms is feasible."""

    def _value(self, action: SuperArm, means: Floats) -> float:
        total = float(means[list(action)].sum())
        return total - len(action) if self.costs else total

    def _optimum(self, means: Floats) -> float:
        return self._value(self._best(means), means)

    def _loops(self) -> SuperArm:
        return self._covering[1]

    def _cover(self) -> Covering:
        return covering(self, ())

    def _containing(self, arm: int) -> SuperArm | None:
        """A super arm that contains this arm, if there is one; here it is the oracle's answer when
        only this arm has a weight.
        """
        weights = np.zeros(self.arms)
        # where every arm costs, its weight has to pay for the others
        weights[arm] = 1 + self.size * self.costs
        action = self.best(weights)
        return action if arm in action else None

    @cached_property
    def _covering(self) -> Covering:
        return self._cover()

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, repr(self.parameters())))

    def _flaw(self, action: tuple[Any, ...]) -> str | None:
        try:
            arms = tuple(sorted(bounded_whole(arm, "arm", 0, self.arms - 1) for arm in action))
        except ValueError as error:
            return str(error).removesuffix(".")
        if len(set(arms)) < len(arms):
            return "an arm is repeated"
        if len(arms) > self.size:
            return f"{len(arms)} arms, more than its size {self.size}"
        return None if self._contains(arms) else "not feasible"


def kind_of(data: object) -> object:
    """Which decision set some data describes."""
    if not isinstance(data, dict):
        raise ValueError(
            f"Expected data that to_data() returned, an object with a kind, got {shown(data)}."
        )
    return data.get("kind")


def covering(decisions: DecisionSet, loops: Iterable[int]) -> Covering:
    """A greedy cover of the arms that are not known to be loops. Every step covers a new arm or
    finds a new loop.
    """
    cover, known = list[SuperArm](), set(loops)
    unseen = set(range(decisions.arms)) - known
    while unseen:
        weights = np.zeros(decisions.arms)
        weights[list(unseen)] = 1
        action: SuperArm | None = decisions.best(weights)
        if action is None or unseen.isdisjoint(action):
            arm = min(unseen)
            action = decisions._containing(arm)
            if action is None:
                known, unseen = known | {arm}, unseen - {arm}
                continue
        cover.append(action)
        unseen.difference_update(action)
    return tuple(cover), tuple(sorted(known))
