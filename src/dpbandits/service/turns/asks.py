"""Calls that ask: decisions for callers, and what is done with them besides telling."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, final

from dpbandits.core.errors import DecisionError, EditedRowsError
from dpbandits.core.plan import Action
from dpbandits.policies.contract import ArmLabel
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import EventRow, latest_of, said_in
from dpbandits.service.turns.working import Working, known_in
from dpbandits.session.decisions import Decision
from dpbandits.session.storing import (
    ask_unread,
    fill_places,
    not_before,
    pseudonym_in,
    read_places,
    window_of,
)

LONGEST_KEY = 200  # characters of a key under which a call is repeated


class CampaignDecision(NamedTuple):
    """Public: play `action` and tell the reward under `id`. As `Decision`, but known by a name of
    32 hexadecimal digits.

    campaign: its name. propensity: how likely the action was; None where it was drawn from a
    posterior.
    """

    id: str
    action: Action
    round: int
    observe: tuple[int, ...] | None = None
    campaign: str = ""
    label: ArmLabel = None
    learn: bool = True
    propensity: float | None = 1.0

    def to_json(self) -> str:
        """The message for the user's device (`dpbandits.local.client`).

        Raises:
            MessageError: nobody learns from this decision, so no device reports on it.
        """
        made = self.round, self.action, self.round, self.observe, self.campaign
        return Decision(*made, learn=self.learn).to_json()


@dataclass
class Scratch:
    """What calls of one transaction write beside the session.

    eligible: by decision, the arms it was chosen among, as JSON. now: the time of the transaction.
    keyed: asks that may be made again, by their place (see `StoreSeal.call_place`); responses:
        other calls, and answers. told: answers that are held, in grid steps.
    """

    rows: CampaignRows
    now: float
    eligible: dict[int, str] = field(default_factory=dict)
    events: list[EventRow] = field(default_factory=list)
    keyed: dict[str, tuple[str, AskedDecisions]] = field(default_factory=dict)
    responses: dict[str, str] = field(default_factory=dict)
    told: dict[int, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    closed: str | None = None


class AnsweredBeside(NamedTuple):
    """Another side of the campaign answered this call before. uid: which."""

    uid: str


class AskedDecisions(NamedTuple):
    """Decisions that a transaction made; they have names once it is written."""

    plays: tuple[Decision, ...]


@final
@dataclass(frozen=True)
class AskOp:
    """The next so many decisions, or none.

    principal, key: who asks, and a word of theirs: made again, the call gives the same decisions.
    learn: False: nobody learns from them, and no person's place is taken. whose: tells people
    apart where the session knows none. sides: another side may have answered this call before.
    """

    count: int
    eligible: tuple[str | int, ...] | None
    user: str | int | None
    principal: str
    key: str | None
    learn: bool = True
    whose: str | None = None
    sides: bool = False

    def settles(self, work: Working) -> bool:
        return True

    def run(
        self, work: Working, scratch: Scratch
    ) -> AskedDecisions | list[CampaignDecision] | AnsweredBeside:
        if self.key is not None:
            place = work.seal.call_place(self.principal, self.key)
            if place in scratch.keyed:
                first, made = scratch.keyed[place]
                require_same(first, self.mark(work))
                return made
            said = scratch.responses.get(place) or scratch.rows.response(place)
            if said is not None:
                return asked_before(said, self, work, scratch.rows)
            other = scratch.rows.answered_by(place) if self.sides else None
            if other is not None:
                return AnsweredBeside(other)
        require_open(work, scratch)
        asked = self.asked(work, scratch)
        if self.eligible is not None:
            text = json.dumps(list(self.eligible), separators=(",", ":"))
            scratch.eligible.update((decision.id, text) for decision in asked)
        made = AskedDecisions(tuple(asked))
        if self.key is not None:
            scratch.keyed[place] = self.mark(work), made
        return made

    def asked(self, work: Working, scratch: Scratch) -> list[Decision]:
        """The decisions, of the session; a person's places are as all rows say they are."""
        session = work.session
        if not self.learn:
            return ask_unread(session, self.count)
        who = pseudonym_in(session, self.user) if self.user is not None else None
        if who is not None:
            read_places(session, scratch.rows, who)
            catch_up(work, scratch)
            closed, now = closed_window(work, scratch), window_of(session)
            if closed is not None and now is not None and now <= closed:
                fill_places(session, who)
        return session.ask(self.count, eligible=self.eligible, user=self.user)

    def mark(self, work: Working) -> str:
        """Tells whether two calls ask for the same. It is made under a secret key, for it is kept
        beside the decisions: else trying all pseudonyms would tell who was shown them.
        """
        return marked(work, self._said(work))

    def older_mark(self, work: Working) -> str:
        """As marks were made once."""
        return sha256(self._said(work)).hexdigest()

    def _said(self, work: Working) -> bytes:
        who = self.whose if self.user is None else pseudonym_in(work.session, self.user)
        said = [self.principal, self.key, self.count, self.eligible, who]
        return json.dumps(said).encode()


