"""One question of anything that claims to be private: is it? What a user may give to an audit, and
the levels that answer.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpbandits.auditing import subjects
from dpbandits.auditing.effort import clock, largest_in_time
from dpbandits.auditing.foreign import (
    ARMS,
    ForeignSubject,
    FunctionSubject,
    RandomizerSubject,
    arms_for,
    made_once,
    noted,
    signature_parameters,
    takes_data,
    with_arms,
)
from dpbandits.auditing.laws import randomised_response_level
from dpbandits.auditing.replays import draws_gaussians
from dpbandits.auditing.report import AuditReport, LevelResult
from dpbandits.auditing.statistical import statistical_level, unseen
from dpbandits.auditing.subjects import MechanismSubject, PolicySubject, Subject, feed
from dpbandits.auditing.transcript import (
    LEAST_REPLAYED,
    NOT_COUNTED,
    NOT_IN_RHO,
    REPLAYS,
    ROUNDS,
    transcript_level,
)
from dpbandits.checks.examples import examples
from dpbandits.core.errors import MixedRuns
from dpbandits.core.inputs import LARGEST_SEED, number_within, shown, whole_number
from dpbandits.core.privacy import Real, as_fraction
from dpbandits.mechanisms import Mechanism, Randomizer
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy, size_argument
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.policies.named import EVERY_POLICY, policy_class
from dpbandits.version import __version__

# What a user gives to an audit: numbers and levels, read strictly, and the subject, made from the
# name of a policy, from module:object, a class or a function that makes one, or taken as it is.


MOST_AUDITED_ROUNDS = 10**6
"""The most rounds of one counted run: its transcript is kept as a whole."""

MOST_AUDITED_ARMS = 10**4

MOST_REWARDS = 10**7
"""The most rewards of one table."""

BY_CONTEXTS = (ContextualPolicy, JointDPLinTS)

WHITE = (Policy, Mechanism, Randomizer)
"""The kinds of subjects that declare their own promise and can be looked into."""


def resolve(subject: object, epsilon: Real | None, arms: int | None) -> Any:
    """The subject itself. Classes are made with `epsilon`, and with `arms` if they take them; an
    instance has its own already.

    subject: a policy, a mechanism or a local randomizer (white box: all levels that fit), its
        class, or a function that makes one; or a class or function that makes a fresh object with
        `ask()` and `tell(decision, reward)`, or with `select()` and `update(arm, reward)`, for each
        run (black box: the statistical level); or a plain function of data. What makes a subject
        takes no arguments but `seed` (it is given one, below 2³²) and `arms`; a function with one
        other argument that it cannot do without is a function of data, and is called with it for
        each run: rewards, shape (rounds,), or with `arms=` a table, shape (rounds, arms). It
        answers with numbers, text or lists of them. Text is the name of a policy of ours, or
        "module:object".

    Raises:
        ValueError: there is no such name, or the subject has no use for an epsilon, or for arms.
        TypeError: a class that cannot be made from epsilon and the number of arms alone.
    """
    if isinstance(subject, str):
        subject = policy_class(subject)
    if isinstance(subject, type) and issubclass(subject, WHITE):
        return made_from_class(subject, epsilon, ARMS if arms is None else arms)
    if (
        callable(subject)
        and not isinstance(subject, WHITE)
        and not is_subject(subject)
        and not takes_data(subject)
    ):
        one = made_once(with_arms(subject, arms_for(subject, arms)))
        if isinstance(one, WHITE):
            arms = None if "arms" in signature_parameters(subject) else arms
            subject = one
    if isinstance(subject, WHITE):
        refuse_another_epsilon(subject, epsilon)
        if arms not in (None, getattr(subject, "arms", None)):
            raise ValueError(
                f"Got arms={arms} for an instance of {type(subject).__name__}, which is audited as "
                "it is. Leave arms out."
            )
    elif not (callable(subject) or is_subject(subject)):
        raise TypeError(
            "Expected a policy, a mechanism, a randomizer, a function of data, or a function "
            "that makes a fresh object for each run, got "
            f"{type(subject).__name__}. Pass `lambda: Yours(...)`: runs must not share what an "
            "earlier one has learnt."
        )
    return subject


def is_subject(made: object) -> bool:
    """Whether this can be played as a black box (`Subject`) as it is."""
    return hasattr(made, "outcomes") and hasattr(made, "pairs")


def made_from_class(
    cls: type[Policy] | type[Mechanism] | type[Randomizer], epsilon: Real | None, arms: int
) -> Any:
    """A small instance. Of a policy of this package it is the one that the checks use, on a grid of
    0/1 rewards, which tells most.
    """
    known = {f.name for f in fields(cls)} if is_dataclass(cls) else set()
    if epsilon is not None and "epsilon" not in known:
        raise ValueError(
            f"{cls.__name__} takes no epsilon. What it is to be held to is its claim: claim=... "
            "or --claim."
        )
    budget = (
        {"epsilon": as_fraction(1 if epsilon is None else epsilon, "epsilon")}
        if "epsilon" in known
        else {}
    )
    if issubclass(cls, Policy) and EVERY_POLICY.get(cls.__name__) is cls:
        change: dict[str, Any] = {"grid": 1} if "grid" in known else {}
        return replace(
            examples(cls.__name__, arms=arms)[0], **change | (budget if epsilon is not None else {})
        )
    argument = size_argument(cls) if issubclass(cls, Policy) else None
    size = {} if argument is None else {argument: arms}
    if "features" in known:
        size["features"] = 2
    make_it: Callable[..., Any] = cls
    try:
        return make_it(**size, **budget)
    except TypeError as error:
        raise TypeError(
            f"{cls.__name__} cannot be made from {' and '.join([*size, *budget]) or 'nothing'} "
            f"alone ({error}). Pass an instance of it."
        ) from error


def refuse_another_epsilon(made: Policy | Mechanism | Randomizer, epsilon: Real | None) -> None:
    """Refuse another epsilon for an instance: it is audited as it is, and the epsilon would be
    ignored silently.
    """
    if epsilon is None:
        return
    own = getattr(made, "epsilon", None) or own_claim(made)
    if own is None or as_fraction(own, "epsilon") != as_fraction(epsilon, "epsilon"):
        has = f"its budget is {own}" if own is not None else "it has none"
        raise ValueError(
            f"Got epsilon={epsilon} for an instance of {type(made).__name__}, which is audited "
            f"as it is ({has}). "
            "Leave epsilon out; what it is to be held to is its claim: claim=... or --claim."
        )


def own_claim(made: Any) -> Fraction | None:
    """The epsilon that the subject itself claims. What a publication claims for its constants is in
    `claimed`.
    """
    guarantee = guarantee_of(made)
    return guarantee.epsilon if guarantee is not None and guarantee.measure == "pure" else None


def claimed_rho(made: Any) -> Fraction | None:
    """The rho of a subject that claims zCDP."""
    guarantee = guarantee_of(made)
    return guarantee.rho if guarantee is not None and guarantee.measure == "zCDP" else None


def why_no_claim(made: Any) -> str:
    guarantee = guarantee_of(made)
    return (
        "It claims no privacy."
        if guarantee is None
        else f"It claims {guarantee.measure}, which promises no epsilon."
    )


def guarantee_of(made: Any) -> Any:
    return made.guarantee if isinstance(made, WHITE) else None


class AuditSetting(NamedTuple):
    """The arguments of an audit, checked and as plain numbers; what the subject is called, and who
    is told what is being done.
    """

    budget: float
    seed: int
    arms: int | None
    rounds: int
    workers: int
    runs: int | None
    title: str = ""
    progress: Callable[[str], None] | None = None
    delta: float = 0.0
    rho: Fraction | None = None

    def tell(self, doing: str) -> None:
        if self.progress is not None:
            self.progress(f"{self.title}: {doing}")


def checked_numbers(
    budget: object, seed: object, arms: object, rounds: object, workers: object, runs: object
) -> AuditSetting:
    """The numbers as plain ones. arms, runs: None if the caller gives none.

    Raises:
        ValueError: a number is of the wrong kind or out of range.
    """
    columns = None if arms is None else whole_number(arms, "arms", 1, MOST_AUDITED_ARMS)
    long = whole_number(rounds, "rounds", 1, MOST_AUDITED_ROUNDS)
    if long * (columns or 1) > MOST_REWARDS:
        raise ValueError(
            f"Expected rounds × arms to be at most {MOST_REWARDS:,}, got {long:,} rounds of "
            f"{columns:,} arms: a table of so many rewards does not fit. Take fewer rounds."
        )
    return AuditSetting(
        budget=number_within(budget, "budget", 0, math.inf, "()", of="seconds"),
        seed=whole_number(seed, "seed", 0, LARGEST_SEED),
        arms=columns,
        rounds=long,
        workers=whole_number(workers, "workers", 1, 10_000),
        runs=None if runs is None else whole_number(runs, "runs", 1),
    )


def checked_levels(levels: object, known: Sequence[str]) -> tuple[str, ...]:
    """Some of the levels, by name.

    Raises:
        ValueError: something else.
    """
    named = tuple(levels) if isinstance(levels, (list, tuple, set, frozenset)) else ()
    unknown = [shown(level) for level in named if level not in known]
    if unknown or not named:
        came = ", ".join(unknown) or shown(levels)
        raise ValueError(
            f"Expected levels, a list of some of {', '.join(known)}; got {came}. For example "
            f"levels=[{known[0]!r}]."
        )
    return named


# One question of anything that claims to be private: is it? All levels, one report.


LEVELS = ("transcript", "randomised response", "statistical")
SHARES = {"transcript": 0.25, "randomised response": 0.0, "statistical": 0.7}
"""The levels' shares of the budget. What one level leaves unused, the next ones share."""

