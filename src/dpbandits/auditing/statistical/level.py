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
from dpbandits.auditing.statistical.counting.events import Bound, Event, choose_event, hits, reach
from dpbandits.auditing.statistical.counting.pilot import (
    ALPHA,
    MOST,
    Counted,
    RunPlan,
    Tried,
    count,
    pilot,
    run_share,
)
from dpbandits.auditing.statistical.counting.players import Players
from dpbandits.auditing.statistical.subjects import Subject
from dpbandits.core.arrays import Floats

LEVEL = "statistical"

LEARNT, CELLS = 1_000_000, 8_000_000
"""Runs a side an event is learnt on, at most, and numbers in them. A quarter of that where a number
of runs is given.
"""

PILOT, LEARNING, CHOOSING = 0.35, 0.15, 0.1
"""Shares of the budget: for the choice of tables, to play runs to learn from, and to learn. The
rest is for the runs that count.
"""


STRANGE = (
    "its noise does not come from the source or seed it is given, so nobody can repeat this, and "
    "only one process plays it"
)


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
    with Players(subject, workers) as players:
        seconds = min(PILOT * budget, plan.left())
        found = pilot(players, subject.pairs(), seed, runs=runs, seconds=seconds, tell=tell)
        lots = learning_lot(players, found, plan)
        tell("learning an event")
        event = choose_event(*lots, min(MOST, runs or 10 * len(lots[0])), ALPHA / 2)
        counted = count(players, found, event, plan, scoring(event, lots))
        strange = not players.seeded and getattr(subject, "takes_noise", True)
    still = "" if varied(*lots) else "Every run had the same outcome: there was nothing to see."
    why_not = no_claim if claim is None else still
    result = statistical_verdict(counted, found, event, plan, claim, why_not)
    return replace(result, details=result.details | {"warning": STRANGE}) if strange else result


def learning_lot(players: Players, found: Tried, plan: RunPlan) -> tuple[Floats, Floats]:
    """Runs to learn from: with a budget in lots that grow as long as there is time to play and to
    learn from them.
    """
    pair, seed = found.pair, plan.seed + 10_000
    if plan.runs is not None:
        return players.outcomes(
            pair,
            max(30, int(min(plan.runs, LEARNT // 4, CELLS // 4 // pair.a.size) * run_share(pair))),
            seed,
        )
    seconds, lots, whole = plan.left() / (1 - PILOT), list[tuple[Floats, Floats]](), 0
    size, until = (
        int(np.clip(0.1 * LEARNING * seconds / players.pace(pair, seed), 30, 20_000)),
        time.perf_counter() + LEARNING * seconds,
    )
    while True:
        began = time.perf_counter()
        lots.append(players.outcomes(pair, size, seed + len(lots)))
        pace, whole = max(1e-9, time.perf_counter() - began) / size, whole + size
        if len(lots) == 1:
            most = min(
                LEARNT,
                CELLS // lots[0][0].shape[1],
                int(CHOOSING * seconds / time_to_learn(lots[0])),
            )
        size = int(min(3 * whole, (until - time.perf_counter()) / pace, most - whole))
        if size < whole / 4:
            a, b = (np.concatenate([lot[side] for lot in lots]) for side in (0, 1))
            return a, b


def time_to_learn(lot: tuple[Floats, Floats]) -> float:
    """Seconds a run, seen on a part of the lot that does not take long; a little of it does not
    grow with the runs.
    """
    few = min(len(lot[0]), 3_000)
    began = time.perf_counter()
    choose_event(lot[0][:few], lot[1][:few], few, ALPHA)
    return max(1e-9, time.perf_counter() - began) / few / 2


def scoring(event: Event, lots: tuple[Floats, Floats]) -> float:
    """Seconds it takes to see whether a run on either table is in the event."""
    began, few = time.perf_counter(), 5_000
    hits(event, lots[0][:few], lots[1][:few])
    return (time.perf_counter() - began) / min(few, len(lots[0]))


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
