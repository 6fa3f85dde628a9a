"""Sessions in a database: a small public part, a small private part, and rows.

Pending decisions, ledger readings, contributions of people and held answers have a row each.
`ChangeRecorder` collects what a session changed, so that the cost of a call does not grow with the
number of earlier decisions.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_
from secrets import token_bytes
from typing import Any, ClassVar, NamedTuple, final

import msgspec
from msgspec.structs import replace as replaced

from dpbandits.core.inputs import Floats, converted, opaque
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.protocol import Noise, Relay
from dpbandits.policies.contract import Policy, Release
from dpbandits.session.beliefs import ArmHistory, Belief, ReleaseHistory, Within, beliefs
from dpbandits.session.contexts import Contexts
from dpbandits.session.decisions import Play
from dpbandits.session.people import key_fingerprint
from dpbandits.session.saving import (
    PrivatePart,
    PublicPart,
    as_plain,
    lasting_fields,
    noise_to_continue,
    plain_number,
    policy_from_data,
    policy_to_data,
    private_part,
    public_part,
    session_of,
)
from dpbandits.session.session import OneCall, Session, without_open_answers
from dpbandits.session.state import (
    Asked,
    RecordedElsewhere,
    Released,
    State,
    StoppedLearning,
    Told,
    Unread,
)
from dpbandits.session.statement import statement
from dpbandits.session.times import Clock
from dpbandits.vault import Line

# What changed


Reading = tuple[int, int, int]
"""A coordinate, and the first and the last (exclusive) of its records of one release."""


class ReleaseWithReadings(NamedTuple):
    """A release, and what it read. asked: decisions made until then."""

    step: int
    release: Release
    readings: tuple[Reading, ...]
    asked: int


@opaque
class SessionChanges(NamedTuple):
    """What a session changed.

    Args:
        resolved: decisions that are no longer pending, and why.
        unlearned: pending decisions whose rewards will not be read.
        used: by pseudonym, the window and the places taken in it.
        noticed: arms whose first batch was found to wait for overdue requests, and when.
    """

    asked: list[Asked]
    resolved: dict[int, str]
    unlearned: list[int]
    releases: list[ReleaseWithReadings]
    used: dict[str, tuple[int, int]]
    noticed: list[tuple[str, int]]


@final
class ChangeRecorder:
    """Collects what a session changes from now on. A session has one recorder."""

    def __init__(self, session: Session) -> None:
        self.session, tables = session, session._tables
        self._journal = tables.journal = list[Any]()
        tables.follows = True
        self._left = dict(session._state.books.ledger.left)
        self._resolved, self._noticed = dict[int, str](), len(session._current.overdue.noticed)
        self._lasting: tuple[Any, ...] = ()
        self._texts = dict[str, msgspec.Raw]()

    @property
    def resolved(self) -> Mapping[int, str]:
        """Decisions resolved since the last `changes()`, and why."""
        windowed = self.session.attribution_window is not None
        for event in self._journal:
            kind = type(event)
            if kind is Told:
                why = "told" if event.answered else "expired"
            elif kind in (Unread, RecordedElsewhere):
                why = event.why if kind is Unread else "told"
            else:
                continue
            passed = windowed and why != "void" and kind is not RecordedElsewhere
            self._resolved.setdefault(event.id, "passed" if passed else why)
        return self._resolved

    @property
    def journal(self) -> Sequence[Any]:
        """Events since the last `changes()`."""
        return self._journal

    def changes(self) -> SessionChanges:
        """Return what changed since the last call."""
        tables, journal, resolved = self.session._tables, self._journal, dict(self.resolved)
        changes = SessionChanges([], resolved, [], [], {}, [])
        for event in journal:
            if type(event) is Asked:
                changes.asked.append(event)
            elif type(event) is RecordedElsewhere:
                changes.asked.append(Asked(event.id, event.play))
            elif type(event) is StoppedLearning:
                changes.unlearned.extend(event.ids)
            elif type(event) is Released:
                changes.releases.append(self._with_readings(event))
        if tables.people is not None:
            changes.used.update(tables.people.used)
        noticed = self.session._current.overdue.noticed
        for arm, at in noticed[self._noticed :]:
            changes.noticed.append((str(self.session._name(arm)), at))
        self._noticed = len(noticed)
        self._resolved = {}
        journal.clear()
        tables.owners.clear()
        return changes

    def lasting_texts(
        self, state: State, apart: dict[str, Any]
    ) -> tuple[msgspec.Raw, dict[str, msgspec.Raw]]:
        """Return the policy and `lasting_fields` as JSON, made anew only once a release, or a
        change of arms, replaced one of them.

        Args:
            apart: as of `small_parts`.
        """
        policy, ledger = state.policy, state.books.ledger
        released = state.learned, state.history, state.harm, ledger
        lasting = policy, state.roster, state.events, *released
        if len(self._lasting) < len(lasting) or not all(map(is_, self._lasting, lasting)):
            fields = lasting_fields(self.session, state)
            fields["ledger"].lines = []
            if not apart:
                fields["policy"] = policy_to_data(state.policy)
            self._texts = {
                name: msgspec.Raw(msgspec.json.encode(value, enc_hook=plain_number))
                for name, value in (fields | apart).items()
            }
            self._lasting = lasting
        texts = self._texts.copy()
        return texts.pop("policy"), texts

    def _with_readings(self, event: Released) -> ReleaseWithReadings:
        step, release, _, left, asked = event
        readings = list[Reading]()
        for coordinate, (stop, dropped) in left.items():
            start, dropped_before = self._left.get(coordinate, (0, 0))
            if stop > start and dropped == dropped_before:
                readings.append((coordinate, start, stop))
        self._left = left
        return ReleaseWithReadings(step, release, tuple(readings), asked)


# Rows


@opaque
class ContextualParts(NamedTuple):
    """The parts of a contextual session that have rows of their own."""

    policy: Policy
    learned: Any
    contexts: Contexts


@final
@dataclass(repr=False)
class SessionRows:
    """The parts of a session that have a row each.

    Args:
        waiting: pending decisions, oldest first.
        due: the end of each one's attribution window.
        lines: coordinates and lines of the ledger; a release may be a line of its own.
        apart: with a contextual policy, the policy, its state and its contexts.
    """

    waiting: dict[int, Play] = field(default_factory=dict)
    due: OrderedDict[int, float] = field(default_factory=OrderedDict)
    lines: list[tuple[int, Line]] = field(default_factory=list)
    apart: ContextualParts | None = None

    def add_readings(self, readings: Iterable[Reading]) -> None:
        self.lines += [(at, Line(start, stop, 1)) for at, start, stop in readings]


def small_parts(
    watch: ChangeRecorder, apart: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the policy with the public part of a session, for JSON, and the private part, without
    the parts in `SessionRows`.

    Args:
        apart: with a contextual policy, what stands for the policy and its state.
    """
    session = watch.session
    state = replaced(session._current.folded(), pending={}, contexts=None)
    policy, lasting = watch.lasting_texts(state, apart)
    public, private = public_part(session, state, 1, lasting), private_part(session, state)
    public, private.kept = replaced(public, chosen=None), []
    if public.people is not None:
        public.people.used, public.people.owners = [], []
    if public.attribution is not None:
        public.attribution.due = []
    return {"policy": policy, "public": public}, as_plain(private)


