"""Segments: a session for each group of people that is known beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar, final, overload

from dpbandits.core.errors import DecisionError, MessageError, SharedError
from dpbandits.core.inputs import NAME, checked_name, checked_seed, converted, shown
from dpbandits.core.privacy import Guarantee
from dpbandits.core.tables import Rows, Tabular, in_columns
from dpbandits.local.messages import report_from_json
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.session.arms import ArmChange
from dpbandits.session.beliefs import Beliefs
from dpbandits.session.decisions import (
    Decision,
    DecisionTable,
    Eligible,
    Pair,
    SegmentDecision,
    User,
    checked_pairs,
    read_here,
)
from dpbandits.session.lift import Lift, SegmentLift, Shares
from dpbandits.session.options import (
    checked_segments,
    one_segment,
    require_for_contexts,
)
from dpbandits.session.people import SIDES
from dpbandits.session.saving import SEGMENTED, parsed, sealed, unsealed
from dpbandits.session.session import Session, require_restart, tell_pairs
from dpbandits.session.statement import participant_text, people_words, statement
from dpbandits.vault import frameless

SEGMENTS_VERSION = 2


ReportedTable = TypeVar("ReportedTable", bound=Rows[Any] | DecisionTable)
SegmentRow = TypeVar("SegmentRow", bound=tuple[Any, ...])


class SegmentBelief(NamedTuple):
    """One arm in one segment: see `Belief`."""

    segment: str
    label: str
    people: int
    mean: float | None
    low: float | None
    high: float | None
    chance_best: float | None


def under_names(parts: Mapping[str, object]) -> str:
    """Each part's text under its name: a segment, or a side of a holdout.

    >>> under_names({"policy": "(none)", "holdout": "(one)"})
    'Side policy\\n(none)\\n\\nSide holdout\\n(one)'
    """
    what = "Side" if set(parts) == set(SIDES) else "Segment"
    return "\n\n".join(f"{what} {name}\n{each}" for name, each in parts.items())


@final
@dataclass(frozen=True)
class SegmentedTable(Tabular, Generic[ReportedTable, SegmentRow]):
    """One table for each segment. Iterate over the rows of all of them, or take one by its name.

    parts: the segments' own tables. row: makes a row of a segment's name and its table's row.

    >>> from dpbandits.session.beliefs import Belief
    >>> nothing = Beliefs((Belief("a", 0, None, None, None, None),), 0.95, None, None)
    >>> both = SegmentedTable({"DE": nothing, "FR": nothing}, SegmentBelief)
    >>> [(row.segment, row.label) for row in both], both["FR"] is nothing
    ([('DE', 'a'), ('FR', 'a')], True)
    """

    parts: Mapping[str, ReportedTable]
    row: type[SegmentRow]

    @property
    def segments(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.parts)

    def __iter__(self) -> Iterator[SegmentRow]:
        for name, table in self.parts.items():
            for each in table:
                yield self.row(name, *each)

    def __len__(self) -> int:
        return sum(map(len, self.parts.values()))

    def __getitem__(self, segment: str) -> ReportedTable:
        """One segment's table."""
        if segment not in self.parts:
            raise KeyError(
                f"Expected one of the segments {', '.join(map(repr, self.parts))}, got "
                f"{shown(segment)}."
            )
        return self.parts[segment]

    def __str__(self) -> str:
        return under_names(self.parts)

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self, self.row)


SegmentedBeliefs = SegmentedTable[Beliefs, SegmentBelief]
SegmentedLift = SegmentedTable[Lift, SegmentLift]


ONE_SEGMENT = (
    "Each record is in one segment, so what is promised to it is what its segment's says.\n"
    "The confidence of names and intervals is that of one segment's, not of all together."
)
OVER_ALL = "A user's learned rounds are counted over all segments."

SegmentedDecisions = SegmentedTable[DecisionTable, SegmentDecision]


