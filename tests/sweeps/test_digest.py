"""Stored results are found by a digest of the code: of all of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dpbandits
from dpbandits.sweeps import digests

PACKAGE = Path(dpbandits.__file__).parent


def test_an_edit_in_any_room_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edited oracle once found the results of the old one."""
    copy = tmp_path / "dpbandits"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests, "__file__", str(copy / "sweeps" / "digests.py"))
    digest = digests.code_digest.__wrapped__
    assert digest() == digests.code_digest()
    rooms = [folder for folder in sorted(copy.rglob("*")) if (folder / "__init__.py").is_file()]
    assert len(rooms) > 30
    before = digest()
    for room in rooms:
        file = max(room.glob("*.py"))
        file.write_text(file.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
        assert digest() != before, room
        before = digest()


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "other",
    [
        {"a.py": "x = 1\ny = 2\n", "b.py": ""},
        {"a.py": "", "b.py": "x = 1\ny = 2\n"},
        {"a.py": "x = 1\n", "c.py": "y = 2\n"},
        {"a.py": "x = 1\n", "b/a.py": "y = 2\n"},
        {"a.py": "x = 1\ny = 2\n"},
        {"a.py": "x = 1\n", "a0.py": "", "b.py": "y = 2\n"},
    ],
    ids=["text moved up", "text moved down", "renamed", "in a folder", "one file", "empty file"],
)
def test_two_trees_of_the_same_text_differ(tmp_path: Path, other: dict[str, str]) -> None:
    """All of them are the same bytes one after the other."""
    first = {"a.py": "x = 1\n", "b.py": "y = 2\n"}
    folders = written(tmp_path / "first", first), written(tmp_path / "other", other)
    texts = {"".join(files[name] for name in sorted(files)) for files in (first, other)}
    assert texts == {"x = 1\ny = 2\n"}
    assert digests.tree_digest(folders[0]) != digests.tree_digest(folders[1])
    again = written(tmp_path / "again", first)
    assert digests.tree_digest(folders[0]) == digests.tree_digest(again)
