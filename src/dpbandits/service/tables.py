"""The tables of a store and their rows.

All names begin with `dpbandits_`, so that a store can live in an application's own database. The
tables `private_state` and `held` hold what is private; a database role without rights to these two
can show nothing private.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    text,
)

PREFIX = "dpbandits_"
VERSION_TABLE = f"{PREFIX}version"
metadata = MetaData()

UID, NAME, HASH = String(32), String(200), String(64)
COUNTED = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up INTEGER keys only


def _table(name: str, *parts: Any) -> Table:
    return Table(PREFIX + name, metadata, *parts)


def _needed(name: str, kind: Any) -> Column[Any]:
    return Column(name, kind, nullable=False)


campaign = _table(
    "campaign",
    Column("uid", UID, primary_key=True),
    Column("name", NAME, nullable=False, unique=True),
    _needed("group", UID),
    _needed("options", Text),
    _needed("created", Float),
)
head = _table(
    "head",
    Column("campaign", UID, primary_key=True),
    _needed("version", BigInteger),
    _needed("generation", Integer),
    _needed("step", BigInteger),
    _needed("chain", HASH),
    _needed("before", BigInteger),
    _needed("chain_before", HASH),
    _needed("asked", BigInteger),
    _needed("waiting", BigInteger),
    _needed("notes", Text),
    _needed("public", Text),
    Column("closed", Text),
)
private_state = _table(
    "private_state", Column("campaign", UID, primary_key=True), _needed("body", LargeBinary)
)
decision = _table(
    "decision",
    _needed("campaign", UID),
    _needed("seq", BigInteger),
    _needed("generation", Integer),
    _needed("step", BigInteger),
    _needed("action", Text),
    Column("observe", Text),
    Column("label", Text),
    _needed("learn", Boolean),
    Column("propensity", Float),
    Column("eligible", Text),
    _needed("asked_at", Float),
    Column("due_at", Float),
    Column("pseudonym", UID),
    Column("window", BigInteger),
    _needed("status", String(8)),
    _needed("moved", BigInteger),
    _needed("nonce", BigInteger),
    Column("plan", BigInteger),
    Column("context", LargeBinary),
    PrimaryKeyConstraint("campaign", "seq"),
    Index(f"{PREFIX}decision_moved", "campaign", "moved"),
    # a campaign that is opened reads its pending decisions, however many others there are
    Index(
        f"{PREFIX}decision_waiting",
        "campaign",
        "seq",
        sqlite_where=text("status = 'waiting'"),
        postgresql_where=text("status = 'waiting'"),
    ),
    Index(f"{PREFIX}decision_pseudonym", "pseudonym"),
)
held = _table(
    "held",
    _needed("campaign", UID),
    _needed("seq", BigInteger),
    _needed("body", LargeBinary),
    PrimaryKeyConstraint("campaign", "seq"),
)
context = _table(
    "context",
    _needed("campaign", UID),
    _needed("arm", Integer),
    _needed("number", BigInteger),
    Column("pseudonym", UID),
    _needed("moved", BigInteger),
    _needed("body", LargeBinary),
    PrimaryKeyConstraint("campaign", "arm", "number"),
    Index(f"{PREFIX}context_moved", "campaign", "moved"),
)
open_cell = _table(
    "open_cell",
    _needed("campaign", UID),
    _needed("arm", Integer),
    _needed("cell", Integer),
    _needed("body", LargeBinary),
    PrimaryKeyConstraint("campaign", "arm", "cell"),
)
learned = _table(
    "learned",
    _needed("campaign", UID),
    _needed("what", String(8)),
    _needed("body", Text),
    PrimaryKeyConstraint("campaign", "what"),
)
release = _table(
    "release",
    _needed("campaign", UID),
    _needed("step", BigInteger),
    _needed("generation", Integer),
    _needed("coordinates", Text),
    _needed("answers", Text),
    _needed("asked", BigInteger),
    _needed("made_at", Float),
    _needed("chain", HASH),
    PrimaryKeyConstraint("campaign", "step"),
)
ledger = _table(
    "ledger",
    Column("id", COUNTED, primary_key=True),
    _needed("campaign", UID),
    _needed("generation", Integer),
    _needed("coordinate", Integer),
    _needed("start", BigInteger),
    _needed("stop", BigInteger),
    Column("cost", Text),
    _needed("step", BigInteger),
    _needed("kind", String(4)),
    _needed("moved", BigInteger),
    Index(f"{PREFIX}ledger_moved", "campaign", "moved"),
    Index(f"{PREFIX}ledger_place", "campaign", "generation", "coordinate", "start"),
)
contribution = _table(
    "contribution",
    _needed("group", UID),
    _needed("pseudonym", UID),
    _needed("window", BigInteger),
    _needed("used", Integer),
    Column("kept", LargeBinary),
    PrimaryKeyConstraint("group", "pseudonym"),
)
event = _table(
    "event",
    Column("id", COUNTED, primary_key=True),
    _needed("campaign", UID),
    _needed("at", Float),
    _needed("what", String(40)),
    Column("about", Text),
    _needed("asked", BigInteger),
    Column("by", Text),
    Index(f"{PREFIX}event_campaign", "campaign", "id"),
)
request = _table(
    "request",
    _needed("group", UID),
    _needed("place", HASH),
    _needed("response", Text),
    PrimaryKeyConstraint("group", "place"),
)
scope = _table(
    "scope",
    Column("name", NAME, primary_key=True),
    _needed("epsilon", Text),
    _needed("spent", Text),
    Column("unit", String(8)),
    Column("window", Float),
    Column("trust", String(8)),
    Column("noise", String(16)),
)
access_key = _table(
    "access_key",
    Column("hash", HASH, primary_key=True),
    _needed("name", NAME),
    _needed("roles", String(100)),
    Column("campaign", NAME),
    _needed("created", Float),
    Column("revoked", Float),
)

PRIVATE = (private_state.name, held.name)
"""The tables that only transactions read."""

REFUSING = {
    "sqlite": (
        "ledger_once",
        "ledger_no_update",
        "ledger_no_delete",
        "ledger_no_replace",
        "release_no_update",
        "release_no_delete",
        "release_no_replace",
    ),
    "postgresql": (
        "ledger_once",
        "ledger_append_only",
        "ledger_no_truncate",
        "release_append_only",
        "release_no_truncate",
    ),
}
"""The triggers and constraints by which a database refuses to read a reward twice, and to alter
what was released.
"""


def named_in(dialect: str) -> set[str]:
    """Return the names of all tables, indexes, counters, triggers and constraints."""
    names = {PREFIX + each for each in REFUSING[dialect]}
    for table in metadata.sorted_tables:
        names.update([table.name, *[str(index.name) for index in table.indexes]])
        if dialect == "postgresql":  # SQLite has these within its tables
            names.add(f"{table.name}_pkey")
            names.update(f"{table.name}_{each.name}_key" for each in table.c if each.unique)
            names.update(f"{table.name}_id_seq" for each in table.c if each.name == "id")
    return names


Status = Literal["waiting", "told", "expired", "void", "passed", "lost"]
"""Where a decision stands. passed: its time has passed, with or without a reward. lost: a fence
gave it up.
"""


class CampaignRow(NamedTuple):
    """A campaign, or a part of one, as it was created.

    Args:
        uid: a name that no other campaign ever has, by which the witness knows it.
        group: the uid of the whole campaign. Contributions are counted by group.
        options: JSON, for readers.
    """

    uid: str
    name: str
    group: str
    options: str
    created: float


class HeadRow(NamedTuple):
    """The row of a campaign that every transaction writes anew.

    Args:
        version: number of transactions.
        generation: number of fences, plus one.
        step: number of releases, over all generations. chain: a hash over them.
        before, chain_before: the step and the chain that the newest transaction began with.
        notes: JSON, what the store notes of it. public: JSON, the policy and the public part of the
            session.
        closed: why the campaign is over; None while it runs.
    """

    version: int
    generation: int
    step: int
    chain: str
    before: int
    chain_before: str
    asked: int
    waiting: int
    notes: str
    public: str
    closed: str | None = None

    @property
    def parsed(self) -> Mapping[str, Any]:
        """The notes, parsed once and shared: do not change them."""
        return _parsed(self.notes)

    @property
    def fresh_since(self) -> int:
        """The generation in which the policy at work began."""
        return int(self.parsed["fresh_since"])

    @property
    def latest(self) -> float:
        """The latest time that a campaign of returning people has seen; −∞ without people."""
        latest = self.parsed["latest"]
        return -math.inf if latest is None else float(latest)


@lru_cache(maxsize=64)
def _parsed(notes: str) -> Mapping[str, Any]:
    return MappingProxyType(msgspec.json.decode(notes))


class DecisionRow(NamedTuple):
    """A decision.

    Args:
        action, observe, label: JSON.
        pseudonym, window: whose place it took, until it is resolved.
        moved: the version that changed it last.
        nonce: part of its name (see `sealing.DecisionNames`).
        plan: the number of its joint plan.
        context: what is known of the visitor, while it is pending (see `session.contexts.packed`).
    """

    seq: int
    generation: int
    step: int
    action: str
    observe: str | None
    label: str | None
    learn: bool
    propensity: float | None
    eligible: str | None
    asked_at: float
    due_at: float | None
    pseudonym: str | None
    window: int | None
    status: Status
    moved: int
    nonce: int
    plan: int | None
    context: bytes | None


MOVED = (
    "seq",
    "action",
    "observe",
    "label",
    "learn",
    "due_at",
    "status",
    "nonce",
    "pseudonym",
    "window",
    "plan",
    "context",
)
"""What a transaction reads of a decision that changed: see `DecisionRow`."""


class StatusRow(NamedTuple):
    """Where a decision stands, and how likely it was."""

    seq: int
    status: Status
    nonce: int
    propensity: float | None


class ReleaseRow(NamedTuple):
    """A release: coordinates and answers as JSON, as noised. asked: decisions until then."""

    step: int
    generation: int
    coordinates: str
    answers: str
    asked: int
    made_at: float
    chain: str


class ReadingRow(NamedTuple):
    """A line of the ledger: these rewards of a coordinate were read in this release, at this cost.

    Args:
        cost: an exact fraction as text; None if they were read without noise.
        kind: "lost" for what a lost timeline may have read (coordinate, start and stop are 0).
    """

    generation: int
    coordinate: int
    start: int
    stop: int
    cost: str | None
    step: int
    kind: Literal["read", "lost"]
    moved: int


FIRST_VISITORS = -1
"""The `arm` of contexts that make the first codebooks."""


class ContextRow(NamedTuple):
    """A context that the next codebook of an arm needs.

    Args:
        arm: `FIRST_VISITORS` for contexts of the first codebooks.
        number: contexts of an arm are in this order.
        pseudonym: whose it is, where people are known.
        moved: the version that wrote it.
        body: see `session.contexts.packed`.
    """

    arm: int
    number: int
    pseudonym: str | None
    moved: int
    body: bytes


class CellRow(NamedTuple):
    """The public counts beside a sum of an arm's open block (`session.contexts.packed_counts`)."""

    arm: int
    cell: int
    body: bytes


