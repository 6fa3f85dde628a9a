"""Joint releases with any oracle (ours): see `joint.py`, which has the policy."""

from dataclasses import dataclass
from typing import ClassVar, final

from dpbandits.policies.contract import About
from dpbandits.policies.super_arms.joint import JointReleases

__all__ = ["DPJointCUCB"]


@final
@dataclass(frozen=True, kw_only=True)
class DPJointCUCB(JointReleases):
    """Optimism on jointly released sums, with any oracle (ours). A record pays epsilon once, not
    epsilon/K for each of its K rewards.

    Source: ours; the noise is the K-norm mechanism of the cube (Hardt and Talwar 2010). Guarantee:
    epsilon-DP for all decisions. Regret: none proved for general oracles.

    >>> from dpbandits import TopK
    >>> str(DPJointCUCB(problem=TopK(arms=4, k=2), epsilon=1).guarantee.epsilon)
    '1'
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="optimism on joint releases (ours)",
        bound="none proved",
        proof="joint_release",
        twin="CUCB",
        feedback="semi",
        drops=True,
        theory=False,
    )
