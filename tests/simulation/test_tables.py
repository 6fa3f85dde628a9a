"""Runs as a table."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import dpbandits as dpb


def played() -> dpb.Runs:
    policy, environment = dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.6, 0.4])
    return dpb.simulate(policy, environment, 500, runs=3, at=[100])


def test_a_row_for_each_run_and_kept_round() -> None:
    runs = played()
    frame = runs.to_polars()
    assert frame.columns == ["run", "round", "regret", "plays"]
    assert frame["run"].to_list() == [0, 0, 1, 1, 2, 2]
    assert frame["round"].to_list() == [100, 500] * 3
    assert np.array_equal(np.array(frame["plays"].to_list()).reshape(3, 2, 2), runs.counts)
    last = frame.filter(pl.col("round") == 500)
    assert last["regret"].to_list() == runs.regret().tolist()


def test_weights_are_a_table_too() -> None:
    policy = dpb.DecreasingHedge(actions=2, play="weights")
    runs = dpb.simulate(policy, dpb.Bernoulli([0.6, 0.4]), 50, at=[50], compiled=False)
    frame = runs.to_polars()
    assert abs(sum(frame["plays"][0]) - 50) < 1e-9


def test_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"needs polars: pip install 'dpbandits\[experiments\]'"):
        played().to_polars()
