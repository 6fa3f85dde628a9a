"""The page and the tables hold the results, escaped, and nothing from outside."""

import re
import shutil
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dpbandits import simulate
from dpbandits.plots import Panel, compared
from dpbandits.reports import answers, mean_regret, publish, rounded, table_rows
from dpbandits.sweeps import Results, load_config, run_sweep
from tests.sweeps.texts import sweep_text


class Page(HTMLParser):
    """What a browser would fetch, the rows of tables, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.rows: list[list[str]] = []
        self.words: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        fetching = ("src", "srcset", "href", "data", "action")
        self.fetched += [value or "" for name, value in attrs if name in fetching]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("meta", "img", "link", "source"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def published(tiny: Results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Page]:
    out = tmp_path_factory.mktemp("published") / "out"
    shutil.copytree(tiny.out, out)
    path = publish(replace(tiny, out=out), command="dpbandits run tiny.toml")
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.open == []
    return path, page


def test_the_page_needs_nothing_from_outside(published: tuple[Path, Page]) -> None:
    path, page = published
    assert page.fetched
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.fetched)
    assert len(page.fetched) == 4
    assert not re.search(r"https?://|@import|url\(", path.read_text(encoding="utf-8"))


def test_the_page_answers_its_question_in_a_sentence(
    published: tuple[Path, Page], tiny: Results
) -> None:
    """The first thing after the title, with the numbers in it; what the page is about follows."""
    text, told = " ".join("".join(published[1].words).split()), answers(tiny)
    assert f"A tiny <sweep> & more {told[0]} Just for tests." in text
    assert re.match(r"\w+: privacy cost [\d.]+ ± [\d.]+ in reward at ε = ", told[0])
    assert not re.search(r"[.?!] ", told[0]), "one sentence"
    assert all(answer in text for answer in told)
    summary = compared(tiny, Panel("smoking", 1.0))
    rows = {row["label"]: row for row in summary.iter_rows(named=True)}
    ours, plain = rows["DP-KLUCB"], rows["KLUCB"]
    price = next(answer for answer in told if answer.startswith("smoking: privacy cost "))
    error = rounded(1.96 * float(np.hypot(ours["error"], plain["error"])))
    lost = ours["mean"] - plain["mean"]
    cost = f"{rounded(lost)} ± {error} at ε = 1 ({rounded(lost / 30)} in 100), over 3,000 rounds: "
    assert cost in price
    more = "so much more did DP-KLUCB, which lost least of the private ones, lose than KLUCB, which"
    assert price.endswith(f"{more} lost least of those without privacy.")
    behind = next(answer for answer in told if answer.startswith("smoking, ε = 1: "))
    assert f"DP-KLUCB lost {mean_regret(ours)} in reward, KLUCB {mean_regret(plain)}; " in behind
    lost = 3000 * tiny.config.built["smoking"].gaps.mean()
    assert behind.endswith(f"would lose {rounded(lost)}.")


def test_a_table_in_its_order_names_its_regret_and_has_no_lower_bound(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,0\n" * 30 + "0,1\n" * 30)
    law = 'law = "table"\npath = "t.csv"'
    (tmp_path / "x.toml").write_text(sweep_text("DPKLUCB", "KLUCB", rounds=60, runs=3, law=law))
    results = run_sweep(load_config(tmp_path / "x.toml"), tmp_path / "out", workers=1)
    regret = dict(zip(results.summary["label"], results.summary["mean"], strict=True))
    assert regret["DPKLUCB"] > 5  # equal column means: pseudo-regret would be 0
    assert regret["KLUCB"] < -5  # it follows the winners, which no fixed arm does
    assert results.summary["lower_bound"].null_count() == 2
    page = publish(results, command="dpbandits run x.toml").read_text(encoding="utf-8")
    assert "In two arms, whose rows are played in their order, regret is the realised" in page
    assert "of the best fixed arm in hindsight" in page
    assert answers(results)[1].endswith("would lose 0.00.")


def test_the_page_says_what_was_run(published: tuple[Path, Page], tiny: Results) -> None:
    text = " ".join("".join(published[1].words).split())
    assert "A tiny <sweep> & more" in text  # escaped in the file, or it would not be text
    run = ("dpbandits run tiny.toml", "Simulated noise.", "12 cells", "3,000 rounds", "seed 7")
    trial = ("group counselling", "Hasselblad")  # its arms, and its source
    about = ("Just for tests.", "Hu, Huang and Mehta 2021", "the publication claims 1")
    for part in (*run, *trial, *about, 'class = "HybridUCB"'):
        assert part in text


def test_the_page_holds_every_comparison(published: tuple[Path, Page], tiny: Results) -> None:
    rows = published[1].rows
    for panel in (Panel("linear", 0.5), Panel("smoking", 1.0)):
        for wanted in table_rows(tiny, panel):
            assert any(row[: len(wanted)] == wanted for row in rows)
    heads = [row for row in rows if row[0] == "policy" and "mean regret" in row]
    assert len(heads) == 4
    columns = {"median", "99 %", "99.9 %", "worst", "price of privacy", "lower bound", "releases"}
    assert all({*columns, "ε spent", "guarantee"} <= {*head} for head in heads)


def test_what_is_published_computes_nothing_in_a_spreadsheet(
    tiny: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels are the user's own text. Figures and page are tried elsewhere."""
    monkeypatch.setattr("dpbandits.reports.draw", lambda _: {})
    labels = tiny.summary["label"].to_list()
    summary = tiny.summary.with_columns(label=pl.Series(["=1+1", *labels[1:]]))
    monkeypatch.setattr("dpbandits.reports.write_report", lambda *_, **__: tmp_path)
    out = tmp_path / "out"
    shutil.copytree(tiny.out, out)
    publish(replace(tiny, out=out, summary=summary), command="dpbandits run tiny.toml")
    assert pl.read_csv(out / "summary.csv")["label"].to_list() == ["'=1+1", *labels[1:]]
    assert pl.read_parquet(out / "summary.parquet")["label"][0] == "=1+1"


def test_tables_are_kept_as_files(published: tuple[Path, Page], tiny: Results) -> None:
    out = published[0].parent
    assert pl.read_parquet(out / "summary.parquet")["mean"].equals(tiny.summary["mean"])
    assert pl.read_csv(out / "summary.csv")["label"].equals(tiny.summary["label"])
    curves = pl.read_parquet(out / "curves.parquet")
    names = "label policy environment epsilon rho run round regret releases events"
    assert curves.columns == names.split()
    assert len(curves) == len(tiny.curves)
    stems = ("epsilon-linear", "epsilon-smoking", "regret-linear", "regret-smoking")
    files = {f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")}
    assert {file.name for file in (out / "figures").iterdir()} == files


# What privacy cost: whose price it is, and that there is none without a baseline


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
    """Not that of the luckiest policy, of a preset, of the local one or of one that names."""
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
