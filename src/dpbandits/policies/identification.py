"""Best-arm identification: successive elimination, with and without privacy, and top two."""

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import cache
from typing import ClassVar, Literal, NamedTuple, final

from dpbandits.core.plan import FOREVER, Cycle, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Comparisons, RandomizedResponse
from dpbandits.mechanisms.base import Answer
from dpbandits.mechanisms.sparse_vector import MOST_COMPARED, Rivals
from dpbandits.policies.arm_bounds import (
    comparisons_bound,
    elimination_bound,
    excess,
    guessing_bound,
    passes_bound,
    positive_gaps,
)
from dpbandits.policies.base import (
    ExactSums,
    Identified,
    NewestBatches,
    PrivatePolicy,
    emptied,
    require_budget,
)
from dpbandits.policies.contract import About, Policy, Release, policy_dataclass
from dpbandits.policies.formulas.indices import (
    comparison_noise,
    comparison_radius,
    elimination_width,
    epoch,
    next_guess,
)
from dpbandits.policies.formulas.stopping import (
    challenging,
    challenging_bits,
    first_batch,
    leading,
    leading_bits,
    planned,
    settled,
    settled_bits,
)

# Successive elimination: arms that are surely worse are eliminated; the last one is then played for
# ever.


class Alive(NamedTuple):
    """The state of successive elimination. Public."""

    arms: tuple[int, ...]  # not eliminated
    stage: int  # next epoch (DPSE) or pass (SuccessiveElimination), from 1
    t: int  # rounds recorded
    guess: int  # assumed horizon; 0: beta was given
    decided: int  # rounds until the arm was identified; 0: not yet


def eliminate(state: Alive, release: Release, width: float) -> Alive:
    """Eliminate every arm whose mean is more than `width` below the largest."""
    means = [a.total / a.rounds for a in release.answers]
    highest = max(means)
    kept = tuple(
        arm for arm, mean in zip(release.coordinates, means, strict=True) if highest - mean <= width
    )
    decided = release.round if len(kept) == 1 < len(state.arms) else state.decided
    return state._replace(arms=kept, stage=state.stage + 1, t=release.round, decided=decided)


@policy_dataclass
class Elimination(Policy):
    """Base class of successive elimination, which identifies the last arm that is left."""

    def init(self) -> Alive:
        return Alive(tuple(range(self.arms)), 1, 0, 0, 0)

    def best_arm(self, state: Alive) -> Identified | None:
        """Return the identified arm and its number of rounds; None while several arms are left."""
        return Identified(state.arms[0], state.decided) if len(state.arms) == 1 else None


@policy_dataclass
class SuccessiveElimination(Elimination, ExactSums):
    """Passes over the arms that are not eliminated, without privacy.

    Guarantee: none.

    Regret: O(Σ ln(K T)/Δ); the best arm is kept with probability 1 − beta.

    Source: Even-Dar, Mannor and Mansour 2006, Algorithm 3.

    Args:
        horizon: T, number of rounds, which sets beta = 1/T; or give beta.
        beta: failure probability.
        grid: steps per unit of reward.

    >>> SuccessiveElimination(arms=3, horizon=1000).beta
    0.001
    """

    about: ClassVar[About] = About(
        paper="Even-Dar, Mannor and Mansour 2006",
        algorithm="Algorithm 3 (Successive Elimination)",
        bound="O(Σ ln(KT)/Δ)",
        privacy="none",
        needs_horizon=True,
    )
    horizon: int | None = None
    beta: float | None = None

    def validate(self) -> None:
        self._horizon(required=self.beta is None)
        if self.beta is None:
            object.__setattr__(self, "beta", 1 / max(2, self.horizon or 0))
        self._number("beta", 1e-100, 1)

    def plan(self, state: Alive, rng: PublicRng) -> Plan:
        if len(state.arms) == 1:
            return Hold(state.arms[0], FOREVER, ())
        return Cycle(state.arms, 1, state.arms)

    def update(self, state: Alive, plan: Plan, release: Release) -> Alive:
        return eliminate(
            state, release, elimination_width(state.stage, self.arms, self.beta or 0.5)
        )

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return passes_bound(means, rounds, self.beta or 0.5)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(self.arms * rounds) / gap for gap in positive_gaps(means))


