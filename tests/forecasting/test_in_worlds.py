"""Forecasts in which visitors differ, or rates change."""

from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.forecasting.outcome import EachRate
from dpbandits.forecasting.trials import Lasting, Visitors
from dpbandits.terminal.cli import app


def forecast(**changes: Any) -> dpb.Forecast:
    given: dict[str, Any] = {"rates": [0.5, 0.4], "visitors": 300, "epsilon": 1, "draws": 3}
    return dpb.forecast(**{**given, "features": 3, "seed": 2, **changes})


@pytest.mark.parametrize("world", [{"features": 3}, {"features": None, "lasting": 10**6}])
def test_equal_shares_know_the_best_arm_wherever_it_stands(world: dict[str, Any]) -> None:
    """With 150 visitors of each arm: by chance they do not with probability below 1e-25."""
    found = forecast(rates=[0.2, 0.8], policies="DPRateIMED", **world)
    assert found.row("equal shares").leads == 1.0


def test_visitors_differ_as_much_as_was_said() -> None:
    visitors = Visitors.given(4, 0.3, 5)
    world = visitors.world(np.array([0.2, 0.5]), 5, 0)
    assert world.means == pytest.approx([0.2, 0.5], abs=0.01)
    assert world.chances.std(axis=0) == pytest.approx([0.06, 0.15], rel=0.1)
    assert np.linalg.norm(visitors.contexts, axis=1).max() <= 1
    for rates in ([0.9, 0.03], [1.0, 0.0]):  # of which some would lie outside
        world = Visitors.given(4, 2, 5).world(np.array(rates), 5, 0)
        assert world.means == pytest.approx(rates, abs=1e-9)
    alike = Visitors.given(4, 0, 5).world(np.array([0.2, 0.5]), 5, 0)
    assert alike.best == pytest.approx(0.5)


def test_rates_that_change_are_drawn_anew_and_losses_are_of_each_time() -> None:
    found = forecast(features=None, lasting=60, visitors=600)
    rows = [(row.policy, row.epsilon) for row in found]
    assert rows[:2] == [("DPKalmanTS", 1.0), ("DPRateIMED", 1.0)]
    assert rows[2:] == [("KalmanTS", None), ("equal shares", None)]
    how = Lasting(60, EachRate((0.5, 0.4)), dpb.Range(), 600)
    pieces = np.array([len(how.world(seed, 0).starts) for seed in range(200)])
    assert abs(pieces.mean() - (1 + 599 / 60)) < 5 * np.sqrt(10 / 200)
    assert "they last 60 visitors on average" in found.about
    line = ["forecast", "--rates", ".5,.4", "--visitors", "600", "--epsilon", "1"]
    shown = CliRunner().invoke(app, [*line, "--lasting", "60", "--draws", "3", "--seed", "2"])
    assert "DPKalmanTS" in shown.output, shown.output


def test_rows_in_order_and_in_words() -> None:
    found = forecast(policies="DPLinTS", epsilon=[1, "1/2"], max_contributions=2)
    rows = [(row.policy, row.epsilon) for row in found]
    assert rows == [("DPLinTS", 0.5), ("DPLinTS", 1.0), ("LinTS", None), ("equal shares", None)]
    assert "made-up visitors of 3 features" in found.about
    assert found.row("DPLinTS", 1.0).named is None
    assert "2 learned rounds" in found.title
