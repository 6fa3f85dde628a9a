"""Sweep files that a reasonable person writes: finished runs are kept, one's own policies are
played.
"""

import csv
from pathlib import Path

import polars as pl
import pytest

from dpbandits.core.errors import ConfigError
from dpbandits.reports import for_spreadsheets
from dpbandits.simulation import simulate
from dpbandits.sweeps.cells import own_digest, require_writable
from dpbandits.sweeps.config import load_config
from dpbandits.sweeps.results import Results
from dpbandits.sweeps.run import run_sweep
from tests.sweeps.texts import sweep_text
from tests.terminal import shell

SWEEP = sweep_text("DPKLUCB", "UCB1", rounds=300, runs=4)
OWN = """
from dataclasses import dataclass
import dpbandits as dpb

@dataclass(frozen=True, kw_only=True)
class Mine(dpb.DPKLUCB):
    extra: float = {extra}
"""


def written(folder: Path, text: str = SWEEP) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def test_more_runs_are_added_to_those_there_are_and_fewer_are_taken_from_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[tuple[int, int]] = []

    def counted(*given: object, **named: int) -> object:
        played.append((named["first"], named["runs"]))
        return simulate(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("dpbandits.sweeps.cells.simulate", counted)

    def run(runs: int, out: str) -> Results:
        played.clear()
        config = load_config(written(tmp_path, SWEEP.replace("runs = 4", f"runs = {runs}")))
        return run_sweep(config, tmp_path / out, workers=1)

    whole, parts = run(7, "whole"), {}
    assert played == [(0, 7), (0, 7)]
    for runs in (4, 7, 2):
        parts[runs] = run(runs, "parts")
        assert played == {4: [(0, 4)] * 2, 7: [(4, 3)] * 2, 2: []}[runs]
        assert parts[runs].computed == (0 if runs == 2 else 2)
        assert parts[runs].summary["runs"].to_list() == [runs] * 2
    assert parts[7].curves.equals(whole.curves)
    assert parts[2].curves.equals(whole.curves.filter(pl.col("run") < 2))
    assert parts[2].summary["mean"].to_list() != whole.summary["mean"].to_list()


def test_a_policy_of_ones_own_is_played_and_its_file_belongs_to_the_result(tmp_path: Path) -> None:
    (tmp_path / "sweeps_mine.py").write_text(OWN.format(extra=1.0))
    # leaves workers waiting that do not know Mine
    run_sweep(load_config(written(tmp_path)), tmp_path / "before", workers=2)
    path = written(tmp_path, SWEEP.replace("UCB1", "sweeps_mine:Mine"))
    results = run_sweep(load_config(path), tmp_path / "out", workers=2)
    assert results.summary["label"].to_list() == ["DPKLUCB", "Mine"]
    assert results.summary["runs"].to_list() == [4, 4]
    keys = [cell.key for cell in load_config(path).cells()]
    assert len(set(keys)) == 2
    other = tmp_path / "other"
    other.mkdir()
    (other / "sweeps_mine.py").write_text(OWN.format(extra=2.0))
    with pytest.raises(ConfigError, match=r"another module of that name, .*sweeps_mine\.py"):
        load_config(written(other, SWEEP.replace("UCB1", "sweeps_mine:Mine")))


def test_files_that_an_own_policy_uses_belong_to_its_result(tmp_path: Path) -> None:
    uses = (
        "import own_formula, own_pack.within.other\nfrom own_number import NUMBER as LEAST\n"
        "from .. import NUMBER\nfrom own_base import Mine as Base\n"
        "try: from . import broken, compiled\nexcept Exception: pass\n"
        "class Mine(Base):\n    def late(self):\n        import own_late, own_newer"
    )
    used = {
        "own_base": OWN.format(extra=1.0),
        "own_formula": "def formula(): return 1",
        "own_number": "NUMBER = 1",
        "own_late": "",
        "own_newer": "syntax of a later Python",
        "own_pack/__init__": "NUMBER = 1\n",
        "own_pack/within/__init__": "",
        "own_pack/within/other": "",
        "own_pack/within/broken": "print 1",
        "own_pack/within/compiled": "\0",
        "own_pack/within/mine": uses,
    }
    (tmp_path / "own_pack/within").mkdir(parents=True)
    for name, text in (used | {"own_unused": ""}).items():
        (tmp_path / f"{name}.py").write_text(text)
    path = written(tmp_path, SWEEP.replace("UCB1", "own_pack.within.mine:Mine"))
    cls = type(load_config(path).cells()[-1].policy)
    digests = [own_digest.__wrapped__(cls)]
    for name in [*used, "own_unused"]:
        with (tmp_path / f"{name}.py").open("a") as file:
            file.write("# edited")
        digests.append(own_digest.__wrapped__(cls))
    assert len({*digests}) == len(used) + 1
    assert digests[-1] == digests[-2]


def test_an_environment_of_one_arm_is_played_to_the_end(tmp_path: Path) -> None:
    path = written(tmp_path, SWEEP.replace("[0.7, 0.5]", "[0.7]"))
    shell("run", str(path), "--out", str(tmp_path / "out"), "--workers", "1")
    assert (tmp_path / "out" / "report.html").exists()


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    for out in (taken, taken / "below"):
        said = "Expected a folder for results that can be written, got "
        with pytest.raises(OSError, match=rf"{said}.*taken.*\(.*\). Choose another"):
            require_writable(out)
        (line,) = shell("run", str(written(tmp_path)), "--out", str(out), code=2).splitlines()
        assert line.startswith(f"Error: {said}")


def test_text_that_a_spreadsheet_would_compute_is_quoted_and_numbers_are_not(
    tmp_path: Path,
) -> None:
    commands, others = ["=1+1", "+a", "-a", "@a", "\ta"], ["plain", "a=b", ""]
    names = [*commands, *others[:-1], None]
    table = pl.DataFrame({"label": names, "mean": [-1.5] * len(names)})
    for_spreadsheets(table).write_csv(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [*(f"'{text}" for text in commands), *others]
    assert {row["mean"] for row in rows} == {"-1.5"}