def rows_in(session: Session) -> SessionRows:
    """Return the parts of a session that have a row each. They are not copied."""
    window = session._tables.attribution
    due = OrderedDict[int, float]() if window is None else window.due
    return SessionRows(session._current.pending, due, session._state.books.ledger.lines())


# Contexts


class ContextChanges(NamedTuple):
    """What happened to contexts, in order.

    Args:
        asked: decisions, and their contexts.
        recorded: decisions whose rewards were recorded, their arms, and their contexts.
        resolved: decisions that are no longer pending.
    """

    asked: list[tuple[int, Floats]]
    recorded: list[tuple[int, int, Floats]]
    resolved: list[int]


def context_changes(events: Iterable[Any]) -> ContextChanges:
    """Return what events of a journal did to contexts. No reward is among it."""
    asked, recorded = list[tuple[int, Floats]](), list[tuple[int, int, Floats]]()
    resolved = list[int]()
    for event in events:
        if type(event) is Asked:
            if event.play.context is not None:
                asked.append((event.id, event.play.context))
        elif type(event) is Told:
            ((arm, record),) = event.parts
            recorded.append((event.id, arm, record.context))
            resolved.append(event.id)
        elif type(event) is Unread:
            resolved.append(event.id)
    return ContextChanges(asked, recorded, resolved)


def with_kept(waiting: dict[int, Play], parsed: PublicPart) -> dict[int, Play]:
    """Return pending decisions with what their open joint plans will release of them."""
    if not parsed.plans:
        return waiting
    release, known = {at: plan.release for at, plan in parsed.plans}, dict[Any, Play]()
    for id, play in waiting.items():
        if play.counted_as in release and play.observe is not None:
            key = play.counted_as, play.learn
            if key not in known:
                kept = tuple(play.observe.index(arm) for arm in release[play.counted_as])
                known[key] = replaced(play, kept=kept)
            waiting[id] = known[key]
    return waiting


