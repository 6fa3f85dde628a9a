"""Combinatorial semi-bandits (CUCB): without privacy, with lazy batches, with trees, and in the
local model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import lt
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np

from dpbandits.core.inputs import Booleans, Floats, Integers, shown
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    BinaryTree,
    EachArm,
    Exact,
    LazyCumulative,
    LazyForgetful,
    LocalLaplace,
    SignedCounter,
    WeightedArms,
)
from dpbandits.mechanisms.counters import best_base
from dpbandits.oracles.base import DecisionSet, SuperArm, shortened
from dpbandits.oracles.matroids import Matroid
from dpbandits.oracles.sets import ExplicitSet
from dpbandits.policies.arm_bounds import excess
from dpbandits.policies.base import FoldsReleases, PrivatePolicy, Statistics
from dpbandits.policies.contract import About, ArmsField, Policy, policy_dataclass
from dpbandits.policies.formulas.indices import dp_klucb, growing_batch
from dpbandits.policies.formulas.joint import joint_level, report_square
from dpbandits.policies.super_arm_bounds import (
    JOINT_FAILING,
    failing_rounds,
    joint_width,
    lazy_failing,
    lazy_width,
    noisy_radius,
    noisy_width,
    possible_sets,
    published_report_failing,
    published_report_width,
    published_tree_failing,
    published_tree_width,
    smooth_bound,
    statistical_radius,
    super_arm_gaps,
    super_arms,
    tree_draws,
)
from dpbandits.policies.weights import arm_weights, checked_arm_weights, shares_of

# The base class of policies for super arms: the problem, its oracle, and plans that fill batches
# of several arms at a time. CUCB gives the oracle means plus radii, clipped at 1.


FIRST = 1e15
"""Weight of an element without a release: above every index at the smallest budget, so that the
first bases cover all elements except loops.
"""


@policy_dataclass
class SuperArmPolicy(FoldsReleases, Policy):
    """Base class of policies that play a super arm each round and see the reward of every arm in
    it.

    Args:
        problem: the feasible super arms, and the oracle that returns the best one for given
            weights. Some policies require a matroid.

    Raises:
        TypeError: `problem` is not a decision set, or not a matroid for a policy that plays
            matroids only.
    """

    problem: DecisionSet
    arms: ArmsField = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_problem(self.problem, matroid=self.about.matroid)
        object.__setattr__(self, "arms", self.problem.arms)
        super().__post_init__()

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        """Play the best super arm for the upper bounds mean + `bonus`, clipped at 1.

        If an index is not above 0, any super arm is allowed (Chen et al. 2020); this one plays such
        arms, so that they are seen again.
        """
        index, _ = bounds(state, self.bonus)
        lost = index <= 0.0
        weights: Any = np.where(lost, 1.0, 0.0) if lost.any() else index
        return self.hold(state, self.best(weights))

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        """Return the arms' radii at round t, shape (arms,).

        Args:
            n: rewards behind each arm's mean, at least 1.
            draws: noise draws in it.
            t: the round.
        """
        raise NotImplementedError

    def batch(self, s: Statistics, arm: int) -> int:
        """Return the rounds in the arm's next batch; 1 by default.

        Args:
            s: the statistics, all of released values.
            arm: its number.
        """
        return 1

    @final
    @cached_property
    def width(self) -> int:
        """The most rewards of a super arm that are used."""
        return 1 if self.about.narrow else self.problem.size

    @final
    @cached_property
    def share(self) -> float:
        """ε of one arm's rewards: epsilon/K, or all of it if one reward is used."""
        assert isinstance(self, PrivatePolicy)
        return float(self.budget / self.width)

    @final
    def observed(self, s: Statistics, action: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the arms of a super arm whose rewards are recorded; None for all.

        A policy that uses one reward uses that of the arm with the fewest released rewards (lowest
        on a tie). The choice is public, because the counts are.
        """
        return (min(action, key=lambda arm: (s.rounds[arm], arm)),) if self.about.narrow else None

    @final
    def best(self, weights: Sequence[float] | Floats) -> tuple[int, ...]:
        """Return the oracle's super arm, validated before it is played.

        Raises:
            ValueError: not a sorted tuple of different arms, or longer than the problem's `size`,
                which scales the noise.
        """
        return checked_answer(self.problem, self.problem.best(weights))

    @final
    def batch_left(self, s: Statistics, arm: int) -> int:
        """Return the rounds until the arm's open batch is full."""
        return max(1, self.batch(s, arm) - s.open[arm])

    @final
    def hold(self, s: Statistics, action: tuple[int, ...]) -> Hold:
        """Return the plan that plays the super arm until the batch of one of its arms is full, and
        then releases the arms with full batches.
        """
        observe = self.observed(s, action)
        if type(self).batch is SuperArmPolicy.batch:  # every batch is full after a round
            return Hold(action, 1, observe or action, observe=observe)
        arms = observe or action
        left = [self.batch_left(s, arm) for arm in arms]
        rounds = min(left)
        full = tuple(arm for arm, n in zip(arms, left, strict=True) if n == rounds)
        return Hold(action, rounds, full, observe=observe)

    @final
    def hold_best(self, s: Statistics, scores: Sequence[float] | Floats, unseen: float) -> Hold:
        """Return the plan that plays the best super arm for these indices; `unseen` is the weight
        of an arm without a release.
        """
        weights = np.where(np.array(s.rounds) > 0, scores, unseen)
        return self.hold(s, self.best(weights))


@policy_dataclass
class ExactArms(SuperArmPolicy):
    """Base class of policies that read the exact sums of arms, without privacy."""

    grid: int = 1024

    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)


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
    """Return an oracle's super arm after validation."""
    if (
        type(action) is not tuple
        or not 1 <= len(action) <= problem.size
        or not all(map(lt, action, action[1:]))
    ):
        raise ValueError(
            f"Expected the oracle {type(problem).__name__} to answer a super arm, a sorted tuple "
            f"of 1 to size={problem.size} different "
            f"arms; got {shortened(action)}. Correct its _best, or its size; "
            "dpbandits.oracles.check_decision_set checks both."
        )
    return action


