"""What the authors left open: data that names pages there are, and the counts made of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from papers.pages import algorithms_of
from papers.paper import OpenQuestions, Paper, load_questions
from tests.papers.test_paper_folders import EVERY
from tests.places import REPOSITORY


@EVERY
def test_every_paper_has_questions_and_algorithms(paper: Paper) -> None:
    found = paper.questions()
    assert found.questions
    assert algorithms_of(found.authors)
    for question in found.questions:
        for page in re.findall(r"(?:proofs|docs|decisions)/[\w/]+\.md", question.answer):
            assert (REPOSITORY / page).is_file(), page
        for number in re.findall(r"decision (\d+)", question.answer):
            assert list((REPOSITORY / "decisions").glob(f"{int(number):04}-*.md")), number


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