@final
class SegmentedSession(Mapping[str, Session]):
    """A session for each segment, by its name: groups that are known beforehand, public and fixed.

    Each segment learns for itself; a person counts over all of them. What one segment shows stands
    in its own session, `s["DE"].events` say. A decision says by its `campaign` which segment it is
    of; so decisions are told, not their ids.

    Guarantee: each record is in one segment, so it is that of one session (parallel composition).

    Args:
        policy: any policy; each segment plays its own.
        segments: their names.
        noise, options: what a `Session` takes; they are the same for all segments.

    Raises:
        ValueError: no names of segments, or one twice.

    >>> from dpbandits import DPKLUCB, SimulatedNoise
    >>> policy = DPKLUCB(arms=["blue", "green"], epsilon=1)
    >>> session = SegmentedSession(policy, segments=["DE", "FR"], noise=SimulatedNoise(1))
    >>> decision = session.ask(segment="FR")
    >>> session.tell(decision, 1.0)
    >>> {name: part.resolved for name, part in session.items()}
    {'DE': 0, 'FR': 1}
    """

    def __init__(
        self, policy: Policy, *, segments: Sequence[str], noise: Noise, **options: Any
    ) -> None:
        names = checked_segments(segments)
        require_for_contexts(policy, ["segments"])
        seed, campaign = options.pop("seed", None), options.pop("campaign", None)
        made = dict[str, Session]()
        for place, name in enumerate(names):
            own: dict[str, Any] = {} if seed is None else {"seed": checked_seed(seed) + place}
            made[name] = Session(policy, noise=noise, **own, **options)
        base = made[names[0]].campaign if campaign is None else checked_name(campaign)
        for name, session in made.items():
            session.campaign = segment_campaign(base, name)
        self._open(made)

    def _open(self, sessions: Mapping[str, Session]) -> None:
        first = next(iter(sessions.values()))
        for session in sessions.values():
            # one register for all, and so one call at a time: two might take one place together
            session._tables.people, session._calls = first._tables.people, first._calls
            session._others = tuple(each for each in sessions.values() if each is not session)
        self._parts = dict(sessions)
        self._by_campaign = {each.campaign: each for each in self._parts.values()}

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}: {session!r}" for name, session in self._parts.items())
        return f"SegmentedSession({inner})"

    def __getitem__(self, segment: str) -> Session:
        """The session of one segment.

        Raises:
            ValueError: it was not declared.
        """
        return one_segment(self._parts, segment)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def _first(self) -> Session:
        return next(iter(self._parts.values()))

    @property
    def segments(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._parts)

    @property
    def campaign(self) -> str:
        """The name that decisions carry before their segment's."""
        return self._first.campaign.removesuffix(f"/{self.segments[0]}")

    @property
    def policy(self) -> Policy:
        """The policy at work, as it was at first: each segment's learns for itself."""
        return self._first.policy

    @property
    def guarantee(self) -> Guarantee | None:
        """What is promised: each record is in one segment, so it is that of one."""
        return self._first.guarantee

    @property
    def spent(self) -> Fraction | None:
        """The largest of the segments' totals; None if anything was read without noise."""
        totals = [session.spent for session in self._parts.values()]
        return None if None in totals else max(total for total in totals if total is not None)

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions that wait for their rewards, segment by segment."""
        return tuple(d for session in self._parts.values() for d in session.pending)

    def beliefs(self, confidence: float = 0.95) -> SegmentedBeliefs:
        """What is believed of every arm, by segment (see `Session.beliefs`).

        Args:
            confidence: that all intervals of one segment hold, at all times at once.

        Returns:
            A table with a row for each arm of each segment; `beliefs()["DE"]` is one segment's.
        """
        parts = {name: each.beliefs(confidence) for name, each in self.items()}
        return SegmentedTable(parts, SegmentBelief)

    def lift(self, control: str | int | None = None, confidence: float = 0.95) -> SegmentedLift:
        """Every other arm against the control arm, by segment (see `Session.lift`).

        Args:
            control: its name or number; by default each segment's usual one.
            confidence: that all intervals of one segment hold, at all times at once.
        """
        lifts = {name: each.lift(control, confidence) for name, each in self.items()}
        return SegmentedTable(lifts, SegmentLift)

    def harm(self) -> SegmentedBeliefs:
        """What is believed of every arm's harm, by segment (see `Session.harm`)."""
        return SegmentedTable({name: each.harm() for name, each in self.items()}, SegmentBelief)

    def decisions(self) -> SegmentedDecisions:
        """Every decision with the probability it had, by segment (see `Session.decisions`)."""
        parts = {name: session.decisions() for name, session in self.items()}
        return SegmentedTable(parts, SegmentDecision)

    def statement(self) -> str:
        """The privacy statements of the segments."""
        head, people = [ONE_SEGMENT], self._first._tables.people  # one register for all
        if people is not None and people.people is not None:
            head.append(f"{OVER_ALL} {people_words(people.people, people.in_window)}")
        return "\n\n".join([*head, *(statement(each, None) for each in self._parts.values())])

    def participant_text(self) -> str:
        """One page for participants, in plain words, to print."""
        return participant_text(self._first, self.campaign, None, self, self.values())

    @overload
    def ask(
        self, count: None = None, *, segment: str, eligible: Eligible = None, user: User = None
    ) -> Decision: ...
    @overload
    def ask(
        self, count: int, *, segment: str, eligible: Eligible = None, user: User = None
    ) -> list[Decision]: ...
    def ask(
        self,
        count: int | None = None,
        *,
        segment: str | None = None,
        eligible: Eligible = None,
        user: User = None,
    ) -> Decision | list[Decision]:
        """The next decision of a segment, or a list of `count` of them (see `Session.ask`).

        Args:
            count: number of decisions; None: one, which is returned by itself.
            segment: its name.
            eligible: the arms that may be played this time; None: all in play.
            user: who it is for, where people come back: one person over all segments.

        Raises:
            ValueError: no such segment; or as `Session.ask`. None was made.
        """
        session = self[segment]  # type: ignore[index]  # None is refused with the names
        if count is None:
            return session.ask(eligible=eligible, user=user)
        return session.ask(count, eligible=eligible, user=user)

    def tell(self, decision: Decision, reward: object) -> None:
        """The reward of a decision (see `Session.tell`).

        Args:
            decision: as `ask` returned it, not its id.
            reward: a number in the declared range, by default [0, 1].

        Raises:
            DecisionError: it is of none of the segments. Nothing was recorded.
        """
        try:
            self._of(decision).tell(decision, reward)
        finally:
            del reward  # no frame of an error holds it

    def tell_many(self, tells: Iterable[tuple[Decision, object]]) -> None:
        """Several pairs, told in this order; all are checked first, so a wrong one among them
        changes nothing, in no segment (see `Session.tell_many`).
        """
        pairs = list[Pair]()
        try:
            pairs += frameless(checked_pairs, read_here(tells))
            tell_pairs(self._by_campaign, pairs, self._of)
        finally:
            del tells
            pairs.clear()

    def tell_message(self, text: str) -> None:
        """In the local model: a user's answer as their device sent it (see
        `Session.tell_message`).

        Raises:
            MessageError: no such message, or one for another campaign. Nothing was recorded.
        """
        segment = self._by_campaign.get(report_from_json(text).campaign)
        if segment is None:
            raise MessageError(
                "Expected a report for one of this session's segments, got one for another "
                "campaign. Nothing was recorded."
            )
        segment.tell_message(text)

    def shares(self, people: int = 1_000, *, segment: str) -> Shares:
        """How to share out the next people of a segment (see `Session.shares`).

        Args:
            people: how many they are.
            segment: its name.
        """
        return self[segment].shares(people)

    def record(
        self, arm: str | int, outcomes: Any, *, segment: str, key: str
    ) -> Literal["recorded", "already"]:
        """The outcomes of people of a segment who were assigned elsewhere (see `Session.record`).

        Args:
            arm: its name or number.
            outcomes: a reward of each person; or (people, successes) for rewards of 0 and 1.
            segment: its name.
            key: another word for each batch, over all segments.

        Returns:
            "recorded", or "already" if the batch of this key was recorded before.
        """
        try:
            return self[segment].record(arm, outcomes, key=key)
        finally:
            del outcomes

    def expire(self, decision: Decision) -> None:
        """No reward came (see `Session.expire`)."""
        self._of(decision).expire(decision)

    def void(self, decision: Decision) -> None:
        """A decision that was never carried out (see `Session.void`)."""
        self._of(decision).void(decision)

    def finish(self) -> None:
        """No more rewards come, in any segment (see `Session.finish`).

        Raises:
            TypeError: the policy plays on for ever.
            ValueError: in one of the segments no reward was ever told. Nothing was released.
        """
        self._require_open()
        require_rewards(self._parts)
        for session in self._parts.values():
            session.finish()

    def close(self, why: str = "", *, winner: str | int | None = None, read: bool = True) -> None:
        """End all segments (see `Session.close`). Where it is interrupted, call it again.

        Args:
            why: public.
            winner: the arm that further decisions show, in every segment. To show another one in
                each, close them one by one: `session["DE"].close(winner="blue")`.
            read: False to drop open blocks unread.
        """
        for session in self._parts.values():
            session._require_closable(winner, read)
        for session in self._parts.values():
            session.close(why, winner=winner, read=read)

    def settle(self) -> None:
        """Make what is due, in every segment."""
        for session in self._parts.values():
            session.settle()

    def add_arm(self, label: str | None = None) -> int:
        """A new arm, in every segment; where an earlier call was cut off, in the others.

        Args:
            label: its name, where arms have names.

        Returns:
            Its number.
        """
        self._require_open()
        sessions, behind, ahead = self._by_arms()
        begun = ahead.arms[-1][0]
        if behind and label is not None and label != begun:
            raise ValueError(
                f"The arm {shown(begun)} was added to some segments before that call was cut off. "
                "Add it again first. Nothing was changed."
            )
        for session in behind or sessions:
            session._with_new_arm(label)
        return max([session.add_arm(label) for session in behind or sessions])

    def retire_arm(self, arm: str | int) -> None:
        """Never play an arm again, in any segment."""
        self._move(arm, "retire")

    def restart_arm(self, arm: str | int) -> int:
        """Forget what was released of an arm, in every segment, if its mean has changed in one (see
        `Session.restart_arm`); where an earlier call was cut off, in the others.

        Returns:
            Its new number.
        """
        self._require_open()
        sessions, behind, ahead = self._by_arms()
        if behind:
            begun = next(e for e in reversed(ahead.events) if e.what in ("add", "restart"))
            if begun[:2] != ("restart", behind[0]._name(behind[0]._state.roster.number(arm))):
                raise ValueError(
                    "Another arm was added or restarted in some segments before that call was cut "
                    "off. Do that again first. Nothing was changed."
                )
        else:
            require_restart(sessions, arm)
        return max([session._restart(arm) for session in behind or sessions])

    def pause_arm(self, arm: str | int) -> None:
        """Play an arm no more until `resume_arm`, in any segment."""
        self._move(arm, "pause")

    def resume_arm(self, arm: str | int) -> None:
        """Play a paused arm again, in every segment."""
        self._move(arm, "resume")

    def drop_open(self) -> None:
        """Throw open blocks away unread, in every segment (see `Session.drop_open`)."""
        for session in self._parts.values():
            session.drop_open()

    def _require_open(self) -> None:
        for session in self._parts.values():
            session._require_open()

    def _by_arms(self) -> tuple[list[Session], list[Session], Session]:
        """The sessions; those that lack an arm, for a call was cut off; and one that lacks none."""
        sessions = list(self._parts.values())
        ahead = max(sessions, key=lambda session: len(session.arms))
        return sessions, [each for each in sessions if len(each.arms) < len(ahead.arms)], ahead

    def _move(self, arm: str | int, what: ArmChange) -> None:
        """Change an arm's status in all segments, or in none if one of them would refuse."""
        self._require_open()
        for session in self._parts.values():
            session._with_status(arm, what)
        for session in self._parts.values():
            session._set_status(arm, what)

    def to_json(self, *, key: bytes | None = None, unsealed: bool = False) -> str:
        """All segments as one JSON document, sealed as a whole (see `Session.to_json`).

        Raises:
            SharedError: another thread asked while they were written. Nothing was saved.
        """
        # decisions by segment: each may have taken a place that all segments know of
        before = [session._current.asked for session in self._parts.values()]
        saved = [
            [name, session.to_json(key=key, unsealed=unsealed)]
            for name, session in self._parts.items()
        ]
        if [session._current.asked for session in self._parts.values()] != before:
            raise SharedError("Another thread used this session while it was saved. Save it again.")
        return sealed({"format": SEGMENTED, "version": SEGMENTS_VERSION, "segments": saved}, key)

    @classmethod
    def from_json(cls, text: str, *, key: bytes | None = None, **options: Any) -> Self:
        """Continue from what `to_json` wrote.

        Args:
            text: the document.
            key: the one that it was sealed with, if it was.
            options: those of `Session.from_json`, the same for every segment.

        Raises:
            ValueError: the text is no such document, was changed, or was saved with another key.
        """
        document = unsealed(parsed(text, SEGMENTED, SEGMENTS_VERSION), key)
        rows = converted(document.get("segments"), list[tuple[str, str]], "segments")
        names = checked_segments([name for name, _ in rows])
        made = {name: Session.from_json(each, key=key, **options) for name, each in rows}
        newest = made[names[-1]]._vault.noise  # the last one that was saved
        for session in made.values():  # they had one source, and would each draw the same now
            session._vault.noise = newest
        loaded = cls.__new__(cls)
        loaded._open(made)
        return loaded

    def _of(self, decision: object) -> Session:
        owner = None
        if type(decision) is Decision and type(decision.campaign) is str:
            owner = self._by_campaign.get(decision.campaign)
        if owner is None:
            raise DecisionError(
                "Expected a decision of one of this session's segments (not its id, for each "
                "segment counts its own). Nothing was recorded."
            )
        return owner


def require_rewards(segments: Mapping[str, Session]) -> None:
    """Refuse to finish a stopping rule where one of its segments has no reward, before any does."""
    silent = [name for name, each in segments.items() if not each._current.records]
    if silent and segments[silent[0]].policy.about.goal == "estimate":
        raise ValueError(
            f"Expected a reward in every segment before finish; none was told in "
            f"{', '.join(map(repr, silent))}. Nothing was released."
        )


def segment_campaign(base: str, segment: str) -> str:
    """Return the campaign's name that a segment's decisions carry.

    Raises:
        ValueError: both names together are too long.
    """
    if len(base) + 1 + len(segment) > NAME:
        raise ValueError(
            f"Expected campaign= and each segment to have at most {NAME - 1} characters together, "
            f"got {len(base)} and {len(segment)}: decisions carry both names."
        )
    return f"{base}/{segment}"