def marked(work: Working, said: bytes) -> str:
    """Tells whether two calls say the same, to nobody without the campaign's secret key."""
    return hmac.new(work.ids.key, said, "sha256").hexdigest()


def catch_up(work: Working, scratch: Scratch) -> None:
    """Windows never go back, whichever worker's clock is asked: a segment knows of no earlier time
    than any other one has seen.
    """
    if work.row.group != work.row.uid:
        heads = scratch.rows.heads().values()
        not_before(work.session, max(latest_of(head) for head in heads))


def closed_window(work: Working, scratch: Scratch) -> int | None:
    """The newest window of contributions that a fence closed, of whichever segment; None: none."""
    heads = [work.head]
    if work.row.group != work.row.uid:
        heads = list(scratch.rows.heads().values())
    closed = [said_in(head)["closed_window"] for head in heads]
    return max((window for window in closed if window is not None), default=None)


def asked_before(said: str, op: AskOp, work: Working, rows: CampaignRows) -> list[CampaignDecision]:
    """The decisions that a call made the first time.

    Raises:
        ValueError: another call was made with this key.
        DecisionError: they were given up when the database was put back.
    """
    first, made = reply_in(said)
    if not isinstance(made, list):
        raise other_call()
    try:
        decisions = [decision_from(each) for each in made]
    except TypeError:
        raise EditedRowsError(EDITED_REPLY) from None
    known = known_in((each.id for each in decisions), work, rows)
    if any(place is None or place.generation < work.head.generation for place in known):
        raise DecisionError(
            "The decisions that were asked for with this key were given up, for the database was "
            "put back. Ask with another key. None was made."
        )
    if first != op.older_mark(work):
        require_same(first, op.mark(work))
    return decisions


EDITED_REPLY = (
    "What was replied to this call before is not what dpbandits wrote: rows of the database were "
    "edited. Nothing was done. Make the call with another key."
)


def reply_in(said: str) -> tuple[Any, Any]:
    """What is kept of a call: what it said, and what was replied.

    Raises:
        EditedRowsError: it is nothing that was kept.
    """
    try:
        first, made = json.loads(said)
    except (ValueError, TypeError):
        raise EditedRowsError(EDITED_REPLY) from None
    return first, made


def require_same(first: str, now: str) -> None:
    """Refuse another call with a key that was used.

    Raises:
        ValueError: so it is.
    """
    if first != now:
        raise other_call()


def other_call() -> ValueError:
    return ValueError(
        "Expected key= to be one that no other call was made with: with this one, another number "
        "of decisions was asked for, among other arms, or for another person, or something else "
        "was done. None was made, and nothing was changed."
    )


def require_open(work: Working, scratch: Scratch) -> None:
    """Refuse to ask of a campaign that is over.

    Raises:
        RuntimeError: it is.
    """
    why = scratch.closed or work.head.closed
    if why is not None:
        raise RuntimeError(
            f"This campaign is over ({why}): it makes no decisions any more. What waits can still "
            "be told."
        )


def decision_from(row: list[Any]) -> CampaignDecision:
    """A decision after a trip through JSON."""
    fields: list[Any] = [tuple(v) if isinstance(v, list) else v for v in row]
    return CampaignDecision(*fields)
