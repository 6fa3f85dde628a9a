"""A campaign in memory, between two transactions: brought up to date by the rows that moved since,
or thrown away.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

from dpbandits.core.errors import EditedRowsError, StoreError
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import (
    CampaignRow,
    HeadRow,
    MovedRow,
    ReadingRow,
    RowChange,
    fresh_since,
    said_in,
)
from dpbandits.service.sealing import EDITED, CampaignSeal, StoreSeal, edited_decisions
from dpbandits.service.turns.ids import DecisionIds
from dpbandits.service.turns.waiting_rows import WaitingRow, WaitingRows
from dpbandits.session.decisions import Play
from dpbandits.session.people import Clock
from dpbandits.session.saving import VERSION
from dpbandits.session.session import Session
from dpbandits.session.storing import (
    SessionRows,
    Watch,
    counts_of,
    lines_of,
    row_play,
    rows_in,
    session_from_parts,
    session_to_look_at,
)


@final
@dataclass(frozen=True)
class CampaignSetting:
    """What a store lends its campaigns. policy: the class, where it is one of the caller's own.
    looking: whether private rows stay unread.
    """

    seal: StoreSeal
    clock: Clock
    noise: Noise | None
    policy: Policy | type[Policy] | None = None
    looking: bool = False


@final
@dataclass
class Working:
    """A campaign as its newest transaction left it.

    plays: those of stored decisions, each kept once. waiting: the decisions that wait, as they were
        written. lines: a hash over all lines of the ledger. doubtful: whether it has to be fenced,
        for rows were edited, or what was drawn may have been seen. secret: what its private row
        will say.
    """

    row: CampaignRow
    head: HeadRow
    session: Session
    watch: Watch
    ids: DecisionIds
    seal: CampaignSeal
    plays: dict[Any, Play]
    waiting: WaitingRows
    lines: str = ""
    doubtful: bool = False
    secret: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Working({self.row.name!r}, version={self.head.version})"

    def committed(self, change: RowChange) -> None:
        """What was written stands."""
        self.head = change.head

    def sealed(self, change: RowChange) -> RowChange:
        """A change with the private row that belongs to its head."""
        own = {"ids": self.ids.key.hex(), "waiting": self.waiting.said(), "lines": self.lines}
        return replace(change, private=self.seal.private({**self.secret, **own}, change.head))


class KnownDecision(NamedTuple):
    """A decision of a campaign's, by its name. status: where it stands."""

    generation: int
    seq: int
    status: str


def known_in(
    names: Iterable[object], work: Working, rows: CampaignRows
) -> list[KnownDecision | None]:
    """Of each name, which decision it names; None for what was made up, and for the names of a
    timeline that was lost: their numbers may be other people's now.
    """
    (asked, _), head = counts_of(work.session), work.head
    opened = [
        place if place and place.generation <= head.generation and place.seq <= asked else None
        for place in work.ids.opened(names)
    ]
    waiting, resolved = work.waiting.rows, work.watch.resolved  # since this transaction began
    stored = {place.seq for place in opened if place and place.seq not in waiting}
    stand: dict[int, tuple[int, str]] = {
        row.seq: (row.nonce, row.status) for row in rows.statuses(sorted(stored))
    }
    found = list[KnownDecision | None]()
    for place in opened:
        if place is None or (place.seq not in waiting and place.seq not in stand):
            found.append(None)
            continue
        nonce, generation, seq = place
        own, status = stand.get(seq) or (waiting[seq].nonce, resolved.get(seq, "waiting"))
        found.append(KnownDecision(generation, seq, status) if own == nonce else None)
    return found


def working_at(
    row: CampaignRow,
    rows: CampaignRows,
    setting: CampaignSetting,
    before: Working | None,
    *,
    giving_up: bool = False,
) -> Working:
    """The campaign as the rows say it is.

    before: as it was in memory; only what moved since is read. giving_up: for a fence, which voids
        all that waits: no decision is looked at.

    Raises:
        EditedRowsError: rows are not those that were written.
    """
    head, seal, private = rows.head(), setting.seal.of(row), dict[str, Any]()
    if before is not None and before.head == head and not giving_up:
        return before
    if not setting.looking:
        private = seal.opened_private(rows.private(), head)
    doubtful = bool(private.pop("doubtful", False))
    if before is not None and (
        giving_up
        or doubtful
        or before.head.generation != head.generation
        or not goes_on(before.head, head)
    ):
        before = None  # the database was put back, or fenced
    since = 0 if before is None else before.head.version
    kept = SessionRows() if before is None else rows_in(before.session)
    plays = {} if before is None else before.plays
    waiting = WaitingRows(seal.waiting_key()) if before is None else before.waiting
    read = rows.readings(since)
    lines = lines_after("" if before is None else before.lines, read)
    if not setting.looking and private.pop("lines") != lines:
        raise EditedRowsError(EDITED)
    if not doubtful and not giving_up:
        bring_in(kept, rows.moved(since), plays, waiting)
    counted = [
        (r.coordinate, r.start, r.stop, r.cost)
        for r in read
        if r.kind == "read" and (since or r.generation >= fresh_since(head))
    ]
    cost = counted[0][3] if counted else None
    kept.lines = lines_of(kept.lines, [each[:3] for each in counted], cost)
    public = session_in(head)
    if setting.looking:
        session = session_to_look_at(public, kept, setting.policy, setting.clock)
        return Working(
            row, head, session, Watch(session), DecisionIds.fresh(), seal, plays, waiting
        )
    total = private.pop("waiting")
    if doubtful or giving_up:
        public = all_given_up(public)
    elif not waiting.is_said(total):
        raise edited_decisions()
    ids = DecisionIds(bytes.fromhex(private.pop("ids")))
    session = session_of(row, (public, private, kept), setting, before)
    watch = Watch(session)
    return Working(row, head, session, watch, ids, seal, plays, waiting, lines, doubtful)


