"""A session as rows: one small public part, one small private part, and what is kept a row each
(decisions that wait, readings; answers that are held are known to no session, see `held.py`).
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from dpbandits.campaign.people.register import Clock
from dpbandits.core.plan import FOREVER
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.session.decisions import Play
from dpbandits.session.saving.document import with_state
from dpbandits.session.saving.policy import policy_from_data, policy_to_data
from dpbandits.session.session import Session
from dpbandits.session.storing.changes import NotedPending
from dpbandits.session.wheel.chosen import KeptChoices


@final
@dataclass
class SessionRows:
    """What is kept a row each, brought up to date row by row.

    waiting: decisions that wait, oldest first. due: when the time of each has passed, where answers
        are waited for. readings: in their order.
    """

    waiting: NotedPending = field(default_factory=NotedPending)
    due: OrderedDict[int, float] = field(default_factory=OrderedDict)
    lines: list[list[Any]] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"SessionRows(waiting={len(self.waiting)})"


def small_parts(session: Session) -> tuple[dict[str, Any], dict[str, Any]]:
    """The public and the private part of a session, without what is kept a row each."""
    held, owners, wheel = session._vault.held, session._owners, session._wheel
    pending, chosen, people = wheel.pending, wheel.chosen, session._people
    used, window = {} if people is None else people.used, session._attribution
    spacing = session._wheel.spacing
    newest = {} if spacing is None else spacing.newest
    due = OrderedDict[int, float]() if window is None else window.due
    try:  # what is kept apart is put aside while the rest is written
        wheel.pending, session._vault.held, session._owners = {}, {}, {}
        wheel.chosen = KeptChoices()
        if people is not None:
            people.used = {}
        if spacing is not None:
            spacing.newest = {}
        if window is not None:
            window.due = OrderedDict()
        public = session._public(1)
        private = session._private()
    finally:
        wheel.pending, session._vault.held, session._owners = pending, held, owners
        wheel.chosen = chosen
        if people is not None:
            people.used = used
        if spacing is not None:
            spacing.newest = newest
        if window is not None:
            window.due = due
    public["vault"]["ledger"].pop("lines")
    public["unanswered"] = None
    public["chosen"] = [[1, *chosen.newest()]] if chosen else []
    public["policy"] = policy_to_data(session.policy)
    return public, private


def rows_in(session: Session) -> SessionRows:
    """What a session holds in memory of what is kept a row each; it is not copied."""
    window = session._attribution
    pending = session._wheel.pending
    return SessionRows(
        pending if type(pending) is NotedPending else NotedPending(pending.items()),
        OrderedDict() if window is None else window.due,
        session._vault.public_state()["ledger"]["lines"],
    )


def session_from_parts(
    public: Mapping[str, Any],
    private: Mapping[str, Any],
    rows: SessionRows,
    *,
    policy: Policy | type[Policy] | None,
    noise: Noise | None,
    clock: Clock | None,
    user_key: bytes | None,
) -> Session:
    """The session that `small_parts` and its rows describe.

    Raises:
        ValueError: they contradict each other.
    """
    known, said = stored_policy(public, policy, rows)
    whole = with_state(known, said, dict(private))
    session = Session._continued(known, whole, dict(private), noise, clock, user_key, rows.waiting)
    kept_apart(session)
    if session._attribution is not None:
        session._attribution.due = rows.due
    return session


def kept_apart(session: Session) -> None:
    """People and decisions are kept a row each, so the session knows neither how many people there
    are nor who of them answered.
    """
    session._unanswered = None
    if session._people is not None:
        session._people.complete = False


def stored_policy(
    public: Mapping[str, Any], policy: Policy | type[Policy] | None, rows: SessionRows
) -> tuple[Policy, dict[str, Any]]:
    """The policy of a stored session, and the rest of its public part with its readings."""
    said = dict(public)
    known = policy_from_data(said.pop("policy"), policy)
    ledger = {**said["vault"]["ledger"], "lines": rows.lines}
    return known, said | {"vault": {**said["vault"], "ledger": ledger}}


def price_of(session: Session) -> str | None:
    """What one reading costs a record, as text; None: it is read without noise."""
    price = session._vault.price
    return None if price is None else str(price)


def counts_of(session: Session) -> tuple[int, int]:
    """Decisions made, and those that wait for their rewards."""
    return session._wheel.asked, len(session._wheel.pending)


def put_in_order(session: Session) -> bool:
    """Put in order what an error left half done. Whether nothing is due."""
    wheel = session._wheel
    wheel.recover()
    idle = wheel.turn.progress.due is None and session._vault.turns == wheel.turn.step
    wheel.busy = not idle
    return idle


def left_half_done(session: Session) -> bool:
    """Whether the release that was tried last was not made: its noise failed, say."""
    wheel = session._wheel
    return wheel.turn.progress.due is not None and session._vault.turns == wheel.turn.step


def waits(session: Session, seq: int) -> bool:
    """Whether a decision waits for its reward."""
    return seq in session._wheel.pending


def play_of(session: Session, seq: int) -> Play:
    """What a decision plays that waits."""
    return session._wheel.pending[seq]


def its_time_passed(session: Session, seq: int) -> bool:
    """Whether an answer to a decision that waits comes too late."""
    return session._attribution is not None and session._attribution.over(seq)


def give_up(session: Session) -> None:
    """Void all decisions that wait, and throw away unread what came since the last releases."""
    session._vault.held.clear()
    if session._attribution is not None:
        session._attribution.due.clear()
    wheel = session._wheel
    for id in list(wheel.pending):
        wheel.leave_unread(id)
    wheel.go_on()
    session.drop_open()


def keeps_exact_sums(session: Session) -> bool:
    """Whether its mechanism remembers more than what it released: then a session that lost part of
    its past begins anew.
    """
    return not session._vault.public_memory


def begun_anew(
    session: Session, first: Mapping[str, Any], private: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], SessionRows]:
    """The parts of a session whose policy begins anew, while decisions are counted on.

    first, private: its parts when it was made.
    """
    said, secret = small_parts(session)
    asked = session._wheel.asked
    _, _, last, block = first["offer"]
    kept = ("seed", "events", "traffic", "people", "spacing", "chosen", "attribution", "arms")
    counted = {"asked": asked, "asked_before_plan": asked, "unread": asked}
    offer = {"offer": [None, asked + 1, min(FOREVER, last + asked), block]}
    plans = [
        [*plan, [[since + asked, last + asked] for since, last in ids]]
        for *plan, ids in first["plans"]
    ]
    own = {name: said[name] for name in kept}
    public = {**first, **own, **counted, **offer, "plans": plans}
    still: dict[str, Any] = {name: secret[name] for name in ("noise", "seed") if name in secret}
    return public, {**private, **still}, SessionRows()
