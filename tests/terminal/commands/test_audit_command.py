"""The question as a user asks it on the command line: exit code 1 is for leaks alone, 2 for an
audit that could not be.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpbandits.auditing.page import write_audit_page
from dpbandits.auditing.report import AuditReport, LevelResult
from dpbandits.terminal.cli import app


def dpbandits(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpbandits", "audit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=at,
    )


@pytest.mark.long
def test_a_pass_and_its_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = CliRunner().invoke(
        app, ["audit", "AnytimeLazyUCB", "--epsilon", "1/2", "--runs", "200", "--html", str(page)]
    )
    assert done.exit_code == 0, done.output
    assert "Passed" in done.output
    assert page.exists()


def test_evidence_is_whole_sentences_in_eighty_columns() -> None:
    words = ["audit", "DPKLUCB", "--epsilon", "1", "--runs", "200"]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "80"})
    lines = result.output.splitlines()
    assert any(line.startswith("transcript: largest loss 1 epsilon in ") for line in lines)
    assert max(map(len, lines)) <= 80
    assert len(lines) < 30


def test_exit_codes() -> None:
    failed = CliRunner().invoke(
        app,
        ["audit", "AnytimeLazyUCB", "--epsilon", "2", "--claim", "1", "--runs", "200", "--json"],
    )
    assert failed.exit_code == 1
    assert json.loads(failed.output)["passed"] is False
    wrong = CliRunner().invoke(app, ["audit", "AnytimeLazyUCB", "--budget", "soon"])
    assert wrong.exit_code == 2


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


def test_a_page_that_cannot_be_written_is_found_before_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    asked: list[object] = []
    monkeypatch.setattr(
        "dpbandits.auditing.audit.audit", lambda *subject, **_: asked.append(subject)
    )
    for page in (tmp_path, tmp_path / "file" / "page.html"):
        done = CliRunner().invoke(app, ["audit", "AnytimeLazyUCB", "--html", str(page)])
        assert done.exit_code == 2
    assert not asked


@pytest.mark.long
def test_a_page_that_fails_leaves_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("dpbandits.auditing.page.write_audit_page", full)
    done = CliRunner().invoke(
        app, ["audit", "AnytimeLazyUCB", "--runs", "2000", "--html", str(tmp_path / "page.html")]
    )
    assert done.exit_code == 2
    assert "Passed" in done.stdout
    assert "No space left" in done.stderr


def test_without_the_template_library_the_command_says_what_to_install(tmp_path: Path) -> None:
    """Before it audits anything."""
    code = (
        "import sys; sys.modules['jinja2'] = None; sys.argv[1:] = ['audit', 'UCB1', '--html', 'x']"
        "; from dpbandits.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip() == "This command needs jinja2: pip install 'dpbandits[experiments]'"
    assert not (tmp_path / "x").exists()


def test_a_page_is_escaped(tmp_path: Path) -> None:
    report = AuditReport(
        '<b>\'s & "more"', None, (LevelResult("statistical", "no verdict", evidence="<i>"),)
    )
    text = write_audit_page(report, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "<i>" not in text
    assert "&lt;b&gt;" in text
