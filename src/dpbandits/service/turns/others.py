"""Calls that change a campaign besides asking and telling. All are public events."""

import json
from dataclasses import dataclass
from typing import Any, Literal, final

from dpbandits.core.inputs import is_line, shown
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import EventRow
from dpbandits.service.turns.asks import (
    LONGEST_KEY,
    Scratch,
    catch_up,
    marked,
    other_call,
    reply_in,
)
from dpbandits.service.turns.beginning import MOST_ARMS
from dpbandits.service.turns.working import Working
from dpbandits.service.turns.writing import compact
from dpbandits.session.storing import (
    counts_of,
    fill_places,
    pseudonym_in,
    waiting_for,
)

ArmVerb = Literal["add", "retire", "pause", "resume"]


@final
@dataclass(frozen=True)
class ArmOp:
    """An arm comes, goes, or rests. by: who says so."""

    verb: ArmVerb
    arm: str | int | None
    by: str | None = None

    def settles(self, work: Working) -> bool:
        return True

    def run(self, work: Working, scratch: Scratch) -> int | None:
        session = work.session
        done: Any = None
        if self.verb == "add":
            assert self.arm is None or isinstance(self.arm, str)
            if session.policy.arms >= MOST_ARMS:
                raise ValueError(
                    f"This campaign has {MOST_ARMS:,} arms, retired ones among them: no more can "
                    "be added. Begin another campaign with those that are in play. Nothing was "
                    "changed."
                )
            done = session.add_arm(self.arm)
        elif self.verb == "retire":
            session.retire_arm(arm_of(self.arm))
        elif self.verb == "pause":
            session.pause_arm(arm_of(self.arm))
        else:
            session.resume_arm(arm_of(self.arm))
        note_event(scratch, work, f"{self.verb} arm", self.arm, self.by)
        return done  # type: ignore[no-any-return]  # the new arm's number


@final
@dataclass(frozen=True)
class SettleOp:
    """Record the answers whose time has passed, and make what is due."""

    def settles(self, work: Working) -> bool:
        return True

    def run(self, work: Working, scratch: Scratch) -> None:
        """All of it is done before."""


@final
@dataclass(frozen=True)
class FinishOp:
    """A stopping rule gives its answer now."""

    by: str | None = None

    def settles(self, work: Working) -> bool:
        return True

    def run(self, work: Working, scratch: Scratch) -> None:
        work.session.finish()
        note_event(scratch, work, "finish", None, self.by)


@final
@dataclass(frozen=True)
class CloseOp:
    """The campaign is over, for this reason: a winner was declared, say."""

    why: str
    by: str | None = None

    def settles(self, work: Working) -> bool:
        return False

    def run(self, work: Working, scratch: Scratch) -> None:
        if work.head.closed is None and scratch.closed is None:
            scratch.closed = self.why
            note_event(scratch, work, "closed", self.why, self.by)


@final
@dataclass(frozen=True)
class DropOp:
    """Throw away, unread, what came since the last releases."""

    by: str | None = None

    def settles(self, work: Working) -> bool:
        return True

    def run(self, work: Working, scratch: Scratch) -> None:
        work.session.drop_open()
        note_event(scratch, work, "drop", None, self.by)


@final
@dataclass(frozen=True)
class EraseOp:
    """Forget a person, as far as the promise to them allows: decisions that wait for them are void,
    and nobody learns from them any more in the window that is open. Their pseudonym stays for that
    window, with nothing beside it that says what they were shown, so that they cannot be learned
    from twice.
    """

    user: str | int
    by: str | None = None

    def settles(self, work: Working) -> bool:
        return True  # what has passed counts, and waits no more

    def run(self, work: Working, scratch: Scratch) -> int:
        who = pseudonym_in(work.session, self.user)
        if who is None:
            raise ValueError(
                "This campaign does not know its people (privacy_unit='round'): there is nothing "
                "to erase."
            )
        # with what an earlier call of this transaction asked for, which is not stored yet
        waiting = waiting_for(work.session, who, scratch.rows.waiting_of(who))
        for seq in waiting:
            work.session.void(seq)
        catch_up(work, scratch)
        fill_places(work.session, who)
        note_event(scratch, work, "erased a person", None, self.by)
        return len(waiting)


ChangeOp = ArmOp | FinishOp | CloseOp | DropOp | EraseOp
"""A call that somebody makes, and that may be made again."""


@final
@dataclass(frozen=True)
class KeyedOp:
    """A call that is done once, however often it is made: under its key is kept what it answered,
    by the transaction that did it.

    key: a word of whoever makes it.
    """

    op: ChangeOp
    key: str

    def settles(self, work: Working) -> bool:
        return self.op.settles(work)

    def run(self, work: Working, scratch: Scratch) -> Any:
        place = self._place(work)
        if place in scratch.keyed:
            raise other_call()
        said = scratch.responses.get(place) or scratch.rows.response(place)
        if said is not None:
            return self._answered(said, work)
        done = self.op.run(work, scratch)
        scratch.responses[place] = compact([self._mark(work), done])
        return done

    def is_done(self, work: Working, rows: CampaignRows) -> bool:
        """Whether it was made before.

        Raises:
            ValueError: another call was made with this key.
        """
        said = rows.response(self._place(work))
        if said is not None:
            self._answered(said, work)
        return said is not None

    def _place(self, work: Working) -> str:
        return work.seal.call_place(self.op.by or "", self.key)

    def _answered(self, said: str, work: Working) -> Any:
        first, done = reply_in(said)
        if first != self._mark(work):
            raise other_call()
        return done

    def _mark(self, work: Working) -> str:
        told = {**vars(self.op), "by": None}  # which is said by the row's place
        if isinstance(self.op, EraseOp):
            told["user"] = pseudonym_in(work.session, self.op.user)
        return marked(
            work, json.dumps([self.key, type(self.op).__name__, told], default=str).encode()
        )


def keyed(op: ChangeOp, key: str | None) -> ChangeOp | KeyedOp:
    """A call under its key, where it has one.

    Raises:
        ValueError: it can be no key. Nothing was changed.
    """
    return op if key is None else KeyedOp(op, call_key(key))


def call_key(key: str) -> str:
    """
    Raises:
        ValueError: no text that can be kept as a key. Nothing was done.
    """
    if not is_line(key, LONGEST_KEY):
        raise ValueError(
            f"Expected key={shown(key)} to be a text of at most {LONGEST_KEY} characters that can "
            "be printed. None was made, and nothing was changed."
        )
    return key


def arm_of(arm: str | int | None) -> str | int:
    if arm is None:
        raise ValueError("Expected the name or the number of an arm. Nothing was changed.")
    return arm


def note_event(scratch: Scratch, work: Working, what: str, about: object, by: str | None) -> None:
    """For the campaign's public log."""
    asked, _ = counts_of(work.session)
    said = None if about is None else str(about)
    scratch.events.append(EventRow(scratch.now, what, said, asked, by))
