"""Level 1, exact, white box: what one changed record tells through all releases of a run together.

A run is written down with a recorder in place of the noise. For a neighbour noise is found that gives the same answers: requests must
stay as they were, and so must plans, and the privacy loss of the releases is how far the noise had to move over its scales. Where the
answers do not show all noise, that only bounds the loss from above, and an excess proves nothing.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpbandits.audit.feeding import Feeding
from dpbandits.audit.hidden import Undecided
from dpbandits.audit.likelihood import log_ratio
from dpbandits.audit.neighbours import neighbours, plays
from dpbandits.audit.report import LevelResult, Outcome
from dpbandits.audit.witness import Foreign, Leak, Witness, change_of, see_blind
from dpbandits.checks.tape import loss
from dpbandits.policy import Policy

LEVEL = "transcript"

LEAST = 12
"""Pairs replayed in every run, whatever the time; of these, and of some others, the policy is asked for its plans again."""

OTHERS = 16

KEPT = 8
"""Pairs of a run that are priced: of each size of loss one, largest first."""


class Pair(NamedTuple):
    """Two reward tables that differ in one record, in block `event` of a run, by `change` grid steps."""

    loss: Fraction
    round: int
    event: int
    change: tuple[int, ...]


class Found(NamedTuple):
    """What one run's replays showed."""

    witness: Witness
    pairs: int
    of: int
    worst: tuple[Pair, ...]  # largest loss first


def transcript_level(
    policy: Policy, claim: Fraction | None = None, *, rounds: int = 2000, budget: float = 10.0, seed: int = 0
) -> LevelResult:
    """Search the neighbours of a few runs; every one of the short runs if the budget allows, hard ones first.

    claim: an epsilon; by default what the policy claims itself (under zCDP a rho, and the loss is in rho, too).
    """
    start, guarantee = time.perf_counter(), policy.guarantee
    measured_in_rho = guarantee is not None and guarantee.measure == "zCDP"
    if policy.randomizer() is not None:
        return LevelResult(LEVEL, "not applicable", evidence="Local: the server is handed reports, whose own law is audited.")
    if claim is not None and measured_in_rho:
        return LevelResult(LEVEL, "not applicable", evidence="It promises zCDP: Gaussian noise keeps no epsilon, whatever its scale.")
    claim = guarantee.cost if claim is None and guarantee is not None else claim
    if claim is None:
        return LevelResult(LEVEL, "not applicable", evidence="It claims no privacy.")
    try:
        todo = plays(policy, rounds, seed)
        found = [search(Witness(play), play.seed, start + budget * (at + 1) / len(todo)) for at, play in enumerate(todo)]
        if not any(run.witness.self_adding or run.witness.plans is None for run in found):
            see_blind(policy)
        return verdict(found, claim, "rho" if measured_in_rho else "epsilon", start)
    except Leak as leak:
        bound = float("inf") if leak.certain else 0.0
        return LevelResult(LEVEL, "failed", bound, evidence=str(leak), seconds=time.perf_counter() - start)
    except Foreign as why:
        return LevelResult(LEVEL, "not applicable", evidence=str(why), seconds=time.perf_counter() - start)


def search(witness: Witness, seed: int, until: float) -> Found:
    """One run and the replays of its neighbours, as many as there is time for (at least some)."""
    run = witness.run
    cases = neighbours(run, np.random.default_rng(seed))
    pairs: list[Pair] = []
    for done, (event, change) in enumerate(cases):
        if done >= LEAST and time.perf_counter() > until:
            break
        draws = witness.replayed(event, change, asking=done < LEAST or done % OTHERS == 0)
        pairs.append(Pair(loss(witness.draws, draws), witness.begins(event), event, tuple(np.atleast_1d(change).tolist())))
    sizes = {pair.loss: pair for pair in reversed(pairs)}  # the first pair of each
    worst = tuple(sizes[size] for size in sorted(sizes, reverse=True)[:KEPT])
    return Found(witness, len(pairs), len(cases), worst)


