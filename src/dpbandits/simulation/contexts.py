"""Contextual policies in environments with contexts: the plain way, through a `Session`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import Integers
from dpbandits.environments.base import Environment
from dpbandits.environments.contexts import ContextTable
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.session.session import Session
from dpbandits.simulation.plain import Path


def require_contexts(policy: Policy, environment: Environment, *, plain: bool) -> None:
    """Refuse a contextual policy without an environment that has such contexts.

    Args:
        plain: whether it is played as it is, without delays and shuffled arms.

    Raises:
        ValueError: they do not fit, or something was asked for that contexts do not have.
    """
    if not isinstance(policy, (ContextualPolicy, JointDPLinTS)):
        return
    if not isinstance(environment, ContextTable):
        raise ValueError(
            f"{policy.name} decides by contexts, and {type(environment).__name__} has none. Play "
            "it in a dpbandits.ContextTable."
        )
    if policy.dimension != environment.features:
        raise ValueError(
            f"The policy has features={policy.dimension}, the contexts have {environment.features}"
            " numbers; they must be equal."
        )
    if not plain:
        raise ValueError(
            f"{policy.name} decides by contexts: delay= and shuffle= are not for it. Play late "
            "answers through a Session."
        )


def play_contexts(
    policy: Policy,
    environment: Environment,
    rounds: int,
    checkpoints: Integers,
    *,
    noise: Noise,
    seed: int,
    rng: np.random.Generator,
    each: Callable[[int, Session], None] | None = None,
) -> Path:
    """One run round by round through a `Session`.

    each: is shown the session after every round.
    """
    visitors: Any = environment.fresh()
    session = Session(policy, noise=noise, seed=seed)
    plays, earned, at, t = np.zeros(policy.arms, np.int64), 0.0, 0, 0
    plays_at = np.zeros((len(checkpoints), policy.arms), np.int64)
    earned_at = np.zeros(len(checkpoints))
    while t < rounds:
        try:
            row = visitors.visit(rng)
        except EnvironmentExhausted:
            break
        decision = session.ask(context=visitors.contexts[row])
        arm: Any = decision.action
        session.tell(decision, visitors.reward(row, arm, rng))
        plays[arm] += 1
        earned += float(visitors.chances[row, arm])
        t += 1
        while at < len(checkpoints) and t >= checkpoints[at]:
            plays_at[at], earned_at[at] = plays, earned
            at += 1
        if each is not None:
            each(t, session)
    plays_at[at:], earned_at[at:] = plays, earned
    told = session.ledger, session.state
    return Path(plays_at, t, session.releases, t, *told, earned=earned_at)
