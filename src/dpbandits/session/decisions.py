"""Decisions: what they play, the search for the one that a tell or an expiry is about, and how each
was chosen.

Errors of the search repeat nothing of their arguments: if the arguments of `tell` were swapped, the
argument in the place of the decision is the reward.
"""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from numbers import Integral
from struct import Struct as Packer
from types import GeneratorType
from typing import Annotated, Any, NamedTuple, final
from uuid import UUID

import numpy as np
from msgspec import Meta, Struct

from dpbandits.core.errors import DecisionError, MessageError, coded
from dpbandits.core.inputs import Count
from dpbandits.core.plan import Action
from dpbandits.core.tables import Tabular, in_columns
from dpbandits.local.messages import decision_to_json
from dpbandits.mechanisms.base import NEW
from dpbandits.mechanisms.rewards import PLAIN, read_or_none
from dpbandits.policies.contract import ArmLabel, ArmLabels

PENDING = 100_000
"""Decisions that may wait for their rewards, unless a session is made with another
`max_pending`.
"""

MOST_PENDING = 10**7
"""Decisions that may ever wait for their rewards at a time: more than that would fill a machine's
memory.
"""


User = str | int | UUID | None
"""Who a decision is for, where people come back."""

Eligible = Iterable[str | int] | None
"""Arms by their names or numbers; None: all that are in play."""


class Decision(NamedTuple):
    """A requested decision: play `action`, and record the reward under `id`. Public.

    action: an arm's number; of a super arm the numbers of its arms, a tuple; for a policy that
        spreads its stake (`weighted`) the weight of every arm, a tuple.
    observe: after a super arm, the arms whose rewards are to be told, in this order; else None.
    round: counted from 1.
    campaign: the session that asked; another one does not take it.
    label: the name of the arm; of a super arm a tuple of names; None where arms have no names.
    learn: whether its reward counts; one that does not is taken and never read.

    Type checkers take an action for any value, a label for a text and `observe` for a tuple,
    whatever the policy.
    """

    id: int
    action: Any
    round: int
    observe: tuple[int, ...] | Any = None
    campaign: str = ""
    label: str | Any = None
    learn: bool = True

    def to_json(self) -> str:
        """The message for the user's device (`dpbandits.local.client`).

        Raises:
            MessageError: nobody learns from this decision (`learn` is False), so no device reports
            on it: each report costs its user, whether it is read or not.
        """
        if not self.learn:
            raise MessageError(
                "Expected a decision that is learned from, got one with learn=False: a report on "
                "it would cost its user as much as any other. Send none, and expire the decision."
            )
        return decision_to_json(self.id, self.action, self.observe, campaign=self.campaign)


CountedAs = Any
"""What a decision is counted as: its arm, the arms it observes, or the number of its joint plan."""


class Play(Struct, frozen=True):
    """What a decision plays; decisions of one plan share it.

    Args:
        action: an arm, a super arm, or a weight for every arm.
        observe: after a super arm, the arms whose rewards are told, in this order.
        label: the name of the arm, or of each arm of a super arm.
        counted_as: what the decision is counted as.
        learn: False if its reward is never read.
        propensity: how likely the action was; None if it was drawn from a posterior.
        kept: of a joint plan, the positions in a record that will be released, in that order.
        context: of a contextual policy, until the reward is recorded.
    """

    action: Action
    observe: tuple[int, ...] | None
    label: ArmLabel
    counted_as: CountedAs
    learn: bool = True
    propensity: float | None = 1.0
    kept: tuple[int, ...] | None = None
    context: Any = None

    def decision(self, id: int, campaign: str) -> Decision:
        """Return the decision of this id."""
        fields = id, self.action, id, self.observe, campaign, self.label, self.learn
        return NEW(Decision, fields)


Pending = Mapping[int, Play]


def is_unchanged(decision: tuple[object, ...], made: tuple[object, ...]) -> bool:
    """Return whether a decision is as it was made. Values of user-defined types, which may run
    code, are not compared.
    """
    for value, known in zip(decision, made, strict=False):  # names of arms do not matter
        if value is not known and not (plain_field(value) and value == known):
            return False
    return True


def plain_field(value: object) -> bool:
    return PLAIN.issuperset(map(type, value)) if type(value) is tuple else type(value) in PLAIN


