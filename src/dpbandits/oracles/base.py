"""Decision sets: the feasible super arms, and the best one for given weights. Public data only.

The module also validates user input: edges, labels, arms and weights.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from inspect import signature
from operator import index
from typing import Any, Self, SupportsIndex, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.core.inputs import MOST_ARMS, Floats, Places, as_int, numbers_in, shown, whole_number
from dpbandits.core.privacy import LARGEST, read_exactly

# Validation of weights, whole numbers, exact numbers and labels.


SuperArm: TypeAlias = tuple[int, ...]  # a super arm: its base arms, sorted
Label: TypeAlias = int | str  # the name of a node
Edge: TypeAlias = tuple[Label, Label]


def checked_weights(weights: ArrayLike, arms: int, what: str = "weights") -> Floats:
    """Return one finite number per arm, shape (arms,).

    >>> checked_weights([1, 2, float("nan")], 3)
    Traceback (most recent call last):
    ValueError: Expected weights[2]=nan to be a finite number.
    """
    array = numbers_in(weights, what)
    if array.shape != (arms,):
        raise ValueError(
            f"Expected {what} of shape ({arms},), one number an arm; got shape {array.shape}."
        )
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"Expected {what}[{bad}]={array[bad]} to be a finite number.")
    return array


def checked_probabilities(means: Floats) -> Floats:
    """Return means that are probabilities, for super arms whose value is a probability."""
    bad = np.flatnonzero((means < 0) | (means > 1))
    if len(bad):
        raise ValueError(
            f"Expected means[{bad[0]}]={means[bad[0]]} to lie in [0, 1]: it is a probability here."
        )
    return means


def checked_label(value: Any) -> Label:
    """Return the name of a node or an element: a whole number or a string, which JSON can store."""
    if isinstance(value, str):
        return str(value)
    number = as_int(value)
    if number is None:
        raise ValueError(f"Expected node {shown(value)} to be a whole number or a string.")
    return number


def checked_edges(edges: Iterable[Sequence[Any]]) -> list[Edge]:
    """Return at least one edge, each a pair of node labels. The arm number of an edge is its
    position.
    """
    rows: list[Any] = (
        edges.tolist()
        if isinstance(edges, np.ndarray)
        else listed(edges, "edges", "pairs of nodes")
    )
    for arm, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) != 2:
            raise ValueError(f"Expected edges[{arm}]={shown(row)} to be a pair of nodes.")
    if not rows:
        raise ValueError("Expected at least one edge, got none.")
    return [(checked_label(u), checked_label(v)) for u, v in rows]


def numbered(edges: Sequence[Edge], nodes: Sequence[Label] | None) -> dict[Label, int]:
    """Return every node's number: its position in `nodes`, or the order of first appearance in the
    edges.

    Raises:
        ValueError: `nodes` repeats a label, or an edge ends in a node that is not in it.
    """
    if nodes is None:
        return {
            node: i for i, node in enumerate(dict.fromkeys(node for edge in edges for node in edge))
        }
    index = {node: i for i, node in enumerate(nodes)}
    if len(index) < len(nodes):
        repeated = next(node for i, node in enumerate(nodes) if index[node] != i)
        raise ValueError(f"Expected nodes to be distinct; {repeated!r} is repeated.")
    for arm, edge in enumerate(edges):
        for node in edge:
            if node not in index:
                raise ValueError(
                    f"Expected edges[{arm}] to join known nodes; {node!r} is not one of them."
                )
    return index


def checked_labels(nodes: Iterable[Any] | None) -> list[Label] | None:
    """Return the optional list of node labels."""
    return (
        None
        if nodes is None
        else [checked_label(node) for node in listed(nodes, "nodes", "whole numbers or strings")]
    )


def listed(values: Any, what: str, of: str) -> list[Any]:
    """Return the entries of a list, a tuple or another iterable; text is refused.

    >>> listed(5, "blocks", "lists of arms")
    Traceback (most recent call last):
    ValueError: Expected blocks=5 to be a list of lists of arms.
    """
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        return list(values)
    raise ValueError(f"Expected {what}={shown(values)} to be a list of {of}.")


def arms_of(rows: Any, what: str, arms: int = MOST_ARMS) -> list[list[int]]:
    """Return lists of arms, each below `arms`.

    >>> arms_of([[0, 1], 2], "blocks")
    Traceback (most recent call last):
    ValueError: Expected blocks[1]=2 to be a list of arms.
    """
    return [
        [
            whole_number(arm, f"arm in {what}[{i}]", 0, arms - 1)
            for arm in listed(row, f"{what}[{i}]", "arms")
        ]
        for i, row in enumerate(listed(rows, what, "lists of arms"))
    ]


def exact_number(value: Any, what: str = "value") -> Fraction:
    """Return the exact value of a number, with at most 100 digits in numerator and denominator. A
    float means the decimal that it prints as.

    Exact arithmetic with longer numbers takes minutes, and a few characters can spell them.

    >>> exact_number(0.1), exact_number("0.25"), exact_number("1/3"), exact_number(2)
    (Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(2, 1))
    """
    if isinstance(value, bool | np.bool_):  # an entry of a 0/1 matrix
        return Fraction(int(value))
    plain = repr(float(value)) if isinstance(value, float | np.floating) else value
    is_short = isinstance(plain, int | Fraction) or short_exponent(str(plain))
    number = read_exactly(plain) if is_short else None
    if is_short and number is None:
        raise ValueError(f"Expected {what}={shown(value)} to be a finite number.")
    if number is None or max(abs(number.numerator), number.denominator) > LARGEST:
        raise ValueError(
            f"Expected {what} to be a number of at most 100 digits, and so its denominator. "
            "Round it, or scale all of them."
        )
    return number


def short_exponent(text: str) -> bool:
    """Return whether a number's exponent has at most three digits: a few characters can spell a
    number of millions of digits.
    """
    return len(text.lower().partition("e")[2].lstrip("+-0")) <= 3


def sorted_arms(arms: Iterable[int] | NDArray[Any]) -> SuperArm:
    """Return a super arm as plain, sorted ints."""
    return tuple(np.sort(arms).tolist()) if isinstance(arms, np.ndarray) else tuple(sorted(arms))


def largest_first(weights: Floats) -> Places:
    """Return the arms from the heaviest to the lightest; equal weights in order of their
    numbers.
    """
    return np.argsort(-weights, kind="stable")


def shortened(value: Any) -> str:
    """Return text for reprs and errors, with long lists cut."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}...{text[-1]}"


