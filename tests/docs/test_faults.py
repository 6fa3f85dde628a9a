"""docs/reference/faults.md names tests, and they are there."""

from __future__ import annotations

import re

from tests.places import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "faults.md"


def test_every_test_on_the_page_is_there() -> None:
    named = re.findall(r"`([a-z_/]+\.py)` \(([^)]*)\)", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 40
    for file, tests in named:
        text = (REPOSITORY / "tests" / file).read_text(encoding="utf-8")
        for test in re.findall(r"`(\w+)`", tests):
            assert f"def {test}(" in text, f"{file}: {test}"


def test_every_line_names_one() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| what was")]
    assert len(rows) > 20
    assert all("`test_" in row for row in rows)