LEAST = 0.5
"""The part of its share that a level gets even if the levels before it took more than theirs."""

PATIENCE = 0.05
"""The part of its share of the budget in which a black box must finish one long tape; at least a
second.
"""

GLANCE, LONGER = 64, 32
"""Rounds of the first runs that are replayed where there is a budget, and how many times as long
replays of `ROUNDS` may take.
"""

LEAST_RUNS, ALL_BUT_A_LITTLE = 200, 0.95
"""Where there is a budget: counted runs of both tables together for which there has to be time; and
the part of the seconds for them. A little is kept for what comes after.
"""

PLAYING = (
    "raised while an audit played it on made-up rewards; if it depends on them whether this is "
    "raised, that tells of them"
)

RUNS_A_REPLAY = 25

NO_EPSILON = "Gaussian noise keeps no pure epsilon, whatever its scale"
"""Why runs that did not refute such a claim are no evidence for it."""


def audit(
    subject: object,
    claim: Real | None = None,
    *,
    epsilon: Real | None = None,
    levels: Sequence[str] = LEVELS,
    budget: float = 60.0,
    runs: int | None = None,
    seed: int = 0,
    arms: int | None = None,
    rounds: int = subjects.ROUNDS,
    name: str | None = None,
    workers: int = 2,
    progress: Callable[[str], None] | None = None,
    delta: float = 0.0,
    rho: Real | None = None,
) -> AuditReport:
    """Test a privacy claim, and certify the largest epsilon that the subject is shown to leak.

    Args:
        subject: a policy, mechanism or local randomizer, its class, or a function that makes one; a
            black box; a function of data; or the name of any (see `resolve`).
        claim: the epsilon it is held to; by default what it says itself.
        epsilon: the budget of what is made here from a name or class; of a black box, its claim.
        levels: those that are played where they apply; by default all three.
        budget: seconds, roughly; on Linux without those in which another program had the
            processor. They say how much work is done, which depends on the machine.
        runs: a fixed amount of work (runs counted on either table, and for every 25 of them a
            replay of each written run, at least 40) in place of seconds, so that the report is the
            same on every machine.
        seed: of the runs.
        arms: actions of a black box, or of a policy made here; by default 2, or its own default.
        rounds: of counted runs; a black box is also shown longer tapes.
        name: of the subject, for the report; by default its own.
        workers: processes that play runs.
        progress: called with a line on what is being done.
        delta: of a claim of (epsilon, delta)-privacy. Exact losses cannot refute it.
        rho: a claim of rho-zCDP, in place of an epsilon; by default what the subject says itself.

    >>> report = audit("AnytimeLazyUCB", epsilon="1/2", levels=["transcript"], runs=100)
    >>> report.passed, report.lower_bound
    (True, 0.5)
    """
    asked = checked_levels(levels, LEVELS)
    how = checked_numbers(budget, seed, arms, rounds, workers, runs)
    made = resolve(subject, epsilon, how.arms)
    delta = number_within(delta, "delta", 0, 1, "[)")
    held = claim_on(made, claim, epsilon)
    stated = claimed_rho(made) if held is None and rho is None else rho
    given = claim is not None or (epsilon is not None and not isinstance(made, WHITE))
    if stated is not None and (given or delta):
        raise ValueError(
            f"Got another claim beside rho={stated}. Hold it to a rho, or to claim and delta."
        )
    how = how._replace(
        title=name or title_given(subject, made),
        progress=progress,
        delta=delta,
        rho=None if stated is None else as_fraction(stated, "rho"),
    )
    held = held if stated is None else None
    return audited(made, held, asked, how, how_made(subject, epsilon))


