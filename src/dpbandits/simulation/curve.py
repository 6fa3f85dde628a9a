"""What is counted while a run is played the plain way: plays, and what they earned, at every
checkpoint.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpbandits.core.arrays import Floats, Integers
from dpbandits.core.plan import Action
from dpbandits.environments.base import Environment
from dpbandits.policies.contract import Policy, problem_of


class Curve:
    """Counts plays and keeps a copy at every checkpoint (increasing rounds).

    Two sums beside them, where they say more than the counts: the expected value of super arms that
    are worth something else than the sum of their arms, and the rewards that were played where all
    rewards are fixed beforehand.
    """

    def __init__(self, policy: Policy, environment: Environment, checkpoints: Integers) -> None:
        problem = problem_of(policy)
        linear = problem is None or problem.linear
        self._worth = (
            None
            if linear or problem is None
            else lru_cache(None)(partial(problem.value, means=environment.means))
        )
        self._environment = environment if environment.fixed and linear else None
        self._earned, self._gained = 0.0, 0.0
        self._earned_at, self._gained_at = np.zeros(len(checkpoints)), np.zeros(len(checkpoints))
        self._weighted = policy.weighted
        kind: type[np.number[Any]] = np.float64 if policy.weighted else np.int64
        self.checkpoints, self.now, self._next = checkpoints, np.zeros(policy.arms, kind), 0
        self.at = np.zeros((len(checkpoints), policy.arms), kind)

    def play(self, t: int, action: Action, times: int) -> None:
        """`times` rounds of `action` after round t."""
        end = t + times
        while self._next < len(self.checkpoints) and self.checkpoints[self._next] <= end:
            mark = int(self.checkpoints[self._next])
            self._count(t, action, mark - t)
            self._keep()
            t = mark
        self._count(t, action, end - t)

    def _count(self, t: int, action: Action, times: int) -> None:
        if times == 0:
            return
        arms, share = (
            (np.arange(len(self.now)), np.asarray(action))
            if self._weighted
            else (np.atleast_1d(action), 1)
        )
        self.now[arms] += share * times
        if self._worth is not None:
            self._earned += self._worth(action) * times
        if self._environment is not None:
            self._gained += float((share * self._environment.between(t, t + times, arms)).sum())

    def _keep(self) -> None:
        self.at[self._next], self._earned_at[self._next], self._gained_at[self._next] = (
            self.now,
            self._earned,
            self._gained,
        )
        self._next += 1

    def close(self) -> Integers | Floats:
        while self._next < len(self.checkpoints):
            self._keep()
        return self.at

    @property
    def worth(self) -> Floats | None:
        """`Path.earned`."""
        return self._earned_at if self._worth is not None else None

    @property
    def gained(self) -> Floats | None:
        """`Path.rewards`."""
        return self._gained_at if self._environment is not None else None
