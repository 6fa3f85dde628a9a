"""Problems that are none are refused in words."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from dpbandits.oracles import (
    Coverage,
    DecisionSet,
    ExplicitMatroid,
    ExplicitSet,
    GraphicMatroid,
    Influence,
    LinearMatroid,
    Matchings,
    PartitionMatroid,
    Paths,
    SpanningTrees,
    TopK,
    TransversalMatroid,
    UniformMatroid,
    UserDecisionSet,
)
from tests.oracles.instances import draw
from tests.oracles.test_problems import KINDS, oracle

BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: LinearMatroid([(0, 0), (0, 0)]), "rank >= 1, got rank 0: 2 arms, all loops"),
    (lambda: LinearMatroid([(2, 4)], field=2), "rank >= 1, got rank 0"),
    (lambda: LinearMatroid([]), "at least one vector"),
    (
        lambda: LinearMatroid([(1, 2), (1,)]),
        r"Expected vectors\[1\] to have 2 entries like vectors\[0\], got 1",
    ),
    (
        lambda: LinearMatroid([(1, float("nan"))]),
        r"Expected vectors\[0\]\[1\]=nan to be a finite number",
    ),
    (
        lambda: LinearMatroid([(1, "one")]),
        r"Expected vectors\[0\]\[1\]='one' to be a finite number",
    ),
    (
        lambda: LinearMatroid([(Decimal("Infinity"), 1)]),
        r"Expected vectors\[0\]\[0\]=Decimal\('Infinity'\) to be a finite number",
    ),
    (lambda: LinearMatroid([(1, None)]), r"Expected vectors\[0\]\[1\]=None to be a finite number"),
    (lambda: LinearMatroid([(1, 1j)]), r"Expected vectors\[0\]\[1\]=1j to be a finite number"),
    (lambda: LinearMatroid([(1, 0.5)], field=2), "Expected whole numbers modulo 2, got 1/2"),
    (lambda: LinearMatroid([(1, 0)], field=4), "Expected field=4 to be a prime"),
    (lambda: LinearMatroid(np.array([1, 2])), "at least one vector of at least one number"),
    (lambda: UniformMatroid(arms=3, rank=0), "rank >= 1, got rank 0"),
    (lambda: UniformMatroid(arms=3, rank=4), "Expected rank=4 to be <= 3"),
    (lambda: UniformMatroid(arms=0, rank=1), "Expected arms=0 to be >= 1"),
    (lambda: TopK(arms=3, k=1.5), "Expected k=1.5 to be a whole number"),  # type: ignore[arg-type]
    (
        lambda: PartitionMatroid(categories=[0, 1, 2], capacities=[1, 1, -1]),
        r"Expected capacity\[2\]=-1 to be >= 0",
    ),
    (
        lambda: PartitionMatroid(categories=[0, 1, 2], capacities=[1, 1]),
        r"Expected categories\[2\]=2 in 0..1: there are 2 capacities",
    ),
    (lambda: PartitionMatroid(categories=[0, 1], capacities=[0, 0]), "rank >= 1, got rank 0"),
    (lambda: PartitionMatroid(categories=[0.5], capacities=[1]), "non-empty list of whole numbers"),
    (lambda: PartitionMatroid(capacities=[1]), "Expected either categories"),
    (
        lambda: PartitionMatroid(blocks=[[0, 1], [1]], capacities=[1, 1]),
        r"arm 1 of blocks\[1\] is repeated",
    ),
    (
        lambda: PartitionMatroid(blocks=[[0, 2]], capacities=[1]),
        r"arm 2 of blocks\[0\] is out of range for 2 arms",
    ),
    (
        lambda: PartitionMatroid(blocks=[[0]], capacities=[1, 1]),
        "Expected one capacity a block, got 2 for 1 blocks",
    ),
    (lambda: GraphicMatroid([(1, 1)]), "rank >= 1, got rank 0: 1 arms, all loops"),
    (lambda: GraphicMatroid([]), "Expected at least one edge"),
    (lambda: GraphicMatroid([(1, 2, 3)]), r"Expected edges\[0\]=\(1, 2, 3\) to be a pair"),
    (lambda: GraphicMatroid(["ab"]), r"Expected edges\[0\]='ab' to be a pair"),
    (lambda: GraphicMatroid([(1, 2.5)]), "Expected node 2.5 to be a whole number or a string"),
    (lambda: GraphicMatroid([(1, True)]), "Expected node True to be a whole number or a string"),
    (
        lambda: GraphicMatroid([(1, 2)], nodes=[1, 3]),
        r"Expected edges\[0\]=\(1, 2\) to join known nodes; 2 is not in nodes",
    ),
    (
        lambda: GraphicMatroid([(1, 2)], nodes=[1, 2, 1]),
        "Expected nodes to be distinct; 1 is repeated",
    ),
    (
        lambda: SpanningTrees([("a", "b"), ("c", "d")]),
        "connected graph; node 'c' cannot be reached from node 'a'",
    ),
    (lambda: SpanningTrees([(0, 1)], nodes=[0, 1, 2]), "connected graph; node 2 cannot be reached"),
    (lambda: TransversalMatroid([[], []], arms=2), "rank >= 1, got rank 0"),
    (
        lambda: TransversalMatroid([[0, 3]], arms=2),
        "Expected arms below arms=2 in every set, got arm 3",
    ),
    (lambda: TransversalMatroid([[0, -3]]), r"Expected arm in sets\[0\]=-3 to be >= 0"),
    (lambda: ExplicitMatroid(arms=2, bases=[()]), "rank >= 1, got rank 0"),
    (lambda: ExplicitMatroid(arms=2), "Expected either bases or independent_sets"),
    (lambda: ExplicitMatroid(arms=2, bases=[(0, 2)]), r"Expected arm in bases\[0\]=2 to be <= 1"),
    (
        lambda: ExplicitMatroid(arms=2, bases=[(0, 0)]),
        r"Expected bases\[0\]=\[0, 0\] not to repeat an arm",
    ),
    (lambda: Paths([(0, 1), (2, 1)], 0, 2), "Expected a path from 0 to 2; there is none"),
    (lambda: Paths([(0, 1)], 0, 5), "Expected target=5 to be a node of some edge"),
    (lambda: Paths([(0, 1)], "0", 1), "Expected source='0' to be a node of some edge"),
    (lambda: Paths([(0, 1)], 1, 1), "Expected source and target to differ, got 1 twice"),
    (
        lambda: Paths([(0, 1), (1, 2), (2, 1), (2, 3)], 0, 3, costs=False),
        "arcs without a cycle; got 1 <- 2 <- 1|2 <- 1 <- 2",
    ),
    (
        lambda: Paths([(0, 1)], 0, 1, directed=False, costs=False),
        "Expected costs=True for undirected paths",
    ),
    (
        lambda: Paths([(0, 1), (1, 2)], 0, 2).best([-1.7e308] * 2),
        r"Expected weights\[0\]=-1.7e\+308 to be of size 1e\+300 at most",
    ),
    (lambda: Matchings([]), "Expected at least one edge"),
    (lambda: Matchings([(0, 1)], left=[1]), "0 is not in nodes"),
    (lambda: Coverage([(0, 1)], k=2), "Expected k=2 to be <= 1, the number of nodes with an edge"),
    (lambda: Coverage([(0, 1)], k=0), "Expected k=0 to be >= 1"),
    (
        lambda: Coverage([(0, 1), (2, 1)], k=1).action([1]),
        "Expected nodes with an edge to play; 1 has none",
    ),
    (
        lambda: Coverage([(0, 1), (2, 1)], k=2).action([0, 0]),
        r"Expected 2 different nodes, got \[0, 0\]",
    ),
    (lambda: Influence([(0, 1)], seeds=2), "Expected seeds=2 to be <= 1"),
    (lambda: Influence([(0, 1)], seeds=1, nodes=[0]), "1 is not in nodes"),
    (lambda: Influence([(0, 1)], seeds=1, samples=0), "Expected samples=0 to be >= 1"),
    (
        lambda: ExplicitSet([]),
        "Expected at least one super arm, each of at least one arm; got none",
    ),
    (lambda: ExplicitSet([(0,), ()]), "each of at least one arm; got an empty one"),
    (lambda: ExplicitSet([(0, 3)], arms=3), r"Expected arm in super_arms\[0\]=3 to be <= 2"),
    (lambda: UserDecisionSet(arms=3, size=4, oracle=oracle), "Expected size=4 to be <= 3"),
    (
        lambda: UserDecisionSet(arms=3, size=1, oracle=oracle, beta=0),
        r"Expected beta=0 to be a number in \(0, 1\]",
    ),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("kind", KINDS)
def test_bad_weights_and_actions(kind: Callable[..., DecisionSet]) -> None:
    problem = draw(kind, 3)
    weights = np.full(problem.arms, 0.5)
    weights[[2, 4]] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"Expected weights\[2\]=nan to be a finite number"):
        problem.best(weights)
    with pytest.raises(
        ValueError,
        match=rf"Expected weights of shape \({problem.arms},\), one number an arm; "
        r"got shape \(1,\)",
    ):
        problem.best([0.5])
    with pytest.raises(ValueError, match=r"Expected means\[2\]=nan"):
        problem.value(problem.best(np.ones(problem.arms)), weights)
    with pytest.raises(
        ValueError,
        match=f"Expected a super arm of .*: Expected arm={problem.arms} to be <= "
        f"{problem.arms - 1}",
    ):
        problem.checked((problem.arms,))
    action = problem.best(np.ones(problem.arms))
    assert problem.checked(np.array(action[::-1])) == action
    with pytest.raises(ValueError, match="an arm is repeated"):
        problem.checked((action[0], action[0]))
    assert not problem.contains(())
