"""No bound exceeds T times the worst action's gap, and each bites: it lies below that in cells that
are played, at horizons where a bound has something to say. And no constant of it changes unseen.

After a change that is meant to change bounds `python -m tests.theory.test_biting` writes
bounds.json; the commit says why.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpbandits.checks import examples
from dpbandits.checks.checks import horizon_of
from dpbandits.policies import POLICIES
from tests.families import COMPILED
from tests.theory.instances import ARMS, BANDITS, MATROIDS, ON_MATROIDS, ON_SUPER_ARMS, SUPER_ARMS
from tests.theory.test_upper_bounds import FREE, budgets, holds, worst_gap

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


def cells(name: str) -> list[Cell]:
    if name in BANDITS:
        return [(len(means), means) for means in ARMS]
    return list(MATROIDS if name in ON_MATROIDS else SUPER_ARMS)


def most(name: str, cell: Cell, rounds: int) -> float:
    """T times the worst action's gap."""
    return rounds * worst_gap(*cell)


def upper(name: str, cell: Cell, eps: float, rounds: int) -> float:
    return MAKERS[name](cell[0], eps, rounds).regret_bound(cell[1], rounds)


def bites(name: str, cell: Cell, eps: float, rounds: int) -> bool:
    return upper(name, cell, eps, rounds) < most(name, cell, rounds) * (1 - 1e-9)


def played(name: str) -> int:
    """T = 10⁶ where the loop is compiled, else 10⁵; which is where published local bounds bite."""
    return 10**5 if name in PLAIN + NARROW else 10**6


def bites_somewhere(name: str, cell: Cell, eps: float, horizons: Iterable[int]) -> bool:
    """Whether the bound bites at one of these horizons; at none it exceeds the worst action's."""
    found = [(upper(name, cell, eps, rounds), most(name, cell, rounds)) for rounds in horizons]
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
        and most(name, cell, 1) > 0
    ]
    if name in NARROW:
        assert 0 < len(never) < 30  # of 36
        assert not any(bites(name, cell, 1.0, 10**12) for cell in cells(name))
    else:
        assert never == LATER.get(name, [])


@pytest.mark.parametrize("name", [name for name in BANDITS if name.split(",")[0] in COMPILED])
def test_regret_stays_below_a_bound_that_bites(name: str) -> None:
    """Two arms with means .2 and .9."""
    eps, cell, rounds = 1.0 if name in FREE else 4.0, cells(name)[2], 10**5
    assert bites(name, cell, eps, rounds)
    holds(BANDITS[name], *cell, eps, rounds, 2)


@pytest.mark.long
@pytest.mark.parametrize("name", MAKERS)
def test_regret_stays_below_bounds_at_long_horizons(name: str) -> None:
    """Of these cells a bound bites in a quarter at least, most in all."""
    rounds, runs = played(name), 2 if name in PLAIN else 5
    numbers = (0, 2, 7, 9) if name in BANDITS else (0,) if name in PLAIN else (0, 1)
    tried = [
        (cells(name)[number], eps)
        for number in numbers
        for eps in ((1.0,) if name in FREE else (4.0,) if name in PLAIN else (1.0, 4.0))
    ]
    for cell, eps in tried:
        holds(MAKERS[name], *cell, eps, rounds, runs)
    assert sum(bites(name, cell, eps, rounds) for cell, eps in tried) >= len(tried) / 4


KEPT = Path(__file__).with_name("bounds.json")
NAMES = tuple(dict.fromkeys([*MAKERS, *POLICIES]))


def stated(name: str) -> list[float]:
    """Bounds and orders in two cells; where no constants are stated, those of its examples."""
    asked: list[tuple[Any, Any, int]] = [
        (policy, np.linspace(0.8, 0.3, policy.arms).tolist(), min(10**6, horizon_of(policy)))
        for policy in (() if name in MAKERS else examples(name))
    ]
    asked += [
        (MAKERS[name](given, eps, rounds), means, rounds)
        for given, means in (cells(name)[:4:3] if name in MAKERS else ())
        for eps in budgets(name)[::2]
        for rounds in (10**4, 10**9)
    ]
    return [
        float(of(means, rounds))
        for policy, means, rounds in asked
        for of in (policy.regret_bound, policy.regret_order)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_bounds_are_what_they_were(name: str) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert kept.keys() == set(NAMES)
    assert stated(name) == pytest.approx(kept[name], rel=1e-7, nan_ok=True)


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(stated(name))}" for name in NAMES)
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
