"""A campaign in memory, between two transactions: brought up to date by the rows that moved since,
or thrown away.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from dpbandits.core.errors import StoreError
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import (
    CampaignRow,
    HeadRow,
    MovedRow,
    RowChange,
    fresh_since,
    said_in,
)
from dpbandits.service.sealing import StoreSeal, private_place
from dpbandits.service.turns.ids import DecisionIds
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

    plays: those of stored decisions, each kept once. nonces: of the decisions that wait. held_at:
        the number of the newest answers that are held. It is private, and rises with each of them.
    """

    row: CampaignRow
    head: HeadRow
    session: Session
    watch: Watch
    ids: DecisionIds
    plays: dict[Any, Play]
    nonces: dict[int, int]
    held_at: int = 0

    def __repr__(self) -> str:
        return f"Working({self.row.name!r}, version={self.head.version})"

    def committed(self, change: RowChange) -> None:
        """What was written stands."""
        self.head, self.held_at = change.head, change.held_at
        self.nonces.update((row.seq, row.nonce) for row in change.asked)
        for seq in change.resolved:
            self.nonces.pop(seq, None)


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
    nonces, resolved = work.nonces, work.watch.resolved  # since this transaction began
    stored = {place.seq for place in opened if place and place.seq not in nonces}
    stand: dict[int, tuple[int, str]] = {
        row.seq: (row.nonce, row.status) for row in rows.statuses(sorted(stored))
    }
    found = list[KnownDecision | None]()
    for place in opened:
        if place is None or (place.seq not in nonces and place.seq not in stand):
            found.append(None)
            continue
        nonce, generation, seq = place
        own, status = stand.get(seq) or (nonces[seq], resolved.get(seq, "waiting"))
        found.append(KnownDecision(generation, seq, status) if own == nonce else None)
    return found


def working_at(
    row: CampaignRow, rows: CampaignRows, setting: CampaignSetting, before: Working | None
) -> Working:
    """The campaign as the rows say it is.

    before: as it was in memory; only what moved since is read.
    """
    head, private, held_at = rows.head(), dict[str, Any](), 0
    if before is not None and before.head == head and (setting.looking or not holds(before)):
        return before
    if not setting.looking:
        private = setting.seal.opened(rows.private(), private_place(row.uid))
        held_at = private.pop("held_at", head.version)
    if before is not None and (before.head, before.held_at) == (head, held_at):
        return before
    if before is not None and (
        before.head.generation != head.generation
        or not goes_on(before.head, head)
        or held_at < before.held_at
    ):
        before = None  # the database was put back, or fenced
    since = 0 if before is None else before.head.version
    kept = SessionRows() if before is None else rows_in(before.session)
    plays, nonces = ({}, {}) if before is None else (before.plays, before.nonces)
    bring_in(kept, rows.moved(since), plays, nonces)
    readings = [
        (r.coordinate, r.start, r.stop, r.cost)
        for r in rows.readings(since)
        if r.kind == "read" and (since or r.generation >= fresh_since(head))
    ]
    cost = readings[0][3] if readings else None
    kept.lines = lines_of(kept.lines, [each[:3] for each in readings], cost)
    if setting.looking:
        session = session_to_look_at(session_in(head), kept, setting.policy, setting.clock)
        return Working(row, head, session, Watch(session), DecisionIds.fresh(), plays, nonces)
    kept.held = {seq: steps for seq, steps in kept.held.items() if seq in kept.waiting}
    for seq, body in rows.held(0 if before is None else before.held_at).items():
        kept.held[seq] = setting.seal.opened(body, f"{row.uid} held {seq}")
    ids = DecisionIds(bytes.fromhex(private.pop("ids")))
    parts = session_in(head), private, kept
    session = session_of(row, parts, setting, before)
    return Working(row, head, session, Watch(session), ids, plays, nonces, held_at)


def holds(work: Working) -> bool:
    """Whether answers are held until their time has passed."""
    return work.session.attribution_window is not None


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
    kept: SessionRows, moved: Iterable[MovedRow], plays: dict[Any, Play], nonces: dict[int, int]
) -> None:
    """Decisions that moved: those that wait come in, in their order; those that do no more go."""
    waiting, due = kept.waiting, kept.due
    for seq, action, observe, label, learn, due_at, status, nonce, plan in moved:
        if status != "waiting":
            waiting.pop(seq, None)
            due.pop(seq, None)
            nonces.pop(seq, None)
            continue
        nonces[seq] = nonce
        key = (
            action,
            observe,
            label,
            learn,
            plan,
        )  # decisions that play the same share it
        play = plays.get(key)
        if play is None:
            parts = frozen_json(action), frozen_json(observe), frozen_json(label)
            play = plays[key] = row_play(*parts, learn, plan)
        waiting[seq] = play
        if due_at is not None:
            due[seq] = due_at


def frozen_json(text: str | None) -> Any:
    """JSON of a number, a text, or a list of these, which becomes a tuple."""
    value = None if text is None else json.loads(text)
    return tuple(value) if isinstance(value, list) else value
