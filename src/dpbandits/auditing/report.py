"""What an audit returns: plain data that can be printed, stored as JSON and checked by a
stranger.
"""

import json
import math
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, Literal, final

Outcome = Literal["passed", "not refuted", "failed", "no verdict", "not applicable"]


@final
@dataclass(frozen=True, slots=True)
class LevelResult:
    """One level's verdict.

    level: "transcript", "exact law", "statistical" or "report law" (of a local randomizer).
    outcome: "passed" by a level that is exact; "not refuted" by runs that were counted; "no
        verdict" if the claim is out of their reach, or cannot be kept by such noise; "not
        applicable" if the level has nothing to look at.
    lower_bound: the largest epsilon that this level has certified the subject to leak; inf if no
        epsilon holds; 0 if it certified none.
    attainable: the largest loss that any correct subject of this claim could have shown here (short
        runs show less than the claim); None: the claim.
    error: numerical error of the bound (inf: it may be larger without limit).
    confidence: 1 − the probability that the bound is wrong (1.0: exact).
    evidence: one sentence that says where the worst case is, or why the level does not apply.
    details: further plain data for tables and pictures.
    reach: the largest epsilon that so many runs could have certified, whatever the subject leaks
        (inf for exact levels).
    """

    level: str
    outcome: Outcome
    lower_bound: float = 0.0
    attainable: float | None = None
    error: float = 0.0
    confidence: float = 1.0
    evidence: str = ""
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)
    reach: float = math.inf


@final
@dataclass(frozen=True, slots=True)
class AuditReport:
    """The verdict on one policy, mechanism or foreign object.

    subject: what was audited.
    claim: the epsilon it claims; None if it claims no privacy.
    passed: no level found more than the claim, and an exact one passed (see there).
    lower_bound: the largest epsilon that any level has certified.
    confidence: of all levels together.
    setting: the arguments of the audit: version, seed, budget in seconds or number of runs, arms
        and rounds; and how the subject is made, if it was given by name.
    """

    subject: str
    claim: Fraction | None
    levels: tuple[LevelResult, ...]
    setting: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Literal["passed", "not refuted", "failed", "no verdict"]:
        """ "passed" if an exact level passed, "not refuted" if all levels that looked counted
        runs, or a few decisions only passed of a run that replays say nothing of.
        """
        if self.failed:
            return "failed"
        passing = {level.level for level in self.levels if level.outcome == "passed"}
        if passing and not (passing == {"exact law"} and self.undecided):
            return "passed"
        counted = any(level.outcome == "not refuted" for level in self.levels)
        return "not refuted" if passing or counted else "no verdict"

    @property
    def undecided(self) -> bool:
        """Whether replays of whole runs were asked for, and nothing is sure of them."""
        return any(
            level.level == "transcript" and level.outcome == "not applicable"
            for level in self.levels
        )

    @property
    def passed(self) -> bool:
        """Whether an exact level passed and none failed. Runs in which nothing was found are no
        pass: their verdict is "not refuted"; nor is the exact law of a few decisions alone, where
        replays of whole runs say nothing.
        """
        return self.verdict == "passed"

    @property
    def failed(self) -> bool:
        """Whether some level found more than the claim."""
        return any(level.outcome == "failed" for level in self.levels)

    @property
    def lower_bound(self) -> float:
        return max((level.lower_bound for level in self.levels), default=0.0)

    @property
    def confidence(self) -> float:
        return max(0.0, 1.0 - sum(1.0 - level.confidence for level in self.levels))

    def __str__(self) -> str:
        """A table as plain text."""
        from dpbandits.auditing.report_text import as_text

        return as_text(self)

    def to_json(self) -> str:
        """Everything as JSON; an infinite bound or error is written as the string "inf"."""
        data = {
            "subject": self.subject,
            "claim": None if self.claim is None else str(self.claim),
            "verdict": self.verdict,
            "passed": self.passed,
            "lower_bound": json_number(self.lower_bound),
            "confidence": self.confidence,
            "setting": self.setting,
            "levels": [
                asdict(level)
                | {
                    name: json_number(getattr(level, name))
                    for name in ("lower_bound", "error", "reach")
                }
                for level in self.levels
            ],
        }
        return json.dumps(data, indent=2, ensure_ascii=False)


def json_number(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"
