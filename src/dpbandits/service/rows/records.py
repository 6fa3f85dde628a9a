"""The rows of a campaign. All are public but `private` and `held`, which only the turn reads."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

Status = Literal["waiting", "told", "expired", "void", "passed", "lost"]
"""Where a decision stands. passed: its time has passed, answered or not. lost: a fence gave it up.
"""


class CampaignRow(NamedTuple):
    """A campaign as it was created.

    uid: a random name that no other campaign ever has, by which witnesses know it. group: whose
        contributions are counted together: the uid of the campaign, which is another one only in
        the row of a segment. options: as JSON, for those who read.
    """

    uid: str
    name: str
    group: str
    options: str
    created: float


class HeadRow(NamedTuple):
    """The one row that a campaign's transactions lock, as the last of them left it.

    version: transactions so far. generation: fences so far, plus one. step: releases so far, in all
        generations; chain: a hash over them. before, chain_before: the step and the chain that the
        newest transaction began with. closed: why nothing more is asked; None while it runs.
    """

    version: int
    generation: int
    step: int
    chain: str
    before: int
    chain_before: str
    asked: int
    waiting: int
    public: str
    closed: str | None = None


@lru_cache(maxsize=64)
def _parsed(public: str) -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(public)
    return MappingProxyType(found)


def said_in(head: HeadRow) -> Mapping[str, Any]:
    """The head's public part. It is parsed once, and shared: nobody changes what is in it."""
    return _parsed(head.public)


def fresh_since(head: HeadRow) -> int:
    """The generation whose policy is at work: what its predecessors read is not in its ledger."""
    return int(said_in(head)["fresh_since"])


def unseen_steps(head: HeadRow) -> list[list[int]]:
    """Releases that were drawn and never shown, as [first step, last step]."""
    found: list[list[int]] = said_in(head).get("unseen", [])
    return found


def latest_of(head: HeadRow) -> float:
    """The latest time that a campaign of people who come back has seen; −∞ where none is kept."""
    people = said_in(head)["session"]["people"]
    return -math.inf if people is None else float(people["latest"])


class DecisionRecord(NamedTuple):
    """A decision. action, observe, label: as JSON. pseudonym, window: whose place it took, until it
    is resolved. moved: the version that changed it last. nonce: part of its name (see `turns.ids`).
    plan: the number of its joint plan.
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


class MovedRow(NamedTuple):
    """What a turn reads of a decision that moved: see `DecisionRecord`."""

    seq: int
    action: str
    observe: str | None
    label: str | None
    learn: bool
    due_at: float | None
    status: Status
    nonce: int
    pseudonym: str | None
    window: int | None
    plan: int | None


class StatusRow(NamedTuple):
    """Where a decision stands, for whoever names it."""

    seq: int
    status: Status
    nonce: int


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

    cost: an exact fraction as text; None: read without noise. kind "lost": what a lost timeline may
        have read, which is counted as read (coordinate, start and stop are 0 there).
    """

    generation: int
    coordinate: int
    start: int
    stop: int
    cost: str | None
    step: int
    kind: Literal["read", "lost"]
    moved: int


class EventRow(NamedTuple):
    """Something public that was done to a campaign, for its log."""

    at: float
    what: str
    about: str | None
    asked: int
    by: str | None


@dataclass(frozen=True)
class RowChange:
    """All that one transaction writes.

    private: the private part, sealed; None: as it was. resolved: decisions that wait no more, and
        their status. unlearned: those whose rewards will not be read. used: by pseudonym, a window
        and the places taken in it. held: where answers are waited for, a sealed row for every
        decision, which has or has not been answered; it is written over, and deleted when the
        decision is resolved. give_up: all decisions that wait are lost, and what is held is
        deleted. responses: replies to be given again to whoever repeats a call, by its place (see
        `StoreSeal.call_place`).
    """

    head: HeadRow
    private: bytes | None = None
    asked: Sequence[DecisionRecord] = ()
    resolved: Mapping[int, Status] = field(default_factory=dict)
    unlearned: Sequence[int] = ()
    releases: Sequence[ReleaseRow] = ()
    readings: Sequence[ReadingRow] = ()
    used: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    held: Mapping[int, bytes] = field(default_factory=dict)
    give_up: bool = False
    events: Sequence[EventRow] = ()
    responses: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Change(version={self.head.version})"


class KeyRow(NamedTuple):
    """A bearer key, by its hash. campaign: the only one it opens; None: all."""

    hash: str
    name: str
    roles: str
    campaign: str | None
    created: float
    revoked: float | None = None


class ScopeKind(NamedTuple):
    """What the guarantees of a scope are about, as its first campaign fixes it; all None before.

    unit: "round" or "user". window: seconds, of contributions; None: for ever. trust: "central" or
        "local". noise: "secure" or "simulated".
    """

    unit: str | None = None
    window: float | None = None
    trust: str | None = None
    noise: str | None = None


class ScopeRow(NamedTuple):
    """A budget over campaigns. epsilon, spent: exact fractions as text. The others: see
    `ScopeKind`.
    """

    name: str
    epsilon: str
    spent: str
    unit: str | None = None
    window: float | None = None
    trust: str | None = None
    noise: str | None = None

    @property
    def kind(self) -> ScopeKind:
        """What its guarantees are about."""
        return ScopeKind(self.unit, self.window, self.trust, self.noise)
