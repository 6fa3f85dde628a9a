"""What a paper claims of its experiments, read from data, and the verdict that our own runs give on
it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dpbandits.papers.evidence import Evidence
from dpbandits.papers.measures import growth as measures_growth
from dpbandits.papers.measures import returns as measures_returns
from dpbandits.papers.measures import stopping_times
from dpbandits.papers.measures import verdicts as measures
from dpbandits.papers.measures.verdicts import MISS, Check

Word = Literal["reproduced", "differs", "undecided", "not attempted"]

MEASURES: dict[str, Callable[..., list[Check]]] = {
    measure.__name__: measure
    for measure in (
        measures.regret_ratio,
        measures.lowest,
        measures.similar,
        measures.late_share,
        measures.spread_over_epsilon,
        measures.falls_with_epsilon,
        measures_growth.growth,
        measures_growth.follows_rate,
        measures_growth.environment_ratio,
        measures_growth.ratio_growth,
        measures_growth.between_bounds,
        measures_returns.share_of_optimum,
        measures_returns.return_ratio,
        measures_returns.log_rate,
        measures_returns.straight_line,
        stopping_times.halts_right,
        stopping_times.stops_in_time,
        stopping_times.extra_values_slope,
    )
}

UNKNOWN = "No reason is known yet."


class Claim(BaseModel):
    """One statement of a paper. The verdict is no field: it is computed.

    measure, arguments: how it is measured, with its threshold. differs: why, should it differ.
        later: why it is not attempted.
    needs: data of the reader's own, without which it cannot be attempted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    statement: str
    where: str  # in the paper
    measure: str = ""
    arguments: dict[str, Any] = {}
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
