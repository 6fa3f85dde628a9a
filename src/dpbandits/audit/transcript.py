"""Level 1, exact, white box: what one changed record tells through all releases of a run together.

A run is written down with a recorder in place of the noise. For a neighbour noise is found that gives the same answers: requests must
stay as they were, and so must plans, and the privacy loss of the releases is how far the noise had to move over its scales. Where the
answers do not show all noise, that only bounds the loss from above, and an excess proves nothing.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpbandits.audit.hidden import loss_of_sums
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

KEPT = 4
"""Pairs with the largest loss whose own outcome is priced exactly, a run."""


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

    @property
    def order(self) -> tuple[Any, ...]:
        """Of equal losses, that of the run which is easiest to be sure about."""
        return self.worst[0].loss, self.witness.shown, -len(self.witness.draws)


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
        if not any(run.witness.own_additions for run in found):
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
    worst = tuple(sorted(pairs, key=lambda pair: pair.loss, reverse=True)[:KEPT])
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
    first = max((run for run in runs if run.worst), default=None, key=lambda run: run.order)
    if first is None:
        seconds = time.perf_counter() - start
        return LevelResult(LEVEL, "not applicable", evidence="No release in any run: there was nothing to look at.", seconds=seconds)
    worst, pairs, of = first.worst[0], sum(run.pairs for run in runs), sum(run.of for run in runs)
    found, sure, told = priced(runs, first)
    evidence = f"largest loss {found} {unit} in {pairs} of {of} neighbours; there a record changed in the block from round {worst.round}"
    if not sure:
        evidence += "; the answers do not show all noise, so that this is the most they can tell, not what they tell"
    outcome: Outcome = "passed" if found <= claim else "failed" if sure else "not applicable"
    details = {
        "unit": unit,
        "loss": str(found),
        "loss_value": float(found),
        "sure": sure,
        "pairs": pairs,
        "of": of,
        "rounds": max(run.witness.rounds for run in runs),
        "change": list(worst.change),
        "by_round": [[pair.round, float(pair.loss)] for run in runs for pair in run.worst],
    }
    seconds, bound = time.perf_counter() - start, told if unit == "epsilon" else 0.0
    return LevelResult(LEVEL, outcome, bound, evidence=evidence, seconds=seconds, details=details)


def priced(runs: list[Found], first: Found) -> tuple[Fraction, bool, float]:
    """The largest loss; whether it is that of the answers, and not only a bound from above; and what is certified."""
    worst = first.worst[0]
    if first.witness.shown:
        return worst.loss, True, max(float(most_told(run.witness, run.worst)) for run in runs if run.worst and run.witness.shown)
    exact = loss_of_sums(first.witness.run, first.witness.draws, first.witness.replayed(worst.event, change_of(worst.change)))
    return (worst.loss, False, 0.0) if exact is None else (min(exact, worst.loss), True, float(min(exact, worst.loss)))
