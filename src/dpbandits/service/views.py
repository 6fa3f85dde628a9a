"""Every view of a campaign, in one table.

A view is a function of public rows. It is registered once, with the model in which a server sends
it and the way in which the views of a campaign's parts become one; routes, client and commands are
made from `VIEWS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from textwrap import fill
from threading import Lock
from typing import Annotated, Any, NamedTuple, final

from pydantic import Field, TypeAdapter

from dpbandits.core.inputs import whole_number
from dpbandits.forecasting.forecast import ExpectedLoss, expected_loss
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import ArmLabels, Policy
from dpbandits.service import models
from dpbandits.service.operations import MOST_AT_ONCE, segment_part
from dpbandits.service.parts import Part, frozen_json
from dpbandits.service.refusals import refusal
from dpbandits.service.tables import EventRow, ReleaseRow
from dpbandits.service.transaction import Layout, Transaction
from dpbandits.session.beliefs import (
    Beliefs,
    ReleaseHistory,
    Uplift,
    checked_confidence,
    together,
    uplift_of,
    words_of_side,
)
from dpbandits.session.contexts import Predictions
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.lift import Lift, SegmentLift, Shares
from dpbandits.session.options import MOST_OUTCOMES
from dpbandits.session.segments import ONE_SEGMENT, SegmentBelief, SegmentedTable, under_names
from dpbandits.session.session import Session
from dpbandits.session.state import SessionEvent
from dpbandits.session.statement import NEWEST, WIDTH, participant_text, spent_in_all
from dpbandits.session.storing import (
    StoredHistory,
    statement_in,
)
from dpbandits.session.traffic import SampleRatio

LAST = 2**62
"""No campaign has so many decisions, and a database can still be asked for it."""

After = Annotated[int, Field(ge=0, le=2**53)]
Limit = Annotated[int, Field(ge=1, le=10_000)]
Confidence = Annotated[float, Field(gt=0, lt=1)]

PAGE: dict[str, tuple[Any, Any]] = {"after": (After, 0), "limit": (Limit, 1_000)}
CONFIDENT: dict[str, tuple[Any, Any]] = {"confidence": (Confidence, 0.95)}


def same(value: Any) -> Any:
    return value


@final
@dataclass(frozen=True)
class View:
    """A view.

    Args:
        show: the view of one part, of the transaction, the part and the parameters.
        sent: the type in which a server sends it, made of what has its fields as attributes.
        made: the type that a client makes of what was sent; None: the same.
        encode, decode: before the one and after the other.
        combine: of the layout, the parts' views by name and the parameters, the view of the whole
            campaign; None: there is none, a part has to be named.
        is_by_part: whether the view of the whole campaign is by part, over HTTP
            {"segments": {"DE": …}}.
        params: by name, type and default.
        finish: what is computed of it once the campaign is not locked any more.
        is_text: whether it is sent as plain text.
        is_whole: whether it is of the whole campaign only.
    """

    show: Callable[..., Any]
    sent: Any
    made: Any = None
    encode: Callable[[Any], Any] = same
    decode: Callable[[Any], Any] = same
    combine: Callable[..., Any] | None = None
    is_by_part: bool = False
    params: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    finish: Callable[[Any], Any] = same
    is_text: bool = False
    is_whole: bool = False

    def seen(self, tx: Transaction, segment: str | None, params: Mapping[str, Any]) -> Any:
        """The view of a campaign, or of one of its parts.

        Raises:
            ValueError: there is no such part, or one has to be named.
        """
        if self.is_whole and segment is not None:
            raise refusal("whole_needed")
        if tx.layout.is_whole or segment is not None:
            return self.show(tx, segment_part(tx, segment), **params)
        if self.combine is None:
            raise refusal("part_needed")
        values = {name: self.show(tx, tx.part(name), **params) for name in tx.layout.parts}
        return self.combine(tx.layout, values, **params)

    def to_sent(self, value: Any) -> Any:
        """A view as a server sends it."""
        parts = getattr(value, "parts", value)  # of a table of tables
        if self.is_by_part and isinstance(parts, Mapping):
            return {"segments": {name: self.to_sent(each) for name, each in parts.items()}}
        return value if self.is_text else adapter(self.sent).validate_python(self.encode(value))

    def from_sent(self, body: Any) -> Any:
        """A view as `show` or `combine` gave it, from what a server sent."""
        if self.is_text:
            return body
        if self.is_by_part and isinstance(body, dict) and "segments" in body:
            values = {name: self._made(each) for name, each in body["segments"].items()}
            return self.combine(None, values) if self.combine is not None else values
        return self._made(body)

    def _made(self, body: Any) -> Any:
        return self.decode(adapter(self.made or self.sent).validate_python(body))


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


# How the views of parts become one


@final
class ByPart(dict[str, Any]):
    """A value for each part, which prints as tables by segment do."""

    def __repr__(self) -> str:
        return under_names(self)


def by_part(layout: Any, parts: Mapping[str, Any], **params: Any) -> ByPart:
    return ByPart(parts)


def in_one_table(row: Any) -> Callable[..., Any]:
    """Return what makes one table of the parts' tables, with rows of this kind."""
    return lambda layout, parts, **params: SegmentedTable(parts, row)


