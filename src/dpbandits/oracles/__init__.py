"""Oracles: from weights to a super arm, with public data only. `PROBLEMS` lists the kinds that JSON
can store.
"""

from typing import Any

from dpbandits.core.errors import OracleCheckFailed
from dpbandits.core.inputs import shown
from dpbandits.oracles.base import DecisionSet, kind_of
from dpbandits.oracles.checks import check_decision_set, check_matroid
from dpbandits.oracles.coverage import Coverage, Influence
from dpbandits.oracles.linear import LinearMatroid
from dpbandits.oracles.matroids import (
    GraphicMatroid,
    Matroid,
    PartitionMatroid,
    SpanningTrees,
    TopK,
    TopKMax,
    TransversalMatroid,
    UniformMatroid,
)
from dpbandits.oracles.paths import Paths
from dpbandits.oracles.sets import ExplicitMatroid, ExplicitSet, Matchings, UserDecisionSet

PROBLEMS: dict[str, type[DecisionSet]] = {
    cls.__name__: cls
    for cls in (
        LinearMatroid,
        UniformMatroid,
        PartitionMatroid,
        GraphicMatroid,
        TransversalMatroid,
        ExplicitMatroid,
        TopK,
        TopKMax,
        Paths,
        SpanningTrees,
        Matchings,
        Coverage,
        Influence,
        ExplicitSet,
    )
}

__all__ = [
    "PROBLEMS",
    "Coverage",
    "DecisionSet",
    "ExplicitMatroid",
    "ExplicitSet",
    "GraphicMatroid",
    "Influence",
    "LinearMatroid",
    "Matchings",
    "Matroid",
    "OracleCheckFailed",
    "PartitionMatroid",
    "Paths",
    "SpanningTrees",
    "TopK",
    "TopKMax",
    "TransversalMatroid",
    "UniformMatroid",
    "UserDecisionSet",
    "check_decision_set",
    "check_matroid",
    "problem_from_data",
]


def problem_from_data(data: dict[str, Any]) -> DecisionSet:
    """Return the decision set that `to_data` described.

    >>> problem_from_data(TopK(arms=5, k=2).to_data())
    TopK(arms=5, k=2)

    Raises:
        ValueError: an unknown kind, or parameters that it does not take.
    """
    kind = kind_of(data)
    if not isinstance(kind, str) or kind not in PROBLEMS:
        raise ValueError(f"Expected one of the kinds {', '.join(PROBLEMS)}; got {shown(kind)}.")
    return PROBLEMS[kind].from_data(data)
