"""What a campaign says of itself. All of it is public, and of rows that are witnessed."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from textwrap import fill
from typing import Any, Literal, NamedTuple

from dpbandits.core.tables import Tabular, in_columns
from dpbandits.policies.contract import Policy
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import CampaignRow, unseen_steps
from dpbandits.service.turns.working import Working, frozen_json
from dpbandits.session.beliefs import Belief
from dpbandits.session.ranges import Range
from dpbandits.session.state import SessionEvent
from dpbandits.session.statement import WIDTH
from dpbandits.session.storing import alarms_of

UNSEALED = (
    "WARNING: the database of this campaign has no key. Until their time has passed, single "
    "people's outcomes lie in it in clear: whoever can read its files, or a backup of them, can "
    "read those."
)
"""What is said of a campaign that was created with `unsealed=True`."""


class LedgerLine(NamedTuple):
    """A reading: rewards `start` to `stop` (exclusive) of a coordinate, in one release, and what it
    cost a record, an exact fraction as text (None: read without noise).

    kind "lost": what a timeline that was lost may have read.
    """

    generation: int
    coordinate: int
    start: int
    stop: int
    cost: str | None
    kind: Literal["read", "lost"] = "read"


class StoredRelease(NamedTuple):
    """One release. coordinates: of which arms; answers: as noised. asked: decisions until then."""

    step: int
    generation: int
    coordinates: tuple[int, ...]
    answers: tuple[Any, ...]
    asked: int
    made_at: float


class StoredDecision(NamedTuple):
    """One decision, for analysts. id: the round that its ask said. propensity: how likely it was;
    None where it was drawn from a posterior. waiting: no answer yet; None where that is private,
    because answers are waited for.
    """

    id: int
    action: Any
    label: Any
    propensity: float | None
    eligible: Any
    learn: bool
    asked_at: float
    waiting: bool | None


class SomeDecisions(NamedTuple):
    """Some decisions in order. after: what to ask for next; None: these were the last."""

    rows: tuple[StoredDecision, ...]
    after: int | None


class DecisionPage(SomeDecisions, Tabular):
    """Decisions in order, a page of them: `rows`, and what to ask for next, `after`; None: these
    were the last.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        more = "the last" if self.after is None else f"more after={self.after}"
        return f"{len(self.rows):,} decisions ({more})"

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self.rows, StoredDecision)


class Summary(NamedTuple):
    """A campaign in a few numbers. version, waiting, told: None where they are private, because
    they tell who answered. segments: their names, where these are counts over all of them. overdue:
    arms whose first block waits for requests that are overdue.
    """

    name: str
    policy: str
    guarantee: str | None
    epsilon: str | None
    generation: int
    version: int | None
    step: int
    asked: int
    waiting: int | None
    told: int | None
    closed: str | None
    arms: tuple[tuple[Any, str], ...]
    created: float
    segments: tuple[str, ...] = ()
    overdue: int = 0

    def __str__(self) -> str:
        counts = {"asked": self.asked, "told": self.told, "waiting": self.waiting}
        said = [f"{number:,} {name}" for name, number in counts.items() if number is not None]
        lines = [
            f"{self.name}: {self.policy}, {', '.join(said)}, {self.step:,} releases",
            self.guarantee or "no privacy",
            "arms: " + ", ".join(f"{arm} ({standing})" for arm, standing in self.arms),
        ]
        lines += [f"segments: {', '.join(self.segments)}"] if self.segments else []
        lines += [f"over: {self.closed}"] if self.closed is not None else []
        return "\n".join(lines)


def ledger_lines(work: Working, rows: CampaignRows) -> list[LedgerLine]:
    """The ledger, in order."""
    return [
        LedgerLine(row.generation, row.coordinate, row.start, row.stop, row.cost, row.kind)
        for row in rows.readings(0)
    ]