def most_told(witness: Witness, worst: tuple[Pair, ...]) -> float | Fraction:
    """The largest log-ratio of this run's own outcome."""
    told: float | Fraction = Fraction(0)
    for pair in worst:
        if pair.loss <= told:
            break  # no outcome tells more than the loss
        ratio = log_ratio(witness.draws, witness.replayed(pair.event, change_of(pair.change)))
        if ratio is not None:
            told = max(told, ratio, -ratio)
    return told


def verdict(runs: list[Found], claim: Fraction, unit: str, start: float) -> LevelResult:
    looked = [run for run in runs if run.worst]
    if not looked:
        seconds = time.perf_counter() - start
        return LevelResult(LEVEL, "not applicable", evidence="No release in any run: there was nothing to look at.", seconds=seconds)
    found, pairs, of = priced(looked), sum(run.pairs for run in runs), sum(run.of for run in runs)
    outcome, shown = judged(found, claim), found.least if found.most is None else found.most
    evidence = (
        f"largest loss {shown} {unit} in {pairs} of {of} neighbours; there a record changed in the block from round {found.pair.round}"
    )
    if found.most != found.least:
        most = "" if found.most is None else f", {found.most} the most"
        evidence += f"; the answers do not show all noise: {found.least} is sure{most}"
    mixed = {draw.family for run in looked for draw in run.witness.draws} & ({"gaussian"} if unit == "epsilon" else {"laplace"})
    if mixed:
        outcome, evidence = "not applicable", f"It draws {' and '.join(mixed)} noise, which is not priced in {unit}."
    details = {
        "unit": unit,
        "loss": str(shown),
        "loss_value": float(shown),
        "sure": found.most == found.least,
        "pairs": pairs,
        "of": of,
        "rounds": max(run.witness.rounds for run in runs),
        "change": list(found.pair.change),
        "by_round": [[pair.round, float(pair.loss)] for run in runs for pair in run.worst],
    }
    bound = told(looked, found) if unit == "epsilon" and not mixed else 0.0
    return LevelResult(LEVEL, outcome, bound, evidence=evidence, seconds=time.perf_counter() - start, details=details)


def judged(found: Priced, claim: Fraction) -> Outcome:
    if found.least > claim:
        return "failed"
    return "passed" if found.most is not None and found.most <= claim else "not applicable"


class Priced(NamedTuple):
    """The largest loss of the answers is at least `least`, and at most `most` (None: not known). pair: the one that shows most."""

    least: Fraction
    most: Fraction | None
    pair: Pair


def priced(runs: list[Found]) -> Priced:
    """What answers tell, from what was drawn: pairs by falling loss, until what was drawn is no more than what is sure to be told."""
    runs = sorted(runs, key=lambda run: len(run.witness.draws))
    cases = sorted(((pair, run.witness) for run in runs for pair in run.worst), key=lambda case: -case[0].loss)
    found = Priced(Fraction(0), Fraction(0), cases[0][0])
    for pair, witness in cases:
        if pair.loss <= found.least:
            break
        least, most = price(pair, witness)
        found = Priced(
            max(least, found.least),
            None if most is None or found.most is None else max(most, found.most),
            pair if least > found.least else found.pair,
        )
    if any(run.witness.self_adding and run.witness.sums is None for run in runs):
        return found._replace(most=None)  # what noise would have to do to keep the answers is not known
    return found


def price(pair: Pair, witness: Witness) -> tuple[Fraction, Fraction | None]:
    """At least, and at most."""
    if witness.shown:
        return pair.loss, pair.loss
    if witness.sums is None:
        return Fraction(0), pair.loss
    try:
        loss = witness.sums.loss(witness.replayed(pair.event, change_of(pair.change)))
    except Undecided:
        return Fraction(0), pair.loss
    most = pair.loss if loss.most is None else min(pair.loss, loss.most)
    return min(loss.least, most), most


def told(runs: list[Found], found: Priced) -> float:
    """What is certified: the log-ratio of an outcome that was seen; of a bare mechanism, also what its answers tell in their tails."""
    bare = any(isinstance(run.witness.run.policy, Feeding) for run in runs)
    certain = float(found.least) if bare else 0.0
    for run in sorted(runs, key=lambda run: len(run.witness.draws)):
        if certain < float(found.least) and run.worst[0].loss > certain and run.witness.shown:
            certain = max(certain, float(most_told(run.witness, run.worst)))
    return certain
