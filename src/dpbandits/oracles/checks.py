"""Checks of user-defined matroids and decision sets: all subsets of a small instance's arms are
tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.errors import OracleCheckFailed
from dpbandits.core.inputs import Floats, refuse_others
from dpbandits.oracles.base import DecisionSet, SuperArm, checked_weights, largest_first
from dpbandits.oracles.matroids import Matroid
from dpbandits.oracles.sets import axiom_that_fails

LIMIT = 12  # the most arms of which all subsets are listed


def require(condition: bool, message: str) -> None:
    if not condition:
        raise OracleCheckFailed(message)


def subsets(arms: int, most: int | None = None) -> Iterable[SuperArm]:
    """Return all subsets of the arms by size, up to `most` arms."""
    return chain.from_iterable(
        combinations(range(arms), k) for k in range((arms if most is None else most) + 1)
    )


def check_matroid(matroid: Matroid) -> None:
    """Verify the axioms by enumeration, and that rank, loops, bases, circuits and the greedy basis
    agree with them.

    Args:
        matroid: a matroid of at most 12 arms.

    Raises:
        ValueError: more than 12 arms.
        OracleCheckFailed: the first violation, with a witness.
    """
    refuse_others(matroid, Matroid, "a matroid", "dpbandits.UniformMatroid(arms=5, rank=2)")
    if matroid.arms > LIMIT:
        raise ValueError(
            f"Expected at most {LIMIT} arms to list all subsets, got {matroid.arms}. Check a "
            "smaller instance."
        )
    independent = {frozenset(arms) for arms in subsets(matroid.arms) if matroid.independent(arms)}
    flaw = axiom_that_fails(independent)
    require(not flaw, flaw)
    rank = max(map(len, independent))
    require(
        matroid.rank == matroid.size == rank,
        f"rank={matroid.rank} and size={matroid.size}, but a largest independent set has {rank}.",
    )
    loops = tuple(arm for arm in range(matroid.arms) if frozenset((arm,)) not in independent)
    require(
        matroid.loops == loops, f"loops={matroid.loops}, but the dependent single arms are {loops}."
    )
    bases = sorted(tuple(sorted(s)) for s in independent if len(s) == rank)
    for arms in subsets(matroid.arms):
        require(
            matroid.contains(arms) == (arms in bases),
            f"contains({arms}) is wrong: bases are independent sets of {rank} arms.",
        )
    check_circuits(matroid, bases)
    for weights in trial_weights(matroid.arms, 40, wide=True):
        expected = first_basis(independent, weights, rank)
        best = matroid.best(weights)
        require(
            best == expected,
            f"best({weights.tolist()}) is {best}, but the greedy's basis is {expected}.",
        )
    check_decision_set(matroid)


def check_circuits(matroid: Matroid, bases: list[SuperArm]) -> None:
    """Verify fundamental circuits and the exchange table: their swaps give bases."""
    known = {frozenset(basis) for basis in bases}
    for basis in bases[:20]:
        table = matroid.exchanges(basis)
        for e in range(matroid.arms):
            expected = (
                (e,)
                if e in basis
                else tuple(f for f in basis if frozenset(basis) - {f} | {e} in known)
            )
            circuit = matroid.fundamental_circuit(basis, e)
            require(
                circuit == expected,
                f"fundamental_circuit({basis}, {e}) is {circuit}, expected {expected}.",
            )
            row = tuple(f for f, swaps in zip(basis, table[e], strict=True) if swaps)
            require(row == expected, f"exchanges({basis})[{e}] says {row}, expected {expected}.")


def first_basis(independent: set[frozenset[int]], weights: Floats, rank: int) -> SuperArm:
    """Return the greedy basis from the list of independent sets, with ties in order of arm
    numbers.
    """
    chosen: frozenset[int] = frozenset()
    for arm in largest_first(weights).tolist():
        if len(chosen) < rank and chosen | {arm} in independent:
            chosen |= {arm}
    return tuple(sorted(chosen))


def check_decision_set(decisions: DecisionSet, weights: Iterable[ArrayLike] | None = None) -> None:
    """Verify an oracle: its answers are feasible, not longer than `size`, deterministic and within
    `alpha` of the optimum, and it has a cover.

    Args:
        decisions: the decision set.
        weights: vectors to try, each shape (arms,), also as means. By default random ones in [0,
            1], with ties. Up to 12 arms (if `beta` is 1), all super arms are listed and the
            answer's value is compared with the best.

    Raises:
        OracleCheckFailed: the first violation, with a witness.
    """
    refuse_others(decisions, DecisionSet, "a decision set", "dpbandits.TopK(arms=5, k=2)")
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
    """Return the answer to these weights: a feasible, sorted super arm, the same twice."""
    best = decisions.best(trial)
    require(
        0 < len(best) <= decisions.size,
        f"best({trial.tolist()}) has {len(best)} arms, size is {decisions.size}.",
    )
    require(decisions.contains(best), f"best({trial.tolist()}) is {best}, which is not feasible.")
    require(
        best == tuple(sorted(set(best))),
        f"best({trial.tolist()}) is {best}, expected sorted, distinct arms.",
    )
    require(
        decisions.best(trial.copy()) == best,
        f"best({trial.tolist()}) gives two answers; it must depend on weights alone.",
    )
    return best


def check_worth(
    decisions: DecisionSet, trial: Floats, best: SuperArm, listed: list[SuperArm]
) -> None:
    """Verify that the answer is worth at least alpha of the best, and at most `optimum`."""
    most = max(decisions.value(arms, trial) for arms in listed)
    worth = decisions.value(best, trial)
    require(
        worth >= decisions.alpha * most - 1e-9,
        f"best({trial.tolist()}) is worth {worth} of {most}, alpha={decisions.alpha}.",
    )
    optimum = decisions.optimum(trial)
    require(
        worth - 1e-9 <= optimum <= most + 1e-9,
        f"optimum({trial.tolist()}) is {optimum}, the best value {most}.",
    )


def check_cover(decisions: DecisionSet, listed: list[SuperArm]) -> None:
    """Verify that the cover's super arms are feasible and contain every arm except loops, which no
    super arm contains.
    """
    covered = set(chain.from_iterable(decisions.cover()))
    for action in decisions.cover():
        require(decisions.contains(action), f"cover() has {action}, which is not feasible.")
    missing = set(range(decisions.arms)) - covered
    require(
        missing == set(decisions.loops),
        f"cover() misses {sorted(missing)}, loops are {decisions.loops}.",
    )
    wrong = set(chain.from_iterable(listed)) & set(decisions.loops)
    require(not wrong, f"loops={decisions.loops}, but {sorted(wrong)} are in super arms.")


def trial_weights(arms: int, count: int, *, wide: bool = False) -> list[Floats]:
    """Return random weights in [0, 1] (of either sign if `wide`), every other vector with many
    ties, and vectors of equal weights.
    """
    rng = np.random.default_rng(7)
    spread = [rng.random(arms) * (2 if wide else 1) - (1 if wide else 0) for _ in range(count)]
    rounded = [np.round(w, 0 if i % 4 == 1 else 1) if i % 2 else w for i, w in enumerate(spread)]
    return [*rounded, np.zeros(arms), np.ones(arms)]
