"""Budgets of each kind."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dpbandits.local.budget import Budget, FileBudget, MemoryBudget


@pytest.fixture(params=["memory", "file"])
def budget_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[int], Budget]:
    if request.param == "memory":
        return MemoryBudget
    return lambda total: FileBudget(tmp_path / "b", total=total)
