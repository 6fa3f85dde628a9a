"""What a policy says of itself has to be what its mechanism keeps. Checked before anything is
recorded.
"""

from __future__ import annotations

from dpbandits.core.privacy import Guarantee
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contract import Policy


def require_agreement(policy: Policy, kept: Guarantee | None) -> None:
    """Refuse a policy whose words and mechanism disagree.

    kept: what its mechanism (or its users' randomizer) promises.

    Raises:
        ValueError: they disagree.
    """
    if policy.guarantee != kept:
        raise ValueError(
            f"{policy.name} says that it guarantees {policy.guarantee}; its mechanism promises "
            f"{kept}. Correct one of them."
        )
    privacy, said = policy.about.privacy, "none"
    if kept is not None:
        said = "local" if kept.trust == "local" else kept.measure
    if said != privacy or (privacy == "local") is (policy.randomizer() is None):
        raise ValueError(
            f'{policy.name} says privacy="{privacy}" in `about`; what its mechanism or '
            f'randomizer keeps is "{said}". Correct one.'
        )
    if (
        isinstance(policy, PrivatePolicy)
        and kept is not None
        and kept.claimed is None
        and (kept.epsilon or 0) > policy.budget
    ):
        raise ValueError(
            f"{policy.name} has a budget of {policy.budget}; its mechanism spends "
            f"{kept.epsilon}. Share the budget out, or give the "
            "mechanism claimed= where a publication says otherwise."
        )
