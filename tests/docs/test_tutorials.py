"""The tutorials are programs: every example in them is run, and must print what the page says."""

import doctest

import pytest

from tests.places import REPOSITORY

DOCS = REPOSITORY / "docs"


MADE = DOCS / "reference" / "api"
"""Written by `make docs` from docstrings, which are run where they stand."""

TUTORIALS = sorted(
    page.relative_to(DOCS).as_posix()
    for page in DOCS.rglob("*.md")
    if MADE not in page.parents and "\n>>> " in page.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorial(name: str) -> None:
    result = doctest.testfile(
        str(DOCS / name), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS
    )
    assert result.attempted > 5, "the page has lost its examples"
    assert result.failed == 0, "see the captured output for what differs"


def test_every_block_of_python_is_an_example_that_is_run() -> None:
    unread = {
        page.relative_to(DOCS).as_posix()
        for page in DOCS.rglob("*.md")
        if MADE not in page.parents
        for block in page.read_text(encoding="utf-8").split("```python\n")[1:]
        if not block.startswith(">>> ")
    }
    assert unread == set()


def test_no_tutorial_is_lost() -> None:
    assert len(TUTORIALS) >= 14
