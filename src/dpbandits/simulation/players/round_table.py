"""How the compiled loop over rounds is called for the policies that release after every round."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpbandits.policies import DPUCB, LDPKLUCB, LDPUCB, DPUCBBound, HybridUCB
from dpbandits.simulation.kernels import rounds

Kernel = Callable[..., Any]
"""Called as kernel(values, probabilities, rounds, checkpoints, rng, out); returns (releases,
events).

A kernel that identifies the best arm appends (arm, rounds it took), arm −1 if it has none yet.
"""


def by_rounds(policy: Any, steps: int) -> Kernel:
    """Index policies that release after every round."""
    feedback, counter, noise, keep = rounds.PLAIN, rounds.EXACT, 0.0, 0.0
    if isinstance(policy, LDPKLUCB):
        feedback, keep = rounds.RESPONSE, policy.randomizer().keep
    elif isinstance(policy, LDPUCB):
        feedback, noise = rounds.LOCAL_LAPLACE, steps / float(policy.epsilon)
    elif isinstance(policy, DPUCB):
        counter, noise = rounds.TREE, steps * policy.rule.numbers.scale
    elif isinstance(policy, DPUCBBound):
        counter, noise = rounds.POWERS, 2 * steps / float(policy.epsilon)
    elif isinstance(policy, HybridUCB):
        counter = rounds.PRINTED if policy.preset == "published" else rounds.DOUBLING
        noise = 2 * steps / float(policy.epsilon)
    numbers = rounds.Numbers(policy.rule.numbers, noise, keep)
    loop = rounds.player_of(policy.rule, feedback, counter, isinstance(policy, LDPUCB))
    return partial(loop, (tuple(numbers.rule), numbers.noise, numbers.keep), steps)
