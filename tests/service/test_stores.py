"""The storage suite that ships with the package, over the three kinds of store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.conftest import Open
from tests.service.suite.checks import STORE_CHECKS


@pytest.mark.parametrize("make", ["memory", "sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize("check", STORE_CHECKS.values(), ids=STORE_CHECKS)
def test_a_store_keeps_its_promises(make: Open, check: Callable[..., Any]) -> None:
    check(make, "trial")
