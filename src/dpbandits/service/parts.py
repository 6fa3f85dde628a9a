"""A part of a campaign in memory: loaded from its rows, brought up to date by those that moved, and
written back as a change.

A campaign has one part; with segments one for each, with a holdout one for each side. What is
loaded can be thrown away at any time: the next transaction reads it anew.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, final

import msgspec
from msgspec.structs import replace as replaced

from dpbandits.core.errors import (
    EditedRowsError,
    HorizonError,
    StoreError,
)
from dpbandits.core.inputs import seconds_of
from dpbandits.mechanisms.base import NEW
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.service.contexts import ContextRows, has_contexts, small_answers
from dpbandits.service.database import Rows
from dpbandits.service.sealing import (
    EDITED,
    CampaignSeal,
    DecisionNames,
    OpenedName,
    PendingRow,
    PendingRows,
    StoreSeal,
    edited_decisions,
    fresh_nonce,
)
from dpbandits.service.tables import (
    CampaignRow,
    Change,
    DecisionRow,
    EventRow,
    HeadRow,
    ReadingRow,
    ReleaseRow,
    Status,
)
from dpbandits.session.contexts import packed, unpacked
from dpbandits.session.decisions import Play
from dpbandits.session.saving import VERSION, plain_number
from dpbandits.session.session import Session
from dpbandits.session.state import Asked, Tables, View
from dpbandits.session.storing import (
    ChangeRecorder,
    ReleaseWithReadings,
    SessionChanges,
    SessionRows,
    cost_of,
    due_now,
    is_release_missing,
    keep_recorded,
    latest_time,
    rows_in,
    session_from_parts,
    small_parts,
    zero_answer,
)
from dpbandits.session.times import Clock

KEPT_TRANSACTIONS = 64
"""Transactions that a head names, the newest last."""


FIRST_NOTES: Mapping[str, Any] = {
    "documents": VERSION,
    "fresh_since": 1,
    "closed_window": None,
    "transactions": [],
    "unseen": [],
    "erased": 0,
    "alarms": 0,
}
"""What a head notes at first.

documents: the version of documents that its session is written in. fresh_since: the generation in
which the policy at work began. closed_window: the newest window of contributions that a fence
closed. transactions: words of the newest ones. unseen: from which step to which releases stay
hidden. erased: the version that erased a person's contexts last. alarms: how many a guardrail had
raised before the newest transaction.
"""


@final
class TransactionClock:
    """Says the time of the transaction under way, else what `clock` says. What is due is made
    before the calls, and nothing becomes due in their midst.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stopped: float | None = None

    def __call__(self) -> Any:
        return self._clock() if self._stopped is None else self._stopped

    @contextmanager
    def stopped(self, at: float | None = None) -> Iterator[float]:
        """The time in seconds, which does not pass until the block is left. at: None: now."""
        self._stopped = now = seconds_of(self._clock()) if at is None else at
        try:
            yield now
        finally:
            self._stopped = None


@final
@dataclass(frozen=True)
class Setting:
    """What a store lends its campaigns.

    Args:
        policy: the policy or its class, where it is user-defined: a database names no code.
        looking: whether private rows stay unread.
    """

    seal: StoreSeal
    clock: Clock
    noise: Noise | None
    policy: Policy | type[Policy] | None = None
    looking: bool = False


