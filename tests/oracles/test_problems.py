"""Decision sets as values: written to JSON and read again, equal, hashed, shown; and every bad
input is named.
"""

import json
from fractions import Fraction

import numpy as np
import pytest

from dpbandits import oracles
from dpbandits.oracles import (
    PROBLEMS,
    DecisionSet,
    LinearMatroid,
    Paths,
    SpanningTrees,
    TopK,
    TopKMax,
    UniformMatroid,
    problem_from_data,
)
from tests.oracles.instances import KINDS, draw


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(kind: str) -> None:
    problem = draw(kind, 9)
    text = json.dumps(problem.to_data())
    again = problem_from_data(json.loads(text))
    assert type(again) is type(problem)
    assert (again, hash(again), repr(again)) == (problem, hash(problem), repr(problem))
    assert json.dumps(again.to_data()) == text
    rng = np.random.default_rng(0)
    for _ in range(10):
        weights = rng.normal(size=problem.arms).round(1)
        assert problem.best(weights) == again.best(weights)
    assert (again.size, again.loops, again.cover(), again.costs, again.alpha) == (
        problem.size,
        problem.loops,
        problem.cover(),
        problem.costs,
        problem.alpha,
    )


def test_every_problem_is_tried() -> None:
    assert {type(draw(kind, 0)).__name__ for kind in KINDS} == set(PROBLEMS)
    assert set(PROBLEMS) | {"UserDecisionSet"} == {
        name
        for name in oracles.__all__
        if isinstance(cls := getattr(oracles, name), type) and issubclass(cls, DecisionSet)
    } - {"DecisionSet", "Matroid"}


def test_fractions_and_large_numbers_stay_exact() -> None:
    matroid = LinearMatroid([[Fraction(1, 3), 0.1], [10**30 + 1, "2.50"]])
    data = matroid.to_data()
    assert data["vectors"] == [["1/3", "1/10"], [10**30 + 1, "5/2"]]
    assert problem_from_data(json.loads(json.dumps(data))) == matroid


def test_equal_by_value() -> None:
    assert TopK(arms=5, k=2) == TopK(arms=5, k=2) != TopK(arms=5, k=3)
    assert TopK(arms=5, k=2) != UniformMatroid(arms=5, rank=2)
    assert len({TopK(arms=5, k=2), TopK(arms=5, k=2), TopKMax(arms=5, k=2)}) == 2
    assert (
        repr(Paths([("a", "b")], "a", "b"))
        == "Paths(edges=[['a', 'b']], source='a', target='b', directed=True, costs=True)"
    )
    assert len(repr(SpanningTrees([(i, i + 1) for i in range(500)]))) < 150


@pytest.mark.parametrize("kind", KINDS)
def test_bad_weights_and_actions(kind: str) -> None:
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
        match=f"Expected a super arm of .*: Expected arm={problem.arms} to be a whole "
        f"number from 0 to {problem.arms - 1}",
    ):
        problem.checked((problem.arms,))
    action = problem.best(np.ones(problem.arms))
    assert problem.checked(np.array(action[::-1])) == action
    with pytest.raises(ValueError, match="an arm is repeated"):
        problem.value((action[0], action[0]), np.ones(problem.arms))
    assert not problem.contains(())
