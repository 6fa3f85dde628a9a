"""A paper's folder: sweeps, claims and open questions as data, the code that draws its figures, and
the verdict that our own runs give on a claim.
"""

import importlib.util
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from dpbandits.core.errors import MissingDataError
from dpbandits.core.privacy import printed_epsilon
from dpbandits.plots import Panel
from dpbandits.policies.contract import problem_of
from dpbandits.sweeps.config import Config, Quick, load_config
from dpbandits.sweeps.laws import Loaded
from dpbandits.sweeps.results import Results
from papers.drawing import Drawing
from papers.evidence import Evidence
from papers.measures import MEASURES, Check, last_bases

# Tables of a paper's section beside its figures.


class PageTable(NamedTuple):
    """name: of its file. caption: what it shows. columns: names. rows: as many cells as columns."""

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


# What a paper's authors left open, and what is known of it here.


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


# A paper's folder: sweeps and claims as data, the code that draws its figures, and the verdict
# that our own runs give on a claim.


Word = Literal["reproduced", "differs", "undecided", "not asked", "not attempted"]

UNKNOWN = "No reason is known yet."
LABELS = ("over", "under", "label", "labels", "others", "one", "other", "without")
"""Arguments of measures that name policies."""


class Claim(BaseModel):
    """One statement of a paper. The verdict is no field: it is computed.

    of: whose it is. "paper": the paper says it, of its own algorithms. "closer": it asks more than
        the paper says, or of a corrected form. "ours": it is about a policy or a number of ours.
    short: the statement in a few words, for the page; by default the statement.
    measure, arguments: how it is measured, with its threshold. quick: arguments that are others at
        quick sizes.
    differs: why, should it differ. later: why it is not attempted. unasked:
        why runs cannot answer it.
    needs: data of the reader's own, without which it cannot be attempted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    statement: str
    where: str  # in the paper
    of: Literal["paper", "closer", "ours"] = "paper"
    short: str = ""
    measure: str = ""
    arguments: dict[str, Any] = {}
    quick: dict[str, Any] = {}
    note: str = ""  # how a vague word of the statement was made a number
    differs: str = ""
    later: str = ""
    unasked: str = ""
    needs: str = ""

    @model_validator(mode="after")
    def _measured_or_later(self) -> Self:
        if sum(map(bool, (self.measure, self.later, self.unasked))) != 1:
            raise ValueError(
                f"claim {self.id}: expected one of measure (and arguments), later and unasked"
            )
        if self.measure and self.measure not in MEASURES:
            raise ValueError(
                f"claim {self.id}: there is no measure {self.measure!r}; there are "
                f"{', '.join(MEASURES)}"
            )
        return self

    @property
    def labels(self) -> set[str]:
        """The policies that it compares; none where the measure plays what it needs itself."""
        given = [self.arguments[key] for key in LABELS if key in self.arguments]
        return {each for value in given for each in ([value] if isinstance(value, str) else value)}

    @property
    def environments(self) -> set[str]:
        """The environments that it names; none where it is about all."""
        return {*self.arguments.get("environments", ()), *self.arguments.get("against", ())}

    def sized(self, *, full: bool) -> Self:
        """The claim as it is asked at the paper's own size, or smaller."""
        if full:
            return self
        return self.model_copy(update={"arguments": self.arguments | self.quick})


@dataclass(frozen=True)
class Verdict:
    """What came out. measured: the range of the numbers and how many hold. checks: each number
    beside its threshold.
    """

    claim: Claim
    word: Word
    measured: str = ""
    reason: str = ""
    checks: tuple[Check, ...] = ()

    @property
    def worst(self) -> Check | None:
        """The comparison that is worst for the claim."""
        return min(self.checks, key=lambda check: check.margin, default=None)


