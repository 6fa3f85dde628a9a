"""Names that pages mention, with dots, are those of the package, and paths of files are there."""

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

from tests.places import REPOSITORY

PAGES = sorted(
    page
    for page in (
        *REPOSITORY.glob("*.md"),
        *(REPOSITORY / "docs").rglob("*.md"),
        *(REPOSITORY / "proofs").glob("*.md"),
    )
    if page.parent.name != "api" and page.name != "CHANGELOG.md"
)
"""But for what was true once, and for the generated reference."""

FILES = re.compile(r"\.(toml|db|pdf|git|html|env|conf|json|log|socket|timer)$")
"""Ends of the names of files."""


def names_on(text: str) -> set[str]:
    """Dotted names below `dpbandits`, or below `dpb`, its name in examples."""
    found = re.findall(r"(?<![\w./:@-])(dpb(?:andits)?(?:\.\w+)+)(?!\w*/)", text)
    return {re.sub(r"^dpb\.", "dpbandits.", name) for name in found if not FILES.search(name)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_every_dotted_name_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = []
    for name in sorted(names_on(text)):
        try:
            resolve_name(name)
        except (ImportError, AttributeError):
            missing.append(name)
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_every_file_of_the_repository_is_there(page: Path) -> None:
    paths = re.findall(r"`([a-z]+/[\w./-]+\.[a-z]+)", page.read_text(encoding="utf-8"))
    ours = [path for path in paths if (REPOSITORY / path.partition("/")[0]).is_dir()]
    assert not [path for path in ours if not (REPOSITORY / path).exists() and "NAME" not in path]


def test_names_are_found_at_all() -> None:
    text = "`dpbandits.simulate.play_rounds` and dpb.recommend(arms=2), dpbandits.toml"
    assert names_on(text) == {"dpbandits.simulate.play_rounds", "dpbandits.recommend"}
    everywhere = set().union(*(names_on(page.read_text(encoding="utf-8")) for page in PAGES))
    assert len(everywhere) > 60
