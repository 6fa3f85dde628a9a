"""A session: ask for decisions and tell their rewards, in one process.

A session is a log (`state.Log`): an immutable state and the events since. A verb computes an event
from the view and appends it, which is the moment at which it happens; a release puts a new state in
place by one assignment. So every call may be interrupted anywhere (Ctrl-C, an alarm, a failing
noise source or oracle): either it happened or it did not, and the next call goes on.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from hashlib import sha256
from typing import Any, Literal, NoReturn, TypeVar, final, overload
from weakref import ref

import numpy as np
from msgspec.structs import replace as replaced

from dpbandits.core.errors import (
    ClosedError,
    DecisionError,
    HorizonError,
    LedgerError,
    MessageError,
    NotRecordedError,
    RewardError,
    SharedError,
    coded,
)
from dpbandits.core.inputs import (
    checked_name,
    checked_noise,
    checked_seed,
    shown,
    whole_number,
)
from dpbandits.core.locks import PROCESS
from dpbandits.core.plan import Cycle, Hold, Plan, PublicRng
from dpbandits.core.privacy import Entry, Guarantee
from dpbandits.core.privacy import spent as spent_of
from dpbandits.local.messages import randomizer_to_json, report_from_json
from dpbandits.mechanisms.rewards import read_or_none
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import ArmLabel, Policy, Release
from dpbandits.policies.identification import Identifier
from dpbandits.session import saving
from dpbandits.session.arms import (
    STATUS_AFTER,
    ArmChange,
    ArmStatus,
    Assignment,
    Roster,
    assignment_of,
    short,
)
from dpbandits.session.beliefs import Allocation, Beliefs, ReleaseHistory, Sight, beliefs
from dpbandits.session.contexts import Contexts, Predictions
from dpbandits.session.decisions import (
    MOST_PENDING,
    PENDING,
    Decision,
    DecisionTable,
    Eligible,
    Pair,
    Play,
    User,
    already_resolved,
    checked_pairs,
    pair_refused,
    read_here,
    require_user,
    swapped_arguments,
    whole_id,
)
from dpbandits.session.guardrail import Guardrail, Harm
from dpbandits.session.lift import Lift, Shares, lift_of, shares_of
from dpbandits.session.naming import people_ahead
from dpbandits.session.options import (
    MOST_OUTCOMES,
    checked_batch_key,
    checked_contexts,
    checked_responsible,
    checked_rewards_range,
    checked_why,
    default_of,
    listed_outcomes,
    mechanism_with_guardrail,
    require_agreement,
    require_choice,
    require_clock,
    require_for_contexts,
    require_held_default,
    require_one_mean,
    require_policy,
    require_recordable,
    require_rounds,
    require_same,
    require_same_batch,
    require_single_arms,
    too_many_pending,
    warn_about,
)
from dpbandits.session.overdue import Overdue, overdue_advice, unanswered_advice
from dpbandits.session.people import NOT_LEARNED, per_user, policy_for_users, register_of
from dpbandits.session.ranges import Range
from dpbandits.session.state import (
    NO_PLAY,
    Asked,
    Batch,
    Closing,
    Event,
    Log,
    Released,
    SessionEvent,
    State,
    StoppedLearning,
    Tables,
    Told,
    UnlearnedRelease,
    Unread,
    View,
    first_kept,
    id_runs,
    merged_events,
    opened,
    recorded_by_action,
)
from dpbandits.session.statement import participant_text, statement
from dpbandits.session.times import (
    MOST_BEHIND,
    Clock,
    OpenPeriod,
    attribution_of,
    clock_advice,
    periods_of,
    require_few,
)
from dpbandits.session.traffic import SampleRatio, Traffic
from dpbandits.vault import Books, Parts, Vault, frameless, release_of

Estimates = TypeVar("Estimates", Beliefs, Predictions)

FOLD_AFTER = 200
"""Events after which a log is folded into its state though nothing is released, by the tell that
makes them so many or by the next call. Single rewards are not kept for longer.
"""

SHUFFLE_STREAM = 4
"""Sets the stream that shuffles recorded outcomes apart from other public randomness."""

ONE_ENTRY = "recorded batches: where each person is one entry of one batch"
"""What a guarantee rests on once outcomes were recorded of people who were assigned elsewhere."""


class Call:
    """A call under way."""

    __slots__ = ("__weakref__",)


@final
class OneCall(Call):
    """A call under way: one at a time. `with OneCall(session) as view:` gives the current view.

    A session knows its calls by weak references, so one that was cut off before it could leave is
    gone with its frame. `ask` and `tell` of one decision do the same in their own lines, for speed.

    Args:
        releases: whether it makes a release that an earlier call left due, before anything else.
    """

    __slots__ = ("_me", "_releases", "_session")

    def __init__(self, session: Session, *, releases: bool = True) -> None:
        self._session, self._releases = session, releases

    def __enter__(self) -> View:
        self._me = ref(self)
        try:
            return self._session._enter(self._me, self._releases)
        except BaseException:  # whoever keeps the error does not keep the session busy
            self._session._calls.pop(self._me, None)
            raise

    def __exit__(self, *_: object) -> None:
        self._session._calls.pop(self._me, None)


@final
class Session:
    """Runs a policy on people's data: `ask` requests decisions, `tell` records rewards.

    Every decision is resolved exactly once: told, expired, or void. Rewards may be told late and in
    any order: a reward enters the block of its arm that is open when it arrives. (With joint
    releases a record belongs to the block it was asked for; once that is closed, it is recorded and
    never read.) More decisions may be requested than the plan holds; the plan ends by its own count
    of recorded rewards.

    One call at a time: a call from a second thread, from within another call, or in a forked child
    raises `SharedError` and does nothing. A call that was interrupted (Ctrl-C, an alarm, an error
    of the noise source or an oracle) happened or did not: `pending` shows which decisions still
    take a reward. A tell that completes a release may have been recorded and its release not made;
    then the next call makes it.

    Args:
        policy: any policy.
        noise: `SecureNoise()` for people's data, `SimulatedNoise(seed)` for experiments. There is
            no default.
        seed: seed of the public randomness (posterior samples); not a secret. Drawn if not given.
        default: the reward that is recorded for an expired decision (for every action, with full
            information). By default 0, or the worse end of `rewards` if 0 is not in the range. With
            grid=1 an end of the range.
        campaign: a public name that decisions carry, so that another session refuses them. By
            default made from the seed.
        max_pending: the most decisions that may be pending at a time.
        rewards: the declared range of rewards, or of costs (`dpbandits.Range`). By default [0, 1].
        privacy_unit: "round" if each reward is another person's; "user" if people come back: the
            guarantee is then about all rewards of one user.
        max_contributions: the most rounds in which one user is learned from. The policy runs at
            that share of its budget.
        window: with "user", the cap and the guarantee are for each window of this length. By
            default for ever.
        clock: returns the time, for `window`, `attribution_window` and `period`. By default this
            machine's.
        user_key: a secret of at least 16 bytes under which users are known. Needed to save.
        sticky: with "user" and a `user_key`, True to show a person the same arm at every visit, as
            long as it is in play and `eligible`. Repeated visits are learned from, within the cap,
            where the policy takes `eligible=` and there is no `period`, within which only arms that
            were drawn are compared; elsewhere `learn` is False. An arm that is paused,
            suspended or retired ends it: the person's next arm is the one they keep. For policies
            that play one arm at a time. Which arm is chosen never depends on the person's own
            outcomes but through what was released, so it costs no privacy.
        attribution_window: how long an answer is waited for; a decision without one counts with
            `default`. Who answered is then as private as the reward.
        assignment: "shuffled": the first batches of all arms come in one random order instead of
            one after the other. Its coins come from `seed`, which then has to stay secret.
        min_share: each arm's least share of rounds, by a coin a round; or those of single arms, by
            their names or numbers, such as {"control": 0.3}.
        period: with `min_share`, so long the shares of all arms stand still; open blocks are
            released at the end of each period, too, and the policy learns from them. Arms are
            compared within periods only, so a change of rates that all arms share names nobody. For
            policies whose batches add up, such as `DPRateIMED`. The first period begins now.
        guardrail: a second number of each record, told as (reward, harm), of which no arm may do
            more than declared (`dpbandits.Guardrail`). An arm that does is suspended.
        responsible: who answers for the session, and how to reach them; it stands in statements.

    Raises:
        ValueError: policy, mechanism and guarantee do not agree, or options contradict each other.

    Example:
        >>> from dpbandits import DPKLUCB, Range, SimulatedNoise
        >>> trial = Session(
        ...     DPKLUCB(arms=["letter", "call"], epsilon=1),
        ...     noise=SimulatedNoise(1),
        ...     rewards=Range(0, 60),
        ...     default=30,
        ...     max_pending=2,
        ...     responsible="Dr Ada Kim, ada@clinic.example",
        ... )
        >>> first, second = trial.ask(2)
        >>> trial.tell(first, 45)
        >>> trial.expire(second)                # nobody answered: 30 points are recorded
        >>> trial.close("too few people", read=False)
        >>> trial.resolved, trial.releases
        (2, 0)
    """

    def __init__(
        self,
        policy: Policy,
        *,
        noise: Noise,
        seed: int | None = None,
        default: float | None = None,
        campaign: str | None = None,
        max_pending: int = PENDING,
        rewards: Range | None = None,
        privacy_unit: str = "round",
        max_contributions: int | None = None,
        window: timedelta | None = None,
        clock: Clock | None = None,
        user_key: bytes | None = None,
        sticky: bool = False,
        attribution_window: timedelta | None = None,
        assignment: str = "planned",
        min_share: float | Mapping[Any, float] | None = None,
        period: timedelta | None = None,
        guardrail: Guardrail | None = None,
        responsible: str | None = None,
    ) -> None:
        require_policy(policy)
        require_clock(clock, window, attribution_window, period)
        given = {
            "assignment": assignment != "planned",
            "min_share": min_share is not None,
            "period": period is not None,
            "guardrail": guardrail is not None,
            "sticky": sticky is not False,
        }
        require_for_contexts(policy, [option for option, is_given in given.items() if is_given])
        people = register_of(privacy_unit, max_contributions, window, clock, user_key, sticky)
        if people is not None and people.kept is not None:
            require_single_arms(policy)
        if people is not None:
            policy = policy_for_users(policy, people.cap)
        settings = default, campaign, max_pending, rewards, guardrail, responsible
        seed = secrets.randbits(63) if seed is None else checked_seed(seed)
        self._set_up(policy, noise, seed, *settings)
        share = self.default if self.rewards is None else self.rewards.to_unit(self.default)
        require_held_default(policy, share, guardrail)
        drawn = assignment_of(assignment, min_share, policy.arms, policy.labels)
        if drawn is not None:
            require_choice(policy, "assignment= or min_share=")
            require_rounds(policy)
            if campaign is None:  # the seed foretells who gets what, so decisions do not name it
                self.campaign = sha256(str(self.seed).encode()).hexdigest()[:16]
        attribution = attribution_of(attribution_window, clock)
        waits = None if attribution is None else attribution.seconds
        periods = periods_of(period, clock, policy, drawn, waits)
        self._tables = Tables(people, attribution, periods)
        self._open(self._begin_step(self._first_state(policy, drawn)))
        if self._vault.noise.kind == "secure":
            warn_about(self.policy, self.guarantee, self.rewards)

    def _set_up(
        self,
        policy: Policy,
        noise: Noise,
        seed: int,
        default: float | None,
        campaign: str | None,
        max_pending: int,
        rewards: Range | None,
        guardrail: Guardrail | None,
        responsible: str | None,
    ) -> None:
        """Check and set what new and loaded sessions have alike."""
        require_policy(policy)
        self.responsible, self.seed = checked_responsible(responsible), seed
        self.campaign = f"{self.seed:x}" if campaign is None else checked_name(campaign)
        self.rewards: Range | None = checked_rewards_range(rewards, policy.randomizer() is not None)
        self.max_pending = whole_number(max_pending, "max_pending", 1, MOST_PENDING)
        self.guardrail, self.generation, self._saved_with_key = guardrail, 0, False
        self._vault = self._vault_for(policy, checked_noise(noise))
        require_agreement(policy, self._vault.guarantee)
        self.default: float = default_of(default, self.rewards, policy)

    def _vault_for(self, policy: Policy, noise: Noise) -> Vault:
        to_unit = None if self.rewards is None else self.rewards.to_unit
        mechanism = mechanism_with_guardrail(policy, self.guardrail)
        feedback, randomizer = policy.about.feedback, policy.randomizer()
        return Vault(feedback, mechanism, policy.arms, noise, randomizer, to_unit)

    def _first_state(self, policy: Policy, assignment: Assignment | None) -> State:
        by_unit = policy.about.feedback == "bandit" or policy.reader.together
        contexts = Contexts.first(policy)
        periods = self._tables.periods
        tracks_delays = by_unit and self._tables.attribution is None and contexts is None
        return State(
            policy,
            policy.init(),
            self._vault.begin(),
            ReleaseHistory.of(policy, policy.labels, periods=periods is not None),
            Roster.of(policy.arms, policy.labels),
            plans={},
            pending={},
            assignment=assignment,
            traffic=Traffic.of(policy.arms),
            events=(),
            step=0,
            asked=0,
            first=0,
            records=0,
            unread=0,
            rng=None,
            overdue=Overdue(),
            harm=self.guardrail and Harm.of(self.guardrail, policy),
            delays=() if tracks_delays else None,
            contexts=contexts,
            period=periods and OpenPeriod(periods.number(periods.clock.advance() - periods.waits)),
        )

    def _begin_step(self, state: State, vault: Vault | None = None) -> View:
        """Put a state in place that begins a step.

        Args:
            vault: of its arms, if there is one more.
        """
        log, rng = opened(self.seed, state, [])
        self._log, self._vault = log, vault or self._vault
        self._view = view = View(self.seed, log, self._tables, rng)
        return view

    def _put(self, log: Log, rng: PublicRng | None = None, before: View | None = None) -> View:
        """Put a log in place: this is the moment at which its state happens. Returns its view.

        Args:
            rng, before: see `View`.
        """
        self._log = log
        self._view = view = View(self.seed, log, self._tables, rng, before)
        return view

    def _open(self, view: View) -> None:
        """Take calls from now on, in this process."""
        self._view = view
        self._calls: dict[Any, None] = {}
        self._process = PROCESS[0]
        self._newest: Decision | None = None
        self._others: tuple[Session, ...] = ()  # the other segments
        self._sights: dict[Any, Sight | None] = {}
        tables = self._tables
        self._holds_answers = tables.attribution is not None
        self._contextual = self._state.contexts is not None
        # whether decisions do not follow from the plan alone
        self._needs_full_path = (
            self._holds_answers or tables.people is not None or self._state.assignment is not None
        )
        # with an attribution window periods end where outcomes are recorded
        self._ends_periods = tables.periods is not None and not self._holds_answers

    def __repr__(self) -> str:
        now = self._current
        counts = f"asked={now.asked}, recorded={now.records}, releases={self.releases}"
        return f"Session({self.policy!r}, {counts})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A copy of this session would release its blocks again. Save it with to_json(), and go "
            "on with the loaded one only."
        )

    # One call at a time

    def _enter(self, me: Any, releases: bool = True) -> View:
        if PROCESS[0] is not self._process:
            self._require_process()
        calls, view = self._calls, self._view
        calls[me] = None  # calls in their order: the first one is at work
        if len(calls) > 1:
            self._require_alone(me)
        for other in self._others:  # a call of theirs that was cut off may have taken a place
            other._refresh_view(releases=False)
        is_current = view.log is self._log and view.counted == len(view.events) < FOLD_AFTER
        is_over = self._ends_periods and self._period_is_over()
        if is_current and view.ready is None and not is_over:
            return view
        return self._refresh_view(releases)

    def _require_process(self) -> None:
        if PROCESS[0] is not self._process:
            raise SharedError(
                "This session was made before a fork; two processes would release its blocks "
                "twice. Nothing was done. Save it with to_json() in the parent, and load it in the "
                "process that goes on."
            )

    def _require_alone(self, me: Any) -> None:
        calls = self._calls
        while len(calls) > 1 and (first := list(calls)[0]) is not me:  # noqa: RUF015  # in one step
            if first() is not None:
                raise SharedError(
                    "Another call of this session is under way, in another thread or around this "
                    "one (a signal handler, the noise source, the policy). Nothing was done. Use a "
                    "session from one thread at a time."
                )
            calls.pop(first, None)  # it was cut off before it could leave

    def _refresh_view(self, releases: bool) -> View:
        """Make the view again if it is behind; release what an earlier call left due."""
        view, log = self._view, self._log
        if view.log is not log or view.counted != len(log.events):
            view = self._rebuild_view()
        is_over = releases and self._ends_periods and self._period_is_over()
        if view.ready is None and not is_over:
            return self._fold_if_long(view)
        if not releases:
            return view
        try:
            view = self._advance(view)
            return self._with_ended_period(view) if is_over else view
        except (HorizonError, LedgerError):  # no further call helps
            raise
        except Exception as error:
            raise NotRecordedError(
                "A release or plan that an earlier call left due failed again (see the cause "
                "above); this call recorded nothing (over segments: nothing in the one where it "
                "failed). Call again once the noise source or oracle works."
            ) from error

    @property
    def _current(self) -> View:
        """The view, for what only reads; during a call it may lack that call's event."""
        view, log = self._view, self._log
        if (view.log is not log or view.counted != len(log.events)) and not self._calls:
            view = self._rebuild_view()
        return view

    def _rebuild_view(self) -> View:
        policy = self._state.policy
        if self._vault.arms != policy.arms:  # adding an arm was cut off before its vault
            self._vault = self._vault_for(policy, self._vault.noise)
        return self._put(self._log)

    @property
    def _state(self) -> State:
        return self._log.state

    # Requesting decisions

    @overload
    def ask(
        self,
        count: None = None,
        eligible: Eligible = None,
        user: User = None,
        context: Any = None,
    ) -> Decision: ...
    @overload
    def ask(
        self,
        count: int,
        eligible: Eligible = None,
        user: User = None,
        context: Any = None,
    ) -> list[Decision]: ...
    def ask(
        self,
        count: int | None = None,
        eligible: Eligible = None,
        user: User = None,
        context: Any = None,
    ) -> Decision | list[Decision]:
        """Return the next decision, or a list of `count` of them.

        Args:
            count: number of decisions; all of them are made, or none.
            eligible: the arms that may be played this time, by their names or numbers; who is
                eligible for what is public. The arm with the largest index, or posterior draw,
                among those in play is chosen.
            user: who the decision is for, where people come back (`privacy_unit="user"`); 3 and "3"
                are one person, and so are two spellings of one text (Unicode's NFC); "03", other
                capitals and other spaces are another. Beyond the cap a person still gets a
                decision, the arm with the largest released mean; its `learn` is False, and its
                reward is accepted and never read.
            context: what is known of the visitor, for a policy that decides by it: numbers, shape
                (features,), or by the features' names; with `count` a row for each decision. Its
                norm is at most 1. Contexts are public: they must not carry recorded outcomes. A
                closed session, which shows its winner, needs neither user nor context.

        Raises:
            TooManyPendingError: more than `max_pending` decisions would be pending. None was made.
            ValueError: `eligible` names no arm that is in play, or the policy cannot choose among
                some of its arms; or `user` or `context` is missing, not expected, or not as it has
                to be. None was made.
            ClosedError: the session is closed, without a winner. None was made.
            NotRecordedError: a release that an earlier call left due failed again. None was made.
        """
        contexts, is_closed = None, self._log.state.closing is not None
        if context is not None or (self._contextual and not is_closed):
            contexts = checked_contexts(self.policy, context, count)
        is_plain = count is None and eligible is None and user is None
        if not is_plain or self._needs_full_path or is_closed:
            number = 1 if count is None else whole_number(count, "count")
            made = self._ask_many(number, eligible, user, contexts)
            return made[0] if count is None else made
        me = ref(here := Call())
        try:
            view = self._enter(me)
            if len(view.pending) >= self.max_pending:
                raise too_many_pending(len(view.pending), 1, self.max_pending)
            if contexts is None:
                event = view.next_ask()
            else:
                if view.pilot:
                    view = self._with_codebooks(view)
                event = view.next_in_context(contexts[0], self._state.roster.in_play)
            decision = self._newest = event.play.decision(event.id, self.campaign)
            view.events.append(event)  # this is the moment at which it happens
            view.apply(event, len(view.events))
            return decision
        finally:
            self._calls.pop(me, None)
            del here

    def _ask_many(
        self, count: int, eligible: Eligible, user: User, contexts: list[Any] | None
    ) -> list[Decision]:
        people, window = self._tables.people, self._tables.attribution
        if user is not None or self._state.closing is None:
            require_user(people, user)
        with OneCall(self) as view:
            view = self._settled(view)
            arms = None
            if self._state.closing is not None:
                return self._ask_closed(view, self._state.closing, count, eligible)
            if eligible is not None:
                require_choice(self.policy, "eligible=")
                arms = self._state.roster.numbers(eligible)
            if len(view.pending) + count > self.max_pending:
                raise too_many_pending(len(view.pending), count, self.max_pending)
            who = None if people is None else people.pseudonym(user)
            view = self._with_codebooks(view)
            events = self._next(view, count, who, arms, contexts)
            if window is not None:
                due = window.clock.latest + window.seconds
                events = [replaced(event, due=due) for event in events]
            made = [event.play.decision(event.id, self.campaign) for event in events]
            view.append_asked(events)  # all at once
            return made

    def _ask_closed(
        self, view: View, closing: Closing, count: int, eligible: Eligible
    ) -> list[Decision]:
        """Return decisions that show the winner of a closed session."""
        arm, roster = closing.winner, self._state.roster
        if arm is None:
            raise ClosedError(
                "This session is closed: it makes no decisions any more. Close a session with "
                "winner= to go on with one arm. None was made."
            )
        if eligible is not None and arm not in roster.named(eligible):
            raise coded(
                "winner_only",
                ValueError,
                f"Expected eligible= to hold {roster.name(arm)}, the winner of this session, which "
                "is closed and shows nothing else. None was made.",
            )
        events = view.winner_events(arm, count)
        made = [each.play.decision(each.id, self.campaign) for each in events[::2]]
        self._append(view, events)
        return made

    def _next(
        self,
        view: View,
        count: int,
        who: str | None,
        arms: tuple[int, ...] | None,
        contexts: list[Any] | None,
    ) -> list[Asked]:
        """Compute the next decisions: by the plan, by their contexts, or by chance.

        Args:
            who: whom they are for, where people come back.
            arms: the arms to choose from; None: all that are in play.
            contexts: of each decision, with a contextual policy.
        """
        people, state = self._tables.people, self._state
        assignment, roster = state.assignment, state.roster
        among = roster.in_play if arms is None else arms
        draws = view.draws(assignment, among)
        window = 0 if people is None else people.advance()
        taken = 0 if people is None or who is None else people.taken(who, window)
        period = self._period_now()
        own = self._kept_arm(who, among)
        learns_again, events = self.policy.chooses and period is None, list[Asked]()
        for at in range(count):
            chosen = arms if own is None else (own,)
            is_full = people is not None and taken >= people.cap
            if contexts is not None:
                event = view.next_in_context(contexts[at], among, not is_full)
            elif is_full or (own is not None and not learns_again):
                event = view.next_unread(chosen or among)
            elif draws and own is None:
                assert assignment is not None
                _, event = view.next_random(assignment, self.seed, among, period)
            else:
                event = view.next_ask(chosen)
            if own is not None:  # it was not drawn
                event = replaced(event, play=replaced(event.play, propensity=1.0))
            if people is not None and who is not None:
                if event.play.learn:
                    taken += 1
                    event = replaced(event, place=(who, window, taken))
                if people.kept is not None:
                    own = event.play.counted_as
                    event = replaced(event, keeps=(who, roster.mark(own)))
            view.count_ahead(event)
            events.append(event)
        return events

    def _kept_arm(self, who: str | None, among: Sequence[int]) -> int | None:
        """Return the arm that a person keeps; None if that is for this visit to decide."""
        people = self._tables.people
        if people is None or people.kept is None or who is None:
            return None
        arm = self._state.roster.marked(people.kept.get(who))
        return arm if arm in among else None

    def _with_codebooks(self, view: View) -> View:
        """Make the first codebooks once enough contexts are there."""
        policy: Any = self._state.policy
        if not view.pilot or len(view.pilot) < policy.pilot_visitors:
            return view
        contexts, state = np.array(view.pilot), view.folded()
        assert state.contexts is not None
        return self._begin_step(
            replaced(
                state,
                learned=policy.opened(state.learned, contexts),
                contexts=state.contexts._replace(pilot=()),
                step=state.step + 1,
            )
        )

    # Recording rewards

    def tell(self, decision: Decision | int, reward: object) -> None:
        """Record the reward of a decision (or of its id).

        Args:
            decision: as `ask` returned it, or its id.
            reward: a number in [0, 1] or in the declared range; in the local model the user's
                `Report`; with a guardrail a pair (reward, harm). A policy with full information
                takes the rewards of all actions, shape (actions,); after a super arm those of
                `decision.observe`, in that order.

        Raises:
            DecisionError: unknown id, or the decision was resolved before (with an attribution
                window a second reward of an open window is dropped). Nothing was recorded.
            RewardError: not such a reward. Nothing was recorded.
            NotRecordedError: a release that an earlier call left due failed again. Nothing was
                recorded.

        If a release or plan that this reward completes fails, its error passes through: the reward
        is recorded (the decision is no longer pending), and the next call goes on from there.
        """
        if type(reward) is Decision:
            raise swapped_arguments()
        me = ref(here := Call())
        try:
            view = self._enter(me, not self._holds_answers)
            if view.log.state.closing is not None and self._is_dropped(decision, view):
                return
            id, play = view.find_pending(decision, self.campaign, self._newest)
            if self._holds_answers:
                self._require_time(id)
                frameless(self._hold_outcome, id, play, reward)
                return
            quick = self._vault.quick_parts
            parts = quick(play.counted_as, reward, play.context) if play.learn else None
            if parts is not None:
                event: Event = Told(id, play.counted_as, parts)
            else:
                event = frameless(self._told, id, play, reward)
            view.events.append(event)  # this is the moment at which it happens
            view.apply(event, len(view.events))
            del decision, reward, parts, event  # no frame of a release that fails holds a reward
            if view.ready is not None or view.counted >= FOLD_AFTER:
                self._complete(view)
        finally:
            self._calls.pop(me, None)
            del here
            reward = None  # noqa: F841  # nor does one of an error that came before

    def tell_message(self, text: str) -> None:
        """Record a user's answer as their device sent it, in the local model (see
        `dpbandits.local.client.Client.answer`).

        Args:
            text: JSON, as the device made it.

        Raises:
            MessageError: no such message, or one for another campaign. Nothing was recorded.
        """
        message = report_from_json(text)
        if message.campaign != self.campaign:
            raise MessageError(
                "Expected a report for this session's campaign, got one for another. Nothing was "
                "recorded."
            )
        self.tell(message.id, message.report)

    def tell_many(self, tells: Iterable[tuple[Decision | int, object]]) -> None:
        """Record several (decision, reward) pairs, in this order: all of them, or none.

        All pairs are checked first. If a release or plan fails midway, its error passes through:
        all pairs are recorded, and the next call makes the release.

        Args:
            tells: pairs of a decision, or its id, and a reward as for `tell`.

        Raises:
            DecisionError, RewardError, TypeError: one of the pairs is wrong; the error says which.
                Nothing was recorded.
        """
        pairs = list[Pair]()
        try:
            # before the call: what makes them may ask for decisions
            pairs += frameless(checked_pairs, read_here(tells))
            tell_pairs({self.campaign: self}, pairs, lambda decision: self)
        finally:
            del tells
            pairs.clear()

    def _is_dropped(self, decision: Any, view: View) -> bool:
        """Whether the session is closed, and the answer to this decision is dropped unread."""
        closing, known = view.log.state.closing, type(decision) is Decision
        if closing is None or (known and decision.campaign != self.campaign):
            return False
        id = decision.id if known else decision
        if type(id) is not int:  # it may be a reward, with code of its own
            id = read_or_none(whole_id, id) or 0
        return 0 < id <= view.asked and closing.drops(id)

    def expire(self, decision: Decision | int) -> None:
        """Record the declared default: no reward came (in the local model: a report of it).

        With an attribution window the default is recorded when the time has passed, as without
        this call.

        Args:
            decision: as `ask` returned it, or its id.

        Raises:
            DecisionError: unknown id, or resolved before. Nothing was recorded.
        """
        with OneCall(self, releases=not self._holds_answers) as view:
            id, play = view.find_pending(decision, self.campaign)
            self._require_time(id)
            if not self._holds_answers:
                steps = self._vault.on_grid(self._default(play))
                self._append(view, [self._event(id, play, steps, why="expired")])

    def void(self, decision: Decision | int) -> None:
        """Resolve a decision that was never carried out: nobody was shown it. Nothing is recorded,
        and another decision takes its place. If nobody answered, `expire` it. What is due is
        released first; it reads nothing itself, so it is done past a policy's horizon, too.

        Args:
            decision: as `ask` returned it, or its id.

        Raises:
            DecisionError: unknown id, or resolved before.
            NotRecordedError: a release that an earlier call left due failed again. Nothing was
                changed.
        """
        with OneCall(self, releases=False):
            is_over = False
            try:
                view = self._with_due_outcomes(self._refresh_view(releases=True))
            except HorizonError:
                if self._state.unlearned is not None:  # a policy's own error
                    raise
                view, is_over = self._keep_all(), True
            id, play = view.find_pending(decision, self.campaign)
            view.events.append(self._voided(id, play))  # this is the moment at which it happens
            if is_over:
                self._keep_all()
            else:
                self._catch_up(view)
                self._end(self._view)

    def _keep_all(self) -> View:
        """Count all events, also those after a release that cannot be made."""
        state = self._refresh_view(releases=False).folded_with_all_events()
        return self._put(Log(state, self._log.plan, []))

    def _voided(self, id: int, play: Play) -> Unread:
        owner, people = self._tables.owners.get(id), self._tables.people
        place, is_local = None, self._vault.randomizer is not None
        may_be_held = is_local and self._holds_answers  # a report that the server has seen
        if owner is not None and people is not None and not may_be_held:
            who, period = owner
            window, taken = people.used.get(who, (period, 0))
            if window == period and taken:
                place = who, period, taken - 1
        return Unread(id, play, "void", place)

    def _told(self, id: int, play: Play, reward: Any) -> Event:
        """Return the event of a reward, checked."""
        plain = self._vault.checked(play.observe or play.action, reward)
        return self._event(id, play, self._vault.on_grid(plain))

    def _event(self, id: int, play: Play, steps: Any, why: str = "told") -> Event:
        """Return the event of a reward in grid steps."""
        if not play.learn:
            return Unread(id, play, why)
        where = play.observe or play.action
        parts = self._vault.parts(where, steps, play.counted_as, play.kept, play.context)
        return Told(id, play.counted_as, parts, why == "told")

    def _append(self, view: View, events: Sequence[Event]) -> None:
        """Append events, which is the moment at which they happen, and make what is due."""
        view.events.extend(events)
        del events
        self._catch_up(view)

    def _catch_up(self, view: View) -> None:
        """Count the events that were appended, and make the release that is ready."""
        view.catch_up()
        if view.ready is not None or view.counted >= FOLD_AFTER:
            self._complete(view)

    def _default(self, play: Play) -> Any:
        """Return what is recorded if nobody answered, checked."""
        size = len(play.observe or range(self.policy.arms))
        rewards: Any = [self.default] * size
        if self.guardrail is not None:
            rewards = self.default, self.guardrail.default
        elif self.policy.about.feedback == "bandit":
            rewards = self.default
        if self._vault.randomizer is not None:
            rewards = self._vault.randomizer.report(rewards, self._vault.noise)
        return self._vault.checked(play.observe or play.action, rewards)

    # People who are assigned elsewhere

    def shares(self, people: int = 1_000) -> Shares:
        """Return how to share out the next people among the arms, for those who assign them
        elsewhere and `record` what came of it.

        The shares are what this session would give `ask(people)`, as if outcomes that are awaited
        confirmed what is known. Ask for the shares of the next batch only: better arms get more
        once a batch was recorded. Nothing is asked or changed, and it costs no privacy.

        Args:
            people: how many are to be assigned.

        Raises:
            ValueError: this session has to make its decisions itself (see `record`).
            ClosedError: the session is closed, without a winner.
        """
        count = whole_number(people, "people", 1, MOST_OUTCOMES)
        require_recordable(self.policy, self._tables.people, self._holds_answers)
        with OneCall(self, releases=False) as view:
            roster, closing = self._state.roster, self._state.closing
            if closing is None:
                try:
                    given = self._preview_shares(view, count)
                finally:
                    self._rebuild_view()
            elif closing.winner is None:
                raise ClosedError("This session is closed: it assigns nobody any more.")
            else:
                given = {closing.winner: float(count)}
            return shares_of({str(roster.label(arm)): n for arm, n in given.items()}, count)

    def _preview_shares(self, view: View, people: int) -> dict[int, float]:
        """Return of how many of the next people each arm in play is shown to, on average. No coin
        is thrown: nobody may foresee those of decisions, and others would favour some arms.
        """
        arms, drawn = self._state.roster.in_play, self._state.assignment
        given, owed = dict.fromkeys(arms, 0.0), dict.fromkeys(arms, 0.0)
        for _ in range(people):
            if drawn is not None and view.draws(drawn, arms):
                law, event = view.next_random(drawn, self.seed, arms, self._period_now(), owed)
            else:
                event = view.next_ask()
                law = {event.play.counted_as: 1.0}
            for arm, share in law.items():
                given[arm] += share
                owed[arm] += share
            owed[event.play.counted_as] -= 1.0
            view.count_ahead(event)
        return given

    def record(self, arm: str | int, outcomes: Any, *, key: str) -> Literal["recorded", "already"]:
        """Record the outcomes of people who were assigned to an arm elsewhere: by a mail tool or a
        clinic's own randomisation, say. Each counts as a decision that was made and told.

        All of them are recorded, or none. A call that was interrupted is made again with its key:
        the batch counts once. If a release that it completes fails, its error passes through; the
        batch is recorded, and the next call makes the release.

        Guarantee: as for `tell`, provided that each person is one entry, in one batch: who is in
        two of them pays twice. It has to be settled beforehand who is in a batch, not by outcomes.

        Args:
            arm: its name or number.
            outcomes: a list of rewards, one a person; for rewards of 0 and 1 also a tuple (people,
                successes). Their order does not matter: they are shuffled.
            key: another word for each batch, such as "blue, week 3". With a key that was used,
                nothing is recorded, whatever the outcomes are.

        Returns:
            "recorded", or "already" if the batch of this key was recorded before.

        Raises:
            ValueError: no such arm, or it is retired; no outcomes; the key of another batch; or
                this session has to make its decisions itself: with privacy_unit="user", windows,
                the local model, contexts, joint and full-information policies. Nothing was
                recorded.
            RewardError: one of them is no reward. Nothing was recorded.
            ClosedError: the session is closed. Nothing was recorded.
        """
        rewards = list[Any]()
        try:
            digest = checked_batch_key(key)
            rewards += frameless(listed_outcomes, outcomes)
            batch = Batch(digest, self._state.roster.number(arm), len(rewards))
            return self._record(batch.arm, rewards, type(outcomes) is tuple, batch)
        finally:
            del outcomes
            rewards.clear()

    def _record(
        self, arm: int, outcomes: list[Any], counts: bool, batch: Batch | None
    ) -> Literal["recorded", "already"]:
        """Record a batch whose outcomes are a list.

        Args:
            counts: whether they came as numbers of people and successes.
            batch: None where a store knows which batches were recorded.
        """
        require_recordable(self.policy, self._tables.people, self._holds_answers)
        with OneCall(self) as view:
            roster = self._state.roster
            is_retired = roster.status[arm] == "retired"
            if batch is not None:
                for known in view.batches:
                    if known.key == batch.key:
                        # an arm that was restarted since has a new number, under its name
                        left = f"{short(str(roster.label(known.arm)))} ("
                        is_former = is_retired and str(roster.label(arm)).startswith(left)
                        again = batch._replace(arm=known.arm) if is_former else batch
                        require_same_batch(known, again)
                        return "already"
                elsewhere = (each.key for other in self._others for each in other._view.batches)
                if batch.key in elsewhere:
                    require_same_batch(None, batch)
            self._require_open()
            if is_retired:
                raise coded(
                    "arm_retired",
                    ValueError,
                    f"Expected an arm that was not retired; {roster.name(arm)} was, and nothing of "
                    "it is read any more. Nothing was recorded.",
                )
            if counts and (self.rewards is not None or self.guardrail is not None):
                raise RewardError(
                    "Expected outcomes= to be a list of rewards: (people, successes) is for "
                    "rewards of 0 and 1, without rewards= and guardrail=. Nothing was recorded."
                )
            parts = frameless(self._recorded_parts, arm, outcomes, view.asked)
            events = view.recorded(arm, parts, batch)
            view.events.extend(events)  # this is the moment at which it happens
            outcomes.clear()
            del parts, events
            self._catch_up(view)
        return "recorded"

    def _recorded_parts(self, arm: int, outcomes: list[Any], asked: int) -> list[Parts]:
        """Return what a batch adds to its arm's blocks, in an order that says nothing of it."""
        refused, at, vault, parts = None, 0, self._vault, list[Parts]()
        try:
            for at, reward in enumerate(outcomes):  # noqa: B007  # the error says where
                parts.append(vault.parts(arm, vault.on_grid(vault.checked(arm, reward)), arm, None))
        except RewardError as error:
            refused = type(error)(f"Outcome {at} (counted from 0) of {len(outcomes)}: {error}")
        if refused is not None:  # outside the handler, so that it has no context
            raise refused
        if vault.noise.kind == "secure":
            secrets.SystemRandom().shuffle(parts)
            return parts
        order = np.random.default_rng([self.seed, asked, SHUFFLE_STREAM]).permutation(len(parts))
        return [parts[place] for place in order.tolist()]

    # Answers that count once their time has passed

    def _hold_outcome(self, id: int, play: Play, reward: Any) -> None:
        plain = self._vault.checked(play.observe or play.action, reward)
        self._hold_outcomes([(id, play, plain)])

    def _hold_outcomes(self, checked: Sequence[tuple[int, Play, Any]]) -> None:
        """Keep answers until their time has passed; the first answer stays. Nothing else is done,
        not even a release that is due: it would tell that somebody answered.
        """
        held, on_grid = self._tables.held, self._vault.on_grid
        held.update({id: on_grid(plain) for id, _, plain in checked if id not in held})

    def _require_time(self, id: int) -> None:
        window = self._tables.attribution
        if window is not None and window.is_over(id):
            raise DecisionError(
                "This decision's time has passed, and what came until then counts. Nothing was "
                "recorded."
            )

    def _with_due_outcomes(self, view: View) -> View:
        """Record, in the order of asking, every decision whose time has passed: its answer, or the
        default.
        """
        window, periods = self._tables.attribution, self._tables.periods
        if window is None:
            return self._with_ended_period(view)
        window.clock.advance()
        for id in window.due_now():
            if id not in view.pending:  # void since the session was closed
                continue
            if periods is not None:  # it counts in the period in which its decision was made
                view = self._with_ended_period(view, window.due[id])
            view.events.append(frameless(self._due_event, id, view.pending[id]))
            view.catch_up()
            if view.ready is not None or view.counted >= FOLD_AFTER:
                view = self._advance(view)
        return self._with_ended_period(view, window.clock.latest)

    def _due_event(self, id: int, play: Play) -> Event:
        """Return the event of a decision whose time has passed."""
        held = self._tables.held
        steps = held[id] if id in held else self._vault.on_grid(self._default(play))
        # it counts as an answer also where the default does: who answered is private
        return self._event(id, play, steps)

    # Releases

    def _complete(self, view: View) -> None:
        """Make what a recorded reward completed."""
        try:
            self._advance(view)
        except (HorizonError, LedgerError):  # no further call helps
            raise
        except Exception as error:
            with suppress(AttributeError):  # a frozen dataclass takes no note
                error.add_note(
                    "This reward is recorded, and its decision is no longer pending. The error is "
                    "of a release or plan that it completed; the next call makes what is due."
                )
            raise

    def _advance(self, view: View) -> View:
        """Release, update and plan for as long as that is due; fold a long log.

        Each step is one assignment of the log: first the release is stored in `State.unlearned`,
        then the state that the policy learned from it takes its place. Interrupted between the two,
        the next call starts with the second: what was drawn is not drawn again.
        """
        log = view.log
        while view.ready is not None:
            if log.state.unlearned is None:
                try:
                    state = self._released(view)
                except HorizonError:
                    if log.state.closing is None:
                        raise
                    return self._end_at_horizon(view)
                self._log = log = Log(state, log.plan, log.events[view.counted :])
            learned = self._learned(log.state)
            after, rng = opened(self.seed, learned, log.events)
            self._note_release(log.state.unlearned, learned)
            log = after
            view = self._put(log, rng, view)
        return self._fold_if_long(view)

    # Periods

    def _period_now(self) -> int | None:
        """Return the number of the period in which decisions are made now; None without periods."""
        periods, window = self._tables.periods, self._tables.attribution
        if periods is None:
            return None
        return periods.number((window or periods).clock.latest)

    def _period_is_over(self, time: float | None = None) -> bool:
        """Return whether the open period's blocks are to be closed.

        Args:
            time: by default now.
        """
        periods, period = self._tables.periods, self._state.period
        if periods is None or period is None:
            return False
        closing = self._state.closing
        if closing is not None and closing.releases is not None:
            return False
        return (periods.clock.advance() if time is None else time) >= periods.closes_at(
            period.number
        )

    def _with_ended_period(self, view: View, time: float | None = None) -> View:
        """Release all open blocks, each once, if their period is over, and begin the next one.
        Empty blocks are not read. The policy learns from it as from a short block.

        The released blocks and the next period are put in place by one assignment. When a period
        ends depends on the time alone.

        Args:
            time: up to which outcomes were recorded; by default now.
        """
        periods = self._tables.periods
        if periods is None or view.ready is not None or not self._period_is_over(time):
            return view
        state = view.folded()
        assert state.period is not None
        number = periods.after(state.period.number, periods.clock.latest if time is None else time)
        read = tuple(sorted(state.books.blocks))
        ended = state.period.ended(state.roster.kept)
        if read:
            books, release = self._read(state, read, self._vault.release, state.books, read)
            unlearned = UnlearnedRelease(release, view.log.plan, None, ended)
            after = replaced(state, books=books, unlearned=unlearned)
        else:
            nothing = Release((), (), state.records, ())
            after = replaced(state, history=state.history.after(nothing, compared(state), ended))
        after = replaced(after, period=state.period.next(number))
        log = Log(after, view.log.plan, view.events[view.counted :])
        return self._advance(self._put(log, view.rng, view))

    def _note_release(self, released: UnlearnedRelease | None, learned: State) -> None:
        """Write a release into a store's journal, once: the call may have been cut off after it."""
        journal = self._tables.journal
        if journal is None or released is None:
            return
        last = journal[-1] if journal else None
        if not (type(last) is Released and last.step == learned.step):
            left, (release, plan, *_) = learned.books.ledger.left, released
            journal.append(Released(learned.step, release, plan, left, learned.asked))

    def _fold_if_long(self, view: View) -> View:
        """Fold the events into the state if they are many; nothing may be due."""
        if view.counted >= FOLD_AFTER:
            log = Log(view.folded(), view.log.plan, view.events[view.counted :])
            return self._put(log, view.rng, view)
        return view

    def _released(self, view: View) -> State:
        """Return the state with the answer of the release that is due."""
        state, plan, ready, number = view.folded(), view.log.plan, view.ready, None
        assert ready is not None
        vault, drop, read, arms = self._vault, plan.drop, ready, None
        if vault.joint and ready:
            number = ready[0]
            hold = state.plans[number].hold
            plan, arms, drop = hold, hold.release, ()
            read = (number,)
            if not arms:  # a plan that reads nothing
                read, drop = (), (number,) if number in state.books.blocks else ()
        contexts = state.contexts
        shapes = () if contexts is None else contexts.shapes(state, read)
        coordinates, blocks = ready if arms is None else arms, (read, drop, arms, shapes)
        books, release = self._read(state, coordinates, vault.release, state.books, *blocks)
        if contexts is not None:  # the public counts of the same blocks, which close with them
            answers = contexts.answers(state.policy, read, release.answers)
            release, contexts = release._replace(answers=answers), contexts.without(read)
        unlearned = UnlearnedRelease(release, plan, number)
        return replaced(state, books=books, contexts=contexts, unlearned=unlearned)

    def _read(
        self,
        state: State,
        coordinates: tuple[int, ...],
        read: Callable[..., tuple[Books, tuple[Any, ...]]],
        *given: Any,
    ) -> tuple[Books, Release]:
        """Release blocks: the only place where a session draws their noise. An error carries no
        frames of the vault, whose variables hold sums.

        Args:
            coordinates: that the answers are about.
            read: `Vault.release` or `Vault.finish`, with its arguments.
        """
        try:
            books, answers = frameless(read, *given)
        finally:
            del given
        self._require_process()  # the noise source may have forked
        counts, numbers = recorded_by_action(state), self._vault.numbers
        return books, release_of(coordinates, answers, state.records, counts, numbers)

    def _learned(self, state: State) -> State:
        """Return the state after the policy has learned from its answer."""
        assert state.unlearned is not None
        release, plan, number, ended = state.unlearned
        if plan is None:
            empty = self._vault.empty_arms(state.books)
            learned = state.policy.dropped(state.learned, release, empty)
        else:
            learned = state.policy.update(state.learned, plan, release)
        overdue = state.overdue
        if number is not None:
            overdue = overdue.without(number)
        elif not self._vault.joint:
            played = self._log.plan
            in_turn = played.actions if isinstance(played, Cycle) else ()
            overdue = overdue.with_new_blocks((*release.coordinates, *in_turn))
        state = replaced(
            state,
            overdue=overdue,
            learned=learned,
            history=state.history.after(release, compared(state), ended),
            step=state.step + 1,
            unlearned=None,
            step_counts=(),
            plans={key: each for key, each in state.plans.items() if key != number},
        )
        return state if state.harm is None else with_harm(state, release)

    def _dropped(self, state: State, keys: tuple[int, ...], vault: Vault | None = None) -> State:
        """Return the state without these blocks, whose records are never read.

        Args:
            vault: of the state; by default the session's.
        """
        books, _ = (vault or self._vault).release(state.books, (), keys)
        release = Release((), (), state.records, recorded_by_action(state))
        contexts = None if state.contexts is None else state.contexts.without(keys)
        period = None if state.period is None else state.period.incomparable(state.policy.arms)
        unlearned = UnlearnedRelease(release, None)
        return replaced(state, books=books, contexts=contexts, unlearned=unlearned, period=period)

    def _replace_state(self, state: State, plan: Plan | None = None) -> None:
        """Put a new state in place: the moment at which a verb without an event happens.

        Args:
            plan: the plan of its step; None: as before.
        """
        self._advance(self._put(Log(state, plan or self._log.plan, [])))

    def settle(self) -> None:
        """Make what an earlier call's error left due, and record answers whose time has passed.
        Most often there is nothing to do.

        Raises:
            NotRecordedError: it failed again.
        """
        with OneCall(self) as view:
            self._with_codebooks(self._settled(view))

    def _settle_to_show(self) -> None:
        """Record outcomes whose time has passed, before anything is shown. Not during a call, and
        not in a store, which keeps the outcomes.
        """
        window, idle = self._tables.attribution, self._tables.journal is None and not self._calls
        if not idle or PROCESS[0] is not self._process:
            return
        if self._period_is_over() or (window is not None and window.due_now()):
            with suppress(Exception):  # the next call that changes something says why
                self.settle()

    # Closing

    def close(self, why: str = "", *, winner: str | int | None = None, read: bool = True) -> None:
        """End the session: no further decision is made from its plan, and the last answers count.

        Blocks that are open are released once, at no privacy cost: a record is in one of them, and
        it is its first and only reading. Estimates know of these releases; the policy does not.
        Answers that nobody gave yet are void: they are accepted, and dropped. With an attribution
        window they are waited for; the last release is then made by the first call after the last
        of them is due (`settle`, say). Blocks of mechanisms that say nothing of means, and of trees
        that are full, are dropped unread.

        A call that was interrupted, or made again, closes once.

        Args:
            why: public, such as "blue is better".
            winner: the arm that further decisions show, with `learn=False`. By default there are no
                further decisions.
            read: False to drop open blocks unread.

        Raises:
            ValueError: the winner is none of the arms or was retired, or the policy plays no single
                arms; or the session was closed otherwise. Nothing was changed.
        """
        why = checked_why(why)
        if not isinstance(read, bool):
            raise TypeError(f"Expected read={shown(read)} to be True or False.")
        with OneCall(self, releases=False) as view:
            arm = self._require_closable(winner, read)
            if self._state.closing is not None:
                self._settled(self._advance(view))
                return
            try:
                state = self._settled(self._advance(view)).folded()
                waits = self._holds_answers and bool(state.pending)
            except HorizonError:  # nothing is learned any more
                if self._state.unlearned is not None:  # a policy's own error
                    raise
                state, waits = self._refresh_view(releases=False).folded_with_all_events(), False
            closing = Closing(why, arm, read, state.asked)
            state = replaced(state, closing=closing, offer=state.offer._replace(last=0))
            if not waits:
                state = self._with_last_releases(state)
            self._end(self._put(Log(without_open_answers(state), self._log.plan, [])))

    @property
    def closed(self) -> Closing | None:
        """Why and how the session was closed; None while it is open."""
        return self._state.closing

    @property
    def closes_at(self) -> float | None:
        """Until when a session that was closed waits for answers, in its clock's seconds; None if
        it is open, or waits for none.
        """
        closing, window = self._state.closing, self._tables.attribution
        if closing is None or closing.is_done or window is None:
            return None
        pending = self._current.unresolved()
        return max((due for id, due in window.due.items() if id in pending), default=None)

    def _require_closable(self, winner: object, read: bool) -> int | None:
        """Return the number of the arm that is to win.

        Raises:
            ValueError: the session cannot be closed so.
        """
        roster, closing = self._state.roster, self._state.closing
        if winner is not None and self.policy.about.feedback != "bandit":
            raise coded(
                "arms_fixed",
                ValueError,
                f"Expected no winner=: {self.policy.name} plays no single arms. Nothing was "
                "changed.",
            )
        arm = None if winner is None else roster.number(winner)
        if arm is not None and roster.status[arm] == "retired":
            raise coded(
                "arm_retired",
                ValueError,
                f"Expected winner= to be an arm that was not retired; {roster.name(arm)} was. "
                "Nothing was changed.",
            )
        if closing is not None:
            require_same(closing, arm, read)
        return arm

    def _require_open(self) -> None:
        if self._state.closing is not None:
            raise ClosedError("This session is closed: its arms stay as they are.")

    def _with_last_releases(self, state: State) -> State:
        """Return the state of a closed session in which nobody is waited for: pending decisions are
        void, and open blocks were released, each once, or dropped.
        """
        vault, books, releases = self._vault, state.books, list[Any]()
        closing, gone = state.closing, len(state.pending)
        assert closing is not None
        # of each block that may be released, the arms of its joint plan, if it is one
        read: dict[int, Any] = dict.fromkeys(books.blocks) if closing.read else {}
        if closing.read and state.policy.reader.together:
            read = {key: plan.release for key, plan in state.plans.items() if plan.release}
        for keys, arms in vault.last_blocks(books, read):
            coordinates = keys if arms is None else arms
            books, release = self._read(state, coordinates, vault.release, books, keys, (), arms)
            releases.append((release, books.ledger.left))
        books, _ = vault.release(books, (), tuple(books.blocks))
        void = (*closing.void, *id_runs(state.pending))
        return replaced(
            state,
            books=books,
            closing=closing._replace(releases=tuple(releases), void=void),
            pending={},
            unread=state.unread + gone,
            void=state.void + gone,
            step_counts=(),
            plans={},
            overdue=state.overdue._replace(blocks={}),
        )

    def _settled(self, view: View) -> View:
        """Record outcomes whose time has passed; end a session that was closed, once it waits for
        none.
        """
        return self._end(self._with_due_outcomes(view))

    def _end(self, view: View) -> View:
        """Finish a close that an earlier call began: when no decision is pending, make the last
        releases and note them.
        """
        closing = view.log.state.closing
        if closing is None or closing.is_done:
            return view
        if closing.releases is None:
            if any(id <= closing.asked for id in view.pending):
                return view
            state = self._with_last_releases(view.folded())
            view = self._put(Log(state, view.log.plan, view.events[view.counted :]))
        after = self._note_last_releases(view.folded())
        return self._put(Log(after, view.log.plan, view.events[view.counted :]))

    def _end_at_horizon(self, view: View) -> View:
        """End a closed session whose mechanism is full: no answer is waited for any more."""
        state = view.folded_with_all_events()
        if state.closing is not None and state.closing.releases is None:
            state = self._with_last_releases(state)
        return self._end(self._put(Log(state, view.log.plan, [])))

    def _note_last_releases(self, state: State) -> State:
        """Note the last releases for a store, and return the state that knows them."""
        tables, closing, number = self._tables, state.closing, state.step
        assert closing is not None
        assert closing.releases is not None
        void = [id for first, many in closing.void for id in range(first, first + many)]
        before = state.asked + state.records + state.unread - len(void)
        for at, id in enumerate(void, before + 1):
            tables.follow_resolved(Unread(id, NO_PLAY, "void"), at)
        journal = tables.journal
        noted = {each.step for each in journal or () if type(each) is Released}
        for release, left in closing.releases:
            number += 1
            if journal is not None and number not in noted:
                journal.append(Released(number, release, None, left, state.asked))
            ended = state.period and state.period.ended(state.roster.kept)
            history = state.history.after(release, compared(state), ended)
            state = replaced(state, history=history, step=number)
            if state.harm is not None:
                state = with_harm(state, release, suspends=False)
        return replaced(state, closing=closing._replace(is_done=True, releases=()))

    def drop_open(self) -> None:
        """Throw away, unread, all rewards recorded since the last releases, and begin the plan
        anew. Pending decisions still take their rewards.
        """
        with OneCall(self) as view:
            self._drop_all(self._with_due_outcomes(view).folded())

    def _drop_all(self, state: State) -> None:
        state = replaced(state, events=(*state.events, SessionEvent("drop", None, state.asked)))
        self._replace_state(self._dropped(state, tuple(state.books.blocks)))

    def finish(self) -> None:
        """Have a stopping rule that has not halted give its answer now: no more rewards come, and
        their number is public. Rewards told afterwards are never read.

        Raises:
            TypeError: the policy plays on for ever.
            ValueError: no reward was ever recorded. Nothing was released.
        """
        if self.policy.about.goal != "estimate":
            raise coded(
                "no_stopping_rule",
                TypeError,
                f"Expected a stopping rule, which may finish; {self.policy.name} plays on for as "
                "long as decisions are requested. To end a "
                "session, close it: close(why).",
            )
        with OneCall(self) as view:
            self._require_open()
            plan = view.log.plan
            if not (isinstance(plan, Hold) and plan.release):
                return
            state = view.folded()
            every = tuple(range(self.policy.arms))
            books, release = self._read(state, every, self._vault.finish, state.books)
            self._replace_state(
                replaced(state, books=books, unlearned=UnlearnedRelease(release, plan))
            )

    # Arms

    def add_arm(self, label: str | None = None) -> int:
        """Add an arm, from the next decision on; its first batch comes first. Returns its number.

        Args:
            label: its name, where arms have names; never one that was used before.

        Raises:
            ValueError: a name that is taken, or missing; or the policy's constants depend on the
                number of arms, or it plays something else than arms. Nothing was changed.
        """
        with OneCall(self) as view:
            self._require_open()
            state = self._with_due_outcomes(view).folded()
            roster = self._with_new_arm(label)
            arms = len(roster.status)
            if self._tables.periods is not None:
                require_few(arms)
            state, vault = self._with_one_more(state, roster)
            name = str(roster.label(arms - 1))
            state = replaced(
                state,
                history=state.history.with_arm(name),
                harm=state.harm and state.harm.with_arm(name),
                contexts=None if state.contexts is None else state.contexts.widened(arms),
                events=(*state.events, SessionEvent("add", label or arms - 1, state.asked)),
                step=state.step + 1,  # its public draws are not those that were made already
                rng=None,
            )
            self._begin_step(state, vault)
            return arms - 1

    def _with_new_arm(self, label: str | None) -> Roster:
        """Return the roster with an arm of this name more.

        Raises:
            ValueError: it cannot be added.
        """
        require_choice(self.policy, "add_arm")
        return self._state.roster.with_arm(label)

    def _with_one_more(self, state: State, roster: Roster) -> tuple[State, Vault]:
        """Return the state with this roster, which has an arm more, and its vault.

        Raises:
            ValueError: the session takes no arm more.
        """
        arms = len(roster.status)
        if state.assignment is not None:
            state.assignment.require_room(len(roster.kept))
        policy = state.policy.with_arms(tuple(roster.labels) or arms)
        vault = self._vault_for(policy, self._vault.noise)
        learned, books = state.policy.widened(state.learned, arms), vault.widened(state.books, arms)
        return replaced(state, policy=policy, learned=learned, books=books, roster=roster), vault

    def retire_arm(self, arm: str | int) -> None:
        """Never play an arm again. Rewards recorded since its last release are thrown away unread,
        and so are late ones. For names it is as a paused one (see `pause_arm`).

        Args:
            arm: its name or number.

        Raises:
            ValueError: no such arm, or none would be left; or the policy cannot choose among some
                of its arms.
        """
        self._set_status(arm, "retire")

    def pause_arm(self, arm: str | int) -> None:
        """Play an arm no more until `resume_arm`. Late rewards of it still count. To name the best
        of the others takes more evidence then, unless the named one is known to be above this arm.

        Args:
            arm: its name or number.

        Raises:
            ValueError: as `retire_arm`.
        """
        self._set_status(arm, "pause")

    def resume_arm(self, arm: str | int) -> None:
        """Play a paused arm again. A guardrail that suspended it forgets nothing, and does so again
        at its next release, unless its mean harm has fallen since.

        Args:
            arm: its name or number.

        Raises:
            ValueError: as `retire_arm`, or it is retired.
        """
        self._set_status(arm, "resume")

    def restart_arm(self, arm: str | int) -> int:
        """Forget what was released of an arm whose mean has changed, and learn it anew: no privacy
        cost. Returns the arm's new number.

        The arm goes on under its name and a new number, paused where it was (in a segment, say,
        whose guardrail suspended it). What was learned before is kept as a retired arm with a
        number after its name, such as "blue (1)"; rewards of its open block and late ones are
        thrown away unread. For confidences it counts as one arm more, or restarts would be free
        second tries.

        Args:
            arm: its name or number.

        Raises:
            ValueError: the arm is not in `beliefs().changed`, or no arm can be added (see
                `add_arm`). Nothing was changed.
            TypeError: the policy decides by context, so an arm has no one mean.
        """
        require_restart([self], arm)
        return self._restart(arm)

    def _restart(self, arm: str | int) -> int:
        with OneCall(self) as view:
            self._require_open()
            state = self._with_due_outcomes(view).folded()
            number = state.roster.number(arm)
            roster = state.roster.restarted(number)
            arms, name = len(roster.status), self._name(number)
            state, vault = self._with_one_more(state, roster)
            kept, label = str(roster.label(number)), str(roster.label(arms - 1))
            harm = state.harm and state.harm.restarted(number, kept, label)
            state = replaced(
                state,
                history=state.history.restarted(number, kept, label),
                harm=harm,
                assignment=state.assignment and state.assignment.moved(number, arms - 1),
                batches=tuple(
                    batch._replace(arm=arms - 1) if roster.labels and batch.arm == number else batch
                    for batch in state.batches
                ),
                events=(*state.events, SessionEvent("restart", name, state.asked)),
                offer=state.offer._replace(last=0),
            )
            state = self._without_learning(state, number)
            if number in state.books.blocks:
                state = self._dropped(state, (number,), vault)
                self._log, self._vault = Log(state, self._log.plan, []), vault
                self._advance(self._rebuild_view())
            else:
                self._begin_step(state, vault)
            return arms - 1

    def _set_status(self, arm: str | int, what: ArmChange) -> None:
        with OneCall(self) as view:
            self._require_open()
            state = self._with_due_outcomes(view).folded()
            number, roster = self._with_status(arm, what)
            if roster != state.roster:
                event = SessionEvent(what, roster.label(number), state.asked)
                state = replaced(state, roster=roster, events=(*state.events, event))
            state = replaced(state, offer=state.offer._replace(last=0))  # the next ask looks again
            if what == "retire":
                state = self._without_learning(state, number)
                if number in state.books.blocks:
                    state = self._dropped(state, (number,))
            # batches are as long as they have to be among the arms that are in play now
            log, _ = opened(self.seed, state, [], first=False)
            self._replace_state(state, log.plan)

    def _without_learning(self, state: State, arm: int) -> State:
        """Return the state in which nobody learns from an arm's pending decisions."""
        pending = {
            id: replaced(play, learn=False) if play.learn and play.action == arm else play
            for id, play in state.pending.items()
        }
        if self._tables.journal is not None:
            gone = (id for id, play in pending.items() if play is not state.pending[id])
            self._tables.journal.append(StoppedLearning(tuple(gone)))
        return replaced(state, pending=pending)

    def _with_status(self, arm: str | int, what: ArmChange) -> tuple[int, Roster]:
        """Return the arm's number, and the roster after the change.

        Raises:
            ValueError: it cannot.
        """
        require_choice(self.policy, f"{what}_arm")
        number = self._state.roster.number(arm)
        roster = self._state.roster.with_status(number, STATUS_AFTER[what])
        if roster.active == ():
            raise coded(
                "last_arm",
                ValueError,
                f"Expected an arm to be left in play; {roster.name(number)} is the last one. "
                "Add or resume another one first.",
            )
        return number, roster

    # What is known, all of it public

    @property
    def policy(self) -> Policy:
        """The policy at work."""
        return self._state.policy

    @property
    def _hides_answers(self) -> bool:
        """Whether it is protected, too, that somebody answered. In the local model people send
        their reports, so the server knows, against which they are protected.
        """
        is_central = self._vault.guarantee is not None and self._vault.randomizer is None
        return self._holds_answers and is_central

    @property
    def guarantee(self) -> Guarantee | None:
        """What all decisions together promise; None for a policy without privacy."""
        guarantee, people = self._vault.guarantee, self._tables.people
        if guarantee is None:
            return None
        guarantee = replace(guarantee, noise=self._vault.noise.kind)
        if self._hides_answers:
            public: tuple[str, ...] = ("decisions", "number and time of asks")
            if self._contextual:
                public = (*public, "contexts")
            guarantee = replace(guarantee, public=public)
        if self._current.elsewhere:
            guarantee = replace(guarantee, duty=ONE_ENTRY)
        return guarantee if people is None else per_user(guarantee, people)

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """What was read, at what cost; `dpbandits.spent(session.ledger)` is its exact total."""
        self._settle_to_show()
        return self._vault.entries(self._state.books.ledger)

    @property
    def spent(self) -> Fraction | None:
        """The exact privacy cost to the record charged most; None if anything was read without
        noise.
        """
        return spent_of(self.ledger)

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions that wait for their rewards, oldest first."""
        pending = self._current.unresolved()
        return tuple(play.decision(id, self.campaign) for id, play in pending.items())

    @property
    def resolved(self) -> int:
        """Decisions that were told, expired or void."""
        return self._current.asked - len(self._current.unresolved())

    @property
    def unread(self) -> int:
        """Decisions resolved without a record: void ones, those of retired arms, and those with
        `learn=False`. A late record of a closed joint block is not among them: it is recorded and
        never released.
        """
        return self._current.unread

    @property
    def arms(self) -> tuple[tuple[ArmLabel | int, ArmStatus], ...]:
        """Every arm there ever was, and where it stands: active, paused or retired."""
        roster = self._state.roster
        names = roster.labels or range(len(roster.status))
        return tuple(zip(names, roster.status, strict=True))

    @property
    def attribution_window(self) -> float | None:
        """For how many seconds an answer is waited for; None if it counts as it comes."""
        window = self._tables.attribution
        return None if window is None else window.seconds

    @property
    def period(self) -> float | None:
        """For how many seconds shares stand still; None without periods."""
        periods = self._tables.periods
        return None if periods is None else periods.seconds

    @property
    def events(self) -> tuple[SessionEvent, ...]:
        """What was done to the session besides asking and telling, in order."""
        noticed = self._current.overdue.noticed
        overdue = [SessionEvent("overdue", self._name(arm), at) for arm, at in noticed]
        alarms = sorted([*self._guardrail_alarms(), *overdue], key=lambda event: event.asked)
        return merged_events(self._state.events, alarms)

    @property
    def alarms(self) -> tuple[SessionEvent, ...]:
        """What somebody should look at: arms that passed the guardrail ("suspend", or "alarm" if
        the arm is the last one in play), in order; arms whose first batch waits for requests that
        are overdue ("overdue"), for as long as it does; and that nobody answers ("silent"), once
        100 decisions without an answer expired or waited for longer than usual. With an attribution
        window who answered is private, and "silent" is never raised. That the clock is behind what
        it said before, by more than a minute ("clock"). Of a campaign: that its database was
        restored, and it learns from nobody any more ("restored").

        A request is overdue that has waited for several times as long as answers usually take.
        Others are asked for in its place, and its answer still counts if it comes.
        """
        return self._alarms(lambda id: f"decision {id:,}")

    def _alarms(self, when: Callable[[int], str]) -> tuple[SessionEvent, ...]:
        """
        Args:
            when: returns when a decision was made, in words.
        """
        view, waits = self._current, list[SessionEvent]()
        noticed = dict(view.overdue.noticed)
        for arm, missing, since in view.delayed():
            name, at = self._name(arm), noticed.get(arm, view.asked)
            advice = overdue_advice(name, missing, when(since))
            waits.append(SessionEvent("overdue", name, at, advice))
        if view.is_silent and self._state.closing is None:
            since = view.asked - view.asked_at_answer
            first = when(view.asked_at_answer + 1) if since else "the newest decision"
            advice = unanswered_advice(since, view.expired_since, first)
            waits.append(SessionEvent("silent", None, view.asked, advice))
        people = self._tables.people
        if people is not None and people.has_ended and self._state.closing is None:
            waits.append(SessionEvent("restored", None, view.asked, NOT_LEARNED))
        behind = self._clock_behind()
        if behind > MOST_BEHIND:
            waits.append(SessionEvent("clock", None, view.asked, clock_advice(behind)))
        return (*self._guardrail_alarms(), *waits)

    def _clock_behind(self) -> float:
        """Return by how many seconds the clock is behind what it said, where anything is timed."""
        tables, closing = self._tables, self._state.closing
        if closing is not None and closing.is_done:
            return 0.0
        clocks = (each and each.clock for each in (tables.periods, tables.people))
        timed = tables.attribution, *clocks
        return max((each.behind() for each in timed if each is not None), default=0.0)

    def _guardrail_alarms(self) -> list[SessionEvent]:
        """Arms that passed the guardrail."""
        harm = self._state.harm
        return [
            SessionEvent("suspend" if suspended else "alarm", self._name(arm), at)
            for arm, at, suspended in (() if harm is None else harm.alarms)
        ]

    def _name(self, arm: int) -> str | int:
        return self._state.roster.label(arm)

    @property
    def state(self) -> Any:
        """The policy's state."""
        return self._state.learned

    @property
    def plan(self) -> Hold | Any:
        """What is played until the next release: a `Hold`, or a `Cycle` or `Draw`."""
        return self._log.plan

    @property
    def releases(self) -> int:
        """Coordinates released so far."""
        return self._state.books.ledger.releases

    def beliefs(self, confidence: float = 0.95) -> Beliefs:
        """Return estimates and intervals of every arm, from released values only: no privacy cost.

        Args:
            confidence: that all intervals of all arms hold, at all times at once.

        Raises:
            ValueError: a confidence that is not between 0 and 1.
            TypeError: the policy decides by context, so an arm has no one mean.
        """
        require_one_mean(self.policy)
        self._settle_to_show()
        state = self._state
        drawn = state.assignment
        least = None if drawn is None else drawn.least_of_all(state.roster.in_play)
        estimates = beliefs(
            state.history,
            confidence,
            ruler=self.rewards,
            among=compared(state),
            together=self.policy.about.feedback == "semi",
            allocation=Allocation(least, self._sight, self._named_by_policy),
        )
        estimates, people = self._cautioned(estimates), self._tables.people
        if state.closing is None and (people is None or not people.has_ended):
            return estimates
        return replace(estimates, more=None, at_share=None, sight=None, is_over=True)

    def _cautioned(self, found: Estimates) -> Estimates:
        """Say beside estimates what people who come back mean for them."""
        people = self._tables.people
        if people is None or people.caution is None:
            return found
        return replace(found, caution=" ".join(filter(None, (found.caution, people.caution))))

    def lift(self, control: str | int | None = None, confidence: float = 0.95) -> Lift:
        """Return by how much the mean of every other arm differs from the control arm's, and their
        ratio, with intervals: from released values only, so it has no privacy cost. With periods
        none is known: arms are seen at different times, and a mean is about all of them.

        Args:
            control: the name or number of the arm that others are compared with; by default the
                only one that `min_share` names, else the first one that is not retired; one that
                was restarted stays in its place.
            confidence: that all intervals hold, of all arms and at all times at once. They come
                from the arms' own (`beliefs`), so `beliefs().best` may name an arm before.

        Raises:
            ValueError: no such arm, or a confidence that is not between 0 and 1.
            TypeError: the policy decides by context.
        """
        drawn, roster = self._state.assignment, self._state.roster
        named = () if drawn is None else drawn.shares
        usual = named[0][0] if len(named) == 1 else first_kept(roster, self._state.events)
        number = roster.number(usual if control is None else control)
        return lift_of(self.beliefs(confidence), number, self.rewards)

    def predictions(self, confidence: float = 0.95, *, always: bool = False) -> Predictions:
        """Return estimates by context, from released values only: no privacy cost.

        Args:
            confidence: of each interval.
            always: whether intervals hold for all contexts and arms at all times at once (see
                `Predictions`).

        Raises:
            ValueError: a confidence that is not between 0 and 1.
            TypeError: the policy decides without contexts.
        """
        policy = self.policy
        if not isinstance(policy, ContextualPolicy):
            raise TypeError(
                f"Expected a policy that decides by contexts; `beliefs()` has the means of "
                f"{policy.name}'s arms."
            )
        self._settle_to_show()
        learned, labels = self._state.learned, self._state.roster.labels
        found = Predictions.of(
            policy, learned, confidence, always=always, units=self.rewards, labels=labels
        )
        return self._cautioned(found)

    def _named_by_policy(self, delta: float) -> tuple[bool, int | None]:
        """Return whether the policy names the best arm itself, wrongly with no larger probability;
        and the arm, once it has.
        """
        policy = self.policy
        if not isinstance(policy, Identifier) or policy.delta > delta * (1.0 + 1e-9):
            return False, None
        best = policy.best_arm(self._state.learned)
        return True, None if best is None else best.arm

    def _sight(self, delta: float, share: float | None) -> Sight | None:
        """Return how many more people the policy takes to name the best arm (see `people_ahead`):
        computed once for each release, less those whose rewards were recorded since.

        Args:
            share: each arm's least share; None: those that they have.
        """
        state = self._state
        if state.roster.active is not None or state.closing or state.period is not None:
            return None  # what it plays of some arms alone is not foreseen
        drawn = state.assignment if share is None else Assignment(False, share)
        if drawn is not None and not drawn.has_least:
            drawn = None
        key = state.step, state.policy.arms, delta, share
        if key not in self._sights:
            if any(known[0] != state.step for known in self._sights):
                self._sights.clear()
            at = state.policy, state.learned, state.step, self.seed, state.history
            try:
                sight = people_ahead(*at, state.roster.in_play, delta, drawn)
            except Exception:  # a user-defined policy; or one at its horizon
                sight = None
            self._sights[key] = sight
        known = self._sights[key]
        return None if known is None else known.after(sum(self._current.step_counts.values()))

    def harm(self) -> Beliefs:
        """Return estimates of every arm's harm, at the guardrail's confidence: no privacy cost.
        `advice` says which arms are above the limit; nobody is named the best.

        Raises:
            ValueError: this session has no guardrail.
        """
        self._settle_to_show()
        harm = self._state.harm
        if harm is None:
            raise ValueError(
                "Expected a session with guardrail=dpbandits.Guardrail('refunds', limit=.02), say; "
                "this one knows of no harm."
            )
        found = beliefs(harm.history, harm.rail.confidence, together=True)
        return self._cautioned(replace(found, together=False, limit=harm.rail.limit))

    def decisions(self) -> DecisionTable:
        """Return every decision with the probability it had. Rewards are not kept.

        A decision that follows from a plan has probability 1. Use `min_share=` or
        `assignment="shuffled"` where effects are to be estimated by weighting. The probability of
        an arm that is drawn from a posterior (LazyDPTS) is not known: None. With `sticky=` a visit
        that follows from an earlier one has probability 1, too: weigh a person's visits by their
        first one's.
        """
        view, chosen = self._current, self._tables.chosen
        assert chosen is not None
        waiting, labels = frozenset(view.unresolved()), self._state.roster.labels
        return DecisionTable(view.asked, chosen, waiting, labels)

    def sample_ratio(self) -> SampleRatio:
        """Test whether arms were drawn as often as their probabilities say, and whether answers
        come for every arm alike.

        Decisions that follow from a plan are not tested. Answers are compared where arms were drawn
        by chance, in stretches of consecutive decisions with the same probabilities, up to the
        oldest decision that waits. With least shares one that waits for three times the usual delay
        (200 decisions at least) counts as not answered, whatever comes later. A change of answering
        that is common to all arms is no evidence. With an attribution window who answered is
        private, and not tested. Small evidence, below .001 say, points to decisions that got lost
        or were made up, or to an arm whose answers get lost or come much later.

        Source: Lindon and Malek 2022 (arXiv 2011.03567); Shafer et al. 2011 (arXiv 0912.4269).
        """
        labels, view = tuple(str(name) for name, _ in self.arms), self._current
        traffic = view.traffic.with_arms(len(labels))  # some were added since the last draw
        answers = None
        if not self._holds_answers:
            oldest = traffic.answers.oldest(view.unresolved())
            answers = traffic.answers.answers(len(labels))._replace(open=oldest)
        return SampleRatio(labels, traffic, answers)

    def description(self) -> str:
        """Return, in the local model, what users' devices need to know before they answer, as JSON
        (`dpbandits.local.client.Client`).

        Raises:
            TypeError: this policy's users send their rewards as they are.
        """
        if self._vault.randomizer is None:
            raise coded(
                "no_description",
                TypeError,
                f"Expected a policy that is private in the local model; {self.policy.name} has "
                "no randomizer.",
            )
        return randomizer_to_json(self._vault.randomizer, self.campaign)

    def statement(self) -> str:
        """Return the privacy statement of this session, to print."""
        self._settle_to_show()
        people, where = self._tables.people, ", over all segments" if self._others else ""
        return statement(self, None if people is None else people.people, where=where)

    def participant_text(self) -> str:
        """Return one page for participants, in plain words, to print."""
        self._settle_to_show()
        return participant_text(self)

    # Saving

    def to_json(self, *, key: bytes | None = None, unsealed: bool = False) -> str:
        """Return the whole session as a JSON document in two parts.

        "public" may be shown to anyone. "private" holds open sums, mechanism memory and, where arms
        are assigned by chance, the seed: keep it as you keep the rewards. Continue once only, from
        the newest copy (the one with the largest "generation"): then every release is noised once.
        Each further continuation of one copy costs the people in its open blocks (with a tree: all
        its people) another ε.

        Args:
            key: a secret of at least 16 bytes. The private part is then encrypted, the document
                carries a MAC, and it is loaded with the same key only. Without a key a checksum
                finds accidents, not intent.
            unsealed: True to save without a key though outcomes of single people stand in the
                document (`attribution_window=`), or which arm each person keeps (`sticky=`), or
                though the session had a key before.

        Raises:
            ValueError: it needs a key. Nothing was saved.
            NotRecordedError: a release or plan that is due failed. Nothing was saved.
        """
        with OneCall(self, releases=False) as view:
            self._require_key(key, unsealed)
            try:
                # what is due first: outcomes that an earlier call appended are counted then
                view = self._advance(self._settled(self._advance(view)))
                state = self._with_codebooks(view).folded()
            except (HorizonError, LedgerError):  # nothing is released any more: saved as it stands
                if self._state.unlearned is not None:  # a policy's own error
                    raise
                state = self._refresh_view(releases=False).folded_with_all_events()
            except Exception as error:
                raise NotRecordedError(
                    "A release or plan that is due failed (see the cause above). Nothing was saved."
                ) from error
            text = frameless(saving.written, self, state, self.generation + 1, key)
            self.generation += 1
            self._saved_with_key = self._saved_with_key or key is not None
            return text

    def _require_key(self, key: bytes | None, unsealed: bool) -> None:
        """Refuse to write in clear what single people answered, or what was under a key before."""
        people = self._tables.people
        is_sticky = people is not None and people.kept is not None
        if key is not None or unsealed is True:
            return
        if self._holds_answers:
            why = (
                "the outcomes of single people that this session holds until their time has passed "
                "(attribution_window=) would stand in the document in clear"
            )
        elif is_sticky:
            why = "which arm each person keeps (sticky=) would stand in the document in clear"
        elif self._saved_with_key:
            why = "this session had a key before"
        else:
            return
        raise ValueError(
            "Expected key=secrets.token_bytes(32), a secret that is kept apart from the document: "
            f"{why}. To write it without one all the same say unsealed=True. Nothing was saved."
        )

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        policy: Policy | type[Policy] | None = None,
        noise: Noise | None = None,
        key: bytes | None = None,
        clock: Clock | None = None,
        user_key: bytes | None = None,
    ) -> Session:
        """Continue a saved session: given the same noise, it decides as an uninterrupted one.

        Args:
            text: what `to_json` returned.
            policy: the policy, or its class, if it is user-defined: a document names no code. The
                policy, if its problem is user-defined (a `UserDecisionSet`).
            noise: the source to go on with, of the same kind as before and not weaker; simulated
                noise of the same seed goes on from where it stood. It may be left out with `key`:
                then it is secure noise as before, or the simulated one where it was.
            key: the key it was saved with.
            clock, user_key: as the session was made with.

        Raises:
            ValueError: the text is no such document, was changed, contradicts itself, is of another
                version, was saved with another key, or of another policy; or `noise` is of another
                kind than the saved one, or weaker, or is left out without a key.
        """
        require_clock(clock)
        return saving.read(text, policy, noise, key=key, clock=clock, user_key=user_key)


