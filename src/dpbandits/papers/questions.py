"""What a paper's authors left open, and what is known of it here."""

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

State = Literal["answered", "partly answered", "open"]


class OpenQuestion(BaseModel):
    """question: in the authors' sense. answer: what is proved or measured here, and where; of an
    open one why it stays open.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    question: str
    where: str  # in the paper
    state: State
    answer: str = Field(min_length=20)


class OpenQuestions(BaseModel):
    """A paper's `questions.toml`. authors: the paper as policies name it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    authors: str = ""
    questions: tuple[OpenQuestion, ...] = ()


def load_questions(path: Path) -> OpenQuestions:
    """Empty where there is no such file.

    Raises:
        ValueError: a field is missing or wrong, or two questions share an id; the message names the
        file.
    """
    if not path.exists():
        return OpenQuestions()
    try:
        found = OpenQuestions.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    ids = [question.id for question in found.questions]
    if len(set(ids)) < len(ids):
        raise ValueError(f"{path}: two questions share an id.")
    return found
