"""Positive and negative controls: is every specimen caught, does everything correct pass, at every
repetition?

A level without randomness (exact law, report law) is run once and counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, final

from dpbandits.auditing.broken import SPECIMENS
from dpbandits.auditing.broken.half import mechanisms_tried
from dpbandits.auditing.exact_law import exact_law
from dpbandits.auditing.local.level import report_law_level
from dpbandits.auditing.report import LevelResult
from dpbandits.auditing.statistical import statistical_level
from dpbandits.auditing.subjects import MechanismSubject, PolicySubject, feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.checks.examples import examples
from dpbandits.mechanisms import Mechanism
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.policies.cumulative import DPIMED, DPKLUCB
from dpbandits.policies.experts import RNMFTNL, NaiveFTNL, PrefixExponential
from dpbandits.policies.forgetful import AdaPKLUCB, AdaPUCB, AnytimeLazyUCB

SEEDED = ("transcript", "statistical")
ROUNDS = 100
"""Rounds of a written run, if something is released by then."""

REPLAYS = 20
"""Of every written run."""

RUNS = 20_000
"""Counted runs a side of the statistical level: a number, not a time, so that a repetition is its
seed.
"""

MORE_RUNS = {
    "sparse vector variant 3": 200_000,
    "sparse vector variant 6": 100_000,
    "noisy max with its value, Laplace": 50_000,
}
"""Of what leaks little more than it claims."""


@final
@dataclass(frozen=True)
class Control:
    """One subject at one level.

    claim: None for the subject's own. runs: counted a side of the statistical level. open: of what
        is correct it may also say nothing.
    """

    name: str
    broken: bool
    level: str
    make: Callable[[], Any]
    claim: Fraction | None
    truth: str
    runs: int = RUNS
    open: bool = False


class Row(NamedTuple):
    """What the level said of a control. right: times it was caught (if broken) or passed, of
    `runs`. bound: the largest certified.
    """

    control: Control
    runs: int
    right: int
    bound: float
    seconds: float


def judge(
    level: str, subject: Any, claim: Fraction | None, seed: int, runs: int = RUNS
) -> LevelResult:
    """One level's verdict on a policy or a bare mechanism."""
    policy: Policy = feed(subject) if isinstance(subject, Mechanism) else subject
    guarantee, randomizer = policy.guarantee, policy.randomizer()
    match level:
        case "transcript":
            return transcript_level(policy, claim, rounds=ROUNDS, replays=REPLAYS, seed=seed)
        case "exact law":
            return exact_law(policy, claim=claim)
        case "report law" if randomizer is not None:
            return report_law_level(randomizer, claim)
    seen = MechanismSubject(subject) if isinstance(subject, Mechanism) else PolicySubject(subject)
    return statistical_level(
        seen, claim or (guarantee.epsilon if guarantee else None), seed=seed, workers=1, runs=runs
    )


def broken() -> Iterator[Control]:
    """Every specimen, at the level that must catch it."""
    for s in SPECIMENS:
        yield Control(
            s.name, True, s.caught_by, s.make, s.claim, s.truth, MORE_RUNS.get(s.name, RUNS)
        )


def honest(name: str, level: str, subject: Policy | Mechanism) -> Control:
    return Control(name, False, level, lambda: subject, None, "as claimed")


def correct() -> Iterator[Control]:
    """Every private policy at the exact white-box level for it, every mechanism, and short runs of
    some in law.
    """
    for name in POLICIES:
        for i, policy in enumerate(examples(name)):
            if policy.guarantee is not None:
                level = "transcript" if policy.randomizer() is None else "report law"
                yield honest(policy.name + f" ({i + 1})" * (i > 0), level, policy)
    for name, mechanism in mechanisms_tried():
        yield honest(name, "transcript", mechanism)
        if name in ("LazyForgetful", "BinaryTree", "NoisyMax, permute-and-flip"):
            yield honest(name, "statistical", mechanism)
    for policy in short():
        yield honest(title(policy), "exact law", policy)


def title(policy: Policy) -> str:
    """Its name, and how it selects."""
    selection = getattr(policy, "selection", None)
    return policy.name + (f", {selection}" if selection else "")


def short() -> list[Policy]:
    """Policies that show what they are within eight rounds."""
    return [
        AnytimeLazyUCB(arms=2, epsilon=1),
        AdaPUCB(arms=2, epsilon=1),
        AdaPKLUCB(arms=2, epsilon=1),
        DPKLUCB(arms=2, epsilon=1, first=1),
        DPIMED(arms=2, epsilon=1, first=1),
        RNMFTNL(actions=2, epsilon=1),
        RNMFTNL(actions=2, epsilon=1, selection="exponential"),
        RNMFTNL(actions=2, epsilon=1, selection="permute-and-flip"),
        NaiveFTNL(actions=2, epsilon=1),
        PrefixExponential(actions=2, epsilon=1),
    ]


def run(control: Control, repetition: int = 0, repetitions: int = 1) -> Row:
    """Judge a control so many times from this repetition on, each time with seeds of its own."""
    right, bound, took = 0, 0.0, 0.0
    for i in range(repetition, repetition + repetitions):
        found = judge(control.level, control.make(), control.claim, 10**6 * i, control.runs)
        right += (found.outcome == "failed") if control.broken else acceptable(found, control.open)
        bound, took = max(bound, found.lower_bound), took + found.seconds
    return Row(control, repetitions, right, bound, took)


def acceptable(found: LevelResult, may_be_open: bool) -> bool:
    """Of what is correct."""
    return found.outcome in ("passed", "not refuted") or (
        may_be_open and found.outcome == "not applicable"
    )


def verdicts(rows: Iterable[Row]) -> tuple[int, int, int]:
    """Specimens; the most times one of them was missed; false alarms."""
    wrong = [(row.control.broken, row.runs - row.right) for row in rows]
    missed = [n for is_broken, n in wrong if is_broken]
    return len(missed), max(missed, default=0), sum(n for is_broken, n in wrong if not is_broken)


def markdown(rows: Iterable[Row]) -> str:
    """A table for the docs."""
    lines = ["| subject | truth | level | right | largest certified ε |", "|---|---|---|---|---|"]
    for row in rows:
        verdict = "caught" if row.control.broken else "passes"
        bound = "∞" if row.bound == float("inf") else f"{row.bound:.3f}"
        lines.append(
            f"| {row.control.name} | {row.control.truth} | {row.control.level} | {verdict} "
            f"{row.right} of {row.runs} | {bound} |"
        )
    return "\n".join(lines) + "\n"
