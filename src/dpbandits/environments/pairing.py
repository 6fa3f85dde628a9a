"""Whether a policy and an environment fit each other, said before anything is played."""

from __future__ import annotations

from dpbandits.core.inputs import refuse_class, shown
from dpbandits.environments.base import Environment
from dpbandits.policies.contract import Policy


def require_pair(policy: object, environment: object) -> None:
    """Raise unless this is a policy, that an environment, and both have as many arms.

    Raises:
        TypeError: something else, or a class in place of an instance.
        ValueError: the numbers of arms differ.
    """
    refuse_class(policy, "a policy", "dpbandits.DPKLUCB(arms=5, epsilon=1)")
    refuse_class(environment, "an environment", "dpbandits.Bernoulli([0.5, 0.4])")
    if not isinstance(policy, Policy):
        raise TypeError(
            f"Expected a policy such as dpbandits.DPKLUCB(arms=5, epsilon=1), got {shown(policy)}."
        )
    if not isinstance(environment, Environment):
        raise TypeError(
            "Expected an environment such as dpbandits.Bernoulli([0.5, 0.4]), got "
            f"{shown(environment)}."
        )
    if policy.arms != environment.arms:
        raise ValueError(
            f"The policy has arms={policy.arms}, the environment has {environment.arms}; they "
            "must be equal."
        )
