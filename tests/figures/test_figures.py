"""Figures: they draw the numbers, say what is what, and stay small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from dpbandits.figures.grids import regret_grid
from dpbandits.figures.layout import NARROW, ONE_COLUMN, Layout, spread
from dpbandits.figures.panels import LOOKS, Panel, looks, panels_of
from dpbandits.figures.plots import epsilon_figure, regret_figure, save
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import size_argument
from dpbandits.reports.publish import draw, slug
from dpbandits.sweeps import Results, load_config, run_sweep


def test_a_panel_for_each_environment_and_epsilon(tiny: Results) -> None:
    panels = panels_of(tiny)
    assert panels == [
        Panel("linear", 0.5),
        Panel("linear", 1.0),
        Panel("smoking", 0.5),
        Panel("smoking", 1.0),
    ]
    figure = regret_figure(tiny, panels)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [panel.title for panel in panels]


def test_curves_are_the_means_and_every_curve_has_its_name(tiny: Results) -> None:
    (axes,) = regret_figure(tiny, [Panel("linear", 0.5)]).axes
    names = {text.get_text() for text in axes.texts}
    assert names == {
        "DP-KLUCB",
        "KLUCB",
        "DPSE",
        "AdaCUCB (ρ = 0.1)",
        "AdaCUCB (ρ = 0.5)",
        "lower bound, no privacy",
        "lower bound, ε = 0.5",
    }
    look = looks(list(tiny.cells))["DP-KLUCB"]
    curve = next(line for line in axes.lines if line.get_color() == look.colour)
    bands = tiny.bands.filter(
        (pl.col("label") == "DP-KLUCB")
        & (pl.col("environment") == "linear")
        & (pl.col("epsilon") == 0.5)
    )
    wanted = dict(bands.select("round", "mean").iter_rows())
    assert [wanted[x] for x in curve.get_xdata()] == list(curve.get_ydata())
    assert axes.get_ylabel() == "regret"
    assert "95 %" in axes.get_xlabel()


def test_every_choice_of_scale_and_band_draws_another_picture(tiny: Results) -> None:
    drawn = set()
    for band in ("mean", "runs", "both"):
        for log_x in (True, False):
            figure = regret_figure(tiny, [Panel("linear", 1.0)], log_x=log_x, band=band)
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            drawn.add(bytes(canvas.buffer_rgba()))
    assert len(drawn) == 6


@pytest.mark.parametrize("layout", [NARROW, ONE_COLUMN])
@pytest.mark.parametrize("panels", [1, 2])
def test_a_narrow_figure_names_every_curve_below_its_axes(
    tiny: Results, panels: int, layout: Layout
) -> None:
    """On a phone four inches are the whole screen, and a column is less: nothing may stand beside
    the axes, over them, or outside the figure.
    """
    figure = regret_figure(tiny, panels_of(tiny)[:panels], layout=layout)
    assert figure.get_size_inches()[0] == layout.width
    FigureCanvasAgg(figure).draw()
    whole, boxes = figure.bbox, []
    for ax in figure.axes:
        legend = ax.get_legend()
        names = {text.get_text() for text in legend.get_texts()}
        assert names > {"DP-KLUCB", "KLUCB", "DPSE", "lower bound, no privacy"}
        assert (
            legend.get_window_extent().y1 < ax.xaxis.label.get_window_extent().y0
            or not ax.get_xlabel()
        )
        boxes += [legend.get_window_extent(), ax.get_tightbbox(for_layout_only=True)]
    assert all(
        whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1
        for box in boxes
        if box
    )


def test_one_panel_of_a_paper_is_larger_than_its_legend_and_nothing_is_cut_off(
    tiny: Results,
) -> None:
    figure = regret_grid(tiny, [[Panel("linear", 1.0)]])
    FigureCanvasAgg(figure).draw()
    (axes,), (legend,), label = figure.axes, figure.legends, figure._supxlabel
    panel, names = axes.get_window_extent(), legend.get_window_extent()
    assert panel.height > names.height
    for box in (names, label.get_window_extent()):
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1


def test_final_regret_against_epsilon(tiny: Results) -> None:
    (axes,) = epsilon_figure(tiny, "linear").axes
    assert axes.get_xlabel().startswith("privacy budget ε")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.5", "1"]
    assert {text.get_text() for text in axes.texts} == set(
        tiny.summary.filter(pl.col("environment") == "linear")["label"]
    )


@pytest.mark.long
def test_files_are_small_readable_and_always_the_same(tiny: Results, tmp_path: Path) -> None:
    figure = regret_figure(tiny, panels_of(tiny)[:2])
    png, svg, pdf = save(figure, tmp_path / "a")
    assert svg.stat().st_size < 200_000
    assert png.stat().st_size < 200_000
    with Image.open(png) as image:
        assert image.width >= 800
    again = save(regret_figure(tiny, panels_of(tiny)[:2]), tmp_path / "b")
    assert again.svg.read_bytes() == svg.read_bytes()
    assert again.pdf.read_bytes() == pdf.read_bytes()


@pytest.mark.long
def test_figures_of_a_dozen_policies_are_small_and_share_their_scales(tmp_path: Path) -> None:
    others = ("AdaCUCB", "DPUCB", "DPUCBBound", "HybridUCB", "LDPUCB", "AdaPTT", "CTBTT")
    names = [
        name
        for name, cls in POLICIES.items()
        if cls.about.feedback == "bandit" and size_argument(cls) and name not in others
    ]
    text = 'name = "many"\ntitle = "many"\nrounds = 2000\nruns = 4\nepsilons = [0.5, 1, 2]\n'
    text += '[[environments]]\nname = "e"\nlaw = "bernoulli"\nmeans = [0.7, 0.5, 0.4]\n'
    (tmp_path / "many.toml").write_text(
        text + "".join(f'[[policies]]\nclass = "{name}"\n' for name in names)
    )
    results = run_sweep(load_config(tmp_path / "many.toml"), tmp_path / "out", workers=1)
    figures = draw(results)["e"]
    assert [picture.wide.name for picture in figures] == [
        "regret-e-1.svg",
        "regret-e-2.svg",
        "epsilon-e.svg",
    ]
    for svg in (svg for picture in figures for svg in (picture.wide, picture.narrow)):
        assert svg.stat().st_size < 200_000
        assert svg.with_suffix(".png").stat().st_size < 200_000
    panels = panels_of(results)
    limits = {
        regret_figure(results, [panel], scaled_with=panels).axes[0].get_ylim() for panel in panels
    }
    assert len(limits) == 1


def test_every_policy_has_a_look_of_its_own() -> None:
    assert set(LOOKS) == {name for name, cls in POLICIES.items() if size_argument(cls)}
    # others are never in one figure
    seen = {(POLICIES[name].about.feedback, look) for name, look in LOOKS.items()}
    assert len(seen) == len(LOOKS)


def test_variants_of_a_policy_share_its_colour(tiny: Results) -> None:
    first, second = (looks(list(tiny.cells))[f"AdaCUCB (ρ = {rho})"] for rho in (0.1, 0.5))
    assert first.colour == second.colour
    assert first.dash != second.dash


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_names_keep_their_order_and_distance(wanted: list[float]) -> None:
    placed = spread(wanted, 0.06, 0.0, 1.0)
    order = np.argsort(wanted, kind="stable")
    steps = np.diff(np.array(placed)[order])
    assert np.all(steps >= 0.06 - 1e-9)
    assert min(placed) >= -1e-9
    assert max(placed) <= 1 + 1e-9


def test_names_that_fit_stay_where_they_are() -> None:
    assert spread([0.9, 0.1, 0.5], 0.1, 0, 1) == pytest.approx([0.9, 0.1, 0.5])
    assert spread([0.5, 0.5], 0.1, 0, 1) == pytest.approx([0.45, 0.55])


def test_file_names_are_plain() -> None:
    assert slug("COPD trial (ε)") == "copd-trial"
    assert slug("ε") == "environment"
