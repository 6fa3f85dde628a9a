"""Files, functions and folders are of a size that can be read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dpbandits
from tests.places import REPOSITORY

PACKAGE = Path(dpbandits.__file__).parent
FILES = [*PACKAGE.rglob("*.py"), *(REPOSITORY / "tests").rglob("*.py")]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        text = function.body[0]
        assert text.end_lineno is not None
        lines -= text.end_lineno - text.lineno + 1
    return lines


def test_files_have_at_most_250_lines() -> None:
    long = {str(file) for file in FILES if file.read_text(encoding="utf-8").count("\n") > 250}
    assert not long


def test_functions_have_at_most_40_lines() -> None:
    long = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > 40:
                long.add(f"{file}: {node.name}")
    assert not long


@pytest.mark.parametrize("top", [PACKAGE, REPOSITORY / "tests", REPOSITORY / "benchmarks"])
def test_folders_have_at_most_12_modules(top: Path) -> None:
    folders = {file.parent for file in top.rglob("*.py")}
    assert not {str(folder) for folder in folders if len([*folder.glob("*.py")]) > 12}