@policy_dataclass
class WeightedPolicy(SuperArmPolicy, PrivatePolicy):
    """Base class of policies whose arms may have different shares of the budget.

    Args:
        weights: public: an arm's rewards are charged its weight times ε. The sum over each super
            arm is at most 1. "balanced" means those of `dpbandits.arm_weights`, None 1/K for each.

    Raises:
        ValueError: `weights` are not a number above 0 for each arm, exceed 1 over some super arm,
            or cannot be checked exactly for this problem.
    """

    weights: Sequence[Fraction | float | str] | Literal["balanced"] | None = None

    def validate(self) -> None:
        if self.weights is not None:
            balanced = isinstance(self.weights, str) and self.weights == "balanced"
            given = arm_weights(self.problem) if balanced else self.weights
            exact = checked_arm_weights(self.problem, given)
            shares_of(exact)
            object.__setattr__(self, "weights", exact)

    @final
    @cached_property
    def exact_weights(self) -> tuple[Fraction, ...]:
        """Every arm's share of the budget."""
        if self.weights is None:
            return (Fraction(1, self.width),) * self.arms
        return tuple(Fraction(weight) for weight in self.weights)

    @final
    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """ε of each arm's rewards."""
        return tuple(float(self.budget * weight) for weight in self.exact_weights)

    @final
    def each_arm(self, kind: type[LazyForgetful | LazyCumulative]) -> EachArm | WeightedArms:
        """Return the mechanism that releases each arm at its share of the budget."""
        grid = Grid(steps=self.grid)
        if self.weights is None:
            return EachArm(
                inner=kind(epsilon=self.budget / self.width, grid=grid), width=self.width
            )
        unit, kinds = shares_of(self.exact_weights)
        inner = kind(epsilon=self.budget * unit, grid=grid)
        return WeightedArms(inner=inner, kinds=kinds, epsilon=self.budget, width=self.width)


Radius = Callable[[Floats, Floats, int], Floats]
"""Returns the radii at round t, shape (arms,), from the rewards behind each arm's mean (at least
1), its noise draws, and t.
"""


def bounds(s: Statistics, radius: Radius) -> tuple[Floats, Floats]:
    """Return min(1, mean + radius) of every arm in the next round, and max(0, mean − radius), of
    shape (arms,); 1 and 0 without a release.
    """
    n = np.array(s.rounds, np.float64)
    seen = n > 0
    n[~seen] = 1.0
    means, wide = np.array(s.totals) / n, radius(n, np.array(s.draws, np.float64), s.t + 1)
    upper = np.where(seen, np.minimum(1.0, means + wide), 1.0)
    return upper, np.where(seen, np.maximum(0.0, means - wide), 0.0)


def per_gap(
    problem: DecisionSet,
    means: Sequence[float],
    cost: float | Sequence[float],
    each: float | Sequence[float] = 0.0,
) -> float:
    """Return Σ B₁(B₁·cost/Δ + each) over arms with a gap, Δ the smallest gap of a super arm with
    the arm; `cost` and `each` for all arms or one an arm.

    NaN if the super arms are too many to list, or no smoothness is known.
    """
    gaps, smooth = super_arm_gaps(problem, means), problem.b_one
    if gaps is None or math.isnan(smooth):
        return math.nan
    costs = [cost] * problem.arms if isinstance(cost, float | int) else cost
    parts = [each] * problem.arms if isinstance(each, float | int) else each
    return math.fsum(
        smooth * (smooth * a / gap + b)
        for gap, a, b in zip(gaps.least, costs, parts, strict=True)
        if math.isfinite(gap)
    )


# Combinatorial semi-bandits in the central model: any decision set with its oracle; the reward of
# every arm of a super arm is seen.


