"""Best-arm identification with fixed confidence: two arms in question are played until one is
surely best, and that one for ever.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal, NamedTuple

from dpbandits.core.plan import FOREVER, Cycle, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Exact, LazyForgetful, RandomizedResponse
from dpbandits.mechanisms.base import Answer
from dpbandits.policies.base import Identified, PrivatePolicy
from dpbandits.policies.contract import About, Release
from dpbandits.policies.formulas.thresholds import first_batch
from dpbandits.policies.formulas.top_two import (
    challenging,
    challenging_bits,
    leading,
    leading_bits,
    planned,
    settled,
    settled_bits,
)

__all__ = ["CTBTT", "AdaPTT"]

PAPER = "Azize, Jourdan, Al Marjani and Basu 2023"
BOUND = "none proved: it identifies the best arm (wrong with probability at most δ), then plays it"
LAZY = 64
"""CTBTT releases after the pair's rounds have grown by this fraction: rounds spent in vain stay
below 1/LAZY of all.
"""

smallest_start = cache(first_batch)


class Contest(NamedTuple):
    """Public state of `AdaPTT`, one entry an arm unless said."""

    # (noised sum of rewards, rounds) of the newest batches, oldest first
    batches: tuple[tuple[tuple[float, int], ...], ...]
    phases: tuple[int, ...]  # batches released
    pulls: tuple[int, ...]  # rounds told
    open: tuple[int, ...]  # rounds told since the last release
    t: int  # rounds told, all arms
    arm: int  # the identified arm; −1: none yet
    decided: int  # rounds that took


def windows(state: Contest) -> tuple[list[float], list[int]]:
    """Every arm's mean and rounds over its newest batches."""
    rounds = [sum(n for _, n in batches) for batches in state.batches]
    return [
        math.fsum(total for total, _ in b) / n for b, n in zip(state.batches, rounds, strict=True)
    ], rounds


def counted(state: Contest, release: Release, keep: int) -> Contest:
    """The contest after one plan: counts move by what was told, released arms get a new batch in
    their window.
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
    """Public state of `CTBTT`, one entry an arm unless said."""

    ones: tuple[float, ...]  # reports of one
    rounds: tuple[int, ...]  # reports
    t: int  # rounds told, all arms
    arm: int  # the identified arm; −1: none yet
    decided: int  # rounds that took


@dataclass(frozen=True, kw_only=True)
class Identifier(PrivatePolicy):
    """Names the best arm, wrongly with probability at most delta, and plays it for ever.

    Args:
        delta: failure probability.
    """

    delta: float = 0.05

    def validate(self) -> None:
        self._number("delta", 0, 1)

    def best_arm(self, state: Contest | Bits) -> Identified | None:
        """The identified arm and the rounds it took; None while the question is open."""
        return Identified(state.arm, state.decided) if state.arm >= 0 else None


@dataclass(frozen=True, kw_only=True)
class AdaPTT(Identifier):
    """Top two with doubling batches and Laplace noise.

    Source: Azize, Jourdan, Al Marjani and Basu 2023, AdaP-TT (reconstructed; proofs/adap_tt.md
    lists what differs).
    Guarantee: epsilon-DP. The arm it names is wrong with probability at most delta. Regret: no
    bound proved.

    Args:
        preset: "tight": the newest three batches, first batches that can settle something, a
            threshold made of exact generating functions, and a net for neglected arms; "published":
            batches of 1, 1, 2, 4, …, the newest alone, the published threshold.
        first: rounds in each arm's first batch; by default as few as may settle a gap of one half
            ("published": 1).
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="AdaP-TT (reconstructed)",
        bound=BOUND,
        proof="adap_tt",
        twin="SuccessiveElimination",
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
        """Batches a mean is made of."""
        return 1 if self.preset == "published" else 3

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget, grid=Grid(steps=self.grid))

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
        """Rounds until the arm's open batch is full."""
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


@dataclass(frozen=True, kw_only=True)
class CTBTT(Identifier):
    """Top two on randomised-response bits: the best arm's bits are the best bits.

    Source: Azize, Jourdan, Al Marjani and Basu 2023, CTB-TT (reconstructed), with an
    upper-confidence leader and the threshold of proofs/ctb_tt.md. Guarantee: epsilon-LDP for every
    report. The arm it names is wrong with probability at most delta.
    Regret: no bound proved.
    """

    about: ClassVar[About] = About(
        paper=PAPER,
        algorithm="CTB-TT (reconstructed)",
        bound=BOUND,
        proof="ctb_tt",
        twin="SuccessiveElimination",
        privacy="local",
        theory=False,
    )

    def mechanism(self) -> Exact:
        return Exact(grid=Grid(steps=self.grid))

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
