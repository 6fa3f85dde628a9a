"""Decision sets that are not special matroids: explicit lists, matchings, and user-defined
oracles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Literal, NoReturn, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.inputs import (
    MOST_ARMS,
    Floats,
    number_within,
    require_one_of,
    shown,
    switch,
    whole_number,
)
from dpbandits.oracles.base import (
    DecisionSet,
    Label,
    SuperArm,
    arms_of,
    checked_edges,
    checked_labels,
    largest_first,
    numbered,
    sorted_arms,
)
from dpbandits.oracles.matroids import Matroid

# Explicit lists of super arms: a matroid, whose axioms are verified, and any list.


FeasibleSets = set[frozenset[int]]

EXTREMES: dict[str, np.ufunc] = {"least": np.minimum, "largest": np.maximum}
"""Values of super arms that are one arm's."""


@final
class ExplicitMatroid(Matroid):
    """A matroid given by all its bases, or by all its independent sets with the empty one. The
    axioms are verified.

    Args:
        arms: number of arms.
        bases: all bases; give these or `independent_sets`.
        independent_sets: all independent sets. The check compares pairs of sets, so up to a few
            thousand are practical.

    Raises:
        ValueError: not a matroid; the message names the violated axiom and the sets that violate
            it.

    >>> ExplicitMatroid(arms=4, bases=[(0, 1), (0, 2)]).loops
    (3,)
    """

    def __init__(
        self,
        *,
        arms: int,
        bases: Iterable[Iterable[int]] | None = None,
        independent_sets: Iterable[Iterable[int]] | None = None,
    ) -> None:
        count = whole_number(arms, "arms", 1, MOST_ARMS)
        if bases is not None and independent_sets is None:
            tops = frozensets(bases, "bases", count)
            check_exchange(tops)
        elif independent_sets is not None and bases is None:
            tops = maximal(frozensets(independent_sets, "independent_sets", count))
        else:
            raise ValueError("Expected either bases or independent_sets, not both.")
        self.bases = sorted(tuple(sorted(basis)) for basis in tops)
        self._bases = tops
        self._set_rank(count, len(self.bases[0]))

    def parameters(self) -> dict[str, Any]:
        return {"arms": self.arms, "bases": [list(basis) for basis in self.bases]}

    def _independent(self, arms: SuperArm) -> bool:
        wanted = frozenset(arms)
        return any(wanted <= basis for basis in self._bases)


@final
class ExplicitSet(DecisionSet):
    """A list of super arms, none of them empty.

    Args:
        super_arms: the arms of each super arm, in any order.
        arms: number of arms; by default one more than the largest named. Arms in no super arm are
            loops.
        costs: True if rewards are 1 - cost.
        value: the value of a super arm: the "sum" of its arms' means, the "least" of them (a
            path is worth its bottleneck) or the "largest" (the best of k). Of the last two one
            error counts, the largest: B∞ = 1.

    >>> ExplicitSet([(0, 1), (2,)]).best([0.5, 0.1, 0.55])
    (0, 1)
    """

    def __init__(
        self,
        super_arms: Iterable[Iterable[int]],
        *,
        arms: int | None = None,
        costs: bool = False,
        value: Literal["sum", "least", "largest"] = "sum",
    ) -> None:
        given = frozensets(
            super_arms,
            "super_arms",
            None if arms is None else whole_number(arms, "arms", 1, MOST_ARMS),
        )
        if not given or frozenset() in given:
            raise ValueError(
                "Expected at least one super arm, each of at least one arm; got "
                f"{'an empty one' if given else 'none'}."
            )
        self.super_arms = sorted(tuple(sorted(arms)) for arms in given)
        self.arms = max(row[-1] for row in self.super_arms) + 1 if arms is None else int(arms)
        self.size, self.costs = max(map(len, self.super_arms)), switch(costs, "costs")
        require_one_of(value, "value", "sum", *EXTREMES)
        if self.costs and value != "sum":
            raise ValueError(f'Expected value="sum" with costs=True, got value={value!r}.')
        self.kind, self.linear = value, value == "sum"
        self._flat = np.concatenate([np.array(row) for row in self.super_arms])
        self._starts = np.cumsum([0, *map(len, self.super_arms[:-1])])
        self._known = set(self.super_arms)

    def parameters(self) -> dict[str, Any]:
        return {
            "super_arms": [list(row) for row in self.super_arms],
            "arms": self.arms,
            "costs": self.costs,
            **({} if self.linear else {"value": self.kind}),
        }

    @property
    def b_one(self) -> float:
        return 1.0

    @property
    def b_max(self) -> float:
        return float(self.size) if self.linear else 1.0

    def _value(self, action: SuperArm, means: Floats) -> float:
        if self.linear:
            return super()._value(action, means)
        return float(EXTREMES[self.kind].reduce(means[list(action)]))

    def _best(self, weights: Floats) -> SuperArm:
        if self.linear:
            values = np.add.reduceat(weights[self._flat] - self.costs, self._starts)
        else:
            values = EXTREMES[self.kind].reduceat(weights[self._flat], self._starts)
        return self.super_arms[int(np.argmax(values))]

    def _contains(self, action: SuperArm) -> bool:
        return action in self._known

    def _containing(self, arm: int) -> SuperArm | None:
        return next((row for row in self.super_arms if arm in row), None)


