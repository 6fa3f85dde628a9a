"""The lower bound in papers' figures: that of the policies played, where one is known."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from dpbandits.environments import Table
from dpbandits.plots import BOUND, Look, Panel
from dpbandits.sweeps import Results, load_config, run_sweep
from dpbandits.theory import full_information_lower_bound, lower_bound, matroid_lower_bound
from papers.drawing import FLOOR, Lines, final_floor, floor_at, line_grid, regret_grid
from tests.sweeps.texts import sweep_text

MATROID = """
law = "super_arms"
means = [0.8, 0.7, 0.4, 0.3]
problem = { kind = "UniformMatroid", arms = 4, rank = 2 }"""
PATHS = 'law = "shared_arms"\nk = 2\nchoices = 3\nbest = 0.9\ngap = 0.6'
PANEL = Panel("two arms", 1.0)
EXPERTS = 'RNMFTNL\nlabel = "published"\npreset = "published"', 'RNMFTNL\nlabel = "corrected"'


def played(folder: Path, *policies: str, **law: str) -> Results:
    text = sweep_text(*policies, rounds=300, runs=3, head="epsilons = [1, 4]", **law)
    (folder / "small.toml").write_text(text, encoding="utf-8")
    return run_sweep(load_config(folder / "small.toml"), folder / "out", workers=1)


def bounds_in(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if line.get_color() == BOUND.colour]


def legend_of(results: Results) -> set[str]:
    (legend,) = regret_grid(results, [[PANEL]]).legends
    return {text.get_text() for text in legend.get_texts()}


def test_a_matroids_panel_has_the_matroids_bound(tmp_path: Path) -> None:
    results = played(tmp_path, "DPKLMAT", law=MATROID)
    cell = results.cells[0]
    first, ends = regret_grid(results, [[PANEL]], ends="two arms").axes
    (line,) = bounds_in(first)
    t, y = int(line.get_xdata()[-1]), float(line.get_ydata()[-1])
    assert (t, y) == (300, lower_bound(cell.policy, cell.environment, 300))
    assert y == pytest.approx(
        matroid_lower_bound(results.config.loaded["two arms"].problem, cell.environment, 300, 1.0)
    )
    assert first.get_ylim()[0] < y < first.get_ylim()[1]
    (line,) = bounds_in(ends)
    assert list(line.get_xdata()) == [1.0, 4.0]
    assert list(line.get_ydata()) == [
        final_floor(results, Panel("two arms", e)) for e in (1.0, 4.0)
    ]
    # a narrow range is marked by the budgets: it has few powers of ten, which nobody played
    assert [text.get_text() for text in ends.get_xticklabels()] == ["1", "4"]
    assert FLOOR in legend_of(results)


@pytest.mark.long  # it compiles
def test_where_none_is_known_nothing_is_drawn_or_named(tmp_path: Path) -> None:
    results = played(tmp_path, "CUCBLDP2", law=PATHS)
    assert np.isnan(floor_at(results, PANEL, [10, 300])).all()
    assert np.isnan(final_floor(results, Panel("two arms", None)))
    for axes in regret_grid(results, [[PANEL]], ends="two arms").axes:
        assert bounds_in(axes) == []
    assert FLOOR not in legend_of(results)


def test_no_bound_for_super_arms_whose_rewards_depend_on_each_other(tmp_path: Path) -> None:
    results = played(tmp_path, "DPKLMAT", law=MATROID)
    rewards = np.random.default_rng(0).random((50, 4)) < [0.8, 0.7, 0.4, 0.3]
    assert np.isfinite(final_floor(results, PANEL))
    for cell in results.cells:
        object.__setattr__(cell, "environment", Table(rewards, resample=True))
    assert np.isnan(final_floor(results, PANEL))


def test_the_bound_is_of_the_policy_that_promises_what_the_panel_says(tmp_path: Path) -> None:
    results = played(tmp_path, *EXPERTS, means="0.6, 0.5, 0.5")
    published, corrected = (results.cells[i].policy.guarantee for i in (0, 2))
    assert published is not None
    assert corrected is not None
    assert published.cost == 2 * corrected.cost
    wanted = full_information_lower_bound(3, float(np.float64(0.6) - 0.5), 300, 1.0)
    assert final_floor(results, PANEL) == wanted


def test_a_guide_that_is_a_bound_is_black_and_on_the_axis() -> None:
    frame = pl.DataFrame({"label": "P", "x": [1, 2], "y": [100.0, 200.0], "error": [1.0, 1.0]})
    panel = Lines("t", frame, {"lower bound": [0.5, 1.0], "∝ K": [100.0, 200.0]}, (1, 2))
    figure = line_grid([[panel]], {"P": Look("#0072B2")}, x="K", y="regret")
    (axes,), (legend,) = figure.axes, figure.legends
    (line,) = bounds_in(axes)
    assert list(line.get_ydata()) == [0.5, 1.0]
    assert axes.get_ylim()[0] < 0.5
    assert [text.get_text() for text in legend.get_texts()] == ["P", "∝ K", "lower bound"]