class LearnedRow(NamedTuple):
    """The policy ("policy") or its state ("state") as JSON, where that is too large for the head.

    The head has a hash of it.
    """

    what: str
    body: str


class EventRow(NamedTuple):
    """A public event of a campaign, for its log."""

    at: float
    what: str
    about: str | None
    asked: int
    by: str | None


class KeyRow(NamedTuple):
    """A bearer key, by its hash. campaign: the only one it opens; None: all."""

    hash: str
    name: str
    roles: str
    campaign: str | None
    created: float
    revoked: float | None = None


class ScopeKind(NamedTuple):
    """What the guarantees of a scope are about, fixed by its first campaign; all None before.

    Args:
        unit: "round" or "user".
        window: of contributions, in seconds; None if a cap is for ever.
        trust: "central" or "local".
        noise: "secure" or "simulated".
    """

    unit: str | None = None
    window: float | None = None
    trust: str | None = None
    noise: str | None = None


class ScopeRow(NamedTuple):
    """A budget over campaigns. epsilon, spent: exact fractions as text; the rest: `ScopeKind`."""

    name: str
    epsilon: str
    spent: str
    unit: str | None = None
    window: float | None = None
    trust: str | None = None
    noise: str | None = None

    @property
    def kind(self) -> ScopeKind:
        return ScopeKind(*self[3:])