def tell_pairs(
    sessions: Mapping[str, Session], pairs: list[Pair], session_of: Callable[[Any], Session]
) -> None:
    """Record pairs in the sessions that made their decisions: all of them, or none. The list is
    emptied.

    Args:
        sessions: by campaign; they take one call at a time together.
        session_of: returns the session of a decision.
    """
    first, *others = sessions.values()
    with OneCall(first, releases=not first._holds_answers):
        for session in others:
            session._refresh_view(releases=not session._holds_answers)
        told = frameless(told_events, sessions, pairs, session_of)
        pairs.clear()
        names = tuple(told)
        for name in names:
            sessions[name]._view.events.extend(told.pop(name))  # the moment at which it happens
        for name in names:
            sessions[name]._catch_up(sessions[name]._view)


def told_events(
    sessions: Mapping[str, Session], pairs: list[Pair], session_of: Callable[[Any], Session]
) -> dict[str, list[Event]]:
    """Return the events of pairs by campaign; none where answers are held, which is done here."""
    told = dict[str, list[Event]]()
    for name, own in checked_tells(pairs, session_of).items():
        session = sessions[name]
        if session._holds_answers:
            session._hold_outcomes(own)
        else:
            told[name] = [
                session._event(id, play, session._vault.on_grid(plain)) for id, play, plain in own
            ]
    return told


