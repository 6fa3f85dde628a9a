"""Upper bounds bound: what is measured, and the lower bounds."""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies import POLICIES
from dpbandits.policies.super_arm_bounds import super_arm_gaps
from tests.families import COMPILED
from tests.places import REPOSITORY
from tests.theory.instances import (
    ARMS,
    BANDITS,
    MATROIDS,
    ON_MATROIDS,
    ON_SUPER_ARMS,
    SUPER_ARMS,
    Maker,
)

ERRORS = 5.0  # standard errors: a false alarm in some 3·10⁶ for each of the means looked at
FREE = (
    "UCB1",
    "KLUCB",
    "SuccessiveElimination",
    "FollowTheLeader",
    "DecreasingHedge",
    "OMM",
    "KLOSM",
    "CUCB",
)


def budgets(name: str) -> tuple[float, ...]:
    """Three of them, or one for a policy that has none."""
    return (1.0,) if name.split(",")[0] in FREE else (0.1, 1.0, 4.0)


def worst_gap(given: Any, means: tuple[float, ...]) -> float:
    """The gap of the worst action. given: a number of arms, or a problem."""
    if isinstance(given, int):
        return max(means) - min(means)
    gaps = super_arm_gaps(given, means)
    assert gaps is not None
    return gaps.largest


def holds(
    make: Maker, given: Any, means: tuple[float, ...], eps: float, rounds: int, runs: int
) -> None:
    """lower <= upper, and measured <= upper up to the error of the mean. What the worst action
    costs bounds every run: nothing is played where the bound is no less.
    """
    policy, environment = make(given, eps, rounds), dpb.Bernoulli(means)
    upper = dpb.upper_bound(policy, environment, rounds)
    lower = dpb.lower_bound(policy, environment, rounds)
    assert 0 <= upper < math.inf
    assert math.isnan(lower) or lower <= upper * (1 + 1e-12), (policy, means, rounds)
    if upper >= rounds * worst_gap(given, means) * (1 - 1e-9):
        return
    regret = dpb.simulate(policy, environment, rounds=rounds, runs=runs, seed=rounds).regret()
    error = float(np.std(regret, ddof=1)) / math.sqrt(runs)
    slack = ERRORS * error + 1e-9 * rounds  # and what adding up rounds off
    assert regret.mean() <= upper + slack, (policy, means, rounds)


TIGHT = [ARMS[at] for at in (1, 2, 7, 9)]
"""Of all instances those on which regret came closest to its bound."""


@pytest.mark.parametrize("name", [name for name in BANDITS if name.split(",")[0] in COMPILED])
def test_regret_stays_below_the_bound(name: str) -> None:
    for means in TIGHT:
        for rounds in (100, 1000, 3000):
            holds(BANDITS[name], len(means), means, 1.0, rounds, 10)


@pytest.mark.long
@pytest.mark.parametrize("name", BANDITS)
def test_regret_stays_below_the_bound_everywhere(name: str) -> None:
    for means in TIGHT:
        for eps in budgets(name):
            for rounds in (300, 3000, 20_000):
                holds(BANDITS[name], len(means), means, eps, rounds, 10)


@pytest.mark.long
@pytest.mark.parametrize("name", [*ON_MATROIDS, *ON_SUPER_ARMS])
def test_regret_on_super_arms_stays_below_the_bound_everywhere(name: str) -> None:
    make = (ON_MATROIDS | ON_SUPER_ARMS)[name]
    for problem, means in MATROIDS if name in ON_MATROIDS else SUPER_ARMS:
        for eps in budgets(name):
            for rounds in (50, 200, 800):
                holds(make, problem, means, eps, rounds, 6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [*BANDITS, *ON_MATROIDS, *ON_SUPER_ARMS])
def test_bounds_are_numbers_from_the_first_round_on(name: str) -> None:
    """Also where an action is always right, and where all are alike."""
    given = 2 if name in BANDITS else dpb.UniformMatroid(arms=2, rank=1)
    for means, rounds in (((0.0, 1.0), 1), ((0.0, 1.0), 2), ((0.5, 0.5), 2)):
        policy = (BANDITS | ON_MATROIDS | ON_SUPER_ARMS)[name](given, 20.0, rounds)
        for bound in (dpb.upper_bound, dpb.regret_order):
            assert 0 <= bound(policy, dpb.Bernoulli(means), rounds) < math.inf


def test_every_policy_that_states_constants_is_tried() -> None:
    tried = {name.split(",")[0] for name in BANDITS | ON_MATROIDS | ON_SUPER_ARMS}
    states = {
        name
        for name, cls in POLICIES.items()
        if cls.regret_bound is not dpb.Policy.regret_bound and cls.about.goal == "regret"
    }
    assert tried == states


def test_every_proved_regret_without_a_number_has_its_reason() -> None:
    text = (REPOSITORY / "decisions" / "0010-comparisons.md").read_text(encoding="utf-8")
    silent = {
        name
        for name, cls in POLICIES.items()
        if cls.regret_bound is dpb.Policy.regret_bound and cls.about.goal == "regret"
    }
    explained = {name for name in silent if f"`{name}`" in text}
    assert explained == {name for name in silent if POLICIES[name].about.theory}
