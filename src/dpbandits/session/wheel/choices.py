"""How each decision came about, for analysts: which arm, and how likely it was when it was made.
Rewards are not in it, for they are not kept.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, final

from dpbandits.campaign.watching.answers import Answers, Unanswered
from dpbandits.core.plan import Action
from dpbandits.core.tables import frame_of
from dpbandits.core.values import damaged, entries, whole
from dpbandits.policies.labels import ArmLabel, ArmLabels


class HowChosen(NamedTuple):
    """Of decisions from one on, up to the next choice. propensity: how likely the action was, given
    all that was released; None where it was drawn from a posterior.
    """

    action: Action
    propensity: float | None
    learn: bool


class DecisionRow(NamedTuple):
    """One decision. propensity: 1 where the policy's plan settled the action; None where it was
    drawn from a posterior, whose probabilities are not worked out, or from a law that depends on
    such a draw (`min_share=`). waiting: no answer yet.
    """

    id: int
    action: Action
    label: ArmLabel
    propensity: float | None
    learn: bool
    waiting: bool


class SegmentDecision(NamedTuple):
    """One decision of one segment: see `DecisionRow`."""

    segment: str
    id: int
    action: Action
    label: ArmLabel
    propensity: float | None
    learn: bool
    waiting: bool


@final
@dataclass(frozen=True)
class DecisionTable:
    """All decisions of a session, oldest first; iterate over it."""

    asked: int
    chosen: Mapping[int, HowChosen]
    waiting: Collection[int]
    labels: ArmLabels

    def __len__(self) -> int:
        return self.asked

    def __iter__(self) -> Iterator[DecisionRow]:
        starts = sorted(self.chosen)
        for id in range(1, self.asked + 1):
            choice = self.chosen[starts[bisect_right(starts, id) - 1]]
            label = self.labels.of(choice.action)
            yield DecisionRow(id, choice.action, label, *choice[1:], id in self.waiting)

    def __repr__(self) -> str:
        return f"{self.asked:,} decisions, {len(self.waiting):,} of them waiting"

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`.

        Raises:
            ImportError: polars is not installed.
        """
        return frame_of(self._columns(), "polars")

    def to_pandas(self) -> Any:
        """As a `pandas.DataFrame`.

        Raises:
            ImportError: pandas is not installed.
        """
        return frame_of(self._columns(), "pandas")

    def _columns(self) -> dict[str, list[Any]]:
        rows = list(self)
        return {name: [getattr(row, name) for row in rows] for name in DecisionRow._fields}


def answers_in(
    chosen: Mapping[int, HowChosen], unanswered: Unanswered, before: int, arms: int
) -> Answers:
    """How many decisions of each arm were answered, among those that came before this one. What
    nobody learns from is left out.
    """
    starts = sorted(since for since in chosen if since < before)
    told, missing = [0] * arms, [0] * arms
    for since, until in pairwise([*starts, before]):
        arm, _, learn = chosen[since]
        if isinstance(arm, int) and learn:
            told[arm] += until - since
    for ids, instead in ((unanswered.expired, missing), (unanswered.void, None)):
        for id in (each for each in ids if each < before):
            arm, _, learn = chosen[starts[bisect_right(starts, id) - 1]]
            if isinstance(arm, int) and learn:
                told[arm] -= 1
                if instead is not None:
                    instead[arm] += 1
    return Answers(tuple(told), tuple(missing))


def chosen_to_data(chosen: Mapping[int, HowChosen], asked: int) -> list[list[Any]]:
    """Plain data, for JSON; what would say the same again is left out."""
    rows, last = list[list[Any]](), None
    for since in sorted(chosen):
        if since <= asked + 1 and chosen[since] != last:
            last = chosen[since]
            rows.append([since, *last])
    return rows


def chosen_from_data(data: object, asked: int, action_of: Any) -> dict[int, HowChosen]:
    """What `chosen_to_data` wrote. action_of: reads an action of the policy's."""
    chosen, last = dict[int, HowChosen](), 0
    for row in entries(data, "public.chosen"):
        since, action, propensity, learn = entries(row, "an entry of public.chosen", 4)
        last = whole(since, "a decision in public.chosen", last + 1, asked + 1)
        fits = propensity is None or (type(propensity) in (int, float) and 0 <= propensity <= 1)
        if not fits or not isinstance(learn, bool):
            raise damaged("an entry of public.chosen has no probability")
        chosen[last] = HowChosen(action_of(action), propensity, learn)
    if asked and 1 not in chosen:
        raise damaged("public.chosen does not begin with the first decision")
    return chosen
