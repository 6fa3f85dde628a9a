"""Players on matroids: policies for matroids, and policies for any super arms that are a matroid's
bases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.mechanisms import SignedCounter
from dpbandits.oracles.linear import tableau
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies import (
    CUCB,
    CUCBDP,
    CUCBLDP1,
    CUCBLDP2,
    DPKLCUCB,
    DPKLMAT,
    DPTSMAT,
    DPUCBMAT,
    KLOSM,
    OMM,
    CTSBeta,
    CTSGaussian,
    CUCBDPMax,
    LazyCUCB,
)
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.formulas.joint import report_variance
from dpbandits.simulation.compiled import joint, matroid, super_arms
from dpbandits.simulation.compiled.joint import play_joint
from dpbandits.simulation.compiled.matroid import UNSEEN, play_indices, play_samples
from dpbandits.simulation.compiled.parts import signed_sizes
from dpbandits.simulation.compiled.super_arms import play_optimistic
from dpbandits.simulation.compiled.together import player_together

RULES: dict[type[Policy], int] = {
    OMM: matroid.OMM,
    KLOSM: matroid.KL_OSM,
    DPUCBMAT: matroid.DP_UCB,
    DPKLMAT: matroid.DP_KL,
    DPKLCUCB: matroid.DP_KL,
    CTSBeta: matroid.BETA,
    CTSGaussian: matroid.GAUSSIAN,
    DPTSMAT: matroid.DP_TS,
}
OPTIMISTIC: tuple[type[Policy], ...] = (CUCB, LazyCUCB, CUCBLDP1, CUCBLDP2, CUCBDP, CUCBDPMax)


@lru_cache(maxsize=64)
def known(problem: Any) -> tuple[Any, ...] | None:
    """Return table, first basis and prime of a matroid's tableau, cached; None for other problems,
    and without a tableau.
    """
    coordinates = tableau(problem) if isinstance(problem, Matroid) else None
    return (
        None
        if coordinates is None
        else (coordinates.table, np.array(coordinates.basis, np.int64), coordinates.prime)
    )


class Loops(NamedTuple):
    """The compiled loops of policies by index and by sample, and of CUCB and its private forms."""

    indices: Callable[..., Any]
    samples: Callable[..., Any]
    optimistic: Callable[..., Any]


INDEPENDENT = Loops(play_indices, play_samples, play_optimistic)
"""For independent rewards."""

TOGETHER = Loops(
    player_together("matroid_indices", **matroid.INDICES),
    player_together("matroid_samples", **matroid.SAMPLES),
    player_together("optimistic", **super_arms.OPTIMISTIC),
)
"""For the rows of a table."""


def on_matroid(policy: Any, steps: int, loops: Loops = INDEPENDENT) -> Callable[..., Any] | None:
    """Return the kernel; None if the matroid has no tableau, so that the policy is played
    plainly.
    """
    coordinates = known(policy.problem)
    if coordinates is None:
        return None
    numbers = (*index_numbers(policy, steps), *coordinates)
    loop = loops.samples if numbers[0] >= matroid.BETA else loops.indices
    return partial(loop, numbers, steps)


def index_numbers(policy: Any, steps: int) -> tuple[Any, ...]:
    """Return the policy's part of `matroid.Numbers`."""
    rule, private = RULES[type(policy)], isinstance(policy, PrivatePolicy)
    share = policy.share if private else 1.0
    return (
        rule,
        share,
        float(getattr(policy, "level", getattr(policy, "c", 0.0))),
        getattr(policy, "first", matroid.FORGET if private else matroid.EXACT),
        float(getattr(policy, "alpha", 1.5)),
        steps / share if private else 0.0,
    )


def optimistic(policy: Any, steps: int, loops: Loops = INDEPENDENT) -> Callable[..., Any] | None:
    """Return the kernel of CUCB and its private forms; None if the problem is not a matroid with a
    tableau, or several arms have one radius.
    """
    coordinates = known(policy.problem)
    if coordinates is None or getattr(policy, "radius", "sum") == "joint":
        return None
    return partial(loops.optimistic, (*optimistic_numbers(policy, steps), *coordinates), steps)


def optimistic_numbers(policy: Any, steps: int) -> tuple[Any, ...]:
    """Return the policy's part of `super_arms.Numbers`."""
    tree, lazy = isinstance(policy, (CUCBDP, CUCBDPMax)), isinstance(policy, LazyCUCB)
    counter = policy.tree if isinstance(policy, CUCBDP) else None
    if isinstance(policy, CUCB):
        scale = 0.0
    elif tree:
        scale = policy.node_scale
    else:
        scale = (policy.problem.size if lazy else policy.width) / float(policy.budget)
    return (
        *radius(policy, scale),
        matroid.FORGET if lazy else matroid.EXACT,
        steps * scale,
        tree,
        *(signed_sizes(counter) if isinstance(counter, SignedCounter) else (0, 64)),
        observed_arms(policy),
    )


def observed_arms(policy: Policy) -> int:
    if isinstance(policy, CUCBLDP2) and policy.ask == "undecided":
        return super_arms.UNDECIDED
    return super_arms.LEAST if isinstance(policy, (CUCBLDP2, CUCBDPMax)) else super_arms.ALL


def joint_releases(policy: Any, steps: int) -> Callable[..., Any] | None:
    """Return the kernel; None if the problem is not a matroid with a tableau."""
    coordinates = known(policy.problem)
    if coordinates is None:
        return None
    numbers = joint.Numbers(
        list(policy.presets).index(policy.preset),
        float(policy.budget),
        float(policy.level),
        float(policy.first),
        float(policy.alpha),
        steps,
        UNSEEN,
        *coordinates,
    )
    return partial(play_joint, tuple(numbers), steps)


def radius(policy: Any, scale: float) -> tuple[float, float, float, float, float, float]:
    """Return the first six of `Numbers`, from `policy.bonus`. `scale` is that of its noise, in
    rewards.
    """
    log_arms, horizon = math.log(policy.arms), getattr(policy, "horizon", None)
    if isinstance(policy, CUCB):
        return 0.0, 1.5, 0.0, 0.0, 0.0, 0.0
    if isinstance(policy, LazyCUCB):
        return 1.5 * log_arms, 1.5, 0.0, 3.0 * scale * log_arms, 3.0 * scale, 0.0
    preset = getattr(policy, "preset", "")
    if preset == "sharp":
        return 0.0, 2.5 * report_variance(1.0 / scale), math.sqrt(5.0) * scale, 0.0, 0.0, 0.0
    if preset != "published" or horizon is None:
        return 0.0, 1.5, 0.0, 0.0, 0.0, scale
    log_horizon = math.log(horizon)
    if not isinstance(policy, CUCBDP):
        return 32.0 * scale**2 * log_horizon, 0.0, 0.0, 0.0, 0.0, 0.0
    log_horizon = max(math.log(2.0), log_horizon)
    extra = 12.0 * policy.width * log_horizon**3 / float(policy.budget)
    return 4.0 * (log_arms + log_horizon), 0.0, 0.0, extra, 0.0, 0.0