def chunks(arms: int, k: int) -> tuple[SuperArm, ...]:
    """Return the greedy cover of a uniform problem: k arms after k, the last few filled up with the
    first ones.
    """
    starts = range(0, arms, k)
    return tuple(
        tuple(range(i, i + k)) if i + k <= arms else (*range(k - arms + i), *range(i, arms))
        for i in starts
    )


# The base class of oracles: feasible super arms, and the best one for given weights. Public
# data only.


Covering = tuple[tuple[SuperArm, ...], SuperArm]  # a cover, and the loops it leaves out


class DecisionSet(ABC):
    """Base class of decision sets: the feasible super arms, and the best one for given weights.

    A super arm is a sorted tuple of base arms. A subclass sets `arms` and `size` and implements
    `_best`, `_contains` and `parameters`; a nonlinear one also implements `_value`. Decision sets
    are values: equal if their parameters are equal, and never changed after construction.

    Attributes:
        arms: number of base arms, numbered 0 to arms - 1.
        size: the largest number of base arms in a super arm; for a matroid, its rank.
        alpha: with probability at least `beta` the oracle's answer is worth at least `alpha` times
            the optimum. For costs, whose optimum is negative, alpha is 1 or more.
        beta: probability of that approximation.
        costs: True if rewards are 1 - cost with costs in [0, 1]; the value of a super arm is minus
            the sum of its costs.
        linear: True if the value of a super arm is the sum of its arms' means (with costs, minus
            one for each).
    """

    arms: int
    size: int
    alpha: float = 1.0
    beta: float = 1.0
    costs: bool = False
    linear: bool = True

    @property
    def b_one(self) -> float:
        """B₁: the most that the value changes per unit of the sum of all errors in its arms' means
        (Chen et al. 2020). It is 1 for sums, and NaN if unknown.
        """
        return 1.0 if self.linear else math.nan

    @property
    def b_max(self) -> float:
        """B∞: the most that the value changes per unit of the largest error in its arms' means.
        `size` times B₁ always is (Chen et al. 2020, Fact 1), and a decision set may say less.
        """
        return self.size * self.b_one

    @final
    def best(self, weights: ArrayLike) -> SuperArm:
        """Return a feasible super arm of (approximately) the largest value. Ties are broken by arm
        numbers, never at random.

        Args:
            weights: shape (arms,), finite, of either sign.

        Raises:
            ValueError: wrong shape, or an entry that is not finite.
        """
        return self._best(checked_weights(weights, self.arms))

    @final
    def contains(self, action: Iterable[SupportsIndex]) -> bool:
        """Return whether these arms, in any order, are a feasible super arm."""
        return self._flaw(tuple(listed(action, "action", "arms"))) is None

    @final
    def checked(self, action: Iterable[SupportsIndex]) -> SuperArm:
        """Return the super arm as a sorted tuple of ints.

        Raises:
            ValueError: unknown arms, repeated arms, too many arms, or not a super arm of this set.
        """
        given = tuple(listed(action, "action", "arms"))
        flaw = self._flaw(given)
        if flaw is not None:
            raise ValueError(f"Expected a super arm of {self!r}, got {shortened(given)}: {flaw}.")
        return tuple(sorted(map(index, given)))

    @final
    def value(self, action: Iterable[SupportsIndex], means: ArrayLike) -> float:
        """Return the expected value of a super arm.

        Args:
            action: arms of the super arm.
            means: the arms' expected rewards, shape (arms,).

        Raises:
            ValueError: not a super arm of this set, or means of another shape.
        """
        return self._value(self.checked(action), checked_weights(means, self.arms, "means"))

    @final
    def optimum(self, means: ArrayLike) -> float:
        """Return the best value. If it is hard to compute (`alpha` other than 1, many super arms),
        return the value of the oracle's answer.
        """
        return self._optimum(checked_weights(means, self.arms, "means"))

    @final
    @cached_property
    def loops(self) -> SuperArm:
        """Arms that are in no super arm."""
        return self._loops()

    @final
    def cover(self) -> tuple[SuperArm, ...]:
        """Return super arms that together contain every arm except loops. Each is the best one if
        arms without a super arm so far weigh 1 and others 0.
        """
        return self._covering[0]

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments as plain JSON values."""

    def to_data(self) -> dict[str, Any]:
        """Return a dict that JSON can store; `problem_from_data` reads it exactly."""
        return {"kind": type(self).__name__} | self.parameters()

    @final
    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Return the decision set that `to_data` described.

        Raises:
            ValueError: another kind, or parameters that this kind does not take.
        """
        kind = kind_of(data)
        if kind != cls.__name__:
            raise ValueError(f"Expected data of kind {cls.__name__!r}, got {shown(kind)}.")
        given = {name: value for name, value in data.items() if name != "kind"}
        try:
            signature(cls).bind(**given)
        except TypeError as error:
            takes = ", ".join(signature(cls).parameters)
            raise ValueError(
                f"Expected data of a {cls.__name__}, which takes {takes}: {error}."
            ) from None
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
        """Return whether this sorted tuple of distinct, known arms is feasible."""

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
        """Return a super arm that contains this arm, or None. By default, the oracle's answer if
        only this arm has a weight.
        """
        weights = np.zeros(self.arms)
        # with costs, its weight must exceed the costs of the other arms
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
            arms = tuple(sorted(whole_number(arm, "arm", 0, self.arms - 1) for arm in action))
        except ValueError as error:
            return str(error).removesuffix(".")
        if len(set(arms)) < len(arms):
            return "an arm is repeated"
        if len(arms) > self.size:
            return f"{len(arms)} arms, more than its size {self.size}"
        return None if self._contains(arms) else "not feasible"


def kind_of(data: object) -> object:
    """Return the kind of decision set that the data describes."""
    if not isinstance(data, dict):
        raise ValueError(
            f"Expected data that to_data() returned, an object with a kind, got {shown(data)}."
        )
    return data.get("kind")


def covering(decisions: DecisionSet, loops: Iterable[int]) -> Covering:
    """Return a greedy cover of the arms that are not known to be loops, and the loops. Every step
    covers a new arm or discovers a new loop.
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
