"""Running, resuming, repairing: the numbers are simulate's own, and no work is done twice."""

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import grimp
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import dpbandits as dpb
from dpbandits.sweeps import Results, SweepStep, load_config, run_sweep
from dpbandits.sweeps.cells import (
    BESIDE,
    cell_path,
    checksum_path,
    code_digest,
    measure,
    stored_runs,
    write_cell,
)
from dpbandits.sweeps.run import store_runs
from tests.sweeps.test_results import row
from tests.sweeps.texts import sweep_text

Write = Callable[..., Path]
NUMBERS = ["mean", "error", "median", "worst", "releases", "events", "lower_bound"]
NUMBERS += ["price", "claimed", "spent"]


@pytest.fixture
def copied(tiny: Results, tmp_path: Path) -> Path:
    """A folder with the tiny sweep's finished cells."""
    shutil.copytree(tiny.out, tmp_path / "out")
    return tmp_path / "out"


def again(tiny: Results, out: Path, **how: object) -> tuple[Results, list[SweepStep]]:
    steps: list[SweepStep] = []
    return run_sweep(tiny.config, out, progress=steps.append, **({"workers": 1} | how)), steps


def test_a_second_run_computes_nothing_and_says_the_same(tiny: Results, copied: Path) -> None:
    results, steps = again(tiny, copied)
    assert (tiny.computed, tiny.skipped) == (12, 0)
    assert (results.computed, results.skipped) == (0, 12)
    assert [step.what for step in steps] == ["skipped"] * 12
    assert [step.done for step in steps] == list(range(1, 13))
    assert_frame_equal(results.summary, tiny.summary)
    assert_frame_equal(results.curves, tiny.curves)


def test_only_what_is_new_is_computed(tiny: Results, copied: Path, write: Write) -> None:
    edits = {'class = "KLUCB"': 'class = "UCB1"\n[[policies]]\nclass = "KLUCB"'}
    edits['label = "DP-KLUCB"'] = 'label = "new"'
    results = run_sweep(load_config(write(edits=edits)), copied, workers=1)
    assert results.computed == 2  # UCB1 in two environments; a new label is no new work
    assert row(results, "new", epsilon=0.5)["mean"] == row(tiny, "DP-KLUCB", epsilon=0.5)["mean"]


def test_sweeps_that_share_a_folder_store_each_run_once(tiny: Results, tmp_path: Path) -> None:
    def another(step: SweepStep) -> None:
        if step.done == 1:
            run_sweep(tiny.config, tmp_path, workers=1)

    results = run_sweep(tiny.config, tmp_path, workers=1, progress=another)
    assert_frame_equal(results.curves, tiny.curves)
    cell = tiny.cells[0]
    for first, runs in ((0, 3), (2, 4), (9, 12), (0, 7)):  # those from 9 on have none before them
        store_runs(tmp_path / "parts", cell, *measure(replace(cell, runs=runs), first))
    parts, _ = stored_runs(tmp_path / "parts", cell)
    assert_frame_equal(parts, stored_runs(tmp_path, cell)[0].filter(pl.col("run") < 7))


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)


def swap_numbers(path: Path) -> None:
    """A sound Parquet file with other numbers in it."""
    metadata = pl.read_parquet_metadata(path)
    pl.read_parquet(path, memory_map=False).with_columns(pl.col("regret") * 0.5).write_parquet(
        path, metadata={"dpbandits": metadata["dpbandits"]}
    )


def put_another(path: Path) -> None:
    """That of another cell, with its checksum under this one's name."""
    other = next(each for each in path.parent.glob("*.parquet") if each != path)
    shutil.copy(other, path)
    checksum_path(path).write_text(checksum_path(other).read_text().replace(other.name, path.name))


