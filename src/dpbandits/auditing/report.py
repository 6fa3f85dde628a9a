"""What an audit returns: plain data that can be printed, stored as JSON and checked by a third
party.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from typing import Any, Literal, NamedTuple, final

from dpbandits.auditing.evidence import certified, certified_rho, curve, reach, read, rho_reach
from dpbandits.core.privacy import printed

# What an audit returns: plain data that can be printed, stored as JSON and checked by a
# stranger.


Outcome = Literal["passed", "not refuted", "failed", "no verdict", "not applicable"]


@final
@dataclass(frozen=True, slots=True)
class LevelResult:
    """One level's verdict.

    level: "transcript", "statistical" or "randomised response" (of a local randomizer).
    outcome: "passed" by a level that is exact; "not refuted" by runs that were counted; "no
        verdict" if the claim is out of their reach, or cannot be kept by such noise; "not
        applicable" if the level has nothing to look at.
    lower_bound: the largest epsilon that this level has certified the subject to leak; inf if no
        epsilon holds; 0 if it certified none.
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
    error: float = 0.0
    confidence: float = 1.0
    evidence: str = ""
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)
    reach: float = math.inf


@final
@dataclass(frozen=True, slots=True)
class AuditReport:
    """The verdict on one policy, mechanism or third-party object.

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
        runs.
        """
        outcomes = {level.outcome for level in self.levels}
        for outcome in ("failed", "passed", "not refuted"):
            if outcome in outcomes:
                return outcome
        return "no verdict"

    @property
    def passed(self) -> bool:
        """Whether an exact level passed and none failed. Runs in which nothing was found are no
        pass: their verdict is "not refuted".
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


# A report as text: the sentences that a reader may quote, and a table.


FOUR_DIGITS = Context(prec=4, rounding=ROUND_FLOOR)
FLOAT_ERROR = 1e-12
"""The relative error of floats: .9999999999999 stands for 1."""


def figure_of(value: float) -> str:
    """A number with four digits, rounded down: a value is at least what is printed."""
    if not math.isfinite(value):
        return "∞ (no ε holds)"
    return f"{float(FOUR_DIGITS.create_decimal_from_float(value * (1 + FLOAT_ERROR))):.4g}"


def surely(confidence: float) -> str:
    """A confidence: exact, or one minus a power of ten."""
    return "exact" if confidence == 1.0 else f"1 − {1 - confidence:.0e}"


def heading(report: AuditReport) -> str:
    claim = "no claim of an ε" if report.claim is None else f"claims ε = {printed(report.claim)}"
    if report.setting.get("rho"):
        claim = f"claims ρ = {report.setting['rho']} (zCDP)"
    claim += f", δ = {report.setting['delta']:g}" if report.setting.get("delta") else ""
    warned = " (warning: noise of its own)" if warnings(report) else ""
    return f"{report.subject}: {claim}{warned}"


def conclusion(report: AuditReport) -> str:
    """The sentences that a reader may quote: the verdict, what is certain, and how much was looked
    at.
    """
    failed = [level for level in report.levels if level.outcome == "failed"]
    leak = (
        f"a privacy loss of at least ε = {figure_of(report.lower_bound)} is certified (confidence "
        f"{surely(report.confidence)})"
    )
    rho = max((float(level.details.get("rho", 0.0)) for level in report.levels), default=0.0)
    if not report.lower_bound:
        leak = f"at least ρ = {figure_of(rho)} is certified" if rho else "no leak is certified"
    if failed:
        verdict = f"FAILED at {' and '.join(level.level for level in failed)}: {leak}."
        if not rho and report.lower_bound <= (report.claim or 0):  # that alone refutes nothing
            verdict += (
                f" What refutes the claim is no figure of ε: {failed[0].evidence.rstrip('.')}."
            )
    elif report.verdict == "passed":
        verdict = f"Passed: no level found more than the claim; {leak}."
    elif report.verdict == "not refuted":
        verdict = f"Not refuted: no event was found that shows more than the claim; {leak}."
    elif report.claim is None and not report.setting.get("rho"):
        verdict = f"Nothing to hold it to; {leak}."
    elif undecided := [level for level in report.levels if level.outcome == "no verdict"]:
        verdict = (
            "No verdict: "
            f"{undecided[0].details.get('why', 'the claim is out of reach of so few runs')}; "
            f"{leak}."
        )
    else:
        verdict = f"No verdict: no level could decide; {leak}."
    return " ".join(
        [verdict, *warnings(report), *untried(report), *coverage(report), *reach_of(report)]
    )


def warnings(report: AuditReport) -> list[str]:
    return [
        f"Warning: {level.details['warning']}."
        for level in report.levels
        if "warning" in level.details
    ]


def untried(report: AuditReport) -> list[str]:
    """Sentences on a law that is exact only for the rewards that were tried: some of those
    of a fine grid.
    """
    few = [
        level.details
        for level in report.levels
        if level.details.get("rewards_tried", 0) < level.details.get("rewards_of", 0)
    ]
    return [
        (
            f"The law of the report is exact for {of['rewards_tried']:,} of {of['rewards_of']:,} "
            "rewards; others were not tried."
        )
        for of in few
    ]


def reach_of(report: AuditReport) -> list[str]:
    """A sentence on what was looked at, for each level that counts runs."""
    said = []
    for level in report.levels:
        seen = level.details
        if "tried" not in seen:
            continue
        rounds, rewards, arms = seen["rounds"], seen["rewards"], seen["arms"]
        said.append(
            f"The {level.level} level tried {seen['tried']:,} pairs of tables ({rounds[0]:,} to "
            f"{rounds[-1]:,} rounds, arms: {arms}, "
            f"{len(rewards)} rewards from {rewards[0]:g} to {rewards[-1]:g}, {seen['rows']} "
            f"places of the record) and bet on {seen['runs']:,} runs of one, which could have "
            f"shown {'ρ' if seen.get('unit') == 'rho' else 'ε'} = {figure_of(level.reach)} at most."
        )
        said += cost_of(level, report)
    return [*said, *setting_of(report)]


def cost_of(level: LevelResult, report: AuditReport) -> list[str]:
    """A sentence on what it would take to refute the claim, or to reach it."""
    if "needed" not in level.details:
        return []
    needed, runs = level.details["needed"], level.details["runs"]
    if needed is None:
        open_ = level.outcome == "not refuted"
        return [
            "More runs on these tables will hardly refute it: bets against the claim lose."
            if open_
            else "More runs are needed before anything could refute it."
        ]
    seconds = level.seconds * needed / max(1, runs)
    time = "" if report.setting.get("runs") else f", about {seconds:,.0f} s"
    return [
        f"If further bets win as much, it is refuted after about {needed:,} runs{time}."
        if level.outcome == "not refuted"
        else f"To refute it takes {needed:,} runs at least{time}."
    ]


def setting_of(report: AuditReport) -> list[str]:
    given = report.setting
    if not given:
        return []
    amount = f"{given['runs']:,} runs" if given.get("runs") else f"{given['budget']:g} seconds"
    return [f"dpbandits {given['version']}, seed {given['seed']}, {amount}."]


def coverage(report: AuditReport) -> list[str]:
    """Sentences on what was not looked at."""
    said = []
    for level in report.levels:
        done, of = level.details.get("pairs"), level.details.get("of")
        if done is not None and of is not None and done < of:
            said.append(f"The {level.level} level replayed {done:,} of {of:,} neighbours.")
        if level.level == "transcript" and level.outcome == "passed" and "rounds" in level.details:
            said.append(
                f"Replayed were runs of up to {level.details['rounds']:,} rounds, with simulated "
                "noise: what code does later, or only where it is not audited, they do not show."
            )
    looked = [level.level for level in report.levels if level.outcome != "not applicable"]
    if looked == ["statistical"] and not report.lower_bound and not report.failed:
        said.append(
            "Runs were all there was to look at, and nothing was seen in them: that is no "
            "evidence of privacy beyond these tapes."
        )
    return said


COLUMNS = ("level", "verdict", "ε at least", "reach", "confidence", "seconds", "evidence")


def level_cells(level: LevelResult) -> list[str]:
    """A level's row: a text for each of `COLUMNS`."""
    seen = level.outcome != "not applicable" or level.lower_bound > 0
    bound, sure = (figure_of(level.lower_bound), surely(level.confidence)) if seen else ("–", "–")
    reach = "any" if math.isinf(level.reach) else f"{level.reach:.3g}"
    return [
        level.level,
        level.outcome,
        bound,
        reach if seen else "–",
        sure,
        f"{level.seconds:.1f}",
        level.evidence,
    ]


