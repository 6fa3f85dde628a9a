"""Level 1, exact, white box: what one changed record tells through all releases of a run together.

A run is written down with a recorder in place of the noise. Then noise is sought with which a
neighbour gives the same answers, while the coins of the noise source fall as they fell. The plans
must stay the same, and the privacy loss of the releases is the distance that the noise had to move,
in units of its scales. If the answers do not show all noise, or coins were tossed, this is only an
upper bound on the loss, and an excess proves nothing. If the replays of a subject do not come out
the same every time, the level says nothing of it.
"""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

from dpbandits.auditing.effort import Effort, Seconds, Work
from dpbandits.auditing.mechanism_policy import longest
from dpbandits.auditing.report import LevelResult
from dpbandits.auditing.transcript.caveats import OWN_COINS, TIMES, UNEVEN
from dpbandits.auditing.transcript.neighbours import SHORT, AuditRun, plays, record_changes
from dpbandits.auditing.transcript.pricing import (
    Found,
    Pair,
    pair_of,
)
from dpbandits.auditing.transcript.verdict import LEVEL, transcript_verdict
from dpbandits.auditing.transcript.witness import Witness
from dpbandits.checks.checks import replay_is_blind
from dpbandits.core.errors import CheckFailed, Diverged, Foreign, Leak, RequestsDiffer, Unclear
from dpbandits.policies.contract import Policy

LEAST = 12
"""The pairs that are replayed in every run, even if no work is left. For these pairs, and for some
others, the policy is asked for its plans again.
"""

REPLAYS = 40
"""The most pairs that are replayed in a run if there is no budget of seconds. In runs that are not
short there are fewer, in proportion.
"""

SEARCH = 0.7
"""The share of a budget of seconds that the search may take. The rest is for prices, and for
replaying again what was found.
"""

OTHERS = 16

KEPT = 8
"""The most pairs of a run that are priced: one for each size of loss, the largest first."""


def transcript_level(
    policy: Policy,
    claim: Fraction | None = None,
    *,
    rounds: int = 2000,
    replays: int = REPLAYS,
    budget: float | None = None,
    seed: int = 0,
) -> LevelResult:
    """Search the neighbours of a few runs, hard ones first; if there are replays enough, every
    neighbour of the short runs.

    claim: an epsilon; by default what the policy itself claims (under zCDP this is a rho, and so is
        the loss).
    replays: of every run, at most.
    budget: seconds, in place of a number of replays; the verdict may then depend on the machine.
    """
    start, guarantee = time.perf_counter(), policy.guarantee
    in_rho = claim is None and guarantee is not None and guarantee.measure == "zCDP"
    if policy.randomizer() is not None:
        return LevelResult(
            LEVEL,
            "not applicable",
            evidence="Local: the server is handed reports, whose own law is audited.",
        )
    claim = guarantee.cost if claim is None and guarantee is not None else claim
    if claim is None:
        return LevelResult(LEVEL, "not applicable", evidence="It claims no privacy.")
    try:
        found = searched(plays(policy, rounds, seed), replays, budget)
        if not any(
            run.unclear
            or run.witness.self_adding
            or run.witness.recorder.coins
            or run.witness.plans is None
            for run in found
        ):
            see_blind(policy)
        return transcript_verdict(found, claim, "rho" if in_rho else "epsilon", start)
    except Leak as leak:
        bound = float("inf") if leak.certain else 0.0
        return LevelResult(
            LEVEL, "failed", bound, evidence=str(leak), seconds=time.perf_counter() - start
        )
    except (Foreign, Diverged) as why:
        # a replay of the unchanged table that diverges does so by coins of its own
        evidence = OWN_COINS if isinstance(why, Diverged) else str(why)
        return LevelResult(
            LEVEL, "not applicable", evidence=evidence, seconds=time.perf_counter() - start
        )


def searched(todo: list[AuditRun], replays: int, budget: float | None) -> list[Found]:
    """Search all runs; with a budget of seconds, as many as there is time for. The first run is
    always searched, the long ones come last.
    """
    if budget is None:
        return [search(Witness(play), play.seed, Work(replays)) for play in todo]
    whole, search_for, found = Seconds(budget), Seconds(SEARCH * budget), list[Found]()
    for at, play in enumerate(todo):
        if at and search_for.left() <= 0:
            break
        found.append(
            search(
                Witness(play, whole),
                play.seed,
                Seconds(search_for.left() / (len(todo) - at)),
                least=1,
            )
        )
    return found


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


def search(witness: Witness, seed: int, effort: Effort, least: int = LEAST) -> Found:
    """Search one run: replay as many of its neighbours as the effort allows (but at least some)."""
    run = witness.run
    cases = record_changes(run, np.random.default_rng(seed))
    pairs, unclear = list[Pair](), ""
    for done, (event, change) in enumerate(cases):
        if done >= least and effort.left() <= 0:
            break
        effort.spend(max(1.0, witness.rounds / SHORT))
        try:
            after = witness.replayed(event, change, asking=done < LEAST or done % OTHERS == 0)
        except Unclear as why:
            unclear = unclear or str(why)
        else:
            pairs.append(pair_of(witness, event, change, after))
    # whose outcome tells most
    sizes = {pair.loss: pair for pair in sorted(pairs, key=lambda pair: pair.outcome)}
    worst = tuple(sizes[size] for size in sorted(sizes, reverse=True)[:KEPT])
    return Found(witness, len(pairs), len(cases), worst, unclear)