@policy_dataclass
class DPSE(Elimination, NewestBatches):
    """Private successive elimination: each epoch pulls anew, and releases one noisy mean for each
    arm. It also identifies the best arm.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: O(Σ ln T/Δ + K ln T/epsilon) with beta = 1/T; with a further factor ln T if the guess is
    doubled, at most 4 if it is squared (docs/measured/regret.md). The best arm is kept with
    probability 1 − beta (1 − 1.24 beta where epsilon exceeds 0.9 grid steps, because discrete noise
    then has the heavier tail).

    Source: Sajed and Sheffet 2019, Algorithm 3 (DP-SE).

    Args:
        beta: failure probability.
        horizon: T, number of rounds, which sets beta = 1/T. Without beta and horizon, T is guessed:
            the policy restarts on fresh rewards when it reaches its guess, so epsilon is not
            divided.
        preset: the next guess: "doubled" (as in the source) or "squared".

    >>> DPSE(arms=3, epsilon=1, horizon=1000).beta
    0.001
    """

    about: ClassVar[About] = About(
        paper="Sajed and Sheffet 2019",
        algorithm="Algorithm 3 (DP-SE)",
        bound="O(Σ ln T/Δ + K ln T/ε)",
        proof="dpse",
        baseline="SuccessiveElimination",
    )
    horizon: int | None = None
    beta: float | None = None
    preset: str = "doubled"

    def validate(self) -> None:
        self._one_of("preset", "doubled", "squared")
        self._horizon(required=False)
        if self.beta is not None:
            self._number("beta", 1e-100, 1)
        elif self.horizon is not None:
            object.__setattr__(self, "beta", 1 / max(2, self.horizon))

    def init(self) -> Alive:
        return Alive(tuple(range(self.arms)), 1, 0, 0 if self.beta else 1024 * self.arms, 0)

    def plan(self, state: Alive, rng: PublicRng) -> Plan:
        if len(state.arms) > 1:
            pulls, _ = epoch(state.stage, len(state.arms), self._beta(state), float(self.epsilon))
            return Cycle(state.arms, pulls, state.arms)
        return Hold(state.arms[0], max(1, state.guess - state.t) if state.guess else FOREVER, ())

    def update(self, state: Alive, plan: Plan, release: Release) -> Alive:
        if release.coordinates:
            _, width = epoch(state.stage, len(state.arms), self._beta(state), float(self.epsilon))
            state = eliminate(state, release, width)
        state = state._replace(t=release.round)
        if state.guess and state.t >= state.guess:
            guess = next_guess(state.guess, state.t, self.preset == "squared")
            return Alive(tuple(range(self.arms)), 1, state.t, guess, 0)
        return state

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        eps, tail = float(self.epsilon), excess(float(self.epsilon), self.grid)
        if self.beta is None:
            squared = self.preset == "squared"
            return guessing_bound(means, rounds, self.init().guess, squared, eps, tail)
        return elimination_bound(means, rounds, self.beta, eps, tail)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t = math.log(rounds)
        each = [log_t / gap + log_t / float(self.epsilon) for gap in positive_gaps(means)]
        doubled = self.beta is None and self.preset == "doubled"
        return math.fsum(each) * (max(1.0, math.log2(rounds)) if doubled else 1.0)

    def _beta(self, state: Alive) -> float:
        return self.beta or 1.0 / state.guess


# Successive elimination by sparse vectors: baselines that DP-SE improved on.