def as_text(report: AuditReport) -> str:
    """The heading, two lines for each level (figures, evidence), and the conclusion."""
    rows = [COLUMNS[:-1], *(tuple(level_cells(level)[:-1]) for level in report.levels)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS) - 1)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    told = [
        line
        for shown, level in zip(lines[1:], report.levels, strict=True)
        for line in (shown, f"  {level.evidence}")
    ]
    return "\n".join([heading(report), lines[0], *told, conclusion(report)])


# A written report, worked out again by somebody who does not trust its writer.


class Verified(NamedTuple):
    """The verdict that the written bets support, and what is to be said of the report.

    lower_bound: in the unit of the claim, "epsilon" or "rho".
    """

    verdict: Literal["not refuted", "failed", "no verdict"]
    lower_bound: float
    lines: list[str]
    unit: Literal["epsilon", "rho"] = "epsilon"


def verify(report: Mapping[str, Any]) -> Verified:
    """Work the figures of a report's statistical level out again from its bets: the bound (of
    epsilon, of epsilon with a delta, or of rho), the curve, the reach and the verdict.

    The bets are the writer's word. Who doubts that they were played audits the subject again, with
    a seed of their own.

    Args:
        report: what `AuditReport.to_json` wrote, parsed.

    Raises:
        ValueError: it is no report, has no bets, or states another figure than follows from them.
    """
    levels = report.get("levels") if isinstance(report, Mapping) else None
    if not isinstance(levels, list) or not all(isinstance(level, Mapping) for level in levels):
        raise ValueError(
            "Expected a report with a list of levels, as `AuditReport.to_json` writes."
        )
    counted = [level for level in levels if level.get("level") == "statistical"]
    details = counted[0].get("details") if len(counted) == 1 else None
    if not isinstance(details, Mapping) or "bets" not in details:
        raise ValueError("Expected a report with one statistical level that made bets.")
    bets, level = read(details["bets"]), counted[0]
    try:
        claim = None if report["claim"] is None else Fraction(report["claim"])
        rho = None if details["claimed_rho"] is None else Fraction(details["claimed_rho"])
        delta, runs = float(details["delta"]), int(details["runs"])
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise ValueError(
            "Expected a report with a claim, and a level with claimed_rho, delta and runs."
        ) from None
    if not 0 <= delta < 1 or (rho is not None and (delta or claim is not None)):
        raise ValueError("Expected a claim of ε, of ε with a δ below 1, or of ρ alone.")
    if runs < bets.sum():
        raise ValueError(
            f"Expected {bets.sum():,} runs or more, of so many bets; the report says {runs:,}. "
            "Do not trust it."
        )
    in_rho = rho is not None
    bound = certified_rho(bets) if in_rho else certified(bets, delta=delta)
    far = rho_reach(runs) if in_rho else reach(runs, delta=delta)
    sign, points = "ρ" if in_rho else "ε", curve(bets)
    agree(f"{sign} ≥", bound, details.get("rho") if in_rho else level.get("lower_bound"))
    agree("a reach of", far, level.get("reach"))
    stated = details.get("curve")
    if not isinstance(stated, list) or len(stated) != len(points):
        raise ValueError("Expected a curve: an ε for each of some deltas.")
    for point, (at, epsilon) in zip(stated, points, strict=True):
        agree(f"ε (δ = {at:g}) ≥", epsilon, dict([point]).get(at) if is_point(point) else None)
    held = claim if rho is None else rho
    verdict = recounted(held, bound, far, "why" in details)
    said = level.get("outcome")
    if said in ("failed", "not refuted", "passed") and said != verdict:
        raise ValueError(
            f"Expected the verdict {verdict!r}, which follows from the bets; the level says "
            f"{said!r}. Do not trust it."
        )
    lines = [
        f"verified: {sign} ≥ {bound:.6g}{f' with δ = {delta:g}' if delta else ''} follows from "
        f"{int(bets.sum()):,} bets (reach {far:.4g})"
    ]
    if report.get("verdict") != verdict:
        lines.append(f"the report's verdict, {report.get('verdict')!r}, rests on more: {verdict}")
    others = [str(each.get("level")) for each in levels if each.get("level") != "statistical"]
    lines += [f"not verified: {name}" for name in others]
    return Verified(verdict, bound, lines, "rho" if in_rho else "epsilon")


def recounted(
    claim: Fraction | None, bound: float, far: float, hopeless: bool
) -> Literal["not refuted", "failed", "no verdict"]:
    """hopeless: the report says why runs could not decide."""
    if claim is None or (hopeless and bound <= claim):
        return "no verdict"
    return "failed" if bound > claim else "not refuted" if far > claim else "no verdict"


def is_point(point: object) -> bool:
    return (
        isinstance(point, list)
        and len(point) == 2
        and all(isinstance(number, (int, float)) for number in point)
    )


def agree(what: str, found: float, stated: object) -> None:
    """Refuse a stated figure that is not the one that was found."""
    same = isinstance(stated, (int, float)) and math.isclose(found, stated, abs_tol=1e-9)
    if not same:
        raise ValueError(
            f"Expected {what} {found:.6g}, which follows from the bets; the report says "
            f"{stated!r}. Do not trust it."
        )
