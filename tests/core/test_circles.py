"""No module imports itself over others: not as it loads, not in a function, and not for types."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import dpbandits

PACKAGE = Path(dpbandits.__file__).parent

LEFT = {frozenset({"dpbandits.auditing.report", "dpbandits.auditing.report_text"})}
"""The auditor's text is made inside `AuditReport.__str__`. Stored measurements of the auditor
(docs/measured/controls.md) are of its files as they are.
"""

LOADING, LATER, TYPES = "as it loads", "in a function", "for types"


class Import(NamedTuple):
    module: str
    when: str


def is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", None), getattr(test, "attr", None))


def statements(node: ast.AST, when: str = LOADING) -> Iterator[tuple[ast.stmt, str]]:
    """Every import statement, and when it is made."""
    inside = LATER if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else when
    for child in ast.iter_child_nodes(node):
        types = isinstance(node, ast.If) and is_type_checking(node.test) and child in node.body
        now = TYPES if types else inside
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, now
        else:
            yield from statements(child, now)


def imports(source: str, package: str, known: Mapping[str, object]) -> Iterator[Import]:
    """The known modules that a module of this package imports."""
    for statement, when in statements(ast.parse(source)):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - statement.level + 1] if statement.level else []
            base = ".".join(above + ([statement.module] if statement.module else []))
            each = (f"{base}.{alias.name}" for alias in statement.names)
            names = [name if name in known else base for name in each]
        for name in names:
            if name in known:
                yield Import(name, when)


def sources(root: Path) -> dict[str, tuple[str, str]]:
    """Every module of the package in this folder: its package's name, and its text."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        package = ".".join(parts[:-1])
        name = package if parts[-1] == "__init__" else ".".join(parts)
        found[name] = (package, path.read_text(encoding="utf-8"))
    return found


def graph(root: Path) -> dict[str, set[Import]]:
    known = sources(root)
    return {
        name: {each for each in imports(text, package, known) if each.module != name}
        for name, (package, text) in known.items()
    }


def circles(arrows: Mapping[str, set[Import]], whens: set[str]) -> set[frozenset[str]]:
    """Groups of modules each of which leads to all others."""
    leads = {name: {to.module for to in arrows[name] if to.when in whens} for name in arrows}
    reached = {name: set[str]() for name in arrows}
    for name in arrows:
        open_ = [name]
        while open_:
            new = leads[open_.pop()] - reached[name]
            reached[name] |= new
            open_ += new
    return {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in arrows
        if name in reached[name]
    }


@pytest.mark.parametrize(
    "whens", [{LOADING}, {LOADING, LATER}, {LOADING, TYPES}, {LOADING, LATER, TYPES}]
)
def test_no_module_imports_itself_over_others(whens: set[str]) -> None:
    assert circles(graph(PACKAGE), whens) == (LEFT if LATER in whens else set())


def written(root: Path, **texts: str) -> dict[str, set[Import]]:
    package = root / "made"
    package.mkdir()
    for name, text in {"__init__": "", **texts}.items():
        (package / f"{name}.py").write_text(text)
    return graph(package)


TYPED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made import a\n"


@pytest.mark.parametrize(
    ("back", "when"),
    [
        ("import made.a", LOADING),
        ("from made import a", LOADING),
        ("from .a import x", LOADING),
        ("class B:\n    def f(self):\n        from made.a import x", LATER),
        ("async def f():\n    from . import a", LATER),
        (TYPED, TYPES),
    ],
)
def test_a_circle_is_found(tmp_path: Path, back: str, when: str) -> None:
    arrows = written(tmp_path, a="from made.c import x", c="from made.b import x", b=back)
    assert arrows["made.b"] == {Import("made.a", when)}
    found = {frozenset({"made.a", "made.b", "made.c"})}
    assert circles(arrows, {LOADING, when}) == found
    assert circles(arrows, {LOADING}) == (found if when == LOADING else set())


def test_two_ways_down_are_no_circle(tmp_path: Path) -> None:
    arrows = written(tmp_path, a="from made import b, c", b="from made import c", c="import math")
    assert arrows["made.a"] == {Import("made.b", LOADING), Import("made.c", LOADING)}
    assert circles(arrows, {LOADING, LATER, TYPES}) == set()
