"""Matchings, coverage, influence, explicit and user's sets against enumeration."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.oracles import Coverage, Influence, Matchings, check_decision_set
from tests.oracles.instances import OTHERS, draw


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("seed", range(5))
def test_what_every_oracle_promises(kind: str, seed: int) -> None:
    check_decision_set(draw(kind, seed))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9), st.data())
@settings(max_examples=150, derandomize=True, deadline=None)
def test_matchings_against_all(edges: list[tuple[int, int]], data: st.DataObject) -> None:
    matchings = Matchings(edges)
    weights = data.draw(
        st.lists(
            st.sampled_from([-1.0, -0.25, 0.0, 0.25, 0.5, 1.0, 2.5]),
            min_size=len(edges),
            max_size=len(edges),
        )
    )
    every = [
        arms
        for k in range(1, 5)
        for arms in combinations(range(len(edges)), k)
        if is_matching([edges[a] for a in arms])
    ]
    best = matchings.best(weights)
    assert best in every
    assert sum(weights[arm] for arm in best) == max(
        sum(weights[arm] for arm in arms) for arms in every
    )
    assert max(map(len, every)) == matchings.size
    assert max(weights) <= 0 or min(weights[arm] for arm in best) > 0
    assert max(weights) > 0 or best == (weights.index(max(weights)),)
    assert {
        arms
        for k in range(5)
        for arms in combinations(range(len(edges)), k)
        if matchings.contains(arms)
    } == set(every)


def is_matching(edges: list[tuple[int, int]]) -> bool:
    return all(len(set(side)) == len(edges) for side in zip(*edges, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_coverage_is_an_expectation(seed: int) -> None:
    """Against a sum over all outcomes of the chosen edges."""
    problem = draw("coverage", seed)
    rng = np.random.default_rng(seed)
    means = rng.random(problem.arms)
    action = problem.best(means)
    expected = 0.0
    for outcome in product((0, 1), repeat=len(action)):
        chance = np.prod(
            [means[arm] if on else 1 - means[arm] for arm, on in zip(action, outcome, strict=True)]
        )
        expected += float(chance) * len(
            {problem.edges[arm][1] for arm, on in zip(action, outcome, strict=True) if on}
        )
    items = len({right for _, right in problem.edges}) if problem.normalised else 1
    assert problem.value(action, means) == pytest.approx(expected / items, abs=1e-12)


def test_greedy_coverage_can_be_short_of_the_optimum() -> None:
    """The greedy takes the large set first; `optimum` knows better here."""
    edges = [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("a", 4),
        ("b", 1),
        ("b", 2),
        ("b", 5),
        ("c", 3),
        ("c", 4),
        ("c", 6),
    ]
    problem = Coverage(edges, k=2)
    ones = np.ones(10)
    assert problem.vertices(problem.best(ones)) == ("a", "b")
    assert (problem.value(problem.best(ones), ones), problem.optimum(ones)) == (5, 6)
    assert problem.action(["c", "b"]) == (4, 5, 6, 7, 8, 9)
    assert problem.size == 7
    assert problem.alpha == pytest.approx(1 - 1 / np.e)


def cascade(problem: Influence, seeds: set[object], means: np.ndarray) -> float:
    """Expected spread, summed over all outcomes of all edges."""
    expected = 0.0
    for outcome in product((0, 1), repeat=problem.arms):
        infected, before = set(seeds), -1
        while len(infected) > before:
            before = len(infected)
            infected |= {
                v for (u, v), on in zip(problem.edges, outcome, strict=True) if on and u in infected
            }
        expected += len(infected) * float(np.prod(np.where(outcome, means, 1 - means)))
    return expected


@pytest.mark.parametrize("seed", range(4))
def test_small_influence_is_exact(seed: int) -> None:
    problem = draw("influence", seed)
    means = np.random.default_rng(seed).random(problem.arms).round(1)
    best = problem.best(means)
    sources = {u for u, _ in problem.edges}
    every: dict[object, float] = {
        seeds: cascade(problem, set(seeds), means) for seeds in combinations(sorted(sources), 2)
    }
    assert problem.value(best, means) == pytest.approx(
        every[tuple(sorted(problem.vertices(best)))], abs=1e-9
    )
    assert problem.optimum(means) == pytest.approx(max(every.values()), abs=1e-9)
    assert problem.value(best, means) >= problem.alpha * max(every.values()) - 1e-9


def test_sampled_influence_is_near_the_truth() -> None:
    """Star and chain of 12 edges: six standard errors, false alarm below 1e-8 each."""
    edges = [("hub", i) for i in range(6)] + [(f"c{i}", f"c{i + 1}") for i in range(6)]
    means = np.array([0.5] * 6 + [0.9] * 6)
    one = Influence(edges, seeds=1, samples=20_000)
    chain = sum(0.9**i for i in range(7))
    truth = {("hub",): 4.0, ("c0",): chain}
    for label, spread in truth.items():
        estimate = one.value(one.action(label), means)
        assert abs(estimate - spread) < 6 * 14 * np.sqrt(spread / 14 / 20_000)
    assert one.vertices(one.best(means)) == ("c0",)
    assert one.optimum(means) == pytest.approx(chain, abs=0.3)
    both = Influence(edges, seeds=2, seed=5)
    assert both.vertices(both.best(means)) == ("hub", "c0")
    # a pure function of public numbers
    assert one.value((6,), means) == Influence(edges, seeds=1).value((6,), means)


def test_certain_edges_need_no_samples() -> None:
    rng = np.random.default_rng(2)
    edges = [(int(u), int(v)) for u, v in rng.integers(60, size=(200, 2))]
    problem = Influence(edges, seeds=3, nodes=range(60))
    assert problem.value(problem.best(np.ones(200)), np.ones(200)) == int(
        problem.value(problem.best(np.ones(200)), np.ones(200))
    )
    assert problem.value(problem.best(np.zeros(200)), np.zeros(200)) == 3
    assert problem.best(np.full(200, 7.0)) == problem.best(np.ones(200))
