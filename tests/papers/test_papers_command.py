"""`run_papers` from end to end on a tiny paper."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dpbandits.sweeps.cells import code_digest
from papers.__main__ import run_papers
from papers.pages import read_rows
from tests.sweeps.texts import sweep_text

SWEEP = sweep_text(
    'DPKLUCB\nlabel = "DP-KLUCB"',
    'AdaPUCB\nlabel = "AdaP"',
    rounds=4000,
    runs=6,
    means="0.9, 0.1",
    head="epsilons = [0.5, 1]\n[quick]\nrounds = 2000",
    name="tiny",
)
CLAIMS = """
[[claims]]
id = "klucb-lowest"
statement = "DP-KLUCB is better."
where = "Figure 1"
measure = "lowest"
arguments = { label = "DP-KLUCB", others = ["AdaP"] }
[[claims]]
id = "adap-lowest"
statement = "AdaP-UCB is better."
where = "Figure 1"
measure = "lowest"
differs = "It is not."
arguments = { label = "AdaP", others = ["DP-KLUCB"] }
[[claims]]
id = "other"
statement = "More | and more."
where = "Section 9"
later = "later release: more"
"""
FIGURES = """
from papers.drawing import Drawing, regret_grid
from dpbandits.plots import panels_of
def drawings(results):
    if "tiny" in results:
        panels = [panels_of(results["tiny"])]
        grid = regret_grid(results["tiny"], panels, ends="two arms")
        yield Drawing("figure-1", "Figure 1", grid)
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "papers" / "tiny"
    folder.mkdir(parents=True)
    for name, text in (("sweep.toml", SWEEP), ("claims.toml", CLAIMS), ("figures.py", FIGURES)):
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(keys: list[str] | None, root: Path, **only: list[str]) -> str:
    text = io.StringIO()
    how: dict[str, Any] = {"out": root / "out", "docs": root / "docs", "folder": root / "papers"}
    run_papers(keys, full=False, console=Console(file=text, width=160), **how, **only)
    return text.getvalue()


def test_tables_page_and_figures_are_written(repository: Path) -> None:
    said = run(None, repository)
    assert "4 cells" in said
    assert "about" in said  # the time is told before the run
    assert "DP-KLUCB is better." in said  # statements, not ids
    assert "docs/measured/papers.md" in said
    rows = read_rows(repository / "papers/tiny/verdicts.csv")
    assert [row["verdict"] for row in rows] == ["reproduced", "differs", "not attempted"]
    assert [row["size"] for row in rows] == ["quick", "quick", ""]
    assert rows[0]["code"] == code_digest()[:12]
    shown = "docs/measured/figures/papers/tiny/figure-1.png"
    for figure in ("out/tiny/figures/figure-1.svg", shown):
        assert 1000 < (repository / figure).stat().st_size < 200_000
    page = (repository / "papers/tiny/README.md").read_text(encoding="utf-8")
    for text in ("**reproduced** (quick)", "**differs**", "It is not.", "figure-1.png"):
        assert text in page


@pytest.mark.long
def test_a_second_run_plays_nothing_and_says_the_same(repository: Path) -> None:
    run(None, repository)
    files = [repository / f"papers/tiny/{name}" for name in ("verdicts.csv", "README.md")]
    first = [file.read_bytes() for file in files]
    said = run(["tiny"], repository)
    assert "4 are finished already" in said
    assert "pilots" not in said
    for file, text in zip(files, first, strict=True):
        assert file.read_bytes().splitlines()[1:] == text.splitlines()[1:]


def test_a_sweep_alone_asks_what_it_suffices_for(repository: Path) -> None:
    other = SWEEP.replace('"tiny"', '"other"').replace('label = "AdaP"', 'label = "AdaP, other"')
    other = other.replace('"DP-KLUCB"', '"DP-KLUCB, other"').replace('"two arms"', '"harder"')
    folder = repository / "papers/tiny"
    (folder / "other.toml").write_text(other, encoding="utf-8")
    claims = CLAIMS.split("[[claims]]")
    third = claims[1].replace("klucb-lowest", "third").replace('"DP-KLUCB"', '"DP-KLUCB, other"')
    third = third.replace('"AdaP"', '"AdaP, other"')
    (folder / "claims.toml").write_text("[[claims]]".join([*claims[:3], third]), encoding="utf-8")
    run(["tiny"], repository, sweeps=["other"])
    assert [row["claim"] for row in read_rows(folder / "verdicts.csv")] == ["third"]


def test_a_claim_alone_plays_the_policies_that_it_is_about(repository: Path) -> None:
    folder = repository / "papers/tiny"
    alone = CLAIMS + (
        '[[claims]]\nid = "flat"\nstatement = "DP-KLUCB is flat."\nwhere = "Figure 1"\n'
        'measure = "late_share"\n'
        'arguments = { label = "DP-KLUCB", last = 0.5, at_most = 1 }\n'
    )
    (folder / "claims.toml").write_text(alone, encoding="utf-8")
    said = run(["tiny"], repository, claims=["flat", "other"])
    assert "2 cells" in said
    assert [row["claim"] for row in read_rows(folder / "verdicts.csv")] == ["other", "flat"]
    assert not (repository / "docs/measured/figures/papers/tiny/figure-1.png").exists()
    assert "0 cells" in run(["tiny"], repository, claims=["other"])


def test_what_there_is_not_is_named(repository: Path) -> None:
    for keys, only, said in (
        ("nobody2020", {}, "no paper 'nobody2020'; there are tiny"),
        ("tiny", {"sweeps": ["nothing"]}, "no sweep nothing"),
        ("tiny", {"claims": ["klucb-lowest", "nothing"]}, "no claim nothing in tiny"),
    ):
        with pytest.raises(ValueError, match=said):
            run([keys], repository, **only)
