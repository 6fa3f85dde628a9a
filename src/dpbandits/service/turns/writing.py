"""What a transaction writes: the changes of a session as rows."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from dpbandits.service.rows.records import (
    DecisionRecord,
    EventRow,
    HeadRow,
    ReadingRow,
    ReleaseRow,
    RowChange,
    Status,
    said_in,
)
from dpbandits.service.turns.ids import fresh_nonce
from dpbandits.service.turns.waiting_rows import WaitingRow
from dpbandits.service.turns.working import Working, lines_after
from dpbandits.session.decisions import Play
from dpbandits.session.saving import VERSION
from dpbandits.session.storing import (
    AskedPlay,
    HeardRelease,
    are_held,
    blank_of,
    counts_of,
    play_of,
    price_of,
    small_parts,
)


def compact(data: Any) -> str:
    """Data as JSON, in one way only."""
    return json.dumps(data, separators=(",", ":"), sort_keys=True, default=plain_number)


def plain_number(value: Any) -> Any:
    """NumPy's numbers and arrays as plain ones."""
    return value.tolist()


def next_chain(chain: str, *said: object) -> str:
    """The hash over everything that was released so far. It is made of public rows only."""
    return hashlib.sha256(f"{chain}{compact(said)}".encode()).hexdigest()


LINEAGE = 64
"""Transactions that a head names, the newest last."""


def change_in(
    work: Working,
    now: float,
    *,
    eligible: Mapping[int, str] | None = None,
    events: Sequence[EventRow] = (),
    responses: Mapping[str, str] | None = None,
    notes: Mapping[str, Any] | None = None,
    closed: str | None = None,
    told: Mapping[int, Any] | None = None,
    lost: Sequence[ReadingRow] = (),
) -> RowChange:
    """Everything that happened to a campaign since its last transaction. Its private row is sealed
    last (`Working.sealed`), for it belongs to the head as that is written.

    eligible: of decisions that were chosen among some arms, which. notes: what stands beside the
        session in the head's public part. told: answers that were told and are held, in grid steps.
        lost: lines of the ledger that no release wrote.
    """
    found, head = work.watch.changes(), work.head
    (public, work.secret), version = small_parts(work.session), head.version + 1
    releases, readings = released_rows(work, found.releases, now)
    step, chain = (releases[-1].step, releases[-1].chain) if releases else (head.step, head.chain)
    nonce = fresh_nonce()
    texts, at = PlayTexts(), (head.generation, step, now, version, nonce)
    asked = [decision_row(each, texts, (eligible or {}).get(each.seq), *at) for each in found.asked]
    marks = head.generation, step, chain, head.step, head.chain
    shown = head_public(public, head, notes)
    new = HeadRow(version, *marks, *counts_of(work.session), shown, closed or head.closed)
    resolved: dict[int, Status] = dict(found.resolved)  # type: ignore[arg-type]  # our own words
    still = [row for row in asked if row.seq not in resolved]
    kept = {seq: steps for seq, steps in (told or {}).items() if seq not in resolved}
    held = sealed_held(work, still, kept)
    note_waiting(work, asked, resolved, found.unlearned)
    work.lines = lines_after(work.lines, readings := [*lost, *readings])
    return RowChange(
        new,
        asked=asked,
        resolved=resolved,
        unlearned=found.unlearned,
        releases=releases,
        readings=readings,
        used=found.used,
        held=held,
        events=[*events, *(EventRow(now, "overdue", arm, at, None) for arm, at in found.noticed)],
        responses=responses or {},
    )


def note_waiting(
    work: Working,
    asked: Sequence[DecisionRecord],
    resolved: Mapping[int, Status],
    unlearned: Sequence[int],
) -> None:
    """Which decisions wait once this is written, for the sealed row's sum over them."""
    waiting, texts, changed = work.waiting, PlayTexts(), dict[int, WaitingRow | None]()
    for row in asked:
        said = row.action, row.observe, row.label, row.learn, row.plan
        changed[row.seq] = waiting.row(row.nonce, said, row.pseudonym, row.window)
    for seq in unlearned:
        if seq in waiting.rows and seq not in resolved:
            play = play_of(work.session, seq)
            said = *texts.of(play), False, plan_of(play)
            changed[seq] = waiting.playing(waiting.rows[seq], said)
    changed.update(dict.fromkeys(resolved))
    waiting.replace(changed)


