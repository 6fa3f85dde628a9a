"""What the neighbours that were replayed prove: the least and the largest possible loss, and the
loss that is certified by outcomes that were seen.

Nothing is said of a pair before it was replayed again and again with the same result.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpbandits.auditing.mechanism_policy import Feeding
from dpbandits.auditing.transcript.outside_randomness import OWN_COINS
from dpbandits.auditing.transcript.shown_noise import ADDED, log_ratio
from dpbandits.auditing.transcript.witness import Witness
from dpbandits.checks.tape import RecordedDraw, loss
from dpbandits.core.errors import Foreign, Undecided

SLACK = Fraction(1, 10**9)
"""The error of the logarithm of a ratio of two floats."""


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
    others: tuple[Pair, ...] = ()  # the rest, by falling loss: of their draws, like all of these

    @property
    def asked(self) -> int:
        """Pairs in which the policy was asked for all its plans again: all, or, where it draws them
        from a source of its own, none.
        """
        return 0 if self.witness.plans is None else self.pairs


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
    found = with_others(found, runs)
    if found.least:
        found.case.confirm()
    if any(run.unclear or (run.witness.self_adding and run.witness.sums is None) for run in runs):
        # what noise would have to do to keep the answers is not known
        return found._replace(most=None)
    return found


def with_others(found: Priced, runs: list[Found]) -> Priced:
    """The same with the pairs that are not among the worst of their run. Answers may hide the
    draws of one pair and show those of another, though these cost as much or less.
    """
    pairs = sorted(
        ((pair, run.witness) for run in runs for pair in run.others),
        key=lambda case: -case[0].loss,
    )
    for pair, witness in pairs:
        if found.most is None or pair.loss <= found.most:
            break
        case = case_of(pair, witness)
        least, most = price(case)
        found = Priced(
            max(least, found.least),
            None if most is None else max(most, found.most),
            case if least > found.least else found.case,
        )
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
