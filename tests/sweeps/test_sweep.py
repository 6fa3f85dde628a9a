"""Running, resuming, repairing: the numbers are simulate's own, and no work is done twice."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from dpbandits import DPKLUCB, Bernoulli, lower_bound, simulate
from dpbandits.sweeps import Results, SweepStep, load_config, run_sweep
from dpbandits.sweeps.measure import measure
from dpbandits.sweeps.results import enough
from dpbandits.sweeps.store import cell_path, checksum_path, write_cell

Write = Callable[..., Path]
NUMBERS = [
    "mean",
    "error",
    "median",
    "worst",
    "releases",
    "events",
    "lower_bound",
    "price",
    "claimed",
    "spent",
]


@pytest.fixture
def copied(tiny: Results, tmp_path: Path) -> Path:
    """A folder with the tiny sweep's finished cells."""
    shutil.copytree(tiny.out, tmp_path / "out")
    return tmp_path / "out"


def again(tiny: Results, out: Path, **how: object) -> tuple[Results, list[SweepStep]]:
    steps: list[SweepStep] = []
    return run_sweep(tiny.config, out, progress=steps.append, **({"workers": 1} | how)), steps


def row(
    results: Results, label: str, environment: str = "linear", epsilon: float | None = None
) -> dict[str, object]:
    same = pl.col("epsilon").is_null() if epsilon is None else pl.col("epsilon") == epsilon
    return results.summary.filter(
        (pl.col("label") == label) & (pl.col("environment") == environment) & same
    ).row(0, named=True)


def test_a_second_run_computes_nothing_and_says_the_same(tiny: Results, copied: Path) -> None:
    results, steps = again(tiny, copied)
    assert (tiny.computed, tiny.skipped) == (12, 0)
    assert (results.computed, results.skipped) == (0, 12)
    assert [step.what for step in steps] == ["skipped"] * 12
    assert [step.done for step in steps] == list(range(1, 13))
    assert_frame_equal(results.summary, tiny.summary)
    assert_frame_equal(results.curves, tiny.curves)


def test_only_what_is_new_is_computed(tiny: Results, copied: Path, write: Write) -> None:
    config = load_config(
        write(
            edits={
                'class = "KLUCB"': 'class = "UCB1"\n[[policies]]\nclass = "KLUCB"',
                'label = "DP-KLUCB"': 'label = "new"',
            }
        )
    )
    results = run_sweep(config, copied, workers=1)
    assert results.computed == 2  # UCB1 in two environments; a new label is no new work
    assert row(results, "new", epsilon=0.5)["mean"] == row(tiny, "DP-KLUCB", epsilon=0.5)["mean"]


def test_workers_change_nothing(tiny: Results, tmp_path: Path) -> None:
    results, steps = again(tiny, tmp_path, workers=2)
    assert results.computed == 12
    assert steps[-1].done == 12
    assert_frame_equal(results.summary.select(NUMBERS), tiny.summary.select(NUMBERS))


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


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


def lose_the_checksum(path: Path) -> None:
    checksum_path(path).unlink()


DAMAGES = [
    truncate,
    flip_a_bit,
    swap_numbers,
    lose_the_checksum,
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


def test_a_cell_of_another_name_is_not_believed(tiny: Results, copied: Path) -> None:
    mine, other = cell_path(copied, tiny.cells[0]), cell_path(copied, tiny.cells[1])
    shutil.copy(mine, other)
    checksum_path(other).write_text(checksum_path(mine).read_text().replace(mine.name, other.name))
    results, _ = again(tiny, copied)
    assert results.computed == 1


def test_a_crash_while_writing_leaves_no_file(
    tiny: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise OSError("disk full")

    cell = tiny.cells[0]
    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="disk full"):
        write_cell(tmp_path, cell, *measure(cell))
    assert list((tmp_path / "cells").iterdir()) == []


def test_checksums_are_those_of_sha256sum(tiny: Results) -> None:
    path = cell_path(tiny.out, tiny.cells[0])
    assert (
        checksum_path(path).read_text()
        == f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
    )


def test_the_numbers_are_those_of_simulate(tiny: Results) -> None:
    environment, policy = Bernoulli([0.75, 0.5, 0.25]), DPKLUCB(arms=3, epsilon=0.5)
    runs = simulate(policy, environment, 3000, runs=25, seed=7, shuffle=True)
    found = row(tiny, "DP-KLUCB", epsilon=0.5)
    # too few runs to tell
    wanted = {name: value for name, value in runs.summary().items() if name not in ("q99", "q999")}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-12)
    assert found["lower_bound"] == lower_bound(policy, environment, 3000)
    curve = tiny.runs_of("DP-KLUCB", "linear", 0.5)
    wanted = runs.regret(at=curve["round"].unique().sort())
    assert np.array_equal(curve.sort("run", "round")["regret"].to_numpy().reshape(25, -1), wanted)


