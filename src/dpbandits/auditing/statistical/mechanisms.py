"""A bare mechanism as a black box: all its answers to a stream of records."""

from collections import deque
from dataclasses import dataclass
from multiprocessing import RawValue
from typing import Any, final

import numpy as np

from dpbandits.auditing.mechanism_policy import alone, feed, longest
from dpbandits.auditing.statistical.counting.tables import (
    Neighbours,
    late_tapes,
    mixed,
    neighbouring,
)
from dpbandits.auditing.statistical.grouped import ManyNoise, Scripted
from dpbandits.auditing.statistical.subjects import ROUNDS
from dpbandits.auditing.transcript.outside_randomness import Outside
from dpbandits.core.errors import MixedRuns, Parting
from dpbandits.core.inputs import Floats, Integers, shown
from dpbandits.core.plan import EVERY
from dpbandits.mechanisms.base import Answer, Block, Mechanism, Separable
from dpbandits.noise.sources import SimulatedNoise


@final
@dataclass
class MechanismSubject:
    """All answers of a bare mechanism to a stream of records, one a release; many runs at once
    where its code takes arrays.
    """

    mechanism: Mechanism

    def __post_init__(self) -> None:
        self.name = repr(self.mechanism)
        self._feed = feed(self.mechanism)
        # forked workers share it: what one of them sees holds for all
        self._vectorised, self._checked = RawValue("b", True), dict[Any, bool]()

    def pairs(self) -> list[Neighbours]:
        """One record a release, in streams of several lengths, also of so many that a late leak
        shows; several records a release; and several coordinates, a record being in one of them.
        """
        arms, most = self._feed.arms, longest(self._feed)
        bandit = self._feed.about.feedback == "bandit"
        how: dict[str, Any] = {"whole": not bandit, "apart": bandit and arms > 1}
        kinds = [neighbouring(arms, n, **how) for n in sorted({min(n, most) for n in STREAMS})]
        kinds += [
            neighbouring(arms, each * n, block=each, **how) for each, n in BLOCKS if n <= most
        ]
        if alone(self._feed):
            kinds.append(neighbouring(2, min(2, most), whole=False, apart=True))
        last = sorted({min(n, most) for n in LATE_RELEASES} - set(range(ROUNDS + 1)))
        return mixed(kinds, [late_tapes(arms, n, **how) for n in last])

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        """Raises MixedRuns where many runs at once were not what each alone would be; from then on
        it plays run by run, and whatever was played at once is better forgotten.
        """
        if self._vectorised.value and self.agrees(table):
            return np.concatenate(
                [
                    self.all_at_once(table, min(MANY, runs - done), (seed << 32) + done)
                    for done in range(0, runs, MANY)
                ]
            )
        noise = SimulatedNoise(seed)
        return np.array([self.once(table, noise) for _ in range(runs)], np.float64)

    def agrees(self, table: Floats) -> bool:
        """`is_run_by_run`, looked at once for each table. If it is not on the first one, nothing
        was played yet; if not on a later one, what was played is to be forgotten.
        """
        key = (table.shape, table.tobytes())
        if key not in self._checked:
            first, self._checked[key] = not self._checked, self.is_run_by_run(table)
            if not self._checked[key]:
                self._vectorised.value = False
                if not first:
                    raise MixedRuns
        return self._checked[key]

    def is_run_by_run(self, table: Floats) -> bool:
        """Whether many runs at once answer what each alone does: not, where code branches on a
        noised value, mixes runs, or has randomness of its own, or draws again until it likes every
        run's noise.
        """
        few = max(2, few_alone(table))
        # one toss for a whole lot ties its runs together, however rare what it changes
        with Outside() as outside:
            row, alike = self.compared(table, few, 1, np.arange(few))
        return alike and not outside.used and row.shape[1] > 0

    def all_at_once(self, table: Floats, runs: int, seed: int) -> Floats:
        """A lot, some runs of which are also played alone: code that mixes runs seldom may do so in
        a lot of many only.
        """
        few = min(runs, max(1, min(few_alone(table), runs // 1000)))
        at = np.random.default_rng([seed, 344]).choice(runs, few, replace=False, shuffle=False)
        row, alike = self.compared(table, runs, seed, at)
        if not alike:
            self._vectorised.value = False
            raise MixedRuns
        return row

    def compared(self, table: Floats, runs: int, seed: int, at: Integers) -> tuple[Floats, bool]:
        """A lot, and whether the runs at these places answer the same if their draws fall for each
        of them alone.
        """
        noise = ManyNoise(runs, seed, at)
        try:
            row = [
                np.broadcast_to(np.asarray(number, np.float64), runs)
                for number in self.once(table, noise)
            ]
            alone = [
                self.once(table, Scripted(tuple(drawn[nth].item() for drawn in noise.kept), None))
                for nth in range(len(at))
            ]
            many = np.stack(row, axis=1) if row else np.zeros((runs, 0))
            return many, bool(np.array_equal(np.array(alone, np.float64), many[at]))
        except (TypeError, ValueError, ArithmeticError, Parting):
            return np.zeros((runs, 0)), False

    def once(self, table: Floats, noise: Any) -> list[Any]:
        """Every number that is answered; of long streams those of the first and of the last
        releases.
        """
        memory, first, last = (
            self.mechanism.init(table.shape[-1]),
            list[Any](),
            deque[list[Any]](maxlen=ENDS),
        )
        coordinates = (
            tuple(range(table.shape[-1])) if self._feed.about.feedback != "full" else (EVERY,)
        )
        # each record is rounded, as in a vault: a rounded sum could move by more than one record
        steps = np.rint(table * self.mechanism.grid.steps).astype(np.int64)
        each, many = (table.shape[1], steps.sum(axis=1)) if table.ndim == 3 else (1, steps)
        for row in many:
            sums = (
                tuple(row.tolist())
                if isinstance(self.mechanism, Separable) or coordinates != (EVERY,)
                else row
            )
            if isinstance(noise, ManyNoise):
                noise.asked = 0
            memory, given = self.mechanism.answer(
                memory, Block(coordinates, sums, (each,) * len(coordinates)), noise
            )
            (first if len(first) < ENDS else last).append(numbers_of(given))
        return [number for release in (*first, *last) for number in release]


def numbers_of(answer: Any) -> list[Any]:
    """All of it, in order; of no answer as many as there are in one."""
    numbers = list[Any]()
    _collect(answer, numbers)
    return numbers


def _collect(answer: Any, numbers: list[Any]) -> None:
    # millions of answers come by: what nearly all of them consist of is asked for first
    kind = type(answer)
    if kind is float or (kind is int and -LARGEST <= answer <= LARGEST):
        numbers.append(answer)
    elif isinstance(answer, (tuple, list)):
        for part in answer:
            _collect(part, numbers)
    elif answer is None:
        numbers.extend([-1] * len(Answer._fields))
    elif isinstance(answer, (str, bytes, dict, set)):
        raise ValueError(
            "Expected a mechanism to answer with numbers, as Answer(total, count, scales) holds "
            f"them, got {shown(answer)}."
        )
    elif isinstance(answer, int) and abs(answer) > LARGEST:
        raise ValueError(
            "Expected a mechanism to answer with numbers that a float holds, got a larger one."
        )
    else:
        numbers.append(answer)


LARGEST = int(np.finfo(np.float64).max)


STREAMS = (1, 2, ROUNDS)
"""Releases of short streams."""


BLOCKS = ((8, 1), (8, 4), (3, 2))
"""Records a release, and releases."""


LATE_RELEASES = (16, 40, 3200)
"""Releases of longer streams, of which a few are tried."""


ENDS = 16
"""Releases at either end of a long stream that are looked at."""


MANY = 200_000
"""Runs drawn at once."""


CHECKED = 32
"""Of them, runs that are also played alone, in every lot (of small and of long ones fewer)."""


def few_alone(table: Floats) -> int:
    return min(CHECKED, 64 * CHECKED // len(table))
