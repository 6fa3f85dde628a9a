"""How each decision was chosen: which action, and how likely it was. Public, for analysts.

`KeptChoices` keeps it for as long as a session lives: one entry for each run of decisions that were
chosen alike, in columns. `DecisionTable` shows it.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, NamedTuple, final

import numpy as np
from msgspec import Meta, Struct

from dpbandits.core.inputs import Count, converted, damaged, whole
from dpbandits.core.plan import Action
from dpbandits.core.tables import Tabular, in_columns
from dpbandits.policies.contract import ArmLabel, ArmLabels

ARM, MASK, LISTED, WEIGHTS = range(4)
"""How an action is packed, by its first byte: an arm; a super arm as one bit for each arm, or as
its arms where those are fewer bytes; a weight for each arm.
"""

UNKNOWN = -1.0
"""In place of a probability that nobody worked out."""


class HowChosen(NamedTuple):
    """Of decisions from one on, up to the next choice. propensity: how likely the action was, given
    all that was released; None where it was drawn from a posterior.
    """

    action: Action
    propensity: float | None
    learn: bool


class PackedChoice(NamedTuple):
    """The same, with its action packed and `UNKNOWN` for None."""

    action: bytes
    share: float
    learn: bool


def packed(how: HowChosen) -> PackedChoice:
    action, propensity, learn = how
    return PackedChoice(packed_action(action), UNKNOWN if propensity is None else propensity, learn)


def packed_action(action: Action) -> bytes:
    if not isinstance(action, tuple):
        arm = int(action)  # a policy of the caller's own may name it by a number of NumPy's
        return bytes((ARM,)) + arm.to_bytes(arm.bit_length() // 8 + 1, "little", signed=True)
    if any(isinstance(each, float) for each in action):
        return bytes((WEIGHTS,)) + np.array(action, "<f8").tobytes()
    arms = np.array(action, "<i8")
    # one bit for each arm up to the last, or 64 for each that is in it
    if (
        len(arms)
        and arms[0] >= 0
        and arms[-1] < 64 * len(arms)
        and all(a < b for a, b in pairwise(action))
    ):
        bits = np.zeros(int(arms[-1]) + 1, bool)
        bits[arms] = True
        return bytes((MASK,)) + np.packbits(bits, bitorder="little").tobytes()
    return bytes((LISTED,)) + arms.tobytes()


def unpacked(action: bytes) -> Action:
    """The action that was packed.

    Raises:
        ValueError: these bytes are none.
    """
    kind, rest = action[:1], action[1:]
    if kind == bytes((ARM,)):
        return int.from_bytes(rest, "little", signed=True)
    if kind == bytes((MASK,)):
        bits = np.unpackbits(np.frombuffer(rest, np.uint8), bitorder="little")
        return tuple(np.flatnonzero(bits).tolist())
    if kind not in (bytes((LISTED,)), bytes((WEIGHTS,))):
        raise ValueError("Expected a packed action.")
    return tuple(np.frombuffer(rest, "<i8" if kind[0] == LISTED else "<f8").tolist())


@final
class KeptChoices:
    """Choices, oldest first, in columns: the decision each begins with, its probability, whether
    anybody learns from it, and where its action ends among the packed ones.

    A choice counts once its first decision is written, which is done last and undone first. So an
    interruption leaves the other columns too long at most, and the next change cuts them.
    """

    __slots__ = ("_actions", "_ends", "_learns", "_shares", "_starts")

    def __init__(self) -> None:
        self._starts, self._shares = array("q"), array("d")
        self._learns, self._ends, self._actions = bytearray(), array("q"), bytearray()

    def __len__(self) -> int:
        return len(self._starts)

    def note(self, since: int, how: HowChosen) -> None:
        """How decisions come about from this one on. What was said of it, and of later ones, is
        forgotten.
        """
        self.add(since, packed(how))

    def add(self, since: int, way: PackedChoice) -> None:
        self.forget_from(since)
        if self._starts and self.way(len(self._starts) - 1) == way:
            return
        self._actions += way.action
        self._ends.append(len(self._actions))
        self._learns.append(way.learn)
        self._shares.append(way.share)
        self._starts.append(since)

    def forget_from(self, id: int) -> None:
        """Forget choices that begin with this decision, or later."""
        starts = self._starts
        while starts and starts[-1] >= id:
            starts.pop()
        count = len(starts)
        for column in (self._shares, self._learns, self._ends):
            del column[count:]
        del self._actions[self._ends[-1] if count else 0 :]

    @property
    def first(self) -> int | None:
        """The first decision of which it is known; None where there is none."""
        return self._starts[0] if self._starts else None

    def way(self, place: int) -> PackedChoice:
        begin = self._ends[place - 1] if place else 0
        action = bytes(self._actions[begin : self._ends[place]])
        return PackedChoice(action, self._shares[place], bool(self._learns[place]))

    def how(self, place: int) -> HowChosen:
        action, share, learn = self.way(place)
        return HowChosen(unpacked(action), None if share == UNKNOWN else share, learn)

    def at(self, id: int) -> HowChosen:
        """How this decision came about."""
        return self.how(bisect_right(self._starts, id) - 1)

    def runs(self, before: int) -> Iterator[tuple[int, int, HowChosen]]:
        """Of decisions before this one: each choice, its first decision, and the one after its
        last.
        """
        for since, until, place in self._spans(before):
            yield since, until, self.how(place)

    def ways(self, before: int) -> Iterator[tuple[int, PackedChoice]]:
        """Choices that begin before this decision: the first of each, and how it is kept."""
        for since, _, place in self._spans(before):
            yield since, self.way(place)

    def _spans(self, before: int) -> Iterator[tuple[int, int, int]]:
        starts = self._starts
        for place in range(bisect_right(starts, before - 1)):
            until = starts[place + 1] if place + 1 < len(starts) else before
            yield starts[place], min(until, before), place


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


def chosen_to_data(chosen: KeptChoices, asked: int) -> dict[str, Any]:
    """Plain data, for JSON: the ways that a decision came about, each once; and by choice, how many
    decisions after the last one it begins, and the number of its way.
    """
    numbers, runs, last = dict[PackedChoice, int](), list[int](), 0
    for since, way in chosen.ways(asked + 1):
        runs += since - last, numbers.setdefault(way, len(numbers))
        last = since
    return {"ways": [choice_to_data(way) for way in numbers], "runs": runs}


def choice_to_data(way: PackedChoice) -> list[Any]:
    """Super arms are written as they are packed, in hexadecimal digits."""
    packs = way.action[0] in (MASK, LISTED)
    action = way.action.hex() if packs else unpacked(way.action)
    return [action, None if way.share == UNKNOWN else way.share, way.learn]


ActionOf = Callable[[object], Action]
"""Reads an action of the policy's."""


