"""What the policies for super arms share: the problem with its oracle, and plans that fill batches
of several arms at a time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.oracles.base import DecisionSet, shortened
from dpbandits.oracles.matroids.matroid import Matroid
from dpbandits.policies.base import Statistics, StatisticsPolicy
from dpbandits.policies.contract import Policy


@dataclass(frozen=True, kw_only=True)
class SuperArmPolicy(Policy):
    """A policy that plays a super arm each round and sees the reward of every arm in it.

    problem: which super arms are feasible, and the oracle that finds the best one for given
        weights.

    Raises:
        TypeError: `problem` is no decision set.
    """

    size_name: ClassVar[str] = "problem"
    problem: DecisionSet
    arms: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.problem, DecisionSet):
            given = type(self.problem).__name__
            raise TypeError(
                "Expected problem= to be a decision set such as "
                f"dpbandits.UniformMatroid(arms=5, rank=2), got {given}."
            )
        object.__setattr__(self, "arms", self.problem.arms)
        super().__post_init__()

    @final
    def best(self, weights: Sequence[float]) -> tuple[int, ...]:
        """The oracle's answer. What a user's own oracle says is checked before anything is played.

        Raises:
            ValueError: no sorted tuple of different arms, or longer than the problem's `size`, for
            which the noise is scaled.
        """
        return checked_answer(self.problem, self.problem.best(weights))


def checked_answer(problem: DecisionSet, action: tuple[int, ...]) -> tuple[int, ...]:
    """An oracle's answer in the form every host relies on."""
    if (
        type(action) is not tuple
        or not 1 <= len(action) <= problem.size
        or action != tuple(sorted(set(action)))
    ):
        raise ValueError(
            f"Expected the oracle {type(problem).__name__} to answer a super arm, a sorted tuple "
            f"of 1 to size={problem.size} different "
            f"arms; got {shortened(action)}. Correct its _best, or its size; "
            "dpbandits.oracles.check_decision_set tries all of it."
        )
    return action


@dataclass(frozen=True, kw_only=True)
class SuperArmIndex(SuperArmPolicy, StatisticsPolicy):
    """Plays the best super arm for the arms' indices until the batch of one of its arms is full;
    the arms whose are, are released.
    """

    @property
    def unseen(self) -> float:
        """Weight of an arm without a release: of a matroid above every index, so that its first
        bases cover all arms; else 1.
        """
        return 1e9 if isinstance(self.problem, Matroid) else 1.0

    @abstractmethod
    def scores(self, s: Statistics, t: int) -> list[float]:
        """Every arm's index at round t, from released values; NaN where an arm has no release
        behind it.
        """

    @abstractmethod
    def batch(self, s: Statistics, arm: int) -> int:
        """Rounds in the arm's next batch."""

    @final
    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        scores = self.scores(state, state.t + 1)
        action = self.best(
            [score if n else self.unseen for score, n in zip(scores, state.rounds, strict=True)]
        )
        left = [max(1, self.batch(state, arm) - state.open[arm]) for arm in action]
        rounds = min(left)
        return Hold(
            action, rounds, tuple(arm for arm, n in zip(action, left, strict=True) if n == rounds)
        )
