"""Thompson sampling with Beta posteriors, and Lazy DP-TS."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from dpbandits.core.plan import Action, Draw, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Exact, LazyForgetful
from dpbandits.policies.base import (
    Among,
    PrivatePolicy,
    Statistics,
    StatisticsPolicy,
    first_blocks,
    first_unseen,
    of_arms,
    seen_among,
)
from dpbandits.policies.bounds.arms import positive_gaps
from dpbandits.policies.contract import About, policy_dataclass
from dpbandits.policies.formulas.indices import lifted_mean

__all__ = ["LazyDPTS", "ThompsonBeta"]


class BetaPosteriors(NamedTuple):
    """Law of ThompsonBeta's draw: the arm with the largest Beta(successes + 1, failures + 1)
    sample.
    """

    successes: tuple[float, ...]
    failures: tuple[float, ...]

    def sample(self, round: int, rng: PublicRng) -> int:
        draws = [
            rng.generator.beta(s + 1.0, f + 1.0)
            for s, f in zip(self.successes, self.failures, strict=True)
        ]
        return draws.index(max(draws))


class LazyBetas(NamedTuple):
    """Law of LazyDPTS's draw at round t: largest Beta(c·n + 1, (1 − c)·n + 1), c = clip(mean + 3 ln
    t/(eps n)).
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
    """Thompson sampling with Beta(1, 1) priors, without privacy; rewards are rounded to Bernoulli
    first.

    Source: Agrawal and Goyal 2012, Algorithms 1 and 2. Guarantee: none.
    Regret: Σ Δ ln T/kl(μ, μ*) + o(ln T) (Kaufmann, Korda and Munos 2012).
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
    """Private Thompson sampling on forgetful doubling batches, with a bonus for the noise.

    Source: Hu, Huang, Mehta and Hegde 2024 (journal version of the lazy paper), Algorithm 3
    (Lazy-DP-TS).
    Guarantee: epsilon-DP. Regret: O(Σ ln T/min(Δ, epsilon)); rewards other than 0/1 are rounded to
    Bernoulli before they are added.

    The index that is played is drawn afresh each round, which is post-processing of released
    values.
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang, Mehta and Hegde 2024",
        algorithm="Algorithm 3 (Lazy-DP-TS)",
        bound="O(Σ ln T/min(Δ, ε))",
        proof="lazy_dp_ts",
        twin="ThompsonBeta",
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
        """Arms drawn round by round until a batch is full."""
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
        eps = float(self.epsilon)
        return math.fsum(math.log(rounds) / min(gap, eps) for gap in positive_gaps(means))
