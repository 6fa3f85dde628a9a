"""The state of a session, its log of events, and the view computed from both.

    State   everything known after the last release or fold; immutable, except for `pending`
    events  what happened since: a list that is only appended to
    View    counts and sums of state and events; can be rebuilt from them at any time

A session is a `Log`: a state, its plan, and the events since. Appending an event is the commit:
before it nothing has happened; after it the view is updated or, if that was interrupted, rebuilt.
A release replaces the state in one assignment.

`Tables` are updated from the events. Applying an event twice has no further effect.

Nothing here checks a reward, draws noise or makes a release.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, NamedTuple, final

from msgspec import Meta, Struct
from msgspec.structs import replace as replaced

from dpbandits.core.inputs import Count, Number, Opaque, number_within, shown
from dpbandits.core.plan import FOREVER, ContextLaw, Cycle, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.mechanisms.rewards import read_or_none
from dpbandits.policies.base import Statistics
from dpbandits.policies.contract import Policy, Release, checked_plan, require_plan
from dpbandits.session.arms import Assignment, Roster, short
from dpbandits.session.beliefs import ReleaseHistory
from dpbandits.session.contexts import Contexts
from dpbandits.session.decisions import (
    CountedAs,
    Decision,
    HowChosen,
    KeptChoices,
    Play,
    is_unchanged,
    unknown_decision,
    whole_id,
)
from dpbandits.session.guardrail import Harm
from dpbandits.session.overdue import (
    AskedBlock,
    DelayedBlock,
    InTime,
    Outstanding,
    Overdue,
    bucket_of,
    check_requests,
    delayed_blocks,
    is_nobody_answering,
    longest_wait,
    outstanding_in,
    overtaken_before,
    usual_delay,
)
from dpbandits.session.people import Place, Register
from dpbandits.session.times import AttributionWindow, EndedPeriod, OpenPeriod, Periods
from dpbandits.session.traffic import Traffic
from dpbandits.vault import Books, Parts, add_records, frameless

LONGEST_WHY = 500
"""Characters of why a session is closed."""

EARLY_CLOSE = 2
"""If answers come out of order, a joint plan's block is released once it has one in so many of its
rounds.
"""


class SessionEvent(NamedTuple):
    """An event that users see in `Session.events` and `Session.alarms`. Public.

    Args:
        what: "add", "retire", "pause", "resume" or "restart" (an arm), or "drop" (all open blocks);
            with a guardrail also "suspend", or "alarm" if the arm is the last one in play;
            "overdue" if an arm's first batch waits for requests that are too old, "silent" if
            nobody answers, "clock" if the clock is behind what it said before, and "restored" if
            nobody is learned from any more.
        arm: its name or number; None if it is about all arms.
        asked: number of decisions made before it.
        advice: what to do about an alarm, in words.
    """

    what: str
    arm: str | int | None
    asked: Count
    advice: str = ""


OUT_OF_PLAY = ("pause", "retire", "suspend")
"""After these events an arm is out of play."""


def merged_events(
    events: Sequence[SessionEvent], alarms: Sequence[SessionEvent]
) -> tuple[SessionEvent, ...]:
    """Return events and alarms in the order of decisions. At equal numbers a suspension comes
    before a resume. An arm that is out of play is not suspended.
    """
    merged, out, left = list[SessionEvent](), set[str | int | None](), list(alarms)
    for event in events:
        while left and (left[0].asked, left[0].arm in out) < (event.asked, True):
            alarm = left.pop(0)
            merged.append(alarm)
            if alarm.what in OUT_OF_PLAY:
                out.add(alarm.arm)
        merged.append(event)
        if event.what in OUT_OF_PLAY:
            out.add(event.arm)
        out -= {event.arm} if event.what == "resume" else set()
    return (*merged, *left)


def first_kept(roster: Roster, events: Sequence[SessionEvent]) -> int:
    """Return the first arm that is not retired. An arm that was restarted stays in its place."""
    came = [event for event in events if event.what in ("add", "restart")]
    after = {
        short(str(event.arm)): number
        for number, event in enumerate(came, len(roster.status) - len(came))
        if event.what == "restart"
    }
    ended = {event.arm for event in events if event.what == "retire"}
    for arm in range(len(roster.status)):
        while roster.status[arm] == "retired" and (label := roster.label(arm)) not in ended:
            arm = after[str(label).rpartition(" (")[0] or str(label)]
        if roster.status[arm] != "retired":
            return arm
    return roster.kept[0]


class Offer(NamedTuple):
    """What the decisions from `since` to `last` play.

    Args:
        play: their common play; None if each decision is drawn.
        plan: what they are drawn from; None for the plan of the log.
    """

    since: int
    last: int
    play: Play | None
    plan: Plan | None = None


NO_OFFER = Offer(1, 0, None)


class OpenPlan(NamedTuple):
    """A joint plan whose block is open.

    Args:
        action: the super arm.
        rounds: number of records in its block.
        release: the arms whose sums are released together.
        observe: the arms whose rewards are reported; None for all arms of the super arm.
        step: the step in which it was made or resumed.
    """

    action: tuple[Count, ...]
    rounds: Number
    release: tuple[Count, ...]
    observe: tuple[Count, ...] | None
    step: Count

    @property
    def hold(self) -> Hold:
        return Hold(self.action, self.rounds, self.release, (), self.observe)


class Closing(NamedTuple):
    """How a session was closed. Public.

    Args:
        why: in the caller's words.
        winner: the arm that further decisions show; None if there are no further decisions.
        read: whether blocks that are open at the end are released once.
        asked: number of decisions made before closing.
        void: decisions that closing made void, as runs (first id, length).
        is_done: whether closing is complete: no outcome is awaited, and the last releases are in
            the journal.
        releases: the last releases, each with `Ledger.left` after it, until they are in the
            journal; None while outcomes are awaited.
    """

    why: Annotated[str, Meta(max_length=LONGEST_WHY)]
    winner: Count | None
    read: bool
    asked: Count
    void: tuple[tuple[Number, Number], ...] = ()
    is_done: bool = False
    releases: tuple[tuple[Release, dict[int, tuple[int, int]]], ...] | None = None

    def drops(self, id: int) -> bool:
        """Whether the answer to this decision is accepted and dropped."""
        if id > self.asked:
            return True
        at = bisect_right(self.void, id, key=lambda run: run[0]) - 1
        return at >= 0 and id < sum(self.void[at])


def id_runs(ids: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return runs of consecutive ids as (first id, length).

    >>> id_runs([3, 1, 2, 7])
    ((1, 3), (7, 1))
    """
    runs = list[tuple[int, int]]()
    for id in sorted(ids):
        if runs and sum(runs[-1]) == id:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((id, 1))
    return tuple(runs)


