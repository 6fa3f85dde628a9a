"""Checks that ship with the package: a matroid or decision set of your own is tried on every subset
of its arms.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.errors import OracleCheckFailed
from dpbandits.core.inputs import Floats
from dpbandits.oracles.base import DecisionSet, SuperArm, checked_weights, largest_first
from dpbandits.oracles.matroids import Matroid

LIMIT = 12  # arms up to which all subsets are listed


def require_promise(condition: bool, message: str) -> None:
    if not condition:
        raise OracleCheckFailed(message)


def subsets(arms: int, most: int | None = None) -> Iterable[SuperArm]:
    """All subsets of the arms by size, up to `most` arms."""
    return chain.from_iterable(
        combinations(range(arms), k) for k in range((arms if most is None else most) + 1)
    )


def check_matroid(matroid: Matroid) -> None:
    """Proves the axioms by enumeration, and that rank, loops, bases, circuits and the greedy agree
    with them.

    Raises:
        ValueError: more than 12 arms.
        OracleCheckFailed: what is broken, with a witness.
    """
    if matroid.arms > LIMIT:
        raise ValueError(
            f"Expected at most {LIMIT} arms to list all subsets, got {matroid.arms}. Check a "
            "smaller instance."
        )
    independent = {frozenset(arms) for arms in subsets(matroid.arms) if matroid.independent(arms)}
    check_axioms(independent, matroid.arms)
    rank = max(map(len, independent))
    require_promise(
        matroid.rank == matroid.size == rank,
        f"rank={matroid.rank} and size={matroid.size}, but a largest independent set has {rank}.",
    )
    loops = tuple(arm for arm in range(matroid.arms) if frozenset((arm,)) not in independent)
    require_promise(
        matroid.loops == loops, f"loops={matroid.loops}, but the dependent single arms are {loops}."
    )
    bases = sorted(tuple(sorted(s)) for s in independent if len(s) == rank)
    for arms in subsets(matroid.arms):
        require_promise(
            matroid.contains(arms) == (arms in bases),
            f"contains({arms}) is wrong: bases are independent sets of {rank} arms.",
        )
    check_circuits(matroid, bases)
    for weights in trial_weights(matroid.arms, 40, wide=True):
        expected = first_basis(independent, weights, rank)
        best = matroid.best(weights)
        require_promise(
            best == expected,
            f"best({weights.tolist()}) is {best}, but the greedy's basis is {expected}.",
        )
    check_decision_set(matroid)


def check_axioms(independent: set[frozenset[int]], arms: int) -> None:
    """The empty set is independent, subsets of independent sets are, and a smaller set can be grown
    from a larger one.
    """
    require_promise(frozenset() in independent, "The empty set is not independent.")
    for large in independent:
        for arm in large:
            require_promise(
                large - {arm} in independent,
                f"Heredity: {sorted(large)} is independent, {sorted(large - {arm})} is not.",
            )
    growths = {
        small: {arm for arm in range(arms) if arm not in small and small | {arm} in independent}
        for small in independent
    }
    # Given heredity, sizes that differ by one are enough.
    by_size: dict[int, list[frozenset[int]]] = {}
    for arms_ in independent:
        by_size.setdefault(len(arms_), []).append(arms_)
    for size, smaller in by_size.items():
        for large in by_size.get(size + 1, []):
            for small in smaller:
                require_promise(
                    not growths[small].isdisjoint(large),
                    f"Augmentation: {sorted(small)} cannot be grown from {sorted(large)}.",
                )


def check_circuits(matroid: Matroid, bases: list[SuperArm]) -> None:
    """Fundamental circuits and the exchange table say which swaps give bases."""
    known = {frozenset(basis) for basis in bases}
    for basis in bases[:20]:
        table = matroid.exchanges(basis)
        for e in range(matroid.arms):
            expected = (
                (e,)
                if e in basis
                else tuple(f for f in basis if frozenset(basis) - {f} | {e} in known)
            )
            found = matroid.fundamental_circuit(basis, e)
            require_promise(
                found == expected,
                f"fundamental_circuit({basis}, {e}) is {found}, expected {expected}.",
            )
            row = tuple(f for f, swaps in zip(basis, table[e], strict=True) if swaps)
            require_promise(
                row == expected, f"exchanges({basis})[{e}] says {row}, expected {expected}."
            )


def first_basis(independent: set[frozenset[int]], weights: Floats, rank: int) -> SuperArm:
    """The greedy algorithm on the list of independent sets: the value of an optimal basis, and the
    basis that ties should give.
    """
    chosen: frozenset[int] = frozenset()
    for arm in largest_first(weights).tolist():
        if len(chosen) < rank and chosen | {arm} in independent:
            chosen |= {arm}
    return tuple(sorted(chosen))


def check_decision_set(decisions: DecisionSet, weights: Iterable[ArrayLike] | None = None) -> None:
    """What every oracle promises: feasible answers no longer than `size`, the same twice, as good
    as `alpha`; a cover.

    weights: vectors to try, each shape (arms,), also as means; without them random ones in [0, 1],
        ties among them. Up to 12 arms (and where `beta` is 1) all super arms are listed and the
        answer's value compared with the best.

    Raises:
        OracleCheckFailed: what is broken, with a witness.
    """
    trials = (
        trial_weights(decisions.arms, 20)
        if weights is None
        else [checked_weights(w, decisions.arms) for w in weights]
    )
    listed = (
        [arms for arms in subsets(decisions.arms, decisions.size) if decisions.contains(arms)]
        if decisions.arms <= LIMIT
        else []
    )
    for trial in trials:
        best = checked_best(decisions, trial)
        if listed and decisions.beta == 1:
            check_worth(decisions, trial, best, listed)
    check_cover(decisions, listed)


def checked_best(decisions: DecisionSet, trial: Floats) -> SuperArm:
    """The answer to these weights: a feasible super arm, sorted, and the same twice."""
    best = decisions.best(trial)
    require_promise(
        0 < len(best) <= decisions.size,
        f"best({trial.tolist()}) has {len(best)} arms, size is {decisions.size}.",
    )
    require_promise(
        decisions.contains(best), f"best({trial.tolist()}) is {best}, which is not feasible."
    )
    require_promise(
        best == tuple(sorted(set(best))),
        f"best({trial.tolist()}) is {best}, expected sorted, distinct arms.",
    )
    require_promise(
        decisions.best(trial.copy()) == best,
        f"best({trial.tolist()}) gives two answers; it must depend on weights alone.",
    )
    return best


def check_worth(
    decisions: DecisionSet, trial: Floats, best: SuperArm, listed: list[SuperArm]
) -> None:
    """The answer is worth at least alpha of the best, and no more than the optimum that is said."""
    most = max(decisions.value(arms, trial) for arms in listed)
    worth = decisions.value(best, trial)
    require_promise(
        worth >= decisions.alpha * most - 1e-9,
        f"best({trial.tolist()}) is worth {worth} of {most}, alpha={decisions.alpha}.",
    )
    optimum = decisions.optimum(trial)
    require_promise(
        worth - 1e-9 <= optimum <= most + 1e-9,
        f"optimum({trial.tolist()}) is {optimum}, the best value {most}.",
    )


def check_cover(decisions: DecisionSet, listed: list[SuperArm]) -> None:
    """The cover's super arms are feasible and hold every arm but the loops, which no super arm
    holds.
    """
    held = set(chain.from_iterable(decisions.cover()))
    for action in decisions.cover():
        require_promise(decisions.contains(action), f"cover() has {action}, which is not feasible.")
    missing = set(range(decisions.arms)) - held
    require_promise(
        missing == set(decisions.loops),
        f"cover() misses {sorted(missing)}, loops are {decisions.loops}.",
    )
    wrong = set(chain.from_iterable(listed)) & set(decisions.loops)
    require_promise(not wrong, f"loops={decisions.loops}, but {sorted(wrong)} are in super arms.")


def trial_weights(arms: int, count: int, *, wide: bool = False) -> list[Floats]:
    """Random weights in [0, 1], or of either sign where `wide`, every other vector with many ties;
    and all equal ones.
    """
    rng = np.random.default_rng(7)
    spread = [rng.random(arms) * (2 if wide else 1) - (1 if wide else 0) for _ in range(count)]
    rounded = [np.round(w, 0 if i % 4 == 1 else 1) if i % 2 else w for i, w in enumerate(spread)]
    return [*rounded, np.zeros(arms), np.ones(arms)]