class NoNoise(Relay):
    """Noise of a read-only session: it draws nothing."""

    kind: ClassVar[NoiseKind] = "secure"

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        raise RuntimeError("This session is only looked at: it releases nothing.")


@final
class NoSimulatedNoise(NoNoise):
    """The same for a session with simulated noise."""

    kind: ClassVar[NoiseKind] = "simulated"


def session_from_parts(
    public: Mapping[str, Any],
    private: Mapping[str, Any] | None,
    rows: SessionRows,
    *,
    policy: Policy | type[Policy] | None,
    noise: Noise | None = None,
    clock: Clock | None,
    user_key: bytes | None = None,
) -> Session:
    """Return the session that `small_parts` and its rows describe. People and decisions are left to
    the rows: it keeps no list of them.

    Args:
        private: None for a session that is only looked at, and releases nothing.

    Raises:
        ValueError: they contradict each other.
    """
    data = dict(public)
    policy_data = data.pop("policy")
    known = policy_from_data(policy_data, policy) if rows.apart is None else rows.apart.policy
    parsed: PublicPart = converted(data, PublicPart, "public")
    parsed.ledger.lines = [(coordinate, *line) for coordinate, line in rows.lines]
    if private is None:
        secret = None
        source: Noise = NoNoise() if parsed.noise.kind == "secure" else NoSimulatedNoise()
        if parsed.people is not None:  # nobody is known here by any name
            user_key = token_bytes(32)
            parsed.people.key = key_fingerprint(user_key)
    else:
        secret = converted(dict(private), PrivatePart, "private")
        source = noise_to_continue(parsed.noise, secret.noise, noise)
    pending = with_kept(rows.waiting, parsed)
    session = session_of(known, parsed, secret, source, clock, user_key, pending, rows.apart)
    tables = session._tables
    tables.chosen = None
    if tables.people is not None:
        tables.people.complete = False
    if tables.attribution is not None:
        tables.attribution.due = rows.due
    return session


def refreshed(session: Session) -> bool:
    """Rebuild the view after an error, and return whether no release is due."""
    return session._refresh_view(releases=False).ready is None


def release_marker(session: Session) -> object:
    """Return a value that changes with every release, and so whenever noise was drawn."""
    state = session._state
    last = state.closing is not None and state.closing.releases is not None
    return state.step, state.unlearned is not None, last


def is_release_missing(session: Session) -> bool:
    """Return whether a release is due but failed, for example because its noise failed."""
    return session._current.ready is not None and session._state.unlearned is None


# Held answers: the rows keep them, and a session loads those that a call needs


def due_now(session: Session) -> list[int]:
    """Return the pending decisions whose time has passed, oldest first."""
    window, pending = session._tables.attribution, session._current.pending
    return [] if window is None else [id for id in window.due_now() if id in pending]


def zero_answer(session: Session, observe: Sequence[int] | None) -> list[int]:
    """Return an answer of zeros to a decision that observes these arms."""
    return [0] * session._vault.length(observe)


def cost_of(session: Session, coordinate: int | None = None) -> str | None:
    """Return what one reading of an arm costs a record, as text; of the dearest arm if none is
    named. None if it is read without noise.
    """
    vault = session._vault
    dearest = vault.cost if vault.costs is None else max(vault.costs)
    cost = dearest if coordinate is None else vault.cost_of(coordinate)
    return None if cost is None else str(cost)


def is_due(session: Session) -> bool:
    """Return whether outcomes are due, or the last releases of a session that was closed. Changes
    nothing: a clock that went on would be written by the next answer, which would show it.
    """
    periods = session._tables.periods
    is_open = session.closed is not None and not session.closed.is_done
    is_over = periods is not None and session._period_is_over(periods.clock.now())
    return bool(due_now(session)) or is_open or is_over


def require_reward(session: Session, seq: int, reward: object) -> None:
    """Raise RewardError if this is no reward of a pending decision. It is not shown."""
    play = session._current.pending.get(seq)
    if play is not None:
        session._vault.checked(play.observe or play.action, reward)


def record_batch(session: Session, arm: str | int, outcomes: list[Any], counts: bool) -> None:
    """Record the outcomes of people who were assigned elsewhere, once (see `Session.record`). The
    list is emptied. If only a release that they complete failed, the next call makes it.

    Args:
        counts: whether they came as numbers of people and successes.
    """
    before = session._current.records
    try:
        session._record(session._state.roster.number(arm), outcomes, counts, None)
    except Exception as error:
        if session._current.records == before:
            raise
        keep_recorded(session, error)


