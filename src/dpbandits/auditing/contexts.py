"""The transcript level of policies that decide by contexts: whole runs, replayed with one answer
replaced and the same noised values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpbandits.auditing.effort import clock
from dpbandits.auditing.replays import as_float
from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.checks.contexts import ContextLoss, largest_loss_in_contexts, runs_of
from dpbandits.checks.joint_contexts import Host, joint_runs_of
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.session.releases_only import JointDPSession

LEVEL = "transcript"

NOT_COUNTED = (
    "It decides by contexts, which counted runs do not have; the transcript level replays its runs "
    "with contexts."
)


def context_level(
    policy: ContextualPolicy | JointDPLinTS,
    claim: Fraction | None,
    rho: Fraction | None,
    *,
    replays: int,
    budget: float | None,
    seed: int,
    host: Host = JointDPSession,
) -> LevelResult:
    """Replay runs of made-up visitors, with and without an attribution window.

    Everything public is compared: decisions, releases, the policy's state, counts and contexts. If
    all of it is the same, the loss is exact: by how much the noise of each value has to move. Every
    noised value is released, so such an outcome exists for each loss.

    Where contexts and decisions are private, too, outputs are releases: one visitor's whole record
    is replaced (context, answer, and when it comes), and all that is shown to others is compared.

    Args:
        claim: an epsilon. rho: of zCDP, in place of a claim.
        replays: of every run, at most.
        budget: seconds, in place of a number of replays.
        host: what plays policies whose contexts are private.
    """
    start, most = clock(), replays if budget is None else 10**9
    if claim is None and rho is None:
        return LevelResult(LEVEL, "not applicable", evidence="It claims no privacy.")

    def has_time() -> bool:
        return budget is None or clock() - start < budget

    runs: Sequence[Any]
    if isinstance(policy, JointDPLinTS):
        runs, kind = joint_runs_of(policy, seed, host), ("record", "late answers")
    else:
        runs, kind = list(runs_of(policy, seed)), ("answer", "an attribution window")
    found = largest_loss_in_contexts(runs, most, has_time)
    result = verdict(found, runs, claim, rho, *kind)
    return replace(result, seconds=clock() - start)


def verdict(
    found: ContextLoss,
    runs: Sequence[Any],
    claim: Fraction | None,
    rho: Fraction | None,
    replaced: str,
    kinds: str,
) -> LevelResult:
    """What the replays say.

    Args:
        replaced: what of a visitor.
        kinds: what runs were played with and without.
    """
    families = {draw.family for run in runs for draw in run.recorder.draws}
    unit = "rho" if rho is not None else "epsilon"
    held = rho if rho is not None else claim
    assert held is not None
    if found.worst is None:
        said = (
            f"The {replaced} of visitor {found.round} changes what is public, whatever the noise: "
            "the same noised values do not come with the same decisions, counts and contexts."
        )
        return LevelResult(LEVEL, "failed", float("inf"), evidence=said)
    if found.worst == 0:
        said = f"No {replaced} changed what was released: there was nothing to look at."
        return LevelResult(LEVEL, "not applicable", evidence=said)
    if unit == "epsilon" and "gaussian" in families:
        said = "Gaussian noise keeps no epsilon, whatever its scale."
        return LevelResult(LEVEL, "failed", float("inf"), evidence=said)
    if unit == "rho" and "laplace" in families:
        said = "It draws noise that is not priced in rho."
        return LevelResult(LEVEL, "not applicable", evidence=said)
    shown = str(found.worst) if found.worst.denominator < 10**6 else f"{float(found.worst):.9g}"
    evidence = (
        f"largest loss {shown} {unit} in {found.replays} neighbours of {len(runs)} runs, with and "
        f"without {kinds}; there the {replaced} of visitor {found.round} was replaced"
    )
    details = {"unit": unit, "loss": str(found.worst), "loss_value": as_float(found.worst)}
    details |= {"sure": True, "pairs": found.replays, "runs": len(runs)}
    outcome: Outcome = "passed"
    if found.worst > held:
        outcome = "failed" if all(run.shows_noise for run in runs) else "not applicable"
    bound = as_float(found.outcome) if unit == "epsilon" else 0.0
    return LevelResult(LEVEL, outcome, bound, evidence=evidence, details=details)