def test_bands_summarise_every_round(tiny: Results) -> None:
    curve = tiny.runs_of("KLUCB", "smoking")
    bands = tiny.bands.filter((pl.col("label") == "KLUCB") & (pl.col("environment") == "smoking"))
    for (at,), part in curve.group_by("round"):
        regret, band = (
            part["regret"].to_numpy(),
            bands.row(by_predicate=pl.col("round") == at, named=True),
        )
        assert band["mean"] == pytest.approx(regret.mean())
        assert band["error"] == pytest.approx(regret.std(ddof=1) / 5)
        assert [band[q] for q in ("q05", "median", "q95", "worst")] == list(
            np.quantile(regret, [0.05, 0.5, 0.95, 1], method="higher")
        )


def test_the_price_of_privacy_has_one_baseline_in_an_environment(tiny: Results) -> None:
    """Also for DP-SE, whose own twin is not in the sweep: of two policies the one of lower regret
    is never the dearer.
    """
    for environment in ("linear", "smoking"):
        plain = row(tiny, "KLUCB", environment)
        assert plain["price"] is plain["baseline"] is None
        for label in ("DP-KLUCB", "DPSE") if environment == "linear" else ("DP-KLUCB",):
            ours = row(tiny, label, environment, 1.0)
            assert ours["price"] == ours["mean"] - plain["mean"]
            assert ours["baseline"] == "KLUCB"


def test_the_baseline_is_the_policy_without_privacy_that_loses_least(
    write: Write, tmp_path: Path
) -> None:
    """Two twins that differ: against its own, DP-SE would look cheaper than DP-KLUCB, though it
    loses more.
    """
    text = (
        'name = "x"\ntitle = "x"\nrounds = 5000\nruns = 20\n[[environments]]\nname = "e"\nlaw = '
        '"bernoulli"\nmeans = [0.6, 0.3, 0.3]\n'
    )
    names = ("DPKLUCB", "DPSE", "KLUCB", "SuccessiveElimination")
    results = run_sweep(
        load_config(write(text + "".join(f'[[policies]]\nclass = "{n}"\n' for n in names))),
        tmp_path / "out",
        workers=1,
    )
    rows = {name: row(results, name, "e", 1.0 if name.startswith("DP") else None) for name in names}
    order = sorted(("DPKLUCB", "DPSE"), key=lambda name: float(str(rows[name]["mean"])))
    assert order == sorted(order, key=lambda name: float(str(rows[name]["price"])))
    assert {rows[name]["baseline"] for name in order} == {"KLUCB"}
    assert float(str(rows["KLUCB"]["mean"])) < float(str(rows["SuccessiveElimination"]["mean"]))


@pytest.mark.parametrize(("q", "least"), [(0.99, 1_000), (0.999, 10_000), (0.5, 20)])
def test_a_quantile_is_told_only_of_enough_runs(q: float, least: int) -> None:
    """Ten runs beyond it at the least."""
    assert enough(q, least)
    assert not enough(q, least - 1)


def test_few_runs_have_no_far_quantiles(tiny: Results) -> None:
    # 25 runs at most
    assert (
        tiny.summary["q99"].null_count() == tiny.summary["q999"].null_count() == len(tiny.summary)
    )


def test_the_ledger_spends_what_was_promised(tiny: Results) -> None:
    budgets = {
        (r["label"], r["epsilon"]): (r["claimed"], r["spent"], r["kept"])
        for r in tiny.summary.iter_rows(named=True)
    }
    assert budgets["DP-KLUCB", 0.5] == (0.5, 0.5, True)
    assert budgets["LDPKLUCB", 1.0] == (1.0, 1.0, True)
    assert budgets["AdaCUCB (ρ = 0.1)", None] == (0.1, 0.1, True)
    # what holds, not what was published
    assert budgets["HybridUCB[published]", 1.0] == (1.5, 1.5, True)
    assert budgets["DPSE", 0.5] == (0.5, 0.0, True)  # too short for a release
    assert budgets["KLUCB", None] == (None, None, None)
    guarantees = tiny.summary["guarantee"].drop_nulls()
    assert guarantees.str.contains("simulated noise").all()
    assert "the publication claims 1" in row(tiny, "HybridUCB[published]", epsilon=1.0)["guarantee"]


def test_a_sweep_without_any_private_policy_works(write: Write, tmp_path: Path) -> None:
    text = (
        'name = "x"\ntitle = "x"\nrounds = 50\nruns = 1\n[[environments]]\nname = "e"\nlaw = '
        '"bernoulli"\nmeans = [0.5, 0.5]\n'
    )
    results = run_sweep(
        load_config(write(text + '[[policies]]\nclass = "UCB1"\n')), tmp_path / "out", workers=1
    )
    assert row(results, "UCB1", "e")["error"] is None  # one run has no standard error
    assert results.summary["price"].to_list() == [None]


def test_asking_for_runs_that_are_not_there_lists_labels(tiny: Results) -> None:
    with pytest.raises(LookupError, match="DP-KLUCB"):
        tiny.runs_of("DPKLUCB", "linear", 0.5)
