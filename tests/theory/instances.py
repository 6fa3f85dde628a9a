"""Twelve instances of each field, and the policies whose bounds are numbers."""

from collections.abc import Callable
from typing import Any

import dpbandits as dpb
from dpbandits.oracles import DecisionSet

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


def exact_sum(problem: DecisionSet) -> bool:
    """What the ways of our own to ask and to add up are proved for."""
    return problem.linear and problem.alpha == 1


BANDITS: dict[str, Maker] = {
    "UCB1": lambda k, e, t: dpb.UCB1(arms=k),
    "KLUCB": lambda k, e, t: dpb.KLUCB(arms=k),
    "KLUCB, c = 3": lambda k, e, t: dpb.KLUCB(arms=k, c=3),
    "AnytimeLazyUCB": lambda k, e, t: dpb.AnytimeLazyUCB(arms=k, epsilon=e),
    "AnytimeLazyUCB, bits": lambda k, e, t: dpb.AnytimeLazyUCB(arms=k, epsilon=e, grid=1),
    "AdaPUCB": lambda k, e, t: dpb.AdaPUCB(arms=k, epsilon=e),
    "AdaPKLUCB": lambda k, e, t: dpb.AdaPKLUCB(arms=k, epsilon=e),
    "AdaCUCB": lambda k, e, t: dpb.AdaCUCB(arms=k, rho=e),
    "DPKLUCB": lambda k, e, t: dpb.DPKLUCB(arms=k, epsilon=e),
    "DPKLUCB, short": lambda k, e, t: dpb.DPKLUCB(arms=k, epsilon=e, first=1, alpha=1.1),
    "DPKLUCB, robust": lambda k, e, t: dpb.DPKLUCB(arms=k, epsilon=e, preset="robust"),
    "LDPUCB": lambda k, e, t: dpb.LDPUCB(arms=k, epsilon=e),
    "LDPKLUCB": lambda k, e, t: dpb.LDPKLUCB(arms=k, epsilon=e),
    "LDPKLUCB, c = 3": lambda k, e, t: dpb.LDPKLUCB(arms=k, epsilon=e, c=3),
    "DPUCB": lambda k, e, t: dpb.DPUCB(arms=k, epsilon=e, horizon=t),
    "DPUCB, published": lambda k, e, t: dpb.DPUCB(arms=k, epsilon=e, horizon=t, preset="published"),
    "HybridUCB": lambda k, e, t: dpb.HybridUCB(arms=k, epsilon=e),
    "HybridUCB, published": lambda k, e, t: dpb.HybridUCB(arms=k, epsilon=e, preset="published"),
    "SuccessiveElimination": lambda k, e, t: dpb.SuccessiveElimination(arms=k, horizon=t),
    "DPSE": lambda k, e, t: dpb.DPSE(arms=k, epsilon=e, horizon=t),
    "DPSE, beta": lambda k, e, t: dpb.DPSE(arms=k, epsilon=e, beta=0.001),
    "DPSE, doubling": lambda k, e, t: dpb.DPSE(arms=k, epsilon=e),
    "DPSE, squaring": lambda k, e, t: dpb.DPSE(arms=k, epsilon=e, preset="squared"),
    "SparseVectorSE": lambda k, e, t: dpb.SparseVectorSE(arms=k, epsilon=e, horizon=t),
    "SparseVectorSE, arms": lambda k, e, t: dpb.SparseVectorSE(
        arms=k, epsilon=e, horizon=t, preset="arms"
    ),
    "SparseVectorSE, one": lambda k, e, t: dpb.SparseVectorSE(
        arms=k, epsilon=e, horizon=t, preset="one"
    ),
    "FollowTheLeader": lambda k, e, t: dpb.FollowTheLeader(actions=k),
    "DecreasingHedge": lambda k, e, t: dpb.DecreasingHedge(actions=k),
    "TreeFTRL": lambda k, e, t: dpb.TreeFTRL(actions=k, epsilon=e, horizon=t),
    "TreeFTRL, published": lambda k, e, t: dpb.TreeFTRL(
        actions=k, epsilon=e, horizon=t, preset="published"
    ),
    "RNMFTNL": lambda k, e, t: dpb.RNMFTNL(actions=k, epsilon=e),
    "RNMFTNL, published": lambda k, e, t: dpb.RNMFTNL(actions=k, epsilon=e, preset="published"),
    "RNMFTNL, exponential": lambda k, e, t: dpb.RNMFTNL(
        actions=k, epsilon=e, selection="exponential"
    ),
    "RNMFTNL, permute": lambda k, e, t: dpb.RNMFTNL(
        actions=k, epsilon=e, selection="permute-and-flip"
    ),
    "NaiveFTNL": lambda k, e, t: dpb.NaiveFTNL(actions=k, epsilon=e),
    "PrefixExponential": lambda k, e, t: dpb.PrefixExponential(actions=k, epsilon=e),
}

ON_MATROIDS: dict[str, Maker] = {
    "OMM": lambda p, e, t: dpb.OMM(problem=p),
    "KLOSM": lambda p, e, t: dpb.KLOSM(problem=p),
    "DPUCBMAT": lambda p, e, t: dpb.DPUCBMAT(problem=p, epsilon=e),
}

ON_SUPER_ARMS: dict[str, Maker] = {
    "CUCB": lambda p, e, t: dpb.CUCB(problem=p),
    "LazyCUCB": lambda p, e, t: dpb.LazyCUCB(problem=p, epsilon=e),
    "CUCBDP": lambda p, e, t: dpb.CUCBDP(problem=p, epsilon=e, horizon=t),
    "CUCBDP, published": lambda p, e, t: dpb.CUCBDP(
        problem=p, epsilon=e, horizon=t, preset="published"
    ),
    "CUCBDPMax": lambda p, e, t: dpb.CUCBDPMax(problem=p, epsilon=e, horizon=t),
    "CUCBLDP1": lambda p, e, t: dpb.CUCBLDP1(problem=p, epsilon=e),
    "CUCBLDP1, published": lambda p, e, t: dpb.CUCBLDP1(
        problem=p, epsilon=e, horizon=t, preset="published"
    ),
    "CUCBLDP2": lambda p, e, t: dpb.CUCBLDP2(problem=p, epsilon=e),
    "CUCBLDP2, undecided": lambda p, e, t: dpb.CUCBLDP2(
        problem=p, epsilon=e, ask="undecided" if exact_sum(p) else "least"
    ),
    "CUCBLDP2, joint": lambda p, e, t: dpb.CUCBLDP2(
        problem=p, epsilon=e, radius="joint" if exact_sum(p) else "sum"
    ),
    "CUCBLDP2, published": lambda p, e, t: dpb.CUCBLDP2(
        problem=p, epsilon=e, horizon=t, preset="published"
    ),
}
