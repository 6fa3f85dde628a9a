"""A bare mechanism as a black box: all its answers to a stream of records."""

from collections import deque
from dataclasses import dataclass
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
from dpbandits.core.arrays import Floats
from dpbandits.core.errors import Parting
from dpbandits.core.inputs import shown
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
        self._vectorised, self._checked = True, dict[Any, bool]()

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
        last = min(LATE_RELEASE, most)
        return mixed(kinds, late_tapes(arms, last, **how) if last > 2 * ROUNDS else ())

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        self._vectorised = self._vectorised and self.agrees(table)
        if self._vectorised:
            return np.concatenate(
                [
                    self.all_at_once(table, min(MANY, runs - done), (seed << 32) + done)
                    for done in range(0, runs, MANY)
                ]
            )
        noise = SimulatedNoise(seed)
        return np.array([self.once(table, noise) for _ in range(runs)], np.float64)

    def agrees(self, table: Floats) -> bool:
        """`is_run_by_run`, looked at once for each table."""
        key = (table.shape, table.tobytes())
        if key not in self._checked:
            self._checked[key] = self.is_run_by_run(table)
        return self._checked[key]

    def is_run_by_run(self, table: Floats) -> bool:
        """Whether many runs at once answer what each alone does: not, where code branches on a
        noised value, mixes runs, or has randomness of its own, or draws again until it likes every
        run's noise.
        """
        kept, runs = list[Any](), max(2, min(CHECKED, 64 * CHECKED // len(table)))
        try:
            # one toss for a whole lot ties its runs together, however rare what it changes
            with Outside() as outside:
                row = [
                    np.broadcast_to(np.asarray(number, np.float64), runs)
                    for number in self.once(table, ManyNoise(runs, 1, kept))
                ]
            if outside.used:
                return False
            alone = [
                self.once(table, Scripted(tuple(drawn[run].item() for drawn in kept), None))
                for run in range(runs)
            ]
        except (TypeError, ValueError, ArithmeticError, Parting):
            return False
        return (
            bool(np.array_equal(np.array(alone, np.float64), np.stack(row, axis=1)))
            if row
            else False
        )

    def all_at_once(self, table: Floats, runs: int, seed: int) -> Floats:
        row = self.once(table, ManyNoise(runs, seed))
        return np.stack(
            [np.broadcast_to(np.asarray(number, np.float64), runs) for number in row], axis=1
        )

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
        each, many = (table.shape[1], table.sum(axis=1)) if table.ndim == 3 else (1, table)
        for row in np.rint(many * self.mechanism.grid.steps).astype(np.int64):
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


LATE_RELEASE = 3200


ENDS = 16
"""Releases at either end of a long stream that are looked at."""


MANY = 200_000
"""Runs drawn at once."""


CHECKED = 32
"""Of them, runs that are also played alone, on every table (of long ones fewer)."""
