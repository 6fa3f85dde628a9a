"""What a session knows, and what happened since.

    State   everything known when the log was last folded: replaced whole, but for `pending`
    events  what happened since, in a list that is only ever appended to
    View    the counts that both come to; can be made again from them at any time

A session is a `Log`: a state, its plan, and the events since. Appending an event is the moment at
which it happens: before that nothing has happened, and afterwards the view is brought up to date
or, if that was interrupted, made again. A release puts a new state in place by one assignment.

`Tables` follow the events: every entry says what stands there, so applying an event twice changes
nothing more.

Nothing here checks a reward, draws noise or releases anything.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, final

from dpbandits.core.plan import FOREVER, ContextLaw, Cycle, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.policies.base import Statistics
from dpbandits.policies.contract import Policy, Release, open_turn
from dpbandits.session.arms import Assignment, Roster
from dpbandits.session.attribution import AttributionWindow
from dpbandits.session.beliefs import Believed
from dpbandits.session.contexts import Contexts
from dpbandits.session.decisions import NEW, Play, Unit
from dpbandits.session.guardrail import Harm
from dpbandits.session.history import HowChosen, KeptChoices
from dpbandits.session.overdue import (
    AskedBlock,
    DelayedBlock,
    Outstanding,
    Overdue,
    Waiting,
    bucket_of,
    delayed_blocks,
    looked_through,
    nobody_answers,
    outstanding_in,
    overtaken_before,
    usual_delay,
)
from dpbandits.session.people import Place, Register
from dpbandits.session.traffic import Traffic
from dpbandits.vault import Books, OpenBlock, Parts, added

AHEAD = 0
"""Seed of coins that stand in for those of decisions to come."""

SHORT = 2
"""If answers come out of order, a joint plan's block closes with one in `SHORT` of its rounds."""


class SessionEvent(NamedTuple):
    """Something that was done to a session, and after how many decisions. Public.

    Args:
        what: "add", "retire", "pause", "resume" or "restart" (an arm), or "drop" (all open blocks);
            with a guardrail also "suspend", or "alarm" if the arm is the last one in play;
            "overdue" if an arm's first batch waits for requests that are too old, and "silent" if
            nobody answers.
        arm: its name or number; None if it is about all arms.
        asked: decisions made before it.
        said: of an alarm, what is to be done, in words.
    """

    what: str
    arm: str | int | None
    asked: int
    said: str = ""


class Offer(NamedTuple):
    """What decisions `since` to `last` play.

    Args:
        play: the one play; None if each decision draws its own from `law`.
        law: a plan that decisions are drawn from; None: the state's own plan.
    """

    since: int
    last: int
    play: Play | None
    law: Plan | None = None


NOTHING = Offer(1, 0, None)


class OpenPlan(NamedTuple):
    """A joint plan whose block is open.

    Args:
        action: the super arm.
        rounds: decisions it takes.
        release: the arms whose sums will be read together.
        observe: the arms that are told; None: all of the super arm.
        step: the turn in which it was made or taken up again.
    """

    action: tuple[int, ...]
    rounds: int
    release: tuple[int, ...]
    observe: tuple[int, ...] | None
    step: int

    @property
    def hold(self) -> Hold:
        return Hold(self.action, self.rounds, self.release, (), self.observe)


class Closing(NamedTuple):
    """A session that was closed: no decision is made from its plan any more. Public.

    Args:
        why: in the caller's words.
        winner: the arm that further decisions show; None: there are none.
        read: whether blocks that are open at the end are released once.
        asked: decisions made before.
        void: those of them that it made void, as runs (the first, how many).
        is_done: whether nothing is left to be done: no outcome is waited for, and the last
            releases are noted.
        releases: the last releases, each with `Ledger.left` after it, until they are noted; None
            while outcomes are waited for.
    """

    why: str
    winner: int | None
    read: bool
    asked: int
    void: tuple[tuple[int, int], ...] = ()
    is_done: bool = False
    releases: tuple[tuple[Release, dict[int, tuple[int, int]]], ...] | None = None

    def drops(self, id: int) -> bool:
        """Whether the answer to this decision is accepted and dropped."""
        if id > self.asked:
            return True
        at = bisect_right(self.void, id, key=lambda run: run[0]) - 1
        return at >= 0 and id < sum(self.void[at])


