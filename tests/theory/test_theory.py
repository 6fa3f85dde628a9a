"""Bounds against closed forms and against each other."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import dpbandits as dpb
from dpbandits import theory
from dpbandits.checks import examples
from dpbandits.policies import CONTEXTUAL, POLICIES
from dpbandits.policies.formulas.indices import d_eps, kl

ENV = dpb.Bernoulli([0.75, 0.625, 0.5])


def test_lower_bounds_are_the_formulas() -> None:
    log_t = math.log(10**5)
    assert theory.lai_robbins(ENV, 10**5) == pytest.approx(
        log_t * (0.125 / kl(0.625, 0.75) + 0.25 / kl(0.5, 0.75))
    )
    private = log_t * (0.125 / d_eps(0.625, 0.75, 0.1) + 0.25 / d_eps(0.5, 0.75, 0.1))
    assert dpb.lower_bound(dpb.DPKLUCB(arms=3, epsilon=0.1), ENV, 10**5) == pytest.approx(private)
    assert theory.shariff_sheffet(ENV, 10**5, 0.5) == pytest.approx(2 * log_t / 0.5)


@pytest.mark.parametrize("name", ["KLUCB", "DPKLUCB", "LDPKLUCB"])
@pytest.mark.parametrize("eps", [1e-9, 1, 400, 10**50])
@pytest.mark.parametrize("best", [0.1 + 0.2, 0.3 + 1e-9])  # means that rounding alone tells apart
def test_near_ties_and_huge_budgets_have_bounds(name: str, eps: float, best: float) -> None:
    policy = POLICIES[name](arms=2, **({} if name == "KLUCB" else {"epsilon": eps}))
    bounds = (theory.lower_bound, theory.upper_bound, theory.regret_order)
    low, high, order = (f(policy, dpb.Bernoulli([0.3, best]), 10**6) for f in bounds)
    assert 0 <= low <= high
    assert order >= 0
    assert low <= (best - 0.3) * 10**6


def test_privacy_never_lowers_a_bound() -> None:
    free = dpb.lower_bound(dpb.UCB1(arms=3), ENV, 10**6)
    central = [
        dpb.lower_bound(dpb.DPKLUCB(arms=3, epsilon=e), ENV, 10**6) for e in (0.05, 0.2, 1, 20)
    ]
    local = [
        dpb.lower_bound(dpb.LDPKLUCB(arms=3, epsilon=e), ENV, 10**6) for e in (0.05, 0.2, 1, 20)
    ]
    assert central == sorted(central, reverse=True)
    assert central[-1] == pytest.approx(free)
    assert all(a <= b for a, b in zip(central, local, strict=True))


@pytest.mark.parametrize("name", POLICIES)
def test_orders_grow_with_rounds_or_say_nan(name: str) -> None:
    policy = examples(name)[0]
    environment = (
        ENV if policy.arms == ENV.arms else dpb.Bernoulli([0.7, 0.5, 0.4, 0.2][: policy.arms])
    )
    orders = [dpb.regret_order(policy, environment, rounds) for rounds in (10**3, 10**6)]
    bounds = [dpb.upper_bound(policy, environment, rounds) for rounds in (10**3, 10**6)]
    alike = dpb.Bernoulli([0.5] * policy.arms)
    if policy.about.goal == "estimate":
        assert orders == bounds == [0, 0]  # one arm has no regret
    elif policy.about.theory:
        # with full information they need not grow
        assert 0 < orders[0] <= orders[1] < math.inf, (
            f"Expected {name} to have regret_order, or theory=False in its about: then nothing is "
            "proved of its regret."
        )
        assert dpb.regret_order(policy, alike, 1000) == 0
    else:
        assert all(math.isnan(value) for value in orders + bounds)
    if policy.about.goal == "regret" and not math.isnan(bounds[0]):
        assert 0 < bounds[0] <= bounds[1] < math.inf
        assert dpb.upper_bound(policy, alike, 1000) == 0


def test_table_of_policies_is_what_they_declare() -> None:
    rows = {row.name: row for row in dpb.list_policies()}
    assert set(rows) == {*POLICIES, *CONTEXTUAL}
    private = [row.privacy != "none" for row in rows.values()]
    assert private == sorted(private)
    for name, row in rows.items():
        assert row.contexts == (name in CONTEXTUAL)
        guarantee = examples(name)[0].guarantee
        assert (row.privacy == "none") == (guarantee is None)
        if guarantee is not None:
            measure = "joint" if "joint" in guarantee.people else guarantee.measure
            assert row.privacy == ("local" if guarantee.trust == "local" else measure)
            assert rows[row.baseline].privacy == "none"


def test_listed_values_off_the_grid_are_not_rounded() -> None:
    """K_inf of a law on three values, by a direct search over laws on these values and 1."""
    values, law = np.array([0.0, 0.0123, 0.0234, 1.0]), np.array([0.2, 0.5, 0.3, 0.0])
    environment = dpb.Categorical(values, [law, [0.15, 0.5, 0.35, 0.0]])
    best = float(environment.means[1])

    def entropy(other: np.ndarray) -> float:
        return float(np.sum(law[:3] * np.log(law[:3] / np.maximum(other[:3], 1e-12))))

    found = minimize(
        entropy,
        np.array([0.2, 0.45, 0.34, 0.01]),
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1.0},
            {"type": "ineq", "fun": lambda q: 1e3 * (q @ values - best)},
        ],
        bounds=[(1e-9, 1.0)] * 4,
        options={"ftol": 1e-14, "maxiter": 500},
    )
    gap = best - float(environment.means[0])
    assert theory.lai_robbins(environment, 10**6) == pytest.approx(
        gap * math.log(10**6) / found.fun, rel=1e-4
    )


class Own(dpb.UCB1):
    """Plays otherwise, so that the proof of UCB1 says nothing of it."""

    def leader(self, s: Any, t: int) -> int:
        return 0


class Proved(Own):
    def regret_bound(self, means: Any, rounds: int) -> float:
        return 7.0


def test_a_policy_of_ones_own_has_no_bound_that_it_does_not_state() -> None:
    environment = dpb.Bernoulli([0.2, 0.5])
    own, proved = Own(arms=2), Proved(arms=2)
    assert dpb.upper_bound(proved, environment, 1000) == 7.0
    assert math.isnan(dpb.upper_bound(own, environment, 1000))
    assert math.isnan(dpb.regret_order(proved, environment, 1000))
    assert math.isnan(dpb.instance_independent_bound(proved, 1000))
