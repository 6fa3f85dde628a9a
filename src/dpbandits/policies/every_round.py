"""Index policies that release after every round: without privacy, with reports in the local model,
or with a continual counter for each arm.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    BinaryTree,
    Hybrid,
    LocalLaplace,
    RandomizedResponse,
    SignedCounter,
)
from dpbandits.mechanisms.counters import best_base
from dpbandits.policies.arm_bounds import (
    bits_bound,
    hybrid_bound,
    kl_bound,
    one_arm,
    positive_gaps,
    reports_bound,
    tree_bound,
    ucb1_bound,
    wide_tree_bound,
)
from dpbandits.policies.base import ExactSums, IndexPolicy, PrivatePolicy, Statistics
from dpbandits.policies.contract import About, Policy, policy_dataclass
from dpbandits.policies.formulas.indices import (
    IndexNumbers,
    IndexRule,
    dp_ucb_bound,
    dp_ucb_published,
    dp_ucb_tight,
    forced_rounds,
    hybrid_ucb,
    kl,
    kl_ucb_score,
    ldp_ucb,
    published_noise,
    ucb1_score,
)

# Index policies on exact sums: the baselines without privacy, and the policies of the local model,
# where every user randomises the reward before sending it.
#
# `policy.randomizer()` is the user's side. The server's vault takes `Report`s only.


@policy_dataclass
class UCB1(IndexPolicy, ExactSums):
    """Upper confidence bounds, without privacy.

    Guarantee: none (`guarantee` is None).

    Regret: at most Σ 8 ln T/Δ + (1 + π²/3) Σ Δ.

    Source: Auer, Cesa-Bianchi and Fischer 2002, UCB1.

    Args:
        grid: steps per unit of reward.

    >>> UCB1(arms=3).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Auer, Cesa-Bianchi and Fischer 2002",
        algorithm="UCB1",
        bound="Σ 8 ln T/Δ + (1 + π²/3) Σ Δ",
        privacy="none",
        every_round=True,
    )

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(ucb1_score, IndexNumbers())

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return ucb1_bound(one_arm(means), rounds)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return math.fsum(math.log(rounds) / gap for gap in positive_gaps(means))


@policy_dataclass
class KLIndex(Policy):
    """Base class of policies with the index of KL-UCB, on rewards or on bits.

    Args:
        c: weight of ln ln t in the level (3 in the proof, 0 in practice).
    """

    c: float = 0.0

    def validate(self) -> None:
        self._number("c", -1e-300, 100)

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(kl_ucb_score, IndexNumbers(constant=float(self.c)))


@policy_dataclass
class KLUCB(KLIndex, IndexPolicy, ExactSums):
    """KL-UCB for rewards in [0, 1], without privacy. It is asymptotically optimal for Bernoulli
    rewards.

    Guarantee: none.

    Regret: Σ Δ ln T/kl(μ, μ*) + o(ln T) with c = 3.

    Source: Garivier and Cappé 2011, Algorithm 1.

    Args:
        c: weight of ln ln t in the level (3 in the proof, 0 in practice).
        grid: steps per unit of reward.

    >>> KLUCB(arms=3).c
    0.0
    """

    about: ClassVar[About] = About(
        paper="Garivier and Cappé 2011",
        algorithm="Algorithm 1 (KL-UCB)",
        bound="Σ Δ ln T/kl(μ, μ*) + o(ln T)",
        privacy="none",
        every_round=True,
    )

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return kl_bound(one_arm(means), rounds, self.c)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        best = max(means)
        ratios = [(best - mean) / far for mean in means if (far := kl(mean, best)) > 0]
        return math.log(rounds) * math.fsum(ratios)


