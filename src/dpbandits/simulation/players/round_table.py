"""How the compiled loop over rounds is called for the policies that release after every round."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpbandits.mechanisms import RandomizedResponse
from dpbandits.policies import DPUCB, LDPKLUCB, DPUCBBound, HybridUCB
from dpbandits.simulation.kernels import rounds, trees
from dpbandits.simulation.kernels.rounds import round_player

Kernel = Callable[..., Any]
"""Called as kernel(values, probabilities, rounds, checkpoints, rng, out); returns (releases,
events).

A kernel that identifies the best arm appends (arm, rounds it took), arm −1 if it has none yet.
"""


def every_round(
    rule: int,
    steps: int,
    *,
    feedback: int = rounds.PLAIN,
    counter: int = rounds.EXACT,
    eps: float = 1.0,
    constant: float = 0.0,
    scale: float = 0.0,
    keep: float = 0.0,
) -> Kernel:
    numbers = rounds.Numbers(eps, constant, scale, keep)
    return partial(round_player(rule, feedback, counter), tuple(numbers), steps)


def tree_ucb(policy: DPUCB, steps: int) -> Kernel:
    node = policy.horizon.bit_length() / float(policy.tree_epsilon)
    numbers = trees.Numbers(float(policy.epsilon), policy.gamma, policy.horizon, steps * node, node)
    return partial(trees.tree_player(policy.preset == "published"), tuple(numbers), steps)


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
