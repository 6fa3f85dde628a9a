"""The statistical level: a lower bound on epsilon from runs of a black box on neighbouring tables.

A pilot chooses the pair of tables. Then lots of runs are played on it, each run on the table that a
coin chooses. An adversary that has learnt from the pilot and from the earlier lots states for every
run which table it was, and what it wins is evidence against the claim, at whatever time it is
looked at (see `evidence`).
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

from dpbandits.auditing.adversary import Adversary, keys_of, learn, rough, unlike
from dpbandits.auditing.effort import SHORTEST, clock, waited
from dpbandits.auditing.evidence import (
    ALPHA,
    Bets,
    bets_of,
    certified,
    certified_rho,
    curve,
    no_bets,
    reach,
    rho_reach,
    runs_needed,
    runs_to_reach,
    written,
)
from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.auditing.subjects import Subject
from dpbandits.auditing.tables import Neighbours, with_drawn_levels
from dpbandits.core.errors import MixedRuns
from dpbandits.core.inputs import Floats

LEVEL = "statistical"

# Runs are played on several cores, each part of a lot from a seed of its own.


CELLS = 4_000_000
"""Numbers of outcomes that a task holds at once."""

TASKS = 2
"""Into so many parts every lot is cut at least, however many workers there are: the same lot on
every machine.
"""

WORTH_A_TASK = 50
"""Runs of a part, at least."""

SAME = 20
"""Runs that are played twice from one seed, to see whether they follow it."""


class Lot(NamedTuple):
    """Outcomes on either table, and the bets on them (None: none were made)."""

    a: Floats
    b: Floats
    bets: Bets | None


NO_RUNS = Lot(np.zeros((0, 1)), np.zeros((0, 1)), None)


def together(*lots: Lot) -> Lot:
    """The outcomes of all, and the bets on them."""
    a, b = (
        np.concatenate([part for part in parts if len(part)] or [np.zeros((0, 1))])
        for parts in zip(*((lot.a, lot.b) for lot in lots), strict=True)
    )
    made = [lot.bets for lot in lots if lot.bets is not None]
    return Lot(a, b, np.sum(made, axis=0) if made else None)


@final
class Players:
    """Plays runs on all cores. Every task has a seed of its own, so no two share noise.

    A subject whose randomness does not follow the seed is played in this process alone, since
    copies of a process repeat each other's draws; and run by run in the order of the coins, so that
    what else changes in the meantime changes for both tables.
    """

    def __init__(self, subject: Subject, workers: int) -> None:
        self.subject = subject
        self.seeded, varies = follows_its_seed(subject)
        # what is the same with every seed may have it from a clock that stood still
        self.by_turns = not (self.seeded and varies)
        self.workers = workers if sys.platform == "linux" and not self.by_turns else 1
        # Forked, so that objects which cannot be pickled can be audited too.
        self._pool = (
            ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("fork"),
                initializer=begin_playing,
                initargs=(subject,),
            )
            if self.workers > 1
            else None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def play(
        self,
        pair: Neighbours,
        runs: int,
        seed: int,
        adversary: Adversary | None = None,
        keep: bool = True,
        again: int = 0,
    ) -> Lot:
        """Play so many runs, each on the table that its coin chooses.

        adversary: states which table each run was on. keep: whether the outcomes are wanted. again:
            how often runs of this pair and seed were played before.

        Raises:
            MixedRuns: see `MechanismSubject`.
        """
        tasks = max(math.ceil(runs * pair.a.size / CELLS), min(TASKS, runs // WORTH_A_TASK), 1)
        seeds = np.random.SeedSequence([seed % 2**32, 342, again]).generate_state(tasks, np.uint64)
        jobs = [
            (pair, runs // tasks + (at < runs % tasks), int(own), self.by_turns, adversary, keep)
            for at, own in enumerate(seeds)
        ]
        if self._pool is None:
            lots = [play_lot(self.subject, *job) for job in jobs]
        else:
            parts = list(self._pool.map(play_here, jobs))
            lots = [lot for _, lot in parts]
            clock.waited_by_workers += sum(waits for waits, _ in parts) / self.workers
        return together(*lots)


def follows_its_seed(subject: Subject) -> tuple[bool, bool]:
    """Whether runs of one seed are the same, and whether runs of different seeds differ."""
    table = subject.pairs()[0].a
    try:
        one, other = (subject.outcomes(table, SAME, 1) for _ in range(2))
    except MixedRuns:
        return follows_its_seed(subject)
    return bool(np.array_equal(one, other)), bool((one != one[0]).any())


_playing: Subject | None = None
"""What a worker plays."""


def begin_playing(subject: Subject) -> None:
    """In a worker: processes are forked late, when another audit may have begun here."""
    global _playing
    _playing = subject


def play_here(job: tuple[Any, ...]) -> tuple[float, Lot]:
    """A part of a lot, and the seconds for which this worker waited for a processor."""
    assert _playing is not None
    began = waited()
    lot = play_lot(_playing, *job)
    return waited() - began, lot


def play_lot(
    subject: Subject,
    pair: Neighbours,
    runs: int,
    seed: int,
    by_turns: bool,
    adversary: Adversary | None,
    keep: bool,
) -> Lot:
    """A part of a lot. by_turns: in the order of the coins; else all runs of a table at once, which
    comes to the same where runs are independent.
    """
    rng = np.random.default_rng([seed, 346])
    coins = rng.integers(2, size=runs)
    order = coins if by_turns else np.sort(coins)
    ends = np.flatnonzero(np.diff(order, append=2)) + 1
    sides, begin = (list[Floats](), list[Floats]()), 0
    for end in ends.tolist():
        side, drawn = int(order[begin]), int(rng.integers(2**63))
        sides[side].append(subject.outcomes((pair.a, pair.b)[side], end - begin, drawn))
        begin = end
    a, b = (np.concatenate(side) if side else np.zeros((0, 0)) for side in sides)
    bets = None
    if adversary is not None:
        levels = [adversary(part) if len(part) else np.zeros(0, np.int64) for part in (a, b)]
        bets = bets_of(*levels)
    return Lot(a, b, bets) if keep else Lot(a[:0], b[:0], bets)


# Are runs tied together? Evidence counts if runs are independent. Runs that get their randomness
# from a seed they share, such as the second at which they are played, are not.


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


# The pilot says which pair of tables tells most: all are tried with a few runs, the better half
# with more, and so on; what was played of a pair is kept. No bets are made on these runs.


HEATS = 5

FEWEST_TRIED, MOST_TRIED = 20, 400
"""Runs a side of every pair in the first heat, a hundredth of those that will be bet on, within
these bounds; twice as many in each further heat but the second.
"""

FEW_PAIRS, MANY_PAIRS = 24, 200
"""Pairs that are tried where runs are counted: a fiftieth of the runs, within these bounds."""

PILOT, FIRST_HEAT = 0.35, 0.4
"""Of the seconds there are, the part for the choice of tables; of these, for the first heat."""

FEWEST, GLANCE, MOST_IN_TIME = 10, 40, 50_000
"""Runs a side of a pair in a heat where there are seconds: at least, in the first heat of many
pairs at most, and in others at most.
"""

LONG = 64
"""Rounds; of longer tapes fewer runs are played, in proportion, so that a pair of them takes as
long as another.
"""

SLOW, LONG_SHARE, FIRST_SHARE = 0.4, 0.08, 0.05
"""Of the seconds that a heat has left: what takes more is passed over, but for the shortest tapes.
Of all seconds: so much may the first tape of a length take, since what comes late shows in long
ones alone. Of those that the first of many heats has left: so much may a pair take.
"""

ROUGHLY = 0.02
"""The weight of what single numbers and whole outcomes tell, beside what an adversary would win."""

AHEAD = 20
"""Where there are seconds: times the runs of a pair that are thought to follow."""

FEWEST_BETS, MOST_BETS = 60, 24_000_000


@final
@dataclass(frozen=True)
class RunPlan:
    """How much is played: so many runs a side (of tapes of more than 64 rounds fewer, in
    proportion), without a look at the clock; or until the clock shows so much.
    """

    runs: int | None
    seed: int
    tell: Callable[[str], None]
    until: float = math.inf
    delta: float = 0.0
    rho: Fraction | None = None

    def bound(self, bets: Bets) -> float:
        """What is certified: a rho where that is claimed, else an epsilon."""
        return certified(bets, delta=self.delta) if self.rho is None else certified_rho(bets)

    def left(self) -> float:
        """Seconds."""
        return self.until - clock()

    def ahead(self, pair: Neighbours, played: int) -> int:
        """About how many runs there will be bets on, where so many of the pair were played."""
        if self.runs is None:
            return AHEAD * played
        return max(FEWEST_BETS, int(2 * self.runs * run_share(pair)))


class Tried(NamedTuple):
    """The best pair, the runs that showed it, all pairs whose runs were compared, and the seconds
    that a run took.
    """

    pair: Neighbours
    a: Floats
    b: Floats
    tried: list[Neighbours]
    pace: float


def pilot(players: Players, pairs: Sequence[Neighbours], plan: RunPlan) -> Tried:
    """Choose a pair. Where there are seconds, all pairs of a heat get as many: of two that tell as
    much in a run, the one that is played faster is chosen.
    """
    runs, until, left = plan.runs, clock() + PILOT * plan.left(), list(pairs)
    if runs is not None:
        left = left[: min(max(runs // 50, FEW_PAIRS), MANY_PAIRS)]
    kept, paces, tried = [NO_RUNS] * len(left), dict[int, float](), list[Neighbours]()
    for heat in range(HEATS):
        now, scores = clock(), dict[int, float]()
        end = now + (until - now) * (FIRST_HEAT if heat == 0 else 1 / (HEATS - heat))
        # of few pairs each is worth more than a glance
        glance = heat == 0 and (runs is not None or len(left) > FEW_PAIRS)
        for at, pair in enumerate(left):
            began = clock()
            if began > end and scores:
                break
            longest = glance and pair.rounds > max([LONG, *paces])
            allowed = (end - began) * (1 if pair.rounds <= min(paces, default=0) else SLOW)
            if longest:
                allowed = LONG_SHARE * plan.left()
            if scores and 2 * FEWEST * pace_of(pair, paces) > allowed:
                continue
            share = FIRST_SHARE if glance else 1 / (len(left) - at)
            first, most = FEWEST, GLANCE if glance else MOST_IN_TIME
            if runs is not None:
                first = most = runs_of(pair, runs, heat)
            seed, seconds = plan.seed + 10**5 * (heat + 1) + at, share * (end - began)
            lot, paces[pair.rounds] = played_for(seconds, players, pair, seed, first, most)
            lot = kept[at] = together(kept[at], lot)
            scores[at] = at_first_glance(lot) if glance else promising(lot, pair, plan)
            if longest:
                end, until = end + clock() - began, until + clock() - began
            plan.tell(f"trying pair {at + 1} of {len(left)} of tables, heat {heat + 1} of {HEATS}")
        tried = tried or [left[at] for at in scores]
        best = sorted(scores, key=lambda at: (-scores[at], left[at].rounds, at))
        best = best[: -(-len(best) // 2) if heat < HEATS - 1 else 1]
        left, kept = [left[at] for at in best], [kept[at] for at in best]
        if len(left) == 1:
            break
    return Tried(left[0], kept[0].a, kept[0].b, tried, paces[left[0].rounds])


def played_for(
    seconds: float, players: Players, pair: Neighbours, seed: int, first: int, most: int
) -> tuple[Lot, float]:
    """So many runs a side at first, and as many again while there is time for them; and the seconds
    that a run took.
    """
    began, lot, each, again = clock(), NO_RUNS, first, 0
    while True:
        lot = together(lot, players.play(pair, 2 * each, seed, again=again))
        took, done = max(SHORTEST, clock() - began), len(lot.a) + len(lot.b)
        left = min(done, 2 * most - done) // 2
        if not left or took * (done + 2 * left) / done > seconds:
            return lot, took / done
        each, again = left, again + 1


def pace_of(pair: Neighbours, paces: dict[int, float]) -> float:
    """About how many seconds a run takes; of a length that was not played, in proportion to the
    longest that was.
    """
    longest = max(paces)
    return paces.get(pair.rounds, paces[longest] / longest * pair.rounds)


def at_first_glance(lot: Lot) -> float:
    """How unlike the outcomes are, for what so few runs can say."""
    return unlike(lot.a, lot.b) if can_tell(lot) else -math.inf


def can_tell(lot: Lot) -> bool:
    """Whether there are runs on either table, and they are not all the same: of those that are,
    nothing can be learnt, and a pair whose runs vary by noise alone tells more.
    """
    rows = np.concatenate([lot.a, lot.b]) if len(lot.a) and len(lot.b) else lot.a[:0]
    return bool((rows != rows[:1]).any())


def promising(lot: Lot, pair: Neighbours, plan: RunPlan) -> float:
    """About how much these runs tell; few of them cannot be compared with many."""
    if not can_tell(lot):
        return -math.inf
    learnt = learn(lot.a, lot.b, plan.ahead(pair, len(lot.a) + len(lot.b)))
    return learnt.bound + ROUGHLY * rough(lot.a, lot.b)


def runs_of(pair: Neighbours, runs: int, heat: int) -> int:
    """Runs a side in a heat, where runs are counted."""
    first = min(max(runs // 100, FEWEST_TRIED), MOST_TRIED)
    return max(FEWEST_TRIED, int((first << max(0, heat - 1)) * run_share(pair)))


def run_share(pair: Neighbours) -> float:
    """The share of runs that a tape of this length is played for."""
    return min(1.0, LONG / pair.rounds)


# Lots of runs with bets on them. Each lot is a third of what was learnt from so far.


KEPT, KEPT_CELLS = 400_000, 16_000_000
"""Runs that are learnt from, at most, and numbers in them."""

GROWS, LEAST_LOT = 0.3, 20
"""A lot, as a part of the runs that were learnt from; where seconds end it, its least runs."""

LESSON, TOO_LONG = 0.12, 0.2
"""Of the seconds that are left: for runs without bets that are learnt from first, since what an
adversary that has seen few runs loses a later one has to win again; and a lesson that takes more is
not worth it.
"""


class Gathered(NamedTuple):
    """The bets at the time when they certified most. runs: all that were bet on."""

    bets: Bets
    bound: float
    runs: int
    lots: int


def gather(players: Players, found: Tried, plan: RunPlan) -> Gathered:
    """Bet until the runs or the seconds are used up."""
    seed, pair, pace, learning = plan.seed + 20_000, found.pair, found.pace, 0.0
    most = MOST_BETS if plan.runs is None else plan.ahead(pair, 0)
    limit, seen = min(KEPT, KEPT_CELLS // max(1, found.a.shape[1])), Lot(found.a, found.b, None)
    if plan.runs is None:
        more, pace = played_for(LESSON * plan.left(), players, pair, seed, FEWEST, limit // 2)
        seen = together(seen, more)
    known = len(seen.a) + len(seen.b)
    best, bets, done, lots = Gathered(no_bets(), 0.0, 0, 0), no_bets(), 0, 0
    adversary = learn(seen.a, seen.b, plan.ahead(pair, known))
    while done < most:
        keep = known < limit and learning <= TOO_LONG * plan.left()
        size = max(40, int(GROWS * known), 0 if keep else done)
        if plan.runs is None:
            # a lot takes as long as the lesson before it
            size = int(min(max(size, learning / pace), plan.left() / pace))
            if size < LEAST_LOT:
                break
        size, seed, lots, began = min(size, most - done), seed + 1, lots + 1, clock()
        lot = players.play(pair, size, seed * 1009, adversary, keep)
        pace, done = max(SHORTEST, clock() - began) / size, done + size
        assert lot.bets is not None
        bets = bets + lot.bets
        bound = plan.bound(bets)
        if bound >= best.bound:
            best = Gathered(bets, bound, done, lots)
        plan.tell(f"bet on {done:,} runs, ε ≥ {best.bound:.3g}")
        if keep and done < most:
            seen, known, began = together(seen, lot), known + size, clock()
            adversary = learn(seen.a, seen.b, plan.ahead(pair, known))
            learning = clock() - began
    return best._replace(runs=done)


# The level's verdict.


STRANGE = (
    "its noise does not come from the source or seed it is given, so nobody can repeat this, and "
    "only one process plays it"
)

SECOND = 1.1
"""Seconds after which a generator is another one that the clock has seeded."""

LATER, LEARNT_LAST = 40, 300
"""Runs that are played then, and runs a side before that they are compared with."""

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
    runs: int | None = None,
    until: float = math.inf,
    seed: int = 0,
    workers: int = 2,
    no_claim: str = "It claims no privacy.",
    tell: Callable[[str], None] = silent,
    delta: float = 0.0,
    rho: Fraction | None = None,
) -> LevelResult:
    """Certify what can be certified.

    Args:
        runs: that are bet on, for either table on average; the clock is not looked at. None: as
            many as there is time for until the audit's clock shows `until`.
        no_claim: what to say where there is no claim.
        tell: is told what is being done.
        delta: of the claim.
        rho: the claim is one of zCDP.

    Raises:
        MixedRuns: what was played is not kept: that it was not noticed earlier is part of what was
            seen. Played again, runs are played one by one.
    """
    plan = RunPlan(runs, seed, tell, until, delta, rho)
    claim = claim if rho is None else rho
    tell("starting")
    with Players(subject, workers) as players:
        found = pilot(players, with_drawn_levels(subject.pairs(), seed), plan)
        since = time.monotonic()
        if players.by_turns and (tied_together(found.a) or tied_together(found.b)):
            return unseen(TIED, claim, no_claim, warning=WARNED)
        gathered = gather(players, found, plan)
        strange = not players.seeded and getattr(subject, "takes_noise", True)
        leaks = claim is not None and gathered.bound > claim
        if leaks and players.by_turns and tied_later(players, found, since):
            return unseen(TIED, claim, no_claim, warning=WARNED)
    same = len(np.unique(keys_of(np.concatenate([found.a, found.b])))) == 1
    still = "Every run had the same outcome: there was nothing to see." if same else ""
    result = statistical_verdict(gathered, found, plan, claim, no_claim if claim is None else still)
    return replace(result, details=result.details | {"warning": STRANGE}) if strange else result


def tied_later(players: Players, found: Tried, since: float) -> bool:
    """Whether runs of another second are unlike those that were learnt from: what does the same
    all the time may do so with the clock's seed.
    """
    time.sleep(max(0.0, SECOND - (time.monotonic() - since)))
    later = players.play(found.pair, LATER, 0)
    both = [(found.a, later.a), (found.b, later.b)]
    return any(
        len(after) and tied_together(np.concatenate([before[-LEARNT_LAST:], after]))
        for before, after in both
    )


def unseen(why: str, claim: Fraction | None, no_claim: str, **more: str) -> LevelResult:
    """Nothing was counted."""
    outcome: Outcome = "not applicable" if claim is None else "no verdict"
    evidence = f"{no_claim} {why}" if claim is None else why
    return LevelResult(LEVEL, outcome, evidence=evidence, details={"why": why} | more, reach=0.0)


def statistical_verdict(
    gathered: Gathered, tried: Tried, plan: RunPlan, claim: Fraction | None, why_not: str
) -> LevelResult:
    """why_not: why it is held to nothing, where it is not."""
    pair, rho = tried.pair, plan.rho
    far = reach(gathered.runs, delta=plan.delta) if rho is None else rho_reach(gathered.runs)
    details = {
        "pair": pair.label,
        "runs": gathered.runs,
        "lots": gathered.lots,
        "alpha": ALPHA,
        "bets": written(gathered.bets),
        "delta": plan.delta,
        "claimed_rho": None if rho is None else str(rho),
        "curve": [list(point) for point in curve(gathered.bets)],
        "tables": [pair.a.tolist(), pair.b.tolist()],
    } | looked_at(tried)
    outcome, evidence = judged(gathered, far, pair.label, claim, why_not, rho is not None)
    if claim is not None and outcome in ("not refuted", "no verdict"):
        details["needed"] = (
            runs_needed(
                gathered.bets, float(claim), plan.delta, None if rho is None else float(rho)
            )
            if outcome == "not refuted"
            else None
            if rho is not None or plan.delta
            else runs_to_reach(float(claim))
        )
    bound = gathered.bound
    if rho is not None:
        details |= {"rho": bound, "unit": "rho"}
        evidence, bound = f"{evidence}; ρ ≥ {bound:.3g} of {float(rho):g}", 0.0
    return LevelResult(
        LEVEL, outcome, bound, confidence=1 - ALPHA, evidence=evidence, details=details, reach=far
    )


def judged(
    found: Gathered,
    far: float,
    label: str,
    claim: Fraction | None,
    why_not: str,
    in_rho: bool = False,
) -> tuple[Outcome, str]:
    """The outcome, and the sentence that goes with it. far: what so many runs can show."""
    bets, size = found.bets, len(found.bets) // 2
    right = int(bets[size + 1 :, 0].sum() + bets[:size, 1].sum())
    guessed = int(bets.sum() - bets[size].sum())
    evidence = (
        f"{label}: an adversary told the tables apart in {right:,} of {guessed:,} guesses, in "
        f"{found.runs:,} runs on one or the other"
    )
    if not found.bound:
        evidence = f"{label}: nothing told the tables apart in {found.runs:,} runs"
    if claim is None or (why_not and found.bound <= claim):
        return "not applicable", f"{why_not} Seen: {evidence}" if found.bound else why_not
    if found.bound > claim:
        return "failed", evidence
    if far > claim:
        return "not refuted", evidence
    unit = "ρ" if in_rho else "ε"
    could = f"these runs could not have shown more than {unit} = {far:.3g}, whatever it leaks"
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
