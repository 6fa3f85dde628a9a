"""The tables of verdicts beside the papers' claims, and the pages that are made of them."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from papers.drawing import Drawing
from papers.evidence import Measurement
from papers.measures import Check
from papers.pages import (
    COLUMNS,
    FIGURES,
    OWN_PAGE,
    VERDICTS,
    page_of,
    page_of_paper,
    question_of,
    read_rows,
    row_of,
    store,
    write_rows,
)
from papers.paper import CLAIMS, Claim, Paper, Verdict
from tests.papers.test_paper_folders import EVERY, PAPERS
from tests.places import REPOSITORY

MEASURED = REPOSITORY / "docs" / "measured"


def test_the_committed_pages_are_made_of_the_committed_tables() -> None:
    assert (MEASURED / "papers.md").read_text(encoding="utf-8") == page_of(PAPERS)
    for paper in PAPERS.values():
        page = (paper.folder / OWN_PAGE).read_text(encoding="utf-8")
        assert page == page_of_paper(paper)
        assert page.partition("<details>")[0].count("![") == 1, "one figure before the others fold"


@EVERY
def test_every_verdict_is_of_todays_claim_and_sweeps(paper: Paper) -> None:
    """A row's hash is that of what is asked and of every cell that is played for it."""
    rows = {row["claim"]: row for row in read_rows(paper.folder / VERDICTS)}
    assert {claim.id for claim in paper.claims()} == set(rows)
    cells = {
        full: [cell for config in paper.sweeps(full=full) for cell in config.cells()]
        for full in (False, True)
    }
    for claim in paper.claims():
        row, settings = rows[claim.id], {cell.setting for cell in cells[True]}
        assert row["of"] == claim.of
        if claim.needs and not claim.environments <= settings:
            continue  # the reader's own data is not here
        full = row["size"] != "quick"
        assert row["question"] == question_of(claim, cells[full], full=full), claim.id
        if claim.measure:
            hold, fail, looks = (int(row[name]) for name in ("hold", "fail", "comparisons"))
            right = "reproduced" if hold == looks else "differs" if fail else "undecided"
            assert row["verdict"] == right, claim.id


@EVERY
def test_the_page_has_every_figure_that_is_listed(paper: Paper) -> None:
    listed = {f"{row['figure']}.png" for row in read_rows(paper.folder / FIGURES)}
    there = {path.name for path in (MEASURED / "figures" / "papers" / paper.key).iterdir()}
    assert listed == there


CLAIM = """
[[claims]]
id = "{name}"
statement = "{name} is | best."
where = "Figure 1"
of = "{of}"
measure = "lowest"
arguments = {{ label = "A", others = ["B"] }}
differs = "It is not."
"""


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    claims = [("first", "paper"), ("second", "paper"), ("third", "ours")]
    text = "".join(CLAIM.format(name=name, of=of) for name, of in claims)
    (tmp_path / CLAIMS).write_text(text, encoding="utf-8")
    return Paper(tmp_path)


def judged(claim: Claim, value: float) -> dict[str, str]:
    check = Check("A / B", Measurement(value, 0.0, 9, log=False), at_least=1.0)
    word = "reproduced" if check.holds else "differs"
    verdict = Verdict(claim, word, checks=(check,))
    return row_of(verdict, [], full=True, size="full")


def test_a_partial_run_renews_its_own_rows(paper: Paper) -> None:
    first, second, third = paper.claims()
    old = [judged(second, 2.0), judged(first, 2.0), judged(third, 2.0)]
    store(paper.folder, [first, second, third], old, [], [], "all")
    shown = [Drawing("one", "Of one", Figure()), Drawing("two", "Of two", Figure(), shown=False)]
    store(paper.folder, [first, second, third], [judged(second, 0.5)], shown, [], "some")
    rows = read_rows(paper.folder / VERDICTS)
    assert [row["claim"] for row in rows] == ["first", "second", "third"]
    assert [row["verdict"] for row in rows] == ["reproduced", "differs", "reproduced"]
    assert [row["value"] for row in rows] == ["2", "0.5", "2"]
    of_one = {"figure": "one", "caption": "Of one", "lines": ""}
    assert read_rows(paper.folder / FIGURES) == [of_one]
    # a claim that is taken out takes its row along
    store(paper.folder, [first, third], [], [], [], "less")
    assert [row["claim"] for row in read_rows(paper.folder / VERDICTS)] == ["first", "third"]


def test_kinds_of_claims_are_counted_apart(paper: Paper) -> None:
    first, second, third = paper.claims()
    rows = [judged(first, 2.0), judged(second, 0.5), judged(third, 2.0)]
    write_rows(paper.folder / VERDICTS, "x", COLUMNS, rows)
    page = page_of({"tiny": paper})
    assert "Of 2 claims of the papers themselves 1 are reproduced, 1 differ" in page
    assert "| all | | | 1/1/0/0 | 0/0/0/0 | 1/0/0/0 | |" in page
    own = page_of_paper(paper)
    assert "second is \\| best<br>*It is not.* | **differs** | 0.5 | ≥ 1\n" in own
    assert "third is" not in own