@final
@policy_dataclass
class SparseVectorSE(Elimination, PrivatePolicy):
    """Successive elimination on cumulative sums. Sparse vectors test which arm is behind, after 2,
    4, 8, … pulls of each remaining arm.

    A baseline: the budget is divided among about K tests that use a reward, so regret grows with K
    where DP-SE's does not.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: O(Σ ln T/Δ + K² ln T/epsilon) with beta = 1/T. The best arm is kept with probability 1 −
    beta.

    Source: Sajed and Sheffet 2019, section 4 ("failed first-attempts").

    Args:
        horizon: T, number of rounds.
        beta: failure probability, by default 1/T.
        preset: "pairs": a sparse vector for each pair of arms. "arms": one for each arm against the
            best of the others. "one": one that restarts after each of K − 1 eliminations.

    >>> str(SparseVectorSE(arms=3, epsilon=1, horizon=1000).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="Sajed and Sheffet 2019",
        algorithm="section 4, first attempts",
        bound="O(Σ ln T/Δ + K² ln T/ε)",
        proof="sparse_vector_se",
        baseline="SuccessiveElimination",
        needs_horizon=True,
    )
    horizon: int
    beta: float | None = None
    preset: Rivals = "pairs"

    def validate(self) -> None:
        self._whole("arms", high=MOST_COMPARED, of="arms")
        self._one_of("preset", "pairs", "arms", "one")
        self._horizon(required=True)
        if self.beta is None:
            object.__setattr__(self, "beta", 1 / max(2, self.horizon))
        self._number("beta", 1e-100, 1)
        require_budget(self.budget, self.grid, "epsilon", Fraction(3 * self.arms))

    def mechanism(self) -> Comparisons:
        return Comparisons(
            epsilon=self.budget,
            grid=Grid(steps=self.grid),
            watch=self.preset,
            bar=self.bar,
        )

    def bar(self, pulls: int) -> float:
        """Return the lead, in rewards, that is significant after `pulls` pulls of each arm."""
        number, beta = max(1, (pulls - 1).bit_length()), self.beta or 0.5
        share = float(self.mechanism().share(self.arms))
        radius = comparison_radius(pulls, number, self.arms, beta)
        return 2.0 * radius + comparison_noise(number, self.arms, beta, share)

    def plan(self, state: Alive, rng: PublicRng) -> Plan:
        """Play the remaining arms in turn, until each has twice its pulls."""
        if len(state.arms) == 1:
            return Hold(state.arms[0], FOREVER, ())
        return Cycle(state.arms, 2 ** max(1, state.stage - 1), state.arms)

    def update(self, state: Alive, plan: Plan, release: Release) -> Alive:
        behind = zip(release.coordinates, release.answers, strict=True)
        eliminated = {arm for arm, is_behind in behind if is_behind}
        kept = tuple(arm for arm in state.arms if arm not in eliminated)
        decided = release.round if len(kept) == 1 < len(state.arms) else state.decided
        return Alive(kept, state.stage + bool(release.coordinates), release.round, 0, decided)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        share = float(self.mechanism().share(self.arms))
        tail = excess(share / 3.0, self.grid)
        return comparisons_bound(means, rounds, self.beta or 0.5, share, tail)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t, share = math.log(rounds), float(self.mechanism().share(self.arms))
        return math.fsum(log_t / gap + log_t / share for gap in positive_gaps(means))


# Best-arm identification with fixed confidence: two candidates are played until one arm is surely
# best, which is played from then on.


PAPER = "Azize, Jourdan, Al Marjani and Basu 2023"
BOUND = "none proved: it identifies the best arm (wrong with probability at most δ), then plays it"
LAZY = 64
"""CTBTT releases after the pair's rounds have grown by this fraction, so that less than 1/LAZY of
all rounds is wasted.
"""

smallest_start = cache(first_batch)


class Contest(NamedTuple):
    """The state of `AdaPTT`, one entry per arm unless stated. Public."""

    # (noisy sum of rewards, rounds) of the newest batches, oldest first
    batches: tuple[tuple[tuple[float, int], ...], ...]
    phases: tuple[int, ...]  # batches released
    pulls: tuple[int, ...]  # rewards recorded
    open: tuple[int, ...]  # rewards recorded since the last release
    t: int  # rewards recorded, all arms
    arm: int  # the identified arm; −1: none yet
    decided: int  # rounds until it was identified


def windows(state: Contest) -> tuple[list[float], list[int]]:
    """Return every arm's mean and rounds over its newest batches."""
    rounds = [sum(n for _, n in batches) for batches in state.batches]
    return [
        math.fsum(total for total, _ in b) / n for b, n in zip(state.batches, rounds, strict=True)
    ], rounds


