"""What all replayed runs say together: the verdict, and the sentence that goes with it."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.auditing.transcript.pricing import (
    Found,
    Priced,
    certified_loss,
    priced,
    unbounded,
)

LEVEL = "transcript"


def transcript_verdict(runs: list[Found], claim: Fraction, unit: str, start: float) -> LevelResult:
    looked, unclear = (
        [run for run in runs if run.worst],
        next((run.unclear for run in runs if run.unclear), ""),
    )
    if not looked:
        evidence = unclear or "No release in any run: there was nothing to look at."
        return LevelResult(
            LEVEL, "not applicable", evidence=evidence, seconds=time.perf_counter() - start
        )
    families = {draw.family for run in looked for draw in run.witness.draws}
    if "gaussian" in families and unit == "epsilon":
        return of_gaussians(looked, start)
    found = priced(looked)
    outcome, bound, evidence = (
        verdict_on(found, claim),
        certified_loss(looked, found) if unit == "epsilon" else 0.0,
        largest_loss_sentence(runs, found, unit),
    )
    if "laplace" in families and unit == "rho":
        outcome, evidence = "not applicable", "It draws laplace noise, which is not priced in rho."
    if unclear:
        outcome, evidence = (
            outcome if outcome == "failed" else "not applicable",
            f"{unclear} Elsewhere: {evidence}",
        )
    return LevelResult(
        LEVEL,
        outcome,
        bound,
        evidence=evidence,
        seconds=time.perf_counter() - start,
        details=loss_details(runs, found, unit),
    )


def of_gaussians(runs: list[Found], start: float) -> LevelResult:
    """The verdict if noise is Gaussian and the claim is a pure epsilon."""
    told = unbounded(runs)
    evidence = "Gaussian noise keeps no epsilon, whatever its scale: " + (
        f"far out, answers tell any ε of a record in the block from round {runs[0].worst[0].round}."
        if told
        else "but these answers do not show all of it, so nothing is sure."
    )
    seconds = time.perf_counter() - start
    return LevelResult(
        LEVEL,
        "failed" if told else "not applicable",
        float("inf") if told else 0.0,
        evidence=evidence,
        seconds=seconds,
    )


def verdict_on(found: Priced, claim: Fraction) -> Outcome:
    if found.least > claim:
        return "failed"
    return "passed" if found.most is not None and found.most <= claim else "not applicable"


def largest_loss_sentence(runs: list[Found], found: Priced, unit: str) -> str:
    """Where the largest loss was found, and how sure it is."""
    pairs, of = sum(run.pairs for run in runs), sum(run.of for run in runs)
    said = (
        f"largest loss {stated_loss(found)} {unit} in {pairs} of {of} neighbours; "
        f"there a record changed in the block from round {found.case.pair.round}"
    )
    if found.most != found.least:
        most = "" if found.most is None else f", {found.most} the most"
        said += f"; the answers do not show all noise: {found.least} is sure{most}"
    if any(run.witness.recorder.coins for run in runs):
        said += "; coins fell as they fell in these runs, and nothing is sure of what they hide"
    return said


def stated_loss(found: Priced) -> Fraction:
    return found.least if found.most is None else found.most


def loss_details(runs: list[Found], found: Priced, unit: str) -> dict[str, Any]:
    return {
        "unit": unit,
        "loss": str(stated_loss(found)),
        "loss_value": float(stated_loss(found)),
        "sure": found.most == found.least,
        "pairs": sum(run.pairs for run in runs),
        "of": sum(run.of for run in runs),
        "rounds": max(run.witness.rounds for run in runs),
        "change": list(found.case.pair.change),
        "by_round": [[pair.round, float(pair.loss)] for run in runs for pair in run.worst],
    }