def first_of(layout: Layout, parts: Mapping[str, Any], **params: Any) -> Any:
    return next(iter(parts.values()))


def largest_of(layout: Layout, parts: Mapping[str, Any], **params: Any) -> Any:
    """The largest; None where one of them is none."""
    return None if None in parts.values() else max(parts.values())


# What campaigns are and promise


def arms_of(tx: Transaction, part: Part) -> tuple[models.ArmState, ...]:
    return tuple(models.ArmState(*each) for each in part.session.arms)


def summary_of(tx: Transaction, part: Part) -> models.Summary:
    session, head = part.session, part.head
    guarantee, hidden = session.guarantee, session.attribution_window is not None
    epsilon = None if guarantee is None else guarantee.epsilon
    return models.Summary(
        name=part.row.name,
        policy=session.policy.name,
        guarantee=None if guarantee is None else str(guarantee),
        epsilon=None if epsilon is None else str(epsilon),
        generation=head.generation,
        version=None if hidden else head.version,
        step=shown_step(part, head.step),
        asked=head.asked,
        waiting=None if hidden else head.waiting,
        told=None if hidden else head.asked - head.waiting - part.view.void,
        void=part.view.void,
        closed=head.closed,
        arms=arms_of(tx, part),
        created=part.row.created,
        overdue=sum(event.what == "overdue" for event in session.alarms),
        winner=winner_of(session),
        closes_at=session.closes_at,
        features=features_of(session.policy),
    )


def features_of(policy: Policy) -> int | None:
    return policy.dimension if isinstance(policy, ContextualPolicy) else None


def winner_of(session: Session) -> Any:
    closing = session.closed
    return None if closing is None or closing.winner is None else session.arms[closing.winner][0]


def summary_over(layout: Layout, parts: Mapping[str, models.Summary]) -> models.Summary:
    """A campaign with parts in a few numbers: theirs, added up; None where they are private."""
    summaries = list(parts.values())

    def total(name: str) -> int | None:
        counts = [getattr(each, name) for each in summaries]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    is_open = any(each.closed is None for each in summaries)
    added = "version", "step", "asked", "waiting", "told", "void"
    changes = {name: total(name) for name in added}
    return summaries[0].model_copy(
        update={
            **changes,
            "name": layout.row.name,
            "generation": max(each.generation for each in summaries),
            "closed": None if is_open else summaries[0].closed,
            "segments": tuple(layout.parts),
            "overdue": total("overdue"),
            "closes_at": max(
                (each.closes_at for each in summaries if each.closes_at), default=None
            ),
        }
    )


UNSEALED = (
    "WARNING: the database of this campaign has no key. Until their time has passed, single "
    "people's outcomes lie in it in clear: whoever can read its files, or a backup of them, can "
    "read those."
)


def statement_of(tx: Transaction, part: Part) -> str:
    people = part.tables.people
    users, learned = (None, None) if people is None else tx.rows.people(people.window_number())
    where = "" if tx.layout.is_whole else ", over all parts of the campaign"
    if people is not None and tx.closed_window() is not None:  # see `Ask`: all places are taken
        until = "" if people.window is None else ", until that window ended,"
        where += f" (at most: all who came since the database was restored{until} are counted)"
    fences, why = part.head.generation - 1, part.head.closed
    text = statement_in(part.session, users, learned, where, fences)
    if said := named_words(tx.rows.events(part.uid, NEWEST)):
        text += f"\n{fill(said, WIDTH)}\n"
    if tx.layout.rule is not None and part is tx.part("holdout"):
        text += uplift_words({name: side_of(tx, tx.part(name)) for name in tx.layout.parts})
    if tx.layout.options.get("unsealed"):
        text += f"\n{fill(UNSEALED, WIDTH)}\n"
    if why is None or part.session.closed is not None:
        return text
    return f"{text}\n{fill(f'The campaign is over: {why}.', WIDTH)}\n"


