"""The command in a strange folder, without its libraries, and short of memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from dpbandits.__main__ import EXTRAS
from dpbandits.version import __version__
from tests.terminal.test_cli import SWEEP

OWN = "import dpbandits as dpb\nMine = dpb.UCB1\n"
SHADOW = 'raise SystemExit("a file of the current folder ran")\n'
SCRIPT = (
    "import sys; sys.path = [p for p in sys.path if p not in ('', '.')]; from dpbandits.__main__ "
    "import main; main()"
)
"""What the console script does: its own folder, not the current one, stands in the path."""


def started(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=300
    )


@pytest.mark.long
@pytest.mark.parametrize(("subject", "joins"), [("UCB1", False), ("own:Mine", True)])
def test_the_folder_joins_the_path_for_ones_own_module_only_and_last(
    tmp_path: Path, subject: str, joins: bool
) -> None:
    """So that no file shadows a library."""
    for name in ("scipy", "typer", "html"):
        (tmp_path / f"{name}.py").write_text(SHADOW)
    (tmp_path / "own.py").write_text(OWN)
    given = f"sys.argv = ['dpbandits', 'audit', {subject!r}, '--runs', '200']"
    told = "\ntry: main()\nexcept SystemExit as end: print((sys.path, end.code))"
    result = started(tmp_path, "-c", SCRIPT.replace("main()", given + told))
    assert "UCB1" in result.stdout
    assert "current folder" not in result.stderr
    path, code = eval(result.stdout.strip().splitlines()[-1])
    assert code in (0, 3), result.stderr  # a verdict, or none: no error and no leak
    assert [str(tmp_path.resolve())] == path[-1:] if joins else str(tmp_path.resolve()) not in path


WITHOUT = (
    "import sys\nfor name in {0!r}: sys.modules[name] = None\nsys.argv = ['dpbandits', *{1!r}]\n"
    "from dpbandits.__main__ import main; main()"
)
"""The console script where some libraries are not installed."""


@pytest.mark.long
def test_what_needs_no_extra_works_without_any(tmp_path: Path) -> None:
    """As after `pip install dpbandits`, where newer versions of typer bring pydantic."""
    missing = tuple(set(EXTRAS) - {"pydantic"})
    for command, words in (
        (["--version"], __version__),
        (["--help"], "forecast"),
        (["list"], "DPKLUCB"),
        (["explain", "DPKLUCB"], "Proof (proofs/dp_klucb.md)"),
        (["audit", "DPKLUCB", "--epsilon", "1", "--runs", "200"], "Passed: "),
    ):
        result = started(tmp_path, "-c", WITHOUT.format(missing, command))
        assert result.returncode == 0, result.stderr
        assert words in result.stdout


@pytest.mark.parametrize(
    ("missing", "command", "extra"),
    [
        ("polars", "demo", "experiments"),
        ("joblib", "run sweep.toml", "experiments"),
        ("sqlalchemy", "serve --store memory:", "service"),
        ("distributed", "run sweep.toml --executor dask --scheduler tcp://x:1", "cluster"),
    ],
)
def test_without_its_extra_a_command_says_what_to_install(
    tmp_path: Path, missing: str, command: str, extra: str
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    result = started(tmp_path, "-c", WITHOUT.format((missing,), command.split()))
    assert result.returncode == 1
    said = f"This command needs {missing}: pip install 'dpbandits[{extra}]'"
    assert result.stderr.strip() == said