DAMAGES = [
    flip_a_bit,
    put_another,
    swap_numbers,
    lambda path: os.truncate(path, path.stat().st_size // 2),
    lambda path: checksum_path(path).unlink(),
    lambda path: path.write_text("hello"),
    lambda path: path.write_bytes(b""),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_and_computed_again(
    tiny: Results, copied: Path, damage: Callable[[Path], object]
) -> None:
    victim = cell_path(copied, tiny.cells[4])
    damage(victim)
    results, steps = again(tiny, copied)
    (found,) = [step for step in steps if step.what == "damaged"]
    assert str(victim) in found.note
    assert [str(victim) in note for note in results.damaged] == [True]
    assert (results.computed, results.skipped) == (1, 11)
    assert_frame_equal(results.summary.select(NUMBERS), tiny.summary.select(NUMBERS))


@pytest.mark.parametrize("writes", [0, 1])
def test_a_crash_while_writing_loses_no_earlier_runs(
    writes: int, tiny: Results, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More runs of a cell replace its file; a driver may be killed before or between the writes."""
    left, whole = [writes], os.replace

    def crash(*paths: Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("killed")
        whole(*paths)

    cell = tiny.cells[0]
    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="killed"):
        write_cell(copied, cell, *measure(replace(cell, runs=2 * cell.runs)))
    monkeypatch.undo()
    results, _ = again(tiny, copied)
    assert results.computed == 0
    assert_frame_equal(results.curves, tiny.curves)


def test_an_edited_or_renamed_file_of_the_package_changes_the_digest(tmp_path: Path) -> None:
    """An edited oracle once found the results of the old one."""
    found = list[str]()
    for name, text in (("a/x.py", "x = 1"), ("a/x.py", "x = 2"), ("a/y.py", "x = 2")):
        shutil.rmtree(tmp_path / "a", ignore_errors=True)
        (tmp_path / "a").mkdir()
        (tmp_path / name).write_text(text)
        found.append(code_digest.__wrapped__(tmp_path))
    assert len(set(found)) == 3
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "x.py").write_text("x = 1")
    assert code_digest.__wrapped__(tmp_path) == found[-1]


def test_what_the_digest_leaves_out_is_imported_by_no_run() -> None:
    used = grimp.build_graph("dpbandits").find_upstream_modules("dpbandits.sweeps.cells")
    parts = {name.split(".")[1] for name in used if "." in name}
    assert {"core", "policies", "simulation", "theory"} <= parts
    assert not parts & {name.removesuffix(".py") for name in BESIDE}
    package = Path(dpb.__file__).parent
    assert all((package / name).exists() for name in BESIDE)


def test_checksums_are_those_of_sha256sum(tiny: Results, copied: Path) -> None:
    """Also once more runs were added: what was is a comment to it, or `sha256sum -c` would fail."""
    cell = tiny.cells[0]
    path = cell_path(copied, cell)
    for runs in (cell.runs, cell.runs + 1):
        store_runs(copied, cell, *measure(replace(cell, runs=runs)))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines = checksum_path(path).read_text().splitlines()
        assert [each for each in lines if each[0] != "#"] == [f"{digest}  {path.name}"]


FAILS = "tests.simulation.test_simulate:Fails"
SWEEP = sweep_text(FAILS, rounds=1000, runs=2, means="0.6, 0.4", head="epsilons = [1]")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sweep_names_the_cell(workers: int, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(SWEEP if workers == 1 else SWEEP.replace("[1]", "[1, 2]"), encoding="utf-8")
    config = load_config(file)
    with pytest.raises(LookupError, match="no such table") as caught:
        run_sweep(config, tmp_path / "out", workers=workers)
    notes = " ".join(caught.value.__notes__)
    assert "Fails at ε = " in notes
    assert " on two arms." in notes


def test_a_log_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    rows = "".join(f"{n % 2},1,{n % 2},0.5\n" for n in range(20))
    (tmp_path / "log.csv").write_text(f"item_id,position,click,propensity_score\n{rows}")
    file = tmp_path / "log.toml"
    text = sweep_text("DPKLUCB", rounds=20, runs=1, means="0.6, 0.4")
    law = 'law = "obd"\npath = "log.csv"'
    file.write_text(text.replace('law = "bernoulli"\nmeans = [0.6, 0.4]', law), encoding="utf-8")
    with pytest.raises(ValueError, match="log that lasts for 20 rounds; in one run it ended after"):
        run_sweep(load_config(file), tmp_path / "out", workers=1)
