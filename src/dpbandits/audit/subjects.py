"""What can be audited as a black box: something that is shown a reward table and yields an outcome, as often as asked.

Policies and bare mechanisms here; objects of other libraries in `foreign`. An outcome is a row of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.audit.feeding import feed, first_release, longest
from dpbandits.audit.grouped import Parting, Scripted, grouped
from dpbandits.audit.many import ManyNoise
from dpbandits.mechanisms.base import Block, Mechanism, Separable
from dpbandits.noise import SimulatedNoise
from dpbandits.plan import EVERY, Action
from dpbandits.policy import Policy
from dpbandits.simulate.replay import decisions

Floats = NDArray[np.float64]

ROUNDS = 8
"""Rounds of an audited run: short prefixes carry the evidence."""


LATE = 500
"""Releases that come later are not waited for: such runs take too long to play often."""


class Neighbours(NamedTuple):
    """Two reward tables, shape (rounds, arms), that differ in one row."""

    a: Floats
    b: Floats
    label: str


class Subject(Protocol):
    """A black box."""

    name: str

    def pairs(self) -> Sequence[Neighbours]:
        """Neighbouring tables that may be hard to keep apart."""

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        """Independent runs on one table, shape (runs, numbers)."""


def neighbouring(arms: int, rounds: int, whole: bool) -> list[Neighbours]:
    """Backgrounds of all 0, all 1, all ½ and one good arm; in one early row every reward falls from 1 to 0 (with whole records also
    one rises while the others fall)."""
    good = np.eye(arms)[0] if arms > 1 else np.array([0.5])
    rows = {"0": np.zeros(arms), "1": np.ones(arms), "1/2": np.full(arms, 0.5), "one good arm": good}
    turns = [("falls", np.ones(arms))] if not whole or arms == 1 else [("turns", good), ("turns back", 1 - good), ("falls", np.ones(arms))]
    found = []
    for name, row in rows.items():
        for at in dict.fromkeys(min(at, rounds - 1) for at in (0, 1, arms, rounds // 2)):
            for verb, up in turns:
                a = np.tile(row, (rounds, 1))
                b = a.copy()
                a[at], b[at] = up, 1 - up
                found.append(Neighbours(a, b, f"{rounds} rounds of {name}, round {at + 1} {verb}"))
    return found


@final
@dataclass
class PolicySubject:
    """Decisions of one of our policies, simulated noise and public randomness drawn afresh each run.

    rounds: so many; where not every arm can be released that early, so many after that.
    """

    policy: Policy
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        self.name = repr(self.policy)
        self._still: bool | None = None
        every_arm = first_release(self.policy) * self.policy.arms
        if self.rounds <= every_arm < LATE:
            self.rounds += every_arm

    def pairs(self) -> list[Neighbours]:
        return neighbouring(self.policy.arms, min(self.rounds, longest(self.policy)), self.policy.about.feedback != "bandit")

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        rows = table.tolist() if self.policy.about.feedback == "bandit" else table
        if not self.policy.about.randomised and self.stands_still(rows):
            groups = grouped(self.policy, rows, runs, seed)
            outcomes = np.repeat(np.array([code(played) for played, _ in groups], np.float64), [size for _, size in groups], axis=0)
            return np.random.default_rng([seed, 343]).permutation(outcomes)  # so that any part of the runs is like any other
        noise = SimulatedNoise(seed)
        return np.array([code(decisions(self.policy, rows, noise=noise, seed=(seed << 32) + run)) for run in range(runs)], np.float64)

    def stands_still(self, rows: Any) -> bool:
        """Whether a run is its noise and its public coins; one with coins of its own is not played in groups."""
        if self._still is None:
            both = [[decisions(self.policy, rows, noise=SimulatedNoise(run), seed=run) for run in range(20)] for _ in range(2)]
            self._still = both[0] == both[1]
        return self._still


def code(actions: Sequence[Action]) -> list[float]:
    """Numbers for a sequence of actions: arms; super arms as bits; weights as they are."""
    numbers: list[float] = []
    for action in actions:
        if isinstance(action, int):
            numbers.append(action)
        elif isinstance(action[0], float):
            numbers.extend(action)
        else:
            numbers.append(sum(1 << (int(arm) % 50) for arm in action))
    return numbers


@final
@dataclass
class MechanismSubject:
    """All answers of a bare mechanism to a stream of records, one a release; many runs at once where its code takes arrays."""

    mechanism: Mechanism

    def __post_init__(self) -> None:
        self.name = repr(self.mechanism)
        self._feed = feed(self.mechanism)
        self._vectorised = True

    def pairs(self) -> list[Neighbours]:
        lengths = sorted({min(n, longest(self._feed)) for n in (1, 2, ROUNDS)})
        return [pair for n in lengths for pair in neighbouring(self._feed.arms, n, self._feed.about.feedback != "bandit")]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        self._vectorised = self._vectorised and self.is_run_by_run(table)
        if self._vectorised:
            return np.concatenate([self.many(table, min(MANY, runs - done), (seed << 32) + done) for done in range(0, runs, MANY)])
        noise = SimulatedNoise(seed)
        return np.array([self.once(table, noise) for _ in range(runs)], np.float64)

    def is_run_by_run(self, table: Floats) -> bool:
        """Whether many runs at once answer what each alone does: not, where code branches on a noised value, mixes runs, or has
        randomness of its own."""
        kept: list[Any] = []
        try:
            row = [np.broadcast_to(np.asarray(number, np.float64), CHECKED) for number in self.once(table, ManyNoise(CHECKED, 1, kept))]
            alone = [self.once(table, Scripted(tuple(int(drawn[run]) for drawn in kept), None)) for run in range(CHECKED)]
        except (TypeError, ValueError, Parting):
            return False
        return bool(np.array_equal(np.array(alone, np.float64), np.stack(row, axis=1))) if row else False

    def many(self, table: Floats, runs: int, seed: int) -> Floats:
        row = self.once(table, ManyNoise(runs, seed))
        return np.stack([np.broadcast_to(np.asarray(number, np.float64), runs) for number in row], axis=1)

    def once(self, table: Floats, noise: Any) -> list[Any]:
        memory, answers = self.mechanism.init(table.shape[1]), list[Any]()
        coordinates = tuple(range(table.shape[1])) if self._feed.about.feedback != "full" else (EVERY,)
        for row in np.rint(table * self.mechanism.grid.steps).astype(np.int64):
            sums = tuple(row.tolist()) if isinstance(self.mechanism, Separable) or coordinates != (EVERY,) else row
            memory, given = self.mechanism.answer(memory, Block(coordinates, sums, (1,) * len(coordinates)), noise)
            for answer in given:
                answers.extend((-1, -1) if answer is None else answer[:2] if isinstance(answer, tuple) else (answer,))
        return answers


MANY = 200_000
"""Runs drawn at once."""

CHECKED = 32
"""Of them, runs that are also played alone, on every table."""
