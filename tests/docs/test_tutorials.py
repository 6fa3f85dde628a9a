"""The tutorials are programs: every example in them is run, and must print what the page says."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["practitioners.md", "researchers.md"])
def test_tutorial(name: str) -> None:
    result = doctest.testfile(str(DOCS / name), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert result.attempted > 20, "the page has lost its examples"
    assert result.failed == 0, "see the captured output for what differs"