def chosen_from_data(data: object, asked: int, action_of: ActionOf) -> KeptChoices:
    """Return what `chosen_to_data` wrote.

    Raises:
        DamagedSessionError: it is not that.
    """
    chosen, last = KeptChoices(), 0
    for since, way in choices_from_data(data, action_of):
        last = whole(since, "a decision in public.chosen", last + 1, asked)
        chosen.add(last, way)
    if asked and chosen.first != 1:
        raise damaged("public.chosen does not begin with the first decision")
    return chosen


def choices_from_data(data: object, action_of: ActionOf) -> Iterator[tuple[int, PackedChoice]]:
    saved, since = converted(data, ChosenData, "public.chosen"), 0
    ways = [
        packed(HowChosen(action_of(super_arm_in(action)), share, learn))
        for action, share, learn in saved.ways
    ]
    gaps, numbers = saved.runs[::2], saved.runs[1::2]
    fits = len(gaps) == len(numbers) and max(numbers, default=-1) < len(ways)
    if not fits or min(gaps, default=1) < 1:
        raise damaged("public.chosen has an entry that says no way")
    for gap, number in zip(gaps, numbers, strict=True):
        since += gap
        yield since, ways[number]


class ChosenData(Struct):
    """`KeptChoices`, of a saved session (see `chosen_to_data`)."""

    ways: list[tuple[Any, Annotated[float, Meta(ge=0, le=1)] | None, bool]]
    runs: list[Count]


def super_arm_in(action: object) -> object:
    """A super arm out of its digits; any other action as it is."""
    if not isinstance(action, str):
        return action
    try:
        action_of_bytes = unpacked(bytes.fromhex(action))
    except ValueError:
        action_of_bytes = 0
    if not isinstance(action_of_bytes, tuple):
        raise damaged("an entry of public.chosen has no super arm")
    return action_of_bytes
