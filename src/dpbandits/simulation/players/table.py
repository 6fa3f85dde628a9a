"""Which compiled player serves which policy, and with what arguments. An explicit table, exact
types only.

A subclass may change what is played, so it takes the plain way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpbandits.policies import (
    CTBTT,
    DPIMED,
    DPKLUCB,
    DPNAS,
    DPSE,
    DPUCB,
    KLUCB,
    LDPKLUCB,
    LDPUCB,
    NAS,
    RNMFTNL,
    UCB1,
    AdaCUCB,
    AdaPKLUCB,
    AdaPTT,
    AdaPUCB,
    AnytimeLazyUCB,
    DecreasingHedge,
    DPExponentialNAS,
    DPJointCUCB,
    DPJointMAT,
    DPRateIMED,
    DPUCBBound,
    FollowTheLeader,
    HybridUCB,
    LazyDPTS,
    NaiveFTNL,
    PrefixExponential,
    SuccessiveElimination,
    ThompsonBeta,
    TreeFTRL,
)
from dpbandits.policies.contract import Policy
from dpbandits.policies.identification.top_two import LAZY
from dpbandits.simulation.kernels import batches, elimination, identification, rounds
from dpbandits.simulation.kernels.batches import play_batches, play_lazy
from dpbandits.simulation.kernels.driver import FAR
from dpbandits.simulation.kernels.lazy_thompson import play_lazy_ts
from dpbandits.simulation.kernels.many_arms.players import play_many, play_many_lazy
from dpbandits.simulation.kernels.several import experts
from dpbandits.simulation.kernels.thompson import play_thompson
from dpbandits.simulation.players.matroid_table import (
    OPTIMISTIC,
    RULES,
    joint_releases,
    on_matroid,
    optimistic,
)
from dpbandits.simulation.players.record_table import every_record, hedging_numbers, independent
from dpbandits.simulation.players.round_table import (
    Kernel,
    bound_ucb,
    every_round,
    hybrid_ucb_kernel,
    response_ucb,
    tree_ucb,
)
from dpbandits.simulation.players.stopping import watched


def kernel_for(policy: Policy) -> Kernel | None:
    build = BUILDERS.get(type(policy))
    return build(policy, policy.reader.grid.steps) if build is not None else None


MANY, SLOWEST = 50, 1.1
"""Arms from which groups of arms are worth their keeping, and growth of an arm's rounds from which
there are not too many of them.
"""


def indexed(numbers: batches.Numbers, policy: Any, steps: int) -> Kernel:
    grouped = policy.arms >= MANY and numbers.alpha >= SLOWEST
    return partial(play_many if grouped else play_batches, tuple(numbers), steps)


def episodes(rule: int, constant: float, policy: Any, steps: int) -> Kernel:
    """AdaP-UCB and AdaP-KLUCB: doubling episodes that forget."""
    eps = float(policy.epsilon)
    return indexed(batches.Numbers(rule, eps, steps / eps, constant), policy, steps)


def gaussian_episodes(policy: AdaCUCB, steps: int) -> Kernel:
    rho = float(policy.rho)
    numbers = batches.Numbers(batches.ADAC_UCB, rho, steps / (2 * rho) ** 0.5, float(policy.b))
    return indexed(numbers, policy, steps)


def cumulative(rule: int, constant: float, policy: Any, steps: int) -> Kernel:
    eps, first = float(policy.epsilon), policy.first
    numbers = batches.Numbers(rule, eps, steps / eps, constant, first, float(policy.alpha))
    return indexed(numbers, policy, steps)


def counted_draws(policy: DPRateIMED, steps: int) -> Kernel:
    eps, level, first = float(policy.epsilon), float(policy.level or 1), policy.first or 1
    numbers = batches.Numbers(batches.RATE_IMED, eps, steps / eps, level, first)
    numbers = numbers._replace(alpha=float(policy.alpha or 2), counted=policy.counted or FAR)
    doubt, trust = policy.belief
    return indexed(numbers._replace(doubt=doubt, trust=trust), policy, steps)


def lazy(policy: AnytimeLazyUCB, steps: int) -> Kernel:
    eps = float(policy.epsilon)
    numbers = tuple(batches.Numbers(batches.LAZY_UCB, eps, steps / eps))
    return partial(play_many_lazy if policy.arms >= MANY else play_lazy, numbers, steps)


def lazy_samples(policy: LazyDPTS, steps: int) -> Kernel:
    eps = float(policy.epsilon)
    return partial(play_lazy_ts, (eps, steps / eps), steps)


def successive(policy: Any, steps: int) -> Kernel:
    private = isinstance(policy, DPSE)
    eps, guess = float(policy.epsilon) if private else 1.0, policy.init().guess
    beta, squared = float(policy.beta or 0.5), getattr(policy, "preset", "") == "squared"
    numbers = elimination.Numbers(private, eps, beta, guess, squared, steps / eps)
    return partial(elimination.play_elimination, tuple(numbers), steps)


def top_two(policy: AdaPTT, steps: int) -> Kernel:
    eps, published = float(policy.epsilon), policy.preset == "published"
    numbers = identification.TopTwo(
        published, eps, float(policy.delta), policy.start, policy.keep, steps / eps
    )
    return partial(identification.play_top_two, tuple(numbers), steps)


def bits(policy: CTBTT, steps: int) -> Kernel:
    """The loop sees the law of the reports, which are bits."""
    numbers, truth = identification.BitNumbers(float(policy.delta), LAZY), policy.randomizer().keep

    def play(values: Any, probabilities: Any, *rest: Any) -> Any:
        means = probabilities @ values / steps
        ones = truth * means + (1.0 - truth) * (1.0 - means)
        law = np.stack([1.0 - ones, ones], axis=1)
        return identification.play_bits(tuple(numbers), steps, np.array([0, steps]), law, *rest)

    return play


def thompson(policy: ThompsonBeta, steps: int) -> Kernel:
    return lambda values, probabilities, *rest: play_thompson(probabilities, *rest)


def leaders(policy: Any, steps: int) -> Kernel:
    """Epochs of one action; every kind of noise has scale 2/price, but the sums of NaiveFTNL, at
    price ε/K, 1/price.
    """
    if isinstance(policy, NaiveFTNL):
        return partial(
            experts.play_epochs,
            experts.LAPLACE,
            steps * policy.actions / float(policy.epsilon),
            False,
        )
    mechanism = policy.reader
    noise = {
        "laplace": experts.LAPLACE,
        "exponential": experts.GUMBEL,
        "permute-and-flip": experts.EXPONENTIAL,
    }[mechanism.selection]
    return partial(
        experts.play_epochs,
        noise,
        2 * steps / float(mechanism.epsilon),
        isinstance(policy, PrefixExponential),
    )


def hedging(policy: Any, steps: int) -> Kernel:
    return partial(every_record, hedging_numbers(policy, steps), independent(policy.arms))


BUILDERS: dict[type[Policy], Callable[[Any, int], Kernel | None]] = {
    AnytimeLazyUCB: lazy,
    AdaPUCB: lambda p, g: episodes(batches.ADAP_UCB, float(p.a), p, g),
    AdaPKLUCB: lambda p, g: episodes(batches.ADAP_KLUCB, float(p.a), p, g),
    AdaCUCB: gaussian_episodes,
    DPKLUCB: lambda p, g: cumulative(batches.DP_KLUCB, float(p.c), p, g),
    DPIMED: lambda p, g: cumulative(batches.DP_IMED, 0.0, p, g),
    DPRateIMED: counted_draws,
    DPSE: successive,
    SuccessiveElimination: successive,
    AdaPTT: top_two,
    CTBTT: bits,
    LazyDPTS: lazy_samples,
    ThompsonBeta: thompson,
    UCB1: lambda p, g: every_round(rounds.UCB1, g),
    KLUCB: lambda p, g: every_round(rounds.KL_UCB, g, constant=float(p.c)),
    DPUCB: tree_ucb,
    DPUCBBound: bound_ucb,
    HybridUCB: hybrid_ucb_kernel,
    LDPUCB: lambda p, g: every_round(
        rounds.LDP_UCB,
        g,
        feedback=rounds.LOCAL_LAPLACE,
        eps=float(p.epsilon),
        scale=g / float(p.epsilon),
    ),
    LDPKLUCB: response_ucb,
    RNMFTNL: leaders,
    NaiveFTNL: leaders,
    PrefixExponential: leaders,
    FollowTheLeader: hedging,
    DecreasingHedge: hedging,
    TreeFTRL: hedging,
    NAS: watched,
    DPNAS: watched,
    DPExponentialNAS: watched,
    DPJointMAT: joint_releases,
    DPJointCUCB: joint_releases,
    **dict.fromkeys(RULES, on_matroid),
    **dict.fromkeys(OPTIMISTIC, optimistic),
}
