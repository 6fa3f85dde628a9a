"""The transcript level: releases of whole runs, replayed with one record replaced and noise that
gives the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpbandits.auditing.played_noise import OWN_COINS, TIMES, UNEVEN
from dpbandits.auditing.replays import (
    SHORT,
    Found,
    Pair,
    Priced,
    Witness,
    all_changed,
    as_float,
    certified_loss,
    pair_of,
    plays,
    priced,
    record_changes,
    unbounded,
)
from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.auditing.shown_noise import Changes
from dpbandits.auditing.subjects import longest
from dpbandits.checks.checks import replay_is_blind
from dpbandits.checks.contexts import (
    ContextLoss,
    Host,
    joint_runs_of,
    largest_loss_in_contexts,
    runs_of,
)
from dpbandits.core.errors import (
    CheckFailed,
    Diverged,
    Foreign,
    Leak,
    RequestsDiffer,
    Unclear,
)
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.session.releases_only import JointDPSession

# The search of a run's neighbours: which are replayed, and which of them are priced first.


LEAST_REPLAYED = 12
"""The pairs that are replayed in every run, however long it is."""

PLANS = "Other rewards change a plan, though releases stay the same."

TABLES = 8
"""Tables with all rewards drawn anew on which a policy is asked for its plans. They also show rules
that need several records, or a late block that no pair changes.
"""

KEPT = 8
"""The most pairs of a run that are priced first: one for each size of loss, the largest first."""


def search(witness: Witness, seed: int, replays: int) -> Found:
    """Search one run: so many of its neighbours are replayed. Of a long run there are fewer, but
    `LEAST_REPLAYED`.
    """
    run = witness.run
    see_other_tables(witness, np.random.default_rng([seed, TABLES]))
    cases = record_changes(run, np.random.default_rng(seed))
    most = max(LEAST_REPLAYED, math.ceil(replays / max(1.0, witness.rounds / SHORT)))
    pairs, unclear = list[Pair](), ""
    for event, change in cases[:most]:
        try:
            after = witness.replayed(event, change, asking=True)
        except Unclear as why:
            unclear = unclear or str(why)
        else:
            pairs.append(pair_of(witness, event, change, after))
    # whose outcome tells most
    sizes = {pair.loss: pair for pair in sorted(pairs, key=lambda pair: pair.outcome)}
    worst = tuple(sizes[size] for size in sorted(sizes, reverse=True)[:KEPT])
    others = sorted((pair for pair in pairs if pair not in worst), key=lambda pair: -pair.loss)
    return Found(witness, len(pairs), len(cases), worst, unclear, tuple(others))


def see_other_tables(witness: Witness, rng: np.random.Generator) -> None:
    """Draw the rewards of all blocks anew, again and again: as long as releases stay the same, the
    plans must.

    Raises:
        Leak: plans differ, in every replay. Of runs with coins nothing is said: other coins may
            make up for it.
        Foreign: other replays came out differently.
    """
    if witness.plans is None or witness.recorder.coins:
        return
    for _ in range(TABLES):
        changes = all_changed(witness.run, rng)
        said = plans_changed(witness, changes)
        if said:
            witness.always(partial(plans_changed, witness, changes), said, asking=True)
            raise Leak(said)


def plans_changed(witness: Witness, changes: Changes) -> str:
    """What is wrong; an empty text if nothing is."""
    try:
        replay = witness.run.replay(changes, witness.script(witness.draws), seed=witness.seed)
    except Diverged:
        return ""
    # the last plan follows a release that is another one
    same = replay.plans if replay.at is None else replay.plans[:-1]
    return PLANS if same != (witness.plans or [])[: len(same)] else ""


# Level 1, exact, white box: what one changed record tells through all releases of a run together.
#
# A run is written down with a recorder in place of the noise. Then noise is sought with which a
# neighbour gives the same answers, while the coins of the noise source fall as they fell. The
# plans must stay the same, and the privacy loss of the releases is the distance that the noise had
# to move, in units of its scales. If the answers do not show all noise, or coins were tossed, this
# is only an upper bound on the loss, and an excess proves nothing. If the replays of a subject do
# not come out the same every time, the level says nothing of it.


LEVEL = "transcript"

OWN_PLANS = (
    "It draws its plans from a source of its own: whether a record changes them, replays cannot "
    "say. Of its releases:"
)

NOT_IN_RHO = "It draws randomness whose loss is an epsilon, and is not priced in rho."

ROUNDS, REPLAYS = 2000, 40
"""The rounds of the longest runs, and the most pairs that are replayed in a run. In runs that are
not short there are fewer, in proportion.
"""


def transcript_level(
    policy: Policy,
    claim: Fraction | None = None,
    *,
    rounds: int = ROUNDS,
    replays: int = REPLAYS,
    seed: int = 0,
    rho: Fraction | None = None,
) -> LevelResult:
    """Search the neighbours of a few runs, hard ones first; if there are replays enough, every
    neighbour of the short runs.

    claim: an epsilon; by default what the policy itself claims (under zCDP this is a rho, and so is
        the loss).
    replays: of every run, at most.
    rho: of zCDP, in place of a claim.
    """
    if isinstance(policy, (ContextualPolicy, JointDPLinTS)):
        return context_level(policy, claim, rho, replays=replays, seed=seed)
    try:
        return audited_runs(policy, claim, rounds, replays, seed, rho)
    except Leak as leak:
        bound = float("inf") if leak.certain else 0.0
        return LevelResult(LEVEL, "failed", bound, evidence=str(leak))
    except Foreign as why:
        return nothing_said(str(why))
    except Diverged:
        # a replay of the unchanged table that diverges does so by coins of its own
        return nothing_said(OWN_COINS)


def nothing_said(evidence: str) -> LevelResult:
    return LevelResult(LEVEL, "not applicable", evidence=evidence)


def audited_runs(
    policy: Policy,
    claim: Fraction | None,
    rounds: int,
    replays: int,
    seed: int,
    rho: Fraction | None,
) -> LevelResult:
    """The verdict on runs that are played here, unless a replay settles it before that."""
    guarantee = policy.guarantee
    own_rho = claim is None and guarantee is not None and guarantee.measure == "zCDP"
    in_rho = own_rho or rho is not None
    if policy.randomizer() is not None:
        return nothing_said("Local: the server is handed reports, whose own law is audited.")
    claim = guarantee.cost if claim is None and guarantee is not None else claim
    claim = claim if rho is None else rho
    if claim is None:
        return nothing_said("It claims no privacy.")
    todo = plays(policy, rounds, seed)
    found = [search(Witness(play), play.seed, replays) for play in todo]
    if not any(
        run.unclear
        or run.witness.self_adding
        or run.witness.recorder.coins
        or run.witness.plans is None
        for run in found
    ):
        see_blind(policy)
    verdict = transcript_verdict(found, claim, "rho" if in_rho else "epsilon")
    if verdict.outcome == "passed" and any(run.witness.plans is None for run in found):
        return replace(
            verdict, outcome="not applicable", evidence=f"{OWN_PLANS} {verdict.evidence}"
        )
    return verdict


def see_blind(policy: Policy) -> None:
    """Swap all rewards at once, through a `Session`: the plays must stay the same."""
    said = sees(policy)
    if said and any(sees(policy, swapped=False) or sees(policy) != said for _ in range(TIMES)):
        raise Foreign(OWN_COINS)
    if said:
        raise Leak(said)


def sees(policy: Policy, swapped: bool = True) -> str:
    """What changes; an empty text if nothing does."""
    try:
        replay_is_blind(policy, rounds=min(300, longest(policy)), swapped=swapped)
    except RequestsDiffer:
        raise Foreign(UNEVEN) from None
    except CheckFailed as error:
        return str(error)
    return ""


def transcript_verdict(runs: list[Found], claim: Fraction, unit: str) -> LevelResult:
    """What these runs say together, and the sentence that goes with it."""
    looked = [run for run in runs if run.worst]
    unclear = next((run.unclear for run in runs if run.unclear), "")
    if not looked:
        return nothing_said(unclear or "No release in any run: there was nothing to look at.")
    families = {draw.family for run in looked for draw in run.witness.draws}
    if "gaussian" in families and unit == "epsilon":
        return of_gaussians(looked)
    found = priced(looked)
    bound = certified_loss(looked, found) if unit == "epsilon" else 0.0
    outcome: Outcome = "not applicable"
    if found.least > claim:
        outcome = "failed"
    elif found.most is not None and found.most <= claim:
        outcome = "passed"
    evidence = largest_loss_sentence(runs, found, unit)
    if families - {"gaussian"} and unit == "rho":
        outcome, evidence = "not applicable", NOT_IN_RHO
    if unclear:
        outcome = outcome if outcome == "failed" else "not applicable"
        evidence = f"{unclear} Elsewhere: {evidence}"
    details = loss_details(runs, found, unit)
    return LevelResult(LEVEL, outcome, bound, evidence=evidence, details=details)


def of_gaussians(runs: list[Found]) -> LevelResult:
    """The verdict if noise is Gaussian and the claim is a pure epsilon."""
    never = "Gaussian noise keeps no epsilon, whatever its scale:"
    if not unbounded(runs):
        return nothing_said(f"{never} but these answers do not show all of it, so nothing is sure.")
    evidence = (
        f"{never} far out, answers tell any ε of a record in the block from round "
        f"{runs[0].worst[0].round}."
    )
    return LevelResult(LEVEL, "failed", float("inf"), evidence=evidence)


def largest_loss_sentence(runs: list[Found], found: Priced, unit: str) -> str:
    """Where the largest loss was found, and how sure it is."""
    pairs, of = sum(run.pairs for run in runs), sum(run.of for run in runs)
    asked, largest = sum(run.asked for run in runs), shown_loss(stated_loss(found))
    said = (
        f"largest loss {largest} {unit} in {pairs} of {of} neighbours, plans asked for "
        f"again in {asked}; there a record changed in the block from round {found.case.pair.round}"
    )
    if found.most != found.least:
        most = "" if found.most is None else f", {shown_loss(found.most)} the most"
        sure = shown_loss(found.least)
        said += f"; the answers do not show all noise: {sure} is sure{most}"
    if any(run.witness.recorder.coins for run in runs):
        said += "; coins fell as they fell in these runs, and nothing is sure of what they hide"
    return said


def shown_loss(loss: Fraction) -> str:
    return "more than 1e308" if loss > 10**308 else str(loss)


def stated_loss(found: Priced) -> Fraction:
    return found.least if found.most is None else found.most


def loss_details(runs: list[Found], found: Priced, unit: str) -> dict[str, Any]:
    return {
        "unit": unit,
        "loss": str(stated_loss(found)),
        "loss_value": as_float(stated_loss(found)),
        "sure": found.most == found.least,
        "pairs": sum(run.pairs for run in runs),
        "of": sum(run.of for run in runs),
        "asked": sum(run.asked for run in runs),
        "rounds": max(run.witness.rounds for run in runs),
        "change": list(found.case.pair.change),
        "by_round": [[pair.round, as_float(pair.loss)] for run in runs for pair in run.worst],
    }


# Policies that decide by contexts: whole runs, replayed with one answer replaced and the same
# noised values.


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
        host: what plays policies whose contexts are private.
    """
    if claim is None and rho is None:
        return nothing_said("It claims no privacy.")

    runs: Sequence[Any]
    if isinstance(policy, JointDPLinTS):
        runs, kind = joint_runs_of(policy, seed, host), ("record", "late answers")
    else:
        runs, kind = list(runs_of(policy, seed)), ("answer", "an attribution window")
    found = largest_loss_in_contexts(runs, replays)
    if found.changed is not None and not always_changes(*found.changed):
        return nothing_said(OWN_COINS)
    return context_verdict(found, runs, claim, rho, *kind)


def always_changes(run: Any, at: int, other: Any) -> bool:
    """Whether what one visitor brings changes a run in every replay, and the unchanged run comes
    out the same in every replay.
    """
    return all(
        run.replaced(at, run.brought[at]) is not None and run.replaced(at, other) is None
        for _ in range(TIMES)
    )


def context_verdict(
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
        return nothing_said(
            f"No {replaced} changed what was released: there was nothing to look at."
        )
    if unit == "epsilon" and "gaussian" in families:
        said = "Gaussian noise keeps no epsilon, whatever its scale."
        return LevelResult(LEVEL, "failed", float("inf"), evidence=said)
    if unit == "rho" and families - {"gaussian"}:
        return nothing_said(NOT_IN_RHO)
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
