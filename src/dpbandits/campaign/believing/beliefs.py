"""What is believed of every arm, from released values only: it costs no privacy, however often it
is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.believing.chances import chances_to_be_best
from dpbandits.campaign.believing.intervals import Interval, interval, released_mean
from dpbandits.campaign.believing.moments import NoiseMoments
from dpbandits.campaign.believing.naming import best_apart, more_people
from dpbandits.campaign.believing.rows import ReleasedRow
from dpbandits.campaign.ruler import Range
from dpbandits.core.inputs import real_number, shown
from dpbandits.core.tables import Tabular, in_columns

METHOD = (
    "The intervals hold for all arms and at all times at once with this confidence, whatever is "
    "decided from them; the chance to be best is a model's figure."
)


TOGETHER = (
    "Arms are played together, so none of them is named the best. Once every arm has a mean, "
    "policy.problem.best(means), of means in [0, 1], is the super arm that is best by them."
)


class Belief(NamedTuple):
    """One arm. None where nothing was released yet.

    people: how many rewards the released mean covers. low, high: the interval. chance_best: by a
        model (`campaign/believing/chances.py`), among the arms that are compared; one of which
        nothing was released may be anything, and takes its share.
    """

    label: str
    people: int
    mean: float | None
    low: float | None
    high: float | None
    chance_best: float | None


@final
@dataclass(frozen=True)
class Beliefs(Tabular):
    """A row for each arm, in their order; iterate over it.

    best: the label of the arm that is named the best with this confidence; None: not yet. more:
    about how many more people that takes, if means are as released and people are shared equally
    among the arms in question; None where nobody can say. changed: labels of arms whose intervals
    of different times have nothing in common: their mean has changed, as a rule. caution: where the
    declared range clips rewards, what that does to means. together: whether arms are played
    together, as super arms: then none of them is the best.
    """

    rows: tuple[Belief, ...]
    confidence: float
    best: str | None
    more: int | None
    changed: tuple[str, ...] = ()
    caution: str | None = None
    together: bool = False

    def __iter__(self) -> Iterator[Belief]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, label: str | int) -> Belief:
        """A row, by its label or its place."""
        if isinstance(label, str):
            found = [row for row in self.rows if row.label == label]
            if not found:
                labels = ", ".join(repr(row.label) for row in self.rows[:10])
                raise KeyError(f"Expected the label of an arm, of {labels}; got {shown(label)}.")
            return found[0]
        return self.rows[label]

    @property
    def advice(self) -> str:
        """What these beliefs allow to say of the best arm."""
        if self.together:
            return TOGETHER
        at = f"at {self.confidence:.4g}".replace("at 0.", "at .")
        if self.best is not None:
            return f"The best arm is named {at} confidence: {self.best}."
        if self.more is not None:
            people = f"about {self.more:,} more people would take that, if means stay as released"
            return f"No arm is named the best {at} confidence yet; {people}."
        return f"No arm is named the best {at} confidence yet."

    def __str__(self) -> str:
        notes = [self.advice, METHOD]
        if self.changed:
            notes.append(f"The mean of {', '.join(self.changed)} has changed meanwhile.")
        if self.caution:
            notes.append(self.caution)
        if self.together:
            notes[1] = METHOD.partition(";")[0] + "."
        return "\n".join((text_of_rows(self.rows, chances=not self.together), *notes))

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self.rows, Belief)


def beliefs(
    history: Believed,
    confidence: float = 0.95,
    *,
    ruler: Range | None = None,
    among: Sequence[int] | None = None,
    together: bool = False,
) -> Beliefs:
    """What is believed of every arm after these releases.

    Args:
        confidence: that all intervals of all arms hold, at all times together.
        ruler: the user's units, for means and intervals; by default [0, 1].
        among: arms that are compared, for the chance to be best and the advice; by default all.
        together: whether arms are played together, as super arms: then none is compared.

    Raises:
        ValueError: a confidence outside (0, 1), or an arm that is none.
    """
    confidence = checked_confidence(confidence)
    delta, caution = 1.0 - confidence, None if ruler is None else ruler.caution
    if together:
        among = ()
    compared = range(len(history.arms)) if among is None else checked_arms(history, among)
    law = history.reader.law
    if law is None:
        rows = tuple(Belief(arm.label, 0, None, None, None, None) for arm in history.arms)
        return Beliefs(rows, confidence, None, None, caution=caution, together=together)
    noise = NoiseMoments(law)
    found = {arm: interval(history, arm, delta, noise) for arm in range(len(history.arms))}
    known = {arm: each for arm, each in found.items() if each is not None}
    newest = {arm: row for arm in compared if (row := history.arms[arm].newest) is not None}
    unseen = [arm for arm in compared if arm not in newest]
    chances = chances_to_be_best(history, newest, law, unseen)
    rows = tuple(
        belief(history, arm, known.get(arm), chances.get(arm), ruler or Range())
        for arm in range(len(history.arms))
    )
    intervals = {arm: known[arm] for arm in newest}
    if unseen:  # one of them may be the best: nobody is named, and nobody knows when
        return Beliefs(rows, confidence, None, None, changed_of(history, intervals), caution)
    if together:
        changed = changed_of(history, known)
        return Beliefs(rows, confidence, None, None, changed, caution, together)
    return replace(advised(history, rows, confidence, intervals, newest, noise), caution=caution)


def advised(
    history: Believed,
    rows: tuple[Belief, ...],
    confidence: float,
    intervals: dict[int, Interval],
    newest: dict[int, ReleasedRow],
    noise: NoiseMoments,
) -> Beliefs:
    """The rows with what they allow to say."""
    best = best_apart(intervals)
    more = None
    if best is None:
        more = more_people(history, newest, intervals, 1.0 - confidence, noise)
    named = None if best is None else history.arms[best].label
    return Beliefs(rows, confidence, named, more, changed_of(history, intervals))


def changed_of(history: Believed, intervals: dict[int, Interval]) -> tuple[str, ...]:
    """Labels of the arms whose mean has changed."""
    return tuple(history.arms[arm].label for arm, each in intervals.items() if each.changed)


def belief(
    history: Believed, arm: int, found: Interval | None, chance: float | None, ruler: Range
) -> Belief:
    """An arm's row, in the user's units."""
    label, _, _, row = history.arms[arm]
    if row is None or found is None:
        return Belief(label, 0, None, None, None, None)
    mean = released_mean(history, row)
    low, high = sorted(map(ruler.from_unit, found[:2]))
    return Belief(label, row.rounds, ruler.from_unit(mean), low, high, chance)


def checked_confidence(value: object) -> float:
    """A confidence, as a plain number."""
    confidence = real_number(value)
    if confidence is None or not 0.0 < confidence < 1.0:
        raise ValueError(
            f"Expected confidence={shown(value)} to be a number between 0 and 1, for example .95."
        )
    return float(confidence)


def checked_arms(history: Believed, among: Sequence[int]) -> list[int]:
    wanted = list(among)
    if not all(type(arm) is int and 0 <= arm < len(history.arms) for arm in wanted):
        raise ValueError(f"Expected among={shown(among)} to be numbers of arms.")
    return wanted


def text_of_rows(rows: Sequence[Belief], *, chances: bool = True) -> str:
    """Rows as a table of text, a line each. chances: whether with the last column."""
    head = ("arm", "people", "mean", "low", "high", "best?")
    cells = [head, *(cells_of(row) for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(head) - (not chances))]
    lines = [zip(line, widths, strict=False) for line in cells]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in line) for line in lines)


def cells_of(row: Belief) -> tuple[str, ...]:
    """A row as text."""
    numbers = (row.mean, row.low, row.high)
    chance = "" if row.chance_best is None else f"{row.chance_best:.2f}"
    shown_numbers = ("" if number is None else f"{number:.4g}" for number in numbers)
    return (row.label, f"{row.people:,}", *shown_numbers, chance)
