"""Public weights of arms: what a record is charged, which weights are refused, and good ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

import dpbandits as dpb
from dpbandits.checks import check_mechanism
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Block, LazyCumulative, LazyForgetful, WeightedArms
from dpbandits.policies.weights import heaviest

PUBLIC = dpb.ExplicitSet([(0, 1), (0, 2), (0, 3), (4, 5)])
WEIGHTS = ("1/4", "3/4", "3/4", "3/4", "1/2", "1/2")
POLICIES = (dpb.LazyCUCB, dpb.DPKLCUCB)
KEY = bytes(32)
MEANS = [0.5, 0.4, 0.45, 0.3, 0.7, 0.6]


def weighted(cls: type, **more: object) -> dpb.Policy:
    if cls is dpb.DPKLCUCB:
        more = {"first": 3, **more}
    return cls(problem=PUBLIC, epsilon=4, grid=1, weights=WEIGHTS, **more)


@pytest.mark.parametrize("kind", [LazyForgetful, LazyCumulative])
def test_exact_loss(kind: type[LazyForgetful]) -> None:
    """A record that enters both arms costs their sum, and the guarantee is attained."""
    inner = kind(epsilon=Fraction(2, 3), grid=Grid(steps=1))
    whole = WeightedArms(inner=inner, kinds=(1, 2), epsilon=Fraction(1), width=2)
    check_mechanism(whole, readings=4)
    assert whole.guarantee.epsilon == sum(whole.costs) == 1


@pytest.mark.parametrize("cls", POLICIES)
def test_ledger_adds_up_to_epsilon(cls: type) -> None:
    """Every line has its arm's cost; the total is ε once every arm of a heaviest set was read."""
    session = dpb.Session(weighted(cls), noise=dpb.SimulatedNoise(1), seed=1)
    rewards = np.random.default_rng(1)
    for _ in range(200):
        decision = session.ask()
        session.tell(decision, rewards.integers(0, 2, len(decision.action)).astype(float))
    costs = {entry.coordinate: entry.cost for entry in session.ledger}
    assert len(costs) >= 3
    assert all(cost == 4 * Fraction(WEIGHTS[arm]) for arm, cost in costs.items())
    assert session.spent == dpb.spent(session.ledger) == 4
    twice = [*session.ledger, *session.ledger]
    spent = dpb.spent(twice)
    assert spent is not None
    assert spent > 4  # a record that was read twice is charged twice


@pytest.mark.parametrize("cls", POLICIES)
def test_saved_session_goes_on(cls: type) -> None:
    """Saved half-way and loaded it makes the same decisions, with the same intervals."""
    rng = np.random.default_rng(2)
    rewards = rng.integers(0, 2, (120, 2)).astype(float)

    def play(session: dpb.Session, rows: np.ndarray) -> list[object]:
        made = []
        for row in rows:
            decision = session.ask()
            session.tell(decision, row)
            made.append(decision.action)
        return made

    whole = dpb.Session(weighted(cls), noise=dpb.SimulatedNoise(3), seed=3)
    play(whole, rewards[:60])
    again = dpb.Session.from_json(whole.to_json(key=KEY), key=KEY)
    assert again.policy == whole.policy
    assert again.ledger == whole.ledger
    assert play(again, rewards[60:]) == play(whole, rewards[60:])
    assert again.beliefs() == whole.beliefs()


def test_noise_is_that_of_the_weight() -> None:
    """An arm's noise has its own scale: the sample variance of 4,000 answers is within six standard
    errors of the law's (Laplace noise has a kurtosis of 6, so an error is √(5/n) of it).
    """
    inner = LazyForgetful(epsilon=Fraction(1, 2), grid=Grid(steps=1024))
    whole = WeightedArms(inner=inner, kinds=(1, 3), epsilon=Fraction(1), width=2)
    noise, memory = dpb.SimulatedNoise(5), whole.init(2)
    answers = [whole.answer(memory, Block((0, 1), (0, 0), (1, 1)), noise)[1] for _ in range(4000)]
    for arm, scale in enumerate((2.0, 6.0)):
        assert whole.noised_sum(answers[0][arm], 1).draws == ((whole.kinds[arm], 1),)
        variance = np.var([answer[arm].total for answer in answers])
        assert variance == pytest.approx(2 * scale**2, rel=6 * math.sqrt(5 / 4000))


def test_intervals_hold_with_unequal_noise() -> None:
    """In at most 20 of 100 sessions an interval at .99 misses its mean, of six arms (each by the
    union bound with probability .06; more than that many have one below 1e-6).
    """
    missed = 0
    for seed in range(100):
        policy = weighted(dpb.DPKLCUCB, first=40)
        session = dpb.Session(policy, noise=dpb.SimulatedNoise(seed), seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(200):
            decision = session.ask()
            chance = np.array(MEANS)[list(decision.action)]
            session.tell(decision, (rng.random(len(chance)) < chance).astype(float))
        rows = session.beliefs(confidence=0.99).rows
        known = [(row, MEANS[arm]) for arm, row in enumerate(rows) if row.low is not None]
        assert len(known) > 2
        missed += any(not row.low <= mean <= row.high for row, mean in known)
    assert missed <= 20


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


def test_approximate_oracles_are_refused() -> None:
    """What is heaviest cannot be known, so the guarantee could not be checked."""
    problem = dpb.UserDecisionSet(arms=60, size=8, oracle=lambda w: np.argsort(-w)[:8], alpha=0.5)
    with pytest.raises(ValueError, match="can be found exactly"):
        dpb.DPKLCUCB(problem=problem, epsilon=1, weights=[0.125] * 60)
    with pytest.raises(ValueError, match="a matroid, or a decision set of at most 20,000"):
        dpb.arm_weights(problem)


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


PROBLEMS: list[Callable[[], dpb.DecisionSet]] = [
    lambda: PUBLIC,
    lambda: dpb.UniformMatroid(arms=5, rank=2),
    lambda: dpb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3)]),
    lambda: dpb.Matchings([("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3)]),
]


@pytest.mark.parametrize("make", PROBLEMS)
def test_arm_weights_are_nearly_best(make: Callable[[], dpb.DecisionSet]) -> None:
    """Σ 1/weight is within 1 part in 8 of the least sum, by a general solver, and every super arm
    weighs at most 1, exactly; one weighs 1.
    """
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