def checked_tells(
    pairs: Sequence[Pair], session_of: Callable[[Any], Session]
) -> dict[str, list[tuple[int, Play, Any]]]:
    """Read each pair once; one wrong pair refuses them all, and the error says which. Returns them
    by the campaign of the session that made the decision.
    """
    checked = dict[str, dict[int, tuple[int, Play, Any]]]()
    refused, at = None, 0
    try:
        for at, (decision, reward) in enumerate(pairs):  # noqa: B007  # the error says where
            session = session_of(decision)
            view = session._view
            if session._is_dropped(decision, view):
                continue
            id, play = view.find_pending(decision, session.campaign)
            found = checked.setdefault(session.campaign, {})
            if id in found:
                raise already_resolved()
            session._require_time(id)
            found[id] = id, play, session._vault.checked(play.observe or play.action, reward)
    except Exception as error:
        refused = pair_refused(error, pairs, at)
    if refused is not None:  # outside the handler, so that it has no context
        raise refused
    return {campaign: list(found.values()) for campaign, found in checked.items()}


def compared(state: State) -> tuple[int, ...] | None:
    """Return the arms that are compared; None if the policy plays no single arms."""
    return state.roster.in_play if state.policy.about.feedback == "bandit" else None


def without_open_answers(state: State) -> State:
    """Return the state once nobody is waited for any more of the decisions that were made."""
    answers = state.traffic.answers.ended()
    return replaced(state, traffic=replace(state.traffic, answers=answers))