def stored_releases(
    work: Working, rows: CampaignRows, after: int, limit: int
) -> list[StoredRelease]:
    """Releases, in order."""
    until, unseen = min(work.head.step, after + limit), unseen_steps(work.head)
    return [
        StoredRelease(
            row.step,
            row.generation,
            tuple(json.loads(row.coordinates)),
            tuple(json.loads(row.answers)),
            row.asked,
            row.made_at,
        )
        for row in rows.releases(after, until)
        if not any(first <= row.step <= last for first, last in unseen)
    ]


def decision_page(work: Working, rows: CampaignRows, after: int, limit: int) -> DecisionPage:
    """Decisions, in order."""
    hidden = work.session.attribution_window is not None
    found = tuple(
        StoredDecision(
            row.seq,
            frozen_json(row.action),
            frozen_json(row.label),
            row.propensity,
            frozen_json(row.eligible),
            row.learn,
            row.asked_at,
            None if hidden else row.status == "waiting",
        )
        for row in rows.decisions(after, limit)
    )
    return DecisionPage(found, found[-1].id if len(found) == limit else None)


def summary_of(work: Working, rows: CampaignRows) -> Summary:
    """A campaign in a few numbers."""
    session, head = work.session, work.head
    guarantee, hidden = session.guarantee, session.attribution_window is not None
    return Summary(
        work.row.name,
        session.policy.name,
        None if guarantee is None else str(guarantee),
        None if guarantee is None or guarantee.epsilon is None else str(guarantee.epsilon),
        head.generation,
        None if hidden else head.version,
        head.step,
        head.asked,
        None if hidden else head.waiting,
        None if hidden else head.asked - head.waiting,
        head.closed,
        tuple((name, standing) for name, standing in session.arms),
        work.row.created,
        overdue=sum(event.what == "overdue" for event in session.alarms),
    )


def alarms_in(work: Working, rows: CampaignRows) -> tuple[SessionEvent, ...]:
    """What somebody should look at. A decision's time is said, in place of its number."""

    def when(seq: int) -> str:
        row = rows.decision(seq)
        if row is None:
            return f"decision {seq:,}"
        return f"{datetime.fromtimestamp(row.asked_at, UTC):%Y-%m-%d %H:%M} UTC"

    return alarms_of(work.session, when)


def statement_of(work: Working, rows: CampaignRows) -> str:
    """The privacy statement; whether outcomes lie in the database in clear, and whether the
    campaign is over.
    """
    said, why = work.session.statement(), work.head.closed
    if json.loads(work.row.options)["shown"].get("unsealed"):
        said += f"\n{fill(UNSEALED, WIDTH)}\n"
    return said if why is None else f"{said}\n{fill(f'The campaign is over: {why}.', WIDTH)}\n"


def in_play(work: Working, rows: CampaignRows) -> tuple[Policy, list[Belief], int, Range | None]:
    """The policy, what is believed of the arms that are played, decisions so far, and the range of
    rewards.
    """
    session = work.session
    paired = zip(session.beliefs(), session.arms, strict=True)
    played = [belief for belief, (_, standing) in paired if standing == "active"]
    return session.policy, played, work.head.asked, session.rewards


def summary_over(row: CampaignRow, parts: Sequence[Summary], segments: tuple[str, ...]) -> Summary:
    """A campaign with segments in a few numbers: theirs, added up."""
    return parts[0]._replace(
        name=row.name,
        generation=max(each.generation for each in parts),
        version=counted_together(each.version for each in parts),
        step=sum(each.step for each in parts),
        asked=sum(each.asked for each in parts),
        waiting=counted_together(each.waiting for each in parts),
        told=counted_together(each.told for each in parts),
        closed=None if any(each.closed is None for each in parts) else parts[0].closed,
        segments=segments,
        overdue=sum(each.overdue for each in parts),
    )


def counted_together(counts: Iterable[int | None]) -> int | None:
    """A sum; None: they are private."""
    found = [count for count in counts if count is not None]
    return sum(found) if found else None
