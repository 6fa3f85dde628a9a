"""Decisions, and the search for the pending decision that a tell or an expiry is about.

Errors here repeat nothing of their arguments: if the arguments of `tell` were swapped, the argument
in the place of the decision is the reward.
"""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from types import GeneratorType
from typing import Any, NamedTuple
from uuid import UUID

from dpbandits.core.errors import DecisionError, MessageError
from dpbandits.core.plan import Action
from dpbandits.local.messages import decision_to_json
from dpbandits.mechanisms.rewards import PLAIN, read_or_none
from dpbandits.policies.contract import ArmLabel

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
    """Public: play `action` in round `round` (counted from 1) and tell the reward under `id`.

    action: an arm's number; of a super arm the numbers of its arms, a tuple; for a policy that
        spreads its stake (`weighted`) the weight of every arm, a tuple.
    observe: after a super arm, the arms whose rewards are to be told, in this order; else None.
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


class Play(NamedTuple):
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
        return Decision(id, self.action, id, self.observe, campaign, self.label, self.learn)


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
    if not read_or_none(is_iterable, tells):
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


def is_iterable(value: object) -> bool:
    return isinstance(value, Iterable)


def as_pair(pair: Any) -> Pair | None:
    """A decision and its reward, as a plain pair; None if this is none."""
    if isinstance(pair, Decision) or not isinstance(pair, (tuple, list)):
        return None
    decision, reward = pair  # an error here says that it is none, too
    return decision, reward


def pair_refused(error: Exception, pairs: Sequence[Pair], at: int) -> Exception:
    """The same error, which says about which pair it is."""
    if type(pairs[at][1]) is Decision:
        error = swapped_arguments()
    return type(error)(f"Pair {at} (counted from 0) of {len(pairs)}: {error}")
