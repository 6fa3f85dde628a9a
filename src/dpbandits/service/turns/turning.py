"""The one way in which a campaign changes: lock, bring up to date, compare with the witness, make
what is due, do what callers want, write, commit, witness, and only then answer or refuse.

Calls that wait for one campaign are done together in one transaction. Whatever goes wrong, what is
in memory is thrown away and read anew; a call that did it alone fails alone.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from sys import _getframe
from typing import Any, TypeVar, final

from dpbandits.core.calls.forgetting import discreet, forget
from dpbandits.core.calls.gate import Home
from dpbandits.core.errors import (
    EditedRowsError,
    LedgerError,
    StoreError,
    UnlearnedError,
    WitnessError,
)
from dpbandits.service.call_lock import CallLock
from dpbandits.service.rows.backend import Backend, CampaignRows
from dpbandits.service.rows.records import CampaignRow, HeadRow, RowChange, latest_of
from dpbandits.service.turns.asks import Scratch
from dpbandits.service.turns.clock import TransactionClock
from dpbandits.service.turns.fence import fence, is_behind, mark_of, to_be_written, was_put_back
from dpbandits.service.turns.settling import releases_kept, settle
from dpbandits.service.turns.tickets import (
    UNDONE,
    Op,
    Ticket,
    answers_named,
    change_after,
    interrupted,
    own,
    standing,
)
from dpbandits.service.turns.working import CampaignSetting, Working, goes_on, working_at
from dpbandits.service.witness import WitnessFile
from dpbandits.session.people import seconds_of
from dpbandits.session.storing import forget_places, left_half_done, put_in_order

TOGETHER = 256
"""Calls that one transaction does."""

Value = TypeVar("Value")


@final
class Turning:
    """One campaign of a store, for all threads of a process. Other processes may have it, too."""

    def __init__(
        self,
        row: CampaignRow,
        backend: Backend,
        witness: WitnessFile,
        setting: CampaignSetting,
        others: Sequence[tuple[CampaignRow, CampaignSetting]] = (),
    ) -> None:
        """others: the other segments of this campaign, and how each is opened."""
        self._clock = TransactionClock(setting.clock)
        self.row, self.backend, self.witness = row, backend, witness
        self.setting, self.others = replace(setting, clock=self._clock), others
        self._lock, self._queue = CallLock(), deque[Ticket]()
        self._work: Working | None = None
        # a head, the places that people had taken, and what was released then and may not have been
        # written
        self._unwritten: tuple[HeadRow, Mapping[str, tuple[int, int]], RowChange] | None = None
        self._home = Home()

    @discreet
    def do(self, op: Op) -> Any:
        """Do a call, together with those that wait; returns once it is committed and witnessed."""
        self._settle_in()
        ticket = Ticket(op)
        self._queue.append(ticket)
        while not ticket.done:
            with self._lock:
                if not ticket.done:
                    if ticket not in self._queue:  # who led was interrupted, and lost it
                        raise interrupted()
                    self._lead()
        return ticket.answer()

    def look(self, look: Callable[[Working, CampaignRows], Value]) -> Value:
        """Look at a campaign as it stands; nothing that is not witnessed is shown."""
        self._settle_in()
        try:
            with self._lock:
                with self.backend.reading(self.row.uid) as rows:
                    work = self._current(rows)
                    if not work.doubtful and not was_put_back(work, rows, self.witness):
                        return look(work, rows)
                self._fence_all()
                with self.backend.reading(self.row.uid) as rows:
                    return look(self._current(rows), rows)
        except BaseException as error:
            forget(error, _getframe())
            raise

    @discreet
    def fence(self) -> None:
        """Give up all that is open, as after the database was put back; in every segment, those
        whose witness is in order first, for they could not tell afterwards.
        """
        self._settle_in()
        with self._lock:
            for part in sorted(self._family(), key=Turning._is_in_doubt):
                part._fence(part._is_asked_for)

    def _settle_in(self) -> None:
        """A forked child reads everything anew, and waits for no thread of its parent's."""
        if not self._home.here:
            self._lock, self._queue = CallLock(), deque()
            self._work, self._home = None, Home()

    def _lead(self) -> None:
        """Do the calls that wait. Every one of them is answered, whatever happens."""
        batch = list[Ticket]()
        self._gather(batch)
        try:
            try:
                while not self._transact(batch, self._gather):
                    self._fence_all()
            except (StoreError, WitnessError) as error:
                # what was done may stand, so it is not done again here
                for ticket in batch:
                    ticket.refuse(own(error))
            except Exception:
                for ticket in batch:  # who did it fails alone
                    ticket.value, ticket.error, ticket.refused = UNDONE, None, None
                    try:
                        while not self._transact([ticket]):
                            self._fence_all()
                    except Exception as error:
                        ticket.refuse(error)
        finally:
            for ticket in batch:
                if ticket.error is None and ticket.value is UNDONE:
                    ticket.error = interrupted()
                ticket.done = True

    def _gather(self, batch: list[Ticket]) -> None:
        """Add the calls that wait by now."""
        while self._queue and len(batch) < TOGETHER:
            ticket = self._queue.popleft()
            ticket.value = UNDONE
            batch.append(ticket)

    def _transact(
        self, batch: list[Ticket], gather: Callable[[list[Ticket]], None] | None = None
    ) -> bool:
        """One transaction: these calls, committed and witnessed. False: nothing was done, for the
        campaign has to be fenced first.

        gather: adds calls that came while other campaigns had the database.
        """
        try:
            self._write_again()
            with self.backend.transaction(self.row.uid) as rows, self._clock.stopped() as now:
                if gather is not None:
                    gather(batch)
                work = self._current(rows)
                if work.doubtful or was_put_back(work, rows, self.witness):
                    return False
                before = work.head
                scratch = Scratch(rows, now)
                with releases_kept(work, self.backend.failures):
                    answers = self._run(batch, work, scratch)
                    change = change_after(work, scratch)
                    answers, change = answers_named(batch, answers, change, work)
                forget_places(work.session)
                written = to_be_written(change, before)
                if written is None:
                    pass
                elif written.head is before:
                    rows.hold(written)
                else:
                    sealed = work.sealed(written)
                    if sealed.releases:
                        self._unwritten = before, rows.used(list(sealed.used)), sealed
                    rows.write(sealed)
            self._unwritten = None
            if written is not None:
                work.committed(written)
                if mark_of(written.head) != mark_of(before):
                    self._witnessed(written.head, before)
        except BaseException as error:
            self._work = None
            forget(error, _getframe())
            if isinstance(error, (LedgerError, UnlearnedError)) or (
                isinstance(error, EditedRowsError) and error.fenced
            ):
                self._doubt()
            raise
        for ticket, answer in zip(batch, answers, strict=True):
            ticket.value, ticket.error = answer, ticket.refused
        return True

    def _write_again(self) -> None:
        """What an earlier transaction released, and could not write, is written now: whether that
        fails may depend on the noise, where somebody put rules into the database. Where the
        database was put back meanwhile, or another segment took a place of the same people, it is
        given up.
        """
        if self._unwritten is None:
            return
        before, taken, change = self._unwritten
        with self.backend.reading(self.row.uid) as rows:
            head = rows.head()
        stands = goes_on(before, head)
        if head == before:
            with self.backend.transaction(self.row.uid) as rows:
                stands = rows.used(list(change.used)) == taken
                if (
                    stands
                    and rows.head() == before
                    and not is_behind(before, self.row.uid, self.witness)
                ):
                    rows.write(change)
        if not stands:
            self._doubt()
        self._unwritten = None

    def _doubt(self) -> None:
        """The next call fences the campaign: what was drawn and cannot be written is not drawn
        again.
        """
        with self.backend.transaction(self.row.uid) as rows:
            head, seal = rows.head(), self.setting.seal.of(self.row)
            private = seal.opened_private(rows.private(), head)
            body = seal.private({**private, "doubtful": True}, head)
            rows.hold(RowChange(head, private=body))
        self._unwritten = None

    def _witnessed(self, head: HeadRow, before: HeadRow) -> None:
        """What is committed is not done again, whatever goes wrong now."""
        try:
            self.witness.add(self.row.uid, mark_of(head), mark_of(before), latest_of(head))
        except (OSError, MemoryError):
            raise interrupted() from None

    def _run(self, batch: Sequence[Ticket], work: Working, scratch: Scratch) -> list[Any]:
        """What every call answers. A call that is refused changes nothing, and fails alone; what
        was due before it stands. Where a release fails that is due, what it would read stands, and
        the next call makes it.
        """
        answers = list[Any]()
        for ticket in batch:
            before: object = None
            try:
                if ticket.op.settles(work):
                    settle(work, scratch)
                before = standing(work)
                answers.append(ticket.op.run(work, scratch))
            except Exception as error:
                edited = isinstance(error, EditedRowsError) and error.fenced
                if edited or isinstance(error, self.backend.failures):
                    raise
                idle = put_in_order(work.session)
                if not left_half_done(work.session) and not (idle and standing(work) == before):
                    raise
                ticket.refuse_later(error)
                answers.append(None)
        return answers

    def _current(self, rows: CampaignRows, *, giving_up: bool = False) -> Working:
        before, self._work = self._work, None
        self._work = working_at(self.row, rows, self.setting, before, giving_up=giving_up)
        return self._work

    def _fence_all(self) -> None:
        """Fence what is behind; before it the other segments, which could not tell afterwards that
        one was.
        """
        self._work = None
        for part in (parts := self._family()):
            part._fence(part._is_sound_beside)
        for part in parts:
            part._fence(part._is_behind)

    def _family(self) -> list["Turning"]:
        """This campaign, after its other segments."""
        others = [Turning(row, self.backend, self.witness, setting) for row, setting in self.others]
        return [*others, self]

    def _is_asked_for(self, rows: CampaignRows, work: Working) -> bool:
        """Always; what a crash left unwitnessed, and nothing contradicts, is witnessed before."""
        with suppress(WitnessError):
            was_put_back(work, rows, self.witness)
        return True

    def _is_in_doubt(self) -> bool:
        """Whether its witness says another thing than the database."""
        with self.backend.reading(self.row.uid) as rows:
            return self.witness.latest(self.row.uid) != mark_of(rows.head())

    def _is_behind(self, rows: CampaignRows, work: Working) -> bool:
        return work.doubtful or is_behind(work.head, self.row.uid, self.witness)

    def _is_sound_beside(self, rows: CampaignRows, work: Working) -> bool:
        """Whether this segment lost nothing, and another one did."""
        if self._is_behind(rows, work):
            return False
        return was_put_back(work, rows, self.witness)

    def _fence(self, needed: Callable[[CampaignRows, Working], bool]) -> None:
        uid, now = self.row.uid, seconds_of(self.setting.clock())
        try:
            with self.backend.transaction(uid) as rows:
                work = self._current(rows, giving_up=True)
                if not needed(rows, work):
                    return  # another process did it
                seen = self.witness.latest(uid)
                head = fence(work, rows, self.setting, self.witness, now)
            self.witness.add(uid, mark_of(head), seen, latest_of(head))
        finally:
            self._work = None