@final
@policy_dataclass
class CUCB(ExactArms):
    """Combinatorial UCB, without privacy.

    Guarantee: none.

    Regret: O(Σ K ln T/Δ) for linear rewards, against αβ times the optimum for an (α, β) oracle.

    Source: Chen, Wang, Yuan and Wang 2016, CUCB.

    Args:
        grid: steps per unit of reward.

    >>> from dpbandits.oracles import TopK
    >>> CUCB(problem=TopK(arms=5, k=2)).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Chen, Wang, Yuan and Wang 2016",
        algorithm="CUCB",
        bound="O(Σ K ln T/Δ)",
        privacy="none",
        feedback="semi",
        every_round=True,
    )

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        return statistical_radius(n, t)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        low = failing_rounds(self.arms, rounds, 2.0)
        return smooth_bound(
            self.problem, means, rounds, lambda n, _: 2.0 * statistical_radius(n, rounds), low
        )

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return per_gap(self.problem, means, self.problem.size * math.log(rounds))


@final
@policy_dataclass
class LazyCUCB(WeightedPolicy):
    """CUCB on the newest full batch of each arm (ours). Batch sizes double, and each reward is
    released once.

    The index is the mean of the newest batch of n plus √(3 ln(mt)/(2n)) + 3 ln(mt)/(w epsilon n),
    clipped at 1, where w is the arm's weight, 1/K by default. Each term fails with probability
    about (mt)⁻³. A super arm is played until the batch of one of its arms is full.

    Guarantee: ε-DP; a record of up to K rewards is charged w·ε for each, ε/K by default.

    Regret: O(Σ ln(mT)/(w Δ) + Σ ln(mT)/(w epsilon)) for linear rewards, with K for 1/w by default;
    the horizon need not be known.

    Source: ours, on the batches of Hu, Huang and Mehta 2021.

    Args:
        weights: shares of the budget that differ between arms (see `dpbandits.arm_weights`).

    >>> from dpbandits.oracles import TopK
    >>> str(LazyCUCB(problem=TopK(arms=5, k=2), epsilon=1).mechanism().inner.epsilon)
    '1/2'
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="CUCB on lazy-forgetful batches (ours)",
        bound="O(Σ K ln(mT)/Δ + m K ln(mT)/ε)",
        proof="lazy_cucb",
        baseline="CUCB",
        feedback="semi",
    )

    def mechanism(self) -> EachArm | WeightedArms:
        return self.each_arm(LazyForgetful)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        log_mt = math.log(self.arms) + math.log(t)
        statistical = np.sqrt(1.5 * log_mt / n)
        if self.weights is None:
            noise = 3.0 * self.problem.size * log_mt / (float(self.budget) * n)
        else:
            noise = 3.0 * log_mt / (np.array(self.epsilons) * n)
        return np.asarray(statistical + noise)

    def batch(self, s: Statistics, arm: int) -> int:
        return max(1, 2 * s.rounds[arm])

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        log_mt = math.log(self.arms * rounds)
        shares = np.array([float(weight) for weight in self.exact_weights])
        width = lazy_width(log_mt, float(self.budget), shares)
        tail = max(excess(share, self.grid) for share in set(self.epsilons))
        low = lazy_failing(self.arms, rounds, tail)
        return smooth_bound(self.problem, means, rounds, width, low, batches=True, shares=shares)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_mt = math.log(self.arms * rounds)
        costs = [log_mt / float(weight) for weight in self.exact_weights]
        eps = float(self.budget)
        return per_gap(self.problem, means, costs, [cost / eps for cost in costs])


@policy_dataclass
class DPKLCUCB(WeightedPolicy):
    """The DP-KLUCB index on every arm with its share of the budget, and any oracle (ours).

    The defaults of `first` and `level` belong together: with much shorter first batches, single
    runs settle on a wrong super arm.

    Guarantee: ε-DP; a record of up to K rewards is charged ε/K for each, or what `weights` say.

    Regret: no bound proved.

    Source: ours, on the index of Azize, Wu, Honda, Orabona, Ito and Basu 2025.

    Args:
        first: rounds in the first batch of an arm of weight 1/K; None means ⌈32 K/epsilon⌉. Of
            other arms it is in proportion to 1/weight.
        alpha: growth factor of an arm's rounds.
        level: factor on ln t.
        weights: shares of the budget that differ between arms (see `dpbandits.arm_weights`).

    >>> from dpbandits.oracles import TopK
    >>> DPKLCUCB(problem=TopK(arms=5, k=2), epsilon=1).first
    64
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DP-KLUCB index with an oracle (ours)",
        bound="none proved",
        proof="dp_kl_mat",
        baseline="CUCB",
        feedback="semi",
        theory=False,
    )
    first: int | None = None
    alpha: float = 1.5
    level: float = 0.5

    def validate(self) -> None:
        super().validate()
        self._growing(32 * self.problem.size / self.budget)
        self._number("level", 0, 100)

    def mechanism(self) -> EachArm | WeightedArms:
        return self.each_arm(LazyCumulative)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        unseen = 1e9 if isinstance(self.problem, Matroid) else 1.0  # first bases cover all arms
        return self.hold_best(state, self.scores(state, state.t + 1), unseen)

    def scores(self, s: Statistics, t: int) -> list[float]:
        """Return every arm's index at round t; NaN without a release."""
        level = self.level * math.log(t)
        return [
            dp_klucb(total / n, n, level, share) if n else math.nan
            for total, n, share in zip(s.totals, s.rounds, self.epsilons, strict=True)
        ]

    @cached_property
    def firsts(self) -> tuple[int, ...]:
        """Rounds in each arm's first batch."""
        first = self.first or 1
        return tuple(math.ceil(first / (self.width * weight)) for weight in self.exact_weights)

    def batch(self, s: Statistics, arm: int) -> int:
        return growing_batch(s.rounds[arm], self.firsts[arm], self.alpha)