def whole_id(value: object) -> int:
    """Return an integer of any kind (NumPy's, too) as an int; 0 for anything else."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else 0


def require_user(people: object | None, user: User) -> None:
    """Refuse a decision that does not say for whom it is, or says so where nobody counts.

    Args:
        people: counts them; None: nobody does.

    Raises:
        ValueError: so it is.
    """
    if people is not None and user is None:
        raise coded(
            "user_missing",
            ValueError,
            "Expected user=: this session promises something to each user, so it has to know whose "
            "decision it is. None was made.",
        )
    if people is None and user is not None:
        raise coded(
            "user_unexpected",
            ValueError,
            "Expected no user=: this session counts each reward as another person's. Make it with "
            "privacy_unit='user' and max_contributions=. None was made.",
        )


def unknown_decision(
    decision: object, id: int, pending: Pending, asked: int, campaign: str
) -> DecisionError:
    if type(decision) is Decision and not is_unchanged((decision.campaign,), (campaign,)):
        return DecisionError(
            "Expected a decision of this session, got another session's (its campaign differs). "
            "Nothing was recorded."
        )
    if id in pending:
        return DecisionError(
            "Expected a decision as this session made it, got one with another action, round or "
            "arms to observe: was it changed? "
            "Nothing was recorded."
        )
    if 0 < id <= asked:
        return already_resolved()
    got = (
        "a number that is none of them"
        if type(decision) in (int, Decision)
        else f"an object of type {type(decision).__name__}"
    )
    return DecisionError(
        f"Expected a decision this session made, or its id (1 to {asked}), got {got}. Where "
        "there is a reward, the decision "
        "comes first. Nothing was recorded."
    )


def swapped_arguments() -> DecisionError:
    """Return the error for swapped arguments. The first one is then a reward, which may look like
    an id: so the error does not say whether it is a known id.
    """
    return DecisionError(
        "Expected a decision and its reward, got a decision as the reward. The decision comes "
        "first. Nothing was recorded."
    )


def already_resolved() -> DecisionError:
    return DecisionError(
        "This decision is resolved already: each is told or expired once. Nothing was recorded."
    )


# Pairs

Pair = tuple[Any, object]
"""A decision, or its id, and its reward."""

RUNS_HERE = (GeneratorType, map, filter, str)
"""What is read as it is: generators, `map` and `filter` run the caller's own code, whose errors are
theirs to see.
"""


def list_of_tells(tells: object) -> list[Any]:
    """What came as pairs, one by one; the error shows none of them."""
    if not read_or_none(lambda given: isinstance(given, Iterable), tells):
        raise TypeError(
            f"Expected (decision, reward) pairs, got an object of type {type(tells).__name__}. "
            "Nothing was recorded."
        )
    given: Any = tells
    pairs = list(given) if type(tells) in RUNS_HERE else read_or_none(list, given)
    if pairs is None:
        cure = " Are all that it zips of one length?" if type(tells) is zip else ""
        raise TypeError(
            f"Expected (decision, reward) pairs, got an object of type {type(tells).__name__} that "
            f"cannot be read. Nothing was recorded.{cure}"
        )
    return pairs


def checked_pairs(tells: object) -> list[Pair]:
    """(decision, reward) pairs; the error shows none of them."""
    pairs = list_of_tells(tells)
    if pairs and all(type(pair) is Decision for pair in pairs):
        raise TypeError(
            "Expected (decision, reward) pairs, got decisions alone: tell_many(zip(decisions, "
            "rewards)). Nothing was recorded."
        )
    plain = [
        read_or_none(as_pair, pair) for pair in pairs
    ]  # what comes with a reward may bring code along
    for place, pair in enumerate(pairs):
        if plain[place] is None:
            raise TypeError(
                f"Expected (decision, reward) pairs; entry {place} (counted from 0) of "
                f"{len(pairs)} is an object of type "
                f"{type(pair).__name__} that is none. Nothing was recorded."
            )
    return [pair for pair in plain if pair is not None]


def as_pair(pair: Any) -> Pair | None:
    """A decision and its reward, as a plain pair; None if this is none."""
    if isinstance(pair, Decision) or not isinstance(pair, (tuple, list)):
        return None
    decision, reward = pair  # an error here says that it is none, too
    return decision, reward


def pair_refused(error: Exception, pairs: Sequence[Pair], at: int) -> Exception:
    """The same error, which says about which of several pairs it is."""
    if type(pairs[at][1]) is Decision:
        error = swapped_arguments()
    which = f"Pair {at} (counted from 0) of {len(pairs)}: " if len(pairs) > 1 else ""
    code, text = vars(error).get("code"), f"{which}{error}"
    return type(error)(text) if code is None else coded(code, type(error), text)


# How each decision was chosen: which action, and how likely it was. Public, for analysts.
#
# `KeptChoices` keeps it for as long as a session lives: one entry for each run of decisions that
# were chosen alike, in few bytes. `DecisionTable` shows it.


ARM, MASK, LISTED, WEIGHTS = range(4)
"""How an action is packed, by its first byte: an arm; a super arm as one bit for each arm, or as
its arms where those are fewer bytes; a weight for each arm.
"""

UNKNOWN = -1.0
"""In place of a probability that nobody worked out."""

HEAD = Packer("<d?")
"""What a packed choice begins with: its probability, and whether anybody learns from it."""


class HowChosen(NamedTuple):
    """Of decisions from one on, up to the next choice. propensity: how likely the action was, given
    all that was released; None where it was drawn from a posterior.
    """

    action: Action
    propensity: float | None
    learn: bool


def packed(how: HowChosen) -> bytes:
    action, propensity, learn = how
    share = UNKNOWN if propensity is None else propensity
    if isinstance(action, tuple):
        return HEAD.pack(share, learn) + packed_action(action)
    return packed_arm(int(action), share, learn)  # a user-defined policy may name it by NumPy's


def packed_action(action: tuple[Any, ...]) -> bytes:
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


@lru_cache(1024)
def packed_arm(arm: int, share: float, learn: bool) -> bytes:
    number = arm.to_bytes(arm.bit_length() // 8 + 1, "little", signed=True)
    return HEAD.pack(share, learn) + bytes((ARM,)) + number


def unpacked(choice: bytes) -> HowChosen:
    share, learn = HEAD.unpack_from(choice)
    action = unpacked_action(choice[HEAD.size :])
    return HowChosen(action, None if share == UNKNOWN else share, learn)


def unpacked_action(action: bytes) -> Action:
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
    """Packed choices, oldest first, and the decision that each begins with.

    A choice counts once its first decision is written, which is done last and undone first. So an
    interruption leaves a choice too many at most, and the next change drops it.
    """

    __slots__ = ("_choices", "_starts")

    def __init__(self) -> None:
        self._starts, self._choices = array("q"), list[bytes]()

    def note(self, since: int, how: HowChosen) -> None:
        """How decisions come about from this one on. What was said of it, and of later ones, is
        forgotten.
        """
        self.add(since, packed(how))

    def add(self, since: int, choice: bytes) -> None:
        starts, choices = self._starts, self._choices
        while starts and starts[-1] >= since:
            starts.pop()
        del choices[len(starts) :]
        if not choices or choices[-1] != choice:
            choices.append(choice)
            starts.append(since)

    def runs(self, before: int) -> Iterator[tuple[int, int, bytes]]:
        """Of decisions before this one: the first and the one after the last that were chosen
        alike, and their packed choice.
        """
        starts = self._starts
        for place in range(bisect_right(starts, before - 1)):
            until = starts[place + 1] if place + 1 < len(starts) else before
            yield starts[place], min(until, before), self._choices[place]


class DecisionRow(NamedTuple):
    """One decision. propensity: 1 where the policy's plan settled the action; None where it was
    drawn from a posterior, whose probabilities are not worked out, or from a law that depends on
    such a draw (`min_share=`). learn: as it was made, whatever became of its arm. waiting: no
    answer yet.
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
        for since, until, choice in self.chosen.runs(self.asked + 1):
            action, propensity, learn = unpacked(choice)
            label = self.labels.of(action)
            for id in range(since, until):
                yield DecisionRow(id, action, label, propensity, learn, id in self.waiting)

    def __repr__(self) -> str:
        return f"{self.asked:,} decisions, {len(self.waiting):,} of them waiting"

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self, DecisionRow)


