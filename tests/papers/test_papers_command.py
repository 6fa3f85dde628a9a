"""`run_papers` from end to end on a tiny paper."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from dpbandits.sweeps.cells import code_digest
from papers.__main__ import run_papers

SWEEP = """
name = "tiny"
title = "A tiny paper"
rounds = 4000
runs = 6
epsilons = [0.5, 1]
[quick]
rounds = 2000
[[environments]]
name = "easy"
law = "bernoulli"
means = [0.9, 0.1]
[[policies]]
class = "DPKLUCB"
label = "DP-KLUCB"
[[policies]]
class = "AdaPUCB"
label = "AdaP"
"""
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
    panels = [panels_of(results["tiny"])]
    grid = regret_grid(results["tiny"], panels, ends="easy")
    yield Drawing("figure-1", "Figure 1", grid)
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "papers" / "tiny"
    folder.mkdir(parents=True)
    for name, text in (
        ("sweep.toml", SWEEP),
        ("claims.toml", CLAIMS),
        ("figures.py", FIGURES),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(keys: list[str] | None, root: Path, docs: Path | None = None) -> str:
    text = io.StringIO()
    run_papers(
        keys,
        full=False,
        out=root / "out",
        console=Console(file=text, width=160),
        docs=docs,
        folder=root / "papers",
    )
    return text.getvalue()


def test_verdicts_pages_and_figures_are_written(repository: Path) -> None:
    said = run(None, repository, docs=repository / "docs")
    assert "4 cells" in said
    assert "about" in said  # the time is told before the run
    document = json.loads((repository / "out/tiny/verdicts.json").read_text(encoding="utf-8"))
    assert [c["verdict"] for c in document["claims"]] == ["reproduced", "differs", "not attempted"]
    assert document["size"] == "quick"
    for figure in (
        "out/tiny/figures/figure-1.svg",
        "out/tiny/figures/figure-1.png",
        "docs/measured/figures/papers/tiny/figure-1.png",
    ):
        assert 1000 < (repository / figure).stat().st_size < 200_000
    page = (repository / "docs/measured/papers.md").read_text(encoding="utf-8")
    assert all(
        text in page
        for text in (
            "**reproduced**",
            "**differs**",
            "It is not.",
            "More \\| and more.",
            "quick run",
            "figure-1.png",
        )
    )


@pytest.mark.long
def test_second_run_plays_nothing_and_says_the_same(repository: Path) -> None:
    run(None, repository, docs=repository / "docs")
    pages = [
        repository / "out/tiny/verdicts.json",
        repository / "docs/measured/papers.md",
    ]
    first = [page.read_bytes() for page in pages]
    said = run(None, repository, docs=repository / "docs")
    assert "4 are finished already" in said
    assert "pilots" not in said
    assert [page.read_bytes() for page in pages] == first


def test_the_page_holds_this_run_and_nothing_else(repository: Path) -> None:
    """Results of another paper, or of older code, may stand in the folder: the page does not take
    them up.
    """
    stale = repository / "out" / "stale"
    stale.mkdir(parents=True)
    (stale / "verdicts.json").write_text(
        '{"key": "stale", "titles": ["Stale"], "size": "full", "sizes": [], "claims": [], '
        '"figures": []}'
    )
    run(None, repository, docs=repository / "docs")
    page = (repository / "docs/measured/papers.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## tiny: A tiny paper"
    ]
    assert f"Written as a whole by `python -m papers --quick --docs {repository / 'docs'}`" in page
    assert f"code {code_digest()[:12]}" in page


@pytest.mark.long
def test_a_section_is_written_anew_where_there_is_a_page(repository: Path) -> None:
    with pytest.raises(ValueError, match="Expected a page whose sections can be written anew"):
        run(["tiny"], repository, docs=repository / "docs")
    assert not (repository / "out").exists(), "it is said before anything is played"
    run(None, repository, docs=repository / "docs")
    said = run(["tiny"], repository, docs=repository / "docs")
    assert "4 are finished already" in said
    page = (repository / "docs/measured/papers.md").read_text(encoding="utf-8")
    command = f"python -m papers --quick --only tiny --docs {repository / 'docs'}"
    assert page.count(f"Written anew by `{command}`") == 1


@pytest.mark.long
def test_a_page_does_not_depend_on_the_clock(repository: Path) -> None:
    pages = []
    for out in ("once", "again"):
        text = io.StringIO()
        run_papers(
            None,
            full=False,
            out=repository / out,
            console=Console(file=text),
            docs=repository / "docs",
            folder=repository / "papers",
        )
        pages.append((repository / "docs/measured/papers.md").read_bytes())
    assert pages[0] == pages[1]


def test_unknown_paper_is_named_with_the_known_ones(repository: Path) -> None:
    with pytest.raises(ValueError, match="no paper 'nobody2020'; there are tiny"):
        run(["nobody2020"], repository)