# The arms of a super arm that are in it only because of their width. Public values only.


Answering = Callable[[Sequence[float]], SuperArm]

CARRIED = 0.25
"""`contested` returns arms with at least this share of the disputed width."""


@lru_cache(maxsize=32)
def exchanges_of(matroid: Matroid, basis: SuperArm) -> Booleans:
    """Return one row per element of the basis; cached, because a basis is played for many
    rounds.
    """
    return matroid.exchanges(basis).T


def outbid(
    matroid: Matroid, basis: SuperArm, upper: Sequence[float], lower: Sequence[float]
) -> SuperArm:
    """Return the elements of the best basis that would leave it with their lower bound in place of
    their upper one: an element that can replace them would come before them. `lower` has the
    basis's elements.
    """
    weights, low = np.asarray(upper), np.asarray(lower)[:, None]
    arms, elements = np.arange(len(weights)), np.array(basis)[:, None]
    # in the greedy's order at that weight; ties: the lower number
    before = (weights > low) | ((weights == low) & (arms < elements))
    leaves = (exchanges_of(matroid, basis) & before & (arms != elements)).any(axis=1)
    return tuple(
        arm for arm, leaves_basis in zip(basis, leaves.tolist(), strict=True) if leaves_basis
    )


def leaving(
    best: Answering, action: SuperArm, upper: Sequence[float], lower: Sequence[float]
) -> SuperArm:
    """Return the arms of the best super arm that would leave it if their lower bound, and no other
    arm's, replaced their upper one. `lower` has the super arm's arms.
    """
    arms = []
    for arm, low in zip(action, lower, strict=True):
        weights = list(upper)
        weights[arm] = low
        if arm not in best(weights):
            arms.append(arm)
    return tuple(arms)


def contested(
    best: Answering, action: SuperArm, upper: Sequence[float], lower: Sequence[float]
) -> SuperArm:
    """Return the arms that must be known better before the best super arm may be played without a
    release; none if it is still the oracle's answer with the lower bounds of all its arms.

    Otherwise a rival is the answer, and the arms that the rival lacks are disputed. The result has
    the arms that leave when lowered alone, and the widest disputed arms until it has a quarter of
    the disputed width. Lowering arms one by one is not enough: each arm may remain where all
    together would not, and a wrong super arm would never be released again.

    Args:
        best: the oracle.
        action: the best super arm for `upper`.
        upper: upper bounds of all arms.
        lower: lower bounds of the super arm's arms.
    """
    weights = list(upper)
    for arm, low in zip(action, lower, strict=True):
        weights[arm] = low
    rival = best(weights)
    if rival == action:
        return ()
    widths = {arm: upper[arm] - low for arm, low in zip(action, lower, strict=True)}
    open_ = [arm for arm in action if arm not in rival] or list(action)  # a rival may have all
    needed = CARRIED * math.fsum(widths[arm] for arm in open_)
    chosen = set(leaving(best, action, upper, lower))
    for arm in sorted(open_, key=lambda arm: (-widths[arm], arm)):
        if math.fsum(widths[one] for one in chosen) >= needed:
            break
        chosen.add(arm)
    return tuple(sorted(chosen))


def disputed(
    problem: DecisionSet,
    best: Answering,
    action: SuperArm,
    upper: Sequence[float],
    lower: Sequence[float],
    rounds: Sequence[int],
) -> SuperArm:
    """Return the arms that the best super arm depends on: with the lower bounds of all other arms
    at once, it is still the oracle's answer.

    Best known arms are lowered first. On a matroid, arms do not depend on each other's bounds, so
    these are the arms that leave when lowered alone.

    Args:
        problem: the decision set.
        best: the oracle.
        action: the best super arm for `upper`.
        upper: upper bounds of all arms.
        lower: lower bounds of all arms.
        rounds: released rounds of all arms.
    """
    if isinstance(problem, Matroid):
        return outbid(problem, action, upper, [lower[arm] for arm in action])
    weights = list(upper)
    for arm in action:
        weights[arm] = lower[arm]
    if best(weights) == action:
        return ()
    weights, left = list(upper), []
    for arm in sorted(action, key=lambda arm: (-rounds[arm], arm)):
        weights[arm] = lower[arm]
        if best(weights) != action:
            weights[arm] = upper[arm]
            left.append(arm)
    return tuple(sorted(left))


# The super arm with the largest Σ means + √Σ squares: the joint radius of independent reports, and
# an oracle for sums only. Public values only.
#
# Up to `MOST` candidates, all super arms are tried. On a larger matroid, a basis is improved by
# single exchanges. Other oracles are called with upper bounds that are sums (`certified_answer`).
# The quality of each method is proved in proofs/cucb_ldp2_joint.md.


Solver = Callable[[Floats], SuperArm]