@policy_dataclass
class LDPUCB(IndexPolicy, ExactSums, PrivatePolicy):
    """UCB on Laplace reports, in the local model.

    Guarantee: ε-LDP for every report.

    Regret: O((1 + 1/epsilon²) Σ ln T/Δ).

    Source: Ren, Zhou, Liu and Shroff 2020, LDP-UCB-L; the one-arm case of Chen et al. 2020,
    CUCB-LDP.

    >>> LDPUCB(arms=3, epsilon=1).guarantee.trust
    'local'
    """

    about: ClassVar[About] = About(
        paper="Ren, Zhou, Liu and Shroff 2020",
        algorithm="LDP-UCB-L",
        bound="O(Σ (1/ε² + 1) ln T/Δ)",
        proof="ldp_ucb",
        baseline="UCB1",
        privacy="local",
        every_round=True,
    )

    def randomizer(self) -> LocalLaplace:
        return LocalLaplace(epsilon=self.budget, grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(ldp_ucb, IndexNumbers(eps=float(self.epsilon)))

    def scores(self, s: Statistics, t: int) -> list[float]:
        if min(s.rounds) <= forced_rounds(t):  # forced exploration: the least played arm first
            return [-float(n) for n in s.rounds]
        return super().scores(s, t)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return reports_bound(one_arm(means), rounds, float(self.epsilon))

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        cost = math.log(rounds) * (1 + 1 / float(self.epsilon) ** 2)
        return math.fsum(cost / gap for gap in positive_gaps(means))


@policy_dataclass
class LDPKLUCB(KLIndex, IndexPolicy, ExactSums, PrivatePolicy):
    """KL-UCB on randomised-response bits, in the local model. The map from an arm's mean to the
    mean of its bits is increasing, so the best arm has the best bits.

    Guarantee: ε-LDP for every report.

    Regret: Σ Δ ln T/kl(bit(μ), bit(μ*)) + o(ln T) for c = 3, where bit(r) = (r e^ε + 1 − r)/(1 +
    e^ε).

    Source: Ren, Zhou, Liu and Shroff 2020, LDP-UCB-B (convert-to-Bernoulli), with the KL index of
    Garivier and Cappé 2011.

    Args:
        c: weight of ln ln t in the level (3 in the proof, 0 in practice).

    >>> LDPKLUCB(arms=3, epsilon=1).guarantee.trust
    'local'
    """

    about: ClassVar[About] = About(
        paper="Ren, Zhou, Liu and Shroff 2020",
        algorithm="LDP-UCB-B with KL-UCB indices",
        bound="Σ Δ ln T/kl(bit(μ), bit(μ*)) + o(ln T), c = 3",
        proof="ldp_klucb",
        baseline="KLUCB",
        privacy="local",
        every_round=True,
    )

    def randomizer(self) -> RandomizedResponse:
        return RandomizedResponse(epsilon=self.budget, grid=Grid(steps=self.grid))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return bits_bound(one_arm(means), rounds, float(self.epsilon), self.c)

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        shrink = math.tanh(float(self.epsilon) / 2)  # bits' gaps are shrink·Δ; Pinsker
        return math.fsum(math.log(rounds) / (2 * shrink**2 * gap) for gap in positive_gaps(means))


# UCB on continual counters: a tree or a hybrid counter for each arm, and a release every round.
# These are baselines of the lazy policies.


@policy_dataclass
class DPUCB(IndexPolicy, PrivatePolicy):
    """UCB1 on one tree for each arm. The horizon must be known.

    Guarantee: ε-DP with "tight" (default) and "signed": each tree has ε, which is enough because a
    replaced reward affects one arm. (ε/K)-DP with "published", K times more than claimed, because
    each tree has ε/K; its regret is larger.

    Regret: O(Σ ln T/Δ + K ln² T/epsilon) ("tight" and "signed"); O(Σ ln T/Δ + K² ln² T ln(K T ln
    T)/epsilon) as published.

    Source: Mishra and Thakurta 2015 (DP-UCB), the baseline of Sajed and Sheffet 2019.

    Args:
        horizon: T, number of rounds; an arm's tree has T leaves.
        gamma: failure probability in the published width.
        preset: "tight" or "published" (see the guarantee), on binary trees; "signed": "tight" on
            signed trees, whose noise and radius are smaller.

    >>> str(DPUCB(arms=3, epsilon=1, horizon=1000).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="Mishra and Thakurta 2015",
        algorithm="DP-UCB",
        bound="O(Σ ln T/Δ + K ln² T/ε)",
        proof="dp_ucb",
        baseline="UCB1",
        needs_horizon=True,
        every_round=True,
    )
    horizon: int
    gamma: float = 0.1
    preset: str = "tight"

    def validate(self) -> None:
        self._horizon(required=True)
        self._number("gamma", 0, 1)
        self._one_of("preset", "tight", "signed", "published")

    @property
    def tree_epsilon(self) -> Fraction:
        """ε of one tree."""
        return self.budget / self.arms if self.preset == "published" else self.budget

    def mechanism(self) -> BinaryTree | SignedCounter:
        if self.preset == "signed":
            return SignedCounter(
                epsilon=self.budget,
                leaves=self.horizon,
                base=best_base(self.horizon, math.ceil(4.0 * math.log(self.horizon))),
                grid=Grid(steps=self.grid),
            )
        claimed = self.budget if self.preset == "published" else None
        return BinaryTree(
            epsilon=self.tree_epsilon,
            leaves=self.horizon,
            claimed=claimed,
            grid=Grid(steps=self.grid),
        )

    @cached_property
    def node_scale(self) -> float:
        """Scale of a node's noise, in reward units."""
        return self.mechanism().levels / float(self.tree_epsilon)

    @cached_property
    def rule(self) -> IndexRule:
        published = self.preset == "published"
        return IndexRule(
            dp_ucb_published if published else dp_ucb_tight,
            IndexNumbers(
                eps=float(self.epsilon),
                arms=self.arms,
                horizon=self.horizon,
                gamma=float(self.gamma),
                scale=self.node_scale,
            ),
        )

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        scale, horizon = self.node_scale, self.horizon
        if self.preset != "published":
            return tree_bound(one_arm(means), rounds, scale, self.mechanism().most_draws_up_to)
        width = published_noise(self.arms, horizon, self.gamma, float(self.epsilon))
        return wide_tree_bound(one_arm(means), rounds, scale, width, horizon.bit_length())

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t = math.log(rounds)
        noise_cost = log_t**2 / float(self.epsilon)
        if self.preset == "published":
            noise_cost *= self.arms * math.log(self.arms * rounds * max(1.0, log_t) / self.gamma)
        return math.fsum(log_t / gap + noise_cost for gap in positive_gaps(means))


@policy_dataclass
class DPUCBBound(IndexPolicy, PrivatePolicy):
    """UCB on hybrid counters with the width of Tossou and Dimitrakakis.

    Guarantee: ε-DP, with noise on every increment. (Variants with exact increments are not
    private.)

    Regret: O(Σ ln T/Δ + K ln T ln ln T/epsilon) as claimed; Hu, Huang and Mehta 2021, App. E,
    report gaps in the proof.

    Source: Tossou and Dimitrakakis 2016, DP-UCB-Bound, on the hybrid mechanism of Chan, Shi and
    Song 2011.

    >>> str(DPUCBBound(arms=3, epsilon=1).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="Tossou and Dimitrakakis 2016",
        algorithm="DP-UCB-Bound",
        bound="O(Σ ln T/Δ + K ln T ln ln T/ε) as claimed",
        proof="dp_ucb_bound",
        baseline="UCB1",
        every_round=True,
        theory=False,
    )

    def mechanism(self) -> Hybrid:
        return Hybrid(epsilon=self.budget, segments="powers", grid=Grid(steps=self.grid))

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(dp_ucb_bound, IndexNumbers(eps=float(self.epsilon)))


@policy_dataclass
class HybridUCB(IndexPolicy, PrivatePolicy):
    """UCB on hybrid counters with doubling segments.

    Guarantee: ε-DP with "corrected" (default): a full segment is answered from the array side.
    3ε/2-DP with "published", as `guarantee` reports: as printed, the full tree's root is also
    released, with too little noise.

    Regret: O(Σ max(ln T/Δ, (ln T/epsilon) ln(ln T/(epsilon Δ)))).

    Source: Hu, Huang and Mehta 2021, Appendix E, Algorithm 4 (Hybrid-UCB).

    Args:
        preset: "corrected" or "published" (see the guarantee).

    >>> str(HybridUCB(arms=3, epsilon=1, preset="published").guarantee.epsilon)
    '3/2'
    """

    about: ClassVar[About] = About(
        paper="Hu, Huang and Mehta 2021",
        algorithm="Appendix E, Algorithm 4 (Hybrid-UCB)",
        bound="O(Σ max(ln T/Δ, (ln T/ε) ln(ln T/(εΔ))))",
        proof="hybrid_ucb",
        baseline="UCB1",
        every_round=True,
    )
    preset: str = "corrected"

    def validate(self) -> None:
        self._one_of("preset", "corrected", "published")

    def mechanism(self) -> Hybrid:
        return Hybrid(
            epsilon=self.budget,
            segments="doubling",
            root=self.preset == "published",
            grid=Grid(steps=self.grid),
        )

    @cached_property
    def rule(self) -> IndexRule:
        return IndexRule(hybrid_ucb, IndexNumbers(eps=float(self.epsilon)))

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return hybrid_bound(one_arm(means), rounds, float(self.epsilon))

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        log_t, eps = math.log(rounds), float(self.epsilon)
        return math.fsum(
            max(log_t / g, log_t / eps * math.log(max(math.e, log_t / (eps * g))))
            for g in positive_gaps(means)
        )