def id_runs(ids: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return runs of decisions: the first of each, and how many there are.

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
        release: what was released; of nothing, where blocks were dropped.
        plan: the plan it ended; None if blocks were dropped though no plan said so.
        number: of a joint plan, its number.
    """

    release: Release
    plan: Plan | None
    number: int | None = None


class State(NamedTuple):
    """Everything known when the log was last folded: by a release, by a verb without an event, or
    after many events. Replaced whole, but for `pending`.

    Args:
        policy: the policy at work.
        learned: the policy's state.
        books: what the vault keeps. Partly private.
        believed: what was released of every arm, for intervals.
        roster: the arms, and which of them are in play.
        traffic: how often each arm was drawn.
        plans: open joint plans by number.
        pending: decisions that wait for their rewards, by id. It is shared with the view and
            follows the events, for copying it at every release would take too long.
        harm: with a guardrail, what was released of every arm's harm.
        events: what was done to the session.
        step: turns before this one (a turn is what happens between two releases).
        asked: decisions made. first: of them, those before this turn.
        records: rewards that were recorded. unread: decisions resolved without a reading; void:
            those of them that were never carried out, or given up.
        offer: what the next decisions play.
        rng: position of the turn's public randomness; None if nothing was drawn.
        told: decisions told in this turn, by unit.
        unlearned: a release that the policy has not learned from yet.
        late: number of answers by delay, in decisions made in between (see `overdue.bucket_of`).
            None if no request is ever overdue: each answer has its time, or blocks are neither an
            arm's nor a plan's.
        overdue: requests that have waited for too long.
        closing: None while the session is open.
        contexts: of a contextual policy, what is kept of contexts.
        elsewhere: people whose outcomes were recorded and who were assigned elsewhere.
        batches: in which batches, where no store keeps that.
        answered: decisions made when the newest answer was recorded.
        expired: decisions that expired since then.
    """

    policy: Policy
    learned: Any
    books: Books
    believed: Believed
    roster: Roster
    traffic: Traffic
    plans: Mapping[int, OpenPlan]
    pending: dict[int, Play]
    harm: Harm | None = None
    events: tuple[SessionEvent, ...] = ()
    step: int = 0
    asked: int = 0
    first: int = 0
    records: int = 0
    unread: int = 0
    offer: Offer = NOTHING
    rng: Any = None
    told: tuple[tuple[Unit, int], ...] = ()
    unlearned: UnlearnedRelease | None = None
    late: tuple[tuple[int, int], ...] | None = ()
    overdue: Overdue = Overdue()
    closing: Closing | None = None
    contexts: Contexts | None = None
    elsewhere: int = 0
    batches: tuple[Batch, ...] = ()
    void: int = 0
    answered: int = 0
    expired: int = 0

    def __repr__(self) -> str:
        return f"State(step={self.step}, asked={self.asked}, records={self.records})"


# Events


class AskChanges(NamedTuple):
    """What an ask changed beside its decision.

    Args:
        offer: what the next decisions play.
        plans: open joint plans.
        rng: position of the public randomness.
        traffic: how often each arm was drawn.
        overdue: requests that have waited for too long.
    """

    offer: Offer
    plans: Mapping[int, OpenPlan]
    rng: Any
    traffic: Traffic
    overdue: Overdue


class Asked(NamedTuple):
    """A decision was made.

    Args:
        changes: None if it follows from the offer that stands.
        place: the person whose place it took, the window, and the places taken then.
        due: when its time has passed.
        keeps: the person who keeps its arm, and the arm's mark (`Roster.mark`).
    """

    id: int
    play: Play
    changes: AskChanges | None = None
    place: tuple[str, int, int] | None = None
    due: float | None = None
    keeps: tuple[str, int] | None = None


class Told(NamedTuple):
    """A reward was recorded. Private.

    Args:
        unit: what its decision counts as.
        parts: what is added to which blocks.
        answered: False if nobody answered, and the default was recorded.
    """

    id: int
    unit: Unit
    parts: Parts
    answered: bool = True

    def __repr__(self) -> str:
        return f"Told(id={self.id})"


class Batch(NamedTuple):
    """A batch of outcomes of people who were assigned elsewhere. Public.

    Args:
        key: a digest of the caller's word for it.
        people: how many outcomes.
    """

    key: str
    arm: int
    people: int


class Recorded(NamedTuple):
    """The outcome of a person who was assigned elsewhere: a decision that is made and answered at
    once. Private.

    Args:
        parts: what is added to which blocks.
        batch: of the first one, what the batch is known by, if it is known here.
    """

    id: int
    play: Play
    parts: Parts
    batch: Batch | None = None

    def __repr__(self) -> str:
        return f"Recorded(id={self.id})"


class Unread(NamedTuple):
    """A decision was resolved and nothing of it is read.

    Args:
        why: "told" or "expired", if nobody learns from it; "void" if it was never carried out.
        place: the person whose place is given back, the window, and the places left taken.
    """

    id: int
    play: Play
    why: str
    place: tuple[str, int, int] | None = None


NO_PLAY = Play(0, None, None, 0, False)
"""Of a decision that was made void when its session was closed."""


class Released(NamedTuple):
    """A release was made, for a journal.

    Args:
        step: the number of the release. plan: the plan that it ended; None if blocks were dropped.
        left: as in the ledger. asked: decisions until then.
    """

    step: int
    release: Release
    plan: Plan | None
    left: dict[int, tuple[int, int]]
    asked: int


class Unlearned(NamedTuple):
    """Nobody learns from these pending decisions any more, for a journal."""

    ids: tuple[int, ...]


Event = Asked | Told | Unread | Recorded

ANSWERED = {"told": True, "expired": False, "void": None}
"""By why a decision was resolved unread."""


class Log(NamedTuple):
    """A session: a state, the plan made from it, and the events since, which are only appended."""

    state: State
    plan: Plan
    events: list[Any]

    def __repr__(self) -> str:
        return f"Log(step={self.state.step}, events={len(self.events)})"


@final
class Tables:
    """What is known of single decisions and people, beside `State.pending`. Follows the events.

    Args:
        chosen: how each decision was chosen; None if a store keeps that.
        owners: whose place a pending decision took.
        people: who was asked for how often; None where people do not come back.
        window: when each pending decision's time has passed; None where answers count as they come.
        held: answers that count only later, in grid steps, by decision. Private.
        journal: events since a store looked last; None without a store.
        follows: whether a recorded reward changes any of these.
    """

    __slots__ = (
        "chosen",
        "follows",
        "held",
        "journal",
        "noted",
        "owners",
        "people",
        "placed",
        "window",
    )

    def __init__(self, people: Register | None, window: AttributionWindow | None) -> None:
        self.chosen: KeptChoices | None = KeptChoices()
        self.owners: dict[int, Place] = {}
        self.people, self.window = people, window
        self.placed = 0  # the number of the last event that counted a place
        self.held: dict[int, Any] = {}
        self.journal: list[Any] | None = None
        self.noted = 0  # the number of the last event in the journal
        self.follows = people is not None or window is not None

    def __repr__(self) -> str:
        return f"Tables(held={len(self.held)})"

    def place(
        self,
        place: tuple[str, int, int] | None,
        number: int,
        keeps: tuple[str, int] | None = None,
    ) -> None:
        """Count a person's place, and note the arm that a person keeps.

        Args:
            number: of its event, since the session began. An event that is applied again counts
                none: another segment may have counted one of the same person since.
        """
        assert self.people is not None
        if number > self.placed:
            if place is not None:
                self.people.used[place[0]] = place[1:]
            if keeps is not None and self.people.kept is not None:
                self.people.kept[keeps[0]] = keeps[1]
            self.placed = number

    def note(self, event: Event, number: int) -> None:
        """Note an event in the journal, once."""
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
        if self.window is not None:
            self.window.due.pop(id, None)
            self.held.pop(id, None)


# Turns


def opened(seed: int, state: State, events: list[Any], first: bool = True) -> tuple[Log, PublicRng]:
    """Plan from a state.

    Args:
        first: False if the turn was begun before, and goes on.
    """
    policy = state.policy
    turn = open_turn(policy, state.learned, state.step, partial(PublicRng, seed))
    plan, rng = turn.plan, turn.rng
    if not first:
        if state.rng is not None:
            rng = PublicRng(seed, state.step, state.rng)
        return Log(state, plan, events), rng
    since, plans, overdue = state.asked + 1, state.plans, state.overdue
    if not state.pending:
        overdue = overdue._replace(blocks={}, check=FOREVER)
    if isinstance(plan, Cycle) and state.late is not None:  # it may be asked for once more
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
    first_asked, position = state.asked, rng.state()
    state = state._replace(
        first=first_asked, offer=offer, plans=plans, rng=position, overdue=overdue
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


def rounds_of(plan: Plan) -> int:
    """Return for how many decisions a plan can be asked before something else may be better."""
    return plan.rounds if isinstance(plan, Hold) else FOREVER


def offer_of(state: State, plan: Plan, since: int, law: Plan | None = None) -> Offer:
    """Return what a plan asks for from decision `since` on."""
    last = min(FOREVER, since - 1 + rounds_of(plan))
    if not isinstance(plan, Hold):
        return Offer(since, last, None, law)
    propensity = None if plan.drawn else 1.0
    return Offer(since, last, play_of(state, plan, plan.action, propensity))


def play_of(state: State, plan: Plan, action: Any, propensity: float | None = 1.0) -> Play:
    """Return the play of an action of a plan."""
    observe = (plan.observe or action) if state.policy.about.feedback == "semi" else None
    label = state.roster.labels.of(action)
    return Play(action, observe, label, observe or action, True, propensity)


def joint_offer(roster: Roster, plan: Hold, number: int, since: int, rounds: int) -> Offer:
    """Return what a joint plan asks for, for so many rounds (0: nothing yet)."""
    action: Any = plan.action
    observe: tuple[int, ...] = plan.observe or action
    kept = tuple(observe.index(arm) for arm in plan.release)
    play = Play(action, observe, roster.labels.of(action), number, True, 1.0, kept)
    return Offer(since, min(FOREVER, since - 1 + rounds) if rounds else 0, play)


@final
class View:
    """The counts and sums that a log comes to, kept up to date as events are appended.

    `at` is the number of events counted; −1: the view is ahead of its log. It is moved last, so a
    view that was cut off while it counted does not fit its log, and is made again. Counting stops
    where a release is due.
    """

    __slots__ = (
        "answered",
        "asked",
        "at",
        "batch",
        "batches",
        "blocks",
        "contexts",
        "due",
        "elsewhere",
        "events",
        "expired",
        "last",
        "late",
        "log",
        "offer",
        "overdue",
        "overtaken",
        "pending",
        "pilot",
        "plans",
        "play",
        "policy",
        "position",
        "progress",
        "records",
        "rng",
        "tables",
        "told",
        "traffic",
        "unread",
        "void",
        "waiting",
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
            rng: the turn's public randomness, if its position is the state's.
            before: the view that ended with this log, if there is one. It is used up.
        """
        state = log.state
        self.policy, self.log, self.events, self.at, self.tables = (
            state.policy,
            log,
            log.events,
            0,
            tables,
        )
        self.asked, self.records, self.unread = state.asked, state.records, state.unread
        self.answered, self.expired = state.answered, state.expired
        self.pending, self.plans, self.traffic = state.pending, state.plans, state.traffic
        self.elsewhere, self.batches, self.void = state.elsewhere, state.batches, state.void
        # [count, sums] of each open block; a single sum as a plain number
        # (those of a contextual policy stand in `contexts`)
        self.contexts = None if state.contexts is None else state.contexts.opened(state, log.plan)
        apart = self.contexts is not None
        blocks = {} if apart else state.books.blocks
        self.blocks = {key: counted(block) for key, block in blocks.items()}
        # contexts that make the first codebooks
        self.pilot = [] if state.contexts is None else list(state.contexts.pilot)
        self.position = state.rng
        self.rng = rng or PublicRng(seed, state.step, state.rng)
        self.progress: Progress | None = None
        self.due: tuple[int, ...] | None = None
        self.batch: list[Asked] = []
        self.late = None if state.late is None else dict(state.late)
        self.overdue, self.overtaken = state.overdue, (-1, 0)
        # pending decisions that are not overdue, by unit; None until it is needed
        kept = None if before is None or not self.pending else before.waiting
        self.waiting: Waiting | None = kept
        if self.policy.reader.together:
            self.told = dict(state.told)
            # what closed one block may close others; later only an answer does
            if state.asked == state.first and not state.told:
                self.due = self._due_block()
        else:
            room = partial(self.policy.room, state.learned)
            self.progress = Progress.at(log.plan, dict(state.told), room)
            self.told, self.due = self.progress.told, self.progress.due
        if state.unlearned is not None:
            self.due = ()  # released already; the policy has to learn from it
        self._set_offer(state.offer)
        self.catch_up()
        while self.pending and next(reversed(self.pending)) > self.asked:
            self.pending.popitem()  # computed, but never made
        if self.position is not state.rng:
            self.rng = PublicRng(seed, state.step, self.position)

    def __repr__(self) -> str:
        return f"View(asked={self.asked}, records={self.records})"

    def _set_offer(self, offer: Offer) -> None:
        self.offer, self.play = offer, offer.play
        # the last decision that needs no look at what waits
        self.last = 0 if offer.play is None else min(offer.last, self.overdue.check - 1)

    # Counting events

    def catch_up(self) -> None:
        """Count the events that were appended, up to one that makes a release due."""
        while self.due is None and self.at < len(self.events):
            self.apply(self.events[self.at], self.at + 1)

    def apply(self, event: Any, at: int) -> None:
        """Count one event.

        Args:
            at: the number of events counted with this one.
        """
        kind = type(event)
        if kind is Told:
            id, unit, parts, answered = event
            self.pending.pop(id, None)
            if id != self.asked and self.late is not None:
                bucket = bucket_of(self.asked - id)
                self.late[bucket] = self.late.get(bucket, 0) + 1
            if self.waiting is not None:
                self._waits_no_more(id, unit)
            progress = self.progress
            if progress is None and unit not in self.plans:
                pass  # its block is closed: it came too late, and is never read
            else:
                blocks = self.blocks
                for key, steps in parts:
                    if self.contexts is not None:
                        self.contexts.add(key, steps)
                        continue
                    block = blocks.get(key)
                    single = type(steps) is tuple and len(steps) == 1
                    if block is None:
                        blocks[key] = [1, steps[0] if single else steps]
                    elif single:
                        block[0] += 1
                        block[1] += steps[0]
                    else:
                        blocks[key] = [block[0] + 1, added(block[1], steps)]
                if progress is None:
                    self.told[unit] = self.told.get(unit, 0) + 1
            if progress is None:
                self.due = self._due_block()
            else:
                self.due = progress.count(unit)
            self.records += 1
            if answered:
                self.answered, self.expired = self.asked, 0
            else:
                self.expired += 1
            if self.traffic.answers.open:
                self._compare_answer(id, unit, answered)
            if self.tables.follows or not answered:
                self.tables.follow_resolved(event, self.number)
        elif kind is Asked:
            self._count_ask(event.play, event.changes)
            self._follow_ask(event, self.number)
        elif kind is Recorded:
            self._count_recorded(event)
        else:
            play = event.play
            self.pending.pop(event.id, None)
            if self.waiting is not None and play.learn:
                self._waits_no_more(event.id, play.unit)
            self.unread += 1
            self.void += event.why == "void"
            if event.why == "told":
                self.answered, self.expired = self.asked, 0
            elif event.why == "expired":
                self.expired += 1
            if self.traffic.answers.open:
                self._compare_answer(event.id, play.action, ANSWERED[event.why])
            self._set_offer(self.offer._replace(last=0))  # one decision fewer fills the plan
            self.tables.follow_resolved(event, self.number)
        self.at = at

    def _count_recorded(self, event: Recorded) -> None:
        id, play, parts, batch = event
        for key, steps in parts:
            block, single = self.blocks.get(key), len(steps) == 1
            if block is None:
                self.blocks[key] = [1, steps[0] if single else steps]
            elif single:
                self.blocks[key] = [block[0] + 1, block[1] + steps[0]]
            else:
                self.blocks[key] = [block[0] + 1, added(block[1], steps)]
        assert self.progress is not None
        self.due = self.progress.count(play.unit)
        self.asked, self.records, self.elsewhere = id, self.records + 1, self.elsewhere + 1
        self.answered += 1  # nobody is waited for
        self._set_offer(self.offer._replace(last=0))  # the next ask looks again
        if batch is not None:
            self.batches = (*self.batches, batch)
        if self.tables.chosen is not None:
            self.tables.chosen.note(id, HowChosen(play.action, play.propensity, play.learn))
        self.tables.note(event, self.number)

    def _compare_answer(self, id: int, arm: Any, answered: bool | None) -> None:
        answers = self.traffic.answers.with_resolved(id, arm, answered)
        self.traffic = replace(self.traffic, answers=answers)

    @property
    def number(self) -> int:
        """The number of events since the session began: each counts in one of these, a recorded
        outcome in two.
        """
        return self.asked + self.records + self.unread

    def _waits_no_more(self, id: int, unit: Unit) -> None:
        assert self.waiting is not None
        outstanding = self.waiting.get(unit)
        if outstanding is not None and id >= outstanding.edge:
            outstanding.count -= 1

    def _count_ask(self, play: Play, changes: AskChanges | None) -> None:
        self.asked += 1
        if changes is not None:
            self.plans, self.position, self.traffic = changes.plans, changes.rng, changes.traffic
            self.overdue = changes.overdue
            self._set_offer(changes.offer)
        if self.waiting is not None and play.learn:
            outstanding = self.waiting.get(play.unit)
            if outstanding is None:
                edge = self.overdue.of(play.unit).edge
                outstanding = self.waiting[play.unit] = Outstanding(edge)
            outstanding.add(self.asked)

    def _follow_ask(self, event: Asked, number: int) -> None:
        id, play, changes, place, due, keeps = event
        self.pending[id] = play
        if play.context is not None and not play.learn and self.log.state.learned.pilot:
            self.pilot.append(play.context)
        tables = self.tables
        tables.note(event, number)
        # a decision without changes was chosen as the one before it, but for the first of a turn
        if tables.chosen is not None and (changes is not None or id == self.log.state.offer.since):
            tables.chosen.note(id, HowChosen(play.action, play.propensity, play.learn))
        if place is not None or keeps is not None:
            tables.place(place, number, keeps)
        if place is not None:
            tables.owners[id] = place[:2]
        if due is not None:
            assert tables.window is not None
            tables.window.due.setdefault(id, due)

    def begin_batch(self) -> None:
        """Begin to compute several decisions that will be made together."""
        self.at, self.batch = -1, []  # the view is ahead of its log until they are made

    def add_to_batch(self, event: Asked) -> None:
        self._count_ask(event.play, event.changes)
        self.pending[event.id] = event.play
        self.batch.append(event)

    def append_asked(self, events: list[Asked]) -> None:
        """Make the decisions of the batch."""
        self.events.extend(events)  # this is the moment at which it happens
        for number, event in enumerate(events, self.number - len(events) + 1):
            self._follow_ask(event, number)
        self.batch, self.at = [], len(self.events)

    def folded_whole(self) -> State:
        """Return the state with all events, those after a release that cannot be made included."""
        while self.at < len(self.events):
            self.apply(self.events[self.at], self.at + 1)
        return self.folded()

    def folded(self) -> State:
        """Return the state and the counted events in one state."""
        state, contexts = self.log.state, self.contexts
        blocks = {key: open_block(block) for key, block in self.blocks.items()}
        if contexts is not None:
            blocks = {arm: OpenBlock(*block) for arm, block in contexts.sums.items()}
        return state._replace(
            contexts=None if contexts is None else Contexts.of(contexts, self.pilot),
            books=state.books._replace(blocks=blocks),
            traffic=self.traffic,
            asked=self.asked,
            records=self.records,
            unread=self.unread,
            answered=self.answered,
            expired=self.expired,
            offer=self.offer,
            rng=self.position,
            told=tuple(self.told.items()),
            plans=self.plans,
            late=None if self.late is None else tuple(sorted(self.late.items())),
            overdue=self.overdue,
            pending=self.pending,
            elsewhere=self.elsewhere,
            batches=self.batches,
            void=self.void,
        )

    def shown_pending(self) -> dict[int, Play]:
        """Return the decisions that still take a reward. Those of events that are not counted, for
        a release before them failed, do not.
        """
        waiting = self.pending.copy()
        for event in self.events[max(0, self.at) :]:
            if type(event) is not Asked:
                waiting.pop(event.id, None)
        return waiting

    # The next decision

    def next_ask(self, eligible: Sequence[int] | None = None) -> Asked:
        """Return the next decision. It is made when it is appended to the log.

        Args:
            eligible: the arms to choose from; None: all that are in play.
        """
        id = self.asked + 1
        if id <= self.last and eligible is None:
            return NEW(Asked, (id, self.play, None, None, None, None))
        self.at = -1  # this view may be ahead of its log until the decision is made
        if eligible is not None:
            _, overdue = self._look_through(id)
            arm, propensity = self._choice(eligible)
            return self._asked(self._arm(arm, propensity), None, overdue=overdue)
        offer, plans, overdue = self.offer, self.plans, self.overdue
        if id > min(offer.last, overdue.check - 1):
            offer, overdue = self._look_through(id)
            if id > offer.last:
                if self.policy.reader.together:
                    offer, plans = self._look_ahead_jointly(id)
                else:
                    offer = self._look_ahead(id, overdue)
                overdue = self._checked_after(offer, overdue)
        play = offer.play
        if play is None:
            plan = offer.law or self.log.plan
            action = plan.action_at(id - offer.since, id, self.rng)
            play = play_of(self.log.state, plan, action, None if plan.drawn else 1.0)
        return self._asked(play, offer, plans, overdue=overdue)

    def _asked(
        self,
        play: Play,
        offer: Offer | None,
        plans: Mapping[int, OpenPlan] | None = None,
        traffic: Traffic | None = None,
        overdue: Overdue | None = None,
    ) -> Asked:
        """
        Args:
            offer: None: the next ask looks again what to ask for.
        """
        changes = AskChanges(
            self.offer._replace(last=0) if offer is None else offer,
            self.plans if plans is None else plans,
            self.rng.state(),
            self.traffic if traffic is None else traffic,
            self.overdue if overdue is None else overdue,
        )
        return Asked(self.asked + 1, play, changes)

    # Requests that have waited for too long

    def _checked_after(self, offer: Offer, overdue: Overdue) -> Overdue:
        """Requests are looked through no later than when an offer was asked for in full."""
        if self.late is None:
            return overdue
        return overdue._replace(check=min(overdue.check, offer.last + 1))

    def _look_through(self, id: int) -> tuple[Offer, Overdue]:
        """Return what to ask for from decision `id` on, and which requests are overdue. If requests
        turn out to be, others are asked for in their place.
        """
        before, offer = self.overdue, self.offer
        if self.late is None or id < before.check < FOREVER:
            return offer, before
        delays, waiting = (self.late, self.records), self._outstanding()
        places = self._asked_block, self._overtaken_before
        found = looked_through(before, waiting, self.pending, delays, id - 1, *places)
        if found.total == before.total:
            return offer, self._checked_after(offer, found) if offer.last >= id else found
        known = dict(before.noticed)
        new = [each.arm for each in self.delayed(found) if each.arm not in known]
        found = found._replace(noticed=(*before.noticed, *((arm, id - 1) for arm in new)))
        keys = [key for key, each in found.blocks.items() if each.many > before.of(key).many]
        play = offer.play
        single = play is not None and not self.policy.reader.together and keys == [play.unit]
        last = min(FOREVER, offer.last + found.total - before.total) if single and offer.last else 0
        offer = offer._replace(last=last)
        return offer, self._checked_after(offer, found) if last >= id else found

    def _overtaken_before(self, asked: int) -> int:
        """Return `overtaken_before`; looked for anew only if a decision was resolved since."""
        resolved = asked - len(self.pending)
        if self.overtaken[0] != resolved:
            self.overtaken = resolved, overtaken_before(self.pending, asked)
        return self.overtaken[1]

    def delayed(self, overdue: Overdue | None = None) -> list[DelayedBlock]:
        """Return first blocks that wait for overdue requests."""
        found = self.overdue if overdue is None else overdue
        if not any(each.many for each in found.blocks.values()):
            return []
        left = self.log.state.books.ledger.left.items()
        released = {arm for arm, (count, dropped) in left if count > dropped}
        return delayed_blocks(found, self.pending, self._asked_block, released)

    @property
    def is_silent(self) -> bool:
        """Whether nobody answers though many decisions had their time."""
        if self.tables.window is not None:  # who answered is private
            return False
        usual = usual_delay(self.late or {}, self.records) or 0
        return nobody_answers(self.asked - self.answered, self.expired, usual)

    def _asked_block(self, key: Any) -> AskedBlock | None:
        """Return the open block that the answers of a unit fill; None if nothing but a plan closes
        one, which asks for what is missing by itself.
        """
        learned, plan = self.log.state.learned, self.log.plan
        if self.progress is None:
            open_ = self.plans.get(key)
            if open_ is None or not open_.release:
                return None
            told = self.blocks[key][0] if key in self.blocks else 0
            is_first = not all(learned.rounds[arm] for arm in open_.release)
            return AskedBlock(open_.rounds, told, open_.release, is_first)
        if type(key) is not int:
            return None
        told, room = self.told.get(key, 0), self.policy.room(learned, key)
        if room is not None:
            known = learned if isinstance(learned, Statistics) else None
            before = 0 if known is None else known.open[key]
            is_first = known is None or not known.rounds[key]
            return AskedBlock(room + before, told + before, (key,), is_first)
        if isinstance(plan, Cycle) and key in plan.actions:
            return AskedBlock(plan.each, told, (key,), False)
        return None

    def _outstanding(self) -> Waiting:
        if self.waiting is None:
            self.waiting = outstanding_in(self.pending, self.overdue)
        return self.waiting

    # Ways to choose

    def _arm(self, arm: int, propensity: float | None, learn: bool = True) -> Play:
        label = self.log.state.roster.labels.of(arm)
        return Play(arm, None, label, arm, learn, propensity)

    def _choice(self, eligible: Sequence[int]) -> tuple[int, float | None]:
        """Return the next of these arms, and 1; None if it was drawn from a posterior."""
        learned, id = self.log.state.learned, self.asked + 1
        plan = self.policy.ahead(learned, self.asked_ahead(), self.rng, eligible)
        assert plan is not None
        arm = plan.action_at(0, id, self.rng)
        assert isinstance(arm, int)
        return arm, None if plan.drawn else 1.0

    def next_in_context(
        self, context: Any, eligible: Sequence[int] | None, learn: bool = True
    ) -> Asked:
        """Return the decision for a visitor of this context.

        Args:
            eligible: the arms to choose from; None: all that are in play.
            learn: False if nobody learns from it: the arm that is best by what is known.
        """
        self.at = -1
        plan, arms = self.log.plan, eligible or self.log.state.roster.in_play
        assert isinstance(plan, Draw)
        assert isinstance(plan.law, ContextLaw)
        law = plan.law
        if learn:
            arm, propensity = law.choose(context, arms, self.rng)
        else:
            arm, propensity = law.likeliest(context, arms), 1.0
        label = self.log.state.roster.labels.of(arm)
        play = Play(arm, None, label, arm, learn and law.learns, propensity, None, context)
        return self._asked(play, self.offer)

    def next_unread(self, eligible: Sequence[int] | None = None) -> Asked:
        """Return a decision that nobody learns from: the arm with the largest released mean."""
        self.at = -1
        state = self.log.state
        if self.policy.about.feedback == "bandit":
            arms = eligible or state.roster.in_play
            return self._asked(self._arm(state.believed.leader(arms), 1.0, False), None)
        play = self.play
        if play is None:
            plan = self.offer.law or self.log.plan
            at = self.asked + 1
            play = play_of(state, plan, plan.action_at(at - self.offer.since, at, self.rng))
        return self._asked(play._replace(learn=False), None)

    def shown_winner(self, arm: int, count: int) -> list[Asked | Unread]:
        """Return the events of decisions that show the winner of a closed session. Nobody learns
        from them, and they wait for no answer.
        """
        first, events = self._asked(self._arm(arm, 1.0, False), None), list[Asked | Unread]()
        for id in range(first.id, first.id + count):
            events += [first._replace(id=id), Unread(id, first.play, "void")]
        return events

    def recorded(self, arm: int, parts: Sequence[Parts], batch: Batch | None) -> list[Recorded]:
        """Return the events of outcomes of people who were assigned to this arm elsewhere."""
        play, first = self._arm(arm, None), self.asked + 1
        events = [Recorded(first + at, play, each) for at, each in enumerate(parts)]
        events[0] = events[0]._replace(batch=batch)
        return events

    def next_drawn(self, assignment: Assignment, seed: int, eligible: Sequence[int]) -> Asked:
        """Return a decision for an arm that is drawn by chance (see `Assignment`)."""
        self.at = -1
        return self._drawn(assignment, seed, eligible)[1]

    def drawn_ahead(
        self, assignment: Assignment, eligible: Sequence[int]
    ) -> tuple[dict[int, float], Asked]:
        """Return the law of the next decision by arm, and one that is drawn from it by other coins.
        It is not made.
        """
        return self._drawn(assignment, AHEAD, eligible)

    def _drawn(
        self, assignment: Assignment, seed: int, eligible: Sequence[int]
    ) -> tuple[dict[int, float], Asked]:
        id, learned = self.asked + 1, self.log.state.learned
        _, overdue = self._look_through(id)
        beyond = self.asked_ahead()
        rooms = {
            arm: max(0, (self.policy.room(learned, arm) or 1) - beyond.get(arm, 0))
            for arm in eligible
            if not learned.rounds[arm]
        }
        planned, certain = self._choice(eligible)
        law = assignment.law(rooms, planned, eligible)
        arm, share = assignment.drawn(law, eligible, seed, id)
        # a draw from a posterior is not kept, and without it nobody knows the law
        unknown = certain is None and assignment.needs_plan(rooms, eligible)
        shares = dict(zip(eligible, law, strict=True))
        traffic = self.traffic
        while len(traffic.counts) < self.policy.arms:
            traffic = traffic.with_arm()
        every = [shares.get(at, 0.0) for at in range(self.policy.arms)]
        traffic = traffic.played(every, arm)
        if self.tables.window is None:  # else who answered is private
            traffic = replace(traffic, answers=traffic.answers.with_drawn(id, every))
        play = self._arm(arm, None if unknown else share)
        return shares, self._asked(play, None, traffic=traffic, overdue=overdue)

    def draws(self, assignment: Assignment | None, eligible: Sequence[int] | None) -> bool:
        """Return whether the next decision is drawn by chance."""
        if assignment is None:
            return False
        state = self.log.state
        arms = state.roster.in_play if eligible is None else eligible
        return assignment.has_least or not all(state.learned.rounds[arm] for arm in arms)

    def asked_ahead(self) -> dict[Any, int]:
        """Return, by unit, decisions asked for that the policy's state does not know of. Overdue
        requests are not among them.
        """
        asked = {unit: each.count for unit, each in self._outstanding().items() if each.count > 0}
        for unit, times in self.told.items():
            asked[unit] = asked.get(unit, 0) + times
        return asked

    def _look_ahead(self, id: int, overdue: Overdue) -> Offer:
        """The plan is fully asked for, or decisions wait already: return what comes next."""
        state, plan = self.log.state, self.log.plan
        next: Plan | None = self._topped_up(id, overdue)
        if next is None:
            active = state.roster.active
            next = self.policy.ahead(state.learned, self.asked_ahead(), self.rng, active)
        if next is not None:
            return offer_of(state, next, id, next)
        offer = self.offer
        if isinstance(plan, Cycle) and (offer.play is not None or offer.law is not None):
            return Offer(id, FOREVER, None)
        return offer._replace(last=FOREVER)

    def _topped_up(self, id: int, overdue: Overdue) -> Hold | None:
        """Return, for a plan that plays arms in turn and was asked for in full, an arm in place of
        whose overdue requests others are asked for.
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

    def _look_ahead_jointly(self, id: int) -> tuple[Offer, Mapping[int, OpenPlan]]:
        """Return a plan of this turn that is not fully asked for; else the policy's next one, which
        may be an older one that was left.
        """
        state, plans, waiting = self.log.state, dict(self.plans), self._outstanding()
        for key in [key for key in waiting if key not in plans]:
            del waiting[key]  # of closed blocks
        blocks = self.blocks
        asked = Counter({key: each.count for key, each in waiting.items()})
        asked.update({key: blocks[key][0] for key in plans if key in blocks})
        step, roster = state.step, state.roster
        partly = {key: plan for key, plan in plans.items() if asked[key] < plan.rounds}
        number = next((key for key, plan in partly.items() if plan.step == step), None)
        if number is None:
            full: dict[Any, int] = {
                (key, plan.release): asked[key] for key, plan in plans.items() if key not in partly
            }
            plan = self.policy.ahead(state.learned, full, self.rng, None)
            if plan is None:
                return self._go_on_asking(id)
            hold = require_hold(plan)
            for key, old in partly.items():
                worth = asked[key] >= self.policy.worth_reading(old.hold)
                if number is None and (old.action, old.release) == (hold.action, hold.release):
                    number, plans[key] = key, old._replace(step=step)
                elif worth and key in waiting and waiting[key].count:
                    # what was asked for it is all of its block from now on
                    plans[key] = old._replace(rounds=asked[key])
            if number is None:
                number, plans[id] = id, open_plan(hold, step)
        chosen = plans[number]
        rounds = chosen.rounds - asked[number]
        return joint_offer(roster, chosen.hold, number, id, rounds), plans

    def _go_on_asking(self, id: int) -> tuple[Offer, Mapping[int, OpenPlan]]:
        """The turn's plan goes on for ever: what is asked for beyond it is never read."""
        state, plan = self.log.state, require_hold(self.log.plan)
        number = next((k for k, each in self.plans.items() if each.step == state.step), id)
        plans = {**self.plans, number: self.plans.get(number, open_plan(plan, state.step))}
        return joint_offer(state.roster, plan, number, id, FOREVER), plans

    def _due_block(self) -> tuple[int, ...] | None:
        """Return the oldest joint block that is to be read: a full one; or one that is half full,
        if a younger one has answers: they come out of order then.
        """
        blocks, younger = self.blocks, 0
        if len(self.plans) > 1:
            younger = max((key for key in self.plans if key in blocks), default=0)
        for key, plan in self.plans.items():
            count = blocks[key][0] if key in blocks else 0
            if count >= plan.rounds or (key < younger and SHORT * count >= plan.rounds):
                return (key,)
        return None


def counted(block: OpenBlock) -> list[Any]:
    count, sums = block
    single = type(sums) is tuple and len(sums) == 1
    return [count, sums[0] if single else sums]


def open_block(counted: list[Any]) -> OpenBlock:
    count, sums = counted
    return OpenBlock(count, (sums,) if type(sums) is int else sums)


def told_by_action(state: State) -> tuple[tuple[Any, int], ...]:
    """Return (action, decisions told in this turn), for a release."""
    if not state.policy.reader.together:
        return tuple(sorted(state.told))
    counts = Counter[Any]()
    for number, times in state.told:
        plan = state.plans[number]
        counts[plan.observe or plan.action] += times
    return tuple(sorted(counts.items()))