def counted(state: Contest, release: Release, keep: int) -> Contest:
    """Return the state after one plan: add the recorded counts, and give released arms a new batch
    in their window.
    """
    pulls, open_ = list(state.pulls), list(state.open)
    batches, phases = list(state.batches), list(state.phases)
    for arm, times in release.told:
        pulls[arm] += times
        open_[arm] += times
    for arm, answer in zip(release.coordinates, release.answers, strict=True):
        total, rounds, _ = Answer(*answer)
        batches[arm] = (*batches[arm], (total, rounds))[-keep:]
        phases[arm], open_[arm] = phases[arm] + 1, 0
    return state._replace(
        batches=tuple(batches),
        phases=tuple(phases),
        pulls=tuple(pulls),
        open=tuple(open_),
        t=release.round,
    )


class Bits(NamedTuple):
    """The state of `CTBTT`, one entry per arm unless stated. Public."""

    ones: tuple[float, ...]  # reports of one
    rounds: tuple[int, ...]  # reports
    t: int  # rewards recorded, all arms
    arm: int  # the identified arm; −1: none yet
    decided: int  # rounds until it was identified


@policy_dataclass
class Identifier(PrivatePolicy):
    """Base class of policies that identify the best arm, wrongly with probability at most delta,
    and play it from then on.

    Args:
        delta: failure probability, in (0, 1).
    """

    delta: float = 0.05

    def validate(self) -> None:
        self._number("delta", 1e-100, 1)

    def best_arm(self, state: Contest | Bits) -> Identified | None:
        """Return the identified arm and its number of rounds; None before."""
        return Identified(state.arm, state.decided) if state.arm >= 0 else None