Share = Annotated[float, Meta(ge=0, le=1)]


class ChosenData(Struct):
    """`KeptChoices`, of a saved session (see `chosen_to_data`)."""

    ways: list[tuple[str | Count | tuple[float, ...], Share | None, bool]]
    runs: list[Count]


def chosen_to_data(chosen: KeptChoices, asked: int) -> ChosenData:
    """Plain data, for JSON: the ways that a decision came about, each once; and by choice, how many
    decisions after the last one it begins, and the number of its way.
    """
    numbers, runs, last = dict[bytes, int](), list[int](), 0
    for since, _, choice in chosen.runs(asked + 1):
        runs += since - last, numbers.setdefault(choice, len(numbers))
        last = since
    return ChosenData(list(map(choice_to_data, numbers)), runs)


def choice_to_data(choice: bytes) -> tuple[Any, float | None, bool]:
    """Super arms are written as they are packed, in hexadecimal digits."""
    action, propensity, learn = unpacked(choice)
    packs = choice[HEAD.size] in (MASK, LISTED)
    return choice[HEAD.size :].hex() if packs else action, propensity, learn


def chosen_from_data(saved: ChosenData) -> KeptChoices:
    """Return what `chosen_to_data` wrote.

    Raises:
        ValueError, LookupError, OverflowError: it is not that.
    """
    chosen, since, choices = KeptChoices(), 0, list[bytes]()
    for action, share, learn in saved.ways:
        known = unpacked_action(bytes.fromhex(action)) if isinstance(action, str) else action
        choices.append(packed(HowChosen(known, share, learn)))
    for gap, number in zip(saved.runs[::2], saved.runs[1::2], strict=True):
        since += gap
        chosen.add(since, choices[number])
    return chosen