class UnlearnedRelease(NamedTuple):
    """A release that the policy has not learned from yet.

    Args:
        release: the released values; empty if blocks were only dropped.
        plan: the plan it ended; None if blocks were dropped without one.
        number: the number of the joint plan, if it was one.
        ended: the period that ended with it, if one did.
    """

    release: Release
    plan: Plan | None
    number: int | None = None
    ended: EndedPeriod | None = None


Bucket = Annotated[int, Meta(ge=4, le=255)]
"""Of delays up to 2^63 (see `overdue.bucket_of`)."""


class Kept(Opaque, frozen=True, gc=True, kw_only=True):
    """What of a state is saved under the same name. All of it is public.

    Args:
        assignment: how arms are drawn; None where every decision follows from the plan.
        traffic: how often each arm was drawn.
        events: events that users see.
        step: number of steps before this one. A step is the life of a plan.
        asked: number of decisions made.
        first: number of decisions made before this step.
        records: number of recorded rewards.
        unread: number of decisions resolved without a record.
        rng: position of the step's public randomness; None if nothing was drawn.
        delays: number of late answers by delay; None if requests are never overdue: with an
            attribution window, contexts, full information, or super arms that are released one by
            one.
        overdue: requests that have waited for too long.
        closing: None while the session is open.
        elsewhere: number of people with recorded outcomes who were assigned elsewhere.
        batches: their batches, unless a store keeps them.
        forgotten: of `elsewhere`, those from before the policy restarted, whom `records` no longer
            counts.
        void: number of decisions that were never carried out, or voided by a fence.
    """

    assignment: Assignment | None
    traffic: Traffic
    events: tuple[SessionEvent, ...]
    step: Count
    asked: Count
    first: Count
    records: Count
    unread: Count
    rng: dict[str, Any] | None
    delays: tuple[tuple[Bucket, Number], ...] | None
    overdue: Overdue
    closing: Closing | None = None
    elsewhere: Count = 0
    batches: tuple[Batch, ...] = ()
    forgotten: Count = 0
    void: Count = 0


class State(Kept, frozen=True, gc=True):
    """Everything known after the last fold: a release, a call without an event, or many events.
    Immutable, except for `pending`.

    Args:
        policy: the policy.
        learned: the policy's state.
        books: the vault's open blocks, mechanism memory and ledger. Partly private.
        history: the releases of each arm, for intervals.
        roster: the arms, and which of them are in play.
        plans: open joint plans by number.
        pending: pending decisions by id. Shared with the view, which updates it: copying it at
            every release would take too long.
        harm: with a guardrail, the releases of each arm's harm.
        offer: what the next decisions play.
        step_counts: rewards recorded in this step, by what they are counted as.
        unlearned: a release that the policy has not learned from yet.
        contexts: with a contextual policy, its open counts.
        asked_at_answer: number of decisions made when the newest answer was recorded.
        expired_since: number of decisions that expired since then.
        period: the period that is under way; None without periods.
    """

    policy: Policy
    learned: Any
    books: Books
    history: ReleaseHistory
    roster: Roster
    plans: Mapping[int, OpenPlan]
    pending: dict[int, Play]
    harm: Harm | None = None
    offer: Offer = NO_OFFER
    step_counts: tuple[tuple[CountedAs, int], ...] = ()
    unlearned: UnlearnedRelease | None = None
    contexts: Contexts | None = None
    asked_at_answer: int = 0
    expired_since: int = 0
    period: OpenPeriod | None = None

    @property
    def planning(self) -> Any:
        """The policy's state to plan from: it knows which arms are in play."""
        return self.policy.among(self.learned, self.roster.active)


# Events


class AskChanges(Struct, frozen=True):
    """Changes that an ask made besides its decision.

    Args:
        offer: what the next decisions play.
        plans: open joint plans.
        rng: position of the public randomness.
        traffic: how often each arm was drawn.
        overdue: requests that have waited for too long.
        period: the period that is under way.
    """

    offer: Offer
    plans: Mapping[int, OpenPlan]
    rng: Any
    traffic: Traffic
    overdue: Overdue
    period: OpenPeriod | None = None


class Asked(Struct, frozen=True, gc=False):
    """A decision was made.

    Args:
        changes: None if the decision follows from the current offer.
        place: the person's pseudonym, the window, and the contributions used in it.
        due: when its attribution window ends.
        keeps: the person who keeps its arm, and the arm's mark (`Roster.mark`).
    """

    id: int
    play: Play
    changes: AskChanges | None = None
    place: tuple[str, int, int] | None = None
    due: float | None = None
    keeps: tuple[str, int] | None = None


class Told(Opaque, frozen=True):
    """A reward was recorded, or the default of a decision that expired. Private.

    Args:
        counted_as: what its decision is counted as (see `Play`).
        parts: the amounts to add, by block.
        answered: False if the decision expired and the default was recorded.
    """

    id: int
    counted_as: CountedAs
    parts: Parts
    answered: bool = True


class Batch(NamedTuple):
    """A batch of outcomes of people who were assigned elsewhere. Public.

    Args:
        key: a digest of the caller's key.
        people: number of outcomes.
    """

    key: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    arm: Count
    people: Number


class RecordedElsewhere(Opaque, frozen=True):
    """The outcome of a person who was assigned elsewhere: a decision and its reward in one event.
    Private.

    Args:
        parts: the amounts to add, by block.
        batch: the batch, on its first event and without a store; else None.
    """

    id: int
    play: Play
    parts: Parts
    batch: Batch | None = None