def title_given(subject: object, made: Any) -> str:
    if isinstance(subject, str) and not isinstance(made, Policy):
        return subject
    if isinstance(made, WHITE):
        return repr(made)
    return str(getattr(made, "name", None) or getattr(made, "__name__", type(made).__name__))


def how_made(subject: object, epsilon: Real | None) -> dict[str, Any]:
    """What a stranger needs to make a subject again that was given by name."""
    if not isinstance(subject, str):
        return {}
    budget = None if epsilon is None else str(as_fraction(epsilon, "epsilon"))
    return {"made": {"subject": subject, "epsilon": budget}}


def audited(
    made: Any,
    claim: Fraction | None,
    levels: Sequence[str],
    how: AuditSetting,
    setting: dict[str, Any],
) -> AuditReport:
    """The report of these levels, one after the other. setting: what else it says of how it came
    about.
    """
    results: list[LevelResult] = []
    left, asked = how.budget, [level for level in LEVELS if level in levels]
    for at, level in enumerate(asked):
        started = clock()
        how.tell(level)
        with noted(PLAYING) if isinstance(made, WHITE) else nullcontext():
            found = run_level(level, made, claim, share(asked[at:], left, how.budget), how)
        took = clock() - started
        left -= took
        results += [] if found is None else [replace(found, seconds=took)]
    arguments = {
        "version": __version__,
        "seed": how.seed,
        "runs": how.runs,
        "budget": None if how.runs else how.budget,
        "arms": how.arms,
        "rounds": how.rounds,
        "delta": how.delta,
        "rho": None if how.rho is None else str(how.rho),
    }
    return AuditReport(how.title, claim, tuple(results), arguments | setting)


