"""Index policies that learn from an arm's newest batch alone: AdaP-UCB, AdaP-KLUCB, AdaC-UCB and
the anytime Lazy-UCB. Thompson sampling, and Lazy DP-TS on such batches.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, final

from dpbandits.core.plan import Action, Draw, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, as_fraction
from dpbandits.mechanisms import Exact, GaussianBatches, LazyForgetful
from dpbandits.policies.arm_bounds import (
    adac_bound,
    adap_bound,
    lazy_bound,
    lazy_order,
    one_arm,
    positive_gaps,
)
from dpbandits.policies.base import (
    Among,
    IndexPolicy,
    NewestBatches,
    PrivatePolicy,
    Statistics,
    StatisticsPolicy,
    first_blocks,
    first_unseen,
    of_arms,
    require_budget,
    seen_among,
)
from dpbandits.policies.contract import About, policy_dataclass
from dpbandits.policies.formulas.indices import (
    IndexNumbers,
    IndexRule,
    adac_ucb,
    adap_klucb,
    adap_ucb,
    as_long_again,
    crossing,
    lazy_ucb_score,
    lifted_mean,
    twice_the_last,
)


@final
@policy_dataclass
class AnytimeLazyUCB(IndexPolicy, NewestBatches):
    """UCB on the newest full batch of each arm. Batch sizes double, and each reward is released
    once.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: O(Σ ln T/min(Δ, epsilon)), order-optimal.

    Source: Hu, Huang and Mehta 2021, Algorithm 1 (Anytime-Lazy-UCB); also Hu, Huang, Mehta and
    Hegde 2024, Algorithm 1.

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
        baseline="UCB1",
    )

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        """Play the best arm until its batch is full or another arm's index, which grows with ln t,
        overtakes it.
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

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return lazy_bound(one_arm(means), rounds, float(self.epsilon), self.grid)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return lazy_order(means, rounds, float(self.epsilon))


@policy_dataclass
class AdaPUCB(IndexPolicy, NewestBatches):
    """UCB in doubling episodes that use the newest episode alone.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: O(Σ ln T/min(Δ, epsilon)) for a > 3.

    Source: Azize and Basu 2022, AdaP-UCB.

    Args:
        a: the paper's α, above 3 (3.1 in its experiments).

    >>> AdaPUCB(arms=3, epsilon=1).a
    3.1
    """

    about: ClassVar[About] = About(
        paper="Azize and Basu 2022",
        algorithm="AdaP-UCB",
        bound="O(Σ max(a/Δ, a/ε) ln T), a > 3",
        proof="adap_ucb",
        baseline="UCB1",
    )
    a: float = 3.1

    def validate(self) -> None:
        self._number("a", 3, 1000)

    @cached_property
    def rule(self) -> IndexRule:
        numbers = IndexNumbers(eps=float(self.epsilon), constant=float(self.a))
        return IndexRule(adap_ucb, numbers, as_long_again)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        eps = float(self.epsilon)
        return adap_bound(one_arm(means), rounds, eps, self.a, self.grid)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return self.a * lazy_order(means, rounds, float(self.epsilon))


@policy_dataclass
class AdaPKLUCB(IndexPolicy, NewestBatches):
    """KL-UCB in doubling episodes that use the newest episode alone.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: O(Σ Δ ln T/min(kl(μ, μ*), epsilon Δ)) for a > 3.

    Source: Azize and Basu 2022, AdaP-KLUCB.

    Args:
        a: the paper's α, above 3 (3.1 in its experiments).

    >>> AdaPKLUCB(arms=3, epsilon=1).a
    3.1
    """

    about: ClassVar[About] = About(
        paper="Azize and Basu 2022",
        algorithm="AdaP-KLUCB",
        bound="O(Σ Δ ln T/min(kl(μ, μ*), εΔ)), a > 3",
        proof="adap_ucb",
        baseline="KLUCB",
    )
    a: float = 3.1

    def validate(self) -> None:
        self._number("a", 3, 1000)

    @cached_property
    def rule(self) -> IndexRule:
        numbers = IndexNumbers(eps=float(self.epsilon), constant=float(self.a))
        return IndexRule(adap_klucb, numbers, as_long_again, capped=True)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        eps = float(self.epsilon)
        return adap_bound(one_arm(means), rounds, eps, self.a, self.grid, kl=True)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        eps, log_t = float(self.epsilon), math.log(rounds)
        return math.fsum(self.a * g * log_t / min(2 * g * g, eps * g) for g in positive_gaps(means))


@policy_dataclass
class AdaCUCB(IndexPolicy):
    """UCB in doubling episodes with Gaussian noise, under zero-concentrated differential privacy.

    Guarantee: ρ-zCDP (`guarantee.rho`; never reported as an ε).

    Regret: O(Σ b (ln T/Δ + √(ln T/rho))) for b > 3.

    Source: Azize and Basu 2024 (Concentrated differential privacy for bandits), AdaC-UCB.

    Args:
        rho: ρ for one round's reward, a number or a fraction such as "1/3".
        b: the paper's β, above 3.
        grid: public steps per unit of reward; 1 for 0/1 rewards.

    >>> str(AdaCUCB(arms=3, rho="1/3").guarantee.rho)
    '1/3'
    """

    about: ClassVar[About] = About(
        paper="Azize and Basu 2024",
        algorithm="AdaC-UCB",
        bound="O(Σ b(ln T/Δ + √(ln T/ρ))), b > 3",
        proof="adac_ucb",
        baseline="UCB1",
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
        return IndexRule(adac_ucb, numbers, as_long_again)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return adac_bound(one_arm(means), rounds, float(self.rho), self.b)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t, rho = math.log(rounds), float(self.rho)
        return math.fsum(
            self.b * (log_t / gap + math.sqrt(log_t / rho)) for gap in positive_gaps(means)
        )


# Thompson sampling with Beta posteriors, and Lazy DP-TS.


class BetaPosteriors(NamedTuple):
    """ThompsonBeta's law: the arm with the largest sample of Beta(successes + 1, failures + 1)."""

    successes: tuple[float, ...]
    failures: tuple[float, ...]

    def sample(self, round: int, rng: PublicRng) -> int:
        draws = [
            rng.generator.beta(s + 1.0, f + 1.0)
            for s, f in zip(self.successes, self.failures, strict=True)
        ]
        return draws.index(max(draws))


