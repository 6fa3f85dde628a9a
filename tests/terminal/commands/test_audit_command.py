"""The question as a user asks it on the command line: exit code 1 is for leaks alone, 2 for an
audit that could not be.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal import shell


def dpbandits(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpbandits", "audit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=at,
    )


LOUD = ["audit", "AnytimeLazyUCB", "--epsilon", "2", "--claim", "1/10", "--runs", "300"]


@pytest.mark.long
def test_a_written_report_is_verified(tmp_path: Path) -> None:
    words = ["audit", "AnytimeLazyUCB", "--epsilon", "1", "--claim", "1/4", "--runs", "300"]
    written, report = shell(*words, "--json", code=1), tmp_path / "report.json"
    report.write_text(written, encoding="utf-8")
    found = shell("audit", "--verify", str(report), code=1)
    assert "verified: ε ≥" in found
    assert "not verified: transcript" in found
    data = json.loads(written)
    assert data["passed"] is False
    data["levels"][-1]["details"]["bets"][0][1] += 1000
    report.write_text(json.dumps(data), encoding="utf-8")
    assert "Do not trust it" in shell("audit", "--verify", str(report), code=2)


def test_an_audit_that_could_not_be() -> None:
    shell("audit", "AnytimeLazyUCB", "--budget", "soon", code=2)
    assert "another claim" in shell(*LOUD, "--delta", "0.01", "--rho", "1", code=2)


@pytest.mark.long
def test_a_claim_with_a_delta() -> None:
    found = shell(*LOUD, "--delta", "0.01", "--json", code=1)
    assert json.loads(found)["setting"]["delta"] == 0.01


def test_command_takes_objects_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def select(self): return 0\n    def update(self, arm, reward): pass\n",
        encoding="utf-8",
    )
    done = dpbandits("mine:Mine", "--claim", "1", "--runs", "200", "--rounds", "3", at=tmp_path)
    # it plays one arm whatever happens: nothing could be seen
    assert done.returncode == 3, done.stderr
    assert "mine:Mine: claims ε = 1" in done.stdout


CLASS = """
class Mine:
    def ask(self): {}
    def tell(self, decision, reward): pass
"""


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            CLASS.format("raise RuntimeError('boom [bold]\\nin ask')"),
            "RuntimeError: boom [bold] in ask (mine:Mine was being played)",
        ),
        (CLASS.format("return {}['x']"), "KeyError: 'x' (mine:Mine was being played)"),
        (CLASS.format("raise ValueError('mine')"), "ValueError: mine (mine:Mine was being played)"),
        (CLASS.format("import sys; sys.exit(3)"), "SystemExit: 3"),
        ("def Mine(): return 1/0", "ZeroDivisionError: division by zero (Mine was being called)"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("1/0", "ZeroDivisionError: division by zero"),
        ("x = (", "SyntaxError: '(' was never closed"),
    ],
)
def test_errors_of_the_users_code_are_one_line_and_no_leak(
    tmp_path: Path, code: str, says: str
) -> None:
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    done = dpbandits("mine:Mine", "--claim", "1", "--runs", "200", at=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert says in line