def sealed_held(
    work: Working, asked: Sequence[DecisionRecord], told: Mapping[int, Any]
) -> dict[int, bytes]:
    """Where answers are waited for: a row for each decision that was asked, as for one that nobody
    answered; and those of answers that were told, told again or not.
    """
    if not are_held(work.session):
        return {}
    seal, found = work.seal, dict[int, bytes]()
    for observe, some in groupby(asked, lambda row: row.observe):
        many = list(some)
        blank = blank_of(work.session, None if observe is None else json.loads(observe))
        seqs = [row.seq for row in many]
        found |= dict(zip(seqs, seal.blanks(seqs, many[0].nonce, blank), strict=True))
    for seq, steps in told.items():
        found[seq] = seal.held(seq, work.waiting.rows[seq].nonce, 1, steps)
    return found


def released_rows(
    work: Working, heard: Sequence[HeardRelease], now: float
) -> tuple[list[ReleaseRow], list[ReadingRow]]:
    """Releases since the last transaction, each chained to the one before, and what they read."""
    head, cost = work.head, price_of(work.session)
    releases, readings, chain = list[ReleaseRow](), list[ReadingRow](), head.chain
    for step, each in enumerate(heard, head.step + 1):
        releases.append(release_row(each, step, head.generation, chain, now))
        chain = releases[-1].chain
        readings += [
            ReadingRow(head.generation, *reading, cost, step, "read", head.version + 1)
            for reading in each.readings
        ]
    return releases, readings


def head_public(
    public: Mapping[str, Any], head: HeadRow | None, notes: Mapping[str, Any] | None
) -> str:
    """The public part of a head: the session, and what stands beside it."""
    beside: dict[str, Any] = {"fresh_since": 1, "closed_window": None, "turns": [], "unseen": []}
    if head is not None:
        said = said_in(head)
        beside = {name: said.get(name, none) for name, none in beside.items()}
    # by its own word a transaction is known from another one of this version, on a lost timeline
    beside["turns"] = [*beside["turns"], secrets.token_hex(8)][-LINEAGE:]
    return compact({**beside, **(notes or {}), "documents": VERSION, "session": public})


def release_row(
    heard: HeardRelease, step: int, generation: int, chain: str, now: float
) -> ReleaseRow:
    release = heard.release
    coordinates, answers = compact(list(release.coordinates)), compact(list(release.answers))
    linked = next_chain(chain, generation, step, coordinates, answers, heard.readings)
    return ReleaseRow(step, generation, coordinates, answers, heard.asked, now, linked)


class PlayTexts:
    """Action, observe and label as JSON, made once for all decisions that share a play."""

    def __init__(self) -> None:
        self._play: Play | None = None
        self._texts: tuple[str, str | None, str | None] = "", None, None

    def of(self, play: Play) -> tuple[str, str | None, str | None]:
        if play is not self._play:
            self._play, rest = play, (play.observe, play.label)
            observe, label = (None if each is None else compact(each) for each in rest)
            self._texts = compact(play.action), observe, label
        return self._texts


def decision_row(
    asked: AskedPlay,
    texts: PlayTexts,
    eligible: str | None,
    generation: int,
    step: int,
    now: float,
    version: int,
    nonce: int,
) -> DecisionRecord:
    play = asked.play
    who, window = asked.place or (None, None)
    return DecisionRecord(
        asked.seq,
        generation,
        step,
        *texts.of(play),
        play.learn,
        asked.propensity,
        eligible,
        now,
        asked.due,
        who,
        window,
        "waiting",
        version,
        nonce,
        plan_of(play),
    )


def plan_of(play: Play) -> int | None:
    """The number of the joint plan that a decision learns in; None for one of the latest plan."""
    return play.unit if play.kept is not None else None