def frozensets(rows: Iterable[Iterable[int]], what: str, arms: int | None) -> FeasibleSets:
    """Return sets of known arms, each without repetition."""
    sets: FeasibleSets = set()
    for i, row in enumerate(arms_of(rows, what, MOST_ARMS if arms is None else arms)):
        if len(set(row)) < len(row):
            raise ValueError(f"Expected {what}[{i}]={shown(row)} not to repeat an arm.")
        sets.add(frozenset(row))
    return sets


def check_exchange(bases: FeasibleSets) -> None:
    """Verify that there is a basis, and basis exchange: for bases A, B and x in A but not in B,
    some y in B but not in A makes A - x + y a basis.
    """
    if not bases:
        raise ValueError("Not a matroid: there is no basis. Give at least one.")
    ordered = sorted(bases, key=sorted)
    for a in ordered:
        reachable = {
            x: {y for y in frozenset().union(*bases) - a if a - {x} | {y} in bases} for x in a
        }
        for b in ordered:
            for x in a - b:
                if reachable[x].isdisjoint(b):
                    raise ValueError(
                        f"Not a matroid, basis exchange fails: {sorted(a)} and {sorted(b)} are "
                        "bases, "
                        f"but no arm of the second can replace arm {x} of the first."
                    )


def maximal(independent: FeasibleSets) -> FeasibleSets:
    """Return the bases, after verifying the three axioms of independence."""
    flaw = axiom_that_fails(independent)
    if flaw:
        raise ValueError(f"Not a matroid. {flaw}")
    rank = max(map(len, independent))
    return {s for s in independent if len(s) == rank}


def axiom_that_fails(independent: FeasibleSets) -> str:
    """Return which axiom of independence these sets violate, and where; an empty text for none: the
    empty set is independent, subsets of independent sets are, and a smaller set can be grown from a
    larger one.
    """
    if frozenset() not in independent:
        return "The empty set must be independent: add ()."
    ordered = sorted(independent, key=lambda s: (len(s), sorted(s)))
    for large in ordered:
        for x in sorted(large):
            if large - {x} not in independent:
                return (
                    f"Heredity fails: {sorted(large)} is independent, but its subset "
                    f"{sorted(large - {x})} is not."
                )
    arms = frozenset().union(*independent)
    # given heredity, sizes that differ by one are enough
    for size, smaller in groupby(ordered, key=len):
        larger = [large for large in ordered if len(large) == size + 1]
        for small in smaller:
            growth = {x for x in arms - small if small | {x} in independent}
            for large in larger:
                if growth.isdisjoint(large):
                    return (
                        f"Augmentation fails: {sorted(small)} and {sorted(large)} are independent, "
                        "but no arm of the second can be added to the first."
                    )
    return ""