def uplift_words(sides: Mapping[str, Beliefs]) -> str:
    """The two sides of a holdout and their difference, once nobody's answer is awaited any more."""
    if not all(side.is_over for side in sides.values()):
        return ""
    found = uplift_of(sides["policy"], sides["holdout"], 0.95)
    said = (
        f"Results of both sides: {words_of_side(found.policy)}; {words_of_side(found.holdout)}. "
        f"{found.advice} These intervals hold together, at all times, with confidence .95."
    )
    return f"\n{fill(' '.join(filter(None, (said, found.caution))), WIDTH)}\n"


def named_words(newest_first: Sequence[EventRow]) -> str:
    """Who did what, where `by=` said so."""
    done = [
        f"{row.what}{f' {row.about}' if row.what.endswith(' arm') else ''} by {row.by}"
        for row in reversed(newest_first)
        if row.by is not None
    ]
    which = "" if len(newest_first) < NEWEST else f", of the newest {NEWEST} changes"
    return f"Who did what{which}, as they said: {'; '.join(done)}." if done else ""


def statement_over(layout: Layout, parts: Mapping[str, str]) -> str:
    if layout.rule is None:
        return "\n\n".join([ONE_SEGMENT, *parts.values()])
    share = float(layout.rule.holdout)
    head = (
        "Each record is on one side, so what is promised to it is what its side's statement says. "
        f"Which side a person is on is public. Holdout people, a share of {share:g}, get the "
        "control arm alone. Their mean is read after numbers of people that were fixed beforehand; "
        "comparing it with the policy's costs nothing more."
    )
    return "\n\n".join([fill(head, WIDTH), *parts.values()])


def participants_in(tx: Transaction, part: Part) -> str:
    layout, rule = tx.layout, tx.layout.rule
    segments = () if layout.is_whole or rule else layout.parts
    return participant_text(part.session, layout.row.name, rule and rule.holdout, segments)


# What happened, row by row


def is_seen(part: Part, step: int) -> bool:
    """Whether rows of this step are shown: not those of a transaction that was never witnessed."""
    unseen = part.head.parsed["unseen"]
    # earlier versions hid decisions that came of it by the step -1
    return step >= 0 and not any(first <= step <= last for first, last in unseen)


def shown_step(part: Part, step: int) -> int:
    """The number of a step among those that are shown: how many are not tells nobody anything."""
    unseen = part.head.parsed["unseen"]
    return step - sum(last - first + 1 for first, last in unseen if last < step)


def ledger_of(tx: Transaction, part: Part) -> list[models.LedgerLine]:
    rows = [row for row in tx.rows.readings(part.uid, 0) if is_seen(part, row.step)]
    numbered = (row._replace(step=shown_step(part, row.step)) for row in rows)
    return [models.LedgerLine.model_validate(row) for row in numbered]


def releases_of(
    tx: Transaction, part: Part, after: int = 0, limit: int = 1_000
) -> list[models.StoredRelease]:
    since = whole_number(after, "after", 0, LAST)
    many = whole_number(limit, "limit", 1, MOST_AT_ONCE)
    newest = part.head.step
    until = min(newest, since + many + newest - shown_step(part, newest))
    return [
        models.StoredRelease(
            step=step,
            generation=row.generation,
            coordinates=frozen_json(row.coordinates),
            answers=frozen_json(row.answers),
            asked=row.asked,
            made_at=row.made_at,
        )
        for row in tx.rows.releases(part.uid, since, until)
        if is_seen(part, row.step) and since < (step := shown_step(part, row.step)) <= since + many
    ]


def labels_of(part: Part) -> ArmLabels:
    """The arms' names as they are now: a restart gives what was before another one."""
    return ArmLabels(part.session.policy.labels or ())


