"""How decisions came about, kept for as long as the session is: so in few bytes, and nothing where
the last one says the same.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, Self, final

import numpy as np

from dpbandits.core.plan import Action

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


class PackedWay(NamedTuple):
    """The same, with its action packed and `UNKNOWN` for None."""

    action: bytes
    share: float
    learn: bool


def packed(how: HowChosen) -> PackedWay:
    action, propensity, learn = how
    return PackedWay(packed_action(action), UNKNOWN if propensity is None else propensity, learn)


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

    def add(self, since: int, way: PackedWay) -> None:
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

    def way(self, place: int) -> PackedWay:
        begin = self._ends[place - 1] if place else 0
        action = bytes(self._actions[begin : self._ends[place]])
        return PackedWay(action, self._shares[place], bool(self._learns[place]))

    def how(self, place: int) -> HowChosen:
        action, share, learn = self.way(place)
        return HowChosen(unpacked(action), None if share == UNKNOWN else share, learn)

    def at(self, id: int) -> HowChosen:
        """How this decision came about."""
        return self.how(bisect_right(self._starts, id) - 1)

    def newest(self) -> HowChosen:
        return self.how(len(self._starts) - 1)

    def runs(self, before: int) -> Iterator[tuple[int, int, HowChosen]]:
        """Of decisions before this one: each choice, its first decision, and the one after its
        last.
        """
        for since, until, place in self._spans(before):
            yield since, until, self.how(place)

    def ways(self, before: int) -> Iterator[tuple[int, PackedWay]]:
        """Choices that begin before this decision: the first of each, and how it is kept."""
        for since, _, place in self._spans(before):
            yield since, self.way(place)

    def needed_from(self, id: int) -> Self:
        """What says how decisions came about from this one on."""
        found = type(self)()
        for place in range(max(0, bisect_right(self._starts, id) - 1), len(self._starts)):
            found.add(self._starts[place], self.way(place))
        return found

    def _spans(self, before: int) -> Iterator[tuple[int, int, int]]:
        starts = self._starts
        for place in range(bisect_right(starts, before - 1)):
            until = starts[place + 1] if place + 1 < len(starts) else before
            yield starts[place], min(until, before), place