@final
@dataclass(eq=False)
class Part:
    """A part of a campaign as its newest transaction left it.

    Args:
        plays: those of stored decisions, each kept once.
        pending: the pending decisions, as they were written.
        contexts: of a policy that decides by contexts, their rows.
        lines: a hash over all lines of the ledger.
        is_doubtful: whether the campaign has to be fenced, because rows were edited, or what was
            drawn may have been seen.
        secret: what its private row will say.
        eligible: of decisions made in this transaction, the arms they were chosen among, as JSON.
        told: answers made in this transaction that are held, in grid steps.
        closed: why this transaction ends the campaign.
        alarms: how many a guardrail had raised when it began.
        erases: whether it erases a person's contexts.
    """

    row: CampaignRow
    head: HeadRow
    session: Session
    watch: ChangeRecorder
    names: DecisionNames
    seal: CampaignSeal
    plays: dict[Any, Play]
    pending: PendingRows
    contexts: ContextRows | None = None
    lines: str = ""
    is_doubtful: bool = False
    secret: dict[str, Any] = field(default_factory=dict)
    nonce: int = 0
    eligible: dict[int, str] = field(default_factory=dict)
    events: list[EventRow] = field(default_factory=list)
    told: dict[int, Any] = field(default_factory=dict)
    closed: str | None = None
    alarms: int = 0
    erases: bool = False

    def __repr__(self) -> str:
        return f"Part({self.row.name!r}, version={self.head.version})"

    @property
    def uid(self) -> str:
        return self.row.uid

    @property
    def view(self) -> View:
        """The counts and the pending decisions of its session. They are not copied."""
        return self.session._current

    @property
    def tables(self) -> Tables:
        """What its session notes of single decisions and people."""
        return self.session._tables

    def begin(self, used: dict[str, tuple[int, int]], kept: dict[str, int]) -> None:
        """A transaction begins. used, kept: places of people and the arms that they keep, which all
        parts share meanwhile.
        """
        self.nonce = fresh_nonce()
        self.eligible, self.events, self.told, self.closed = {}, [], {}, None
        self.erases, harm = False, self.session._state.harm
        self.alarms = 0 if harm is None else len(harm.alarms)
        people = self.tables.people
        if people is not None:
            people.used, people.kept = used, None if people.kept is None else kept

    def note(self, now: float, what: str, about: object, by: str = "") -> None:
        """Add an event to the public log. by: who made it; empty where nobody says."""
        subject = None if about is None else str(about)
        self.events.append(EventRow(now, what, subject, self.view.asked, by or None))

    def sealed(self, change: Change) -> Change:
        """A change with the private row that belongs to its head."""
        checks = {
            "ids": self.names.key.hex(),
            "waiting": self.pending.digest(),
            "lines": self.lines,
        }
        if self.contexts is not None:
            checks["contexts"] = self.contexts.digest()
        return replace(change, private=self.seal.private({**self.secret, **checks}, change.head))

    def marks(self) -> object:
        """What a refused call leaves as it was."""
        session, view = self.session, self.view
        counts = view.asked, len(view.pending), session.releases, session.unread
        return *counts, session.events, session.closed


# Loading


def loaded(
    row: CampaignRow,
    head: HeadRow,
    rows: Rows,
    setting: Setting,
    before: Part | None,
    *,
    giving_up: bool = False,
) -> Part:
    """Return the part as its rows say it is.

    Args:
        before: the part as it was in memory; only what moved since is read.
        giving_up: for a fence, which voids all pending decisions: no decision is looked at.

    Raises:
        EditedRowsError: rows are not those that were written.
    """
    seal, private = setting.seal.of(row), dict[str, Any]()
    if before is not None and before.head == head and not giving_up:
        return before
    if not setting.looking:
        private = seal.opened_private(rows.private(row.uid), head)
    doubtful = bool(private.pop("doubtful", False))
    lost = giving_up or doubtful
    if before is not None and (lost or not is_continued_by(before.head, head)):
        before = None  # the database was put back, or fenced
    erased = head.parsed["erased"]  # rows that are gone are not among those that moved
    if before is not None and erased > before.head.version:
        before = None
    since = 0 if before is None else before.head.version
    kept = SessionRows() if before is None else rows_in(before.session)
    plays = {} if before is None else before.plays
    pending = PendingRows(seal.pending_key()) if before is None else before.pending
    read = rows.readings(row.uid, since)
    lines = lines_after("" if before is None else before.lines, read)
    if not setting.looking and private.pop("lines") != lines:
        raise EditedRowsError(EDITED)
    public, contexts = session_in(head), None
    if has_contexts(public):
        contexts = ContextRows(seal.contexts_key()) if before is None else before.contexts
        assert contexts is not None
        kept.apart = contexts.load(row.uid, rows, since, public, setting.policy)
        if not setting.looking and private.pop("contexts") != contexts.digest():
            raise EditedRowsError(EDITED)
    if not lost:
        try:
            moved = rows.moved(row.uid, since)
            pending.replace(moved_in(kept, moved, plays, pending, contexts))
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise edited_decisions() from None
    fresh = [r for r in read if r.kind == "read" and (since or r.generation >= head.fresh_since)]
    kept.add_readings((r.coordinate, r.start, r.stop) for r in fresh)
    if contexts is not None:
        public = public | {"policy": None, "learned": None}
    if setting.looking:
        names = DecisionNames.fresh()
        session = session_from_parts(public, None, kept, policy=setting.policy, clock=setting.clock)
    else:
        total, names = private.pop("waiting"), DecisionNames(bytes.fromhex(private.pop("ids")))
        if lost:  # what was pending will never be read
            unread = public["asked"] - public["records"]
            void = public.get("void", 0) + unread - public["unread"]
            public = public | {"unread": unread, "void": void}
        elif not pending.matches(total):
            raise edited_decisions()
        session = session_from_parts(
            public,
            private | {"held": []},
            kept,
            policy=setting.policy,
            noise=noise_to_go_on(setting, private, before),
            clock=setting.clock,
            user_key=setting.seal.user_key(row.group),
        )
    people = session._tables.people
    if head.parsed["closed_window"] is not None and people is not None:
        people.end()  # after a fence, all places in the window that was open are taken
    watch = ChangeRecorder(session)
    return Part(row, head, session, watch, names, seal, plays, pending, contexts, lines, doubtful)


