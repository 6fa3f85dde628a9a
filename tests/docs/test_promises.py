"""Every promise of docs/guides/service.md has a row in its table of tests, and each test that is
named there exists.
"""

from __future__ import annotations

import ast
import re

import pytest

from tests.places import REPOSITORY

GUIDE = REPOSITORY / "docs" / "guides" / "service.md"


def part() -> str:
    """What the guide promises, and the tests of it."""
    text = GUIDE.read_text(encoding="utf-8")
    return text.partition("## What is promised\n")[2].partition("\n## ")[0]


def rows() -> list[tuple[str, str]]:
    """The table's rows: a promise's number, and what stands beside it."""
    return re.findall(r"^\| (\S+) \| (.+) \|$", part(), re.MULTILINE)[1:]


def test_each_promise_has_a_row() -> None:
    promised = re.findall(r"^(\d+)\. \*\*", part(), re.MULTILINE)
    assert len(promised) >= 7
    assert promised == [str(number) for number in range(1, len(promised) + 1)]
    assert [number for number, _ in rows()] == promised


@pytest.mark.parametrize("said", [said for _, said in rows()], ids=[n for n, _ in rows()])
def test_every_test_that_is_named_exists(said: str) -> None:
    named = [each for each in re.findall(r"`([^`]+)`", said) if not each.startswith("make ")]
    assert named
    for each in named:
        file, _, name = each.partition("::")
        found = ast.parse((REPOSITORY / file).read_text(encoding="utf-8")).body
        tests = {node.name for node in found if isinstance(node, ast.FunctionDef)}
        assert name in tests
        assert name.startswith("test_")
