"""What a cost is booked as: exactly where that is short, never below, and always as a number that
can be read again.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from dpbandits.core.errors import MessageError
from dpbandits.local.budget import FINEST, FileBudget, MemoryBudget
from dpbandits.local.messages import randomizer_to_json
from dpbandits.mechanisms import LocalLaplace
from tests.local.test_budget import described, device

LONG = Fraction(1, int("7" * 2500))


def test_no_server_writes_a_number_that_cannot_be_read_again(tmp_path: Path) -> None:
    """A cost of 2,500 digits is booked as one of 40, rounded up; the file is read by whoever comes
    next.
    """
    budget, memory = FileBudget(tmp_path / "b", total=10), MemoryBudget(10)
    for _ in range(3):
        for one in (budget, memory):
            one.spend(LONG)
            one.spend(Fraction(1, 3))
    spent = FileBudget(tmp_path / "b", total=10).spent
    assert spent == budget.spent == memory.spent
    assert 1 + 3 * LONG <= spent <= 1 + Fraction(6, FINEST)
    assert len(str(spent)) < 100


def test_ordinary_costs_are_booked_exactly(tmp_path: Path) -> None:
    """Nothing is lost to rounding: three thirds, and ten tenths that are floats, make one."""
    for parts, cost in ((3, Fraction(1, 3)), (10, Fraction("0.1")), (7, Fraction(1, 7))):
        budget = FileBudget(tmp_path / str(parts), total=1)
        for _ in range(parts):
            budget.spend(cost)
        assert budget.spent == 1


@pytest.mark.parametrize("epsilon", ["1/" + "7" * 2500, "1/" + "7" * 101, "1e-101", "1e-99999"])
def test_a_description_has_no_long_epsilon(epsilon: str) -> None:
    text = json.dumps(json.loads(described()) | {"epsilon": epsilon})
    with pytest.raises(MessageError, match="at most 100 digits"):
        device(text)
    with pytest.raises(MessageError, match="at most 100 digits"):
        randomizer_to_json(LocalLaplace(epsilon=Fraction(epsilon)))
    with pytest.raises(MessageError, match="width"):
        device(json.dumps(json.loads(described()) | {"width": 10**200}))
    device(json.dumps(json.loads(described()) | {"epsilon": "7" * 100 + "/" + "9" * 100}))


@pytest.mark.parametrize("amount", [Fraction(0), Fraction(-1)])
def test_no_cost_gives_budget_back(amount: Fraction, tmp_path: Path) -> None:
    for budget in (FileBudget(tmp_path / "b", total=1), MemoryBudget(1)):
        with pytest.raises(ValueError, match="amount"):
            budget.spend(amount)
        assert budget.spent == 0
