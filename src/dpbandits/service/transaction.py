"""The transaction that every change of a campaign goes through: lock, load, make due releases, run
the queued calls, write, commit, witness, and only then answer or refuse.

Queued calls of one campaign run together in one transaction, over all of its parts; once it has
drawn noise, asks and operators' calls wait for the next one. After any error the parts in memory
are discarded and read again. A call that fails does not fail the others.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, final

from dpbandits.core.errors import (
    EditedRowsError,
    LedgerError,
    SharedError,
    StoreError,
    UnlearnedError,
    WitnessError,
)
from dpbandits.core.locks import CallLock, this_process
from dpbandits.service.database import Database, Rows, busy
from dpbandits.service.parts import (
    Part,
    Setting,
    TransactionClock,
    change_of,
    compact,
    if_changed,
    loaded,
    next_chain,
    settle,
    with_next_version,
)
from dpbandits.service.refusals import refusal
from dpbandits.service.sealing import CampaignSeal
from dpbandits.service.tables import CampaignRow, Change, HeadRow, ReadingRow
from dpbandits.service.witness import Mark, Moves, Witness
from dpbandits.session.people import HoldoutRule, Register
from dpbandits.session.storing import (
    cost_of,
    drop_unread,
    is_release_missing,
    keeps_exact_sums,
    refreshed,
    release_marker,
    restart_policy,
)

if TYPE_CHECKING:
    from dpbandits.service.operations import OperationModel

MOST_TOGETHER = 256
"""The most calls that one transaction runs."""

WITNESSED_IN, PAUSE = 5.0, 0.01
"""Seconds that a read-only process waits for a committed release to be witnessed, or to come to its
replica, and between two of its attempts.
"""

WRITTEN_IN = 2.0
"""Seconds for which a release is tried again that could not be written, as while the database
restarts: once another process has written, it is given up.
"""

ONLY_PART = ""
"""The name of the part of a campaign that has no segments or holdout."""

RESTORED = (
    "The database is behind its witness: it was restored, or is a late replica. A restored one is "
    "fenced with the next call of whoever serves it, or by `dpbandits campaign fence`; until then "
    "nothing of this campaign is shown."
)
NOT_WITNESSED = (
    "The newest release of this campaign is not witnessed, so nothing is shown. Whoever serves the "
    "campaign makes that good with the next call."
)
UPDATE_FAILED = (
    "A release was made, and what a user-defined policy makes of it failed ({kind}: see the "
    "cause). The release is given up, and nothing that it read is read again: the next call fences "
    "the campaign, and goes on. Correct the policy."
)

Value = TypeVar("Value")


@final
@dataclass(frozen=True)
class Layout:
    """The parts of a campaign.

    Args:
        row: the campaign's row.
        parts: the parts' rows by name; by `ONLY_PART` if there is one part.
        rule: with a holdout, who is on which side; else None.
        side_key: the key that hashes people to sides.
    """

    row: CampaignRow
    parts: Mapping[str, CampaignRow]
    rule: HoldoutRule | None = None
    side_key: bytes | None = field(default=None, repr=False)

    @property
    def is_whole(self) -> bool:
        return ONLY_PART in self.parts

    @property
    def options(self) -> dict[str, Any]:
        """The options of the campaign. Public."""
        return json.loads(self.row.options)["shown"]


@final
class Transaction:
    """A transaction on a campaign, or one consistent state of its rows."""

    def __init__(self, host: Host, rows: Rows, now: float, heads: Mapping[str, HeadRow]) -> None:
        self._host, self.rows, self.now, self.heads = host, rows, now, heads
        self.layout = host.layout
        self.loaded = dict[str, Part]()
        self.used, self.kept_arms = dict[str, tuple[int, int]](), dict[str, int]()
        self.responses = dict[str, str]()
        self.failed = dict[str, Exception]()
        self._accepted, self._drawn = dict[str, object](), dict[str, object]()

    def part(self, name: str) -> Part:
        """Return a part of the campaign; load it first if needed."""
        part = self.loaded.get(name)
        if part is None:
            part = self._host.load(name, self.rows, self.heads)
            if part.is_doubtful:
                raise FenceNeeded
            part.begin(self.used, self.kept_arms)
            self._drawn[part.uid] = release_marker(part.session)
            self.accept(part)
            self.loaded[name] = part
        return part

    def parts(self) -> list[Part]:
        """Return all parts of the campaign."""
        return [self.part(name) for name in self.layout.parts]

    def kept(self, part: Part, make: Callable[[], Value]) -> Value:
        """Return the value that a view caches for a part between transactions, one of each kind."""
        return self._host.kept.setdefault((part.uid, make), make())

    def accept(self, part: Part) -> None:
        """Keep the changes of this part so far, even if the current call fails later."""
        self._accepted[part.uid] = part.marks()

    def is_as_before(self) -> bool:
        """Return whether a refused call left all parts as they were accepted."""
        for part in self.loaded.values():
            idle = refreshed(part.session)
            same = part.marks() == self._accepted[part.uid]
            if not is_release_missing(part.session) and not (idle and same):
                return False
        return True

    def has_drawn(self) -> bool:
        """Return whether noise may have been drawn since the transaction began."""
        return any(
            release_marker(part.session) != self._drawn[part.uid] for part in self.loaded.values()
        )

    def run(self, op: OperationModel, by: str) -> Any:
        """Run a call, or return the stored answer to its key.

        Raises:
            NotSeenYet: noise was drawn in this transaction, and it is no answer. Whether it is
                refused, and what it does, might tell of a release that is never witnessed.
            HorizonError, NotRecordedError: a part has come to its policy's horizon, or a release of
                it fails, which keeps no other part from what is due in it.
            ValueError: another call was made with this key.
        """
        parts, self.failed = op.parts(self), {}
        for part in parts:
            if op.settles(part):
                error = settle(part, self.rows)
                if error is not None:
                    self.failed[part.uid] = error
                self.accept(part)
        if op.role != "tell" and self.has_drawn():
            raise NotSeenYet
        failed = [each for each in self.failed.values() if not isinstance(each, op.passes)]
        key = op.key if all(map(op.settles, parts)) else None
        if key is not None:
            seal = parts[0].seal.store
            place = seal.call_place(self.layout.row.uid, by, key)
            mark = seal.call_mark(op.identity())
            stored = self.responses.get(place) or self.rows.response(place)
            if stored is not None:
                try:
                    first, kept = json.loads(stored)
                except (ValueError, TypeError):
                    raise refusal("edited_reply") from None
                if first != mark:
                    raise refusal("key_used")
                return op.restored_answer(kept, self)
        if failed:
            raise failed[0]
        answer = op.run(self, by)
        if key is not None:
            self.responses[place] = compact([mark, op.kept(answer)])
        return answer

    def is_lost(self, part: Part, by: str, key: str) -> bool:
        """Return whether a batch with this key was sent before the part was fenced. Then its
        outcomes may have been released in the lost timeline.
        """
        place = part.seal.store.call_place(part.uid, by, key)
        generation = part.head.generation
        return self._host.witness.batch(place, generation) < generation

    def read_places(self, part: Part, who: str) -> None:
        """Read what is stored of a person, unless a call of this transaction did."""
        if who in self.used:
            return
        people = part.tables.people
        assert people is not None
        people.used.update(self.rows.used([who]))
        body = None if people.kept is None else self.rows.kept_arm(who)
        if body is not None:
            mark = self._seal.opened_kept_arm(body, who)
            if mark is not None:
                self.kept_arms[who] = mark

    def sealed_arms(self) -> dict[str, bytes]:
        """The arms that people keep, as they are written: a row of one length for everybody."""
        registers = [part.tables.people for part in self.loaded.values()]
        if not any(people is not None and people.kept is not None for people in registers):
            return {}
        kept = self.kept_arms
        return {who: self._seal.kept_arm(who, kept.get(who)) for who in self.used}

    @property
    def _seal(self) -> CampaignSeal:
        return self._host.seal_of(self.layout.row)

    def catch_up(self, people: Register) -> None:
        """Advance the clock of a part's people to the latest time of all parts. So a window never
        opens twice, whichever worker's clock is used.
        """
        people.advance_clock(max(head.latest for head in self.heads.values()))

    def closed_window(self) -> int | None:
        """Return the newest window of contributions that a fence closed, over all parts."""
        closed = [head.parsed["closed_window"] for head in self.heads.values()]
        return max((window for window in closed if window is not None), default=None)


@final
@dataclass(frozen=True)
class Written:
    """The changes that a transaction writes.

    Args:
        before: the heads at its beginning.
        taken: contributions of its people at its beginning.
        changes: the changes by part.
        used: contributions of its people afterwards.
        kept: the arms that people keep, sealed.
        responses: stored answers by idempotency key.
    """

    before: Mapping[str, HeadRow]
    taken: Mapping[str, tuple[int, int]]
    changes: Mapping[str, Change]
    used: Mapping[str, tuple[int, int]]
    kept: Mapping[str, bytes]
    responses: Mapping[str, str]

    @classmethod
    def of(cls, tx: Transaction, changes: Mapping[str, Change | None]) -> Written:
        """Return what a transaction writes. changes: by part; None if it did not change."""
        sealed = {
            tx.loaded[name].uid: change
            if change.head is tx.loaded[name].head
            else tx.loaded[name].sealed(change)
            for name, change in changes.items()
            if change is not None
        }
        before = {uid: tx.heads[uid] for uid in sealed}
        is_kept = tx.used and any(change.releases for change in sealed.values())
        taken = tx.rows.used(list(tx.used)) if is_kept else {}
        return cls(before, taken, sealed, tx.used, tx.sealed_arms(), tx.responses)

    def is_settled(self, rows: Rows, heads: Mapping[str, HeadRow]) -> bool:
        """Return whether it was committed although the database reported an error: its releases are
        there, whatever came after them. Or a fence gave up what it read.
        """
        made = [(uid, each) for uid, change in self.changes.items() for each in change.releases]
        return any(
            heads[uid].generation > head.generation for uid, head in self.before.items()
        ) or all(each in rows.releases(uid, each.step - 1, each.step) for uid, each in made)

    def write(self, rows: Rows) -> None:
        for uid, change in self.changes.items():
            if change.head == self.before[uid]:
                rows.hold(uid, change)
            else:
                rows.write(uid, change)
        rows.contribute(self.used, self.kept)
        rows.respond(self.responses)


class FenceNeeded(BaseException):
    """The campaign has to be fenced first. Not raised outside of this module."""


class NotSeenYet(BaseException):
    """A call waits until what was drawn is witnessed. It runs at the time at which it waits: what
    becomes due later does not have it wait again. Not raised outside of this module.
    """


@final
class QueuedCall:
    """A call in the queue."""

    __slots__ = ("by", "error", "is_done", "op", "since", "value")

    def __init__(self, op: OperationModel, by: str = "") -> None:
        self.op, self.by, self.is_done = op, by, False
        self.since: float | None = None  # the time at which it waits for what was drawn
        self.value: Any = None
        self.error: Exception | None = None

    def answer(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


def copy_of_error(error: StoreError | WitnessError) -> StoreError | WitnessError:
    """Return a copy of an error without its traceback. One error raised in several threads would
    collect the frames of all of them, and the rewards in these.
    """
    made = copy(error)
    made.__cause__ = None if error.__cause__ is None else error.__cause__.with_traceback(None)
    return made


def interrupted() -> StoreError:
    return StoreError(
        "Another call that was run together with this one was interrupted, and whether this one "
        "stands is not known. Make it again: no reward is counted twice."
    )


@final
class Host:
    """One campaign of a store, shared by the threads of a process. Other processes may use it."""

    def __init__(
        self, layout: Layout, database: Database, witness: Witness, setting: Setting
    ) -> None:
        self._clock = TransactionClock(setting.clock)
        self.layout, self.database, self.witness = layout, database, witness
        self._setting = replace(setting, clock=self._clock)
        self._uids = [row.uid for row in layout.parts.values()]
        self._lock, self._queue = CallLock(busy), deque[QueuedCall]()
        self._parts = dict[str, Part]()
        self._unwritten: Written | None = None
        self._is_in_doubt = False  # and this is not in the database yet
        self.kept = dict[object, Any]()
        self._process = this_process()

    def __repr__(self) -> str:
        return f"Host({self.layout.row.name!r})"

    @property
    def settles(self) -> bool:
        """Whether answers or releases may become due without a call, and this process makes
        them.
        """
        options = self.layout.options
        timed = options.get("attribution_window") or options.get("period")
        return not self._setting.looking and bool(timed)

    # Calls

    def do(self, op: OperationModel, by: str = "") -> Any:
        """Run a call together with queued ones. Returns once it is committed and witnessed."""
        self.database.require_writer()
        self._require_own_process()
        queued = QueuedCall(op, by)
        self._queue.append(queued)
        try:
            while not queued.is_done:
                self._lock.run(partial(self._run_queue_for, queued))
        except SharedError:
            if not queued.is_done:
                with suppress(ValueError):
                    self._queue.remove(queued)
            raise
        return queued.answer()

    def look(self, look: Callable[[Transaction], Value]) -> Value:
        """Read the current state of a campaign. Shows only witnessed releases.

        Raises:
            StoreError: this process only looks, and the database was restored, or its newest
                release is not witnessed.
        """
        self._require_own_process()
        if self._setting.looking:
            return self._view_read_only(look)
        return self._lock.run(partial(self._look, look))

    def fence(self) -> None:
        """Drop open blocks and pending decisions, as after the database was restored."""
        self.database.require_writer()
        self._require_own_process()
        self._lock.run(lambda: self._fence(is_asked_for=True))

    def seal_of(self, row: CampaignRow) -> CampaignSeal:
        """The seal of this campaign, or of a part of it."""
        return self._setting.seal.of(row)

    def load(self, name: str, rows: Rows, heads: Mapping[str, HeadRow], **how: bool) -> Part:
        """Return a part, brought up to date. It belongs to the transaction until that commits."""
        row, before = self.layout.parts[name], self._parts.pop(name, None)
        setting = self._setting
        if self.layout.rule is not None and name == "holdout":  # whose policy is none of the user's
            setting = replace(setting, policy=None)
        return loaded(row, heads[row.uid], rows, setting, before, **how)

    def _require_own_process(self) -> None:
        """In a forked child: forget the parts and the queue of the parent."""
        if self._process != this_process():
            self._process, self._queue, self._parts = this_process(), deque(), {}
            self._unwritten = None

    def _look(self, look: Callable[[Transaction], Value]) -> Value:
        if self._is_in_doubt:
            self._mark_doubtful()
        # read without a lock, the rows may be older than what the witness says a moment later
        for locks in (False, True, True):
            begun = self.database.transaction if locks else self.database.reading
            try:
                with begun(self.layout.row.uid) as rows, self._clock.stopped() as now:
                    heads = rows.heads(self._uids)
                    if not self._is_restored(heads):
                        with suppress(FenceNeeded):
                            return self._shown(look, Transaction(self, rows, now, heads))
            except EditedRowsError as error:
                if error.fenced:
                    self._mark_doubtful()
                raise
            if locks:
                self._fence()
        raise StoreError(RESTORED)

    def _shown(self, look: Callable[[Transaction], Value], tx: Transaction) -> Value:
        """A view changes nothing, so the parts stay in memory."""
        try:
            return look(tx)
        finally:
            self._parts.update(tx.loaded)

    def _view_read_only(self, look: Callable[[Transaction], Value]) -> Value:
        def attempt() -> tuple[str | None, list[Value]]:
            seen = self.witness.marks(self._uids)
            with self.database.reading(self.layout.row.uid) as rows, self._clock.stopped() as now:
                heads = rows.heads(self._uids)
                hidden = self._why_hidden(heads, seen)
                tx = Transaction(self, rows, now, heads)
                return hidden, [] if hidden else [self._shown(look, tx)]

        until = time.monotonic() + WITNESSED_IN
        while True:
            hidden, results = self._lock.run(attempt)
            if hidden is None:
                return results[0]
            if time.monotonic() > until:
                raise StoreError(hidden)
            time.sleep(PAUSE)

    def _why_hidden(self, heads: Mapping[str, HeadRow], seen: Mapping[str, Mark]) -> str | None:
        """Why nothing of this is shown; None: all of it is witnessed. seen: the marks before the
        heads were read.
        """
        for uid, head in heads.items():
            last, now = seen.get(uid), Mark.of(head)
            if now == last:
                continue
            if last is None:
                raise WitnessError(
                    "The witness does not know this campaign. Name the one of whoever serves the "
                    "store, with witness= or --witness."
                )
            if (now.generation, now.step) <= (last.generation, last.step):
                return RESTORED
            if not self.witness.knows(uid, now):
                return NOT_WITNESSED
        return None

    # Transactions

    def _run_queue_for(self, queued: QueuedCall) -> None:
        if not queued.is_done:
            if queued not in self._queue:  # the thread that ran it was interrupted
                raise interrupted()
            self._run_queue()

    def _run_queue(self) -> None:
        """Run the queued calls. Each of them gets an answer or an error, whatever happens."""
        batch, left = list[QueuedCall](), self._unwritten
        self._add_waiting(batch)
        try:
            try:
                self._run_all(batch, self._add_waiting)
            except (StoreError, WitnessError) as error:
                until = time.monotonic() + WRITTEN_IN
                while (
                    not self._is_in_doubt
                    and self._unwritten not in (None, left)
                    and time.monotonic() < until
                ):
                    try:
                        self._write_unwritten()
                    except Exception:  # the next call tries once more
                        time.sleep(PAUSE)
                for queued in batch:  # it may have been committed, so it is not repeated here
                    queued.error = error if len(batch) == 1 else copy_of_error(error)
            except Exception as first:
                for queued in batch:  # only the call that caused it fails
                    if len(batch) == 1:
                        queued.error = first
                        continue
                    try:
                        self._run_all([queued])
                    except Exception as error:
                        queued.error = error.with_traceback(None)  # it has frames of other calls
        finally:
            for queued in batch:
                if not queued.is_done:
                    queued.error, queued.is_done = queued.error or interrupted(), True

    def _add_waiting(self, batch: list[QueuedCall]) -> None:
        """Add queued calls to the batch."""
        while self._queue and len(batch) < MOST_TOGETHER:
            batch.append(self._queue.popleft())

    def _run_all(
        self, batch: list[QueuedCall], gather: Callable[[list[QueuedCall]], None] | None = None
    ) -> None:
        """Run these calls, and take those that are done from the list.

        Args:
            gather: adds calls that were queued while other processes held the database.
        """
        while batch:
            if not self._transact(batch, gather):
                self._fence()
            gather = None  # who runs the calls of others comes to an end

    def _transact(
        self, batch: list[QueuedCall], gather: Callable[[list[QueuedCall]], None] | None
    ) -> bool:
        """Run these calls in one transaction, commit, and witness. Those that wait for what was
        drawn stay in the list. Returns False if nothing was done because the campaign has to be
        fenced first.
        """
        if self._is_in_doubt:
            self._mark_doubtful()
        try:
            self._write_unwritten()
            with (
                self.database.transaction(self.layout.row.uid) as rows,
                self._clock.stopped(batch[0].since) as now,
            ):
                if gather is not None:
                    gather(batch)
                heads = rows.heads(self._uids)
                if self._is_restored(heads):
                    self._parts = {}
                    return False
                tx, failed = Transaction(self, rows, now, heads), None
                try:
                    answers = self._run(batch, tx)
                    changes = {
                        name: if_changed(change_of(part, now), part.head)
                        for name, part in tx.loaded.items()
                    }
                    written = Written.of(tx, changes)
                except BaseException as error:
                    is_apart = isinstance(error, (FenceNeeded, KeyboardInterrupt))
                    if is_apart or self.database.caused(error) or not tx.has_drawn():
                        raise
                    failed, self._is_in_doubt = error, True  # it may depend on what was drawn
                    self._write_doubt(rows, heads)
                else:
                    if any(change.releases for change in written.changes.values()):
                        self._unwritten = written
                    written.write(rows)
            self._unwritten, self._is_in_doubt = None, False
            if failed is not None:
                self._fence_at_once()
                if not isinstance(failed, Exception):
                    raise failed
                raise UnlearnedError(UPDATE_FAILED.format(kind=type(failed).__name__)) from failed
            for name, change in changes.items():
                if change is not None:
                    tx.loaded[name].head = change.head
            self._parts.update(tx.loaded)
            moves = {
                uid: (Mark.of(change.head), Mark.of(heads[uid]), change.head.latest)
                for uid, change in written.changes.items()
                if change.releases
            }
            if moves:
                self._witness_marks(moves)
        except FenceNeeded:
            self._parts = {}
            return False
        except BaseException as error:
            self._parts = {}
            fences = isinstance(error, EditedRowsError) and error.fenced
            if self._is_in_doubt or fences or isinstance(error, LedgerError):
                self._mark_doubtful()
            raise
        for queued, value, refused in answers:
            queued.value, queued.error, queued.is_done = value, refused, True
        batch[:] = [queued for queued in batch if not queued.is_done]
        return True

    def _run(
        self, batch: Sequence[QueuedCall], tx: Transaction
    ) -> list[tuple[QueuedCall, Any, Exception | None]]:
        """Run the calls but those that wait for what was drawn, and return their answers, or why
        they are refused. A refused call changes nothing; the other calls go on, and due releases
        made before it stand. If a due release fails, its block stays open, and the next call
        releases it.
        """
        answers = list[tuple[QueuedCall, Any, Exception | None]]()
        for queued in batch:
            for part in tx.loaded.values():
                tx.accept(part)
            try:
                answers.append((queued, tx.run(queued.op, queued.by), None))
            except NotSeenYet:
                queued.since = tx.now
            except Exception as error:
                fences = isinstance(error, EditedRowsError) and error.fenced
                if fences or self.database.caused(error) or not tx.is_as_before():
                    raise
                # raised after the commit: it may tell of a release that was made
                refused = error if len(batch) == 1 else error.with_traceback(None)
                answers.append((queued, None, refused))
        return answers

    def _write_unwritten(self) -> None:
        """Write a release that an earlier transaction made and could not write. Rules in the
        database may make writing fail for some values, so noise must not be drawn again. The
        release is given up if another process wrote; in a database that was restored meanwhile it
        is behind the witness, so it stays unseen.
        """
        left, group = self._unwritten, self.layout.row.uid
        if left is None:
            return
        with self.database.transaction(group) as rows:  # which waits for a commit under way
            heads = rows.heads(self._uids)
            is_settled = left.is_settled(rows, heads)
            if not is_settled and left.before.items() <= heads.items():  # nobody wrote since
                taken = rows.used(list(left.used)) if left.used else {}
                if taken == left.taken:
                    left.write(rows)
                    is_settled = True
            if not is_settled:
                self._write_doubt(rows, heads)
        self._unwritten = None
        if not is_settled:
            self._fence_at_once()

    def _witness_marks(self, moves: Moves) -> None:
        """Witness committed marks. An error here must not repeat the transaction."""
        try:
            self.witness.add(moves)
        except (OSError, MemoryError):
            raise interrupted() from None

    def _mark_doubtful(self) -> None:
        """Have the next call fence the campaign, in any process. If writing this fails, the next
        call begins with it. Where a release was given up, the campaign is fenced at once.
        """
        gave_up = self._is_in_doubt or self._unwritten is not None
        self._is_in_doubt, self._parts = True, {}
        with self.database.transaction(self.layout.row.uid) as rows:
            self._write_doubt(rows, rows.heads(self._uids))
        self._unwritten, self._is_in_doubt = None, False
        if gave_up:
            self._fence_at_once()

    def _write_doubt(self, rows: Rows, heads: Mapping[str, HeadRow]) -> None:
        """Write that a fence is due. Noise that was drawn and cannot be written must not be drawn
        again, so the transaction that drew it writes this, and nobody comes between.
        """
        for row in self.layout.parts.values():
            head, seal = heads[row.uid], self._setting.seal.of(row)
            try:
                private = seal.opened_private(rows.private(row.uid), head)
            except EditedRowsError:  # the next call raises it
                continue
            moved = with_next_version(head)
            body = seal.private({**private, "doubtful": True}, moved)
            rows.write(row.uid, Change(moved, private=body))

    def _fence_at_once(self) -> None:
        """Fence what is doubtful: a copy put back now would not have the mark."""
        with suppress(Exception):  # then the next call tries: this one says what it met
            self._fence()

    # Fences

    def _is_restored(self, heads: Mapping[str, HeadRow]) -> bool:
        """Return whether a part is behind the witness, so that all parts have to be fenced: they
        share the contributions of people. Otherwise witness what a crash left unwitnessed.
        """
        seen = self.witness.marks(self._uids)
        if any(is_behind(head, seen.get(uid), self.witness) for uid, head in heads.items()):
            return True
        moves = {
            uid: (Mark.of(head), seen.get(uid), head.latest)
            for uid, head in heads.items()
            if seen.get(uid) != Mark.of(head)
        }
        if moves:
            self.witness.add(moves)
        return False

    def _fence(self, *, is_asked_for: bool = False) -> None:
        """Fence all parts if one is behind the witness or in doubt.

        A fence gives up what the restored copy may have lost: it drops open blocks unread, voids
        pending decisions, deletes held answers, and uses up all contributions of the open window.
        So each record is released at most once over both timelines.
        Proof: proofs/fence.md.
        """
        self._parts = {}
        try:
            with (
                self.database.transaction(self.layout.row.uid) as rows,
                self._clock.stopped() as now,
            ):
                heads = rows.heads(self._uids)
                if is_asked_for:  # what a crash left unwitnessed is witnessed, if all is well
                    with suppress(WitnessError):
                        self._is_restored(heads)
                seen = self.witness.marks(self._uids)
                parts = [self.load(name, rows, heads, giving_up=True) for name in self.layout.parts]
                if not is_asked_for and not any(
                    part.is_doubtful or is_behind(part.head, seen.get(part.uid), self.witness)
                    for part in parts
                ):
                    return  # another process did it
                fenced = {
                    part.uid: self._fence_part(part, rows, seen.get(part.uid), now)
                    for part in parts
                }
            self.witness.add(
                {uid: (Mark.of(h), seen.get(uid), h.latest) for uid, h in fenced.items()}
            )
        finally:
            self._parts = {}

    def _fence_part(self, part: Part, rows: Rows, seen: Mark | None, now: float) -> HeadRow:
        """Fence one part, and return its new head.

        If the witness does not know the newest transaction, nobody saw its releases, and the lost
        timeline may have shown other releases of the same records. Then they stay hidden, and the
        policy restarts.
        """
        unseen: list[list[int]] = []
        # a restored machine may have an old clock: close the window of the last witnessed time
        people = part.tables.people
        if people is not None:
            people.advance_clock(max(now, self.witness.latest_time(part.uid)))
        if seen is not None and not self.witness.knows(part.uid, Mark.of(part.head)):
            unseen = [[part.head.before + 1, part.head.step]]
        seen = seen or Mark.of(part.head)
        generation = max(seen.generation, part.head.generation) + 1
        hidden = part.head.step - part.head.before if unseen else 0
        step = max(seen.step + hidden, part.head.step) + 1
        lost = ReadingRow(
            seen.generation, 0, 0, 0, cost_of(part.session), step, "lost", part.head.version + 1
        )
        part.begin({}, {})
        drop_unread(part.session)
        restarts = bool(unseen) or keeps_exact_sums(part.session)
        if restarts:
            restart_policy(part.session, part.head.parsed.get("alarms", 0) if unseen else None)
            if part.contexts is not None:
                part.contexts.restart()
        unseen = [*part.head.parsed["unseen"], *unseen]
        chain = next_chain(seen.chain, "fence", generation, part.nonce)
        part.head = part.head._replace(generation=generation, step=step, chain=chain)
        window = None if people is None else people.window_number()
        notes: dict[str, Any] = {"closed_window": window, "unseen": unseen}
        if restarts:
            notes["fresh_since"] = generation
        part.note(now, "fence", f"generation {generation}")
        change = change_of(part, now, notes=notes, lost=[lost])
        # the witness's position now: after a crash, the next call continues from it
        head = change.head._replace(before=seen.step, chain_before=seen.chain)
        rows.write(part.uid, part.sealed(replace(change, head=head, voids_pending=True)))
        return head


def is_behind(head: HeadRow, seen: Mark | None, witness: Witness) -> bool:
    """Return whether the database lost a transaction that the witness knows.

    Raises:
        WitnessError: the witness is the one that lost something, or is another one.
    """
    if seen == Mark.of(head):
        return False
    if seen is None:
        raise WitnessError(
            f"The witness {witness.place} does not know this campaign. If it is another one, open "
            "the store with witness= of the right one. If the witness is lost, nobody can say "
            "whether the database is the newest: `dpbandits campaign fence` gives up what may have "
            "been read, and goes on."
        )
    if seen.chain == head.chain_before and seen.step == head.before:
        return False  # the newest transaction alone is not witnessed: a crash came between
    if (seen.generation, seen.step) < (head.generation, head.before):
        raise WitnessError(
            f"The witness {witness.place} is older than the database: it was put back. Put back "
            "the newest one; if that is lost, `dpbandits campaign fence` gives up what may have "
            "been read, and goes on."
        )
    return True