def claim_on(made: Any, claim: Real | None, epsilon: Real | None) -> Fraction | None:
    """The epsilon that the subject is held to; None if there is none."""
    said = (
        as_fraction(epsilon, "epsilon")
        if epsilon is not None and not isinstance(made, WHITE)
        else own_claim(made)
    )
    if claim is None:
        return said
    held = as_fraction(claim, "claim")
    if epsilon is not None and not isinstance(made, WHITE) and said != held:
        raise ValueError(
            f"Got claim={claim} and epsilon={epsilon} for a black box: both are what it is held "
            "to. Leave one out."
        )
    return held


def share(to_come: Sequence[str], left: float, budget: float) -> float:
    """Seconds for the next level."""
    mine, all_of_them = SHARES[to_come[0]], sum(SHARES[level] for level in to_come)
    return max(LEAST * mine * budget, left * mine / all_of_them) if mine else 0.0


def run_level(
    level: str, made: Any, claim: Fraction | None, budget: float, how: AuditSetting
) -> LevelResult | None:
    """The level's verdict; None if the level does not apply."""
    policy = feed(made) if isinstance(made, Mechanism) else made
    randomizer = made.randomizer() if isinstance(made, Policy) else None
    randomizer = made if isinstance(made, Randomizer) else randomizer
    central = isinstance(policy, Policy) and randomizer is None
    match level:
        case "randomised response" if isinstance(randomizer, Randomizer) and how.rho is None:
            return beside_delta(randomised_response_level(randomizer, claim), how.delta)
        case "randomised response" if isinstance(randomizer, Randomizer):
            return LevelResult(level, "not applicable", evidence=NOT_IN_RHO)
        case "transcript" if central:
            return beside_delta(replayed_level(policy, claim, budget, how), how.delta)
        case "statistical" if isinstance(policy, BY_CONTEXTS):
            return LevelResult(level, "not applicable", evidence=NOT_COUNTED)
        case "statistical":
            return counted_level(made, policy if central else None, claim, budget, how)
    return None


