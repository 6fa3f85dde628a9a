"""Level 3, black box: a lower bound on epsilon from simulated runs on neighbouring tables, wrong with probability 10⁻⁶ at most.

Three separate lots of runs: a pilot chooses the pair of tables, the next lot learns the event, the last is counted. Only the last enters
the bound, for one pair and two events (one a direction), so these two are all that has to be paid for. How many runs there are is
decided by the clock before the first of them is seen.
"""

from __future__ import annotations

import math
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.audit.events import Bound, Event, bound, choose, hits
from dpbandits.audit.report import LevelResult, Outcome
from dpbandits.audit.subjects import Floats, Neighbours, Subject

LEVEL = "statistical"
ALPHA = 1e-6
CHUNK = 500_000
"""Runs a task."""

MOST = 12_000_000
"""Runs a side of the last lot; a tight mechanism at epsilon = 0.1 needs 3.2 million for nine tenths."""

LEARNT, CELLS = 1_500_000, 12_000_000
"""Runs a side an event is learnt on, at most, and numbers in them: to learn takes time, too."""


def statistical_level(
    subject: Subject,
    claim: Fraction | None,
    *,
    budget: float = 60.0,
    seed: int = 0,
    workers: int = 2,
    no_claim: str = "It claims no privacy.",
    runs: int | None = None,
) -> LevelResult:
    """Certify what can be certified within `budget` seconds. no_claim: what to say where there is no claim.

    runs: counted a side, instead of as many as there is time for: the same bound on every machine.
    """
    start = time.perf_counter()
    with Players(subject, workers) as players:
        pair, seconds = pilot(players, subject, 0.2 * budget, seed, runs)
        left = 0.9 * budget - (time.perf_counter() - start)
        lots, seconds = learning_lot(players, pair, 0.3 * left, seconds, seed, runs)
        left = 0.9 * budget - (time.perf_counter() - start)
        event = choose(*lots, min(MOST, runs or max(300, int(left / seconds / 2))), ALPHA / 2)
        left, seconds = 0.9 * budget - (time.perf_counter() - start), seconds + scoring(event, lots) / players.workers
        testing = min(MOST, runs or max(300, int(left / seconds / 2)))
        found = bound(players.counts(pair, event, testing, seed + 20_000), testing, ALPHA)
    why_not = no_claim if claim is None else "" if varied(*lots) else "Every run had the same outcome: there was nothing to see."
    return verdict(found, pair, claim, time.perf_counter() - start, why_not)


def scoring(event: Event, lots: tuple[Floats, Floats]) -> float:
    """Seconds it takes to see whether a run is in the event."""
    began, few = time.perf_counter(), 20_000
    hits(event, lots[0][:few], lots[1][:few])
    return (time.perf_counter() - began) / 2 / min(few, len(lots[0]))


def varied(a: Floats, b: Floats) -> bool:
    """Whether any two outcomes differ."""
    return bool((a != a[0]).any() or (b != a[0]).any())