MOST = 2_000
"""The most sets of arms that are tried one by one."""

SLACK = 1e-9
"""An exchange must gain more than this, so that there are finitely many."""

STEPS = 8
"""Number of calls of the oracle; each halves the ratio of the ends of the interval of the best
root.
"""


class ListedSuperArms(NamedTuple):
    """Super arms in a row: super arm i is arms[starts[i]:], up to the next start."""

    actions: tuple[SuperArm, ...]
    arms: Integers
    starts: Integers


@lru_cache(maxsize=64)
def every_set(problem: DecisionSet) -> ListedSuperArms | None:
    """Return all super arms of a list, or of a problem with few candidates; None for others."""
    if not isinstance(problem, ExplicitSet) and possible_sets(problem) > MOST:
        return None
    rows = super_arms(problem)
    if not rows:
        return None
    starts = np.cumsum([0, *map(len, rows[:-1])])
    return ListedSuperArms(tuple(rows), np.concatenate([np.array(row) for row in rows]), starts)


def ceiling_factor(problem: DecisionSet) -> float:
    """Return the factor of the approximation: if the best super arm's radius is √Σq, this factor
    times the largest √q of the played one covers it. √K if all are tried, 2√K by exchanges, else at
    least K.
    """
    root = math.sqrt(problem.size)
    if every_set(problem) is not None:
        return root
    return 2.0 * root if isinstance(problem, Matroid) else max(2.0 * root, float(problem.size))


def rooted(problem: DecisionSet, action: SuperArm, means: Floats, squares: Floats) -> float:
    """Return Σ means + √Σ squares of a super arm, minus one per arm where arms cost."""
    arms = list(action)
    total = float(means[arms].sum()) - problem.costs * len(arms)
    return total + math.sqrt(float(squares[arms].sum()))


def largest_rooted(problem: DecisionSet, best: Solver, means: Floats, squares: Floats) -> SuperArm:
    """Return the super arm with the (approximately) largest Σ means + √Σ squares.

    Args:
        problem: the decision set.
        best: its oracle.
        means: shape (arms,).
        squares: shape (arms,), at least 0.
    """
    listed = every_set(problem)
    if listed is not None:
        totals = np.add.reduceat(means[listed.arms] - problem.costs, listed.starts)
        roots = np.sqrt(np.add.reduceat(squares[listed.arms], listed.starts))
        return listed.actions[int(np.argmax(totals + roots))]
    if isinstance(problem, Matroid):
        return exchanged(problem, best(means + np.sqrt(squares)), means, squares)
    return certified_answer(problem, best, means, squares)


def exchanged(matroid: Matroid, basis: SuperArm, means: Floats, squares: Floats) -> SuperArm:
    """Return a basis that no single exchange improves. Its Σ means + 2√Σ squares is at least the
    largest Σ means + √Σ squares.
    """
    while True:
        arms = list(basis)
        total, square = means[arms].sum(), squares[arms].sum()
        able = matroid.exchanges(basis)
        able[arms] = False
        # rounding may leave a negative sum of squares
        left = np.maximum(0.0, square + squares[:, None] - squares[arms])
        values = np.where(able, total + means[:, None] - means[arms] + np.sqrt(left), -math.inf)
        e, j = np.unravel_index(int(np.argmax(values)), values.shape)
        if not values[e, j] > total + math.sqrt(square) + SLACK:
            return basis
        basis = tuple(sorted({*basis, int(e)} - {basis[j]}))


def certified_answer(
    problem: DecisionSet, best: Solver, means: Floats, squares: Floats
) -> SuperArm:
    """Return the best of the oracle's answers whose Σ means + 2√Σ squares is at least the bound of
    any super arm's Σ means + √Σ squares; without one, the answer to the sum of the roots.

    For every s > 0, √x <= x/(2s) + s/2, so an answer to means + squares/(2s) bounds them all.
    """
    radii = np.sqrt(squares)
    plain = best(means + radii)
    answers, ceiling = [plain], total_of(problem, plain, means + radii)
    low = math.sqrt(float(squares.min()))
    high = math.sqrt(float(np.sort(squares)[-problem.size :].sum()))
    for _ in range(STEPS):
        root = math.sqrt(max(low, high * 1e-6) * high)
        if root == 0.0:
            break
        slope = means + squares / (2.0 * root)
        answer = best(slope)
        answers.append(answer)
        ceiling = min(ceiling, total_of(problem, answer, slope) + root / 2.0)
        if squares[list(answer)].sum() > root * root:
            low = root
        else:
            high = root
    return first_best(problem, answers, means, squares, ceiling) or plain


def total_of(problem: DecisionSet, action: SuperArm, weights: Floats) -> float:
    return float(weights[list(action)].sum()) - problem.costs * len(action)


def first_best(
    problem: DecisionSet,
    answers: Iterable[SuperArm],
    means: Floats,
    squares: Floats,
    ceiling: float,
) -> SuperArm | None:
    """Return the answer with the largest Σ means + √Σ squares among those with Σ means + 2√Σ
    squares >= ceiling.
    """
    chosen, most = None, -math.inf
    for answer in answers:
        value = rooted(problem, answer, means, squares)
        if rooted(problem, answer, means, 4.0 * squares) >= ceiling and value > most:
            chosen, most = answer, value
    return chosen


