"""docs/reference/house.md: the floors of the import contract, every room with its own sentence, and
no path that leads nowhere. Tests lie in rooms of the same names.
"""

from __future__ import annotations

import ast
import re
import tomllib

from tests.places import REPOSITORY

PACKAGE = REPOSITORY / "src" / "dpbandits"
PAGE = REPOSITORY / "docs" / "reference" / "house.md"
TESTS = REPOSITORY / "tests"
MOST = 12
"""Files of a folder."""

TESTED_ELSEWHERE = {
    "auditing/statistical/counting": "with the level that counts, in auditing/statistical",
    "service/rows/migrations/versions": "with the databases of all versions, one floor above",
    "session/storing": "through the stores that keep a session, in service",
}
"""Rooms without a folder of tests."""

ACROSS = {
    "clients": "what other languages have to agree with",
    "core/refused": "what any room refuses, and in which words",
    "docs": "pages against the code",
    "measured": "measured pages and what writes them",
    "service/crashes": "attacks, kills and interruptions of the whole service",
    "service/deployed": "the service as it is installed",
    "service/http/refused": "what a server refuses, verb by verb",
    "service/pages/browsing": "pages in a browser",
    "service/restored": "databases that were put back",
    "service/sides": "holdout people, through all of the service",
    "session/interruption": "interruptions of every call",
    "session/options": "a session's options, each through all of it",
    "session/tells": "what a session is told, and what it tells",
}
"""Folders of tests that are of no room alone."""


def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def floors() -> list[str]:
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return list(layers)


def packages() -> dict[str, str]:
    """Every package below ours, and the first line of its docstring."""
    found = {}
    for init in sorted(PACKAGE.rglob("__init__.py")):
        name = init.parent.relative_to(PACKAGE).as_posix()
        if name != ".":
            text = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
            found[name] = " ".join(text.split("\n\n")[0].split())
    return found


def test_the_floors_are_those_of_the_contract() -> None:
    (drawn,) = re.findall(r"```text\n(.*?)\n```", page(), re.DOTALL)
    assert [line.split("  ")[0].strip() for line in drawn.split("\n")] == floors()


def test_every_room_is_on_the_page_with_its_own_sentence() -> None:
    rows = dict(re.findall(r"^\| `([\w/]+)/` \| (.*) \|$", page(), re.MULTILINE))
    assert rows == packages()
    assert all(rows.values())


def test_every_path_on_the_page_exists() -> None:
    paths = [
        path
        for path in re.findall(r"`([\w/]+(?:/|\.py))`", page())
        if not path.startswith("tests/")
    ]
    assert len(paths) > 40
    assert [
        path for path in paths if not (PACKAGE / path).exists() and not (REPOSITORY / path).exists()
    ] == []


def test_no_folder_is_crowded() -> None:
    crowded = {
        folder.as_posix(): files
        for folder in (PACKAGE, *(PACKAGE / name for name in packages()))
        if (files := sum(path.is_file() for path in folder.iterdir())) > MOST
    }
    assert crowded == {}


def test_tests_lie_in_rooms_of_the_same_names() -> None:
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("*/test_*.py")}
    inner = {"/".join(name.split("/")[:n]) for name in folders for n in range(1, 5)}
    assert set(packages()) - inner == set(TESTED_ELSEWHERE)
    assert folders - set(packages()) - {"."} == set(ACROSS)


def test_no_folder_of_tests_is_crowded() -> None:
    files: dict[str, int] = {}
    for path in TESTS.rglob("*.py"):
        folder = path.parent.relative_to(TESTS).as_posix()
        files[folder] = files.get(folder, 0) + 1
    assert {folder: count for folder, count in files.items() if count > MOST} == {}
