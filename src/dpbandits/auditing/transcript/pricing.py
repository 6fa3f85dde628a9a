"""Which neighbours of the runs are replayed, and what that proves: the least and the largest
possible loss, and the loss that is certified by outcomes that were seen.

Nothing is said of a pair before it was replayed again and again with the same result.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpbandits.auditing.effort import Effort, Seconds, Work
from dpbandits.auditing.mechanism_policy import Feeding
from dpbandits.auditing.transcript.neighbours import SHORT, AuditRun, record_changes
from dpbandits.auditing.transcript.outside_randomness import OWN_COINS
from dpbandits.auditing.transcript.shown_noise import ADDED, log_ratio
from dpbandits.auditing.transcript.witness import Witness
from dpbandits.checks.tape import RecordedDraw, loss
from dpbandits.core.errors import Foreign, Unclear, Undecided

SLACK = Fraction(1, 10**9)
"""The error of the logarithm of a ratio of two floats."""


LEAST = 12
"""The pairs that are replayed in every run, even if no work is left. For these pairs, and for some
others, the policy is asked for its plans again.
"""

SEARCH = 0.7
"""The share of a budget of seconds that the search may take. The rest is for prices, and for
replaying again what was found.
"""

OTHERS = 16

KEPT = 8
"""The most pairs of a run that are priced: one for each size of loss, the largest first."""


class Pair(NamedTuple):
    """Two reward tables that differ in one record, in block `event` of a run, by `change` grid
    steps.

    outcome: the log-ratio of what was seen, in whichever direction it is larger, if it is known.
    """

    loss: Fraction
    outcome: float
    round: int
    event: int
    change: tuple[int, ...]


def pair_of(witness: Witness, event: int, change: Any, after: list[RecordedDraw]) -> Pair:
    ratio = log_ratio(witness.draws, after)
    try:
        outcome = 0.0 if ratio is None else abs(float(ratio))
    except OverflowError:
        raise Foreign("It draws noise at an ε larger than any float: no price.") from None
    return Pair(
        loss(witness.draws, after),
        outcome,
        witness.begins(event),
        event,
        tuple(np.atleast_1d(change).tolist()),
    )


def change_of(change: tuple[int, ...]) -> Any:
    return np.array(change) if len(change) > 1 else change[0]


class Found(NamedTuple):
    """What one run's replays showed."""

    witness: Witness
    pairs: int
    of: int
    worst: tuple[Pair, ...]  # largest loss first
    unclear: str  # why of some neighbours nothing can be said; empty: of all something can


class Case(NamedTuple):
    """A pair, the run that it belongs to, and the draws with which the neighbour gives the same
    answers.
    """

    pair: Pair
    witness: Witness
    after: list[RecordedDraw]

    def confirm(self) -> None:
        self.witness.confirm(self.pair.event, change_of(self.pair.change), self.after)

    def outcome(self) -> Fraction | None:
        """The log-ratio of the outcome that was seen, in whichever direction it is larger; None if
        it is not known.
        """
        ratio = log_ratio(self.witness.draws, self.after)
        if ratio is None or isinstance(ratio, Fraction):
            return None if ratio is None else abs(ratio)
        return max(Fraction(0), Fraction(abs(ratio)) - SLACK)


def case_of(pair: Pair, witness: Witness) -> Case:
    after = witness.replayed(pair.event, change_of(pair.change))
    if loss(witness.draws, after) != pair.loss:
        raise Foreign(OWN_COINS)
    return Case(pair, witness, after)


class Priced(NamedTuple):
    """The largest loss of the answers is at least `least`, and at most `most` (None: not known).
    case: the pair that shows most.
    """

    least: Fraction
    most: Fraction | None
    case: Case


def priced(runs: list[Found]) -> Priced:
    """The loss of the answers, worked out from the loss of the draws. Pairs are taken by falling
    loss of the draws, until that loss is no more than what is certain already.
    """
    runs = sorted(runs, key=lambda run: len(run.witness.draws))
    pairs = sorted(
        ((pair, run.witness) for run in runs for pair in run.worst), key=lambda case: -case[0].loss
    )
    found = Priced(Fraction(0), Fraction(0), case_of(*pairs[0]))
    for pair, witness in pairs:
        if pair.loss <= found.least:
            break
        case = case_of(pair, witness)
        least, most = price(case)
        found = Priced(
            max(least, found.least),
            None if most is None or found.most is None else max(most, found.most),
            case if least > found.least else found.case,
        )
    if found.least:
        found.case.confirm()
    if any(run.unclear or (run.witness.self_adding and run.witness.sums is None) for run in runs):
        # what noise would have to do to keep the answers is not known
        return found._replace(most=None)
    return found


def price(case: Case) -> tuple[Fraction, Fraction | None]:
    """The least and the largest loss of the answers. If noise is added and shown, both are the loss
    of the draws. Of a selection, the outcome that was seen is certain. Of questions to a threshold,
    both are the price in the proof.
    """
    pair, witness = case.pair, case.witness
    if witness.shown:
        chosen = any(draw.family.startswith("select") for draw in witness.draws)
        return (case.outcome() or Fraction(0)) if chosen else pair.loss, pair.loss
    if witness.sums is None:
        return Fraction(0), pair.loss
    try:
        told = witness.sums.loss(case.after)
    except Undecided:
        return Fraction(0), pair.loss
    most = pair.loss if told.most is None else min(pair.loss, told.most)
    return min(told.least, most), most


def certified_loss(runs: list[Found], found: Priced) -> float:
    """The log-ratio of an outcome that was seen. Of a bare mechanism, also the loss that added
    noise shows in its tails.
    """
    sure = isinstance(found.case.witness.run.policy, Feeding) and all(
        draw.family in ADDED for draw in found.case.witness.draws
    )
    certain, best = found.least if sure else Fraction(0), None
    for run in sorted(runs, key=lambda run: len(run.witness.draws)):
        for pair in run.worst:
            if certain >= found.least or pair.loss <= certain or not run.witness.shown:
                break  # no outcome tells more than the loss
            case = case_of(pair, run.witness)
            if (told := case.outcome() or Fraction(0)) > certain:
                certain, best = told, case
    if best is not None:
        best.confirm()
    return float(certain)


def unbounded(runs: list[Found]) -> bool:
    """Whether some answer shows Gaussian noise that a record moves. Far out in its tails this noise
    exceeds every epsilon.
    """
    for run in runs:
        for pair in run.worst if run.witness.shown else ():
            case = case_of(pair, run.witness)
            moved = [
                (a.noisy - a.value) != (b.noisy - b.value)
                for a, b in zip(run.witness.draws, case.after, strict=True)
                if a.family == "gaussian"
            ]
            if any(moved):
                case.confirm()
                return True
    return False


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
