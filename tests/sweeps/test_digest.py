"""Stored results are found by a digest of the code: of all of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dpbandits
from dpbandits.sweeps import cells

PACKAGE = Path(dpbandits.__file__).parent


def test_an_edit_in_any_room_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edited oracle once found the results of the old one."""
    copy = tmp_path / "dpbandits"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cells, "__file__", str(copy / "sweeps" / "cells.py"))
    digest = cells.code_digest.__wrapped__
    assert digest() == cells.code_digest()
    rooms = [folder for folder in sorted(copy.rglob("*")) if (folder / "__init__.py").is_file()]
    assert len(rooms) > 30
    for room in rooms:
        before, file = digest(), max(room.glob("*.py"))
        file.write_text(file.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
        assert digest() != before, room
