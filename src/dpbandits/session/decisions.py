"""Decisions: what they play, the search for the one that a tell or an expiry is about, and how each
was chosen.

Errors of the search repeat nothing of their arguments: if the arguments of `tell` were swapped, the
argument in the place of the decision is the reward.
"""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from types import GeneratorType
from typing import Annotated, Any, NamedTuple, final
from uuid import UUID

from msgspec import Meta, Struct
from msgspec.msgpack import Decoder, Encoder

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


def read_here(tells: Any) -> Any:
    """What runs the caller's own code, as a list: its errors are theirs to see, and where."""
    return list(tells) if type(tells) in (GeneratorType, map, filter, str) else tells


def list_of_tells(tells: Any) -> list[Any]:
    """What came as pairs, one by one; the error shows none of them."""
    if not read_or_none(lambda given: isinstance(given, Iterable), tells):
        raise TypeError(
            f"Expected (decision, reward) pairs, got an object of type {type(tells).__name__}. "
            "Nothing was recorded."
        )
    pairs = read_or_none(list, tells)
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


Share = Annotated[float, Meta(ge=0, le=1)]


WayData = tuple[str | Count | tuple[Count | float, ...], Share | None, bool]
"""`HowChosen`, its action by `action_to_data`."""

PACKED, UNPACKED = Encoder(enc_hook=float), Decoder(WayData)


DENSE, LISTED = "01", "02"
"""What the text of a super arm begins with: one bit for each arm; or its arms, in documents of
earlier versions.
"""


class HowChosen(NamedTuple):
    """Of decisions from one on, up to the next choice. propensity: how likely the action was, given
    all that was released; None where it was drawn from a posterior.
    """

    action: Action
    propensity: float | None
    learn: bool


def action_to_data(action: Any) -> str | int | tuple[float, ...]:
    """An action. A dense super arm is one bit for each arm, in hexadecimal digits after `DENSE`."""
    if not isinstance(action, tuple):
        return int(action)  # a user-defined policy may name it by NumPy's
    if any(isinstance(each, float) for each in action):
        return tuple(map(float, action))
    arms = tuple(map(int, action))
    if not arms or list(arms) != sorted(set(arms)) or not 0 <= arms[0] <= arms[-1] <= 8 * len(arms):
        return arms
    return DENSE + sum(1 << arm for arm in arms).to_bytes(arms[-1] // 8 + 1, "little").hex()


def action_from_data(data: Any) -> Any:
    """The action of this data.

    Raises:
        ValueError: a text that is none.
    """
    if not isinstance(data, str):
        return data
    kind, rest = data[:2], bytes.fromhex(data[2:])
    if kind == LISTED:
        return tuple(array("q", rest))
    if kind != DENSE:
        raise ValueError("Expected a super arm.")
    bits = f"{int.from_bytes(rest, 'little'):b}"
    return tuple(arm for arm, bit in enumerate(reversed(bits)) if bit == "1")


@final
class KeptChoices:
    """How each decision of a session was chosen, for as long as it lives: every way once, packed,
    and for each run of decisions that were chosen alike the first one and the place of its way.

    A run counts once its first decision is written, which is done last and undone first. So an
    interruption leaves a place too many at most, and the next change drops it.
    """

    __slots__ = ("_places", "_starts", "_ways")

    def __init__(self) -> None:
        self._ways = dict[bytes, int]()
        self._starts, self._places = array("q"), array("q")

    def note(self, since: int, how: HowChosen) -> None:
        """How decisions come about from this one on. What was said of it, and of later ones, is
        forgotten.
        """
        starts, places = self._starts, self._places
        while starts and starts[-1] >= since:
            starts.pop()
        del places[len(starts) :]
        way = PACKED.encode((action_to_data(how.action), how.propensity, bool(how.learn)))
        place = self._ways.setdefault(way, len(self._ways))
        if not places or places[-1] != place:
            places.append(place)
            starts.append(since)

    def runs(self, before: int) -> Iterator[tuple[int, int, WayData]]:
        """Of decisions before this one: the first and the one after the last that were chosen
        alike, and their way.
        """
        starts, ways = self._starts, list(self._ways)
        for at in range(bisect_right(starts, before - 1)):
            until = starts[at + 1] if at + 1 < len(starts) else before
            yield starts[at], min(until, before), UNPACKED.decode(ways[self._places[at]])


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
        for since, until, (data, propensity, learn) in self.chosen.runs(self.asked + 1):
            action = action_from_data(data)
            label = self.labels.of(action)
            for id in range(since, until):
                yield DecisionRow(id, action, label, propensity, learn, id in self.waiting)

    def __repr__(self) -> str:
        return f"{self.asked:,} decisions, {len(self.waiting):,} of them waiting"

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self, DecisionRow)


class ChosenData(Struct):
    """`KeptChoices`, of a saved session (see `chosen_to_data`)."""

    ways: list[WayData]
    runs: list[Count]


def chosen_to_data(chosen: KeptChoices, asked: int) -> ChosenData:
    """Plain data, for JSON: the ways that a decision came about, each once; and by run, how many
    decisions after the last one it begins, and the number of its way.
    """
    numbers, runs, last = dict[WayData, int](), list[int](), 0
    for since, _, way in chosen.runs(asked + 1):
        runs += since - last, numbers.setdefault(way, len(numbers))
        last = since
    return ChosenData(list(numbers), runs)


def chosen_from_data(saved: ChosenData) -> KeptChoices:
    """Return what `chosen_to_data` wrote.

    Raises:
        ValueError, LookupError, OverflowError: it is not that.
    """
    chosen, since = KeptChoices(), 0
    ways = [HowChosen(action_from_data(at), share, learn) for at, share, learn in saved.ways]
    for gap, number in zip(saved.runs[::2], saved.runs[1::2], strict=True):
        since += gap
        chosen.note(since, ways[number])
    return chosen
