"""Compiled players of the built-in policies. They have the law of plain runs, as the tests verify.

They use laws of rewards, never anybody's reward: no `Session` uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpbandits.environments.base import Environment
from dpbandits.environments.changing import ChangingMeans
from dpbandits.environments.laws import SharedCoins
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
    DPKalmanTS,
    DPRateIMED,
    DPUCBBound,
    FollowTheLeader,
    HybridUCB,
    KalmanTS,
    LazyDPTS,
    NaiveFTNL,
    PrefixExponential,
    RootFTRL,
    SuccessiveElimination,
    ThompsonBeta,
    TreeFTRL,
)
from dpbandits.policies.changing import KalmanPolicy
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.compiled.batches import by_batches
from dpbandits.simulation.compiled.changing import changing_player, with_beliefs
from dpbandits.simulation.compiled.driver import Kernel, RunPlayer, kind_of, law_of
from dpbandits.simulation.compiled.experts import hedging, leaders, record_player
from dpbandits.simulation.compiled.joint import joint_releases
from dpbandits.simulation.compiled.listed import set_player
from dpbandits.simulation.compiled.matroid import RULES, known, on_matroid
from dpbandits.simulation.compiled.rounds import by_rounds
from dpbandits.simulation.compiled.stopping import bits, successive, top_two, watched
from dpbandits.simulation.compiled.super_arms import OPTIMISTIC, optimistic
from dpbandits.simulation.compiled.thompson import lazy_samples, thompson

__all__ = ["RunPlayer", "compiled_player"]


def compiled_player(
    policy: Policy, environment: Environment, rounds: int, seed: int
) -> RunPlayer | None:
    """Return the compiled player of runs; None if the policy has none."""
    if getattr(policy, "weights", None) is not None:
        return None  # a run costs as much as its releases, which are few
    if isinstance(environment, ChangingMeans):
        if isinstance(policy, KalmanPolicy) and type(policy) in (KalmanTS, DPKalmanTS):
            return changing_player(policy, environment, rounds, seed)
        return None
    if policy.about.feedback != "bandit" and not environment.apart:
        # the rewards of one round may be dependent, which a law for each arm does not show
        if isinstance(environment, SharedCoins):
            return set_player(policy, environment, rounds, seed, coins=True)
        return record_player(policy, environment, rounds, seed)
    problem = problem_of(policy)
    if problem is not None and known(problem) is None:
        return set_player(policy, environment, rounds, seed)
    kernel = kernel_for(policy)
    if kernel is None:
        return None
    bound = partial(kernel, *law_of(policy, environment), rounds)
    return RunPlayer(bound, policy.arms, kind_of(policy), rounds, seed)


# The compiled player of each policy, by exact type: a subclass may change the decisions, so it is
# played plainly.


def kernel_for(policy: Policy) -> Kernel | None:
    build = BUILDERS.get(type(policy))
    return build(policy, policy.reader.grid.steps) if build is not None else None


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
    RootFTRL: hedging,
    **dict.fromkeys((KalmanTS, DPKalmanTS), with_beliefs),
    NAS: watched,
    DPNAS: watched,
    DPExponentialNAS: watched,
    DPJointMAT: joint_releases,
    DPJointCUCB: joint_releases,
    **dict.fromkeys(RULES, on_matroid),
    **dict.fromkeys(OPTIMISTIC, optimistic),
}
