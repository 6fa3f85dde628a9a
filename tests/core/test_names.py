"""A public name means one thing: no two modules define a class, function, type or value of one
name, nor a constant that other modules import.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import dpbandits

PACKAGE = Path(dpbandits.__file__).parent

DRIVER = "simulation/kernels/driver.py"
PARTS = {"Numbers", "start", "choose", "batch", "read", "learn", "observe", "named"}
"""What a compiled player is made of. The driver calls the parts by these names, so that every file
of kernels may have its own; nobody else may.
"""

LEFT = "auditing/"
"""The auditor's constants keep their names, for stored measurements (docs/measured/controls.md) are
of its files as they are. Nobody else imports them.
"""


def assigned(statement: ast.stmt) -> Iterator[str]:
    """Names that a top-level statement assigns, also by unpacking, and in a branch or loop."""
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    else:
        targets = []
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
    for inner in ast.iter_child_nodes(statement):
        if isinstance(inner, ast.stmt):
            yield from assigned(inner)


def defined(statement: ast.stmt) -> list[str]:
    """What a top-level statement defines: a class, a function, types and values."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [statement.name]
    return list(assigned(statement))


def imported(sources: Mapping[str, str]) -> set[tuple[str, str]]:
    """(module, name) of every name that some module imports from another, at any level."""
    return {
        (node.module or "", alias.name)
        for text in sources.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def module_at(place: str) -> str:
    return f"dpbandits.{place.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"


def definitions(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Every public name with the places that define it."""
    found: dict[str, set[str]] = defaultdict(set)
    shared = imported(sources)
    for place, text in sources.items():
        for statement in ast.parse(text).body:
            types = isinstance(statement, ast.ClassDef | ast.FunctionDef)
            for name in defined(statement):
                constant = name.isupper() and not types
                if name.startswith("_") or (
                    constant and (place.startswith(LEFT) or (module_at(place), name) not in shared)
                ):
                    continue  # a constant that nobody imports is its file's own affair
                own_part = name in PARTS and place.startswith("simulation/kernels/")
                found[name].add(DRIVER if own_part else place)
    return found


def twice(sources: Mapping[str, str]) -> dict[str, set[str]]:
    return {name: places for name, places in definitions(sources).items() if len(places) > 1}


def ours() -> dict[str, str]:
    return {
        place: path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
        for place in [path.relative_to(PACKAGE).as_posix()]
        # Alembic calls what is in the versions by its own names
        if not place.startswith("service/rows/migrations/versions/")
    }


def test_definitions_are_found() -> None:
    found = definitions(ours())
    assert found["Session"] == {"session/session.py"}
    assert found["simulate"] == {"simulation/simulate.py"}
    assert found["Floats"] == {"core/arrays.py"}
    assert found["metadata"] == {"service/rows/tables.py"}
    assert found["MOST"] == {"core/inputs.py"}
    assert found["LISTED"] == {"session/wheel/chosen.py"}
    assert "DECADES" not in found
    assert all(found[part] == {DRIVER} for part in PARTS)


def test_nobody_else_imports_the_auditors_constants() -> None:
    sources = ours()
    others = {place: text for place, text in sources.items() if not place.startswith(LEFT)}
    names = {
        (module, name)
        for module, name in imported(others)
        if name.isupper() and module.startswith("dpbandits.auditing")
    }
    assert names == set()


def test_no_public_name_is_defined_twice() -> None:
    assert twice(ours()) == {}


USES = "from dpbandits.a import x, X\nfrom dpbandits.b.c import X, y, z, u, v, w"


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        ("def x(): ...", "class x: ...", "x"),
        ("x = 1", "def x(): ...", "x"),
        ("x: int = 1", "y, (x, z) = 1, (2, 3)", "x"),
        ("x = 1", "if y:\n    x = 2", "x"),
        ("X = 1", "X: int = 2", "X"),
        ("X, Y = 1, 2", "Z, X = range(2)", "X"),
    ],
)
def test_two_of_one_name_are_found(one: str, other: str, name: str) -> None:
    places = {"a.py": one, "b/c.py": other}
    assert twice({**places, "uses.py": USES}) == {name: {"a.py", "b/c.py"}}
    if name.isupper():
        assert twice({**places, "uses.py": "from dpbandits.a import X"}) == {}, "one's own affair"
