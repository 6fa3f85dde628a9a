"""Public weights of arms: what a record is charged, which weights are refused, and good ones."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

import dpbandits as dpb
from dpbandits.checks import CHECKS
from dpbandits.policies.weights import heaviest

PUBLIC = dpb.ExplicitSet([(0, 1), (0, 2), (0, 3), (4, 5)])
WEIGHTS = ("1/4", "3/4", "3/4", "3/4", "1/2", "1/2")
POLICIES = (dpb.LazyCUCB, dpb.DPKLCUCB)
MEANS = [0.5, 0.4, 0.45, 0.3, 0.7, 0.6]


def weighted(cls: type, **more: object) -> dpb.Policy:
    if cls is dpb.DPKLCUCB:
        more = {"first": 3, **more}
    return cls(problem=PUBLIC, epsilon=4, grid=1, weights=WEIGHTS, **more)


@pytest.mark.parametrize("cls", POLICIES)
def test_shipped_checks_hold_and_it_is_saved(cls: type) -> None:
    """With a record of both arms that costs their sum, so that all of ε is attained."""
    policy = weighted(cls)
    for name in ("hosts_agree", "loss_within_claim", "ledger_equals_claim", "survives_json"):
        CHECKS[name](policy)
    noise = dpb.SimulatedNoise(1)
    text = dpb.Session(policy, noise=noise).to_json()
    assert dpb.Session.from_json(text, noise=noise).policy == policy


@pytest.mark.parametrize("cls", POLICIES)
def test_equal_weights_are_the_default(cls: type) -> None:
    """Weights of 1/K are no other policy: the same plays, releases and noise."""
    problem = dpb.TopK(arms=5, k=2)
    more = {"first": 3} if cls is dpb.DPKLCUCB else {}
    environment = dpb.Bernoulli([0.9, 0.8, 0.4, 0.3, 0.2])
    for weights in ([0.5] * 5, ["1/2"] * 5):
        one = cls(problem=problem, epsilon=8, grid=1, **more)
        other = cls(problem=problem, epsilon=8, grid=1, weights=weights, **more)
        runs = [
            dpb.simulate(policy, environment, 3000, runs=2, seed=4, compiled=False)
            for policy in (one, other)
        ]
        assert np.array_equal(runs[0].plays, runs[1].plays)
        assert one.regret_bound(MEANS[:5], 10**6) == pytest.approx(
            other.regret_bound(MEANS[:5], 10**6), nan_ok=True
        )


def test_bound_covers_regret_and_gains() -> None:
    """With many wrong sets that share public arms, good weights lower the bound and the regret."""
    sets = [[0, 1, 2, own] for own in range(3, 63)] + [[63, 64, 65, 66]]
    problem, means = dpb.ExplicitSet(sets), [0.35] * 63 + [0.5] * 4
    equal = dpb.LazyCUCB(problem=problem, epsilon=0.1, grid=1)
    better = dpb.LazyCUCB(problem=problem, epsilon=0.1, grid=1, weights=dpb.arm_weights(problem))
    rounds = 10**9
    bounds = [policy.regret_bound(means, rounds) for policy in (equal, better)]
    assert bounds[1] < 0.6 * bounds[0]
    orders = [policy.regret_order(means, rounds) for policy in (equal, better)]
    assert orders[1] < 0.6 * orders[0]
    environment = dpb.Bernoulli(means)
    regrets = [
        dpb.simulate(policy, environment, rounds, runs=2, seed=1, compiled=False).regret().mean()
        for policy in (equal, better)
    ]
    assert regrets[1] < 0.7 * regrets[0]
    assert regrets[1] < bounds[1]


def test_oracle_that_lies_cannot_record() -> None:
    """The vault refuses a record whose arms weigh more than 1, whatever the oracle claimed."""
    answers = iter([[0, 1], [2, 3]])
    problem = dpb.UserDecisionSet(arms=300, size=2, oracle=lambda w: next(answers))
    policy = dpb.LazyCUCB(problem=problem, epsilon=1, weights=["1/2"] * 2 + ["3/4"] * 298)
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1))
    decision = session.ask()
    assert decision.action == (2, 3)
    with pytest.raises(RuntimeError, match="weights of at most 1 together"):
        session.tell(decision, [1.0, 1.0])
    assert session.resolved == 0


def test_an_arm_of_no_super_arm_may_have_any_weight() -> None:
    problem = dpb.LinearMatroid([[1, 0], [0, 1], [0, 0]])
    policy = dpb.LazyCUCB(problem=problem, epsilon=1, weights=["1/2", "1/2", 3])
    assert policy.guarantee.epsilon == 1


PROBLEMS: list[Callable[[], dpb.DecisionSet]] = [
    lambda: PUBLIC,
    lambda: dpb.UniformMatroid(arms=5, rank=2),
    lambda: dpb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3)]),
    lambda: dpb.Matchings([("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3)]),
]


@pytest.mark.parametrize("make", PROBLEMS)
def test_arm_weights_are_nearly_best(make: Callable[[], dpb.DecisionSet]) -> None:
    """Σ 1/weight is within 1 part in 8 of the least; super arms weigh at most 1, exactly."""
    from dpbandits.policies.super_arm_bounds import super_arms

    problem = make()
    weights, sets = dpb.arm_weights(problem), super_arms(problem)
    assert sets is not None
    totals = [sum(weights[arm] for arm in action) for action in sets]
    assert max(totals) == 1 == sum(weights[arm] for arm in heaviest(problem, weights))
    rows = np.array([[arm in action for arm in range(problem.arms)] for action in sets], float)
    policy = dpb.LazyCUCB(problem=problem, epsilon=1, weights="balanced")
    assert policy.weights == weights
    least = minimize(
        lambda w: np.sum(1.0 / w),
        np.full(problem.arms, 1.0 / problem.size),
        constraints={"type": "ineq", "fun": lambda w: 1.0 - rows @ w},
        bounds=[(1e-3, 1.0)] * problem.arms,
    )
    assert least.success
    assert math.fsum(1.0 / float(w) for w in weights) <= least.fun * 1.125
