"""Which compiled player serves which policy, and with what arguments. An explicit table, exact
types only.

A subclass may change what is played, so it takes the plain way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpbandits.mechanisms import RandomizedResponse
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
    DPUCBBound,
    FollowTheLeader,
    HybridUCB,
    LazyDPTS,
    NaiveFTNL,
    NoiseAwareTS,
    PrefixExponential,
    SuccessiveElimination,
    ThompsonBeta,
    TreeFTRL,
)
from dpbandits.policies.contract import Policy
from dpbandits.policies.identification.top_two import LAZY
from dpbandits.simulation.kernels import batches, experts, rounds
from dpbandits.simulation.kernels.batches import play_batches, play_lazy
from dpbandits.simulation.kernels.elimination import play_elimination
from dpbandits.simulation.kernels.identification import play_bits, play_top_two
from dpbandits.simulation.kernels.noise_aware import play_noise_aware
from dpbandits.simulation.kernels.rounds import round_player
from dpbandits.simulation.kernels.thompson import play_lazy_ts, play_thompson
from dpbandits.simulation.players.matroid_table import RULES, on_matroid
from dpbandits.simulation.players.stopping import watched

Kernel = Callable[..., Any]
"""Called as kernel(values, probabilities, rounds, checkpoints, rng, out); returns (releases,
events).

A kernel that identifies the best arm appends (arm, rounds it took), arm −1 if it has none yet.
"""


def kernel_for(policy: Policy) -> Kernel | None:
    build = BUILDERS.get(type(policy))
    return build(policy, policy.reader.grid.steps) if build is not None else None


def episodes(
    rule: int,
    constant: float,
    eps: float,
    scale: float,
    steps: int,
    first: int = 0,
    alpha: float = 2.0,
) -> Kernel:
    return partial(play_batches, rule, eps, constant, first, alpha, scale, steps)


def elimination(policy: Any, steps: int) -> Kernel:
    private = isinstance(policy, DPSE)
    eps = float(policy.epsilon) if private else 1.0
    return partial(
        play_elimination, private, eps, policy.beta or 0.5, policy.init().guess, steps / eps, steps
    )


def top_two(policy: AdaPTT, steps: int) -> Kernel:
    eps, published = float(policy.epsilon), policy.preset == "published"
    return partial(
        play_top_two, published, eps, policy.delta, policy.start, policy.keep, steps / eps, steps
    )


def bits(policy: CTBTT, steps: int) -> Kernel:
    return partial(play_bits, policy.delta, policy.randomizer().keep, LAZY, steps)


def every_round(
    rule: int,
    steps: int,
    *,
    feedback: int = rounds.PLAIN,
    counter: int = rounds.EXACT,
    eps: float = 1.0,
    constant: float = 0.0,
    horizon: int = 1,
    scale: float = 0.0,
    keep: float = 0.0,
    radius_scale: float = 0.0,
) -> Kernel:
    return partial(
        round_player(rule, feedback, counter),
        eps,
        constant,
        horizon,
        scale,
        keep,
        radius_scale,
        steps,
    )


def tree_ucb(policy: DPUCB, steps: int) -> Kernel:
    rule = rounds.PUBLISHED if policy.preset == "published" else rounds.TIGHT
    node = policy.horizon.bit_length() / float(policy.tree_epsilon)
    return every_round(
        rule,
        steps,
        counter=rounds.TREE,
        eps=float(policy.epsilon),
        constant=policy.gamma,
        horizon=policy.horizon,
        scale=steps * node,
        radius_scale=node,
    )


def hybrid_ucb_kernel(policy: HybridUCB, steps: int) -> Kernel:
    eps, counter = (
        float(policy.epsilon),
        rounds.PRINTED if policy.preset == "published" else rounds.DOUBLING,
    )
    return every_round(rounds.HYBRID, steps, counter=counter, eps=eps, scale=2 * steps / eps)


def bound_ucb(policy: DPUCBBound, steps: int) -> Kernel:
    eps = float(policy.epsilon)
    return every_round(rounds.BOUND, steps, counter=rounds.POWERS, eps=eps, scale=2 * steps / eps)


def response_ucb(policy: LDPKLUCB, steps: int) -> Kernel:
    keep = RandomizedResponse(epsilon=policy.budget).keep
    return every_round(rounds.KL_UCB, steps, feedback=rounds.RESPONSE, constant=policy.c, keep=keep)


def cumulative(rule: int, constant: float, policy: Any, steps: int) -> Kernel:
    eps = float(policy.epsilon)
    return episodes(rule, constant, eps, steps / eps, steps, policy.first, policy.alpha)


def noise_aware(policy: NoiseAwareTS, steps: int) -> Kernel:
    eps = float(policy.epsilon)
    c, net = float(policy.c or 1), float(policy.net or 0)
    return partial(
        play_noise_aware,
        eps,
        policy.first,
        policy.alpha,
        c,
        net,
        policy.optimistic,
        steps / eps,
        steps,
    )


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
    if isinstance(policy, TreeFTRL):
        levels = policy.horizon.bit_length()
        scale = steps * levels * policy.actions / float(policy.epsilon)
        return partial(
            experts.play_every_round,
            experts.FTRL,
            policy.weighted,
            policy.horizon,
            levels,
            scale,
            steps,
        )
    rule = experts.HEDGE if isinstance(policy, DecreasingHedge) else experts.LEADER
    return partial(experts.play_every_round, rule, policy.weighted, 1, 1, 0.0, steps)


BUILDERS: dict[type[Policy], Callable[[Any, int], Kernel | None]] = {
    AnytimeLazyUCB: lambda p, g: partial(play_lazy, float(p.epsilon), g / float(p.epsilon), g),
    AdaPUCB: lambda p, g: episodes(
        batches.ADAP_UCB, p.a, float(p.epsilon), g / float(p.epsilon), g
    ),
    AdaPKLUCB: lambda p, g: episodes(
        batches.ADAP_KLUCB, p.a, float(p.epsilon), g / float(p.epsilon), g
    ),
    AdaCUCB: lambda p, g: episodes(
        batches.ADAC_UCB, p.b, float(p.rho), g / (2 * float(p.rho)) ** 0.5, g
    ),
    DPKLUCB: lambda p, g: cumulative(batches.DP_KLUCB, p.c, p, g),
    DPIMED: lambda p, g: cumulative(batches.DP_IMED, 0.0, p, g),
    DPSE: elimination,
    SuccessiveElimination: elimination,
    AdaPTT: top_two,
    CTBTT: bits,
    LazyDPTS: lambda p, g: partial(play_lazy_ts, float(p.epsilon), g / float(p.epsilon), g),
    NoiseAwareTS: noise_aware,
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
    **dict.fromkeys(RULES, on_matroid),
}