class Unread(Struct, frozen=True, gc=False):
    """A decision was resolved without a record.

    Args:
        why: "told" or "expired" if its `learn` is False; "void" if it was never carried out.
        place: if a contribution is returned: the pseudonym, the window, and the contributions
            still used in it.
    """

    id: int
    play: Play
    why: str
    place: tuple[str, int, int] | None = None


NO_PLAY = Play(0, None, None, 0, False)
"""The play of a decision that was voided when its session was closed."""


class Released(NamedTuple):
    """A journal entry for a release.

    Args:
        step: the step that it ended.
        plan: the plan that it ended; None if blocks were dropped.
        left: as in the ledger.
        asked: number of decisions made before it.
    """

    step: int
    release: Release
    plan: Plan | None
    left: dict[int, tuple[int, int]]
    asked: int


class StoppedLearning(NamedTuple):
    """A journal entry: the rewards of these pending decisions will not be learned from."""

    ids: tuple[int, ...]


Event = Asked | Told | Unread | RecordedElsewhere

ANSWERED_BY_REASON = {"told": True, "expired": False, "void": None}
"""Whether somebody answered, by `Unread.why`; None if the decision does not count."""


class Log(Opaque, frozen=True, gc=True):
    """A session: a state, the plan made from it, and the events since, which are only appended."""

    state: State
    plan: Plan
    events: list[Any]


@final
class Tables:
    """Records of single decisions and people, besides `State.pending`. Updated from the events.

    Args:
        chosen: how each decision was chosen; None if a store keeps this.
        owners: by pending decision, the person whose contribution it uses.
        people: contributions used, by person; None without `privacy_unit="user"`.
        attribution: when each pending decision's attribution window ends; None without one.
        periods: when periods end; None without them.
        held: answers in grid steps until their window ends, by decision. Private.
        journal: events since a store last took them; None without a store.
        follows: whether more than `chosen` changes with every event.
    """

    __slots__ = (
        "attribution",
        "chosen",
        "follows",
        "held",
        "journal",
        "noted",
        "owners",
        "people",
        "periods",
        "placed",
    )

    def __init__(
        self,
        people: Register | None,
        attribution: AttributionWindow | None,
        periods: Periods | None = None,
    ) -> None:
        self.periods = periods
        self.chosen: KeptChoices | None = KeptChoices()
        self.owners: dict[int, Place] = {}
        self.people, self.attribution = people, attribution
        self.placed = 0  # the number of the last event that counted a place
        self.held: dict[int, Any] = {}
        self.journal: list[Any] | None = None
        self.noted = 0  # the number of the last event in the journal
        self.follows = people is not None or attribution is not None

    def place(
        self,
        place: tuple[str, int, int] | None,
        number: int,
        keeps: tuple[str, int] | None = None,
    ) -> None:
        """Set the contributions of a person, and the arm that a person keeps.

        Args:
            number: the number of the event since the session began. An event that is applied again
                is ignored: another segment may have counted the same person since.
        """
        assert self.people is not None
        if number > self.placed:
            if place is not None:
                self.people.used[place[0]] = place[1:]
            if keeps is not None and self.people.kept is not None:
                self.people.kept[keeps[0]] = keeps[1]
            self.placed = number

    def note(self, event: Event, number: int) -> None:
        """Add an event to the journal, once."""
        if self.journal is not None and number > self.noted:
            self.journal.append(event)
            self.noted = number

    def follow_resolved(self, event: Told | Unread, number: int) -> None:
        id, place = event.id, None if isinstance(event, Told) else event.place
        self.note(event, number)
        if self.owners:
            self.owners.pop(id, None)
        if place is not None:
            self.place(place, number)
        if self.attribution is not None:
            self.attribution.due.pop(id, None)
            self.held.pop(id, None)


# Steps


def opened(seed: int, state: State, events: list[Any], first: bool = True) -> tuple[Log, PublicRng]:
    """Return the log that begins with a state, and the public randomness of its step.

    Args:
        first: False to continue a step that began earlier.
    """
    policy = state.policy
    rng = PublicRng(seed, state.step)
    plan = checked_plan(policy, state.planning, rng)
    if not first:
        if state.rng is not None:
            rng = PublicRng(seed, state.step, state.rng)
        return Log(state, plan, events), rng
    since, plans, overdue = state.asked + 1, state.plans, state.overdue
    if not state.pending:
        overdue = overdue._replace(blocks={}, check=FOREVER, elsewhere=())
    if isinstance(plan, Cycle) and state.delays is not None:  # it may be asked for once more
        check = min(overdue.check, since + len(plan.actions) * plan.each)
        overdue = overdue._replace(check=check)
    if policy.reader.together:
        hold = require_hold(plan)
        rounds = 0 if state.pending else hold.rounds
        offer = joint_offer(state.roster, hold, since, since, rounds)
        if not state.pending:
            plans = {**plans, since: open_plan(hold, state.step)}
    else:
        offer = offer_of(state, plan, since)
        if state.roster.active is not None or (state.pending and isinstance(plan, Hold)):
            offer = offer._replace(last=0)  # the first ask looks ahead
    state = replaced(
        state, first=state.asked, offer=offer, plans=plans, rng=rng.state(), overdue=overdue
    )
    return Log(state, plan, events), rng


def require_hold(plan: Plan) -> Hold:
    """Raise TypeError unless a plan's records can be read together."""
    if not isinstance(plan, Hold):
        raise TypeError(
            f"Expected a Hold, got a {type(plan).__name__}: where the rewards of a record are read "
            "together, a plan plays one super arm."
        )
    return plan


def open_plan(plan: Hold, step: int) -> OpenPlan:
    action: Any = plan.action
    return OpenPlan(action, plan.rounds, plan.release, plan.observe, step)


def offer_of(state: State, plan: Plan, since: int, drawn_from: Plan | None = None) -> Offer:
    """Return the offer of a plan from decision `since` on."""
    if not isinstance(plan, Hold):
        return Offer(since, FOREVER, None, drawn_from)
    last = min(FOREVER, since - 1 + plan.rounds)
    return Offer(since, last, play_of(state, plan, plan.action))


def play_of(state: State, plan: Plan, action: Any) -> Play:
    """Return the play of an action of a plan; how likely one was that was drawn is not known."""
    propensity = None if plan.drawn else 1.0
    observe = (plan.observe or action) if state.policy.about.feedback == "semi" else None
    label = state.roster.labels.of(action)
    return Play(action, observe, label, observe or action, True, propensity)