def learning_lot(
    players: Players, pair: Neighbours, budget: float, seconds: float, seed: int, runs: int | None
) -> tuple[tuple[Floats, Floats], float]:
    """Runs to learn from, in lots that grow (many at once may be quicker each), and the seconds a run took in the last."""
    start, size, lots, most = time.perf_counter(), runs or max(150, int(budget / seconds / 20)), list[tuple[Floats, Floats]](), LEARNT
    while not lots or (not runs and time.perf_counter() - start < budget / 3 and sum(len(a) for a, _ in lots) < most):
        most = min(LEARNT, CELLS // lots[0][0].shape[1]) if lots else LEARNT
        began = time.perf_counter()
        size = min(size, most)
        lots.append(players.outcomes(pair, size, seed + 10_000 + len(lots)))
        seconds = (time.perf_counter() - began) / size / 2
        size *= 4
    return (np.concatenate([a for a, _ in lots]), np.concatenate([b for _, b in lots])), seconds


def pilot(players: Players, subject: Subject, budget: float, seed: int, runs: int | None) -> tuple[Neighbours, float]:
    """The pair that certifies most in equal times, and the seconds a run of it takes. After each heat the better third goes on.

    runs: where given, the pilot plays about as many in all, and equally many of every pair, whatever the time.
    """

    def pace(pair: Neighbours) -> float:
        if runs:
            return budget / runs
        began = time.perf_counter()
        players.outcomes(pair, 100, seed + 10)
        return (time.perf_counter() - began) / 200

    pairs = list(subject.pairs())
    afford = max(3, int(0.3 * budget / (600 * pace(pairs[0]))))  # of a slow subject, every second pair or fewer
    pairs = pairs[:: -(-len(pairs) // afford)]
    paces = [pace(pair) for pair in pairs]
    for heat, share in enumerate((0.2, 0.3, 0.5)):
        scores = []
        for at, pair in enumerate(pairs):
            each = int(np.clip(share * budget / len(pairs) / paces[at] / 2, 200, 300_000))
            began = time.perf_counter()
            scores.append(promise(*players.outcomes(pair, each, seed + 1000 * heat + at + 100)))
            paces[at] = paces[at] if runs else (time.perf_counter() - began) / 2 / each
        ranked = sorted(range(len(pairs)), key=lambda i: (-scores[i], paces[i]))
        order = ranked[: (max(3, len(pairs) // 3), 3, 1)[heat]]
        pairs, paces = [pairs[i] for i in order], [paces[i] for i in order]
    return pairs[0], paces[0]


def promise(a: Floats, b: Floats) -> float:
    """What these runs alone would certify, half of them learnt on, at a confidence that lets a small lot speak."""
    half = len(a) // 2
    event = choose(a[:half], b[:half], len(a) - half, 0.1)
    return bound(hits(event, a[half:], b[half:]), len(a) - half, 0.1).epsilon


@final
class Players:
    """Plays runs on all cores. Every task has a seed of its own, so no two share noise.

    A subject whose randomness does not follow the seed is played in this process alone: copies of a process repeat each other's draws.
    """

    def __init__(self, subject: Subject, workers: int) -> None:
        global _playing
        _playing, self.subject = subject, subject
        self.workers = workers if sys.platform == "linux" and follows_its_seed(subject) else 1
        # Forked, so that objects which cannot be pickled can be audited too.
        self._pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) if self.workers > 1 else None

    def __enter__(self) -> Players:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def outcomes(self, pair: Neighbours, runs: int, seed: int) -> tuple[Floats, Floats]:
        """Outcomes on either table."""
        lots = self._all(pair, runs, seed, None)
        return np.concatenate([a for a, _ in lots]), np.concatenate([b for _, b in lots])

    def counts(self, pair: Neighbours, event: Event, runs: int, seed: int) -> NDArray[np.int64]:
        """Hits of a learnt event; outcomes are forgotten as they come."""
        total: NDArray[np.int64] = np.sum(self._all(pair, runs, seed, event), axis=0)
        return total

    def _all(self, pair: Neighbours, runs: int, seed: int, event: Event | None) -> list[Any]:
        tasks = max(math.ceil(runs / CHUNK), self.workers)
        sizes = [runs // tasks + (i < runs % tasks) for i in range(tasks)]
        seeds = np.random.SeedSequence([seed % 2**32, 342]).generate_state(2 * tasks, np.uint64).reshape(tasks, 2).tolist()
        jobs = [(pair, size, two, event) for size, two in zip(sizes, seeds, strict=True) if size]
        if self._pool is None:
            return [play(self.subject, *job) for job in jobs]
        return list(self._pool.map(play_here, jobs))


def follows_its_seed(subject: Subject) -> bool:
    table = subject.pairs()[0].a
    return bool(np.array_equal(subject.outcomes(table, 20, 1), subject.outcomes(table, 20, 1)))


_playing: Subject | None = None


def play_here(job: tuple[Any, ...]) -> Any:
    assert _playing is not None
    return play(_playing, *job)


def play(subject: Subject, pair: Neighbours, runs: int, seeds: list[int], event: Event | None) -> Any:
    a, b = (subject.outcomes(table, runs, seed) for table, seed in zip((pair.a, pair.b), seeds, strict=True))
    return (a, b) if event is None else hits(event, a, b)


def verdict(found: Bound, pair: Neighbours, claim: Fraction | None, seconds: float, why_not: str) -> LevelResult:
    """why_not: why it is held to nothing, where it is not."""
    details = {"pair": pair.label, "swapped": found.swapped, "at_least": found.least, "at_most": found.most, "runs": found.runs}
    evidence = (
        f"{pair.label}: an event of probability {found.least:.4%} at least on one table, {found.most:.4%} at most on its neighbour, "
        f"from {found.runs:,} runs on either"
    )
    if not found.epsilon:
        evidence = f"{pair.label}: nothing told the tables apart in {found.runs:,} runs on either"
    if claim is None or (why_not and found.epsilon <= claim):
        evidence = f"{why_not} Seen: {evidence}" if found.epsilon else why_not
        return LevelResult(LEVEL, "not applicable", found.epsilon, None, 0.0, 1 - ALPHA, evidence, seconds, details)
    outcome: Outcome = "failed" if found.epsilon > claim else "passed"
    return LevelResult(LEVEL, outcome, found.epsilon, None, 0.0, 1 - ALPHA, evidence, seconds, details)