def decisions_of(
    tx: Transaction, part: Part, after: int = 0, limit: int = 1_000
) -> models.DecisionPage:
    since = whole_number(after, "after", 0, LAST)
    many = whole_number(limit, "limit", 1, MOST_AT_ONCE)
    hidden, labels = part.session.attribution_window is not None, labels_of(part)
    found = tx.rows.decisions(part.uid, since, many)
    rows = tuple(
        models.StoredDecision(
            id=row.seq,
            action=(action := frozen_json(row.action)),
            label=labels.of(action),
            propensity=row.propensity,
            eligible=frozen_json(row.eligible),
            learn=row.learn,
            asked_at=row.asked_at,
            waiting=None if hidden else row.status == "waiting",
        )
        for row in found
        if is_seen(part, row.step)
    )
    after_these = found[-1].seq if len(found) == many else None
    return models.DecisionPage(decisions=rows, after=after_these)


def events_of(tx: Transaction, part: Part, limit: int = 100) -> list[models.CampaignEvent]:
    many = whole_number(limit, "limit", 1, MOST_AT_ONCE)
    return [models.CampaignEvent.model_validate(row) for row in tx.rows.events(part.uid, many)]


# What came of it


def beliefs_of(tx: Transaction, part: Part, confidence: float = 0.95) -> Beliefs:
    if part.contexts is not None:
        raise refusal("by_context")
    return part.session.beliefs(confidence)


def predictions_of(
    tx: Transaction, part: Part, confidence: float = 0.95, always: bool = False
) -> Predictions:
    if part.contexts is None:
        raise refusal("no_contexts")
    return part.session.predictions(confidence, always=always)


def lift_in(
    tx: Transaction, part: Part, control: str | int | None = None, confidence: float = 0.95
) -> Lift:
    number, names = control, part.session.policy.labels or ()
    if isinstance(control, str) and len(control) < 20 and control.isdecimal():
        number = control if control in names else int(control)  # an address knows texts only
    return part.session.lift(number, confidence)


def shares_in(tx: Transaction, part: Part, people: int = 1_000) -> Shares:
    if tx.layout.rule is not None:
        raise refusal("no_batches")
    return part.session.shares(people)


def harm_of(tx: Transaction, part: Part) -> Beliefs:
    if part.session.guardrail is None:
        raise refusal("no_guardrail")
    return part.session.harm()


def sample_ratio_of(tx: Transaction, part: Part) -> SampleRatio:
    ratio = part.session.sample_ratio()
    answers = ratio.answers
    if answers is None or not answers.open:
        return ratio
    since = asked_when(tx, part, answers.open)
    return replace(ratio, answers=answers._replace(since=since or ""))


def asked_when(tx: Transaction, part: Part, seq: int) -> str | None:
    """When a decision was made; None where its row is gone."""
    row = tx.rows.decision(part.uid, seq)
    return (
        None if row is None else f"{datetime.fromtimestamp(row.asked_at, UTC):%Y-%m-%d %H:%M} UTC"
    )


def alarms_in(tx: Transaction, part: Part) -> tuple[SessionEvent, ...]:
    """What somebody should look at. A decision's time is said, in place of its number."""
    return part.session._alarms(lambda seq: asked_when(tx, part, seq) or f"decision {seq:,}")


def side_of(tx: Transaction, part: Part, confidence: float = 0.95) -> Beliefs:
    """One side of a holdout, all arms in one row, at half of the failure probability; over once
    nobody's answer is awaited any more.
    """
    if tx.layout.rule is None:
        raise refusal("no_holdout")
    session, half = part.session, (1.0 + checked_confidence(confidence)) / 2.0
    found, closing = session.beliefs(half), session.closed
    row = together(session._state.history, half, session.rewards)
    return replace(found, rows=(row,), is_over=closing is not None and closing.is_done)


def uplift_over(layout: Layout, parts: Mapping[str, Beliefs], confidence: float = 0.95) -> Uplift:
    return uplift_of(parts["policy"], parts["holdout"], float(confidence))


class InPlay(NamedTuple):
    """What an expected loss is simulated of.

    Args:
        kept: the newest one of the campaign, and as of which step it is.
        arguments: of `expected_loss`; None: of nothing.
    """

    kept: list[tuple[int, ExpectedLoss | None]]
    step: int
    arguments: tuple[Any, ...] | None


def in_play(tx: Transaction, part: Part) -> InPlay:
    session = part.session
    arguments = None
    is_ours = tx.layout.rule is None or part is tx.part("policy")
    if part.contexts is None and is_ours and has_chosen_all(session):
        asked = part.head.asked if session.closed is None else session.closed.asked
        if not tx.rows.has_eligible(part.uid, asked):
            drawn, learned = session._state.assignment, session._current.records
            least = drawn if drawn is not None and drawn.has_least else None
            # it learns from everybody who is simulated
            arguments = session.policy, session.beliefs().rows, learned, session.rewards, least
    return InPlay(tx.kept(part, list), part.head.step, arguments)


