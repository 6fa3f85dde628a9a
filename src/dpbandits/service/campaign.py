"""A campaign: a policy at work for weeks, the same object from many processes, or from afar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from html import escape
from operator import itemgetter
from typing import Any, Protocol, final, overload
from uuid import UUID

from dpbandits.core.errors import StoreError
from dpbandits.core.inputs import shown
from dpbandits.core.privacy import Guarantee
from dpbandits.forecasting.forecast import ExpectedLoss
from dpbandits.policies.contract import Policy
from dpbandits.service import operations as ops
from dpbandits.service.models import (
    ArmState,
    CampaignEvent,
    DecisionPage,
    LedgerLine,
    Moment,
    Recent,
    StoredRelease,
    Summary,
)
from dpbandits.service.operations import (
    CampaignDecision,
    OperationModel,
    TellStatus,
    checked_caller,
    id_of,
    made,
    required_id,
)
from dpbandits.service.refusals import refusal
from dpbandits.service.transaction import Host
from dpbandits.service.views import VIEWS
from dpbandits.session.beliefs import Beliefs, Uplift
from dpbandits.session.contexts import Predictions
from dpbandits.session.decisions import Eligible, User
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.lift import Lift, Shares
from dpbandits.session.options import one_segment
from dpbandits.session.people import HoldoutRule, Side, hashed_place
from dpbandits.session.state import SessionEvent
from dpbandits.session.storing import is_due
from dpbandits.session.traffic import SampleRatio

OF_PARTS = ops.Ask, ops.ResolvingOperation, ops.RecordOutcomes, ops.Pending
"""Operations that a part of a campaign has, too."""

PAGE_ROWS = 10_000
"""Decisions that are read at a time."""


Then = Callable[[Any], Any] | None
"""What is made of an answer; None: it is left as it is."""


class Calls(Protocol):
    """Runs operations and views: in this process, or on a server."""

    def do(self, op: OperationModel, by: str, then: Then) -> Any: ...

    def view(self, name: str, segment: str | None, params: Mapping[str, Any]) -> Any: ...


@final
class LocalCalls:
    """Runs operations and views on a store's own campaign."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def do(self, op: OperationModel, by: str = "", then: Then = None) -> Any:
        done = self.host.do(op, by)
        if isinstance(op, ops.Erase):
            with suppress(StoreError):  # they are erased, whatever becomes of older pages
                self.host.database.forget()
        return done if then is None else then(done)

    def view(self, name: str, segment: str | None, params: Mapping[str, Any]) -> Any:
        view, host = VIEWS[name], self.host
        if host.settles and host.look(lambda tx: any(is_due(part.session) for part in tx.parts())):
            with suppress(Exception):  # the next call that changes something says why
                host.do(ops.Settle())
        return view.finish(host.look(lambda tx: view.seen(tx, segment, params)))


THE_FIRST = itemgetter(0)
"""What is made of several answers where one was wanted."""


