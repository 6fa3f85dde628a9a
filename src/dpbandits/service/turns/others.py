"""Calls that change a campaign besides asking and telling. All are public events."""

from dataclasses import dataclass
from typing import Any, Literal, final

from dpbandits.service.rows.records import EventRow
from dpbandits.service.turns.asks import Scratch, catch_up
from dpbandits.service.turns.working import Working
from dpbandits.session.storing.parts import counts_of, fill_places, pseudonym_in, waiting_for

ArmVerb = Literal["add", "retire", "pause", "resume"]


@final
@dataclass(frozen=True)
class ArmOp:
    """An arm comes, goes, or rests. by: who says so."""

    verb: ArmVerb
    arm: str | int | None
    by: str | None = None

    def run(self, work: Working, scratch: Scratch) -> int | None:
        session = work.session
        done: Any = None
        if self.verb == "add":
            assert self.arm is None or isinstance(self.arm, str)
            done = session.add_arm(self.arm)
        elif self.verb == "retire":
            session.retire_arm(arm_of(self.arm))
        elif self.verb == "pause":
            session.pause_arm(arm_of(self.arm))
        else:
            session.resume_arm(arm_of(self.arm))
        work.watch.note("passed")
        note_event(scratch, work, f"{self.verb} arm", self.arm, self.by)
        return done  # type: ignore[no-any-return]  # the new arm's number


@final
@dataclass(frozen=True)
class SettleOp:
    """Record the answers whose time has passed, and make what is due."""

    def run(self, work: Working, scratch: Scratch) -> None:
        work.session.settle()
        work.watch.note("passed")


@final
@dataclass(frozen=True)
class FinishOp:
    """A stopping rule gives its answer now."""

    def run(self, work: Working, scratch: Scratch) -> None:
        work.session.finish()
        work.watch.note("passed")
        note_event(scratch, work, "finish", None, None)


@final
@dataclass(frozen=True)
class CloseOp:
    """The campaign is over, for this reason: a winner was declared, say."""

    why: str
    by: str | None = None

    def run(self, work: Working, scratch: Scratch) -> None:
        if work.head.closed is None and scratch.closed is None:
            scratch.closed = self.why
            note_event(scratch, work, "closed", self.why, self.by)


@final
@dataclass(frozen=True)
class DropOp:
    """Throw away, unread, what came since the last releases."""

    by: str | None = None

    def run(self, work: Working, scratch: Scratch) -> None:
        work.session.drop_open()
        work.watch.note("passed")
        note_event(scratch, work, "drop", None, self.by)


@final
@dataclass(frozen=True)
class EraseOp:
    """Forget a person, as far as the promise to them allows: decisions that wait for them are void,
    and nobody learns from them any more in the window that is open. Their pseudonym stays for that
    window, with nothing beside it, so that they cannot be learned from twice.
    """

    user: str | int
    by: str | None = None

    def run(self, work: Working, scratch: Scratch) -> int:
        who = pseudonym_in(work.session, self.user)
        if who is None:
            raise ValueError(
                "This campaign does not know its people (privacy_unit='round'): there is nothing "
                "to erase."
            )
        work.session.settle()  # what has passed counts, and waits no more
        work.watch.note("passed")
        # with what an earlier call of this transaction asked for, which is not stored yet
        waiting = waiting_for(work.session, who, scratch.rows.waiting_of(who))
        for seq in waiting:
            work.session.void(seq)
        work.watch.note("void", waiting)
        catch_up(work, scratch)
        fill_places(work.session, who)
        note_event(scratch, work, "erased a person", None, self.by)
        return len(waiting)


def arm_of(arm: str | int | None) -> str | int:
    if arm is None:
        raise ValueError("Expected the name or the number of an arm. Nothing was changed.")
    return arm


def note_event(scratch: Scratch, work: Working, what: str, about: object, by: str | None) -> None:
    """For the campaign's public log."""
    asked, _ = counts_of(work.session)
    said = None if about is None else str(about)
    scratch.events.append(EventRow(scratch.now, what, said, asked, by))
