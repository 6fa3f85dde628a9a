"""Paths against enumeration of all simple paths: the best, ties, sizes, loops and covers."""

from collections.abc import Iterator

import numpy as np
import pytest

from dpbandits.oracles import Paths, check_decision_set
from dpbandits.oracles import paths as module
from dpbandits.oracles.base import SuperArm
from tests.oracles.instances import PATHS, draw


def simple_paths(paths: Paths) -> Iterator[list[int]]:
    """Arms in order of the walk, by depth-first search."""

    def extend(node: object, visited: list[object], arms: list[int]) -> Iterator[list[int]]:
        if node == paths.target:
            yield arms
            return
        for arm, (u, v) in enumerate(paths.edges):
            for here, there in {(u, v)} | (set() if paths.directed else {(v, u)}):
                if here == node and there not in visited:
                    yield from extend(there, [*visited, there], [*arms, arm])

    return extend(paths.source, [paths.source], [])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", PATHS)
def test_against_all_simple_paths(kind: str, seed: int) -> None:
    paths = draw(kind, seed)
    every = list(simple_paths(paths))
    feasible: set[SuperArm] = {tuple(sorted(arms)) for arms in every}
    used = {arm for arms in every for arm in arms}
    assert set(paths.loops) == set(range(paths.arms)) - used
    assert set().union(*paths.cover()) == used
    assert feasible.issuperset(paths.cover())
    longest = max(map(len, every))
    assert paths.size == longest if not paths.costs else paths.size >= longest
    rng = np.random.default_rng(seed)
    for _ in range(30):
        # binary fractions: sums are exact, ties are real
        weights = rng.integers(0, 9, size=paths.arms) / 8
        ranked = min((float(sum(paths.costs - weights[arms])), len(arms), arms) for arms in every)
        assert paths.best(weights) == tuple(sorted(ranked[2]))
        assert paths.optimum(weights) == -ranked[0]
    check_decision_set(paths)


def test_the_longest_path_is_the_size_where_arcs_make_no_cycle() -> None:
    """Of costs, too, for noise grows with it: two chains of eight arms side by side."""
    chains = [(f"{i}{row}", f"{i + 1}{row}") for row in "ab" for i in range(1, 7)]
    arcs = [*chains, *(("0", f"1{row}") for row in "ab"), *((f"7{row}", "8") for row in "ab")]
    assert [Paths(arcs, "0", "8", costs=costs).size for costs in (True, False)] == [8, 8]
    # around a cycle it is hard to find: nodes less one
    assert Paths([*arcs, ("5a", "2a")], "0", "8").size == 15


def test_indices_above_one_cost_nothing_and_make_no_cycles() -> None:
    triangle = [("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("a", "t")]
    paths = Paths(triangle, "s", "t")
    assert paths.best([9, 9, 9, 9, 9]) == (0, 4)
    assert paths.best([-1, 2, 5, 2, 0.9]) == (0, 1, 3)
    assert paths.loops == (2,)


def test_loops_are_what_no_simple_path_uses() -> None:
    """Dead ends, self-loops, arcs back, and a triangle that hangs off one node."""
    edges = [(0, 1), (1, 9), (1, 2), (1, 1), (2, 0), (9, 1), (9, 2), (1, 5), (5, 1), (0, 2)]
    assert Paths(edges, 0, 9).loops == (2, 3, 4, 5, 6, 7, 8, 9)
    hanging = [(0, 1), (1, 9), (1, 2), (2, 3), (3, 1), (0, 9)]
    assert Paths(hanging, 0, 9, directed=False).loops == (2, 3, 4)


def test_the_pairing_of_disjoint_paths_matters() -> None:
    """s-a and b-t are disjoint in the wrong pairing only: a-b is in no simple path."""
    crossed = Paths(
        [("s", "b"), ("b", "x"), ("x", "a"), ("a", "t"), ("a", "b"), ("x", "t"), ("b", "t")],
        "s",
        "t",
    )
    assert crossed.loops == (4,)
    for seed in range(40):
        paths = draw("tangle", seed)
        assert set(paths.loops) == set(range(14)).difference(*simple_paths(paths))


def test_what_takes_too_long_to_say_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """On streets both ways it took minutes, and on larger maps days, to rule arcs out."""
    monkeypatch.setattr(module, "NODES", 100, raising=False)
    streets = [
        (6 * i + j, 6 * (i + di) + j + dj)
        for i in range(6)
        for j in range(6)
        for di, dj in ((0, 1), (1, 0))
        if max(i + di, j + dj) < 6
    ]
    city = Paths([*streets, *((v, u) for u, v in streets)], 0, 35)
    with pytest.raises(ValueError, match="takes too long to say"):
        city.cover()
