"""What the policies for super arms share: the problem with its oracle, plans that fill batches of
several arms at a time, and CUCB's way of playing: means plus radii, clipped at 1, handed to it.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import lt
from typing import Any, final

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.inputs import shown
from dpbandits.core.plan import Hold, Plan
from dpbandits.oracles.base import DecisionSet, shortened
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.bounds.super_arm_gaps import super_arm_gaps
from dpbandits.policies.contract import Policy, Release
from dpbandits.policies.statistics import Statistics, empty, fold, fold_dropped


@dataclass(frozen=True, kw_only=True)
class SuperArmPolicy(Policy):
    """A policy that plays a super arm each round and sees the reward of every arm in it.

    Args:
        problem: which super arms are feasible, and the oracle that finds the best one for given
            weights; for some policies it has to be a matroid.

    Raises:
        TypeError: `problem` is no decision set, or no matroid where the policy plays matroids only.
    """

    problem: DecisionSet
    arms: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_problem(self.problem, matroid=self.about.matroid)
        object.__setattr__(self, "arms", self.problem.arms)
        super().__post_init__()

    @final
    def init(self) -> Statistics:
        return empty(self.arms)

    @final
    def update(self, state: Statistics, plan: Plan, release: Release) -> Statistics:
        return fold(state, release)

    @final
    def dropped(
        self, state: Statistics, release: Release, arms: Collection[int] | None = None
    ) -> Statistics:
        return fold_dropped(state, release, arms)

    def batch(self, s: Statistics, arm: int) -> int:
        """Rounds in the arm's next batch; one, where a policy does not say more."""
        return 1

    def batches(self, s: Statistics, arms: Sequence[int]) -> list[int]:
        """`batch` of each of these arms; in one go, where a basis has thousands of them."""
        return [self.batch(s, arm) for arm in arms]

    @final
    @cached_property
    def width(self) -> int:
        """How many rewards of a super arm are read, at most."""
        return 1 if self.about.narrow else self.problem.size

    @final
    @cached_property
    def share(self) -> float:
        """What the rewards of one arm cost a private policy: epsilon/K, or all of it where one
        reward is read.
        """
        assert isinstance(self, PrivatePolicy)
        return float(self.budget / self.width)

    @final
    def observed(self, s: Statistics, action: tuple[int, ...]) -> tuple[int, ...] | None:
        """The arms of a super arm whose rewards are told; None: all.

        A policy that reads one of them reads the arm with the fewest released rewards, the lowest
        on a tie: public, as the counts are.
        """
        return (min(action, key=lambda arm: (s.rounds[arm], arm)),) if self.about.narrow else None

    @final
    def best(self, weights: Sequence[float] | Floats) -> tuple[int, ...]:
        """The oracle's answer. What a user's own oracle says is checked before anything is played.

        Raises:
            ValueError: no sorted tuple of different arms, or longer than the problem's `size`, for
                which the noise is scaled.
        """
        return checked_answer(self.problem, self.problem.best(weights))

    @final
    def batch_left(self, s: Statistics, arm: int) -> int:
        """Rounds until the arm's open batch is full."""
        return max(1, self.batch(s, arm) - s.open[arm])

    @final
    def hold(self, s: Statistics, action: tuple[int, ...]) -> Hold:
        """Play the super arm until the batch of one of its arms is full; release the arms whose
        batches are full then.
        """
        observe = self.observed(s, action)
        if type(self).batch is SuperArmPolicy.batch:  # every batch is full after a round
            return Hold(action, 1, observe or action, observe=observe)
        arms, opened = observe or action, s.open
        sizes = zip(arms, self.batches(s, arms), strict=True)
        left = [size - opened[arm] if size > opened[arm] else 1 for arm, size in sizes]
        rounds = min(left)
        full = tuple(arm for arm, n in zip(arms, left, strict=True) if n == rounds)
        return Hold(action, rounds, full, observe=observe)

    @final
    def hold_best(self, s: Statistics, scores: Sequence[float] | Floats, unseen: float) -> Hold:
        """Hold the best super arm for these indices; `unseen` is the weight of an arm without a
        release.
        """
        weights = np.where(np.array(s.rounds) > 0, scores, unseen)
        return self.hold(s, self.best(weights))


