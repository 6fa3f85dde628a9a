"""How each decision came about, for analysts: which arm, and how likely it was when it was made.
Rewards are not in it, for they are not kept.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from dpbandits.campaign.watching.answers import Answers, Unanswered
from dpbandits.core.plan import Action
from dpbandits.core.tables import Tabular, in_columns
from dpbandits.core.values import damaged, entries, part, whole
from dpbandits.policies.labels import ArmLabel, ArmLabels
from dpbandits.session.wheel.chosen import (
    LISTED,
    MASK,
    UNKNOWN,
    HowChosen,
    KeptChoices,
    PackedWay,
    packed,
    unpacked,
)


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
class DecisionTable(Tabular):
    """All decisions of a session, oldest first; iterate over it."""

    asked: int
    chosen: KeptChoices
    waiting: Collection[int]
    labels: ArmLabels

    def __len__(self) -> int:
        return self.asked

    def __iter__(self) -> Iterator[DecisionRow]:
        for since, until, (action, propensity, learn) in self.chosen.runs(self.asked + 1):
            label = self.labels.of(action)
            for id in range(since, until):
                yield DecisionRow(id, action, label, propensity, learn, id in self.waiting)

    def __repr__(self) -> str:
        return f"{self.asked:,} decisions, {len(self.waiting):,} of them waiting"

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self, DecisionRow)


def answers_in(chosen: KeptChoices, unanswered: Unanswered, before: int, arms: int) -> Answers:
    """How many decisions of each arm were answered, among those that came before this one. What
    nobody learns from is left out.
    """
    told, missing = [0] * arms, [0] * arms
    for since, until, (arm, _, learn) in chosen.runs(before):
        if isinstance(arm, int) and learn:
            told[arm] += until - since
    for ids, instead in ((unanswered.expired, missing), (unanswered.void, None)):
        for id in (each for each in ids.copy() if each < before):  # others may tell meanwhile
            arm, _, learn = chosen.at(id)
            if isinstance(arm, int) and learn:
                told[arm] -= 1
                if instead is not None:
                    instead[arm] += 1
    return Answers(tuple(told), tuple(missing))


def chosen_to_data(chosen: KeptChoices, asked: int) -> dict[str, Any]:
    """Plain data, for JSON: the ways that a decision came about, each once; and by choice, how many
    decisions after the last one it begins, and the number of its way.
    """
    numbers, runs, last = dict[PackedWay, int](), list[int](), 0
    for since, way in chosen.ways(asked + 2):
        runs += since - last, numbers.setdefault(way, len(numbers))
        last = since
    return {"ways": [way_to_data(way) for way in numbers], "runs": runs}


def way_to_data(way: PackedWay) -> list[Any]:
    """Super arms are written as they are packed, in hexadecimal digits."""
    packs = way.action[0] in (MASK, LISTED)
    action = way.action.hex() if packs else unpacked(way.action)
    return [action, None if way.share == UNKNOWN else way.share, way.learn]


ActionOf = Callable[[object], Action]
"""Reads an action of the policy's."""


def chosen_from_data(data: object, asked: int, action_of: ActionOf) -> KeptChoices:
    """What `chosen_to_data` wrote; or rows of (first decision, action, propensity, learn), which is
    how a durable host keeps the newest choice.
    """
    chosen, last = KeptChoices(), 0
    for since, way in (
        ways_in_rows(data, action_of) if isinstance(data, list) else ways_in_runs(data, action_of)
    ):
        last = whole(since, "a decision in public.chosen", last + 1, asked + 1)
        chosen.add(last, way)
    if asked and chosen.first != 1:
        raise damaged("public.chosen does not begin with the first decision")
    return chosen


def ways_in_rows(data: list[Any], action_of: ActionOf) -> Iterator[tuple[object, PackedWay]]:
    for row in data:
        since, action, *rest = entries(row, "an entry of public.chosen", 4)
        yield since, way_from(action_of(action), *rest)


def ways_in_runs(data: object, action_of: ActionOf) -> Iterator[tuple[int, PackedWay]]:
    found = part(data, "public.chosen", "ways", "runs")
    ways, since = list[PackedWay](), 0
    for row in entries(found["ways"], "public.chosen"):
        action, *rest = entries(row, "an entry of public.chosen", 3)
        ways.append(way_from(action_of(super_arm_in(action)), *rest))
    runs = entries(found["runs"], "public.chosen")
    if len(runs) % 2 or (runs and not ways):
        raise damaged("public.chosen has an entry that says no way")
    for gap, number in zip(runs[::2], runs[1::2], strict=True):
        since += whole(gap, "a number in public.chosen", 1)
        yield since, ways[whole(number, "a number in public.chosen", 0, len(ways) - 1)]


def super_arm_in(action: object) -> object:
    """A super arm out of its digits; any other action as it is."""
    if not isinstance(action, str):
        return action
    try:
        found = unpacked(bytes.fromhex(action))
    except ValueError:
        found = 0
    if not isinstance(found, tuple):
        raise damaged("an entry of public.chosen has no super arm")
    return found


def way_from(action: Action, propensity: Any, learn: Any) -> PackedWay:
    fits = propensity is None or (type(propensity) in (int, float) and 0 <= propensity <= 1)
    if not fits or not isinstance(learn, bool):
        raise damaged("an entry of public.chosen has no probability")
    return packed(HowChosen(action, propensity, learn))