def lines_after(lines: str, read: Iterable[ReadingRow]) -> str:
    """The hash over the ledger's lines, with some more of them."""
    for line in read:
        text = f"{lines}|{'|'.join(map(str, line))}"
        lines = hashlib.sha256(text.encode()).hexdigest()
    return lines


def is_continued_by(before: HeadRow, head: HeadRow) -> bool:
    """Whether one transaction is before (or is) another on the same timeline."""
    if before.generation != head.generation:
        return False
    before_ids, head_ids = (each.parsed["transactions"] for each in (before, head))
    since = head.version - before.version
    return 0 <= since < len(head_ids) and head_ids[-1 - since] == before_ids[-1]


def with_next_version(head: HeadRow) -> HeadRow:
    """The head after a transaction that changes nothing else: who has the campaign in memory reads
    its rows anew.
    """
    return head._replace(version=head.version + 1, notes=head_notes(head.parsed))


def session_in(head: HeadRow) -> dict[str, Any]:
    """The policy and the public part of the session, in one.

    Raises:
        StoreError: another version of this package wrote it.
    """
    if head.parsed.get("documents") != VERSION:
        raise StoreError(
            f"This campaign was written with documents of version {head.parsed.get('documents')}; "
            f"this dpbandits reads version {VERSION}. Use the dpbandits that wrote it."
        )
    parts = json.loads(head.public)
    return parts["public"] | {"policy": parts["policy"]}


def noise_to_go_on(setting: Setting, private: dict[str, Any], before: Part | None) -> Noise | None:
    """The source to go on with. Simulated noise goes on from where the rows say it stood."""
    if private["noise"]["kind"] == "simulated":
        return None
    if before is not None:
        return before.session._vault.noise
    if setting.noise is not None and setting.noise.kind != private["noise"]["kind"]:
        return None
    return setting.noise


def moved_in(
    kept: SessionRows,
    moved: Iterable[Any],
    plays: dict[Any, Play],
    pending: PendingRows,
    contexts: ContextRows | None,
) -> dict[int, PendingRow | None]:
    """Bring in decisions that moved: pending ones come, in their order, the others go. Returns what
    is to be said of each of them.
    """
    changed = dict[int, PendingRow | None]()
    for row in moved:
        seq, action, observe, label, learn, due_at, status, nonce, who, window, plan, body = row
        if status != "waiting":
            kept.waiting.pop(seq, None)
            kept.due.pop(seq, None)
            changed[seq] = None
            if contexts is not None:
                contexts.owners.pop(seq, None)
            continue
        key = action, observe, label, learn, plan  # decisions that play the same share it
        changed[seq] = pending.row(nonce, with_context(key, body), who, window)
        play = plays.get(key)
        if play is None:
            action, observe, label = map(frozen_json, key[:3])
            counted_as = observe or action if plan is None else plan
            play = plays[key] = Play(action, observe, label, counted_as, learn)
        if contexts is not None:
            play = replaced(play, context=None if body is None else unpacked(body))
            if who is not None:
                contexts.owners[seq] = who
        kept.waiting[seq] = play
        if due_at is not None:
            kept.due[seq] = float(due_at)
    return changed


