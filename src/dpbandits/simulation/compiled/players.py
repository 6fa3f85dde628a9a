"""Compiled players of the built-in policies. They have the law of plain runs, as the tests verify.

They use laws of rewards, never anybody's reward: no `Session` uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpbandits.core.inputs import Integers
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
from dpbandits.policies.base import Identified
from dpbandits.policies.changing import KalmanPolicy
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.compiled.batches import by_batches
from dpbandits.simulation.compiled.changing import changing_player, with_beliefs
from dpbandits.simulation.compiled.driver import EventPlayer, Kernel
from dpbandits.simulation.compiled.experts import hedging, leaders, record_player
from dpbandits.simulation.compiled.identification import bits, successive, top_two
from dpbandits.simulation.compiled.joint import joint_releases
from dpbandits.simulation.compiled.listed import coin_player, set_player
from dpbandits.simulation.compiled.matroid import RULES, known, on_matroid
from dpbandits.simulation.compiled.rounds import by_rounds
from dpbandits.simulation.compiled.stopping import watched
from dpbandits.simulation.compiled.super_arms import OPTIMISTIC, optimistic
from dpbandits.simulation.compiled.thompson import lazy_samples, thompson
from dpbandits.simulation.plain import Path

__all__ = ["RunPlayer", "compiled_player"]


def compiled_player(
    policy: Policy, environment: Environment, rounds: int, seed: int
) -> RunPlayer | partial[Path] | None:
    """Return a function of (checkpoints, run) that plays one run, compiled; None if the policy has
    none. A `RunPlayer` can play several in one call.
    """
    if getattr(policy, "weights", None) is not None:
        return None  # a run costs as much as its releases, which are few
    if isinstance(environment, ChangingMeans):
        if isinstance(policy, KalmanPolicy) and type(policy) in (KalmanTS, DPKalmanTS):
            return changing_player(policy, environment, rounds, seed)
        return None
    if policy.about.feedback != "bandit" and not environment.apart:
        # the rewards of one round may be dependent, which a law for each arm does not show
        if isinstance(environment, SharedCoins):
            return coin_player(policy, environment, rounds, seed)
        return record_player(policy, environment, rounds, seed)
    problem = problem_of(policy)
    if problem is not None and known(problem) is None:
        return set_player(policy, environment, rounds, seed)
    kernel = kernel_for(policy)
    lattice = environment.lattice(policy.reader.grid)
    if kernel is None or lattice is None:
        return None
    values = np.ascontiguousarray(lattice.values, np.int64)
    probabilities = np.ascontiguousarray(lattice.probabilities, np.float64)
    kind = np.float64 if policy.weighted else np.int64
    bound = partial(kernel, values, probabilities, rounds)
    return RunPlayer(bound, policy.arms, kind, rounds, seed)


@dataclass(frozen=True)
class RunPlayer:
    """Plays runs by a kernel with the law of the rewards and the number of rounds. `kind` is the
    type of its counts.
    """

    kernel: partial[Any]
    arms: int
    kind: type[np.number[Any]]
    rounds: int
    seed: int

    def __call__(self, checkpoints: Integers, run: int) -> Path:
        return self.several(checkpoints, range(run, run + 1))[0]

    @property
    def in_one_call(self) -> bool:
        """True if the kernel plays several runs at once."""
        return isinstance(self.kernel.func, EventPlayer)

    def several(self, checkpoints: Integers, runs: range) -> list[Path]:
        """Play these runs, in one call if possible."""
        outs = np.empty((len(runs), len(checkpoints), self.arms), self.kind)
        bits = [np.random.PCG64(np.random.SeedSequence([self.seed, run])) for run in runs]
        play: Any = self.kernel.func
        if self.in_one_call:
            results = play.together(*self.kernel.args, checkpoints, bits, outs)
        else:
            rngs = map(np.random.Generator, bits)
            results = [
                self.kernel(checkpoints, rng, out) for rng, out in zip(rngs, outs, strict=True)
            ]
        return [
            Path(out, self.rounds, releases, events, found=identified_in(identified))
            for out, (releases, events, *identified) in zip(outs, results, strict=True)
        ]


def identified_in(identified: list[int]) -> Identified | None:
    return Identified(*identified) if identified and identified[0] >= 0 else None


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