class LazyBetas(NamedTuple):
    """LazyDPTS's law at round t: the arm with the largest sample of Beta(c·n + 1, (1 − c)·n + 1), c
    = clip(mean + 3 ln t/(eps n)).
    """

    means: tuple[float, ...]
    rounds: tuple[int, ...]
    eps: float

    def sample(self, round: int, rng: PublicRng) -> int:
        draws = []
        for mean, n in zip(self.means, self.rounds, strict=True):
            centre = lifted_mean(mean, n, round, self.eps)
            draws.append(rng.generator.beta(centre * n + 1.0, (1.0 - centre) * n + 1.0))
        return draws.index(max(draws))


@policy_dataclass
class ThompsonBeta(StatisticsPolicy):
    """Thompson sampling with Beta(1, 1) priors, without privacy. Rewards are first rounded to
    Bernoulli.

    Guarantee: none.

    Regret: Σ Δ ln T/kl(μ, μ*) + o(ln T) (Kaufmann, Korda and Munos 2012).

    Source: Agrawal and Goyal 2012, Algorithms 1 and 2.

    >>> ThompsonBeta(arms=3).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Agrawal and Goyal 2012",
        algorithm="Algorithms 1 and 2 (Thompson sampling)",
        bound="Σ Δ ln T/kl(μ, μ*) + o(ln T)",
        privacy="none",
        every_round=True,
        randomised=True,
    )

    def mechanism(self) -> Exact:
        return Exact(grid=Grid(steps=1, rounding="bernoulli"))

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        failures = tuple(n - s for s, n in zip(state.totals, state.rounds, strict=True))
        return Draw(BetaPosteriors(state.totals, failures), (1,) * self.arms)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / (2 * gap) for gap in positive_gaps(means))


@policy_dataclass
class LazyDPTS(StatisticsPolicy, PrivatePolicy):
    """Private Thompson sampling on doubling batches, each released alone, with a bonus for the
    noise.

    The played index is drawn every round, which is post-processing of released values. Rewards
    other than 0/1 are rounded to Bernoulli before they are added.

    Guarantee: ε-DP for the whole sequence of decisions.

    Regret: O(Σ ln T/min(Δ, epsilon)).

    Source: Hu, Huang, Mehta and Hegde 2024 (journal version of the lazy paper), Algorithm 3
    (Lazy-DP-TS).

    >>> str(LazyDPTS(arms=3, epsilon=1).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang, Mehta and Hegde 2024",
        algorithm="Algorithm 3 (Lazy-DP-TS)",
        bound="O(Σ ln T/min(Δ, ε))",
        proof="lazy_dp_ts",
        baseline="ThompsonBeta",
        randomised=True,
    )
    chooses: ClassVar[bool] = True
    grid: int = 1

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget, grid=Grid(steps=self.grid, rounding="bernoulli"))

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arm = first_unseen(state)
        return self.drawn(state) if arm is None else Hold(arm, 1, (arm,))

    def drawn(self, state: Statistics, eligible: Sequence[int] | None = None) -> Draw:
        """Return the plan that draws an arm each round until a batch is full."""
        arms = seen_among(state, eligible)
        s = of_arms(state, arms)
        means = tuple(total / n for total, n in zip(s.totals, s.rounds, strict=True))
        limits = tuple(self.room(state, arm) for arm in range(self.arms))
        law = LazyBetas(means, s.rounds, float(self.epsilon))
        return Draw(law if len(arms) == self.arms else Among(law, arms), limits)

    def room(self, state: Statistics, arm: int) -> int:
        return max(1, 2 * state.rounds[arm] - state.open[arm])

    def ahead(
        self,
        state: Statistics,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Plan:
        return first_blocks(self, state, asked, eligible) or self.drawn(state, eligible)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return lazy_order(means, rounds, float(self.epsilon))
