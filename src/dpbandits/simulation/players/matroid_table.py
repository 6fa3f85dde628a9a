"""How the compiled matroid player is called for each policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpbandits.oracles.matroids.matroid import Matroid
from dpbandits.oracles.matroids.representation import Tableau, tableau
from dpbandits.policies import (
    DPKLMAT,
    DPTSMAT,
    DPUCBMAT,
    KLOSM,
    OMM,
    CTSBeta,
    CTSGaussian,
    NoiseAwareMAT,
)
from dpbandits.policies.contract import Policy
from dpbandits.policies.private import PrivatePolicy
from dpbandits.simulation.kernels import matroid

RULES: dict[type[Policy], int] = {
    OMM: matroid.OMM,
    KLOSM: matroid.KL_OSM,
    DPUCBMAT: matroid.DP_UCB,
    DPKLMAT: matroid.DP_KL,
    CTSBeta: matroid.BETA,
    CTSGaussian: matroid.GAUSSIAN,
    DPTSMAT: matroid.DP_TS,
    NoiseAwareMAT: matroid.NOISE_AWARE,
}


@lru_cache(maxsize=64)
def known(problem: Matroid) -> Tableau | None:
    """Tableaux are made once a matroid, not once a simulation."""
    return tableau(problem)


def on_matroid(policy: Any, steps: int) -> Callable[..., Any] | None:
    """None where the matroid has no tableau: the policy then plays the plain way."""
    found = known(policy.problem)
    if found is None:
        return None
    rule, private = RULES[type(policy)], isinstance(policy, PrivatePolicy)
    if isinstance(policy, NoiseAwareMAT) and policy.pool:
        rule = matroid.POOLED
    share = policy.share if private else 1.0
    constant = float(getattr(policy, "level", getattr(policy, "c", 0.0)))
    first = getattr(policy, "first", matroid.FORGET if private else matroid.EXACT)
    alpha, scale = float(getattr(policy, "alpha", 1.5)), steps / share if private else 0.0
    start = np.array(found.basis, np.int64)
    return partial(
        matroid.play_matroid,
        rule,
        share,
        constant,
        first,
        alpha,
        scale,
        steps,
        found.table,
        start,
        found.prime,
    )