# Combinatorial semi-bandits in the local model: users randomise the rewards of their super arm.


PAPER = "Chen, Zheng, Zhou, Yang, Chen and Wang 2020"


def errors_in_one(problem: DecisionSet) -> float:
    """Return B∞/B₁: how many arms' errors the value follows at once, K for sums."""
    return problem.b_max / problem.b_one


@policy_dataclass
class ReportPolicy(SuperArmPolicy, PrivatePolicy):
    """Base class of CUCB in the local model: reports with Laplace noise, one on each reward that is
    used.
    """

    horizon: int | None = None
    preset: str = "valid"

    @final
    def mechanism(self) -> EachArm:
        return EachArm(inner=Exact(grid=Grid(steps=self.grid)), width=self.width)

    @final
    def randomizer(self) -> LocalLaplace:
        return LocalLaplace(epsilon=self.budget, grid=Grid(steps=self.grid), width=self.width)

    @final
    @property
    def scale(self) -> float:
        """Scale of a report's noise, in reward units."""
        return self.width / float(self.budget)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        """Return the arms' radii at round t, shape (arms,). A report is a draw."""
        if self.preset == "published":
            assert self.horizon is not None
            return np.asarray(4.0 * self.scale * np.sqrt(2.0 * math.log(self.horizon) / n))
        return noisy_radius(n, n, t, self.scale)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        """Return the bounds of Chen et al. 2020, Theorems 2 and 4, by their sums, for the radius in
        use.
        """
        if self.preset == "published":
            assert self.horizon is not None
            width = published_report_width(self.horizon, self.scale)
            low = published_report_failing(self.arms, rounds, self.horizon, self.scale)
        else:
            # a draw a report: in a cell the radius is largest at its start, because √n/n falls
            width = noisy_width(rounds, self.scale, lambda first, _: first)
            low = failing_rounds(self.arms, rounds, 3.0)
        return smooth_bound(self.problem, means, rounds, width, low, narrow=self.about.narrow)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        """Return Σ B∞² (1 + scale)² ln T/Δ."""
        cost = (1.0 + self.scale) ** 2 * errors_in_one(self.problem) ** 2
        return per_gap(self.problem, means, cost * math.log(rounds))


