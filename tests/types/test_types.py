"""Type checkers accept README's example and a user's program, which run."""

from __future__ import annotations

import doctest
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import REPOSITORY
from tests.types.program import main

PROGRAM = Path(__file__).parent / "program.py"
CHECKERS = Path(sys.executable).parent


def written(folder: Path) -> list[str]:
    """The program, and README's examples as one."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    sources = [each.source for each in doctest.DocTestParser().get_examples(text)]
    assert len(sources) > 8, "README has lost its examples"
    (folder / "readme.py").write_text("".join(sources), encoding="utf-8")
    shutil.copy(PROGRAM, folder / "program.py")
    return ["readme.py", "program.py"]


def test_the_program_runs(tmp_path: Path) -> None:
    main(tmp_path)


@pytest.mark.long
def test_mypy_accepts_them(tmp_path: Path) -> None:
    files = written(tmp_path)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {REPOSITORY}/src\n")
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_pyright_accepts_them(tmp_path: Path) -> None:
    """By basedpyright, which pip installs with all that it runs on."""
    checker = shutil.which("basedpyright", path=str(CHECKERS))
    if checker is None:
        pytest.skip("basedpyright is not installed: pip install basedpyright")
    files = written(tmp_path)
    how = {"typeCheckingMode": "strict", "extraPaths": [f"{REPOSITORY}/src"], "include": files}
    how |= {"reportMissingTypeStubs": False, "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(how))
    command = [checker, "--pythonpath", sys.executable, "--level", "error"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
