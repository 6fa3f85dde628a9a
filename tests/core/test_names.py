"""A public name means one thing: no two modules define a class, function or type of one name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import dpbandits

PACKAGE = Path(dpbandits.__file__).parent

DRIVER = "simulation/kernels/driver.py"
PARTS = {"Numbers", "start", "choose", "batch", "read", "learn", "observe", "named"}
"""What a compiled player is made of. The driver calls the parts by these names, so that every file
of kernels may have its own; nobody else may.
"""


def is_type_name(name: str) -> bool:
    """Whether an assigned name is a type's: constants are all capitals, other values small."""
    return name[0].isupper() and not name.isupper()


def defined(statement: ast.stmt) -> list[str]:
    """The class, function or type alias that a top-level statement defines."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if is_type_name(name)]


def definitions() -> dict[str, set[str]]:
    """Every public name with the modules that define it."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(PACKAGE.rglob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            place = path.relative_to(PACKAGE).as_posix()
            if place.startswith("service/rows/migrations/versions/"):
                continue  # Alembic calls what is in them by its own names
            for name in defined(statement):
                own_part = name in PARTS and place.startswith("simulation/kernels/")
                if not name.startswith("_"):
                    found[name].add(DRIVER if own_part else place)
    return found


def test_definitions_are_found() -> None:
    found = definitions()
    assert found["Session"] == {"session/session.py"}
    assert found["simulate"] == {"simulation/simulate.py"}
    assert found["Floats"] == {"core/arrays.py"}
    assert "MOST" not in found
    assert all(found[part] == {DRIVER} for part in PARTS)


def test_no_public_name_is_defined_twice() -> None:
    assert {name: places for name, places in definitions().items() if len(places) > 1} == {}