def has_chosen_all(session: Session) -> bool:
    """Whether people whose outcomes are learned from got arms in the way that is simulated: none
    keeps one from a visit that was learned from, nobody was assigned elsewhere, shares do not stand
    still for a period, the same arms were in play all the time, and no guardrail adds noise.
    """
    changed = any(event.what != "drop" for event in session._state.events)
    if changed or session._state.roster.active is not None:
        return False
    people = session._tables.people
    keeps = people is not None and people.kept is not None
    is_once = people is None or (people.cap == 1 and people.window is None)
    simulated = session.period is None and session.guardrail is None
    return simulated and (is_once or not keeps) and not session._current.elsewhere


def policy_side(layout: Layout, parts: Mapping[str, InPlay]) -> InPlay:
    if layout.rule is None:
        raise refusal("part_needed")
    return parts["policy"]


ONE_LOSS = Lock()


def loss_of(in_play: InPlay) -> ExpectedLoss | None:
    """The expected loss as of the newest release, which is kept until there is another one.

    Raises:
        RuntimeError: another one is being computed. Requests that waited for it would keep others
            from being served.
    """
    if in_play.arguments is None:
        return None
    for step, loss in in_play.kept:
        if step == in_play.step:
            return loss
    if not ONE_LOSS.acquire(blocking=False):
        raise refusal("busy")
    try:
        loss = expected_loss(*in_play.arguments)
        in_play.kept[:] = [(in_play.step, loss)]
    finally:
        ONE_LOSS.release()
    return loss


# What was believed, release by release

MOMENTS, RELEASES_AT_ONCE, HISTORY_CONFIDENCE = 60, 5_000, 0.95
"""Moments that are kept, and releases that are read at a time."""