def all_given_up(public: dict[str, Any]) -> dict[str, Any]:
    """The public part of a session in which nothing waits: what waited will never be read."""
    return public | {"unread": public["asked"] - public["records"]}


def lines_after(lines: str, read: Iterable[ReadingRow]) -> str:
    """The hash over the ledger's lines, with some more of them."""
    for line in read:
        said = f"{lines}|{'|'.join(map(str, line))}"
        lines = hashlib.sha256(said.encode()).hexdigest()
    return lines


def goes_on(before: HeadRow, head: HeadRow) -> bool:
    """Whether one transaction is before (or is) another on the same timeline."""
    mine, theirs = (said_in(each).get("turns", []) for each in (before, head))
    since = head.version - before.version
    return bool(mine) and 0 <= since < len(theirs) and theirs[-1 - since] == mine[-1]


def session_of(
    row: CampaignRow,
    parts: tuple[dict[str, Any], dict[str, Any], SessionRows],
    setting: CampaignSetting,
    before: Working | None,
) -> Session:
    """The session that stored parts describe. before: whose source of noise it goes on with."""
    public, private, kept = parts
    return session_from_parts(
        public,
        private | {"held": []},
        kept,
        policy=setting.policy,
        noise=noise_to_go_on(setting, private, before),
        clock=setting.clock,
        user_key=setting.seal.user_key(row.group),
    )


def session_in(head: HeadRow) -> dict[str, Any]:
    """The public part of the session.

    Raises:
        StoreError: another version of this package wrote it.
    """
    said: dict[str, Any] = json.loads(head.public)
    if said.get("documents") != VERSION:
        raise StoreError(
            f"This campaign was written with documents of version {said.get('documents')}; this "
            f"dpbandits reads version {VERSION}. Use the dpbandits that wrote it."
        )
    session: dict[str, Any] = said["session"]
    return session


def noise_to_go_on(
    setting: CampaignSetting, private: dict[str, Any], before: Working | None
) -> Noise | None:
    """The source to go on with. Simulated noise goes on from where the rows say it stood."""
    if private["noise"]["kind"] == "simulated":
        return None
    if before is not None:
        same: Noise = before.session._vault.noise
        return same
    if setting.noise is not None and setting.noise.kind != private["noise"]["kind"]:
        return None
    return setting.noise


def bring_in(
    kept: SessionRows, moved: Iterable[MovedRow], plays: dict[Any, Play], waiting: WaitingRows
) -> None:
    """Decisions that moved: those that wait come in, in their order; those that do no more go.

    Raises:
        EditedRowsError: one of them is nothing that anybody wrote.
    """
    try:
        waiting.replace(moved_in(kept, moved, plays, waiting))
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise edited_decisions() from None


def moved_in(
    kept: SessionRows, moved: Iterable[MovedRow], plays: dict[Any, Play], waiting: WaitingRows
) -> dict[int, WaitingRow | None]:
    """As `bring_in`; what is to be said of each of them."""
    changed = dict[int, WaitingRow | None]()
    for seq, action, observe, label, learn, due_at, status, nonce, who, window, plan in moved:
        if status != "waiting":
            kept.waiting.pop(seq, None)
            kept.due.pop(seq, None)
            changed[seq] = None
            continue
        key = action, observe, label, learn, plan  # decisions that play the same share it
        changed[seq] = waiting.row(nonce, key, who, window)
        play = plays.get(key)
        if play is None:
            parts = frozen_json(action), frozen_json(observe), frozen_json(label)
            play = plays[key] = row_play(*parts, learn, plan)
        kept.waiting[seq] = play
        if due_at is not None:
            kept.due[seq] = float(due_at)
    return changed


def frozen_json(text: str | None) -> Any:
    """JSON of a number, a text, or a list of these, which becomes a tuple."""
    value = None if text is None else json.loads(text)
    return tuple(value) if isinstance(value, list) else value
