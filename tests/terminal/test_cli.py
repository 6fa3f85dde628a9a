"""The command line: every command runs, teaches, and fails in one line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from dpbandits.policies.named import EVERY_POLICY as POLICIES
from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.service.opening import open_store
from dpbandits.terminal.cli import SMALL_SWEEP, app
from tests.places import REPOSITORY
from tests.sweeps.texts import sweep_text

SWEEP = sweep_text("DPKLUCB", "KLUCB", rounds=400, runs=6, head="[quick]\nruns = 2", name="small")


def dpbandits(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}, catch_exceptions=False)


def one_line(result: Result) -> str:
    """The error: one line on the error stream, exit code 2, no traceback."""
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "Traceback" not in line
    return line


def test_help_teaches_with_examples(tmp_path: Path) -> None:
    from dpbandits.sweeps import load_config

    for command in ("list", "explain", "run", "demo"):
        assert f"Example: dpbandits {command}" in dpbandits(command, "--help").stdout
    (tmp_path / "first.toml").write_text(SMALL_SWEEP.split("\b\n")[1].replace("\\[", "["))
    cells = load_config(tmp_path / "first.toml").cells()
    assert [cell.label for cell in cells] == ["DPKLUCB", "DPKLUCB", "KLUCB"]


def test_list_shows_the_recommended_and_filters_by_privacy() -> None:
    def listed(*words: str) -> dict[str, Any]:
        rows = json.loads(dpbandits("list", "--json", *words).stdout)
        return {row["name"]: row["baseline"] for row in rows}

    known = {name: cls.about for name, cls in POLICIES.items()}
    local = {name: about.baseline for name, about in known.items() if about.privacy == "local"}
    assert listed("--privacy", "local") == local
    assert listed("--recommended").keys() == set(RECOMMENDED)
    both = listed("--recommended", "--privacy", "local")
    assert both.keys() == {"LDPKLUCB", "CUCBLDP2", "CTBTT"}


def test_run_writes_everything_and_does_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep, out = tmp_path / "small.toml", tmp_path / "out"
    sweep.write_text(SWEEP)
    first = dpbandits("run", str(sweep), "--out", str(out), "--workers", "1")
    assert first.exit_code == 0
    said = ("2 computed, 0 finished before", "two arms, ε = 1", "simulated", f"{out}/report.html")
    assert all(part in first.stdout for part in said)
    tables = {"curves.parquet", "summary.csv", "summary.parquet"}
    assert {p.name for p in out.iterdir()} == {"cells", "figures", "report.html", *tables}
    assert "dpbandits run small.toml" in (out / "report.html").read_text()
    assert "0 computed, 2 finished before" in dpbandits("run", str(sweep), "--out", str(out)).stdout
    quick = dpbandits("run", str(sweep), "--out", str(out), "--quick", "--workers", "1")
    assert "0 computed, 2 finished before" in quick.stdout, "its two runs are the first of the six"
    sweep.write_text(SWEEP.replace("rounds = 400", "rounds = 300"))
    assert "2 computed" in dpbandits("run", str(sweep), "--out", str(out), "--workers", "1").stdout
    for shard in ("1/2", "2/2"):
        words = "--shard", shard, "--out", str(tmp_path / "shards"), "--workers", "1"
        assert "1 computed" in dpbandits("run", str(sweep), *words).stdout
    monkeypatch.chdir(tmp_path)
    dpbandits("run", "small.toml", "--quick", "--workers", "1")
    assert Path("results/small-quick/report.html").is_file(), "where no folder is named"


def test_a_fault_of_an_own_policy_names_the_cell(tmp_path: Path) -> None:
    sweep = tmp_path / "own.toml"
    sweep.write_text(SWEEP.replace("DPKLUCB", "tests.simulation.test_simulate:Fails"))
    line = one_line(dpbandits("run", str(sweep), "--workers", "1", "--out", str(tmp_path)))
    assert line.startswith("Error: LookupError('no such table') In run 0 of Fails on Bernoulli. ")
    assert line.endswith("Fails at ε = 1 on two arms.")


def test_a_wrong_sweep_file_is_one_line(tmp_path: Path) -> None:
    sweep = tmp_path / "small.toml"
    sweep.write_text(SWEEP.replace('"DPKLUCB"', '"DPKLUCP"'))
    line = one_line(dpbandits("run", str(sweep)))
    assert str(sweep) in line
    assert "did you mean DPKLUCB" in line


@pytest.mark.long
def test_the_demo_compares_on_a_real_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = dpbandits("demo", "--quick", "--workers", "1")
    assert result.exit_code == 0
    assert "Page: demo/report.html" in result.stdout
    for part in ("depression trial, ε = 0.5", "cost", "lower", "99.9 %", "worst", "0.5 of 0.5"):
        assert part in result.stdout
    page = Path("demo/report.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 2
    assert page.count("Privacy cost ") == 1
    assert "over 10,000 patients: so much more did DP-Rate-IMED, the recommended policy" in page
    assert "Annals of Family Medicine" in page


def test_importing_loads_no_extra_that_is_not_needed() -> None:
    heavy = {"matplotlib", "polars", "pydantic", "joblib", "numba"}
    code = f"import sys, dpbandits.terminal.cli; print(*sorted({heavy!r} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == []


# Calls of the command line that do not fit, and how its help is set


WRONG = {
    "lst": "No such command 'lst'. Did you mean 'list'?",
    "list --nope": "No such option",
    "run pyproject.toml --executor dask": "go together",
    **{f"run pyproject.toml --shard {shard}": "1 ≤ i ≤ n" for shard in ("0/2", "3/2", "1", "a/2")},
    "forecast": "Missing option '--visitors'",
    "forecast --base .03 --visitors 50,000": "Invalid value for '--visitors'",
}


def test_a_call_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    for call, said in WRONG.items():
        result = dpbandits(*call.split())
        assert result.exit_code == 2
        assert said in result.stderr


def test_what_is_no_reward_is_not_repeated(tmp_path: Path) -> None:
    """Nor a second one, where a guardrail takes two, nor a number of successes."""
    tell, store = f"campaign tell trial {'0' * 32}", f"--store=sqlite:///{tmp_path}/t.db"
    for words in ("0.12.3", "1 0.123", "--reward 0.123"):
        said = dpbandits(*tell.split(), *words.split(), store).stderr
        assert "Expected a reward to be JSON, such as 1 or [1, 0]" in said
        assert "0.12" not in said
    record = "campaign record trial blue --key a"
    with open_store(store.removeprefix("--store="), witness=tmp_path / "w"):
        for words in ("--people 9 --successes 4.123", "--rewards 4.123", "1 4.123", "--4.123"):
            said = dpbandits(*f"{record} {words}".split(), store, f"--witness={tmp_path}/w").stderr
            assert "Expected --" in said
            assert "4.123" not in said


def test_a_fault_is_shown_without_local_variables() -> None:
    """A reward is one, where an answer is told; by itself Typer 0.15 shows them."""
    assert app.pretty_exceptions_show_locals is False
