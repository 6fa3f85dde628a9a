"""The comparison table, on the page and on the terminal alike."""

import pytest
from rich.console import Console

from dpbandits.plots import Panel, compared
from dpbandits.reports import COLUMNS, mean_regret, rounded, table_rows
from dpbandits.sweeps import Results
from dpbandits.terminal.tables import comparisons


def test_rows_say_what_the_summary_says(tiny: Results) -> None:
    panel = Panel("linear", 1.0)
    titles = [column.title for column in COLUMNS]
    found = {row[0]: dict(zip(titles, row, strict=True)) for row in table_rows(tiny, panel)}
    summary = {row["label"]: row for row in compared(tiny, panel).iter_rows(named=True)}
    assert list(found) == list(summary)
    assert list(found)[-1] == "KLUCB"  # policies without privacy come last
    ours, shown = summary["DP-KLUCB"], found["DP-KLUCB"]
    assert shown["mean regret"] == mean_regret(ours)
    assert shown["price of privacy"] == rounded(ours["price"])
    assert shown["99.9 %"] == shown["99 %"] == "–"  # of 25 runs
    assert (shown["worst"], shown["ε spent"]) == (rounded(ours["worst"]), "1 of 1")
    assert found["AdaCUCB (ρ = 0.1)"]["ε spent"] == "ρ 0.1 of 0.1"
    assert found["KLUCB"]["ε spent"] == found["KLUCB"]["price of privacy"] == "–"


def test_numbers_show_three_digits_that_matter() -> None:
    values = [None, 0.0, 1.234, 12.34, 123.4, 12345.6, -5.0]
    assert [*map(rounded, values)] == ["–", "0.00", "1.23", "12.3", "123", "12,346", "-5.00"]


@pytest.mark.parametrize(("width", "tables"), [(200, 4), (80, 8)])
def test_the_terminal_shows_every_number_at_any_width(
    tiny: Results, width: int, tables: int
) -> None:
    console = Console(width=width, record=True, force_terminal=False)
    shown = list(comparisons(tiny, console))
    assert len(shown) == tables
    with console.capture() as capture:
        for table in shown:
            console.print(table)
    text = capture.get()
    assert "…" not in text
    names = ["mean", "price", "lower", "releases", "spent", "median", "99 %", "99.9 %", "worst"]
    assert all(name in text for name in [*names, "runs"])
    for panel in (Panel("smoking", 0.5), Panel("linear", 1.0)):
        for wanted in table_rows(tiny, panel):
            assert all(cell in text for cell in wanted)