@policy_dataclass
class AdaPTT(Identifier, NewestBatches):
    """Top two with doubling batches and Laplace noise.

    The identified arm is wrong with probability at most delta.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: no bound proved.

    Source: Azize, Jourdan, Al Marjani and Basu 2023, AdaP-TT (reconstructed; proofs/adap_tt.md
    lists the differences).

    Args:
        preset: "tight": the newest three batches, first batches that can be decisive, a threshold
            from exact generating functions, and forced exploration of neglected arms. "published":
            batches of 1, 1, 2, 4, …, the newest alone, and the published threshold.
        first: rounds in each arm's first batch; by default the fewest that can decide a gap of one
            half ("published": 1).

    >>> AdaPTT(arms=3, epsilon=1).delta
    0.05
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="AdaP-TT (reconstructed)",
        bound=BOUND,
        proof="adap_tt",
        baseline="SuccessiveElimination",
        theory=False,
    )
    preset: Literal["tight", "published"] = "tight"
    first: int | None = None

    def validate(self) -> None:
        super().validate()
        self._one_of("preset", "tight", "published")
        if self.first is not None:
            self._whole("first", high=2**40 - 1, of="rounds")

    @property
    def start(self) -> int:
        """Rounds in each arm's first batch."""
        if self.first is not None:
            return self.first
        if self.preset == "published":
            return 1
        return smallest_start(self.arms, self.delta, float(self.epsilon))

    @property
    def keep(self) -> int:
        """Number of batches behind a mean."""
        return 1 if self.preset == "published" else 3

    def init(self) -> Contest:
        zeros = (0,) * self.arms
        return Contest(((),) * self.arms, zeros, zeros, zeros, 0, 0 if self.arms == 1 else -1, 0)

    def plan(self, state: Contest, rng: PublicRng) -> Plan:
        if state.arm >= 0:
            return Hold(state.arm, FOREVER, ())
        arms = tuple(range(self.arms))
        if 0 not in state.phases:
            means, rounds = windows(state)
            leader = leading(means, rounds, state.phases, float(self.epsilon))
            arms = (
                leader,
                challenging(leader, means, state.pulls, state.t, self.preset == "tight"),
            )
        left = {arm: self.batch_left(state, arm) for arm in arms}
        each = min(left.values())
        return Cycle(arms, each, tuple(arm for arm in arms if left[arm] == each))

    def batch_left(self, state: Contest, arm: int) -> int:
        """Return the rounds until the arm's open batch is full."""
        phase = state.phases[arm]
        size = planned(self.start, phase + 1) - planned(self.start, phase)
        return max(1, size - state.open[arm])

    def update(self, state: Contest, plan: Plan, release: Release) -> Contest:
        state = counted(state, release, self.keep)
        if state.arm >= 0:
            return state
        means, rounds = windows(state)
        eps, published = float(self.epsilon), self.preset == "published"
        arm = settled(
            means, rounds, state.phases, self.start, self.keep, self.delta, eps, published
        )
        return state._replace(arm=arm, decided=state.t if arm >= 0 else 0)

    def dropped(
        self, state: Contest, release: Release, arms: Collection[int] | None = None
    ) -> Contest:
        state = counted(state, release, self.keep)
        return state._replace(open=emptied(state.open, arms))


@policy_dataclass
class CTBTT(Identifier, ExactSums):
    """Top two on randomised-response bits, in the local model: the best arm has the best bits.

    The identified arm is wrong with probability at most delta.

    Guarantee: ε-LDP for every report.

    Regret: no bound proved.

    Source: Azize, Jourdan, Al Marjani and Basu 2023, CTB-TT (reconstructed), with an
    upper-confidence leader and the threshold of proofs/ctb_tt.md.

    >>> CTBTT(arms=3, epsilon=1).guarantee.trust
    'local'
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="CTB-TT (reconstructed)",
        bound=BOUND,
        proof="ctb_tt",
        baseline="SuccessiveElimination",
        privacy="local",
        theory=False,
    )

    def randomizer(self) -> RandomizedResponse:
        return RandomizedResponse(epsilon=self.budget, grid=Grid(steps=self.grid))

    def init(self) -> Bits:
        return Bits((0.0,) * self.arms, (0,) * self.arms, 0, 0 if self.arms == 1 else -1, 0)

    def plan(self, state: Bits, rng: PublicRng) -> Plan:
        if state.arm >= 0:
            return Hold(state.arm, FOREVER, ())
        arms = tuple(range(self.arms))
        if 0 not in state.rounds:
            means = [ones / n for ones, n in zip(state.ones, state.rounds, strict=True)]
            leader = leading_bits(means, state.rounds, state.t)
            arms = (leader, challenging_bits(leader, means, state.rounds))
        return Cycle(arms, max(1, min(state.rounds[a] for a in arms) // LAZY), arms)

    def update(self, state: Bits, plan: Plan, release: Release) -> Bits:
        ones, rounds = list(state.ones), list(state.rounds)
        for arm, answer in zip(release.coordinates, release.answers, strict=True):
            ones[arm], rounds[arm], _ = Answer(*answer)
        state = state._replace(ones=tuple(ones), rounds=tuple(rounds), t=release.round)
        if state.arm >= 0:
            return state
        arm = settled_bits([s / n for s, n in zip(ones, rounds, strict=True)], rounds, self.delta)
        return state._replace(arm=arm, decided=state.t if arm >= 0 else 0)
