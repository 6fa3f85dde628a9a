"""Upper bounds bound what is measured, and lie above the lower bounds. None exceeds T times the
worst action's gap, and each bites: it lies below that in cells that are played, at horizons where a
bound has something to say. And no constant of it changes unseen.

After a change that is meant to change bounds `python -m tests.theory.test_biting` writes
bounds.json; the commit says why.
"""

import json
import math
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import examples
from dpbandits.checks.checks import horizon_of
from dpbandits.policies import POLICIES
from dpbandits.policies.super_arm_bounds import super_arm_gaps
from tests.families import COMPILED
from tests.places import REPOSITORY
from tests.theory.instances import ARMS, BANDITS, MATROIDS, ON_MATROIDS, ON_SUPER_ARMS, SUPER_ARMS

Cell = tuple[Any, tuple[float, ...]]  # a number of arms, or a problem; and means
MAKERS = BANDITS | ON_MATROIDS | ON_SUPER_ARMS
PLAIN = ("CUCB", "CUCBLDP2, joint")  # played round by round even on a matroid
NARROW = ("CUCBLDP1, published", "CUCBLDP2, published")
"""Their published radius is no bound for fewer than some ln T reports, whose tails are not
Gaussian; at long horizons what that may cost is T times the gap, so the bound bites in a window of
horizons, or never.
"""
LATER = {"DPKLUCB, short": [(5, 0.1)]}
"""Cells, an instance and epsilon, whose bound bites after T = 10¹² only: batches of one reward to
begin with, so that the sum over states of the best arm is long, on gaps of .01.
"""


ERRORS = 5.0  # standard errors: a false alarm in some 3·10⁶ for each of the means looked at


def free(name: str) -> bool:
    return POLICIES[name.partition(",")[0]].about.privacy == "none"


def budgets(name: str) -> tuple[float, ...]:
    """Three of them, or one for a policy that has none."""
    return (1.0,) if free(name) else (0.1, 1.0, 4.0)


def worst_gap(given: Any, means: tuple[float, ...]) -> float:
    """The gap of the worst action. given: a number of arms, or a problem."""
    if isinstance(given, int):
        return max(means) - min(means)
    gaps = super_arm_gaps(given, means)
    assert gaps is not None
    return gaps.largest


def holds(name: str, cell: Cell, eps: float, rounds: int, runs: int) -> None:
    """lower <= upper, and measured <= upper up to the error of the mean. What the worst action
    costs bounds every run: nothing is played where the bound is no less.
    """
    given, means = cell
    policy, environment = MAKERS[name](given, eps, rounds), dpb.Bernoulli(means)
    upper = dpb.upper_bound(policy, environment, rounds)
    lower = dpb.lower_bound(policy, environment, rounds)
    assert 0 <= upper < math.inf
    assert math.isnan(lower) or lower <= upper * (1 + 1e-12), (policy, means, rounds)
    if upper >= rounds * worst_gap(*cell) * (1 - 1e-9):
        return
    regret = dpb.simulate(policy, environment, rounds=rounds, runs=runs, seed=rounds).regret()
    error = float(np.std(regret, ddof=1)) / math.sqrt(runs)
    slack = ERRORS * error + 1e-9 * rounds  # and what adding up rounds off
    assert regret.mean() <= upper + slack, (policy, means, rounds)


def cells(name: str) -> list[Cell]:
    if name in BANDITS:
        return [(len(means), means) for means in ARMS]
    return list(MATROIDS if name in ON_MATROIDS else SUPER_ARMS)


def upper(name: str, cell: Cell, eps: float, rounds: int) -> float:
    return MAKERS[name](cell[0], eps, rounds).regret_bound(cell[1], rounds)


def bites(name: str, cell: Cell, eps: float, rounds: int) -> bool:
    return upper(name, cell, eps, rounds) < rounds * worst_gap(*cell) * (1 - 1e-9)


def played(name: str) -> int:
    """T = 10⁶ where the loop is compiled, else 10⁵; which is where published local bounds bite."""
    return 10**5 if name in PLAIN + NARROW else 10**6


def bites_somewhere(name: str, cell: Cell, eps: float, horizons: Iterable[int]) -> bool:
    """Whether the bound bites at one of these horizons; at none it exceeds the worst action's."""
    found = [(upper(name, cell, eps, rounds), rounds * worst_gap(*cell)) for rounds in horizons]
    assert all(bound <= worst * (1 + 1e-12) for bound, worst in found), (name, cell, eps)
    return any(bound < worst * (1 - 1e-9) for bound, worst in found)


@pytest.mark.parametrize("name", MAKERS)
def test_no_bound_exceeds_the_worst_action(name: str) -> None:
    for cell in cells(name)[::4] if name in BANDITS else cells(name):
        bites_somewhere(name, cell, 1.0, (1, 2, 7, 1000, 10**6))