@final
class Matchings(DecisionSet):
    """Non-empty sets of edges of a bipartite graph that share no node. The value of a matching is
    the sum of its edges.

    The best matching has the largest sum. Edges of weight <= 0 are omitted, unless there are no
    others: then the best single edge is returned, the lower number on a tie. Ties between matchings
    are broken by the assignment algorithm (SciPy's, a function of the weights alone). Time is cubic
    in the smaller side and the matrix is dense, so up to a few thousand nodes are practical.

    Args:
        edges: pairs (left label, right label), one arm each; parallel edges are separate arms. The
            two sides have separate labels: 0 on the left is not 0 on the right.
        left: all labels of the left side, if edges must be checked against them.
        right: all labels of the right side, likewise.

    >>> Matchings([("ann", "day"), ("ann", "night"), ("bob", "day")]).best([0.9, 0.6, 0.5])
    (1, 2)
    """

    def __init__(
        self,
        edges: Iterable[Sequence[Any]] | NDArray[Any],
        left: Iterable[Label] | None = None,
        right: Iterable[Label] | None = None,
    ) -> None:
        self.edges = checked_edges(edges)
        self.left, self.right = checked_labels(left), checked_labels(right)
        lefts = numbered([(u, u) for u, _ in self.edges], self.left)
        rights = numbered([(v, v) for _, v in self.edges], self.right)
        self._rows = np.array([lefts[u] for u, _ in self.edges])
        self._columns = np.array([rights[v] for _, v in self.edges])
        self._shape = len(lefts), len(rights)
        self.arms = len(self.edges)
        self.size = len(self._best(np.ones(self.arms)))

    def parameters(self) -> dict[str, Any]:
        return {
            "edges": [list(edge) for edge in self.edges],
            "left": self.left,
            "right": self.right,
        }

    def _best(self, weights: Floats) -> SuperArm:
        from scipy.optimize import linear_sum_assignment  # slow to import

        order = largest_first(weights)
        # the best last, so that it wins among parallel edges
        positive = order[weights[order] > 0][::-1]
        if len(positive) == 0:
            return (int(order[0]),)
        arm_at = np.full(self._shape, -1)
        arm_at[self._rows[positive], self._columns[positive]] = positive
        table = np.where(arm_at < 0, 0.0, weights[arm_at])
        chosen = arm_at[linear_sum_assignment(table, maximize=True)]
        return sorted_arms(chosen[chosen >= 0])

    def _contains(self, action: SuperArm) -> bool:
        arms = list(action)
        return len(arms) > 0 and len(set(self._rows[arms])) == len(set(self._columns[arms])) == len(
            arms
        )


@final
class UserDecisionSet(DecisionSet):
    """A user-defined oracle: any function from weights to a super arm. Every answer is validated
    before it is played.

    Loops are the arms that the oracle does not return even if no other arm has a weight.

    Args:
        arms: number of arms.
        size: the largest number of arms in a super arm. It scales the privacy noise, so no answer
            may be longer.
        oracle: from weights, shape (arms,), to a super arm, in any order. It must be a pure
            function of the weights and of public data.
        contains: from a super arm (sorted) to whether it is feasible. By default, at least one and
            up to `size` known, distinct arms are feasible.
        value: from a super arm and means to its expected value. By default the sum of the means (of
            minus the costs, with `costs`).
        alpha: approximation ratio of the oracle, in (0, 1]; with `costs` at least 1, because the
            optimum is negative.
        beta: probability of that approximation, in (0, 1].
        costs: True if rewards are 1 - cost.
        b_one: the most that `value` changes per unit of the sum of all errors in means. For regret
            bounds; needed with `value` only.
        b_max: the most that it changes per unit of the largest error; by default size·b_one.

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
        b_one: float | None = None,
        b_max: float | None = None,
    ) -> None:
        self.arms = whole_number(arms, "arms", 1, MOST_ARMS)
        self.size = whole_number(size, "size", 1, self.arms)
        self.costs = switch(costs, "costs")
        ends = (1.0, 1e300, "[]") if self.costs else (0.0, 1.0, "(]")
        self.alpha = number_within(alpha, "alpha", *ends)
        self.beta = number_within(beta, "beta", 0, 1, "(]")
        for name, function in (("oracle", oracle), ("contains", contains), ("value", value)):
            if not callable(function) and (function is not None or name == "oracle"):
                raise TypeError(f"Expected {name}={shown(function)} to be a function.")
        self.oracle, self.feasible, self.worth = oracle, contains, value
        self.linear = value is None
        if self.linear and b_one is not None:
            raise ValueError("Expected b_one= with value= only: it is 1 for a sum of rewards.")
        self._b_one = None if b_one is None else number_within(b_one, "b_one", 0, 1e300, "()")
        self._b_max = None if b_max is None else number_within(b_max, "b_max", 0, 1e300, "()")

    @property
    def b_one(self) -> float:
        return super().b_one if self._b_one is None else self._b_one

    @property
    def b_max(self) -> float:
        return super().b_max if self._b_max is None else self._b_max

    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments. Sets with the same functions are equal; JSON cannot
        store them.
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
            "b_one": self._b_one,
            "b_max": self._b_max,
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