def load_claims(path: Path) -> list[Claim]:
    """The `[[claims]]` of a file.

    Raises:
        ValueError: a field is missing or wrong, or two claims share an id; the message names the
        file and the claim.
    """
    try:
        claims = [
            Claim.model_validate(table)
            for table in tomllib.loads(path.read_text(encoding="utf-8")).get("claims", [])
        ]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    ids = [claim.id for claim in claims]
    for name in ids:
        if ids.count(name) > 1:
            raise ValueError(f"{path}: the id {name!r} occurs twice.")
    return claims


def judge(claim: Claim, evidence: Evidence) -> Verdict:
    """Reproduced: every check holds. Differs: some check fails. Undecided: an interval lies across
    its threshold.
    """
    if claim.later:
        return Verdict(claim, "not attempted", reason=claim.later)
    if claim.unasked:
        return Verdict(claim, "not asked", reason=claim.unasked)
    try:
        checks = tuple(MEASURES[claim.measure](evidence, **claim.arguments))
    except LookupError:
        if not claim.needs:
            raise
        return Verdict(claim, "not attempted", reason=f"It needs {claim.needs}")
    if not checks:
        raise ValueError(
            f"Claim {claim.id}: {claim.measure} found nothing to compare; check its arguments."
        )
    failing = sum(check.fails(len(checks)) for check in checks)
    holding = sum(check.holds for check in checks)
    measured = counts_text(checks, holding, failing)
    if failing:
        return Verdict(claim, "differs", measured, claim.differs or UNKNOWN, checks)
    if holding < len(checks):
        return Verdict(
            claim,
            "undecided",
            measured,
            "Too few runs to tell: some intervals lie across the threshold.",
            checks,
        )
    return Verdict(claim, "reproduced", measured, "", checks)


def counts_text(checks: Sequence[Check], holding: int, failing: int) -> str:
    """The range of what was measured, and what became of the comparisons."""
    values = [check.estimate.value for check in checks]
    open_ = len(checks) - holding - failing
    counts = (
        f"{holding} of {len(checks)} hold"
        + f", {failing} fail" * bool(failing)
        + f", {open_} open" * bool(open_)
    )
    asked = min(checks, key=lambda check: check.margin).asked
    return f"{min(values):.3g} to {max(values):.3g}, asked {asked}; {counts}"


SWEEP, CLAIMS, FIGURES, OWN_DATA = "sweep.toml", "claims.toml", "figures.py", "own_data"
QUESTIONS, SUMMARY = "questions.toml", "summary.toml"


@dataclass(frozen=True)
class Paper:
    """key: the folder's name."""

    folder: Path

    @property
    def key(self) -> str:
        return self.folder.name

    def claims(self) -> list[Claim]:
        return load_claims(self.folder / CLAIMS)

    def questions(self) -> OpenQuestions:
        return load_questions(self.folder / QUESTIONS)

    def sweeps(self, *, full: bool) -> list[Config]:
        """Every sweep in the folder, `sweep.toml` first, at the paper's own size or smaller.

        Those in `own_data` are left out where their data is missing: it may not be shipped.
        """
        others = {CLAIMS, QUESTIONS, SUMMARY}
        files = [path for path in self.folder.glob("*.toml") if path.name not in others]
        files.sort(key=lambda path: (path.name != SWEEP, path.name))
        configs = [load_config(path) for path in files]
        for path in sorted(self.folder.glob(f"{OWN_DATA}/*.toml")):
            with suppress(MissingDataError):
                configs.append(load_config(path))
        return configs if full else [quickened(config) for config in configs]

    def drawings(self, results: Mapping[str, Results]) -> Iterable[Drawing]:
        """What the folder's `figures.py` makes of the results, by the sweeps' names."""
        drawings: Iterable[Drawing] = load_module(
            self.folder / FIGURES, f"dpbandits_paper_{self.key}"
        ).drawings(results)
        return drawings

    def tables(self, results: Mapping[str, Results]) -> list[PageTable]:
        """What `tables(results)` of the same file says, where there is one."""
        module = load_module(self.folder / FIGURES, f"dpbandits_paper_{self.key}")
        return list(module.tables(results)) if hasattr(module, "tables") else []


