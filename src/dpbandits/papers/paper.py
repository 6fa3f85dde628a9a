"""A paper's folder: sweeps and claims as data, the code that draws its figures, and the verdict
that our own runs give on a claim.
"""

import importlib.util
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dpbandits.core.errors import MissingDataError
from dpbandits.figures.grids import Drawing
from dpbandits.papers.evidence import Evidence
from dpbandits.papers.measures import MEASURES
from dpbandits.papers.measures.verdicts import MISS, Check
from dpbandits.papers.questions import OpenQuestions, load_questions
from dpbandits.papers.tables import PageTable
from dpbandits.sweeps.config import Config, Quick, load_config
from dpbandits.sweeps.results import Results

Word = Literal["reproduced", "differs", "undecided", "not attempted"]

UNKNOWN = "No reason is known yet."


class Claim(BaseModel):
    """One statement of a paper. The verdict is no field: it is computed.

    measure, arguments: how it is measured, with its threshold. quick: arguments that are others at
        quick sizes.
    differs: why, should it differ. later: why it is not attempted.
    needs: data of the reader's own, without which it cannot be attempted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    statement: str
    where: str  # in the paper
    measure: str = ""
    arguments: dict[str, Any] = {}
    quick: dict[str, Any] = {}
    note: str = ""  # how a vague word of the statement was made a number
    differs: str = ""
    later: str = ""
    needs: str = ""

    @model_validator(mode="after")
    def _measured_or_later(self) -> Self:
        if bool(self.measure) == bool(self.later):
            raise ValueError(f"claim {self.id}: expected either measure (and arguments) or later")
        if self.measure and self.measure not in MEASURES:
            raise ValueError(
                f"claim {self.id}: there is no measure {self.measure!r}; there are "
                f"{', '.join(MEASURES)}"
            )
        return self

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
    def worst(self) -> str:
        """The number that is worst for the claim, with its interval."""
        if not self.checks:
            return ""
        worst = min(self.checks, key=lambda check: check.margin)
        low, high = worst.estimate.interval(MISS)
        return f"worst: {worst.estimate.value:.3g} [{low:.3g}, {high:.3g}], {worst.what}"


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
QUESTIONS = "questions.toml"


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
        others = {CLAIMS, QUESTIONS}
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


def find_papers() -> Path | None:
    """The `papers` folder of the current directory, else that of the repository this package was
    installed from.
    """
    import dpbandits

    repository = Path(dpbandits.__file__).resolve().parents[2]
    for place in (Path.cwd() / "papers", repository / "papers"):
        if any(place.glob(f"*/{CLAIMS}")):
            return place
    return None


def papers_in(folder: Path) -> dict[str, Paper]:
    """Every paper by key."""
    return {path.parent.name: Paper(path.parent) for path in sorted(folder.glob(f"*/{CLAIMS}"))}
