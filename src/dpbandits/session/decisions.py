"""What a session asks for, and the search for the decision that a tell or an expiry is about. All
of it is public.

The errors here repeat nothing that came: where arguments were swapped, what came as the decision is
the reward.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

from dpbandits.core.errors import DecisionError, MessageError, RewardError
from dpbandits.core.plan import Action
from dpbandits.local.messages import decision_to_json
from dpbandits.mechanisms.rewards import PLAIN, tried
from dpbandits.policies.labels import ArmLabel

PENDING = 100_000
"""Decisions that may wait for their rewards, unless a session is made with another
`max_pending`.
"""

MOST_PENDING = 10**7
"""Decisions that may ever wait for their rewards at a time: more than that would fill a machine's
memory.
"""


User = str | int | None
"""Who a decision is for, where people come back."""

Eligible = Iterable[str | int] | None
"""Arms by their names or numbers; None: all that are in play."""


class Decision(NamedTuple):
    """Public: play `action` in round `round` (counted from 1) and tell the reward under `id`.

    action: an arm; a super arm; for a policy that spreads its stake (`weighted`) the weight of
        every arm.
    observe: after a super arm, the arms whose rewards are to be told, in this order; else None.
    campaign: the session that asked; another one does not take it.
    label: the name of the arm, or of each arm of a super arm; None where arms have no names.
    learn: whether its reward counts; one that does not is taken and never read.
    """

    id: int
    action: Action
    round: int
    observe: tuple[int, ...] | None = None
    campaign: str = ""
    label: ArmLabel = None
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


@dataclass(frozen=True, slots=True)
class Play:
    """What is kept of a pending decision beside its id; decisions of one plan share it.

    block: the number of its plan's block, where a record belongs to its plan.
    """

    action: Action
    observe: tuple[int, ...] | None
    label: ArmLabel = None
    learn: bool = True
    block: int = 0

    def decision(self, id: int, campaign: str) -> Decision:
        return Decision(id, self.action, id, self.observe, campaign, self.label, self.learn)


Pending = Mapping[int, Play]


def find_pending(
    decision: Any, pending: Pending, asked: int, campaign: str, newest: Decision | None = None
) -> tuple[int, Play]:
    """Id and play of the pending decision that is meant, by itself or by its id; one that was
    changed or is another session's is unknown.

    asked: how many decisions the session made so far. newest: the one it made last, which is known
        by itself; None: it is compared like any other.
    """
    # places take less time than names
    id = decision[0] if type(decision) is Decision else decision
    if type(id) is not int:  # it may be a reward, with code of its own
        id = tried(whole_id, id) or 0
    play = pending.get(id)
    if play is not None:
        if decision is newest or type(decision) is not Decision:
            return id, play
        # most often nothing of it was made anew since `ask`
        if (
            decision[1] is play.action
            and decision[2] is id
            and decision[3] is play.observe
            and decision[4] is campaign
        ) or as_made(decision, (id, play.action, id, play.observe, campaign)):
            return id, play
    raise unknown(decision, id, pending, asked, campaign)


def as_made(decision: tuple[object, ...], made: tuple[object, ...]) -> bool:
    """Whether nothing of it was changed. What brings code of its own is not even compared."""
    for said, known in zip(decision, made, strict=False):  # names of arms do not matter
        if said is not known and not (plain_field(said) and said == known):
            return False
    return True


def plain_field(value: object) -> bool:
    return PLAIN.issuperset(map(type, value)) if type(value) is tuple else type(value) in PLAIN


def whole_id(value: object) -> int:
    """The id that a whole number of any kind stands for (NumPy's, too); 0 for anything else."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else 0


def find_each(
    decisions: Iterable[object], pending: Pending, asked: int, campaign: str
) -> Iterator[tuple[int, Play]]:
    """The pending decisions that are meant, one after the other; none may come twice."""
    seen: set[int] = set()
    for decision in decisions:
        known = find_pending(decision, pending, asked, campaign)
        if known[0] in seen:
            raise resolved()
        seen.add(known[0])
        yield known


def unknown(
    decision: object, id: int, pending: Pending, asked: int, campaign: str
) -> DecisionError:
    if type(decision) is Decision and not as_made((decision.campaign,), (campaign,)):
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
        return resolved()
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


MAY_BE_SWAPPED = (DecisionError, RewardError, TypeError)
"""What a tell may raise whose arguments are swapped."""


def decision_first() -> DecisionError:
    """The one error for a decision that came as the reward. What came as the decision is then the
    reward, and a reward of 0 or 1 may look like an id: so whether that is known, resolved or
    another's is not said.
    """
    return DecisionError(
        "Expected a decision and its reward, got a decision as the reward. The decision comes "
        "first. Nothing was recorded."
    )


def resolved() -> DecisionError:
    return DecisionError(
        "This decision is resolved already: each is told or expired once. Nothing was recorded."
    )
