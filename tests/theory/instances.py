"""Twelve instances of each field, and the policies whose bounds are numbers."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import dpbandits as dpb
from dpbandits.oracles import DecisionSet
from dpbandits.policies import POLICIES

ARMS: tuple[tuple[float, ...], ...] = (
    (0.75, 0.625, 0.5, 0.375, 0.25),
    (0.5, 0.4, 0.4, 0.4, 0.4),
    (0.2, 0.9),
    (0.5, 0.49),
    (0.05, 0.03, 0.02),
    (0.97, 0.99, 0.98),
    (0.6, 0.6, 0.3),
    (1.0, 0.0, 0.5),
    (0.8, 0.9, 0.85),
    (0.1,) * 9 + (0.3,),
    tuple(0.25 + 0.5 * arm / 19 for arm in range(20)),
    (0.51, 0.5, 0.3, 0.1),
)

LINE = [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3)]

PAIRS = dpb.PartitionMatroid(blocks=[[0, 1], [2, 3], [4, 5]], capacities=[1, 1, 1])
TRIPLES = dpb.PartitionMatroid(blocks=[[0, 1, 2], [3, 4, 5]], capacities=[1, 2])

MATROIDS: tuple[tuple[DecisionSet, tuple[float, ...]], ...] = (
    (dpb.UniformMatroid(arms=4, rank=2), (0.8, 0.6, 0.4, 0.2)),
    (dpb.UniformMatroid(arms=6, rank=3), (0.3, 0.9, 0.5, 0.7, 0.1, 0.2)),
    (dpb.UniformMatroid(arms=5, rank=4), (0.5, 0.5, 0.5, 0.5, 0.4)),
    (dpb.TopK(arms=8, k=2), (0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2)),
    (PAIRS, (0.9, 0.1, 0.6, 0.5, 0.3, 0.7)),
    (TRIPLES, (0.05, 0.02, 0.03, 0.98, 0.99, 0.97)),
    (dpb.GraphicMatroid(LINE), (0.9, 0.5, 0.7, 0.3, 0.2, 0.6)),
    (dpb.GraphicMatroid(LINE), (0.5, 0.5, 0.5, 0.4, 0.4, 0.4)),
    (dpb.LinearMatroid([[1, 0], [0, 1], [1, 1], [2, 1]]), (0.2, 0.8, 0.6, 0.4)),
    (dpb.LinearMatroid([[1, 0], [0, 0], [0, 1], [1, 1]]), (0.7, 0.9, 0.5, 0.6)),
    (dpb.UniformMatroid(arms=3, rank=1), (0.5, 0.45, 0.3)),
    (dpb.UniformMatroid(arms=5, rank=2), (1.0, 0.5, 0.0, 0.5, 0.25)),
)

PATHS = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("a", "d")]
EDGES = [("a", 1), ("a", 2), ("b", 2), ("c", 3), ("c", 4), ("d", 5)]

SUPER_ARMS: tuple[tuple[DecisionSet, tuple[float, ...]], ...] = (
    *MATROIDS[:4],
    (dpb.ExplicitSet([(0, 1), (2, 3), (4, 5)]), (0.5, 0.5, 0.4, 0.4, 0.4, 0.4)),
    (dpb.ExplicitSet([(0, 1, 2), (0, 1, 3), (0, 1, 4)]), (0.5, 0.5, 0.2, 0.3, 0.6)),
    (dpb.ExplicitSet([(0,), (1, 2)]), (0.9, 0.5, 0.3)),
    (dpb.Paths(PATHS, "a", "d"), (0.9, 0.8, 0.5, 0.6, 0.4)),
    (dpb.Matchings([("a", 1), ("a", 2), ("b", 1), ("b", 2)]), (0.7, 0.5, 0.6, 0.2)),
    (dpb.TopKMax(arms=5, k=2), (0.1, 0.3, 0.5, 0.2, 0.6)),
    (dpb.Coverage(EDGES, k=2), (0.5, 0.5, 0.9, 0.4, 0.3, 0.2)),
    (dpb.Coverage([(0, "r"), (1, "s"), (2, "t")], k=1, normalised=True), (0.5, 0.9, 0.1)),
)

Maker = Callable[[Any, Any, int], dpb.Policy]
"""A policy of an instance (its number of arms, or its problem), epsilon and horizon."""


def make(name: str, options: dict[str, Any], given: Any, epsilon: Any, rounds: int) -> dpb.Policy:
    """A policy by its name. horizon=True: of as many rounds as are played. An option may be a
    function of the problem.
    """
    cls = POLICIES[name.partition(",")[0]]
    takes = {field.name for field in fields(cls)}
    how = {key: value(given) if callable(value) else value for key, value in options.items()}
    how |= dict.fromkeys(takes & {"epsilon", "rho"}, epsilon)
    how |= {"horizon": rounds} if "horizon" in options else {}
    return cls(**{next(of for of in ("problem", "actions", "arms") if of in takes): given}, **how)


def made(plain: str, **others: dict[str, Any]) -> dict[str, Maker]:
    every = {name: dict[str, Any]() for name in plain.split()} | others
    return {name: partial(make, name, options) for name, options in every.items()}


def exact_sum(problem: DecisionSet) -> bool:
    """What the ways of our own to ask and to add up are proved for."""
    return problem.linear and problem.alpha == 1


KNOWN, PUBLISHED = {"horizon": True}, {"preset": "published"}
BANDITS = made(
    "UCB1 KLUCB AnytimeLazyUCB AdaPUCB AdaPKLUCB AdaCUCB DPKLUCB LDPUCB LDPKLUCB HybridUCB RNMFTNL "
    "FollowTheLeader DecreasingHedge NaiveFTNL PrefixExponential",
    **{
        "KLUCB, c = 3": {"c": 3},
        "AnytimeLazyUCB, bits": {"grid": 1},
        "DPKLUCB, short": {"first": 1, "alpha": 1.1},
        "DPKLUCB, robust": {"preset": "robust"},
        "LDPKLUCB, c = 3": {"c": 3},
        "DPUCB": KNOWN,
        "DPUCB, published": KNOWN | PUBLISHED,
        "HybridUCB, published": PUBLISHED,
        "SuccessiveElimination": KNOWN,
        "DPSE": KNOWN,
        "DPSE, beta": {"beta": 0.001},
        "DPSE, doubling": {},
        "DPSE, squaring": {"preset": "squared"},
        "SparseVectorSE": KNOWN,
        "SparseVectorSE, arms": KNOWN | {"preset": "arms"},
        "SparseVectorSE, one": KNOWN | {"preset": "one"},
        "TreeFTRL": KNOWN,
        "TreeFTRL, published": KNOWN | PUBLISHED,
        "RNMFTNL, published": PUBLISHED,
        "RNMFTNL, exponential": {"selection": "exponential"},
        "RNMFTNL, permute": {"selection": "permute-and-flip"},
    },
)
ON_MATROIDS = made("OMM KLOSM DPUCBMAT")
ON_SUPER_ARMS = made(
    "CUCB LazyCUCB CUCBLDP1 CUCBLDP2",
    **{
        "CUCBDP": KNOWN,
        "CUCBDP, published": KNOWN | PUBLISHED,
        "CUCBDPMax": KNOWN,
        "CUCBLDP1, published": KNOWN | PUBLISHED,
        "CUCBLDP2, undecided": {"ask": lambda p: "undecided" if exact_sum(p) else "least"},
        "CUCBLDP2, joint": {"radius": lambda p: "joint" if exact_sum(p) else "sum"},
        "CUCBLDP2, published": KNOWN | PUBLISHED,
    },
)