def with_context(texts: Any, context: bytes | None) -> Any:
    """What a decision plays as texts, with its context."""
    return texts if context is None else (*texts, bytes(context).hex())


def frozen_json(text: str | None) -> Any:
    """JSON of a number, a text, or a list of these, which becomes a tuple."""
    value = None if text is None else json.loads(text)
    return tuple(value) if isinstance(value, list) else value


def known_decisions(
    names: Sequence[object], part: Part, rows: Rows
) -> list[tuple[OpenedName, str] | None]:
    """Of each name, the decision it names, and where that stands; None for what was made up, and
    for the names of a timeline that was lost: their numbers may be other people's now.
    """
    asked, head = part.view.asked, part.head
    opened = [
        place if place and place.generation <= head.generation and place.seq <= asked else None
        for place in part.names.opened(names)
    ]
    pending, resolved = part.pending.rows, part.watch.resolved  # since this transaction began
    stored = {place.seq for place in opened if place and place.seq not in pending}
    stand: dict[int, tuple[int, str]] = {
        row.seq: (row.nonce, row.status) for row in rows.statuses(part.uid, sorted(stored))
    }
    known = list[tuple[OpenedName, str] | None]()
    for place in opened:
        if place is None or (place.seq not in pending and place.seq not in stand):
            known.append(None)
            continue
        nonce, _, seq = place
        own, status = stand.get(seq) or (pending[seq].nonce, resolved.get(seq, "waiting"))
        known.append((place, status) if own == nonce else None)
    return known


# Answers that are held


@contextmanager
def held_answers_of(part: Part, rows: Rows, seqs: Sequence[int]) -> Iterator[None]:
    """The session knows the answers to these decisions meanwhile, as far as there are any.

    Raises:
        EditedRowsError: the row of one of them is missing, or another one.
    """
    if part.session.attribution_window is None:
        yield
        return
    answers = {seq: part.told[seq] for seq in seqs if seq in part.told}
    stored = [seq for seq in seqs if seq in part.pending.rows and seq not in answers]
    bodies = rows.held(part.uid, stored) if stored else {}
    for seq in stored:
        if seq not in bodies:
            raise edited_decisions()
        nonce = part.pending.rows[seq].nonce
        learned_arms, steps = part.seal.opened_answer(bodies[seq], seq, nonce)
        if learned_arms:
            answers[seq] = steps
    part.tables.held = {seq: tuple(steps) for seq, steps in answers.items()}
    try:
        yield
    finally:
        part.tables.held = {}


def settle(part: Part, rows: Rows) -> Exception | None:
    """Make what is due by now: releases, and answers whose time has passed. Returns why a release
    could not be made.

    Raises:
        EditedRowsError: answers that are held are not those that were written.
    """
    with held_answers_of(part, rows, due_now(part.session)):
        try:
            part.session.settle()
        except Exception as error:
            leave_due(part.session, error)
            return error.with_traceback(None)  # its frames hold answers
    return None


def leave_due(session: Session, error: Exception) -> None:
    """After an error, go on without a release that is due, if it is of that: past the policy's
    horizon with all that was recorded; else the next call makes it. Raises any other error.
    """
    if isinstance(error, HorizonError):
        keep_recorded(session, error)
    elif not is_release_missing(session):
        raise error


# Writing


def compact(data: Any) -> str:
    """Data as JSON."""
    return msgspec.json.encode(data, enc_hook=plain_number).decode()


def next_chain(chain: str, *facts: object) -> str:
    """The hash over everything that was released so far. It is made of public rows only, with the
    nonce of each transaction: two copies that draw the same are told apart by it, so that a draw
    that is not shown does not show whether it was the same.
    """
    return hashlib.sha256(f"{chain}{compact(facts)}".encode()).hexdigest()


