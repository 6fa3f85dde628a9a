"""The list of families names tests that exist, and keeps some cases of each, not all."""

from __future__ import annotations

import ast
import re

import pytest

from dpbandits.policies import POLICIES
from tests.conftest import FAMILIES
from tests.families import COMPILED, KEPT, NEAR, is_long
from tests.places import REPOSITORY


@pytest.mark.parametrize("test", KEPT)
def test_a_family_is_a_test_with_cases(test: str, request: pytest.FixtureRequest) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((REPOSITORY / "tests" / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    found = request.config.stash[FAMILIES].get(test)  # None: its file is not asked for
    assert found in (None, {True, False}), "some of its cases are long, and some are not"


def test_near_policies_are_policies() -> None:
    assert set(NEAR) <= set(POLICIES)
    assert list(NEAR) == sorted(NEAR)
    assert set(COMPILED) < set(NEAR)
    assert all(re.compile(kept) for kept in KEPT.values())


def test_what_needs_a_database_server_is_long() -> None:
    assert is_long("service/test_spacing.py::test_a_person_waits", "postgresql-user")
    assert not is_long("service/test_spacing.py::test_a_person_waits", "sqlite-user")
    assert not is_long("noise/test_noise.py::test_it", "postgresql")
