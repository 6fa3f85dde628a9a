"""Cuts and covers against enumeration, and what their greedy oracles promise."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.oracles import MaxCut, SetCover
from tests.oracles.instances import covers, cuts, draw


def every_cut(problem: MaxCut) -> set[tuple[int, ...]]:
    labels = list(dict.fromkeys(chain.from_iterable(problem.edges)))
    found = set()
    for colours in product((0, 1), repeat=len(labels)):
        colour = dict(zip(labels, colours, strict=True))
        found.add(tuple(a for a, (u, v) in enumerate(problem.edges) if colour[u] != colour[v]))
    return found - {()}


def every_cover(problem: SetCover) -> set[tuple[int, ...]]:
    sets = [set(row) for row in problem.parameters()["sets"]]
    whole = set().union(*sets)

    def covering(arms: tuple[int, ...]) -> bool:
        return set().union(*(sets[arm] for arm in arms)) == whole

    return {
        arms
        for k in range(len(sets) + 1)
        for arms in combinations(range(len(sets)), k)
        if covering(arms) and not any(covering(fewer) for fewer in combinations(arms, k - 1))
    }


def feasible(problem: MaxCut | SetCover) -> set[tuple[int, ...]]:
    """What the problem itself says are super arms."""
    every = range(problem.arms + 1)
    found = (arms for k in every for arms in combinations(range(problem.arms), k))
    return {arms for arms in found if problem.contains(arms)}


@pytest.mark.parametrize("seed", range(6))
def test_cuts_are_those_of_colourings(seed: int) -> None:
    problem = draw(cuts, seed)
    assert isinstance(problem, MaxCut)
    every = every_cut(problem)
    assert feasible(problem) == every
    assert problem.loops == tuple(arm for arm, (u, v) in enumerate(problem.edges) if u == v)
    means = np.random.default_rng(seed).random(problem.arms)
    assert problem.optimum(means) == pytest.approx(max(means[list(a)].sum() for a in every))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12), st.data()
)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_half_the_weight_is_cut(edges: list[tuple[int, int]], data: st.DataObject) -> None:
    """At least half of all weight above 0, and no single node can better it."""
    edges = [*edges, (0, 1)]
    sizes = {"min_size": len(edges), "max_size": len(edges)}
    numbers = st.sampled_from([-1.0, -0.25, 0.0, 0.25, 0.5, 1.0, 2.5])
    weights = np.maximum(given_weights := data.draw(st.lists(numbers, **sizes)), 0)
    problem = MaxCut(edges)
    best = problem.best(given_weights)
    open_ = [arm for arm, (u, v) in enumerate(edges) if u != v]
    assert 2 * weights[list(best)].sum() >= weights[open_].sum()
    for node in range(6):
        at = {arm for arm in open_ if node in edges[arm]}
        assert weights[list(set(best) ^ at)].sum() <= weights[list(best)].sum()


def test_the_size_of_cuts_knows_odd_cycles() -> None:
    ring = [(i, (i + 1) % 5) for i in range(5)]
    assert MaxCut(ring).size == 4
    assert MaxCut([*ring, (2, 7), (7, 8), (8, 2)]).size == 6
    grid = [
        ((i, j), (i + a, j + b)) for i in range(4) for j in range(4) for a, b in ((0, 1), (1, 0))
    ]
    assert MaxCut([(f"{u}", f"{v}") for u, v in grid]).size == 32  # no odd cycle
    assert MaxCut([(0, 1), (0, 1), (1, 1)]).size == 2


def test_many_nodes_are_cut_without_trying_all() -> None:
    ring = MaxCut([(i, (i + 1) % 40) for i in range(40)])
    assert ring.best(np.ones(40)) == tuple(range(40))
    assert ring.optimum(np.full(40, 0.5)) == 20


@pytest.mark.parametrize("seed", range(6))
def test_covers_are_those_that_need_all_their_sets(seed: int) -> None:
    problem = draw(covers, seed)
    assert isinstance(problem, SetCover)
    every = every_cover(problem)
    assert feasible(problem) == every
    assert max(map(len, every)) <= problem.size
    rng = np.random.default_rng(seed)
    for means in (rng.random(problem.arms), rng.random(problem.arms).round(1)):
        most = max(problem.value(arms, means) for arms in every)
        assert problem.optimum(means) == pytest.approx(most, abs=1e-9)
        assert most >= problem.value(problem.best(means), means) >= problem.alpha * most - 1e-9
        above = means * 2  # an index above 1 counts as cost 0
        assert problem.best(above) == problem.best(np.minimum(above, 1))


def test_the_ratio_of_the_greedy_is_nearly_reached() -> None:
    """Chvátal's example: single elements of cost 1/k, against all at once a little above 1."""
    sets = [["d"], ["c"], ["b"], ["a"], ["a", "b", "c", "d"]]
    problem = SetCover(sets, universe=["a", "b", "c", "d"])
    costs = 0.98 * np.array([1 / 4, 1 / 3, 1 / 2, 1, 1.01])
    assert problem.alpha == pytest.approx(25 / 12)
    assert problem.best(1 - costs) == (0, 1, 2, 3)
    ratio = problem.value(problem.best(1 - costs), 1 - costs) / problem.optimum(1 - costs)
    assert ratio == pytest.approx(25 / 12 / 1.01)


def test_the_size_of_covers() -> None:
    singles = SetCover([[i] for i in range(7)])
    assert (singles.size, singles.alpha, singles.best(np.zeros(7))) == (7, 1, tuple(range(7)))
    ring = SetCover([[i, (i + 1) % 9] for i in range(9)])
    assert max(map(len, every_cover(ring))) == 6 == ring.size
    assert SetCover([["a"], [], ["a"]]).size == 1
    assert SetCover([["a"], [], ["a"]]).loops == (1,)


def test_many_sets_are_bounded_by_counting() -> None:
    """300 sets of 9 neighbours in a ring: 8 others are kept out by each set's own element, and each
    by 9 at most, so 8k <= 9(300 - k).
    """
    ring = SetCover([[(i + j) % 300 for j in range(9)] for i in range(300)])
    assert ring.size == 158
    means = np.full(300, 0.5)
    assert ring.optimum(means) == ring.value(ring.best(means), means) <= -0.5 * 34


def test_the_cheapest_cover_is_found_where_costs_hardly_differ() -> None:
    cover = SetCover([[0, 1], [1, 2], [0, 2], [0, 1], [0, 2], [1]])
    assert cover.optimum([0.999999999, 0, 0, 0, 1, 1]) == 0
    assert cover.optimum([1 - 2e-7, 1 - 1e-7, 1 - 2e-7, 0, 0, 0]) == pytest.approx(-3e-7, abs=1e-11)
