"""What every `[[environments]]` table of a sweep file is."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from dpbandits.datasets import data_folder
from dpbandits.environments import Environment
from dpbandits.oracles import DecisionSet


class Loaded(NamedTuple):
    """arms: their names, where the data has names. source: of real data; empty for a made-up
    setting.

    problem: the super arms that policies play here; None where they play single arms.
    """

    environment: Environment
    arms: tuple[str, ...] = ()
    source: str = ""
    problem: DecisionSet | None = None


def data_file(folder: Path, path: Path) -> Path:
    """A file of the reader's own: beside the sweep file, else in the data folder (`dpbandits data
    list`).
    """
    beside = folder / path
    return beside if beside.exists() else data_folder() / path


class Spec(BaseModel):
    """A table of a sweep file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Setting(Spec):
    """One `[[environments]]` table."""

    name: str = Field(min_length=1)

    @abstractmethod
    def load(self, folder: Path) -> Loaded:
        """The environment; relative paths start at `folder`, where the sweep file lies."""
