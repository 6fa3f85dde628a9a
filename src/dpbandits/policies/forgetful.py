"""Index policies that learn from an arm's newest batch alone: AdaP-UCB, AdaP-KLUCB, AdaC-UCB and
the anytime Lazy-UCB.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

from dpbandits.core.plan import Action, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, as_fraction
from dpbandits.mechanisms import GaussianBatches, LazyForgetful
from dpbandits.policies.base import (
    IndexPolicy,
    PrivatePolicy,
    Statistics,
    StatisticsPolicy,
    first_unseen,
    ranked,
    require_budget,
)
from dpbandits.policies.bounds.arms import (
    adac_bound,
    adap_bound,
    adap_kl_bound,
    lazy_bound,
    one_arm,
    positive_gaps,
)
from dpbandits.policies.contract import About, policy_dataclass
from dpbandits.policies.formulas.indices import (
    IndexNumbers,
    IndexRule,
    adac_ucb_score,
    adap_klucb_score,
    adap_ucb_score,
    as_long_again,
    crossing,
    lazy_ucb,
    lazy_ucb_score,
    twice_the_last,
)

__all__ = ["AdaCUCB", "AdaPKLUCB", "AdaPUCB", "AnytimeLazyUCB"]


@final
@policy_dataclass
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
    chooses: ClassVar[bool] = True

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
        arm = self.leader(state, t)
        full = t + self.room(state, arm)
        end = full
        for j in range(self.arms):
            if j != arm:
                end = crossing(
                    arm, means[arm], state.rounds[arm], j, means[j], state.rounds[j], t, end, eps
                )
        return Hold(arm, end - t, (arm,) if end == full else ())

    @cached_property
    def rule(self) -> IndexRule:
        numbers = IndexNumbers(eps=float(self.epsilon))
        return IndexRule(lazy_ucb_score, numbers, twice_the_last)

    def leader(self, s: Statistics, t: int) -> int:
        """The arm with the largest index, the lowest on a tie."""
        eps, log_t = float(self.epsilon), math.log(t)
        scores = [
            lazy_ucb(total / n, n, log_t, eps) for total, n in zip(s.totals, s.rounds, strict=True)
        ]
        return scores.index(max(scores))

    def room(self, state: Statistics, arm: int) -> int:
        return max(1, 2 * state.rounds[arm] - state.open[arm])

    def ahead(
        self,
        state: Statistics,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Hold:
        arm, rounds = ranked(self, state, asked, eligible)
        return Hold(arm, rounds, (arm,))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return lazy_bound(one_arm(means), rounds, float(self.epsilon), self.grid)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        eps = float(self.epsilon)
        return math.fsum(math.log(rounds) / min(gap, eps) for gap in positive_gaps(means))


@policy_dataclass
class AdaPUCB(IndexPolicy, PrivatePolicy):
    """UCB in doubling episodes that forget.

    Source: Azize and Basu 2022, AdaP-UCB. Guarantee: epsilon-DP. Regret: O(Σ ln T/min(Δ, epsilon))
    for a > 3.

    Args:
        a: the paper's α; above 3 (3.1 in its experiments).
    """

    about: ClassVar[About] = About(
        paper="Azize and Basu 2022",
        algorithm="AdaP-UCB",
        bound="O(Σ max(a/Δ, a/ε) ln T), a > 3",
        proof="adap_ucb",
        twin="UCB1",
    )
    a: float = 3.1

    def validate(self) -> None:
        self._number("a", 3, 1000)

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget, grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        numbers = IndexNumbers(eps=float(self.epsilon), constant=float(self.a))
        return IndexRule(adap_ucb_score, numbers, as_long_again)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        eps = float(self.epsilon)
        return adap_bound(one_arm(means), rounds, eps, self.a, self.grid)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        eps = float(self.epsilon)
        return self.a * math.fsum(math.log(rounds) / min(g, eps) for g in positive_gaps(means))


@policy_dataclass
class AdaPKLUCB(IndexPolicy, PrivatePolicy):
    """KL-UCB in doubling episodes that forget.

    Source: Azize and Basu 2022, AdaP-KLUCB. Guarantee: epsilon-DP.
    Regret: O(Σ Δ ln T/min(kl(μ, μ*), epsilon Δ)) for a > 3.

    Args:
        a: the paper's α; above 3 (3.1 in its experiments).
    """

    about: ClassVar[About] = About(
        paper="Azize and Basu 2022",
        algorithm="AdaP-KLUCB",
        bound="O(Σ Δ ln T/min(kl(μ, μ*), εΔ)), a > 3",
        proof="adap_klucb",
        twin="KLUCB",
    )
    a: float = 3.1

    def validate(self) -> None:
        self._number("a", 3, 1000)

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget, grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        numbers = IndexNumbers(eps=float(self.epsilon), constant=float(self.a))
        return IndexRule(adap_klucb_score, numbers, as_long_again, capped=True)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        eps = float(self.epsilon)
        return adap_kl_bound(one_arm(means), rounds, eps, self.a, self.grid)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        eps, log_t = float(self.epsilon), math.log(rounds)
        return math.fsum(self.a * g * log_t / min(2 * g * g, eps * g) for g in positive_gaps(means))


@policy_dataclass
class AdaCUCB(IndexPolicy):
    """UCB in doubling episodes with Gaussian noise: zero-concentrated differential privacy.

    Source: Azize and Basu 2024 (Concentrated differential privacy for bandits), AdaC-UCB.
    Guarantee: rho-zCDP (`guarantee.rho`; never reported as an epsilon).
    Regret: O(Σ b (1/Δ + 1/√rho) ln T) for b > 3.

    Args:
        rho: the zCDP budget for one round's reward, a number or a fraction such as "1/3".
        b: the paper's β; above 3.
    """

    about: ClassVar[About] = About(
        paper="Azize and Basu 2024",
        algorithm="AdaC-UCB",
        bound="O(Σ b(ln T/Δ + √(ln T/ρ))), b > 3",
        proof="adac_ucb",
        twin="UCB1",
        privacy="zCDP",
    )
    rho: Fraction | float | str
    b: float = 3.1
    grid: int = 1024

    def validate(self) -> None:
        object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))
        require_budget(as_fraction(self.rho, "rho"), self.grid, "rho")
        self._number("b", 3, 1000)

    def mechanism(self) -> GaussianBatches:
        return GaussianBatches(rho=as_fraction(self.rho, "rho"), grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        numbers = IndexNumbers(eps=float(self.rho), constant=float(self.b))
        return IndexRule(adac_ucb_score, numbers, as_long_again)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return adac_bound(one_arm(means), rounds, float(self.rho), self.b)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t, rho = math.log(rounds), float(self.rho)
        return math.fsum(
            self.b * (log_t / gap + math.sqrt(log_t / rho)) for gap in positive_gaps(means)
        )
