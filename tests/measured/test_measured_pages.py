"""Every measured page has one command that writes it, and a benchmark that fails is named."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.pages import __main__ as pages
from benchmarks.pages.listed import PAGES
from benchmarks.rate.instances import Cell
from benchmarks.rate.safe import NOW

import dpbandits as dpb
from dpbandits.policies.cumulative import RateConstants
from tests.places import REPOSITORY

MEASURED = REPOSITORY / "docs" / "measured"
ELSEWHERE = {
    "controls.md",
    "papers.md",
    "service_killed_server.md",
    "service_killed_server_postgresql.md",
    "service_kills.md",
    "service_kills_postgresql.md",
    "service_steady.md",
    "service_turns.md",
    "service_turns_postgresql.md",
}
"""Written by `controls`, `papers-full`, `soak`, `killed_server`, `steady` and `turns`."""


def test_every_page_is_listed_or_has_a_command_of_its_own() -> None:
    there = {str(page.relative_to(MEASURED)) for page in MEASURED.rglob("*.md")}
    assert there == {page.path for page in PAGES if page.path} | ELSEWHERE
    assert len({page.name for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_of_its_command_is_what_is_run(page: Any) -> None:
    """Its benchmark exists, and the committed page names it. In small nothing is written there."""
    assert importlib.util.find_spec(f"benchmarks.{page.module}") is not None
    if page.path:
        text = (MEASURED / page.path).read_text(encoding="utf-8")
        assert f"python -m benchmarks.{page.module}" in text
    small = page.command(Path("elsewhere"), small=True)
    assert not any("docs" in part for part in small)
    assert any(part.startswith("elsewhere") for part in small)


def test_one_that_fails_is_named_and_the_others_are_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    played: list[str] = []

    def run(command: list[str], check: bool) -> SimpleNamespace:
        assert not check
        played.append(command[2])
        return SimpleNamespace(returncode=int(command[2].endswith("scale")))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(pages, "newest", lambda: None)
    assert pages.main(["--folder", str(tmp_path)]) == 1
    assert played == [f"benchmarks.{page.module}" for page in PAGES if not page.server]
    said = {
        line.split()[0]: line for line in capsys.readouterr().out.splitlines() if " s  " in line
    }
    assert said["scale"].endswith("failed, status 1")
    assert said["speed"].endswith("written")
    assert said["service_http_postgresql"].endswith("no PostgreSQL server is installed")
    assert pages.main(["--folder", str(tmp_path), "--only", "speed"]) == 0


def test_a_page_nobody_knows_is_refused_before_anything_is_played() -> None:
    with pytest.raises(SystemExit, match=r"got nonsense\. Known: speed, scale"):
        pages.chosen(["speed", "nonsense"])


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_what_the_frontier_calls_safe_is_the_preset(epsilon: float) -> None:
    """In all its constants: the frontier gives some, and others come from the default preset."""
    cell = Cell("two arms", (0.6, 0.5), epsilon)
    preset = dpb.DPRateIMED(arms=2, epsilon=epsilon, preset="safe")
    names = [name for name in RateConstants._fields if name != "blurred"]
    tried = NOW.policy(cell)
    assert [getattr(tried, name) for name in names] == [getattr(preset, name) for name in names]
