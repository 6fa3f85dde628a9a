"""What a session asks for, and the search for the decision that a tell or an expiry is about. All of it is public."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import NamedTuple

from dpbandits.messages import decision_to_json
from dpbandits.plan import Action


class Decision(NamedTuple):
    """Public: play `action` in round `round` (counted from 1) and tell the reward under `id`.

    action: an arm; a super arm; for a policy that spreads its stake (`weighted`) the weight of every arm.
    observe: after a super arm, the arms whose rewards are to be told, in this order; else None.
    """

    id: int
    action: Action
    round: int
    observe: tuple[int, ...] | None = None

    def to_json(self) -> str:
        """The message for the user's device (`dpbandits.client`)."""
        return decision_to_json(self.id, self.action, self.observe)


class DecisionError(LookupError):
    """A tell or expiry for a decision that is unknown or already resolved. Nothing was recorded."""


class NotRecordedError(RuntimeError):
    """What an earlier call left due, a release or a plan, failed again, so this call did nothing. Its cause is that failure.

    Told apart from the failure itself, after which the reward of the call is recorded.
    """


def find(decision: object, pending: Mapping[int, Decision], asked: int) -> Decision:
    """The pending decision that is meant, by itself or by its id; one that was changed or is another session's is unknown.

    asked: how many decisions the session made so far.
    """
    id = decision.id if type(decision) is Decision else decision
    if type(id) is int:
        known = pending.get(id)
    else:  # NumPy's whole numbers, too
        known = pending.get(int(id)) if isinstance(id, Integral) and not isinstance(id, bool) else None
    if known is None or (type(decision) is Decision and decision != known):
        raise unknown(id, pending, asked)
    return known


def find_each(decisions: Iterable[object], pending: Mapping[int, Decision], asked: int) -> Iterator[Decision]:
    """The pending decisions that are meant, one after the other; none may come twice."""
    seen: set[int] = set()
    for decision in decisions:
        known = find(decision, pending, asked)
        if known.id in seen:
            raise resolved(known.id)
        seen.add(known.id)
        yield known


def unknown(id: object, pending: Mapping[int, Decision], asked: int) -> DecisionError:
    if isinstance(id, Integral) and id in pending:
        return DecisionError(
            f"Expected decision {id} as this session made it, got one with another action, round or arms to observe: was it changed? "
            "Nothing was recorded."
        )
    if isinstance(id, Integral) and 0 < int(id) <= asked:
        return resolved(id)
    return DecisionError(f"Expected a decision this session made (ids 1 to {asked}), got {id!r}. Nothing was recorded.")


def resolved(id: object) -> DecisionError:
    return DecisionError(f"Decision {id} is resolved already: each is told or expired once. Nothing was recorded.")
