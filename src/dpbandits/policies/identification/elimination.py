"""Successive elimination: arms that are surely worse are dropped, the last one standing is played
for ever.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dpbandits.core.plan import FOREVER, Cycle, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Exact, LazyForgetful
from dpbandits.policies.base import Identified, PrivatePolicy
from dpbandits.policies.bounds.elimination import elimination_bound, guessing_bound, passes_bound
from dpbandits.policies.bounds.optimism import positive_gaps
from dpbandits.policies.bounds.tails import excess
from dpbandits.policies.contract import About, Policy, Release
from dpbandits.policies.formulas.schedules import elimination_width, epoch, next_guess

__all__ = ["DPSE", "SuccessiveElimination"]


class Alive(NamedTuple):
    """Public state."""

    arms: tuple[int, ...]  # not eliminated
    stage: int  # next epoch (DPSE) or pass (SuccessiveElimination), from 1
    t: int  # rounds told
    guess: int  # horizon assumed; 0: beta was given
    decided: int  # rounds it took to identify the arm; 0: not yet


def identified(state: Alive) -> Identified | None:
    return Identified(state.arms[0], state.decided) if len(state.arms) == 1 else None


def eliminate(state: Alive, release: Release, width: float) -> Alive:
    """Drop every arm whose mean is more than `width` below the largest."""
    means = [a.total / a.rounds for a in release.answers]
    kept = tuple(
        arm
        for arm, mean in zip(release.coordinates, means, strict=True)
        if max(means) - mean <= width
    )
    decided = release.round if len(kept) == 1 < len(state.arms) else state.decided
    return state._replace(arms=kept, stage=state.stage + 1, t=release.round, decided=decided)


@dataclass(frozen=True, kw_only=True)
class SuccessiveElimination(Policy):
    """Passes over the arms still alive, without privacy.

    Source: Even-Dar, Mannor and Mansour 2006, Algorithm 3. Guarantee: none.
    Regret: O(Σ ln(K T)/Δ); the best arm survives with probability 1 − beta.

    Args:
        horizon: T, which sets beta = 1/T; or give beta itself.
        beta: failure probability.
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
    grid: int = 1024

    def validate(self) -> None:
        self._horizon(required=self.beta is None)
        if self.beta is None:
            object.__setattr__(self, "beta", 1 / max(2, self.horizon or 0))
        self._number("beta", 0, 1)

    def mechanism(self) -> Exact:
        return Exact(grid=Grid(steps=self.grid))

    def init(self) -> Alive:
        return Alive(tuple(range(self.arms)), 1, 0, 0, 0)

    def plan(self, state: Alive, rng: PublicRng) -> Plan:
        if len(state.arms) == 1:
            return Hold(state.arms[0], FOREVER, ())
        return Cycle(state.arms, 1, state.arms)

    def update(self, state: Alive, plan: Plan, release: Release) -> Alive:
        return eliminate(
            state, release, elimination_width(state.stage, self.arms, self.beta or 0.5)
        )

    def best_arm(self, state: Alive) -> Identified | None:
        """The identified arm and the rounds it took; None while several are alive."""
        return identified(state)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return passes_bound(means, rounds, self.beta or 0.5)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(self.arms * rounds) / gap for gap in positive_gaps(means))


@dataclass(frozen=True, kw_only=True)
class DPSE(PrivatePolicy):
    """Private successive elimination: epochs of fresh pulls, one noised mean an arm and epoch. Also
    identifies the best arm.

    Source: Sajed and Sheffet 2019, Algorithm 3 (DP-SE). Guarantee: epsilon-DP.
    Regret: O(Σ ln T/Δ + K ln T/epsilon) with beta = 1/T; a further factor ln T where the guess is
    doubled, at most 4 where it is squared (docs/measured/regret/guesses.md). The best arm survives
    with probability 1 − beta (1 − 1.24 beta where epsilon exceeds 0.9 grid steps, as discrete noise
    has the heavier tail then).

    Args:
        beta: failure probability.
        horizon: T, which sets beta = 1/T. With neither, T is guessed: the policy restarts on fresh
            rewards when its guess is reached, so epsilon is not divided.
        preset: the next guess: "doubled" (as in the source) or "squared".
    """

    about: ClassVar[About] = About(
        paper="Sajed and Sheffet 2019",
        algorithm="Algorithm 3 (DP-SE)",
        bound="O(Σ ln T/Δ + K ln T/ε)",
        proof="dpse",
        twin="SuccessiveElimination",
    )
    horizon: int | None = None
    beta: float | None = None
    preset: str = "doubled"

    def validate(self) -> None:
        self._one_of("preset", "doubled", "squared")
        self._horizon(required=False)
        if self.beta is not None:
            self._number("beta", 0, 1)
        elif self.horizon is not None:
            object.__setattr__(self, "beta", 1 / max(2, self.horizon))

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget, grid=Grid(steps=self.grid))

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

    def best_arm(self, state: Alive) -> Identified | None:
        """The identified arm and the rounds it took; None while several are alive."""
        return identified(state)

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
