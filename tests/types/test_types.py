"""Type checkers accept every example of README and the guides, and a user's program, which runs."""

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
PAGES = REPOSITORY / "README.md", *sorted((REPOSITORY / "docs" / "guides").glob("*.md"))

SHOWN = "# pyright: reportUnusedExpression=false\n"
"""For pages show what an expression is."""


def written(folder: Path) -> None:
    """The program, and a file of each page's examples."""
    for page in PAGES:
        found = doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8"))
        if found:
            source = "".join([SHOWN, *(each.source for each in found)])
            (folder / f"page_{page.stem.lower()}.py").write_text(source, encoding="utf-8")
    assert len(list(folder.iterdir())) > 10, "the pages have lost their examples"
    shutil.copy(PROGRAM, folder)


def require_clean(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_runs(tmp_path: Path) -> None:
    main(tmp_path)


@pytest.mark.long
def test_mypy_accepts_them(tmp_path: Path) -> None:
    written(tmp_path)
    untyped = "[mypy-scipy.*]\nignore_missing_imports = true\n"
    source = f"[mypy]\nstrict = true\nmypy_path = {REPOSITORY}/src\n{untyped}"
    (tmp_path / "mypy.ini").write_text(source)
    cache = REPOSITORY / ".mypy_cache" / "pages"
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", f"--cache-dir={cache}"]
    require_clean([*command, "."], tmp_path)


@pytest.mark.long
def test_pyright_accepts_them(tmp_path: Path) -> None:
    """By basedpyright, which pip installs with all that it runs on. The program and README pass its
    strict mode.
    """
    checker = shutil.which("basedpyright", path=str(CHECKERS))
    if checker is None:
        pytest.skip("basedpyright is not installed: pip install basedpyright")
    written(tmp_path)
    how = {"typeCheckingMode": "standard", "strict": ["program.py", "page_readme.py"]}
    how |= {"extraPaths": [f"{REPOSITORY}/src"], "include": ["*.py"]}
    how |= {"reportMissingTypeStubs": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(how))
    require_clean([checker, "--pythonpath", sys.executable, "--level", "error"], tmp_path)