def check_problem(problem: object, *, matroid: bool) -> None:
    if matroid and not isinstance(problem, Matroid):
        given = shown(problem) if isinstance(problem, type) else f"a {type(problem).__name__}"
        raise TypeError(
            "Expected problem= to be a matroid such as dpbandits.UniformMatroid(arms=5, "
            f"rank=2), got {given}. "
            "For other decision sets use semi-bandit policies: DPJointCUCB or DPKLCUCB; CUCB is "
            "not private."
        )
    if not isinstance(problem, DecisionSet):
        raise TypeError(
            "Expected problem= to be a decision set such as "
            f"dpbandits.UniformMatroid(arms=5, rank=2), got {type(problem).__name__}."
        )


def checked_answer(problem: DecisionSet, action: tuple[int, ...]) -> tuple[int, ...]:
    """An oracle's answer in the form every host relies on."""
    if (
        type(action) is not tuple
        or not 1 <= len(action) <= problem.size
        or not all(map(lt, action, action[1:]))
    ):
        raise ValueError(
            f"Expected the oracle {type(problem).__name__} to answer a super arm, a sorted tuple "
            f"of 1 to size={problem.size} different "
            f"arms; got {shortened(action)}. Correct its _best, or its size; "
            "dpbandits.oracles.check_decision_set tries all of it."
        )
    return action


Radius = Callable[[Floats, Floats, int], Floats]
"""What is added to the means at round t: of the rewards and the noise draws behind each arm's mean,
each of shape (arms,) and the rewards at least 1, and of t.
"""


def upper_bounds(s: Statistics, radius: Radius) -> Floats:
    """min(1, mean + radius) of every arm in the next round, shape (arms,); 1 for an arm without a
    release.
    """
    return bounds(s, radius)[0]


def bounds(s: Statistics, radius: Radius) -> tuple[Floats, Floats]:
    """`upper_bounds`, and max(0, mean − radius), 0 for an arm without a release."""
    n = np.array(s.rounds, np.float64)
    seen = n > 0
    n[~seen] = 1.0
    means, wide = np.array(s.totals) / n, radius(n, np.array(s.draws, np.float64), s.t + 1)
    upper = np.where(seen, np.minimum(1.0, means + wide), 1.0)
    return upper, np.where(seen, np.maximum(0.0, means - wide), 0.0)


def hold_optimistic(policy: SuperArmPolicy, s: Statistics, radius: Radius) -> Hold:
    """Hold the best super arm for the upper bounds.

    Where an index is not above 0 any super arm will do (Chen et al. 2020); here one with such arms,
    so that they are seen again.
    """
    index = upper_bounds(s, radius)
    lost = index <= 0.0
    weights: Any = np.where(lost, 1.0, 0.0) if lost.any() else index
    return policy.hold(s, policy.best(weights))


def statistical(n: Floats, log_t: float) -> Floats:
    """√(3 ln t / (2n)), CUCB's radius: exceeded with probability at most t⁻³ on a side. Chen, Wang,
    Yuan and Wang 2016.
    """
    return np.asarray(np.sqrt(1.5 * log_t / n))


def noise_radius(n: Floats, draws: Floats, scale: float, log_t: float) -> Floats:
    """What `draws` Laplace draws of this scale add to a mean of n, at δ = t⁻³. Chan, Shi and Song
    2011, Corollary 2.9.
    """
    log_term = math.log(2.0) + 3.0 * log_t
    return np.asarray(
        scale * np.maximum(np.sqrt(draws), math.sqrt(log_term)) * math.sqrt(8.0 * log_term) / n
    )


def per_gap(problem: DecisionSet, means: Sequence[float], cost: float, each: float = 0.0) -> float:
    """Σ B₁(B₁·cost/Δ + each) over arms with a gap, Δ the smallest of a super arm with the arm.

    NaN where super arms are too many to list, or no smoothness is known.
    """
    found, smooth = super_arm_gaps(problem, means), problem.b_one
    if found is None or math.isnan(smooth):
        return math.nan
    least = [gap for gap in found.least if math.isfinite(gap)]
    return math.fsum(smooth * (smooth * cost / gap + each) for gap in least)
