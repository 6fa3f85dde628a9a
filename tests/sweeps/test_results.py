"""What a sweep's results say: curves, bands, prices, quantiles, and what was spent."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dpbandits import DPKLUCB, Bernoulli, lower_bound, simulate
from dpbandits.sweeps import Results, load_config, run_sweep
from dpbandits.sweeps.results import enough
from tests.sweeps.texts import sweep_text

Write = Callable[..., Path]


def row(
    results: Results, label: str, environment: str = "linear", epsilon: float | None = None
) -> dict[str, object]:
    same = pl.col("epsilon").is_null() if epsilon is None else pl.col("epsilon") == epsilon
    return results.summary.filter(
        (pl.col("label") == label) & (pl.col("environment") == environment) & same
    ).row(0, named=True)


def test_the_numbers_are_those_of_simulate(tiny: Results) -> None:
    environment, policy = Bernoulli([0.75, 0.5, 0.25]), DPKLUCB(arms=3, epsilon=0.5)
    runs = simulate(policy, environment, 3000, runs=25, seed=7, shuffle=True)
    found = row(tiny, "DP-KLUCB", epsilon=0.5)
    # too few runs to tell
    wanted = {name: value for name, value in runs.summary().items() if name not in ("q99", "q999")}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-12)
    assert found["lower_bound"] == lower_bound(policy, environment, 3000)
    curve = tiny.runs_of("DP-KLUCB", "linear", "1/2")  # as a sweep file may have it
    wanted = runs.regret(at=curve["round"].unique().sort())
    assert np.array_equal(curve.sort("run", "round")["regret"].to_numpy().reshape(25, -1), wanted)


def test_bands_summarise_every_round(tiny: Results) -> None:
    curve = tiny.runs_of("KLUCB", "smoking")
    bands = tiny.bands.filter((pl.col("label") == "KLUCB") & (pl.col("environment") == "smoking"))
    for (at,), part in curve.group_by("round"):
        regret = part["regret"].to_numpy()
        band = bands.row(by_predicate=pl.col("round") == at, named=True)
        assert band["mean"] == pytest.approx(regret.mean())
        assert band["error"] == pytest.approx(regret.std(ddof=1) / 5)
        wanted = np.quantile(regret, [0.05, 0.5, 0.95, 1], method="higher")
        assert [band[q] for q in ("q05", "median", "q95", "worst")] == wanted.tolist()


def test_the_price_of_privacy_has_one_baseline_in_an_environment(tiny: Results) -> None:
    """Also for DP-SE, whose twin is not in the sweep: lower regret is never dearer."""
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
    """Against its own twin DP-SE would look cheaper than DP-KLUCB, though it loses more."""
    names = ("DPKLUCB", "DPSE", "KLUCB", "SuccessiveElimination")
    text = sweep_text(*names, rounds=5000, runs=20, means="0.6, 0.3, 0.3")
    results = run_sweep(load_config(write(text)), tmp_path / "out", workers=1)
    rows = {each["label"]: each for each in results.summary.iter_rows(named=True)}
    order = sorted(("DPKLUCB", "DPSE"), key=lambda name: rows[name]["mean"])
    assert order == sorted(order, key=lambda name: rows[name]["price"])
    assert {rows[name]["baseline"] for name in order} == {"KLUCB"}
    assert rows["KLUCB"]["mean"] < rows["SuccessiveElimination"]["mean"]


def test_a_quantile_is_told_only_of_enough_runs() -> None:
    """Ten runs beyond it at the least."""
    for q, least in ((0.99, 1_000), (0.999, 10_000), (0.5, 20)):
        assert enough(q, least)
        assert not enough(q, least - 1)


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
    text = sweep_text("UCB1", rounds=50, runs=1, means="0.5, 0.5")
    results = run_sweep(load_config(write(text)), tmp_path / "out", workers=1)
    assert row(results, "UCB1", "two arms")["error"] is None  # one run has no standard error
    assert results.summary["price"].to_list() == [None]
