"""Super arms that are worth their least or their largest mean: one error counts, B∞ = 1."""

import math

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.oracles import check_decision_set
from dpbandits.oracles.checks import trial_weights

ROUTES = [(0, 1, 2), (0, 3), (2, 3, 4), (1, 4)]


@pytest.mark.parametrize(("value", "extreme"), [("least", min), ("largest", max)])
def test_oracle_value_and_smoothness(value: str, extreme: object) -> None:
    """The oracle is exact, the value follows the largest error by at most that, and attains it."""
    routes = dpb.ExplicitSet(ROUTES, value=value)
    check_decision_set(routes)
    assert (routes.linear, routes.b_one, routes.b_max) == (False, 1.0, 1.0)
    rng = np.random.default_rng(3)
    ratios = []
    for means in trial_weights(5, 40):
        moved = np.clip(means + rng.uniform(-0.2, 0.2, 5), 0, 1)
        for route in ROUTES:
            assert routes.value(route, means) == extreme(means[list(route)])
            error = np.abs(moved - means)[list(route)].max()
            change = abs(routes.value(route, moved) - routes.value(route, means))
            assert change <= error + 1e-12
            ratios.append(change / error if error else 0.0)
    assert max(ratios) == pytest.approx(1.0)


def test_bottleneck_path() -> None:
    """The widest path is not the one with the largest sum, and the JSON form keeps that."""
    weights = [0.9, 0.1, 0.9, 0.5, 0.6]
    routes = dpb.ExplicitSet(ROUTES, value="least")
    assert dpb.ExplicitSet(ROUTES).best(weights) == (2, 3, 4)
    assert routes.best([0.9, 0.8, 0.9, 0.5, 0.6]) == (0, 1, 2)
    assert routes.best(weights) == (0, 3)
    again = dpb.ExplicitSet.from_data(routes.to_data())
    assert again == routes != dpb.ExplicitSet(ROUTES)
    for bad in ({"value": "mean"}, {"value": "least", "costs": True}):
        with pytest.raises(ValueError, match="Expected value="):
            dpb.ExplicitSet(ROUTES, **bad)


def test_bounds_and_orders_use_the_largest_error() -> None:
    """Where one reward a round is read, bounds for bottlenecks are those of B∞ = 1."""
    means = [0.9, 0.8, 0.85, 0.2, 0.3]
    wide, summed = (
        dpb.ExplicitSet(ROUTES, value="least"),
        dpb.UserDecisionSet(
            arms=5,
            size=3,
            oracle=dpb.ExplicitSet(ROUTES, value="least").best,
            contains=dpb.ExplicitSet(ROUTES).contains,
            value=lambda action, means: means[list(action)].min(),
            b_one=1,
        ),
    )
    for make, factor in (
        (lambda problem: dpb.CUCBLDP2(problem=problem, epsilon=2), 9),
        (lambda problem: dpb.CUCBDPMax(problem=problem, epsilon=2, horizon=10**6), 3),
    ):
        order = make(wide).regret_order(means, 10**6)
        assert make(summed).regret_order(means, 10**6) >= (factor - 1e-9) * order
        bound = make(wide).regret_bound(means, 10**6)
        assert bound <= make(summed).regret_bound(means, 10**6)


def test_smoothness_of_user_defined_values() -> None:
    """It may be given with a value of one's own, and is checked."""
    first = {"arms": 3, "size": 2, "oracle": lambda weights: [0, 1]}
    assert math.isnan(dpb.UserDecisionSet(**first, value=lambda a, m: 0.0).b_max)
    known = dpb.UserDecisionSet(**first, value=lambda a, m: float(m.max()), b_one=1, b_max=1)
    assert (known.b_one, known.b_max) == (1.0, 1.0)
    assert dpb.UserDecisionSet(**first).b_max == 2.0
