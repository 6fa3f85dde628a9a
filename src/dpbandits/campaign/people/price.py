"""What a person's rounds cost together: a policy's budget for each of them, and the promise to the
person.
"""

from dataclasses import replace

from dpbandits.campaign.people.register import Register
from dpbandits.core.privacy import Guarantee, as_fraction
from dpbandits.policies.contract import Policy


def policy_for_users(policy: Policy, cap: int) -> Policy:
    """The policy at the budget of one of a user's learned rounds: k of them cost k times as much
    (k² times under zCDP).

    cap: k, the most rounds in which one user is learned from.

    Raises:
        ValueError: it has no budget, or the smaller one is too small for its grid.
    """
    budget = getattr(policy, "rho", None)
    if budget is not None:
        return policy.at(as_fraction(budget, "rho") / cap**2)
    if not hasattr(policy, "epsilon"):
        raise ValueError(
            f"{policy.name} is not private: privacy_unit='user' is for policies with a budget."
        )
    return policy.at(as_fraction(policy.epsilon, "epsilon") / cap)


def per_user(guarantee: Guarantee, people: Register) -> Guarantee:
    """What a guarantee for one round's reward is for all learned rounds of one user."""
    k = people.cap
    return replace(
        guarantee,
        epsilon=None if guarantee.epsilon is None else guarantee.epsilon * k,
        rho=None if guarantee.rho is None else guarantee.rho * k**2,
        zero_out=None if guarantee.zero_out is None else guarantee.zero_out * k,
        claimed=None,
        unit="user",
        people=people.words,
    )
