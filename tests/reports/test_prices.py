"""What privacy cost, in sentences: whose price it is, and that there is none without a baseline."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from dpbandits import simulate
from dpbandits.reports import answers, rounded
from dpbandits.sweeps import load_config, run_sweep
from tests.sweeps.texts import sweep_text

RECOMMENDED_SWEEP = sweep_text(
    "DPIMED",
    'DPRateIMED\npreset = "mean"\nlabel = "ours for the mean"',
    'DPRateIMED\nlabel = "ours"',
    "LDPKLUCB",
    "AdaPTT",
    "ThompsonBeta",
    rounds=600,
    runs=4,
    means="0.8, 0.6, 0.4",
    head="epsilons = [1]\nseed = 4",
)


def test_the_price_is_the_recommended_policy_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that of whichever private policy chance favoured, nor a preset's, nor the local one's,
    nor that of the one that is recommended to name a winner.
    """
    monkeypatch.setattr("dpbandits.sweeps.cells.simulate", partial(simulate, compiled=False))
    (tmp_path / "x.toml").write_text(RECOMMENDED_SWEEP)
    results = run_sweep(load_config(tmp_path / "x.toml"), tmp_path / "out", workers=1)
    lost = dict(zip(results.summary["label"], results.summary["mean"], strict=True))
    assert lost["ours"] > lost["DPIMED"]
    first, behind = answers(results)
    assert first.startswith(f"Privacy cost {rounded(lost['ours'] - lost['ThompsonBeta'])} ± ")
    assert ": so much more did ours, the recommended policy, lose than ThompsonBeta, " in first
    least = min((label for label in lost if label != "ThompsonBeta"), key=lambda each: lost[each])
    assert f"; of the private policies {least} lost least, {rounded(lost[least])}" in behind


def test_a_sweep_without_a_baseline_answers_nothing(tmp_path: Path) -> None:
    text = sweep_text("DPKLUCB", rounds=50, runs=2, means="0.6, 0.3")
    (tmp_path / "x.toml").write_text(text)
    assert answers(run_sweep(load_config(tmp_path / "x.toml"), tmp_path / "out", workers=1)) == []
