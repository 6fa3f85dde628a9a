"""docs/reference/house.md: the floors of the import contract, every room with its own sentence, and
no path that leads nowhere.
"""

from __future__ import annotations

import ast
import re
import tomllib

from tests.places import REPOSITORY

PACKAGE = REPOSITORY / "src" / "dpbandits"
PAGE = REPOSITORY / "docs" / "reference" / "house.md"
MOST = 12
"""Files of a folder."""


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