@pytest.mark.long
@pytest.mark.parametrize("name", MAKERS)
def test_every_bound_bites_in_every_cell_at_last(name: str) -> None:
    """By T = 10¹², but where it is said not to. None exceeds the worst action's loss."""
    never = [
        (number, eps)
        for number, cell in enumerate(cells(name))
        for eps in budgets(name)
        if not bites_somewhere(name, cell, eps, (10**12, 10**6, 1000, 1))
        and not bites_somewhere(name, cell, eps, [10**k for k in range(1, 12)])
        and worst_gap(*cell) > 0
    ]
    if name in NARROW:
        assert 0 < len(never) < 30  # of 36
        assert not any(bites(name, cell, 1.0, 10**12) for cell in cells(name))
    else:
        assert never == LATER.get(name, [])


TIGHT = [ARMS[at] for at in (1, 2, 7, 9)]
"""Of all instances those on which regret came closest to its bound."""


@pytest.mark.parametrize("name", [name for name in BANDITS if name.split(",")[0] in COMPILED])
def test_regret_stays_below_the_bound(name: str) -> None:
    """At last one that bites, for two arms with means .2 and .9."""
    for means, rounds in product(TIGHT, (100, 1000, 3000)):
        holds(name, (len(means), means), 1.0, rounds, 10)
    eps, cell, rounds = 1.0 if free(name) else 4.0, cells(name)[2], 10**5
    assert bites(name, cell, eps, rounds)
    holds(name, cell, eps, rounds, 2)


@pytest.mark.long
@pytest.mark.parametrize("name", MAKERS)
def test_regret_stays_below_the_bound_everywhere(name: str) -> None:
    if name in BANDITS:
        tried, horizons, runs = [(len(means), means) for means in TIGHT], (300, 3000, 20_000), 10
    else:
        tried, horizons, runs = cells(name), (50, 200, 800), 6
    for cell, eps, rounds in product(tried, budgets(name), horizons):
        holds(name, cell, eps, rounds, runs)


@pytest.mark.long
@pytest.mark.parametrize("name", MAKERS)
def test_regret_stays_below_bounds_at_long_horizons(name: str) -> None:
    """Of these cells a bound bites in a quarter at least, most in all."""
    rounds, runs = played(name), 2 if name in PLAIN else 5
    numbers = (0, 2, 7, 9) if name in BANDITS else (0,) if name in PLAIN else (0, 1)
    tried = [
        (cells(name)[number], eps)
        for number in numbers
        for eps in ((1.0,) if free(name) else (4.0,) if name in PLAIN else (1.0, 4.0))
    ]
    for cell, eps in tried:
        holds(name, cell, eps, rounds, runs)
    assert sum(bites(name, cell, eps, rounds) for cell, eps in tried) >= len(tried) / 4


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", MAKERS)
def test_bounds_are_numbers_from_the_first_round_on(name: str) -> None:
    """Also where an action is always right, and where all are alike."""
    given = 2 if name in BANDITS else dpb.UniformMatroid(arms=2, rank=1)
    for means, rounds in (((0.0, 1.0), 1), ((0.0, 1.0), 2), ((0.5, 0.5), 2)):
        policy = MAKERS[name](given, 20.0, rounds)
        for bound in (dpb.upper_bound, dpb.regret_order):
            assert 0 <= bound(policy, dpb.Bernoulli(means), rounds) < math.inf


def test_every_policy_that_states_constants_is_tried() -> None:
    tried = {name.split(",")[0] for name in MAKERS}
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


KEPT = Path(__file__).with_name("bounds.json")
NAMES = tuple(dict.fromkeys([*MAKERS, *POLICIES]))


def stated(name: str) -> list[float]:
    """Bounds and orders in two cells, and bounds of all instances; where no constants are stated,
    those of its examples.
    """
    asked: list[tuple[Any, Any, int]] = [
        (policy, np.linspace(0.8, 0.3, policy.arms).tolist(), min(10**6, horizon_of(policy)))
        for policy in (() if name in MAKERS else examples(name))
    ]
    asked += [
        (MAKERS[name](given, eps, rounds), means, rounds)
        for given, means in (cells(name)[:4:3] if name in MAKERS else ())
        for eps in budgets(name)[::2]
        for rounds in (10**5, 10**9)
    ]
    return [
        float(value)
        for policy, means, rounds in asked
        for value in (
            policy.regret_bound(means, rounds),
            policy.regret_order(means, rounds),
            dpb.instance_independent_bound(policy, rounds),
        )
    ]


@pytest.mark.parametrize("name", NAMES)
def test_bounds_are_what_they_were(name: str) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert kept.keys() == set(NAMES)
    assert stated(name) == pytest.approx(kept[name], rel=1e-7, nan_ok=True)


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(stated(name))}" for name in NAMES)
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