@final
@policy_dataclass
class CUCBLDP1(ReportPolicy):
    """CUCB in the local model, with a report on every reward of the super arm: K reports at ε/K
    each.

    Guarantee: ε-LDP for the reports of a round together.

    Regret: O(Σ K² B∞² ln T/(epsilon² Δ)).

    Source: Chen et al. 2020, Algorithm 1 (CUCB-LDP1).

    Args:
        preset: "valid" (default): radius √(3 ln t/(2n)) plus the noise's at δ = t⁻³, for any
            horizon. "published": 4√(2 K² ln T/(epsilon² n)), which needs T and is not a confidence
            bound for large epsilon or few reports. The guarantee is the same.
        horizon: T, number of rounds, for "published".

    >>> from dpbandits.oracles import TopK
    >>> CUCBLDP1(problem=TopK(arms=5, k=3), epsilon=1).randomizer().width
    3
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 1 (CUCB-LDP1)",
        bound="O(Σ K² B∞² ln T/(ε² Δ))",
        proof="cucb_ldp1",
        baseline="CUCB",
        privacy="local",
        feedback="semi",
        every_round=True,
    )

    def validate(self) -> None:
        self._one_of("preset", "valid", "published")
        self._horizon(required=self.preset == "published")


@final
@policy_dataclass
class CUCBLDP2(ReportPolicy):
    """CUCB in the local model, with a report on one reward of the super arm, that of its
    least-reported arm, at the whole ε.

    The arm that is reported is public.

    Guarantee: ε-LDP for every report.

    Regret: O(Σ B∞² ln T/(epsilon² Δ)), optimal for rewards that are smooth in the largest error
    (B∞); with radius="joint" O(Σ K ln T/(epsilon² Δ)) for sums of rewards, lists and matroids.

    Source: Chen et al. 2020, Algorithm 2 (CUCB-LDP2); `ask` and `radius` are ours.

    Args:
        preset: "valid" (default) or "published": as in CUCBLDP1, with 1 for K. "sharp": radius √(5
            v ln t/(2n) + 5 (ln t/(epsilon n))²), v = 1/4 + 2/epsilon²; no proof.
        horizon: T, number of rounds, for "published".
        ask: "least" (default): the report is on the least-reported arm of the super arm.
            "undecided": on the least-reported arm among those that are in it only because of their
            radius.
        radius: "sum" (default): an arm's index is its mean plus its radius. "joint": a super arm's
            index is the sum of its arms' means plus one radius for that sum, the root of the sum of
            their squares; at a proved level with the preset "valid".

    Raises:
        ValueError: radius="joint" with preset="published", with ask="undecided", or on a problem
            that is not solved exactly or whose value is not the sum of its arms' means.

    >>> from dpbandits.oracles import TopK
    >>> policy = CUCBLDP2(problem=TopK(arms=5, k=3), epsilon=1)
    >>> policy.randomizer().width, policy.guarantee.trust
    (1, 'local')
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 2 (CUCB-LDP2)",
        bound="O(Σ B∞² ln T/(ε² Δ))",
        proof="cucb_ldp2",
        baseline="CUCB",
        privacy="local",
        feedback="semi",
        narrow=True,
        every_round=True,
    )
    ask: str = "least"
    radius: str = "sum"

    def validate(self) -> None:
        self._one_of("preset", "valid", "published", "sharp")
        self._one_of("ask", "least", "undecided")
        self._one_of("radius", "sum", "joint")
        self._horizon(required=self.preset == "published")
        if self.radius == "joint":
            if self.preset == "published" or self.ask != "least":
                raise ValueError(
                    'Expected preset="valid" or "sharp", and ask="least", with radius="joint"; got '
                    f"preset={self.preset!r}, ask={self.ask!r}."
                )
            if not self.problem.linear or self.problem.alpha != 1 or self.problem.beta < 1:
                raise ValueError(
                    'Expected radius="sum" for a problem whose value is no sum of means, or whose '
                    f'oracle is not exact; got radius="joint" for {self.problem!r}.'
                )

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        if self.radius == "joint":
            return self.hold(state, self.rooted(state))
        if self.ask == "least":
            return super().plan(state, rng)
        upper, lower = (bound.tolist() for bound in bounds(state, self.bonus))
        if min(upper) <= 0.0:
            return super().plan(state, rng)
        action = self.best(upper)
        open_ = disputed(self.problem, self.best, action, upper, lower, state.rounds) or action
        reported = (min(open_, key=lambda arm: (state.rounds[arm], arm)),)
        return Hold(action, 1, reported, observe=reported)

    def rooted(self, s: Statistics) -> tuple[int, ...]:
        """Return the super arm with the largest sum of means plus one radius for it; first the
        super arms of a cover, until every arm was reported.
        """
        if 0 in s.rounds:  # also true for a loop
            for action in self.problem.cover():
                if any(not s.rounds[arm] for arm in action):
                    return action
        n = np.maximum(1.0, np.array(s.rounds, np.float64))
        squares = report_square(n, self.level(s.t + 1), float(self.budget))
        return largest_rooted(self.problem, self.best, np.array(s.totals) / n, squares)

    def level(self, t: int) -> float:
        """Return the level of the joint radius in round t."""
        valid = self.preset == "valid"
        return joint_level(t, self.problem.size, float(self.budget)) if valid else math.log(t)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        if self.preset == "sharp":
            return np.asarray(np.sqrt(report_square(n, math.log(t), float(self.budget))))
        return super().bonus(n, draws, t)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        exact = self.problem.linear and self.problem.alpha == 1
        if self.preset == "sharp" or (self.ask == "undecided" and not exact):
            return math.nan
        if self.radius == "sum":
            return super().regret_bound(means, rounds)
        factor, eps = ceiling_factor(self.problem), float(self.budget)
        width = joint_width(self.problem, rounds, eps, factor)
        low = JOINT_FAILING
        return smooth_bound(self.problem, means, rounds, width, low, narrow=True)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        if self.preset == "sharp":
            return math.nan
        order, size = super().regret_order(means, rounds), self.problem.size
        joint = self.radius == "joint" and ceiling_factor(self.problem) <= 2.0 * math.sqrt(size)
        return order / size if joint else order


# Combinatorial semi-bandits on continual counters: a tree for each arm, and a release after every
# round.