def keep_recorded(session: Session, error: Exception) -> None:
    """Count all that a call recorded, though a release that it completed failed: its block is
    released with all that came. Raises the error, if it is of something else.
    """
    if not is_release_missing(session):
        raise error
    session._keep_all()


def play_single_arm(session: Session, arm: int) -> None:
    """Take all other arms out of play, before the first decision."""
    state = session._current.folded()
    session._replace_state(
        replaced(state, roster=state.roster.only(arm), offer=state.offer._replace(last=0))
    )


def drop_unread(session: Session) -> None:
    """Drop open blocks unread, those that are due to be released among them, and those of a period
    that is over: a lost timeline may have released them. Nothing may be pending.
    """
    with OneCall(session, releases=False) as view:
        session._drop_all(without_open_answers(view.folded()))


def keeps_exact_sums(session: Session) -> bool:
    """Return whether its mechanism keeps exact sums after a release. Then a session that lost a
    part of its past has to restart.
    """
    return not session._vault.mechanism.public_memory


def restart_policy(session: Session, seen: int | None = None) -> None:
    """Restart the policy; decisions keep their numbers. Nothing may be pending or open.

    Args:
        seen: after so many alarms of a guardrail came those that nobody is to see: whom they
            suspended is in play again. None: all were seen.
    """
    now = session._current.folded()
    fresh = session._first_state(session.policy, session._state.assignment)
    roster, alarms = now.roster, now.harm.alarms if now.harm else ()
    for arm, _, suspended in alarms[len(alarms) if seen is None else seen :]:
        if suspended and roster.status[arm] == "paused":
            roster = roster.with_status(arm, "active")
    state = replaced(
        fresh,
        history=replace(fresh.history, first=now.history.first),
        roster=roster,
        traffic=now.traffic,
        events=now.events,
        asked=now.asked,
        unread=now.asked,
        asked_at_answer=now.asked,
        closing=now.closing,
        elsewhere=now.elsewhere,
        forgotten=now.elsewhere,
        void=now.void,
    )
    session._begin_step(state)


# People


def waiting_for(session: Session, who: str, stored: Sequence[int]) -> list[int]:
    """Return the pending decisions of a person: stored ones, and those of this transaction."""
    fresh = [seq for seq, (owner, _) in session._tables.owners.items() if owner == who]
    return [seq for seq in dict.fromkeys([*stored, *fresh]) if seq in session._current.pending]


def latest_time(session: Session) -> float | None:
    """Return the latest time that the clock of contributions has seen; None without people."""
    people = session._tables.people
    return None if people is None else people.clock.latest


def statement_in(
    session: Session, users: int | None, in_window: int | None, where: str, fences: int
) -> str:
    """Return the session's privacy statement.

    Args:
        users: how many rows there are of people; None where people do not come back.
        in_window: of them, how many were learned from in the window that is open.
        where: over what these are counted, in words.
        fences: how often the campaign was fenced.
    """
    people = session._tables.people
    session._settle_to_show()
    spans = people is not None and people.span is not None
    return statement(session, users, in_window if spans else None, where, fences)


# Read-only


class StoredHistory(NamedTuple):
    """Rebuilds the history of a session from its stored releases.

    Args:
        nothing: the history before any release.
    """

    session: Session
    nothing: ReleaseHistory

    @classmethod
    def of(cls, session: Session) -> StoredHistory:
        now = session._state.history
        arms = tuple(ArmHistory(arm.label) for arm in now.arms)
        reader = replace(now.reader, alone=False)  # nobody is named in what is shown so
        within = None if now.within is None else Within.of(len(arms))
        return cls(session, replace(now, arms=arms, reader=reader, compared={}, within=within))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(arm.label for arm in self.nothing.arms)

    def after(
        self, history: ReleaseHistory, coordinates: Sequence[int], answers: Sequence[Any]
    ) -> ReleaseHistory:
        """Return the history after one stored release."""
        if history.reader.law is None:
            return history
        typed = tuple(map(history.reader.mechanism.restored, answers))
        return history.after(Release(tuple(coordinates), typed, 0, ()))

    def rows(self, history: ReleaseHistory, confidence: float) -> tuple[Belief, ...]:
        """Return the estimates of every arm after this history."""
        return beliefs(history, confidence, ruler=self.session.rewards, among=()).rows
