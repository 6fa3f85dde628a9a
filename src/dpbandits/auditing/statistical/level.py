"""Level 3, black box: a lower bound on epsilon from simulated runs on neighbouring tables, wrong
with probability 10⁻⁶ at most.

Three separate lots of runs: a pilot chooses the pair of tables, the next lot learns the event, the
last is counted. Only the last enters the bound, for one pair and two events (one a direction). With
a budget of seconds the last lot is looked at after fixed numbers of runs, and each look is paid
for; whether there is time for another one may then depend on anything.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.auditing.statistical.counting.events import Bound, Event, choose_event, reach
from dpbandits.auditing.statistical.counting.learning import learning_lot, scoring
from dpbandits.auditing.statistical.counting.levels_tried import with_drawn_levels
from dpbandits.auditing.statistical.counting.pilot import (
    ALPHA,
    MOST,
    PILOT,
    Counted,
    RunPlan,
    Tried,
    count,
    pilot,
)
from dpbandits.auditing.statistical.counting.players import Players
from dpbandits.auditing.statistical.counting.tables import Neighbours
from dpbandits.auditing.statistical.counting.ties import tied_together
from dpbandits.auditing.statistical.subjects import Subject
from dpbandits.core.errors import MixedRuns
from dpbandits.core.inputs import Floats

LEVEL = "statistical"

STRANGE = (
    "its noise does not come from the source or seed it is given, so nobody can repeat this, and "
    "only one process plays it"
)


NEEDED = 200
"""Runs that there has to be time for, of both tables together."""

SECOND = 1.1
"""Seconds after which a generator is another one that the clock has seeded."""

LATER, LEARNT_LAST = 20, 300
"""Runs a side that are played then, and runs before that they are compared with."""

TIED = (
    "runs that follow each other are alike, as if they shared a seed: they are not independent, "
    "and what is counted of them says nothing"
)

WARNED = "its runs are not independent (is a generator seeded by the clock?)"


def silent(_: str) -> None:
    """Progress that nobody asked for."""


def statistical_level(
    subject: Subject,
    claim: Fraction | None,
    *,
    budget: float = 60.0,
    seed: int = 0,
    workers: int = 2,
    no_claim: str = "It claims no privacy.",
    runs: int | None = None,
    tell: Callable[[str], None] = silent,
) -> LevelResult:
    """Certify what can be certified within `budget` seconds. no_claim: what to say where there is
    no claim.

    runs: counted a side, instead of as many as there is time for: the same bound on every machine.
        tell: is told what is being done.
    """
    plan = RunPlan(budget, runs, seed, tell, time.perf_counter())
    tell("starting")
    if too_slow := slowness(subject, plan):
        return unseen(too_slow, claim, plan, no_claim)
    try:
        return counted_verdict(subject, claim, plan, workers, no_claim)
    except MixedRuns:
        # what was played is not kept: that it was not noticed earlier is part of what was seen
        again = replace(plan, start=time.perf_counter(), budget=plan.left())
        if too_slow := slowness(subject, again):
            return unseen(too_slow, claim, plan, no_claim)
        return counted_verdict(subject, claim, again, workers, no_claim)


def counted_verdict(
    subject: Subject, claim: Fraction | None, plan: RunPlan, workers: int, no_claim: str
) -> LevelResult:
    with Players(subject, workers, clocked=plan.runs is None) as players:
        seconds = min(PILOT * plan.budget, plan.left())
        pairs = with_drawn_levels(subject.pairs(), plan.seed)
        found = pilot(players, pairs, plan.seed, runs=plan.runs, seconds=seconds, tell=plan.tell)
        since = time.monotonic()
        lots = learning_lot(players, found, plan)
        if players.by_turns and any(map(tied_together, lots)):
            return unseen(TIED, claim, plan, no_claim, warning=WARNED)
        plan.tell("learning an event")
        event = choose_event(*lots, min(MOST, plan.runs or 10 * len(lots[0])), ALPHA / 2)
        counted = count(players, found, event, plan, scoring(event, lots))
        strange = not players.seeded and getattr(subject, "takes_noise", True)
        leaks = claim is not None and counted.bound.epsilon > claim
        if leaks and players.by_turns and tied_later(players, found.pair, lots, since):
            return unseen(TIED, claim, plan, no_claim, warning=WARNED)
    still = "" if varied(*lots) else "Every run had the same outcome: there was nothing to see."
    why_not = no_claim if claim is None else still
    result = statistical_verdict(counted, found, event, plan, claim, why_not)
    return replace(result, details=result.details | {"warning": STRANGE}) if strange else result


def slowness(subject: Subject, plan: RunPlan) -> str:
    """What to say if there is no time for a hundred runs on either table; where runs are counted,
    the clock is not looked at.
    """
    if plan.runs is not None:
        return ""
    table = subject.pairs()[0].a
    for at in range(2):  # a first run may compile and load what later ones have
        began = time.perf_counter()
        subject.outcomes(table, 1, plan.seed + at)
        took = time.perf_counter() - began
        if plan.left() >= NEEDED * took:
            return ""
    return (
        f"a run takes {took:.2g} s; this budget allows {max(0, int(plan.left() / took)):,}, and "
        f"{NEEDED} at least are needed"
    )


def tied_later(
    players: Players, pair: Neighbours, lots: tuple[Floats, Floats], since: float
) -> bool:
    """Whether runs of another second are unlike those that were learnt from: what does the same
    all the time may do so with the clock's seed.
    """
    time.sleep(max(0.0, SECOND - (time.monotonic() - since)))
    later = players.outcomes(pair, LATER, 0)
    both = zip(lots, later, strict=True)
    return any(
        tied_together(np.concatenate([before[-LEARNT_LAST:], after])) for before, after in both
    )


def unseen(
    why: str, claim: Fraction | None, plan: RunPlan, no_claim: str, **more: str
) -> LevelResult:
    """Nothing was counted."""
    seconds = time.perf_counter() - plan.start
    outcome: Outcome = "not applicable" if claim is None else "no verdict"
    evidence, details = f"{no_claim} {why}" if claim is None else why, {"why": why} | more
    return LevelResult(LEVEL, outcome, 0.0, None, 0.0, 1.0, evidence, seconds, details, 0.0)


def varied(a: Floats, b: Floats) -> bool:
    """Whether any two outcomes differ."""
    return bool((a != a[0]).any() or (b != a[0]).any())


def statistical_verdict(
    counted: Counted,
    tried: Tried,
    event: Event,
    plan: RunPlan,
    claim: Fraction | None,
    why_not: str,
) -> LevelResult:
    """why_not: why it is held to nothing, where it is not."""
    found, pair, far = counted.bound, tried.pair, reach(counted.runs, counted.alpha)
    details = {
        "pair": pair.label,
        "swapped": found.swapped,
        "at_least": found.least,
        "at_most": found.most,
        "runs": found.runs,
        "counts": counted.counts,
        "alpha": counted.alpha,
        "event": event.data(),
        "tables": [pair.a.tolist(), pair.b.tolist()],
    } | looked_at(tried)
    outcome, evidence = judged(found, far, pair.label, claim, why_not)
    seconds = time.perf_counter() - plan.start
    return LevelResult(
        LEVEL, outcome, found.epsilon, None, 0.0, 1 - ALPHA, evidence, seconds, details, far
    )


def judged(
    found: Bound, far: float, label: str, claim: Fraction | None, why_not: str
) -> tuple[Outcome, str]:
    """The outcome, and the sentence that goes with it. far: what so many runs can show."""
    evidence = (
        f"{label}: an event of probability {found.least:.4%} at least on one table, "
        f"{found.most:.4%} at most on its neighbour, "
        f"from {found.runs:,} runs on either"
    )
    if not found.epsilon:
        evidence = f"{label}: nothing told the tables apart in {found.runs:,} runs on either"
    if claim is None or (why_not and found.epsilon <= claim):
        return "not applicable", f"{why_not} Seen: {evidence}" if found.epsilon else why_not
    if found.epsilon > claim:
        return "failed", evidence
    if far > claim:
        return "not refuted", evidence
    could = f"these runs could not have shown more than ε = {far:.3g}, whatever it leaks"
    return "no verdict", f"{could}; {evidence}"


def looked_at(found: Tried) -> dict[str, Any]:
    """The reach of the search: how many tables, of which lengths, with which rewards."""
    moved = [np.argwhere((pair.a != pair.b).any(axis=-1))[0].tolist() for pair in found.tried]
    return {
        "tried": len(found.tried),
        "arms": int(found.pair.a.shape[-1]),
        "rounds": sorted({pair.rounds for pair in found.tried}),
        "blocks": sorted({pair.block for pair in found.tried}),
        "rows": len({(pair.rounds, *at) for pair, at in zip(found.tried, moved, strict=True)}),
        "rewards": sorted(
            {round(float(x), 4) for pair in found.tried for x in np.unique([pair.a, pair.b])}
        ),
    }
