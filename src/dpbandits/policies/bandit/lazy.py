"""Anytime-Lazy-UCB: forgetful batches of 1, 2, 4, 8, … and an index that may change its mind inside
a batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LazyForgetful
from dpbandits.policies.base import Statistics, StatisticsPolicy, first_unseen
from dpbandits.policies.contract import About
from dpbandits.policies.formulas.indices import crossing, lazy_ucb
from dpbandits.policies.private import PrivatePolicy

__all__ = ["AnytimeLazyUCB"]


@final
@dataclass(frozen=True, kw_only=True)
class AnytimeLazyUCB(StatisticsPolicy, PrivatePolicy):
    """UCB on the newest full batch of each arm; batch sizes double, each reward is read once.

    Source: Hu, Huang and Mehta 2021, Algorithm 1 (Anytime-Lazy-UCB); also Hu, Huang, Mehta and
    Hegde 2024, Algorithm 1.
    Guarantee: epsilon-DP for the whole sequence of decisions. Regret: O(Σ ln T/min(Δ, epsilon)),
    order-optimal.

    | name    | paper |
    |---------|-------|
    | arms    | K     |
    | epsilon | ε     |
    | rounds  | O_j, size of the newest full batch |

    >>> float(AnytimeLazyUCB(arms=5, epsilon=0.5).guarantee.epsilon)
    0.5
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang and Mehta 2021",
        algorithm="Algorithm 1 (Anytime-Lazy-UCB)",
        bound="O(Σ ln T/min(Δ, ε))",
        proof="anytime_lazy_ucb",
        twin="UCB1",
    )

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget, grid=Grid(steps=self.grid))

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        """Hold the best arm until its batch is full or another arm's index, which grows with ln t,
        overtakes.
        """
        arm = first_unseen(state)
        if arm is not None:
            return Hold(arm, 1, (arm,))
        eps, t = float(self.epsilon), state.t + 1
        means = [total / n for total, n in zip(state.totals, state.rounds, strict=True)]
        log_t = math.log(t)
        scores = [lazy_ucb(m, n, log_t, eps) for m, n in zip(means, state.rounds, strict=True)]
        arm = scores.index(max(scores))
        full = t + max(1, 2 * state.rounds[arm] - state.open[arm])
        end = full
        for j in range(self.arms):
            if j != arm:
                end = crossing(
                    arm, means[arm], state.rounds[arm], j, means[j], state.rounds[j], t, end, eps
                )
        return Hold(arm, end - t, (arm,) if end == full else ())

    def regret_bound(self, gaps: Sequence[float], rounds: int) -> float:
        eps = float(self.epsilon)
        return math.fsum(math.log(rounds) / min(g, eps) for g in gaps if g > 0)