def change_of(
    part: Part,
    now: float,
    *,
    notes: Mapping[str, Any] | None = None,
    lost: Sequence[ReadingRow] = (),
) -> Change:
    """Everything that happened to a part since its last transaction. Its private row is sealed last
    (`Part.sealed`), because it belongs to the head as that is written.

    Args:
        notes: what else the head's notes say from now on.
        lost: lines of the ledger that no release wrote.
    """
    head, version, contexts, hashes = part.head, part.head.version + 1, None, dict[str, Any]()
    if part.contexts is not None:
        owners = part.contexts.owners_of_asked(part.watch)
        contexts = part.contexts.change(part.session, part.watch, version)
        hashes = part.contexts.hashes()
    public, part.secret = small_parts(part.watch, hashes)
    changes = part.watch.changes()
    releases, readings = released_rows(part, changes.releases, now)
    step, chain = (releases[-1].step, releases[-1].chain) if releases else (head.step, head.chain)
    texts = PlayTexts()
    asked = [decision_row(each, texts, part, step, now, version) for each in changes.asked]
    if part.contexts is not None:  # whose context it is, though a decision took nobody's place
        asked = [row._replace(pseudonym=row.pseudonym or owners.get(row.seq)) for row in asked]
    if changes.unlearned:  # of arms that left the campaign in the transaction that asked for them
        asked, changes = without_learning(part, asked, changes)
    marks = head.generation, step, chain, head.step, head.chain
    noted = {**head.parsed, **(notes or {}), "latest": latest_time(part.session)}
    noted["alarms"] = part.alarms
    if part.erases:
        noted["erased"] = version
    view = part.view
    counts = view.asked, len(view.pending)
    texts_of_head = head_notes(noted), compact(public)
    new = HeadRow(version, *marks, *counts, *texts_of_head, part.closed or head.closed)
    resolved: dict[int, Status] = dict(changes.resolved)  # type: ignore[arg-type]  # our own words
    still = [row for row in asked if row.seq not in resolved]
    told = {seq: steps for seq, steps in part.told.items() if seq not in resolved}
    held = sealed_answers(part, still, told)
    note_pending(part, asked, resolved, changes.unlearned)
    readings = [*lost, *readings]
    part.lines = lines_after(part.lines, readings)
    noticed = [EventRow(now, "overdue", arm, at, None) for arm, at in changes.noticed]
    return Change(
        new,
        asked=asked,
        resolved=resolved,
        unlearned=changes.unlearned,
        releases=releases,
        readings=readings,
        held=held,
        events=[*part.events, *noticed],
        contexts=contexts,
    )


def without_learning(
    part: Part, asked: list[DecisionRow], changes: SessionChanges
) -> tuple[list[DecisionRow], SessionChanges]:
    """The rows of decisions as they are at the end of their transaction, and the changes of others
    alone.
    """
    unlearned, own = set(changes.unlearned), {row.seq for row in asked}
    rows = list[DecisionRow]()
    for row in asked:
        if row.seq in unlearned:
            pending = row.seq not in changes.resolved
            plan = plan_of(part.view.pending[row.seq]) if pending else row.plan
            row = row._replace(learn=False, plan=plan)
        rows.append(row)
    return rows, changes._replace(unlearned=[seq for seq in changes.unlearned if seq not in own])


def if_changed(change: Change, head: HeadRow) -> Change | None:
    """What is written of a change; None: nothing that anybody could notice.

    Answers that are held alone leave the head as it was: a new version of it, a public row, would
    say that somebody answered.
    """
    moves = change.asked, change.resolved, change.unlearned, change.releases, change.events
    if any(moves) or change.head.closed != head.closed:
        return change
    after, before = (
        (session_in(each), {**each.parsed, "transactions": None, "alarms": None})
        for each in (change.head, head)
    )
    if after != before:
        return change
    return replace(change, head=head) if change.held else None


def note_pending(
    part: Part,
    asked: Sequence[DecisionRow],
    resolved: Mapping[int, Status],
    unlearned: Sequence[int],
) -> None:
    """Which decisions are pending once this is written, for the sealed row's sum over them."""
    pending, texts, changed = part.pending, PlayTexts(), dict[int, PendingRow | None]()
    for row in asked:
        texted: Any = row.action, row.observe, row.label, row.learn, row.plan
        if row.context is not None:
            texted = with_context(texted, row.context)
        changed[row.seq] = pending.row(row.nonce, texted, row.pseudonym, row.window)
    for seq in unlearned:
        if seq in pending.rows and seq not in resolved:
            *named, plan, context = texts.of(part.view.pending[seq])
            told = with_context((*named, False, plan), context)
            changed[seq] = pending.playing(pending.rows[seq], told)
    changed.update(dict.fromkeys(resolved))
    pending.replace(changed)


