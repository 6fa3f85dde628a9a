"""What can be audited as a black box: something that is shown a reward table and yields an outcome,
as often as asked.

Policies and bare mechanisms here; objects of other libraries in `foreign`. An outcome is a row of
numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from dpbandits.auditing.mechanism_policy import first_release, longest
from dpbandits.auditing.statistical.counting.tables import (
    Neighbours,
    mixed,
    neighbouring,
)
from dpbandits.auditing.statistical.grouped import grouped
from dpbandits.auditing.transcript.outside_randomness import Outside
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import Action
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.simulation.transcript import decisions

ROUNDS = 8
"""Rounds of an audited run: short prefixes carry the evidence."""


LATE = 500
"""Releases that come later are not waited for: such runs take too long to play often."""


class Subject(Protocol):
    """A black box."""

    name: str

    def pairs(self) -> Sequence[Neighbours]:
        """Neighbouring tables that may be hard to keep apart."""

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        """Independent runs on one table (see `Neighbours`), shape (runs, numbers)."""


@final
@dataclass
class PolicySubject:
    """Decisions of one of our policies, simulated noise and public randomness drawn afresh each
    run.

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
        arms, whole, most = (
            self.policy.arms,
            self.policy.about.feedback != "bandit",
            longest(self.policy),
        )
        return mixed([neighbouring(arms, min(self.rounds, most), whole)])

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        rows = table.tolist() if self.policy.about.feedback == "bandit" else table
        if not self.policy.about.randomised and self.stands_still(rows):
            groups = grouped(self.policy, rows, runs, seed)
            outcomes = np.repeat(
                np.array([code(played) for played, _ in groups], np.float64),
                [size for _, size in groups],
                axis=0,
            )
            # so that any part of the runs is like any other
            return np.random.default_rng([seed, 343]).permutation(outcomes)
        noise = SimulatedNoise(seed)
        return np.array(
            [
                code(decisions(self.policy, rows, noise=noise, seed=(seed << 32) + run))
                for run in range(runs)
            ],
            np.float64,
        )

    def stands_still(self, rows: Any) -> bool:
        """Whether a run is its noise and its public coins; one with coins of its own is not played
        in groups.
        """
        if self._still is None:
            with Outside() as outside:  # rare coins do not show in what is played
                both = [
                    [
                        decisions(self.policy, rows, noise=SimulatedNoise(run), seed=run)
                        for run in range(20)
                    ]
                    for _ in range(2)
                ]
            self._still = both[0] == both[1] and not outside.used
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
