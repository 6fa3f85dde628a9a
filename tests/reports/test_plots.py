"""Figures: they draw the numbers, say what is what, and highlight the default policy."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from PIL import Image

from dpbandits.plots import (
    DEFAULT,
    Panel,
    epsilon_figure,
    looks,
    looks_of,
    panels_of,
    regret_figure,
    save,
    scale_regret,
)
from dpbandits.policies import POLICIES
from dpbandits.reports import file_names
from dpbandits.sweeps import Results


def names_in(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_a_panel_for_each_environment_and_epsilon(tiny: Results) -> None:
    panels = panels_of(tiny)
    assert panels == [
        Panel(name, epsilon) for name in ("linear", "smoking") for epsilon in (0.5, 1)
    ]
    figure = regret_figure(tiny, panels)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert all(title.startswith(panel.title) for title, panel in zip(titles, panels, strict=True))
    assert "least with privacy: DP-KLUCB, " in titles[0]
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    three = regret_figure(tiny, panels[:3]).axes  # the lowest of each column numbers its rounds
    assert [ax.xaxis.get_tick_params()["labelbottom"] for ax in three[:3]] == [False, True, True]


def test_curves_are_the_means_and_every_curve_has_its_name(tiny: Results) -> None:
    figure = regret_figure(tiny, [Panel("linear", 0.5)])
    (axes,) = figure.axes
    names = ["DP-KLUCB", "KLUCB", "DPSE", "AdaCUCB (ρ = 0.1)", "AdaCUCB (ρ = 0.5)"]
    assert sorted(names_in(figure)) == sorted(names)
    look = looks(tiny.cells)["DP-KLUCB"]
    curve = next(line for line in axes.lines if line.get_color() == look.colour)
    bands = tiny.bands.filter(
        (pl.col("label") == "DP-KLUCB")
        & (pl.col("environment") == "linear")
        & (pl.col("epsilon") == 0.5)
    )
    wanted = dict(bands.select("round", "mean").iter_rows())
    assert [wanted[x] for x in curve.get_xdata()] == list(curve.get_ydata())
    assert len([line for line in axes.lines if len(line.get_xdata()) > 1]) == len(names)
    assert "in reward" in figure.get_supylabel()
    assert "rounds" in figure.get_supxlabel()


def test_final_regret_against_epsilon(tiny: Results) -> None:
    with pytest.raises(ValueError, match="to be one of 'linear', "):
        epsilon_figure(tiny, "Linear")
    figure = epsilon_figure(tiny, "linear")
    (axes,) = figure.axes
    assert axes.get_xlabel().startswith("privacy budget ε")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.5", "1"]
    bars = np.concatenate([each.get_segments() for each in axes.collections])
    assert axes.get_ylim()[1] > bars[..., 1].max()
    played = tiny.summary.filter(pl.col("environment") == "linear")["label"]
    assert set(names_in(figure)) == set(played)


def test_files_are_always_the_same(tiny: Results, tmp_path: Path) -> None:
    png, svg = save(regret_figure(tiny, panels_of(tiny)[:2]), tmp_path / "a")
    with Image.open(png) as image:
        assert image.width >= 800
    again = save(regret_figure(tiny, panels_of(tiny)[:2]), str(tmp_path / "b"))
    assert again.png.read_bytes() == png.read_bytes()
    assert again.svg.read_bytes() == svg.read_bytes()


def test_the_default_policy_stands_out_and_no_two_look_alike() -> None:
    kinds = {name: None if cls.about.privacy == "none" else name for name, cls in POLICIES.items()}
    some = {name: kinds[name] for name in ["DPRateIMED", *list(kinds)[:9], *list(kinds)[-26:]]}
    found = looks_of(some)
    assert [name for name, look in found.items() if look.colour == DEFAULT] == ["DPRateIMED"]
    assert found["DPRateIMED"].width > max(
        look.width for name, look in found.items() if name != "DPRateIMED"
    )
    assert len(set(found.values())) == len(found)


def test_file_names_are_plain_and_never_the_same() -> None:
    names = ["COPD trial (ε)", "ε", "gap +", "gap -", "gap 2", "δ"]
    files = ["copd-trial", "environment", "gap", "gap-2", "gap-2-2", "environment-2"]
    assert file_names(names) == dict(zip(names, files, strict=True))


@pytest.mark.parametrize(("low", "high"), [(-300.0, -20.0), (-300.0, 40.0), (0.0, 0.0)])
def test_regret_below_0_is_drawn(low: float, high: float) -> None:
    shown = pl.DataFrame({"label": "a", "round": [1, 2], "mean": [low, high], "error": [1.0, 1.0]})
    axes = Figure().subplots()
    scale_regret(axes, shown, below=6)
    bottom, top = axes.get_ylim()
    assert bottom <= low <= high < top


@pytest.mark.filterwarnings("error")
def test_a_single_kept_round_is_a_point(tiny: Results) -> None:
    last = pl.col("round") == pl.col("round").max()
    (axes,) = regret_figure(replace(tiny, bands=tiny.bands.filter(last)), panels_of(tiny)[:1]).axes
    assert {line.get_marker() for line in axes.lines} == {"o"}
    first, end = axes.get_xlim()
    assert first < end
