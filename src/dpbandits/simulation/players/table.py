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
from dpbandits.policies.identification import LAZY
from dpbandits.simulation.kernels import elimination, identification
from dpbandits.simulation.kernels.batches import player_of
from dpbandits.simulation.kernels.lazy_thompson import play_lazy_ts
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
from dpbandits.simulation.players.round_table import Kernel, by_rounds
from dpbandits.simulation.players.stopping import watched


def kernel_for(policy: Policy) -> Kernel | None:
    build = BUILDERS.get(type(policy))
    return build(policy, policy.reader.grid.steps) if build is not None else None


def by_batches(policy: Any, steps: int) -> Kernel:
    """Index policies whose batches are released one at a time."""
    scale = (2 * float(policy.rho)) ** 0.5 if isinstance(policy, AdaCUCB) else float(policy.epsilon)
    numbers = policy.rule.numbers._replace(noise=steps / scale)
    overtaken = isinstance(policy, AnytimeLazyUCB)
    return partial(player_of(policy.rule, policy.reader, overtaken), tuple(numbers), steps)


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
    **dict.fromkeys(
        (AnytimeLazyUCB, AdaPUCB, AdaPKLUCB, AdaCUCB, DPKLUCB, DPIMED, DPRateIMED), by_batches
    ),
    DPSE: successive,
    SuccessiveElimination: successive,
    AdaPTT: top_two,
    CTBTT: bits,
    LazyDPTS: lazy_samples,
    ThompsonBeta: thompson,
    **dict.fromkeys((UCB1, KLUCB, DPUCB, DPUCBBound, HybridUCB, LDPUCB, LDPKLUCB), by_rounds),
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
