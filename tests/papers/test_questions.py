"""What the authors left open: data that names pages there are, and the counts made of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from papers.pages import about_paper, left_open, overview
from papers.paper import OpenQuestions, load_questions, papers_in
from tests.places import REPOSITORY

FOLDER = REPOSITORY / "papers"
PAPERS = papers_in(FOLDER)


@pytest.mark.parametrize("key", PAPERS)
def test_every_paper_has_questions_and_algorithms(key: str) -> None:
    found = PAPERS[key].questions()
    assert found.questions
    assert about_paper(found)["algorithms"], found.authors
    for question in found.questions:
        for page in re.findall(r"(?:proofs|docs)/[\w/]+\.md", question.answer):
            assert (REPOSITORY / page).is_file(), page
        for number in re.findall(r"decision (\d{4})", question.answer):
            assert list((REPOSITORY / "decisions").glob(f"{number}-*.md")), number


def test_the_table_counts_what_the_documents_hold() -> None:
    document = about_paper(PAPERS["dpse2019"].questions()) | {
        "key": "dpse2019",
        "figures": [{"name": "one"}],
        "claims": [{"verdict": "reproduced"}, {"verdict": "differs"}, {"verdict": "reproduced"}],
    }
    none = about_paper(OpenQuestions()) | {"key": "new", "figures": [], "claims": []}
    rows = overview([document, none]).splitlines()
    assert [line.count("|") for line in rows[-4:]] == [7, 7, 7, 7]
    assert rows[-3].startswith(
        "| dpse2019: Sajed and Sheffet 2019 | 4 | 2 of 2 with constants, 0 as orders | 1 | "
        "3: 2 reproduced, 1 differ | 5: "
    )
    assert rows[-2] == "| new | 0 | 0 of 0 with constants, 0 as orders | 0 | 0 | 0 |"
    assert rows[-1] == rows[-3].replace("dpse2019: Sajed and Sheffet 2019", "all")
    assert sum(line.startswith("* **") for line in left_open(document)) == 5
    assert left_open(none) == []


def test_mistakes_in_the_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.toml"
    assert load_questions(path) == OpenQuestions()
    one = (
        '[[questions]]\nid = "a"\nquestion = "Why?"\nwhere = "Section 1"\nstate = "open"\n'
        'answer = "Nobody knows that here."\n'
    )
    path.write_text(one + one, encoding="utf-8")
    with pytest.raises(ValueError, match="share an id"):
        load_questions(path)
    path.write_text(one.replace('"open"', '"perhaps"'), encoding="utf-8")
    with pytest.raises(ValueError, match=r"questions\.toml"):
        load_questions(path)
