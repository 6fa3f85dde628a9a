"""Every measured page has one command that writes it, and a benchmark that fails is named."""

import importlib.util
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.pages import __main__ as pages
from benchmarks.pages.listed import PAGES, PAGES_OF, RESULTS
from benchmarks.rate.instances import Cell
from benchmarks.rate.safe import NOW
from benchmarks.table import Row, read, write

import dpbandits as dpb
from dpbandits.policies.cumulative import RateConstants
from tests.places import REPOSITORY

ELSEWHERE = {
    "benchmarks/results/controls.csv",
    "benchmarks/results/service_killed_server.csv",
    "benchmarks/results/service_killed_server_postgresql.csv",
    "benchmarks/results/service_kills.csv",
    "benchmarks/results/service_kills_postgresql.csv",
    "benchmarks/results/service_steady.csv",
    "docs/measured/controls.md",
    "docs/measured/papers.md",
}
"""Written by `soak`, `killed_server`, `steady`, `controls` and `papers-full`."""

BY_HAND = {
    "docs/measured/contexts.md",
    "docs/measured/naming.md",
    "docs/measured/regret.md",
    "docs/measured/speed.md",
}
"""They say what the tables show."""

OWN_TABLES = {"docs/measured/contexts.md": ("contexts", "contexts_estimates")}
"""Pages that say the numbers of these tables in tables of their own."""

CELLS = "docs/reference/private_contextual_bandits.md"


def test_everything_is_listed_or_has_a_command_of_its_own() -> None:
    there = {
        str(file.relative_to(REPOSITORY))
        for folder in (RESULTS, PAGES_OF)
        for file in (REPOSITORY / folder).iterdir()
        if file.is_file()
    }
    assert there == {page.path for page in PAGES if page.path} | ELSEWHERE | BY_HAND
    assert len({page.name for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_file_says_of_its_command_is_what_is_run(page: Any) -> None:
    """Its benchmark exists, and what is committed names it. In small nothing is written there."""
    assert importlib.util.find_spec(f"benchmarks.{page.module}") is not None
    if page.path:
        text = (REPOSITORY / page.path).read_text(encoding="utf-8")
        assert f"python -m benchmarks.{page.module}" in text
    written = [part for part in page.command(Path("elsewhere"), small=True) if "/" in part]
    assert written
    assert all(part.startswith("elsewhere/") for part in written)


@pytest.mark.parametrize("page", OWN_TABLES)
def test_each_fraction_on_a_page_is_in_its_tables(page: str) -> None:
    tables = [REPOSITORY / RESULTS / f"{name}.csv" for name in OWN_TABLES[page]]
    shown = {cell for table in tables for row in read(table) for cell in row.values()}
    said = re.findall(r"\b\d+\.\d{2,}", (REPOSITORY / page).read_text(encoding="utf-8"))
    assert len(said) > 30
    assert set(said) <= shown


@pytest.mark.parametrize("page", sorted(BY_HAND - OWN_TABLES.keys() | {CELLS}))
def test_what_a_page_says_is_in_the_tables_it_names(page: str) -> None:
    """Each number of an answer, but for small whole ones, stands in a table that its row names."""
    answers = 0
    for line in (REPOSITORY / page).read_text(encoding="utf-8").splitlines():
        tables = re.findall(r"\(\.\./\.\./(benchmarks/results/\w+\.csv)\)", line)
        if not tables:
            continue
        answers += 1
        shown = "".join((REPOSITORY / table).read_text(encoding="utf-8") for table in tables)
        said = line.split("|")[2]
        numbers = re.findall(r"\d[\d,]*\.?\d*", re.sub(r"decision \d+|\(\.\./[^)]*\)", "", said))
        for number in {n.rstrip(".,") for n in numbers}:
            there = number in shown or number.replace(",", "") in shown
            assert len(number) < 3 or there, f"{number} is not in {tables}"
    assert answers >= 5


def test_the_page_of_controls_has_the_counts_of_its_table() -> None:
    """And the name of each control whose verdict is not as it should be."""
    rows = read(REPOSITORY / "benchmarks/results/controls.csv")
    text = (REPOSITORY / "docs/measured/controls.md").read_text(encoding="utf-8")
    for truth, good in (("wrong", {"failed"}), ("right", {"passed", "not refuted"})):
        judged = [row["verdict"] for row in rows if row["truth_is"] == truth]
        ends = ("failed", "passed", "not refuted", "no verdict", "not judged")
        assert sum(map(judged.count, ends)) == len(judged), "a crash"
        counts = " | ".join(str(judged.count(end)) for end in ends)
        assert f"| {truth} | {len(judged)} | {counts} |" in text
        for row in rows:
            bad = row["truth_is"] == truth and row["verdict"] not in good
            assert not bad or row["verdict"] == "not judged" or f"`{row['control']}`" in text
    assert {row["commit"] for row in rows if row["commit"]} == set(re.findall(r"`(\w{8})`", text))


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [Row("what, with a comma", 'a "quote"', "", None), Row("# no comment", "2", "≥ 1", True)]
    write(tmp_path / "new/x.csv", "python -m benchmarks.x", {"table": rows}, "A note.\n\nMore.")
    assert (tmp_path / "new/x.csv").read_text(encoding="utf-8").splitlines()[:4] == [
        "# python -m benchmarks.x",
        "# A note.",
        "# More.",
        "table,what,measured,wanted,met",
    ]
    found = read(tmp_path / "new/x.csv")
    assert [row["measured"] for row in found] == ['a "quote"', "2"]
    assert [(row["what"], row["met"]) for row in found] == [
        (rows[0].what, ""),
        (rows[1].what, "yes"),
    ]


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
