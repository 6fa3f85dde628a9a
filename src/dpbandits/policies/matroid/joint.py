"""Joint releases on a matroid (ours): see `policies/super_arms/joint.py`, which has the policy."""

from dataclasses import dataclass
from typing import ClassVar, final

from dpbandits.policies.contract import About
from dpbandits.policies.super_arms.joint import JointReleases

__all__ = ["DPJointMAT"]


@final
@dataclass(frozen=True, kw_only=True)
class DPJointMAT(JointReleases):
    """Optimism on jointly released sums, in the greedy algorithm (ours). A record pays epsilon
    once, not epsilon/K for each of the K elements of a basis.

    Source: ours; the noise is the K-norm mechanism of the cube (Hardt and Talwar 2010). Guarantee:
    epsilon-DP for all decisions.
    Regret of preset "proved", sketched: alpha·Σ Δ_e ln T/d_eps(μ_e, μ_σ(e)) + o(ln T) over the
    elements outside the best basis, σ(e) the least element of it that e can replace: no factor K
    (proofs/joint_release.md). Of the other presets nothing is proved.

    >>> from dpbandits import UniformMatroid
    >>> DPJointMAT(problem=UniformMatroid(arms=4, rank=2), epsilon=1).batch(2)
    28
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="joint releases in the greedy (ours)",
        bound="α Σ Δ ln T/d_ε(μ, μ_σ) + o(ln T), preset proved, sketched; else none proved",
        proof="joint_release",
        twin="KLOSM",
        feedback="semi",
        matroid=True,
        drops=True,
        theory=False,
    )
