"""One paper's section of the page written anew: made-up results, and the page that there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from papers.pages import (
    HEAD,
    count_cells,
    overview_rows,
    renew_docs,
    renewed_page,
    row_counts,
    section,
    sections_of,
    write_docs,
)
from tests.places import REPOSITORY

VERDICTS = ("reproduced", "differs", "undecided", "not attempted")
PAGE = REPOSITORY / "docs" / "measured" / "papers.md"


def made_up(key: str, *verdicts: str, questions: tuple[str, ...] = ()) -> dict[str, Any]:
    """A paper's document, with a claim for each verdict."""
    claim = {"statement": f"{key} is | best.", "where": "Figure 1", "note": ""}
    found = {"measured": "1.5", "worst": "", "reason": ""}
    asked = {"question": "Why?", "where": "Section 9", "answer": "Nobody knows."}
    return {
        "key": key,
        "titles": [f"A paper: {key}"],
        "size": "full",
        "version": "0.2.0",
        "day": "2026-11-24",
        "seconds": 1.0,
        "sizes": [("DPKLUCB", 1000, 10)],
        "claims": [claim | found | {"verdict": word} for word in verdicts],
        "figures": [{"name": "one", "caption": f"Of {key}"}],
        "tables": [],
        "authors": f"{key.title()} and others",
        "algorithms": [{"name": "A", "bound": "constants"}, {"name": "B", "bound": "none"}],
        "questions": [asked | {"state": state} for state in questions],
    }


OLD = [
    made_up("b2020", "reproduced", "reproduced", questions=("open",)),
    made_up("d2022", "differs", questions=("answered", "open")),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Results, papers, and a page of two of them."""
    for key in ("a2019", "b2020", "c2021", "d2022"):
        (tmp_path / "out" / key / "figures").mkdir(parents=True)
        (tmp_path / "out" / key / "figures" / "one.png").write_bytes(f"old {key}".encode())
    write(tmp_path, OLD, write_docs, "all")
    return tmp_path


def write(root: Path, documents: list[dict[str, Any]], how: Any, command: str) -> str:
    path: Path = how(root / "docs", root / "out", documents, command)
    return path.read_text(encoding="utf-8")


def test_one_section_is_new_and_the_others_are_as_they_were(root: Path) -> None:
    before = (root / "docs/measured/papers.md").read_text(encoding="utf-8")
    for key in ("b2020", "d2022"):
        (root / "out" / key / "figures" / "one.png").write_bytes(f"new {key}".encode())
    new = made_up("d2022", *VERDICTS, questions=("partly answered",))
    after = write(root, [new], renew_docs, "one alone")
    (head, old), (new_head, sections) = sections_of(before), sections_of(after)
    assert list(sections) == ["b2020", "d2022"]
    assert sections["b2020"] == old["b2020"]
    assert "Written anew by `one alone` (version " in sections["d2022"]
    assert "Written anew" not in sections["b2020"]
    assert sections["d2022"].count("is \\| best.") == 4
    kept = [line for line in head.splitlines() if not line.startswith(("| d2022", "| all"))]
    assert set(kept) < set(new_head.splitlines())
    assert "Written as a whole by `all`" in new_head
    figures = root / "docs/measured/figures/papers"
    assert (figures / "b2020/one.png").read_bytes() == b"old b2020"
    assert (figures / "d2022/one.png").read_bytes() == b"new d2022"


def test_a_heading_is_short_whatever_was_played() -> None:
    """Titles of all sweeps made headings of twelve lines on a phone."""
    new = made_up("d2022") | {"titles": ["One sweep", "another"]}
    first, _, titles = section(new, "figures/").splitlines()[:3]
    assert (first, titles) == ("## d2022: D2022 and others", "Sweeps: One sweep; another.")
    _, sections = sections_of(PAGE.read_text(encoding="utf-8"))
    assert max(len(text.splitlines()[0]) for text in sections.values()) < 80


def test_the_table_is_that_of_a_whole_page(root: Path) -> None:
    new = made_up("d2022", *VERDICTS, questions=("partly answered",))
    parts = write(root, [new], renew_docs, "x")
    whole = write(root, [OLD[0], new], write_docs, "all")
    assert sections_of(parts)[0] == sections_of(whole)[0]


@pytest.mark.parametrize(("key", "place"), [("a2019", 0), ("c2021", 1)])
def test_a_new_paper_gets_its_place(root: Path, key: str, place: int) -> None:
    head, sections = sections_of(write(root, [made_up(key)], renew_docs, "x"))
    assert list(sections) == sorted([key, "b2020", "d2022"])
    rows = [line for line in head.splitlines() if line.startswith("| ")]
    assert rows[1 + place].startswith(f"| {key}: ")
    assert rows[-1] == "| all | 6 | 3 of 6 with constants, 0 as orders | 3 | " + (
        "3: 2 reproduced, 1 differ | 3: 1 answered, 2 open |"
    )


def test_written_again_it_is_the_same(root: Path) -> None:
    once = write(root, OLD[1:], renew_docs, "x")
    assert write(root, OLD[1:], renew_docs, "x") == once
    assert write(root, OLD, write_docs, "all") != once


@pytest.mark.parametrize("change", ["row", "section", "table"])
def test_a_page_that_was_changed_by_hand_is_refused(root: Path, change: str) -> None:
    page = root / "docs/measured/papers.md"
    text = page.read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| b2020"))
    wrong = {
        "row": text.replace(row + "\n", ""),
        "section": text.replace("## d2022: ", "### d2022: "),
        "table": text.replace("| paper |", "| papers |"),
    }[change]
    assert wrong != text
    page.write_text(wrong, encoding="utf-8")
    (root / "out/d2022/figures/one.png").write_bytes(b"new")
    with pytest.raises(ValueError, match="Nothing was written"):
        write(root, OLD[1:], renew_docs, "x")
    assert page.read_text(encoding="utf-8") == wrong
    assert (root / "docs/measured/figures/papers/d2022/one.png").read_bytes() == b"old d2022"


def test_rows_are_read_as_they_are_written() -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, sections = sections_of(text)
    rows = [line for line in head.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(sections) + 1
    for row in rows:
        name = row.split(" | ")[0]
        assert f"{name} | {count_cells(row_counts(row))} |" == row


def test_our_own_page_can_be_written_anew() -> None:
    """With the rows and sections that it has, it is what it is."""
    text = PAGE.read_text(encoding="utf-8")
    assert renewed_page(text, {}, {}) == text
    new = made_up("lazy2021", "reproduced")
    after = renewed_page(text, {"lazy2021": section(new, "")}, overview_rows([new]))
    assert sections_of(after)[1] == sections_of(text)[1] | {"lazy2021": section(new, "")}
    assert HEAD.splitlines()[0] == text.splitlines()[0]