def with_harm(state: State, release: Release, *, suspends: bool = True) -> State:
    """Return the state after a release of harm; arms above the limit are suspended.

    Args:
        suspends: False for an alarm only.
    """
    assert state.harm is not None
    before, roster = state.harm, state.roster
    harm = before.after(release, state.step, roster.in_play, state.asked, suspends=suspends)
    for arm, _, suspended in harm.alarms[len(before.alarms) :]:
        if suspended:
            roster = roster.with_status(arm, "paused")
    return replaced(state, harm=harm, roster=roster)


def may_restart(sessions: Sequence[Session], arm: str | int) -> bool:
    """Return whether an arm may be restarted in all of these sessions: in one of them its mean has
    changed, at the usual confidence.

    Raises:
        ClosedError: a session is closed.
        ValueError: there is no such arm, or none can be added.
        TypeError: a policy decides by context.
    """
    has_changed = False
    for session in sessions:
        state = session._state
        session._require_open()
        require_choice(session.policy, "restart_arm")
        require_one_mean(session.policy)
        number = state.roster.number(arm)
        roster = state.roster.restarted(number)
        if state.assignment is not None:
            state.assignment.require_room(len(roster.kept))
        session.policy.with_arms(tuple(roster.labels) or len(roster.status))
        changed = beliefs(state.history, among=compared(state)).changed
        has_changed = has_changed or state.history.arms[number].label in changed
    return has_changed


def require_restart(sessions: Sequence[Session], arm: str | int) -> None:
    """Raise ValueError unless an arm may be restarted in all of these sessions."""
    if not may_restart(sessions, arm):
        raise ValueError(
            f"Expected an arm whose mean has changed; {shown(arm)} is not in beliefs().changed. "
            "Another try at an arm that has not would make wrong names more likely. Nothing was "
            "changed."
        )
