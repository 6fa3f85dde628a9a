"""Successive elimination by sparse vectors: the first attempts that DP-SE improved on, as
baselines.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from dpbandits.core.plan import FOREVER, Cycle, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Comparisons
from dpbandits.mechanisms.sparse_vector import MOST_COMPARED, Rivals
from dpbandits.policies.base import Identified, PrivatePolicy, require_budget
from dpbandits.policies.bounds.elimination import comparisons_bound
from dpbandits.policies.bounds.optimism import positive_gaps
from dpbandits.policies.bounds.tails import excess
from dpbandits.policies.contract import About, Release
from dpbandits.policies.formulas.schedules import comparison_noise, comparison_radius
from dpbandits.policies.identification.elimination import Alive, identified

__all__ = ["SparseVectorSE"]


@final
@dataclass(frozen=True, kw_only=True)
class SparseVectorSE(PrivatePolicy):
    """Successive elimination that never forgets and asks sparse vectors who is behind, after 2, 4,
    8, … pulls of each arm alive. A baseline: the budget is shared out over some K questions that
    see a reward, so regret grows with K where DP-SE's does not.

    Source: Sajed and Sheffet 2019, section 4 ("failed first-attempts"). Guarantee: epsilon-DP.
    Regret: O(Σ ln T/Δ + K² ln T/epsilon) with beta = 1/T. The best arm survives with probability
    1 − beta.

    Args:
        horizon: T, the rounds it is played for.
        beta: failure probability, by default 1/T.
        preset: a sparse vector for each of the "pairs" of arms; for each of the "arms" against the
            best of the others; or "one" that is begun anew after each of K − 1 answers.
    """

    about: ClassVar[About] = About(
        paper="Sajed and Sheffet 2019",
        algorithm="section 4, first attempts",
        bound="O(Σ ln T/Δ + K² ln T/ε)",
        proof="sparse_vector_se",
        twin="SuccessiveElimination",
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
        self._number("beta", 0, 1)
        require_budget(self.budget, self.grid, "epsilon", Fraction(3 * self.arms))

    def mechanism(self) -> Comparisons:
        return Comparisons(
            epsilon=self.budget,
            grid=Grid(steps=self.grid),
            watch=self.preset,
            bar=self.bar,
        )

    def bar(self, pulls: int) -> float:
        """The lead, in rewards, that is no accident after so many pulls of each arm."""
        number, beta = max(1, (pulls - 1).bit_length()), self.beta or 0.5
        share = float(self.mechanism().share(self.arms))
        radius = comparison_radius(pulls, number, self.arms, beta)
        return 2.0 * radius + comparison_noise(number, self.arms, beta, share)

    def init(self) -> Alive:
        return Alive(tuple(range(self.arms)), 1, 0, 0, 0)

    def plan(self, state: Alive, rng: PublicRng) -> Plan:
        """The arms alive in turn, until each has twice its pulls."""
        if len(state.arms) == 1:
            return Hold(state.arms[0], FOREVER, ())
        return Cycle(state.arms, 2 ** max(1, state.stage - 1), state.arms)

    def update(self, state: Alive, plan: Plan, release: Release) -> Alive:
        behind = zip(release.coordinates, release.answers, strict=True)
        out = {arm for arm, is_behind in behind if is_behind}
        kept = tuple(arm for arm in state.arms if arm not in out)
        decided = release.round if len(kept) == 1 < len(state.arms) else state.decided
        return Alive(kept, state.stage + bool(release.coordinates), release.round, 0, decided)

    def best_arm(self, state: Alive) -> Identified | None:
        """The identified arm and the rounds it took; None while several are alive."""
        return identified(state)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        share = float(self.mechanism().share(self.arms))
        tail = excess(share / 3.0, self.grid)
        return comparisons_bound(means, rounds, self.beta or 0.5, share, tail)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t, share = math.log(rounds), float(self.mechanism().share(self.arms))
        return math.fsum(log_t / gap + log_t / share for gap in positive_gaps(means))