def joint_offer(roster: Roster, plan: Hold, number: int, since: int, rounds: int) -> Offer:
    """Return the offer of a joint plan for this many rounds (0 for an empty offer)."""
    action: Any = plan.action
    observe: tuple[int, ...] = plan.observe or action
    kept = tuple(observe.index(arm) for arm in plan.release)
    play = Play(action, observe, roster.labels.of(action), number, True, 1.0, kept)
    return Offer(since, min(FOREVER, since - 1 + rounds) if rounds else 0, play)


@final
class View:
    """Counts and sums of a state and its events, updated as events are appended.

    `counted` is the number of events counted, or −1 while the view is ahead of its log. It is
    updated last: if counting is interrupted, `counted` does not match the log, and the view is
    rebuilt. Counting stops at an event that makes a release due.

    Attributes:
        ready: what is to be released: coordinates, or the number of a joint plan. Empty where the
            plan releases nothing, or its release waits for the policy to learn from it. None while
            the plan goes on.
        progress: counts of the plan; None with joint releases, whose blocks count for themselves.
        last: the decision up to which `play` holds without further checks.
        since: the first decision of the step.
        position: of `rng` after the newest decision that was made.
        context_records: with a contextual policy, the records since the last fold, by arm.
        pilot: contexts that the first codebooks are made of.
        in_time: pending decisions that are not overdue, by what they are counted as; None: not
            known.
    """

    __slots__ = (
        "asked",
        "asked_at_answer",
        "batches",
        "blocks",
        "context_records",
        "counted",
        "delays",
        "elsewhere",
        "events",
        "expired_since",
        "in_time",
        "last",
        "log",
        "offer",
        "overdue",
        "overtaken",
        "pending",
        "period",
        "pilot",
        "plans",
        "play",
        "policy",
        "position",
        "progress",
        "ready",
        "records",
        "rng",
        "since",
        "step_counts",
        "tables",
        "traffic",
        "unread",
        "void",
    )

    def __init__(
        self,
        seed: int,
        log: Log,
        tables: Tables,
        rng: PublicRng | None = None,
        before: View | None = None,
    ) -> None:
        """
        Args:
            rng: the step's public randomness, if it is at the state's position.
            before: the previous view, if it ended with this log. It must not be used afterwards.
        """
        state = log.state
        self.policy, self.log, self.tables = state.policy, log, tables
        self.events, self.counted = log.events, 0
        self.asked, self.records, self.unread = state.asked, state.records, state.unread
        self.since = state.offer.since
        self.asked_at_answer, self.expired_since = state.asked_at_answer, state.expired_since
        self.pending, self.plans, self.traffic = state.pending, state.plans, state.traffic
        self.elsewhere, self.batches, self.void = state.elsewhere, state.batches, state.void
        self.period = state.period
        self.blocks = state.books.blocks.copy()
        self.context_records: dict[int, list[Any]] | None = None if state.contexts is None else {}
        self.pilot = [] if state.contexts is None else list(state.contexts.pilot)
        self.position = state.rng
        self.rng = rng or PublicRng(seed, state.step, state.rng)
        self.progress: Progress | None = None
        self.ready: tuple[int, ...] | None = None
        self.delays = None if state.delays is None else dict(state.delays)
        self.overdue, self.overtaken = state.overdue, (-1, 0)
        self.in_time: InTime | None = before.in_time if before and self.pending else None
        if self.policy.reader.together:
            self.step_counts = dict(state.step_counts)
            # what closed one block may close others; later only an answer does
            if state.asked == state.first and not state.step_counts:
                self.ready = self._ready_block()
        else:
            room = partial(self.policy.room, state.planning)
            self.progress = Progress.at(log.plan, dict(state.step_counts), room)
            self.step_counts, self.ready = self.progress.told, self.progress.ready
        if state.unlearned is not None:
            self.ready = ()  # released already; the policy has to learn from it
        self._set_offer(state.offer)
        self.catch_up()
        while self.pending and next(reversed(self.pending)) > self.asked:
            self.pending.popitem()  # computed, but never made
        if self.position is not state.rng:
            self.rng = PublicRng(seed, state.step, self.position)

    def _set_offer(self, offer: Offer) -> None:
        self.offer, self.play = offer, offer.play
        self.last = 0 if offer.play is None else min(offer.last, self.overdue.check - 1)

    # Counting events

    def catch_up(self) -> None:
        """Count appended events, up to one that makes a release due."""
        while self.ready is None and self.counted < len(self.events):
            self.apply(self.events[self.counted], self.counted + 1)

    def apply(self, event: Any, at: int) -> None:
        """Count one event.

        Args:
            at: the number of events counted with this one.
        """
        kind = type(event)
        if kind is Told:
            id, counted_as, answered = event.id, event.counted_as, event.answered
            self.pending.pop(id, None)
            if id != self.asked and self.delays is not None:
                delay = self.asked - id - self.overdue.elsewhere_after(id)
                if delay:
                    bucket = bucket_of(delay)
                    self.delays[bucket] = self.delays.get(bucket, 0) + 1
            if self.in_time is not None:
                self._remove_outstanding(id, counted_as)
            progress = self.progress
            if progress is None and counted_as not in self.plans:
                pass  # its block is closed: the reward is too late and never released
            elif self.context_records is not None:
                for arm, record in event.parts:
                    self.context_records.setdefault(arm, []).append(record)
            else:
                add_records(self.blocks, event.parts)
                if progress is None:
                    self.step_counts[counted_as] = self.step_counts.get(counted_as, 0) + 1
            if self.period is not None:
                self.period = self.period.recorded(id, counted_as)
            if progress is None:
                self.ready = self._ready_block()
            else:
                self.ready = progress.count(counted_as)
            self.records += 1
            self._count_answer(id, counted_as, answered)
            if self.tables.follows or not answered:
                self.tables.follow_resolved(event, self.number)
        elif kind is Asked:
            self._count_ask(event)
            # a decision without changes was chosen like the previous one, unless a step begins
            if event.changes is not None or self.tables.follows or event.id == self.since:
                self._follow_ask(event, self.number)
        elif kind is RecordedElsewhere:
            self._count_recorded(event)
        else:
            play = event.play
            self.pending.pop(event.id, None)
            if self.in_time is not None and play.learn:
                self._remove_outstanding(event.id, play.counted_as)
            self.unread += 1
            self.void += event.why == "void"
            self._count_answer(event.id, play.action, ANSWERED_BY_REASON[event.why])
            self._set_offer(self.offer._replace(last=0))  # one decision fewer fills the plan
            self.tables.follow_resolved(event, self.number)
        self.counted = at

    def _count_recorded(self, event: RecordedElsewhere) -> None:
        id, play, batch = event.id, event.play, event.batch
        add_records(self.blocks, event.parts)
        if self.period is not None:  # nobody knows here by which shares they were assigned
            self.period = self.period.incomparable(self.policy.arms)
        assert self.progress is not None
        self.ready = self.progress.count(play.counted_as)
        self.asked, self.records, self.elsewhere = id, self.records + 1, self.elsewhere + 1
        self.asked_at_answer += 1  # as many decisions as before were made since the newest answer
        self.overdue = self.overdue.with_elsewhere(id, self.pending)
        self._set_offer(self.offer._replace(last=0))  # the next ask looks again
        if batch is not None:
            self.batches = (*self.batches, batch)
        if self.tables.chosen is not None:
            self.tables.chosen.note(id, HowChosen(play.action, play.propensity, play.learn))
        self.tables.note(event, self.number)

    def _count_answer(self, id: int, arm: Any, answered: bool | None) -> None:
        """Count whether somebody answered; None: the decision is void."""
        if answered:
            self.asked_at_answer, self.expired_since = self.asked, 0
        elif answered is False:
            self.expired_since += 1
        if self.traffic.answers.open:
            answers = self.traffic.answers.with_resolved(id, arm, answered)
            self.traffic = replace(self.traffic, answers=answers)

    @property
    def number(self) -> int:
        """The number of events since the session began; a recorded outcome counts as two."""
        return self.asked + self.records + self.unread

    def _remove_outstanding(self, id: int, counted_as: CountedAs) -> None:
        assert self.in_time is not None
        outstanding = self.in_time.get(counted_as)
        if outstanding is not None and id >= outstanding.edge:
            outstanding.count -= 1

    def _count_ask(self, event: Asked) -> None:
        play, changes = event.play, event.changes
        self.asked = event.id
        self.pending[event.id] = play
        if changes is not None:
            self.plans, self.position, self.traffic = changes.plans, changes.rng, changes.traffic
            self.period = changes.period
            if changes.offer is not self.offer or changes.overdue is not self.overdue:
                self.overdue = changes.overdue
                self._set_offer(changes.offer)
        if self.in_time is not None and play.learn:
            outstanding = self.in_time.get(play.counted_as)
            if outstanding is None:
                edge = self.overdue.of(play.counted_as).edge
                outstanding = self.in_time[play.counted_as] = Outstanding(edge)
            outstanding.add(self.asked)

    def _follow_ask(self, event: Asked, number: int) -> None:
        id, play, place, due = event.id, event.play, event.place, event.due
        if play.context is not None and not play.learn and self.log.state.learned.in_pilot:
            self.pilot.append(play.context)
        tables = self.tables
        tables.note(event, number)
        if tables.chosen is not None and (event.changes is not None or id == self.since):
            tables.chosen.note(id, HowChosen(play.action, play.propensity, play.learn))
        if place is not None or event.keeps is not None:
            tables.place(place, number, event.keeps)
        if place is not None:
            tables.owners[id] = place[:2]
        if due is not None:
            assert tables.attribution is not None
            tables.attribution.due.setdefault(id, due)

    def count_ahead(self, event: Asked) -> None:
        """Count a decision that is not made yet; the next one is computed as if it were."""
        self.counted = -1  # the view is ahead of its log
        self._count_ask(event)

    def append_asked(self, events: list[Asked]) -> None:
        """Commit decisions that were counted ahead."""
        self.events.extend(events)  # this is the moment at which it happens
        for number, event in enumerate(events, self.number - len(events) + 1):
            self._follow_ask(event, number)
        self.counted = len(self.events)

    def folded_with_all_events(self) -> State:
        """Return the state with all events, including those after a release that failed."""
        while self.counted < len(self.events):
            self.apply(self.events[self.counted], self.counted + 1)
        return self.folded()

    def folded(self) -> State:
        """Return the state with the counted events folded in."""
        state = self.log.state
        blocks, contexts = self.blocks.copy(), state.contexts
        if contexts is not None and self.context_records is not None:
            blocks, contexts = frameless(
                contexts.with_records, state, self.log.plan, self.context_records
            )
            contexts = contexts._replace(pilot=tuple(self.pilot))
        return replaced(
            state,
            contexts=contexts,
            books=Books(blocks, state.books.memory, state.books.ledger),
            traffic=self.traffic,
            asked=self.asked,
            records=self.records,
            unread=self.unread,
            asked_at_answer=self.asked_at_answer,
            expired_since=self.expired_since,
            offer=self.offer,
            rng=self.position,
            step_counts=tuple(self.step_counts.items()),
            plans=self.plans,
            delays=None if self.delays is None else tuple(sorted(self.delays.items())),
            overdue=self.overdue,
            pending=self.pending,
            elsewhere=self.elsewhere,
            batches=self.batches,
            void=self.void,
            period=self.period,
        )

    def unresolved(self) -> dict[int, Play]:
        """Return the decisions that still take a reward. Excludes decisions resolved by events
        that are not counted yet because a release before them failed.
        """
        unresolved = self.pending.copy()
        for event in self.events[max(0, self.counted) :]:
            if type(event) is not Asked:
                unresolved.pop(event.id, None)
        return unresolved

    def find_pending(
        self, decision: Any, campaign: str, newest: Decision | None = None
    ) -> tuple[int, Play]:
        """Return the id and play of a pending decision.

        Args:
            decision: as it was made, or its id.
            campaign: the session's name.
            newest: the decision made last, recognised by identity.

        Raises:
            DecisionError: it is not pending, was changed, or is another session's.
        """
        # indices take less time than names
        id = decision[0] if type(decision) is Decision else decision
        if type(id) is not int:  # it may be a reward of a type with its own code
            id = read_or_none(whole_id, id) or 0
        play = self.pending.get(id)
        if play is not None:
            if decision is newest or type(decision) is not Decision:
                return id, play
            # usually each value is the very object that `ask` returned
            if (
                decision[1] is play.action
                and decision[2] is id
                and decision[3] is play.observe
                and decision[4] is campaign
            ) or is_unchanged(decision, (id, play.action, id, play.observe, campaign)):
                return id, play
        raise unknown_decision(decision, id, self.pending, self.asked, campaign)

    # The next decision

    def next_ask(self, eligible: Sequence[int] | None = None) -> Asked:
        """Return the next decision. Appending it to the log commits it.

        Args:
            eligible: the arms to choose from; None: all that are in play.
        """
        id = self.asked + 1
        if id <= self.last and eligible is None:
            assert self.play is not None
            return Asked(id, self.play)
        self.counted = -1  # this view may be ahead of its log until the decision is made
        if eligible is not None:
            _, overdue = self._check_requests(id)
            arm, propensity = self._choose_arm(eligible)
            return self._asked(self._arm(arm, propensity), None, overdue=overdue)
        offer, plans, overdue = self.offer, self.plans, self.overdue
        if id > min(offer.last, overdue.check - 1):
            offer, overdue = self._check_requests(id)
            if id > offer.last:
                if self.policy.reader.together:
                    offer, plans = self._next_joint_offer(id)
                else:
                    offer = self._next_offer(id, overdue)
                overdue = self._with_next_check(offer, overdue)
        play = self._play_at(offer, id)
        active = self.log.state.roster.active
        if active is not None:
            self._require_among(active, play.action)
        return self._asked(play, offer, plans, overdue=overdue)

    def _play_at(self, offer: Offer, id: int) -> Play:
        """Return what decision `id` of an offer plays."""
        if offer.play is not None:
            return offer.play
        plan = offer.plan or self.log.plan
        return play_of(self.log.state, plan, plan.action_at(id - offer.since, id, self.rng))

    def _asked(
        self,
        play: Play,
        offer: Offer | None,
        plans: Mapping[int, OpenPlan] | None = None,
        traffic: Traffic | None = None,
        overdue: Overdue | None = None,
        period: OpenPeriod | None = None,
    ) -> Asked:
        """
        Args:
            offer: None if the next ask has to compute its offer.
        """
        changes = AskChanges(
            self.offer._replace(last=0) if offer is None else offer,
            self.plans if plans is None else plans,
            self.rng.state(),
            self.traffic if traffic is None else traffic,
            self.overdue if overdue is None else overdue,
            self.period if period is None else period,
        )
        return Asked(self.asked + 1, play, changes)

    # Overdue requests

    def _with_next_check(self, offer: Offer, overdue: Overdue) -> Overdue:
        """Schedule the next check of requests no later than the end of the offer."""
        if self.delays is None:
            return overdue
        return overdue._replace(check=min(overdue.check, offer.last + 1))

    def _check_requests(self, id: int) -> tuple[Offer, Overdue]:
        """Return the offer from decision `id` on, and the overdue requests. The offer is extended
        by one decision for each request that became overdue.
        """
        before, offer = self.overdue, self.offer
        if self.delays is None or id < before.check < FOREVER:
            return offer, before
        counts, look_up = (self.records, id - 1), (self._asked_block, self._overtaken_before)
        requests, usual = (self._outstanding(), self.pending), self._usual_delay
        after = check_requests(before, *requests, usual, *counts, *look_up)
        if after.total == before.total:
            return offer, self._with_next_check(offer, after) if offer.last >= id else after
        known = dict(before.noticed)
        new = [each.arm for each in self.delayed(after) if each.arm not in known]
        after = after._replace(noticed=(*before.noticed, *((arm, id - 1) for arm in new)))
        keys = [key for key, each in after.blocks.items() if each.many > before.of(key).many]
        play = offer.play
        single = play is not None and not self.policy.reader.together and keys == [play.counted_as]
        last = min(FOREVER, offer.last + after.total - before.total) if single and offer.last else 0
        offer = offer._replace(last=last)
        return offer, self._with_next_check(offer, after) if last >= id else after

    def _overtaken_before(self, asked: int) -> int:
        """Return `overtaken_before`, recomputed only if a decision was resolved since."""
        resolved = asked - len(self.pending)
        if self.overtaken[0] != resolved:
            elsewhere = self.overdue.elsewhere
            self.overtaken = resolved, overtaken_before(self.pending, asked, elsewhere)
        return self.overtaken[1]

    def delayed(self, overdue: Overdue | None = None) -> list[DelayedBlock]:
        """Return the first blocks of arms that wait for overdue requests."""
        known = self.overdue if overdue is None else overdue
        if not any(each.many for each in known.blocks.values()):
            return []
        left = self.log.state.books.ledger.left.items()
        released = {arm for arm, (count, dropped) in left if count > dropped}
        return delayed_blocks(known, self.pending, self._asked_block, released)

    @property
    def is_silent(self) -> bool:
        """Whether nobody answers although many decisions should have been answered."""
        if self.tables.attribution is not None:  # who answered is private
            return False
        usual = self._usual_delay or 0
        return is_nobody_answering(self.asked - self.asked_at_answer, self.expired_since, usual)

    @property
    def _usual_delay(self) -> int | None:
        """The usual delay of answers to decisions that were made here; None if too few came."""
        answers = self.records - (self.elsewhere - self.log.state.forgotten)
        return usual_delay(self.delays or {}, answers)

    def _asked_block(self, key: Any) -> AskedBlock | None:
        """Return the open block that answers counted as `key` fill; None unless its arm has room or
        is in a cycle: other plans request missing answers themselves.
        """
        learned, plan = self.log.state.planning, self.log.plan
        if self.progress is None:
            open_, known_arms = self.plans.get(key), self.log.state.history.arms
            if open_ is None or not open_.release:
                return None
            recorded = self.blocks[key].count if key in self.blocks else 0
            is_first = not all(known_arms[arm].answers for arm in open_.release)
            return AskedBlock(open_.rounds, recorded, open_.release, is_first)
        if type(key) is not int:
            return None
        recorded, room = self.step_counts.get(key, 0), self.policy.room(learned, key)
        if room is not None:
            known = learned if isinstance(learned, Statistics) else None
            before = 0 if known is None else known.open[key]
            is_first = known is None or not known.rounds[key]
            return AskedBlock(room + before, recorded + before, (key,), is_first)
        if isinstance(plan, Cycle) and key in plan.actions:
            return AskedBlock(plan.each, recorded, (key,), False)
        return None

    def _outstanding(self) -> InTime:
        if self.in_time is None:
            self.in_time = outstanding_in(self.pending, self.overdue)
        return self.in_time

    # Choosing an arm

    def _arm(self, arm: int, propensity: float | None, learn: bool = True) -> Play:
        label = self.log.state.roster.labels.of(arm)
        return Play(arm, None, label, arm, learn, propensity)

    def _choose_arm(self, eligible: Sequence[int]) -> tuple[int, float | None]:
        """Return the next of these arms, and 1; None if it was drawn from a posterior."""
        plan = self._ahead(self.asked_ahead(), eligible)
        arm: Any = None if plan is None else plan.action_at(0, self.asked + 1, self.rng)
        self._require_among(eligible, arm)
        return arm, None if plan is None or plan.drawn else 1.0

    def _ahead(self, asked: Mapping[Any, int], eligible: Sequence[int] | None) -> Plan | None:
        plan = self.policy.ahead(self.log.state.planning, asked, self.rng, eligible)
        return None if plan is None else require_plan(self.policy, plan, "ahead")

    def _require_among(self, eligible: Sequence[int], arm: Any) -> None:
        if arm not in eligible:
            raise ValueError(
                f"Expected {self.policy.name}.ahead() to plan one of the arms "
                f"{shown(tuple(eligible))} that may be played, got {shown(arm)}. No decision was "
                "made."
            )

    def next_in_context(self, context: Any, eligible: Sequence[int], learn: bool = True) -> Asked:
        """Return the decision for a visitor of this context.

        Args:
            eligible: the arms to choose from.
            learn: False for the arm with the best estimate, without learning from the outcome.
        """
        self.counted = -1
        plan = self.log.plan
        assert isinstance(plan, Draw)
        assert isinstance(plan.law, ContextLaw)
        law = plan.law
        if learn:
            arm, propensity = law.choose(context, eligible, self.rng)
            if propensity is not None and not 0.0 <= propensity <= 1.0:  # rounding, or no share
                propensity = min(1.0, number_within(propensity, "propensity", 0, 1 + 1e-9))
        else:
            arm, propensity = law.likeliest(context, eligible), 1.0
        label = self.log.state.roster.labels.of(arm)
        play = Play(arm, None, label, arm, learn and law.learns, propensity, None, context)
        return self._asked(play, self.offer)

    def next_unread(self, eligible: Sequence[int]) -> Asked:
        """Return a decision with `learn` False: the arm with the largest released mean."""
        self.counted = -1
        state = self.log.state
        if self.policy.about.feedback == "bandit":
            return self._asked(self._arm(state.history.leader(eligible), 1.0, False), None)
        play = self._play_at(self.offer, self.asked + 1)
        return self._asked(replaced(play, learn=False), None)

    def winner_events(self, arm: int, count: int) -> list[Asked | Unread]:
        """Return the events of decisions for the winner of a closed session. They are void: nobody
        learns from them, and no answer is awaited.
        """
        first, events = self._asked(self._arm(arm, 1.0, False), None), list[Asked | Unread]()
        for id in range(first.id, first.id + count):
            events += [replaced(first, id=id), Unread(id, first.play, "void")]
        return events

    def recorded(
        self, arm: int, parts: Sequence[Parts], batch: Batch | None
    ) -> list[RecordedElsewhere]:
        """Return the events of outcomes of people who were assigned to this arm elsewhere."""
        play, first = self._arm(arm, None), self.asked + 1
        events = [RecordedElsewhere(first + at, play, each) for at, each in enumerate(parts)]
        events[0] = replaced(events[0], batch=batch)
        return events

    def next_random(
        self,
        assignment: Assignment,
        seed: int,
        eligible: Sequence[int],
        number: int | None,
        owed: Mapping[int, float] | None = None,
    ) -> tuple[dict[int, float], Asked]:
        """Return the probability of each arm, and a decision for an arm that is drawn by chance
        (see `Assignment`).

        Args:
            seed: of the coins.
            number: the period it is made in; None without periods.
            owed: for a decision that is not to be made, and throws no coin: how many more people
                each arm was to have so far than it got. The arm that is owed most is played.
        """
        self.counted = -1
        id, learned = self.asked + 1, self.log.state.planning
        _, overdue = self._check_requests(id)
        period, is_unknown, is_drawn = None, False, assignment.has_least
        if number is not None:
            period, is_drawn = self._fixed_in(number, eligible), True
            law = assignment.fixed_law(period.planned, eligible)
        else:
            beyond = self.asked_ahead()
            rooms = {
                arm: max(0, (self.policy.room(learned, arm) or 1) - beyond.get(arm, 0))
                for arm in eligible
                if not learned.rounds[arm]
            }
            planned, certain = self._choose_arm(eligible)
            law = assignment.law(rooms, planned, eligible)
            # the draw from a posterior is not kept, so the probabilities are unknown
            is_unknown = certain is None and assignment.needs_plan(rooms, eligible)
        shares = dict(zip(eligible, law, strict=True))
        if owed is None:
            arm, share = assignment.drawn(law, eligible, seed, id)
        else:
            arm = max(eligible, key=lambda each: owed[each] + shares[each])
            share = shares[arm]
        every = [shares.get(at, 0.0) for at in range(self.policy.arms)]
        traffic = self._traffic_after(id, every, arm, is_drawn)
        play = self._arm(arm, None if is_unknown else share)
        period = None if period is None else period.drawn(id, every)
        return shares, self._asked(play, None, None, traffic, overdue, period)

    def _traffic_after(
        self, id: int, every: Sequence[float], arm: int, is_always_drawn: bool
    ) -> Traffic:
        traffic = self.traffic
        if len(traffic.counts) < self.policy.arms:
            traffic = traffic.with_arms(self.policy.arms)
        traffic = traffic.played(every, arm)
        if self.tables.attribution is None:  # else who answered is private
            answers = traffic.answers
            if is_always_drawn and answers.open:  # else when one is drawn may depend on its arm
                wait = longest_wait(self._usual_delay)
                if wait is not None:
                    cut = self.overdue.decision_before(id, wait)
                    answers = answers.with_cut(cut, self.pending)
            traffic = replace(traffic, answers=answers.with_drawn(id, every))
        return traffic

    def _fixed_in(self, number: int, eligible: Sequence[int]) -> OpenPeriod:
        """Return the period whose shares stand still: they follow what was known at its first
        decision. Before every arm was released all arms have the same share, beyond the least one.
        """
        period, learned = self.period, self.log.state.planning
        assert period is not None
        if period.fixed_in != number:
            planned = None
            if all(learned.rounds[arm] for arm in eligible):  # whoever waits does not move it
                ahead = self._ahead({}, eligible)
                assert isinstance(ahead, Hold)
                planned = int(ahead.action)  # type: ignore[arg-type]  # one arm
            period = period.fixed(number, planned)
        return period

    def draws(self, assignment: Assignment | None, eligible: Sequence[int]) -> bool:
        """Return whether the next decision is drawn by chance."""
        if assignment is None:
            return False
        learned = self.log.state.learned
        return assignment.has_least or not all(learned.rounds[arm] for arm in eligible)

    def asked_ahead(self) -> dict[Any, int]:
        """Return the number of decisions that the policy's state does not include yet, by what they
        are counted as.
        Overdue requests are excluded.
        """
        asked = {key: each.count for key, each in self._outstanding().items() if each.count > 0}
        for key, times in self.step_counts.items():
            asked[key] = asked.get(key, 0) + times
        return asked

    def _next_offer(self, id: int, overdue: Overdue) -> Offer:
        """Return the offer once the plan is requested in full, or while decisions are pending."""
        state, plan = self.log.state, self.log.plan
        next: Plan | None = self._replacement_for_overdue(id, overdue)
        if next is None:
            next = self._ahead(self.asked_ahead(), state.roster.active)
        if next is not None:
            return offer_of(state, next, id, next)
        offer = self.offer
        if isinstance(plan, Cycle) and (offer.play is not None or offer.plan is not None):
            return Offer(id, FOREVER, None)
        return offer._replace(last=FOREVER)

    def _replacement_for_overdue(self, id: int, overdue: Overdue) -> Hold | None:
        """Return a plan that replaces an arm's overdue requests, if the plan is a cycle that was
        requested in full; else None.
        """
        plan = self.log.plan
        if not isinstance(plan, Cycle):
            return None
        if id <= self.log.state.first + len(plan.actions) * plan.each:
            return None
        if not any(overdue.of(arm).many for arm in plan.actions):
            return None
        asked = self.asked_ahead()
        for arm in plan.actions:
            left = plan.each - asked.get(arm, 0)
            if left > 0:
                return Hold(arm, left, ())
        return None

    def _next_joint_offer(self, id: int) -> tuple[Offer, Mapping[int, OpenPlan]]:
        """Return the offer of an open plan of this step that is not requested in full; else that of
        the policy's next plan, which may resume an older one.
        """
        state, plans, in_time = self.log.state, dict(self.plans), self._outstanding()
        for key in [key for key in in_time if key not in plans]:
            del in_time[key]  # of closed blocks
        blocks = self.blocks
        asked = Counter({key: each.count for key, each in in_time.items()})
        asked.update({key: blocks[key].count for key in plans if key in blocks})
        step, roster = state.step, state.roster
        partly = {key: plan for key, plan in plans.items() if asked[key] < plan.rounds}
        number = next((key for key, plan in partly.items() if plan.step == step), None)
        if number is None:
            full: dict[Any, int] = {
                (key, plan.release): asked[key] for key, plan in plans.items() if key not in partly
            }
            plan = self._ahead(full, None)
            if plan is None:
                return self._endless_joint_offer(id)
            hold = require_hold(plan)
            for key, old in partly.items():
                worth = asked[key] >= self.policy.worth_reading(old.hold)
                if number is None and (old.action, old.release) == (hold.action, hold.release):
                    number, plans[key] = key, old._replace(step=step)
                elif worth and key in in_time and in_time[key].count:
                    # its block ends with the decisions requested so far
                    plans[key] = old._replace(rounds=asked[key])
            if number is None:
                number, plans[id] = id, open_plan(hold, step)
        chosen = plans[number]
        rounds = chosen.rounds - asked[number]
        return joint_offer(roster, chosen.hold, number, id, rounds), plans

    def _endless_joint_offer(self, id: int) -> tuple[Offer, Mapping[int, OpenPlan]]:
        """Return an endless offer of the step's plan. Records beyond it are never released."""
        state, plan = self.log.state, require_hold(self.log.plan)
        number = next((k for k, each in self.plans.items() if each.step == state.step), id)
        plans = {**self.plans, number: self.plans.get(number, open_plan(plan, state.step))}
        return joint_offer(state.roster, plan, number, id, FOREVER), plans

    def _ready_block(self) -> tuple[int, ...] | None:
        """Return the oldest joint block that is ready: a full one; or a half full one if a younger
        block has answers, that is, if answers come out of order.
        """
        blocks, younger = self.blocks, 0
        if len(self.plans) > 1:
            younger = max((key for key in self.plans if key in blocks), default=0)
        for key, plan in self.plans.items():
            count = blocks[key].count if key in blocks else 0
            if count >= plan.rounds or (key < younger and EARLY_CLOSE * count >= plan.rounds):
                return (key,)
        return None


def recorded_by_action(state: State) -> tuple[tuple[Any, int], ...]:
    """Return (action, rewards recorded in this step), for a release."""
    if not state.policy.reader.together:
        return tuple(sorted(state.step_counts))
    counts = Counter[Any]()
    for number, times in state.step_counts:
        plan = state.plans[number]
        counts[plan.observe or plan.action] += times
    return tuple(sorted(counts.items()))
