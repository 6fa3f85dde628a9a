"""What a transaction writes: the changes of a session as rows."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from dpbandits.service.rows.records import (
    DecisionRecord,
    EventRow,
    HeadRow,
    ReadingRow,
    ReleaseRow,
    RowChange,
    Status,
)
from dpbandits.service.sealing import StoreSeal
from dpbandits.service.turns.ids import DecisionIds
from dpbandits.service.turns.working import Working
from dpbandits.session.saving.document import VERSION
from dpbandits.session.storing.changes import AskedPlay, HeardRelease
from dpbandits.session.storing.parts import counts_of, price_of, small_parts


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
    seal: StoreSeal,
    now: float,
    *,
    eligible: Mapping[int, str] | None = None,
    events: Sequence[EventRow] = (),
    responses: Mapping[tuple[str, str], str] | None = None,
    notes: Mapping[str, Any] | None = None,
    closed: str | None = None,
) -> RowChange:
    """Everything that happened to a campaign since its last transaction.

    eligible: of decisions that were chosen among some arms, which. notes: what stands beside the
        session in the head's public part.
    """
    found, head, uid = work.watch.changes(), work.head, work.row.uid
    (public, private), cost = small_parts(work.session), price_of(work.session)
    version, step, chain = head.version + 1, head.step, head.chain
    releases, readings = list[ReleaseRow](), list[ReadingRow]()
    for heard in found.releases:
        step += 1
        release = release_row(heard, step, head.generation, chain, now)
        chain = release.chain
        releases.append(release)
        readings += [
            ReadingRow(head.generation, *reading, cost, step, "read", version)
            for reading in heard.readings
        ]
    asked = [
        decision_row(each, head.generation, step, now, (eligible or {}).get(each.seq), version)
        for each in found.asked
    ]
    new = HeadRow(
        version,
        head.generation,
        step,
        chain,
        head.step,
        head.chain,
        *counts_of(work.session),
        head_public(public, head, notes),
        closed or head.closed,
    )
    resolved: dict[int, Status] = dict(found.resolved)  # type: ignore[arg-type]  # our own words
    return RowChange(
        new,
        private=sealed_private(private, work.ids, seal, uid),
        asked=asked,
        resolved=resolved,
        unlearned=found.unlearned,
        releases=releases,
        readings=readings,
        used=found.used,
        held={
            seq: seal.sealed(steps, f"{uid} held {seq}") for seq, steps in plain_held(found.held)
        },
        events=events,
        responses=responses or {},
    )


def head_public(
    public: Mapping[str, Any], head: HeadRow | None, notes: Mapping[str, Any] | None
) -> str:
    """The public part of a head: the session, and what stands beside it."""
    beside: dict[str, Any] = {"fresh_since": 1, "closed_window": None, "turns": []}
    if head is not None:
        said = json.loads(head.public)
        beside = {name: said.get(name, none) for name, none in beside.items()}
    # by its own word a transaction is known from another one of this version, on a lost timeline
    beside["turns"] = [*beside["turns"], secrets.token_hex(8)][-LINEAGE:]
    return compact({**beside, **(notes or {}), "documents": VERSION, "session": public})


def sealed_private(
    private: Mapping[str, Any], ids: DecisionIds, seal: StoreSeal, uid: str
) -> bytes:
    return seal.sealed({**private, "ids": ids.key.hex()}, f"{uid} private")


def plain_held(held: Mapping[int, Any]) -> list[tuple[int, Any]]:
    """Answers that are held, in grid steps, as JSON takes them."""
    return [
        (seq, steps.tolist() if hasattr(steps, "tolist") else steps) for seq, steps in held.items()
    ]


def release_row(
    heard: HeardRelease, step: int, generation: int, chain: str, now: float
) -> ReleaseRow:
    release = heard.release
    coordinates, answers = compact(list(release.coordinates)), compact(list(release.answers))
    linked = next_chain(chain, generation, step, coordinates, answers, heard.readings)
    return ReleaseRow(step, generation, coordinates, answers, heard.asked, now, linked)


def decision_row(
    asked: AskedPlay, generation: int, step: int, now: float, eligible: str | None, version: int
) -> DecisionRecord:
    play = asked.play
    who, window = asked.place or (None, None)
    return DecisionRecord(
        asked.seq,
        generation,
        step,
        compact(play.action),
        None if play.observe is None else compact(play.observe),
        None if play.label is None else compact(play.label),
        play.learn,
        asked.propensity,
        eligible,
        now,
        asked.due,
        who,
        window,
        "waiting",
        version,
    )
