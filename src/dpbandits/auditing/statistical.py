"""The statistical level: a lower bound on epsilon from runs of a black box on neighbouring
tables.
"""

import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Self, final

import numpy as np

from dpbandits.auditing.events import (
    Bound,
    Event,
    bound,
    choose_event,
    expected_bound,
    hits,
    keys_of,
    reach,
)
from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.auditing.subjects import Subject
from dpbandits.auditing.tables import Neighbours, with_drawn_levels
from dpbandits.core.errors import MixedRuns
from dpbandits.core.inputs import Floats, Integers

# Plays runs on several cores, each lot from a seed of its own.


CELLS = 4_000_000
"""Numbers of outcomes that a task holds at once, and the most runs a task plays."""

TASKS = 2
"""Into so many parts every lot is cut at least, however many workers there are: the same lot on
every machine.
"""

SAME = 20
"""Runs that are played twice from one seed, to see whether they follow it."""

TURNS, SHORTEST = 500, 4
"""Into so many turns a task is cut where tables take turns, and the fewest runs of a turn."""

SOON = 0.003
"""Seconds of play that tell how long a run takes."""


@final
class Players:
    """Plays runs on all cores. Every task has a seed of its own, so no two share noise.

    A subject whose randomness does not follow the seed is played in this process alone, since
    copies of a process repeat each other's draws; and on either table by turns, so that what else
    changes in the meantime changes for both.
    """

    def __init__(self, subject: Subject, workers: int, *, clocked: bool = False) -> None:
        """clocked: a lot that mixed its runs is not played again run by run, which may take longer
        than there is time for; MixedRuns is raised.
        """
        global _playing
        _playing, self.subject, self._clocked = subject, subject, clocked
        self.seeded, varies = follows_its_seed(subject)
        # what is the same with every seed may have it from a clock that stood still
        self.by_turns = not (self.seeded and varies)
        self.workers = workers if sys.platform == "linux" and not self.by_turns else 1
        # Forked, so that objects which cannot be pickled can be audited too.
        self._pool = (
            ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork"))
            if self.workers > 1
            else None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def outcomes(self, pair: Neighbours, runs: int, seed: int) -> tuple[Floats, Floats]:
        """Outcomes on either table."""
        lots = self._all(pair, runs, seed, None)
        return np.concatenate([a for a, _ in lots]), np.concatenate([b for _, b in lots])

    def counts(self, pair: Neighbours, event: Event, runs: int, seed: int) -> Integers:
        """Hits of a learnt event; outcomes are forgotten as they come."""
        total: Integers = np.sum(self._all(pair, runs, seed, event), axis=0)
        return total

    def pace(self, pair: Neighbours, seed: int) -> float:
        """Seconds it takes to play a run on either table: of few runs if they are slow."""
        runs, took = 1, 0.0
        while True:
            began = time.perf_counter()
            self.outcomes(pair, runs, seed)
            took = time.perf_counter() - began
            if took > SOON or runs > 10**5:
                return max(1e-9, took) / runs
            runs *= 10

    def _all(self, pair: Neighbours, runs: int, seed: int, event: Event | None) -> list[Any]:
        tasks = max(math.ceil(runs * pair.a.size / CELLS), min(TASKS, runs))
        sizes = [runs // tasks + (i < runs % tasks) for i in range(tasks)]
        seeds = (
            np.random.SeedSequence([seed % 2**32, 342])
            .generate_state(2 * tasks, np.uint64)
            .reshape(tasks, 2)
            .tolist()
        )
        jobs = [
            (pair, size, pair_of_seeds, event)
            for size, pair_of_seeds in zip(sizes, seeds, strict=True)
        ]
        try:
            return self._played(jobs)
        except MixedRuns:
            if self._clocked:
                raise
            return self._played(jobs)

    def _played(self, jobs: list[Any]) -> list[Any]:
        if self._pool is not None:
            return list(self._pool.map(play_here, jobs))
        play = play_by_turns if self.by_turns else play_pair
        return [play(self.subject, *job) for job in jobs]


def follows_its_seed(subject: Subject) -> tuple[bool, bool]:
    """Whether runs of one seed are the same, and whether runs of different seeds differ."""
    table = subject.pairs()[0].a
    try:
        one, other = (subject.outcomes(table, SAME, 1) for _ in range(2))
    except MixedRuns:
        return follows_its_seed(subject)
    return bool(np.array_equal(one, other)), bool((one != one[0]).any())


_playing: Subject | None = None


def play_here(job: tuple[Any, ...]) -> Any:
    assert _playing is not None
    return play_pair(_playing, *job)


def play_pair(
    subject: Subject, pair: Neighbours, runs: int, seeds: list[int], event: Event | None
) -> Any:
    a, b = (
        subject.outcomes(table, runs, seed)
        for table, seed in zip((pair.a, pair.b), seeds, strict=True)
    )
    return (a, b) if event is None else hits(event, a, b)


def play_by_turns(
    subject: Subject, pair: Neighbours, runs: int, seeds: list[int], event: Event | None
) -> Any:
    """As `play_pair`, a few runs on one table and as many on the other; which comes first is drawn
    for each turn.
    """
    rng, size = np.random.default_rng(seeds), max(SHORTEST, -(-runs // TURNS))
    tables, lots = (pair.a, pair.b), (list[Floats](), list[Floats]())
    for done in range(0, runs, size):
        for side in rng.permutation(2).tolist():
            drawn = int(rng.integers(2**63))
            lots[side].append(subject.outcomes(tables[side], min(size, runs - done), drawn))
    a, b = map(np.concatenate, lots)
    return (a, b) if event is None else hits(event, a, b)


# The lots of runs. The pilot says which pair of tables tells most: all are tried with a few runs,
# the better ones with more, the best with many; nothing that is seen there is counted in the
# bound. The last lot alone enters it.


HEATS = 3
FEWEST_TRIED, MOST_TRIED = 20, 400
"""Runs a side of every pair in the first heat, a hundredth of those that will be counted, within
these bounds; five times as many in each further heat.
"""

FEW_PAIRS, MANY_PAIRS = 24, 200
"""Pairs that are tried where a number of runs is given: a fiftieth of it, within these bounds."""

ALPHA = 1e-6

PILOT = 0.35
"""Share of the budget for the choice of tables."""

LONG = 64
"""Rounds; of longer tapes fewer runs are played, in proportion, so that a pair of them takes as
long as another.
"""


class Tried(NamedTuple):
    """The best pair, and those whose runs were compared."""

    pair: Neighbours
    tried: list[Neighbours]


def pilot(
    players: Players,
    pairs: Sequence[Neighbours],
    seed: int,
    *,
    runs: int | None,
    seconds: float,
    tell: Callable[[str], None],
) -> Tried:
    """runs: where given, so many are to be counted, the pilot plays in proportion, and the clock is
    not looked at; otherwise `seconds`.
    """
    until, left, tried = time.perf_counter() + seconds, list(pairs), list[Neighbours]()
    if runs is not None:
        left = left[: int(np.clip(runs // 50, FEW_PAIRS, MANY_PAIRS))]
    for heat in range(HEATS if len(left) > 1 else 0):
        end, scores = until - seconds * (0.6, 0.25, 0.0)[heat], dict[int, float]()
        shortest, slow = min(pair.rounds for pair in left), set[int]()
        for at, pair in enumerate(left):
            if runs is None:
                each = 0 if pair.rounds in slow else afforded(players, pair, seed, end, heat)
                if not each and pair.rounds <= shortest:
                    break  # no other takes less
            else:
                each = runs_of(pair, runs, heat)
            if not each:
                slow |= {pair.rounds} if pair.rounds > LONG else set()
                continue
            lots = players.outcomes(pair, each, seed + 10**5 * (heat + 1) + at)
            scores[at] = expected_bound(*lots, ALPHA)
            tell(f"trying pair {at + 1} of {len(left)} of tables, heat {heat + 1} of {HEATS}")
        tried = tried or [left[at] for at in scores]
        if not scores:
            break
        order = sorted(scores, key=lambda at: (-scores[at], left[at].rounds, at))
        left = [left[at] for at in order[: (max(4, len(scores) // 8), 3, 1)[heat]]]
    return Tried(left[0], tried or left[:1])


def runs_of(pair: Neighbours, runs: int, heat: int) -> int:
    return max(
        (20, 40, 80)[heat],
        int(min(max(runs // 100, FEWEST_TRIED), MOST_TRIED) * 5**heat * run_share(pair)),
    )


def run_share(pair: Neighbours) -> float:
    """The share of runs that a tape of this length is played for."""
    return min(1.0, LONG / pair.rounds)


FEWEST, SLOW = 10, 0.25
"""Runs a side of a pair that takes long, and the part of the heat's time that they may take."""


def afforded(players: Players, pair: Neighbours, seed: int, end: float, heat: int) -> int:
    """Runs for a pair of this heat, which ends at `end`: a share of the time that is left; none if
    even a few take too long.
    """
    if time.perf_counter() > end:
        return 0
    pace = players.pace(pair, seed + 17 * heat)
    seconds = end - time.perf_counter()
    if FEWEST * pace > SLOW * seconds:
        return 0
    share = (0.005, 0.05, 0.3)[heat] * seconds
    return int(np.clip(share / pace, FEWEST, (2_000, 30_000, 200_000)[heat]))


MOST = 12_000_000
"""Runs a side of the last lot; a tight mechanism at epsilon = 0.1 needs 3.2 million for nine
tenths.
"""


LOOKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""With a budget of seconds the last lot is looked at after these multiples of the runs there should
be time for, as far as there is.
"""


@final
@dataclass(frozen=True)
class RunPlan:
    """How much is played: for `budget` seconds, or so many runs a side (of tapes of more than 64
    rounds fewer, in proportion).
    """

    budget: float
    runs: int | None
    seed: int
    tell: Callable[[str], None]
    start: float

    def left(self) -> float:
        """Seconds; a little is kept for what comes after."""
        return 0.95 * self.budget - (time.perf_counter() - self.start)


class Counted(NamedTuple):
    """What the last lot says at its best look. alpha: what that look may be wrong with. runs: of
    all looks together.
    """

    bound: Bound
    counts: list[int]
    alpha: float
    runs: int


def count(players: Players, found: Tried, event: Event, plan: RunPlan, scoring: float) -> Counted:
    """All at once if a number of runs is given. Otherwise after fixed shares of a number that is
    settled before the first of them.
    """
    pair, seed, start = found.pair, plan.seed + 20_000, time.perf_counter()
    if plan.runs is not None:
        ends, alpha = [max(30, int(min(MOST, plan.runs) * run_share(pair)))], ALPHA
    else:
        pace, left = players.pace(pair, seed + 7) + scoring / players.workers, plan.left()
        whole = int(np.clip(0.9 * left / pace, 40, MOST))
        ends, alpha = [min(MOST, max(1, int(share * whole))) for share in LOOKS], ALPHA / len(LOOKS)
    total, done, best = np.zeros(4, np.int64), 0, None
    for at, end in enumerate(ends):
        if done and (
            end == done
            or (
                plan.runs is None
                and (time.perf_counter() - start) / done * (end - done) > plan.left()
            )
        ):
            break
        plan.tell(f"counting {end:,} runs on either table")
        total, done = total + players.counts(pair, event, end - done, seed + 10**6 * (at + 1)), end
        seen = Counted(bound(total, done, alpha), total.tolist(), alpha, done)
        best = seen if best is None or seen.bound.epsilon >= best.bound.epsilon else best
    assert best is not None
    return best._replace(runs=done)


# Runs to learn an event from, and how long it takes to learn and to look for it.


LEARNT, LEARNT_CELLS = 1_000_000, 8_000_000
"""Runs a side an event is learnt on, at most, and numbers in them. A quarter of that where a number
of runs is given.
"""

LEARNING, CHOOSING = 0.15, 0.1
"""Shares of the budget: to play runs to learn from, and to learn.
"""


def learning_lot(players: Players, found: Tried, plan: RunPlan) -> tuple[Floats, Floats]:
    """Runs to learn from: with a budget in lots that grow as long as there is time to play and to
    learn from them.
    """
    pair, seed = found.pair, plan.seed + 10_000
    if plan.runs is not None:
        return players.outcomes(
            pair,
            max(
                30,
                int(
                    min(plan.runs, LEARNT // 4, LEARNT_CELLS // 4 // pair.a.size) * run_share(pair)
                ),
            ),
            seed,
        )
    seconds, lots, whole = plan.left() / (1 - PILOT), list[tuple[Floats, Floats]](), 0
    size, until = (
        int(np.clip(0.1 * LEARNING * seconds / players.pace(pair, seed), 10, 20_000)),
        time.perf_counter() + LEARNING * seconds,
    )
    while True:
        began = time.perf_counter()
        lots.append(players.outcomes(pair, size, seed + len(lots)))
        pace, whole = max(1e-9, time.perf_counter() - began) / size, whole + size
        if len(lots) == 1:
            most = min(
                LEARNT,
                LEARNT_CELLS // lots[0][0].shape[1],
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


# Are runs tied together? A bound counted from runs holds if they are independent. Runs that get
# their randomness from a seed they share, such as the second at which they are played, are not.


FEWEST_ALIKE = 12
"""Neighbours that are alike, before anything is said of a few."""

DEVIATIONS = 6
"""Standard deviations."""


def tied_together(rows: Floats) -> bool:
    """Whether runs that were played one after the other are alike more often than any two of them.

    All orders of independent runs are equally likely. The number of neighbours that are alike has
    the mean and the variance of the number of runs of Wald and Wolfowitz, for many categories.

    >>> tied_together(np.repeat([[1.0], [2.0]], 50, axis=0)), tied_together(np.ones((100, 1)))
    (True, False)
    """
    keys = keys_of(rows)
    alike, n = int((keys[1:] == keys[:-1]).sum()), len(keys)
    sizes = np.unique(keys, return_counts=True)[1].astype(float)
    squares, cubes = (sizes**2).sum(), (sizes**3).sum()
    mean = (squares - n) / n
    variance = (squares * (squares + n * (n + 1.0)) - 2 * n * cubes - n**3.0) / (
        n**2.0 * max(1, n - 1)
    )
    return alike >= FEWEST_ALIKE and bool(
        alike > mean + DEVIATIONS * np.sqrt(max(0.0, variance)) + 1e-6 * n
    )


# Level 3, black box: a lower bound on epsilon from simulated runs on neighbouring tables, wrong
# with probability 10⁻⁶ at most.
#
# Three separate lots of runs: a pilot chooses the pair of tables, the next lot learns the event,
# the last is counted. Only the last enters the bound, for one pair and two events (one a
# direction). With a budget of seconds the last lot is looked at after fixed numbers of runs, and
# each look is paid for; whether there is time for another one may then depend on anything.


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