@final
class HistoryCache:
    """Beliefs of one part over its releases, at most `MOMENTS` of them and the newest. Every
    release is folded in once; as they become many, every second moment is let go.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._begin()

    def _begin(self) -> None:
        self._step, self._folded, self._stride = 0, 0, 1
        self._history: ReleaseHistory | None = None
        self._kept = list[tuple[int, models.Moment]]()
        self._last: models.Moment | None = None

    def follow(self, tx: Transaction, part: Part) -> tuple[models.Moment, ...]:
        """All that is kept, the newest release at the end."""
        look, head = StoredHistory.of(part.session), part.head
        key, before = (head.generation, head.fresh_since, look.labels), self._key
        self._key = None  # should a reading fail, the next call begins anew
        if key != before or self._step > head.step:
            self._begin()
        while self._step < head.step:
            until = min(head.step, self._step + RELEASES_AT_ONCE)
            for row in tx.rows.releases(part.uid, self._step, until):
                if row.generation >= head.fresh_since:
                    numbered = row._replace(step=shown_step(part, row.step))
                    self._fold(numbered, look, row.step == head.step)
            self._step = until
        self._key = key
        kept = [moment for _, moment in self._kept]
        if self._last is not None and self._last not in kept[-1:]:
            kept.append(self._last)
        return tuple(kept)

    def _fold(self, row: ReleaseRow, look: StoredHistory, is_last: bool) -> None:
        before = look.nothing if self._history is None else self._history
        coordinates, answers = frozen_json(row.coordinates), frozen_json(row.answers)
        self._history = look.after(before, coordinates, answers)
        self._folded += 1
        is_chosen = self._folded % self._stride == 0
        if not (is_chosen or is_last):
            return
        rows = look.rows(self._history, HISTORY_CONFIDENCE)
        self._last = models.Moment(step=row.step, asked=row.asked, at=row.made_at, arms=rows)
        if is_chosen:
            self._kept.append((self._folded, self._last))
        if len(self._kept) >= MOMENTS:
            self._stride *= 2
            self._kept = [each for each in self._kept if each[0] % self._stride == 0]


def history_of(tx: Transaction, part: Part) -> tuple[models.Moment, ...]:
    return () if part.contexts is not None else tx.kept(part, HistoryCache).follow(tx, part)


def recent_of(tx: Transaction, part: Part, newest: int = 1_000) -> models.Recent:
    many = whole_number(newest, "newest", 1, MOST_AT_ONCE)
    after = max(0, part.head.asked - many)
    rows = tx.rows.decisions(part.uid, after, many)
    shown = Counter(frozen_json(row.action) for row in rows if is_seen(part, row.step))
    policy, labels = part.session.policy, labels_of(part)
    actions = range(policy.arms) if policy.about.feedback == "bandit" else sorted(shown, key=str)
    arms = tuple(
        models.ArmShare(label=str(labels.of(action) or action), decisions=shown[action])
        for action in actions
    )
    return models.Recent(after=after, until=part.head.asked, arms=arms)


# The table


def beliefs_like(**more: Any) -> dict[str, Any]:
    table = {"combine": in_one_table(SegmentBelief), "is_by_part": True}
    return {"sent": models.SentBeliefs, "made": Beliefs, **table, **more}


VIEWS: dict[str, View] = {
    "summary": View(summary_of, models.Summary, combine=summary_over),
    "options": View(lambda tx, part: tx.layout.options, dict[str, Any], combine=first_of),
    "guarantee": View(
        lambda tx, part: part.session.guarantee,
        models.SentGuarantee,
        encode=models.SentGuarantee.of,
        decode=models.SentGuarantee.made,
        combine=first_of,
    ),
    "spent": View(
        lambda tx, part: spent_in_all(part.session, part.head.generation - 1),
        models.Exact | None,
        combine=largest_of,
    ),
    "generation": View(lambda tx, part: part.head.generation, int, combine=largest_of),
    "attribution_window": View(
        lambda tx, part: part.session.attribution_window, float | None, combine=first_of
    ),
    "guardrail": View(
        lambda tx, part: part.session.guardrail,
        models.SentGuardrail | None,
        Guardrail | None,
        combine=first_of,
    ),
    "arms": View(
        arms_of,
        models.SentArms,
        encode=lambda arms: {"arms": arms},
        decode=lambda said: said.arms,
        combine=by_part,
        is_by_part=True,
    ),
    "statement": View(statement_of, str, combine=statement_over, is_text=True),
    "participants": View(participants_in, str, combine=first_of, is_text=True),
    "description": View(lambda tx, part: part.session.description(), str, is_text=True),
    "ledger": View(ledger_of, list[models.LedgerLine], combine=by_part, is_by_part=True),
    "releases": View(releases_of, list[models.StoredRelease], params=PAGE),
    "decisions": View(decisions_of, models.DecisionPage, params=PAGE),
    "events": View(events_of, list[models.CampaignEvent], params={"limit": (Limit, 100)}),
    "beliefs": View(beliefs_of, params=CONFIDENT, **beliefs_like()),
    "predictions": View(
        predictions_of,
        models.SentPredictions,
        decode=models.predictions_made,
        combine=first_of,
        params={**CONFIDENT, "always": (bool, False)},
    ),
    "lift": View(
        lift_in,
        models.SentLift,
        Lift,
        combine=in_one_table(SegmentLift),
        is_by_part=True,
        params={"control": (Annotated[str | None, Field(max_length=200)], None), **CONFIDENT},
    ),
    "shares": View(
        shares_in,
        models.SentShares,
        Shares,
        combine=by_part,
        is_by_part=True,
        params={"people": (Annotated[int, Field(ge=1, le=MOST_OUTCOMES)], 1_000)},
    ),
    "harm": View(harm_of, **beliefs_like()),
    "sample_ratio": View(
        sample_ratio_of,
        models.SentRatio,
        encode=models.ratio_sent,
        decode=models.ratio_made,
        combine=by_part,
        is_by_part=True,
    ),
    "alarms": View(
        alarms_in,
        models.SentEvents,
        tuple[SessionEvent, ...],
        combine=by_part,
        is_by_part=True,
    ),
    "uplift": View(
        side_of,
        models.SentUplift,
        Uplift,
        combine=uplift_over,
        params=CONFIDENT,
        is_whole=True,
    ),
    "expected_loss": View(
        in_play,
        models.SentLoss | None,
        ExpectedLoss | None,
        combine=policy_side,
        finish=loss_of,
    ),
    "history": View(history_of, list[models.Moment], tuple[models.Moment, ...]),
    "recent": View(recent_of, models.Recent, params={"newest": (Limit, 1_000)}),
    "policy": View(lambda tx, part: part.session.policy, None, combine=first_of),
}
"""By name, every view of a campaign. The policy itself is not sent: a client has no use for it."""

SENT = {name: view for name, view in VIEWS.items() if view.sent is not None}
"""The views that a server sends."""