def quickened(config: Config) -> Config:
    """The sweep's `[quick]` size (without one, the sweep as it is); a policy whose runs cost no
    time keeps them all.
    """
    small = config.quickened() if config.quick != Quick() else config
    entries = [
        less
        if entry.kind.about.every_round
        else less.model_copy(update={"runs": entry.runs or config.runs})
        for entry, less in zip(config.policies, small.policies, strict=True)
    ]
    return small.model_copy(update={"policies": entries})


def load_module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path}: this cannot be loaded as Python code.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def papers_in(folder: Path) -> dict[str, Paper]:
    """Every paper by key."""
    return {path.parent.name: Paper(path.parent) for path in sorted(folder.glob(f"*/{CLAIMS}"))}


# What policies on a matroid recommend at the end: table 3 of the matroid paper.


BEST = "best set"


def recommended_films(results: Results, panel: Panel, labels: Sequence[str]) -> Iterator[PageTable]:
    """Two tables: the best set's films with those that each policy's last basis shares with it, and
    how many films of each set have each genre.

    Each policy is played once, as in the paper, for as long as in the sweep.

    Raises:
        LookupError: a label was not played in the panel.
    """
    loaded = results.config.loaded[panel.environment]
    assert loaded.problem is not None
    assert panel.epsilon is not None
    best = frozenset(loaded.problem.best(loaded.environment.means))
    sets = {BEST: best} | {label: last_of(results, panel, label) for label in labels}
    rounds = max(cell.rounds for cell in results.cells if cell.setting == panel.environment)
    yield PageTable(
        "table-3",
        f"Table 3: the best set of {len(best)} films with the share of users who rated each, and "
        f"which of them are in the basis that a policy plays in round {rounds:,}, in one run at "
        f"ε = {printed_epsilon(panel.epsilon)}. {loaded.source}",
        ["film", "share", "genres", *sets],
        film_rows(loaded, sets),
    )
    yield PageTable(
        "table-3-genres",
        "The same sets: how many of their films have each genre",
        ["genre", *sets],
        genre_rows(loaded, sets),
    )


def last_of(results: Results, panel: Panel, label: str) -> frozenset[int]:
    """The arms of the basis that the policy plays in its last round, in one run."""
    for cell in results.cells:
        if (cell.label, cell.setting, cell.epsilon) == (label, panel.environment, panel.epsilon):
            assert problem_of(cell.policy) is not None
            last = last_bases(cell.policy, cell.environment, cell.rounds, runs=1)
            return frozenset(np.flatnonzero(last[0]).tolist())
    raise LookupError(
        f"Expected {label!r} to be played in {panel.title}; it was not. Labels are "
        f"{', '.join(sorted({cell.label for cell in results.cells}))}."
    )


def film_rows(loaded: Loaded, sets: dict[str, frozenset[int]]) -> list[list[str]]:
    """A row for each film of the best set, the most rated first, and one for those outside it."""
    means = loaded.environment.means
    rows = [
        [
            loaded.arms[film],
            f"{means[film]:.3f}",
            ", ".join(loaded.kinds[film]),
            *("yes" if film in chosen else "" for chosen in sets.values()),
        ]
        for film in sorted(sets[BEST], key=lambda film: (-means[film], film))
    ]
    outside = [str(len(chosen - sets[BEST])) for chosen in sets.values()]
    return [*rows, ["films outside it", "", "", *outside]]


def genre_rows(loaded: Loaded, sets: dict[str, frozenset[int]]) -> list[list[str]]:
    genres = sorted({genre for kinds in loaded.kinds for genre in kinds})
    return [
        [genre, *(str(sum(genre in loaded.kinds[f] for f in films)) for films in sets.values())]
        for genre in genres
    ]