@final
@policy_dataclass
class CUCBDP(SuperArmPolicy, PrivatePolicy):
    """CUCB on trees that use every reward of the super arm. The horizon must be known.

    Guarantee: ε-DP with "tight" (default) and "signed": ε/K for each of the K trees that a round
    enters. With "published", noise of scale 2K ln T/epsilon on a node gives (⌊lg T⌋ +
    1)/(2 ln T)·ε: about 0.76 ε for T = 10⁴, and above ε for T = 2, 4.

    Regret: O(Σ K ln T/Δ + m K ln² T ln(K ln T/(epsilon Δ))/epsilon) ("tight" and "signed", linear
    rewards); as published O(Σ K ln² T/Δ + m K ln³ T ln(K ln T)/epsilon).

    Source: Chen et al. 2020, Algorithm 3 (CUCB-DP).

    Args:
        preset: "tight": radius √(3 ln t/(2n)) as CUCB's, and the Chan–Shi–Song radius of the noise
            at δ = t⁻³. "published": √(4 ln(mT)/n) + 12 K ln³ T/(epsilon n); the second term is
            above 1 until an arm has 158 000 rewards at T = 10⁶, K = 5, epsilon = 1. Both on binary
            trees. "signed": "tight" on signed trees, whose noise and radius are smaller.
        horizon: T, number of rounds; an arm's tree has T leaves.

    >>> from dpbandits.oracles import TopK
    >>> str(CUCBDP(problem=TopK(arms=5, k=2), epsilon=1, horizon=1000).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="Algorithm 3 (CUCB-DP)",
        bound="O(Σ K B₁² ln T/Δ + m K B₁ ln² T/ε)",
        proof="cucb_dp",
        baseline="CUCB",
        feedback="semi",
        needs_horizon=True,
        every_round=True,
    )
    horizon: int
    preset: str = "tight"

    def validate(self) -> None:
        self._horizon(required=True)
        self._one_of("preset", "tight", "signed", "published")

    @property
    def tree_epsilon(self) -> Fraction:
        """ε of one tree."""
        if self.preset != "published":
            return self.budget / self.width
        log_horizon = Fraction(str(round(math.log(max(2, self.horizon)), 6)))
        return self.budget * self.horizon.bit_length() / (2 * self.width * log_horizon)

    @cached_property
    def tree(self) -> BinaryTree | SignedCounter:
        """The counter of one arm."""
        grid = Grid(steps=self.grid)
        if self.preset == "signed":
            base = best_base(self.horizon, math.ceil(math.log(2.0 * self.horizon**3)))
            return SignedCounter(
                epsilon=self.tree_epsilon, leaves=self.horizon, base=base, grid=grid
            )
        claimed = self.budget / self.width if self.preset == "published" else None
        return BinaryTree(
            epsilon=self.tree_epsilon, leaves=self.horizon, claimed=claimed, grid=grid
        )

    @property
    def node_scale(self) -> float:
        """Scale of a node's noise, in reward units."""
        return self.tree.levels / float(self.tree_epsilon)

    def mechanism(self) -> EachArm:
        return EachArm(inner=self.tree, width=self.width)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        if self.preset != "published":
            return noisy_radius(n, draws, t, self.node_scale)
        log_h = math.log(max(2, self.horizon))
        extra = 12.0 * self.width * log_h**3 / (float(self.budget) * n)
        return np.asarray(np.sqrt(4.0 * (math.log(self.arms) + log_h) / n) + extra)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        if self.preset != "published":
            draws = tree_draws(self.tree.most_draws_up_to)
            width = noisy_width(rounds, self.node_scale, draws)
            low = failing_rounds(self.arms, rounds, 3.0)
        else:
            eps, size = float(self.budget), self.width
            width = published_tree_width(self.arms, self.horizon, size, eps)
            low = published_tree_failing(
                self.arms, rounds, self.horizon, self.node_scale, eps, size
            )
        return smooth_bound(self.problem, means, rounds, width, low)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        gaps = super_arm_gaps(self.problem, means)
        if gaps is None:
            return math.nan
        log_t, eps, size = math.log(rounds), float(self.budget), self.width
        more = log_t if self.preset == "published" else 1.0
        noise_cost = size * log_t**2 * more / eps
        # Theorem 8's logarithm, with ln T for the published radius and K ln² T for the tight one
        inside = (
            self.problem.b_one * (size * log_t if more > 1.0 else size * noise_cost * eps) / eps
        )
        each = [
            noise_cost * (1.0 + math.log(max(1.0, inside / gap))) if math.isfinite(gap) else 0.0
            for gap in gaps.least
        ]
        return per_gap(self.problem, means, size * log_t * more, each)


@final
@policy_dataclass
class CUCBDPMax(SuperArmPolicy, PrivatePolicy):
    """CUCB on trees, of which a round enters one, that of the super arm's least-seen arm. The
    horizon must be known.

    Guarantee: ε-DP. One reward a round is used, so there is no factor K.

    Regret: O(Σ B∞² ln T/Δ + m B∞ ln² T/epsilon), with B∞ as in CUCBLDP2.

    Source: Chen et al. 2020, section 3.2 (the form of Algorithm 2 for ε-DP, described there in
    words).

    Args:
        horizon: T, number of rounds; an arm's tree has T leaves.

    >>> from dpbandits.oracles import TopK
    >>> str(CUCBDPMax(problem=TopK(arms=5, k=2), epsilon=1, horizon=1000).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="section 3.2 (CUCB-DP for B∞)",
        bound="O(Σ B∞² ln T/Δ + m B∞ ln² T/ε)",
        proof="cucb_dp_max",
        baseline="CUCB",
        feedback="semi",
        narrow=True,
        needs_horizon=True,
        every_round=True,
    )

    horizon: int

    def validate(self) -> None:
        self._horizon(required=True)

    @property
    def node_scale(self) -> float:
        """Scale of a node's noise, in reward units."""
        return self.horizon.bit_length() / float(self.budget)

    def mechanism(self) -> EachArm:
        tree = BinaryTree(epsilon=self.budget, leaves=self.horizon, grid=Grid(steps=self.grid))
        return EachArm(inner=tree, width=self.width)

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        return noisy_radius(n, draws, t, self.node_scale)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        width = noisy_width(rounds, self.node_scale, tree_draws(int.bit_length))
        low = failing_rounds(self.arms, rounds, 3.0)
        return smooth_bound(self.problem, means, rounds, width, low, narrow=True)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        most, log_t = errors_in_one(self.problem), math.log(rounds)
        noise_cost = most * log_t**2 / float(self.budget)
        return per_gap(self.problem, means, most**2 * log_t, noise_cost)
