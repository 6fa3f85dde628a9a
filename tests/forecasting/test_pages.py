"""A forecast as figure, page and command."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.forecasting.outcome import (
    EQUAL,
    HEADS,
    Forecast,
    amount,
    cells_of_row,
    forecast_figure,
    give_or_take,
    notes_of,
)
from dpbandits.terminal.cli import app


@cache
def found() -> Forecast:
    return dpb.forecast([0.6, 0.5], 500, [0.5, 1], draws=5, units="<clicks>")


def test_every_curve_has_its_name_and_its_numbers() -> None:
    figure = forecast_figure(found())
    (axes,), (legend,) = figure.axes, figure.legends
    curve = [row.loss for row in found() if row.policy == "DPRateIMED"]
    assert any(list(line.get_ydata()) == curve for line in axes.lines)
    assert axes.get_ylabel() == "<clicks>"
    assert {text.get_text() for text in legend.get_texts()} == {"DPRateIMED", "KLUCB", EQUAL}


def test_a_negative_loss_is_in_the_picture() -> None:
    """Where drifts cross, a policy may earn more than any arm that everybody gets."""
    rows = (*found().rows[:-1], found().rows[-1]._replace(loss=-90.0, error=0.0))
    (axes,) = forecast_figure(replace(found(), rows=rows)).axes
    assert axes.get_ylim()[0] < -90


def test_files(tmp_path: Path) -> None:
    png, svg = found().figure(tmp_path / "forecast")
    with Image.open(png) as image:
        assert image.size[0] >= 800
    assert svg.read_text(encoding="utf-8").count("DPRateIMED") == 1
    again = found().figure(tmp_path / "again")
    assert [path.read_bytes() for path in again] == [png.read_bytes(), svg.read_bytes()]


def test_the_page_escapes_and_holds_everything(tmp_path: Path) -> None:
    text = found().page(tmp_path / "deep" / "page.html").read_text(encoding="utf-8")
    assert "&lt;clicks&gt;" in text
    assert "<clicks>" not in text
    assert "Nobody's data was read" in text
    assert text.count("data:image/svg+xml") == 1
    assert "http" not in text.replace("http://www.w3.org", "")
    for row in found():
        assert row.policy in text
        assert f"{amount(row.loss)} {give_or_take(row.error).replace('±', '± ')}" in text
    assert "two standard errors of an expectation over the draws; from 5 draws they are" in text
    assert "of 5 about 0.25 lie above 95 %" in text


def test_a_table_says_what_is_uncertain_and_what_comes_from_few_draws() -> None:
    """Of 40 draws 26.5 stood there as 26.5, and their worst as what one in a hundred loses more."""
    row = found().row("DPRateIMED", 1.0)
    said = str(found()).splitlines()
    at = next(at for at, line in enumerate(said) if line.split()[:2] == ["DPRateIMED", "1"])
    cells, errors = said[at].split(), said[at + 1].split()
    assert cells[2:5] == [amount(row.loss), amount(row.privacy or 0.0), amount(row.saved)]
    uncertain = (row.error, row.privacy_error or 0.0, row.saved_error)
    assert errors[:3] == [f"±{2 * each:.2g}" for each in uncertain]
    assert row.chance_named is not None
    named = [f"{100 * row.chance_named:.0f}", "%"]
    assert errors[3:] == [f"±{200 * chance_error(row.leads, 5):.0f}", "%", *named]
    assert cells[5:7] == ["~" + amount(row.q95), "~" + amount(row.q99)]
    assert said[-2].startswith("± two standard errors")
    assert said[-1].startswith("~ from few draws: of 5 about 0.25 lie above 95 %")
    assert repr(found()) == str(found())


def chance_error(share: float, draws: int) -> float:
    """By hand: two draws more of either kind."""
    hits = (share * draws + 2) / (draws + 4)
    return float(np.sqrt(hits * (1 - hits) / (draws + 4)))


@pytest.mark.parametrize(
    ("draws", "rough"), [(1000, []), (999, ["99 %"]), (200, ["99 %"]), (199, ["95 %", "99 %"])]
)
def test_a_quantile_is_rough_where_fewer_than_ten_draws_lie_above(
    draws: int, rough: list[str]
) -> None:
    cells = dict(zip(HEADS, cells_of_row(found().rows[0], draws), strict=True))
    assert [head for head, cell in cells.items() if cell.startswith("~")] == rough
    assert ("~" in notes_of(draws)) is bool(rough)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["forecast", *arguments], env={"COLUMNS": "120"})
    return result.exit_code, " ".join(result.output.split())


def test_the_command(tmp_path: Path) -> None:
    code, said = run(
        *("--rates", ".6,.3-.4", "--visitors", "400", "--epsilon", "1/2,1", "--draws", "4"),
        *("--within", "400", "--out", str(tmp_path), "--max-contributions", "2"),
    )
    assert code == 0, said
    assert "per user of at most 2 learned rounds" in said
    assert "Expected loss in conversions, 400 visitors, 2 arms, 4 draws" in said
    assert "ε = 0.5 with DPRateIMED is expected to lose" in said
    assert {path.name for path in tmp_path.iterdir()} == {
        "forecast.html",
        "forecast.png",
        "forecast.svg",
    }


def test_no_epsilon_is_printed_smaller_than_it_is() -> None:
    """In the table, in the answer of --within, and in the figure."""
    code, said = run(
        *("--rates", ".6,.4", "--visitors", "100", "--epsilon", "1.0000004,1/3", "--draws", "2"),
        *("--within", "1000"),
    )
    assert code == 0, said
    assert "ε = 1/3 with DPRateIMED is expected to lose" in said
    first, second = (text.split()[0] for text in said.split("DPRateIMED")[1:3])
    assert (first, second) == ("1/3", "1.0000004")
    shown = dpb.forecast([0.6, 0.4], 100, [1.0000004, 0.5], draws=2)
    marks = forecast_figure(shown).axes[0].get_xticklabels()
    assert [mark.get_text() for mark in marks] == ["0.5", "1.0000004"]


def test_no_number_of_the_table_is_cut() -> None:
    """In 80 characters, which a terminal has, and in fewer."""
    wanted = ["--rates", ".6,.5", "--visitors", "400", "--epsilon", "1", "--draws", "4"]
    for columns in ("80", "40"):
        result = CliRunner().invoke(
            app, ["forecast", *wanted, "--delay", "30"], env={"COLUMNS": columns}
        )
        assert result.exit_code == 0, result.output
        assert "…" not in result.output
        line = next(row for row in result.output.splitlines() if "DPRateIMED" in row)
        assert len(line.rstrip()) <= 80
        assert len(line.split()) == 12, "eleven cells, of which one has a unit"
    assert "± two standard errors" in " ".join(result.output.split())
    assert "one trial in twenty loses more" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--visitors", "100"), "either --rates"),
        (("--visitors", "100", "--rates", ".5,.4", "--base", ".3"), "either --rates"),
        (("--visitors", "100", "--rates", ".5,x"), "--rates to be numbers"),
        (("--visitors", "9", "--rates", ".5,.4", "--policy", "DPKLUBC"), "(did you mean DPKLUCB"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: tuple[str, ...], words: str) -> None:
    result = CliRunner().invoke(app, ["forecast", *arguments])
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