def replayed_level(
    policy: Policy, claim: Fraction | None, budget: float, how: AuditSetting
) -> LevelResult:
    """Of replays. A replay is longer than a counted run, and has as many decisions as dozens of
    them: where runs are counted, this tells how many neighbours of every written run are replayed.
    """

    def play(runs: int, rounds: int = ROUNDS) -> LevelResult:
        replays = max(REPLAYS, runs // RUNS_A_REPLAY) if runs else LEAST_REPLAYED
        return transcript_level(
            policy, claim, rounds=rounds, replays=replays, seed=how.seed, rho=how.rho
        )

    fewest = RUNS_A_REPLAY * REPLAYS
    if how.runs is not None:
        found = play(how.runs)
    elif isinstance(policy, BY_CONTEXTS):
        found = largest_in_time(play, fewest, budget)
    else:
        began = clock()
        found = play(0, GLANCE)
        took = clock() - began
        if found.outcome != "failed" and LONGER * took <= budget:
            found = largest_in_time(play, fewest, budget - took)
        elif found.outcome == "passed":
            said = (
                f"There was time for runs of {GLANCE} rounds alone, too little to pass; a larger "
                f"budget plays longer ones. In them: {found.evidence}"
            )
            found = replace(found, outcome="not applicable", evidence=said)
    return found


def beside_delta(found: LevelResult, delta: float) -> LevelResult:
    """What an exact loss says of a claim with this δ: a larger loss does not refute it."""
    if delta and found.outcome == "failed":
        said = f"A claim with a δ is not refuted by that: {found.evidence}"
        found = replace(found, outcome="not applicable", evidence=said)
    return replace(found, lower_bound=0.0) if delta else found


def counted_level(
    made: Any, policy: Policy | None, claim: Fraction | None, budget: float, how: AuditSetting
) -> LevelResult:
    """Of runs. policy: what plays it, where it can be looked into."""
    began, subject, no_claim = clock(), black_box(made, how, budget), why_no_claim(made)
    until = math.inf if how.runs is not None else began + ALL_BUT_A_LITTLE * budget

    def played() -> LevelResult:
        if too_slow := slowness(subject, until - clock(), how.seed):
            return unseen(too_slow, claim if how.rho is None else how.rho, no_claim)
        return statistical_level(
            subject,
            claim,
            runs=how.runs,
            until=until,
            seed=how.seed,
            workers=how.workers,
            no_claim=no_claim,
            tell=how.tell,
            delta=how.delta,
            rho=how.rho,
        )

    try:
        found = played()
    except MixedRuns:  # what was played of it before does not count
        found = played()
    if claim is not None and how.delta:
        return found
    if (
        claim is not None
        and found.outcome == "not refuted"
        and policy
        and draws_gaussians(policy, how.seed)
    ):
        evidence, details = f"{NO_EPSILON}; {found.evidence}", found.details | {"why": NO_EPSILON}
        return replace(found, outcome="no verdict", evidence=evidence, details=details)
    hint = subject.hint() if isinstance(subject, ForeignSubject) else ""
    return replace(found, evidence=f"{found.evidence.rstrip('.')}; {hint}") if hint else found


def slowness(subject: Subject, seconds: float, seed: int) -> str:
    """What to say if there is no time for a hundred runs on either table; else nothing."""
    if seconds == math.inf:
        return ""
    table = subject.pairs()[0].a
    for at in range(2):  # a first run may compile and load what later ones have
        began = clock()
        subject.outcomes(table, 1, seed + at)
        took = clock() - began
        if LEAST_RUNS * took <= seconds:
            return ""
    return (
        f"a run takes {took:.2g} s; this budget allows {max(0, int(seconds / took)):,}, and "
        f"{LEAST_RUNS} at least are needed"
    )


def black_box(made: Any, how: AuditSetting, budget: float = math.inf) -> Subject:
    if isinstance(made, Policy):
        return PolicySubject(made, rounds=how.rounds)
    if isinstance(made, Mechanism):
        return MechanismSubject(made)
    if isinstance(made, Randomizer):
        return RandomizerSubject(made)
    if is_subject(made):
        return made
    if takes_data(made):
        return FunctionSubject(made, how.title, arms=how.arms, rounds=how.rounds)
    patience = math.inf if how.runs is not None else max(1.0, PATIENCE * budget)
    return ForeignSubject(
        made, how.title, arms=arms_for(made, how.arms), rounds=how.rounds, patience=patience
    )
