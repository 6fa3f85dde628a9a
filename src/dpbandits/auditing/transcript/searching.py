"""The search of a run's neighbours: which are replayed, and which of them are priced first."""

from functools import partial

import numpy as np

from dpbandits.auditing.effort import Effort, Seconds, Work
from dpbandits.auditing.transcript.neighbours import SHORT, AuditRun, all_changed, record_changes
from dpbandits.auditing.transcript.noise_sums import Changes
from dpbandits.auditing.transcript.pricing import Found, Pair, pair_of
from dpbandits.auditing.transcript.witness import Witness
from dpbandits.core.errors import Diverged, Leak, Unclear

LEAST = 12
"""The pairs that are replayed in every run, even if no work is left."""

PLANS = "Other rewards change a plan, though releases stay the same."

SEARCH = 0.7
"""The share of a budget of seconds that the search may take. The rest is for prices, and for
replaying again what was found.
"""

TABLES = 8
"""Tables with all rewards drawn anew on which a policy is asked for its plans. They also show rules
that need several records, or a late block that no pair changes.
"""

KEPT = 8
"""The most pairs of a run that are priced first: one for each size of loss, the largest first."""


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


def search(witness: Witness, seed: int, effort: Effort, least: int = LEAST) -> Found:
    """Search one run: replay as many of its neighbours as the effort allows (but at least some)."""
    run = witness.run
    see_other_tables(witness, np.random.default_rng([seed, TABLES]), effort)
    cases = record_changes(run, np.random.default_rng(seed))
    pairs, unclear = list[Pair](), ""
    for done, (event, change) in enumerate(cases):
        if done >= least and effort.left() <= 0:
            break
        effort.spend(max(1.0, witness.rounds / SHORT))
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


def see_other_tables(witness: Witness, rng: np.random.Generator, effort: Effort) -> None:
    """Draw the rewards of all blocks anew, again and again: as long as releases stay the same, the
    plans must. A count of work is not charged for it.

    Raises:
        Leak: plans differ, in every replay. Of runs with coins nothing is said: other coins may
            make up for it.
        Foreign: other replays came out differently.
    """
    if witness.plans is None or witness.recorder.coins:
        return
    for done in range(TABLES):
        if done and effort.left() <= 0:
            break
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