def sealed_answers(
    part: Part, asked: Sequence[DecisionRow], told: Mapping[int, Any]
) -> dict[int, bytes]:
    """Where answers are held: a row for each decision that was asked, as for one that nobody
    answered; and those of answers that were told, told again or not.
    """
    if part.session.attribution_window is None:
        return {}
    seal, bodies = part.seal, dict[int, bytes]()
    for observe, some in groupby(asked, lambda row: row.observe):
        many = list(some)
        blank = zero_answer(part.session, None if observe is None else json.loads(observe))
        seqs = [row.seq for row in many]
        bodies |= seal.held(seqs, many[0].nonce, 0, blank)
    for seq, steps in told.items():
        bodies |= seal.held([seq], part.pending.rows[seq].nonce, 1, steps)
    return bodies


def released_rows(
    part: Part, heard: Sequence[ReleaseWithReadings], now: float
) -> tuple[list[ReleaseRow], list[ReadingRow]]:
    """Releases since the last transaction, each chained to the one before, and what they read."""
    head = part.head
    releases, readings, chain = list[ReleaseRow](), list[ReadingRow](), head.chain
    for step, each in enumerate(heard, head.step + 1):
        coordinates = compact(list(each.release.coordinates))
        given = list(each.release.answers)
        answers = compact(given if part.contexts is None else small_answers(given))
        facts = head.generation, step, coordinates, answers, each.readings
        chain = next_chain(chain, *facts, part.nonce)
        releases.append(
            ReleaseRow(step, head.generation, coordinates, answers, each.asked, now, chain)
        )
        readings += [
            ReadingRow(
                head.generation,
                *reading,
                cost_of(part.session, reading[0]),
                step,
                "read",
                head.version + 1,
            )
            for reading in each.readings
        ]
    return releases, readings


def head_notes(notes: Mapping[str, Any]) -> str:
    """The notes of a head after one more transaction. By its own word it is known from another one
    of this version, on a lost timeline.
    """
    words = [*notes["transactions"], secrets.token_hex(8)][-KEPT_TRANSACTIONS:]
    return compact({**notes, "transactions": words})


@final
class PlayTexts:
    """Action, observe and label as JSON, the joint plan and the context, made once for all
    decisions that share a play.
    """

    def __init__(self) -> None:
        self._play: Play | None = None
        self._texts: tuple[str, str | None, str | None, int | None, bytes | None]

    def of(self, play: Play) -> tuple[str, str | None, str | None, int | None, bytes | None]:
        if play is not self._play:
            self._play, rest = play, (play.observe, play.label)
            observe, label = (None if each is None else compact(each) for each in rest)
            context = None if play.context is None else packed(play.context)
            self._texts = compact(play.action), observe, label, plan_of(play), context
        return self._texts


def decision_row(
    asked: Asked, texts: PlayTexts, part: Part, step: int, now: float, version: int
) -> DecisionRow:
    play = asked.play
    who, window, _ = asked.place or (None, None, 0)
    action, observe, label, plan, context = texts.of(play)
    row = (
        asked.id,
        part.head.generation,
        step,
        action,
        observe,
        label,
        play.learn,
        play.propensity,
        part.eligible.get(asked.id),
        now,
        asked.due,
        who,
        window,
        "waiting",
        version,
        part.nonce,
        plan,
        context,
    )
    return NEW(DecisionRow, row)


def plan_of(play: Play) -> int | None:
    """The number of the joint plan that a decision learns in; None for one of the latest plan."""
    return play.counted_as if play.kept is not None else None


def first_change(row: CampaignRow, session: Session, seal: StoreSeal, now: float) -> Change:
    """What is written of a part as it begins: what has changed since nothing was."""
    own, contexts = seal.of(row), None
    if isinstance(session.policy, ContextualPolicy):
        contexts = ContextRows(own.contexts_key())
    chain = next_chain("", row.uid, row.name)
    nothing = HeadRow(0, 1, 0, chain, 0, chain, 0, 0, compact(FIRST_NOTES), "")
    watch, names, pending = (
        ChangeRecorder(session),
        DecisionNames.fresh(),
        PendingRows(own.pending_key()),
    )
    part = Part(row, nothing, session, watch, names, own, {}, pending, contexts)
    return part.sealed(change_of(part, now))