@final
class Campaign:
    """A durable session, with the same verbs. A call returns once what it did is on disk.

    Every call can be made again: a reward that is told twice counts once, and what is requested or
    changed under a `key=`, a word of the caller's, is done once and answered alike. Make a campaign
    with `store.create(name, policy)`, open it with `store[name]`.

    With `segments=` it has a part for each, which learns for itself; with `holdout=` the parts
    "policy" and "holdout". Each record is in one part, so the guarantee is that of one; people are
    counted over all. `campaign["DE"]` is one part: it can be asked and looked at.

    `by=` says who changes the campaign. It is public, in `events` and in the statement. Each caller
    has keys (`key=`) of their own.
    """

    def __init__(self, name: str, calls: Calls, segment: str | None = None) -> None:
        self._whole_name, self._calls, self._segment = name, calls, segment

    def __repr__(self) -> str:
        whole = f"Campaign({self._whole_name!r})"
        return whole if self._segment is None else f"{whole}[{self._segment!r}]"

    def _repr_html_(self) -> str:
        """Return where the campaign stands, for a notebook."""
        try:
            summary, beliefs = self.summary(), self.beliefs()
        except Exception:  # a notebook shows what it can
            return f"<p>{escape(repr(self))}</p>"
        lines = "".join(f"<p>{escape(line)}</p>" for line in str(summary).splitlines())
        return lines + beliefs._repr_html_()

    def __getitem__(self, segment: str) -> Campaign:
        """One part.

        Raises:
            ValueError: there is none of this name.
        """
        host = getattr(self._calls, "host", None)
        if host is not None:
            if host.layout.is_whole:
                raise refusal("no_segments")
            one_segment(host.layout.parts, segment)
        return Campaign(self._whole_name, self._calls, segment)

    @property
    def name(self) -> str:
        """The name that its decisions carry."""
        return self._whole_name if self._segment is None else f"{self._whole_name}/{self._segment}"

    def _segment_of(self, segment: str | None) -> str | None:
        """The segment that a call is for.

        Raises:
            ValueError: this is a segment, and another one was given.
        """
        if self._segment is not None and segment not in (None, self._segment):
            raise ValueError(
                f"Expected no segment= of the segment {self._segment!r}, got {shown(segment)}. "
                "Call the whole campaign. Nothing was done."
            )
        return segment if self._segment is None else self._segment

    # Operations

    def do(self, op: OperationModel, by: str | None = None) -> Any:
        """Run an operation, and return its answer. All other methods that change something are
        shorthand for this one.

        Args:
            op: one of `dpbandits.service.operations.OPERATIONS`, with its fields.
            by: who calls; keys of calls are each caller's own.
        """
        return self._do(op, by)

    def _do(self, op: OperationModel, by: str | None = None, then: Then = None) -> Any:
        if self._segment is not None and not isinstance(op, OF_PARTS):
            raise refusal("whole_needed")
        return self._calls.do(op, checked_caller(by), then)

    @overload
    def ask(
        self,
        count: None = None,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
        key: str | None = None,
        context: Any = None,
    ) -> CampaignDecision: ...
    @overload
    def ask(
        self,
        count: int,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
        key: str | None = None,
        context: Any = None,
    ) -> list[CampaignDecision]: ...
    def ask(
        self,
        count: int | None = None,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
        key: str | None = None,
        context: Any = None,
    ) -> CampaignDecision | list[CampaignDecision]:
        """Request the next decision, or a list of `count` of them (see `Session.ask`).

        Args:
            count: number of decisions; None: one, which is returned by itself.
            eligible: the arms that may be played this time, by names or numbers; None: all in play.
            user: who it is for, a text or whole number, where people come back or with a holdout.
            segment: which, of a campaign with `segments=`.
            key: a word of the caller's; the call made again with it gives the same decisions.
            context: what is known of the visitor, for a policy that decides by it; with `count` one
                for each decision (see `Session.ask`).

        Raises:
            RuntimeError: the campaign is over, or too many decisions are pending. None was made.
            ValueError: as `Session.ask`. None was made.
            StoreError: the database is away. Make the call again, with its key.
        """
        op = made(
            ops.Ask,
            count=1 if count is None else count,
            eligible=eligible,
            user=user,
            segment=self._segment_of(segment),
            key=key,
            context=context,
        )
        return self._do(op, None, THE_FIRST if count is None else None)

    def tell(self, decision: CampaignDecision | str | UUID, reward: object) -> TellStatus:
        """Record the reward of a decision (or of its id); returns what became of it.

        Args:
            decision: as `ask` returned it, or its id.
            reward: a number in the declared range, by default [0, 1]; see `Session.tell`.

        Raises:
            RewardError: no number in the declared range. Nothing was recorded.
            TypeError, ValueError: neither a decision nor its id. Nothing was recorded.
        """
        return self._do(ops.told_pairs([(required_id(decision), reward)]), None, THE_FIRST)

    def tell_many(
        self, tells: Iterable[tuple[CampaignDecision | str | UUID, object]]
    ) -> list[TellStatus]:
        """Record several (decision, reward) pairs, in this order; returns what became of each.

        Should a release that they complete fail, for want of noise, say, its error passes through:
        what was recorded until then stands, as does what is of other segments, and the next call
        makes the release. Tell all of them again. In a segment that is past its policy's horizon
        they are "gone".

        Args:
            tells: pairs of a decision, or its id, and a reward.

        Raises:
            RewardError: one of them is no reward. None was recorded.
            TypeError: one of them is no pair, or not of a decision or its id. None was recorded.
        """
        return self._do(ops.told_pairs(tells))

    def tell_message(self, decision: CampaignDecision | str | UUID, message: str) -> TellStatus:
        """In the local model: record a user's answer as their device sent it.

        Args:
            decision: as `ask` returned it, or its id.
            message: JSON, as the device made it.
        """
        return self._do(ops.told_message(decision, message), None, THE_FIRST)

    def record(
        self,
        arm: str | int,
        outcomes: Any,
        *,
        segment: str | None = None,
        by: str | None = None,
        key: str,
    ) -> TellStatus:
        """Record the outcomes of people who were assigned to an arm elsewhere, once for each `key`
        (see `Session.record`); the call made again with it is answered alike. A batch that a
        restored database lost is "gone" when it is recorded again: its outcomes may have been
        released before.

        Args:
            arm: its name or number.
            outcomes: a reward of each person, shape (people,); or (people, successes) for rewards
                of 0 and 1.
            segment: whose people, of a campaign with `segments=`.
            key: another word for each batch.

        Raises:
            RewardError: one of them is no reward. None was recorded.
            ValueError: as `Session.record`; or the campaign has a holdout. None was recorded.
        """
        own = self._segment_of(segment)
        return self._do(ops.recorded_batch(arm, outcomes, own, key), by)

    def expire(self, *decisions: CampaignDecision | str | UUID) -> list[TellStatus]:
        """Nobody answered: the declared default counts (see `Session.expire`). Returns what became
        of each of these decisions, or ids.
        """
        op = ops.Expire.model_construct(decisions=[id_of(each) for each in decisions], key=None)
        return self._do(op)

    def pending(
        self, after: int = 0, limit: int | None = None, *, segment: str | None = None
    ) -> list[CampaignDecision]:
        """Return decisions that wait for their rewards, oldest first: `expire(*trial.pending())`
        says that nobody will answer them.

        Args:
            after: from after this round on.
            limit: how many at most, up to 10,000; None: all of them.
            segment: which, of a campaign with segments; or the side of a holdout.

        Raises:
            ValueError: with an attribution window, decisions are resolved as their time passes.

        Example:
            >>> from dpbandits import DPKLUCB, SimulatedNoise, open_store
            >>> store = open_store("memory:", noise=SimulatedNoise(1))
            >>> trial = store.create("c", DPKLUCB(arms=2, epsilon=1), segments=["DE", "FR"])
            >>> decisions = trial.ask(5, segment="DE")
            >>> [each.round for each in trial.pending(after=2, limit=2, segment="DE")]
            [3, 4]
        """
        own = self._segment_of(segment)
        op = made(ops.Pending, after=after, segment=own, limit=1 if limit is None else limit)
        return self._do(op.model_copy(update={"limit": sys.maxsize}) if limit is None else op)

    def void(self, *decisions: CampaignDecision | str | UUID) -> list[TellStatus]:
        """Decisions, or their ids, that were never carried out (see `Session.void`). Returns what
        became of each.
        """
        op = ops.Void.model_construct(decisions=[id_of(each) for each in decisions], key=None)
        return self._do(op)

    def add_arm(
        self, label: str | None = None, *, by: str | None = None, key: str | None = None
    ) -> int:
        """Add an arm, from the next decision on; returns its number (see `Session.add_arm`).

        Args:
            label: its name, where arms have names.
        """
        return self._do(made(ops.AddArm, arm=label, key=key), by)

    def retire_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Never play an arm again (see `Session.retire_arm`)."""
        return self._do(made(ops.RetireArm, arm=arm, key=key), by)

    def restart_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> int:
        """Forget what was released of an arm whose mean has changed; returns its new number (see
        `Session.restart_arm`).
        """
        return self._do(made(ops.RestartArm, arm=arm, key=key), by)

    def pause_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Play an arm no more until `resume_arm`."""
        return self._do(made(ops.PauseArm, arm=arm, key=key), by)

    def resume_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Play a paused arm again."""
        return self._do(made(ops.ResumeArm, arm=arm, key=key), by)

    def drop_open(self, *, by: str | None = None, key: str | None = None) -> None:
        """Drop, unread, what was recorded since the last releases (see `Session.drop_open`)."""
        return self._do(made(ops.DropOpen, key=key), by)

    def finish(self, *, by: str | None = None, key: str | None = None) -> None:
        """A stopping rule that has not halted gives its answer now (see `Session.finish`)."""
        return self._do(made(ops.Finish, key=key), by)

    def close(
        self,
        why: str,
        *,
        winner: str | int | None = None,
        read: bool = True,
        by: str | None = None,
        key: str | None = None,
    ) -> None:
        """End the campaign for ever: what is open is released once, and answers that nobody gave
        yet are void; with an attribution window they are waited for (see `Session.close`). To let
        go of the database, call `store.close()`.

        Args:
            why: public, such as "winner declared: blue".
            winner: the arm that further decisions show, with `learn=False`, to everybody. By
                default there are no further decisions.
            read: False to drop open blocks unread.

        Raises:
            ValueError: the why is empty, the winner cannot be, or the campaign was closed
                otherwise. Nothing was changed.
        """
        op = made(ops.Close, why=why, winner=winner, read=read, key=key)
        return self._do(op, by)

    def erase(
        self, user: str | int | UUID, *, by: str | None = None, key: str | None = None
    ) -> int:
        """Forget a person: their pending decisions are void, and nobody learns from them any more
        in the window that is open. What was released stays. Returns how many decisions were void.

        Args:
            user: as `ask` was told it.
        """
        return self._do(made(ops.Erase, user=user, key=key), by)

    def settle(self) -> None:
        """Record the answers whose time has passed. A server does it by itself."""
        return self._do(ops.Settle())

    def fence(self) -> None:
        """Give up all that is open, and go on: for a witness that was lost. A database that was
        restored is noticed and fenced by itself.
        """
        self._local("fence").fence()

    # Views

    def _view(self, name: str, **params: Any) -> Any:
        segment = None if name == "uplift" else self._segment
        return self._calls.view(name, segment, params)

    def _local(self, what: str) -> Host:
        host = getattr(self._calls, "host", None)
        if not isinstance(host, Host):
            raise AttributeError(f"{what} is for the store itself, not for a client of its server.")
        return host

    @property
    def uid(self) -> str:
        """Tells this campaign from others that had or will have its name."""
        layout = self._local("uid").layout
        return layout.row.uid if self._segment is None else layout.parts[self._segment].uid

    @property
    def rule(self) -> HoldoutRule | None:
        """Who is on which side, of a campaign with `holdout=`."""
        return self._local("rule").layout.rule

    def side(self, user: str | int | UUID) -> Side:
        """The side that a person is on, of a campaign with `holdout=`. It is public.

        Raises:
            ValueError: this campaign has no holdout.
            TypeError: the user is no text and no whole number.
            RuntimeError: this process only looks, and does not know the people.
        """
        host = self._local("side")
        layout = host.layout
        if layout.rule is None:
            raise refusal("no_holdout")
        host.database.require_writer()
        assert layout.side_key is not None
        return layout.rule.side(hashed_place(user, layout.side_key))

    @property
    def segments(self) -> tuple[str, ...]:
        """The names of its parts; none, where it has one only."""
        return self.summary().segments

    @property
    def guarantee(self) -> Guarantee | None:
        """What every decision of this campaign promises together (see `Session.guarantee`)."""
        return self._view("guarantee")

    @property
    def spent(self) -> Fraction | None:
        """The exact privacy cost to the record charged most (see `Session.spent`)."""
        return self._view("spent")

    @property
    def generation(self) -> int:
        """Fences so far, plus one."""
        return self._view("generation")

    @property
    def policy(self) -> Policy:
        """The policy at work; with segments, as it was at first: each learns for itself."""
        return self._view("policy")

    @property
    def attribution_window(self) -> float | None:
        """For how many seconds an answer is waited for; None: it counts as it comes."""
        return self._view("attribution_window")

    @property
    def guardrail(self) -> Guardrail | None:
        """The second number of each record that is watched; None: there is none."""
        return self._view("guardrail")

    @property
    def options(self) -> dict[str, Any]:
        """How the campaign was made. Public."""
        return self._view("options")

    @property
    def arms(self) -> tuple[ArmState, ...] | Any:
        """Every arm there ever was, and where it stands; by part, where there are some."""
        return self._view("arms")

    @property
    def ledger(self) -> list[LedgerLine] | Any:
        """Every reading, in order, and what lost timelines may have read; by part, where there are
        some.
        """
        return self._view("ledger")

    @property
    def alarms(self) -> tuple[SessionEvent, ...] | Any:
        """What somebody should look at, and what to do (see `Session.alarms`). By part, where there
        are some.
        """
        return self._view("alarms")

    def releases(self, after: int = 0, limit: int = 1_000) -> list[StoredRelease]:
        """Releases, as noised, in order.

        Args:
            after: from after this step on.
            limit: how many at most; over HTTP 10,000.
        """
        return self._view("releases", after=after, limit=limit)

    def decisions(self, after: int = 0, limit: int | None = None) -> DecisionPage:
        """Decisions with their propensities, in order, from after one round on; all of them, or at
        most `limit`. Rewards are not in it: they are not kept. Unlike in a session's, `learn` is
        false of decisions that waited as their arm was retired or restarted.
        """
        if limit is not None:
            return self._view("decisions", after=after, limit=limit)
        rows = tuple(row for page in self._pages(after) for row in page)
        return DecisionPage(decisions=rows, after=None)

    def _pages(self, after: int = 0) -> Iterator[DecisionPage]:
        """All decisions from after one round on, so many at a time as a server sends."""
        next: int | None = after
        while next is not None:
            page = self._view("decisions", after=next, limit=PAGE_ROWS)
            yield page
            next = page.after

    def events(self, limit: int = 100) -> list[CampaignEvent]:
        """What was done besides asking and telling, newest first; `limit` of it at most."""
        return self._view("events", limit=limit)

    def beliefs(self, confidence: float = 0.95) -> Beliefs | Any:
        """The estimates of every arm (see `Session.beliefs`); with parts, `SegmentedBeliefs`.

        Args:
            confidence: that all intervals hold, of all arms (of one part) and at all times at once.
        """
        return self._view("beliefs", confidence=confidence)

    def predictions(self, confidence: float = 0.95, *, always: bool = False) -> Predictions:
        """Estimates by context (see `Session.predictions`).

        Raises:
            TypeError: the policy decides without contexts.
        """
        return self._view("predictions", confidence=confidence, always=always)

    def lift(self, control: str | int | None = None, confidence: float = 0.95) -> Lift | Any:
        """Every other arm against the control arm (see `Session.lift`); with parts, a
        `SegmentedLift`.
        """
        given = {} if control is None else {"control": control}
        return self._view("lift", **given, confidence=confidence)

    def shares(self, people: int = 1_000) -> Shares | Any:
        """How to share out the next people among the arms, for those who assign them elsewhere (see
        `Session.shares`); with segments, by part, for so many people of each.
        """
        return self._view("shares", people=people)

    def harm(self) -> Beliefs | Any:
        """The estimates of every arm's harm (see `Session.harm`).

        Raises:
            ValueError: this campaign has no guardrail.
        """
        return self._view("harm")

    def uplift(self, confidence: float = 0.95) -> Uplift:
        """The policy's people, whatever they got, against holdout people: means of released values,
        with intervals that hold at all times at once. Where rates move with time see `Uplift`.

        Args:
            confidence: that all three intervals hold, at all times at once.

        Raises:
            ValueError: this campaign has no holdout people, or a confidence outside (0, 1).
        """
        return self._view("uplift", confidence=confidence)

    def expected_loss(self) -> ExpectedLoss | None:
        """What people whose outcomes were recorded are expected to have lost to privacy, were the
        arms' means what was released, rewards at the ends of their range, and answers there at once
        (see `ExpectedLoss`). It is simulated, which costs no privacy and takes some seconds, or
        half a minute where many arms have least shares. None where it cannot be said: before every
        arm has a released mean, for super arms, decisions by context and holdout people, and where
        not all were chosen for in the way that is simulated: with periods, a guardrail, which adds
        noise, recorded batches or `eligible=`, once arms have come or gone, and where people keep
        their arm for visits that are learned from, too.

        Raises:
            RuntimeError: another one is being simulated.
        """
        return self._view("expected_loss")

    def history(self) -> tuple[Moment, ...]:
        """The estimates after releases, at most 60 of them, the newest at the end."""
        return self._view("history")

    def recent(self, newest: int = 1_000) -> Recent:
        """How often every arm was shown among the newest decisions.

        Args:
            newest: how many; over HTTP 10,000 at most.
        """
        return self._view("recent", newest=newest)

    def sample_ratio(self) -> SampleRatio | Any:
        """Whether traffic is as planned (see `Session.sample_ratio`); by part, where there are
        some.
        """
        return self._view("sample_ratio")

    def statement(self) -> str:
        """The privacy statement of this campaign, to print."""
        return self._view("statement")

    def participant_text(self) -> str:
        """One page for participants, in plain words, to print."""
        return self._view("participants")

    def description(self) -> str:
        """In the local model: what users' devices need to know (see `Session.description`).
        It stays the same for as long as the campaign runs; with segments, each has its own.

        Raises:
            TypeError: another model. Rewards are told as numbers.
        """
        return self._view("description")

    def summary(self) -> Summary:
        """Where the campaign stands, in a few public numbers."""
        return self._view("summary")