class ContextChange(NamedTuple):
    """What a transaction writes of contexts.

    Args:
        gone: contexts, by arm and number. anew: all contexts and counts are gone.
        cells_gone: by arm and cell.
        learned: rows that are written over in place.
    """

    contexts: Sequence[ContextRow] = ()
    gone: Sequence[tuple[int, int]] = ()
    anew: bool = False
    cells: Sequence[CellRow] = ()
    cells_gone: Sequence[tuple[int, int]] = ()
    learned: Sequence[LearnedRow] = ()

    def __repr__(self) -> str:
        return f"ContextChange(contexts={len(self.contexts)}, cells={len(self.cells)})"


@dataclass(frozen=True, repr=False)
class Change:
    """All that one transaction writes of one part of a campaign.

    Args:
        private: the private row, sealed; None: as it was.
        resolved: decisions that are no longer pending, and their status.
        unlearned: pending decisions whose rewards will not be read.
        held: with an attribution window a sealed row for every pending decision, which says whether
            it was answered. It is written over in place, and deleted when the decision is resolved.
        voids_pending: all pending decisions are lost, and what is held is deleted.
        contexts: of a policy that decides by contexts.
    """

    head: HeadRow
    private: bytes | None = None
    asked: Sequence[DecisionRow] = ()
    resolved: Mapping[int, Status] = field(default_factory=dict)
    unlearned: Sequence[int] = ()
    releases: Sequence[ReleaseRow] = ()
    readings: Sequence[ReadingRow] = ()
    held: Mapping[int, bytes] = field(default_factory=dict)
    voids_pending: bool = False
    events: Sequence[EventRow] = ()
    contexts: ContextChange | None = None
