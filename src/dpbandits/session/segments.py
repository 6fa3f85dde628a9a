"""Segments: groups of people that are known beforehand, each of which learns for itself.

Each record is in one segment, so the promise to it is that of one session (parallel composition);
where people come back their learned rounds are counted over all segments.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self, final

from dpbandits.campaign.roster import ArmStanding
from dpbandits.core.calls.forgetting import discreet
from dpbandits.core.errors import DecisionError, MessageError, SharedError
from dpbandits.core.inputs import shown
from dpbandits.core.signatures import Explained
from dpbandits.core.values import checked_name, checked_seed
from dpbandits.local.messages import report_from_json
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.session.decisions import Decision, Eligible, User
from dpbandits.session.options import checked_segments
from dpbandits.session.pairs import checked_pairs
from dpbandits.session.saving.seal import sealed
from dpbandits.session.saving.segments import (
    FORMAT,
    require_one_campaign,
    saved_segments,
    segment_campaign,
)
from dpbandits.session.segmenting.shown import SegmentReports
from dpbandits.session.segmenting.tells import read_of_segments, tell_segments
from dpbandits.session.session import Session
from dpbandits.session.wheel.turn import settle


@final
class SegmentedSession(SegmentReports, metaclass=Explained):
    """A session for each segment, behind the verbs of one. `Session(…, segments=[…])` makes it.

    A decision says by its `campaign` which segment it is of; so decisions are told, not their ids.

    Args:
        policy: any policy; each segment plays its own.
        segments: their names, public and fixed.
        noise, options: what a `Session` takes; they are the same for all segments.

    Raises:
        ValueError: no names of segments, or one twice.
    """

    def __init__(self, policy: Policy, *, segments: object, noise: Noise, **options: Any) -> None:
        names = checked_segments(segments)
        seed, campaign = options.pop("seed", None), options.pop("campaign", None)
        made = dict[str, Session]()
        for place, name in enumerate(names):
            own = {} if seed is None else {"seed": checked_seed(seed) + place}
            made[name] = Session(policy, noise=noise, **own, **options)
        base = made[names[0]].campaign if campaign is None else checked_name(campaign)
        for name, session in made.items():
            session.campaign = segment_campaign(base, name)
        self._open(made)

    def _open(self, sessions: Mapping[str, Session]) -> None:
        first = next(iter(sessions.values()))
        for session in sessions.values():
            # one register for all, and so one gate: two threads might take one place together
            session._people = first._people
            session._gate, session._inside, session._home = first._gate, first._inside, first._home
        self._parts, self._gate = dict(sessions), first._gate
        self._by_campaign = {each.campaign: each for each in self._parts.values()}

    def ask(
        self,
        count: int | None = None,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
    ) -> Any:
        """The next decision of a segment, or a list of `count` of them (see `Session.ask`)."""
        session = self[segment]  # type: ignore[index]  # None is refused with the names
        if count is None:
            return session.ask(eligible=eligible, user=user)
        return session.ask(count, eligible=eligible, user=user)

    @discreet
    def tell(self, decision: Decision, reward: object) -> None:
        """The reward of a decision (see `Session.tell`)."""
        self._of(decision).tell(decision, reward)

    @discreet
    def tell_many(self, tells: Iterable[tuple[Decision, object]]) -> None:
        """Several pairs, told in this order; all are checked first, so a wrong one among them
        changes nothing, in no segment (see `Session.tell_many`).
        """
        pairs = checked_pairs(tells)
        self._gate.enter()
        try:
            for session in self._parts.values():
                if session._attribution is None:
                    settle(session._wheel)
            tell_segments(read_of_segments(pairs, self._of))
        finally:
            self._gate.leave()

    @discreet
    def tell_message(self, text: str) -> None:
        """In the local model: a user's answer as their device sent it (see
        `Session.tell_message`).

        Raises:
            MessageError: no such message, or one for another campaign. Nothing was recorded.
        """
        found = self._by_campaign.get(report_from_json(text).campaign)
        if found is None:
            raise MessageError(
                "Expected a report for one of this session's segments, got one for another "
                "campaign. Nothing was recorded."
            )
        found.tell_message(text)

    @discreet
    def expire(self, decision: Decision) -> None:
        """No reward came (see `Session.expire`)."""
        self._of(decision).expire(decision)

    @discreet
    def void(self, decision: Decision) -> None:
        """A decision that was never carried out (see `Session.void`)."""
        self._of(decision).void(decision)

    def finish(self) -> None:
        """No more rewards come, in any segment (see `Session.finish`).

        Raises:
            TypeError: the policy plays on for ever.
            ValueError: in one of the segments no reward was ever told. Nothing was released.
        """
        silent = [name for name, each in self._parts.items() if not each._vault.records]
        if silent and self.policy.about.goal == "estimate":
            raise ValueError(
                f"Expected a reward in every segment before finish; none was told in "
                f"{', '.join(map(repr, silent))}. Nothing was released."
            )
        for session in self._parts.values():
            session.finish()

    def settle(self) -> None:
        """Make what is due, in every segment."""
        for session in self._parts.values():
            session.settle()

    def add_arm(self, label: str | None = None) -> int:
        """A new arm, in every segment; where an earlier call was cut off, in the others."""
        sessions = tuple(self._parts.values())
        most = max(len(session.arms) for session in sessions)
        late = [session for session in sessions if len(session.arms) < most]
        begun = next(session.arms[-1][0] for session in sessions if len(session.arms) == most)
        if late and label is not None and label != begun:
            raise ValueError(
                f"The arm {shown(begun)} was added to some segments before that call was cut off. "
                "Add it again first. Nothing was changed."
            )
        for session in late or sessions:
            session._wheel.roster.joined(label)
        return max([session.add_arm(label) for session in late or sessions])

    def retire_arm(self, arm: str | int) -> None:
        """Never play an arm again, in any segment."""
        self._require_moves(arm, "retired", "retire")
        for session in self._parts.values():
            session.retire_arm(arm)

    def pause_arm(self, arm: str | int) -> None:
        """Play an arm no more until `resume_arm`, in any segment."""
        self._require_moves(arm, "paused", "pause")
        for session in self._parts.values():
            session.pause_arm(arm)

    def resume_arm(self, arm: str | int) -> None:
        """Play a paused arm again, in every segment."""
        self._require_moves(arm, "active", "resume")
        for session in self._parts.values():
            session.resume_arm(arm)

    def drop_open(self) -> None:
        """Throw open blocks away unread, in every segment (see `Session.drop_open`)."""
        for session in self._parts.values():
            session.drop_open()

    def _require_moves(self, arm: str | int, to: ArmStanding, what: str) -> None:
        """Refuse for all segments what one of them would refuse."""
        for session in self._parts.values():
            session._moved(arm, to, what)

    @discreet
    def to_json(self, *, key: bytes | None = None, unsealed: bool = False) -> str:
        """All segments as one JSON document, sealed as a whole (see `Session.to_json`).

        Raises:
            SharedError: another thread asked while they were written. Nothing was saved.
        """
        before = self._asked()
        saved = [
            [name, session.to_json(key=key, unsealed=unsealed)]
            for name, session in self._parts.items()
        ]
        if self._asked() != before:
            raise SharedError("Another thread used this session while it was saved. Save it again.")
        return sealed({"format": FORMAT, "version": 1, "segments": saved}, key)

    def _asked(self) -> list[int]:
        """Decisions by segment: each may have taken a place that all segments know of."""
        return [session._wheel.asked for session in self._parts.values()]

    @classmethod
    @discreet
    def from_json(cls, text: str, *, key: bytes | None = None, **options: Any) -> Self:
        """Continue from what `to_json` wrote. options: those of `Session.from_json`.

        Raises:
            ValueError: the text is no such document, was changed, or was saved with another key.
        """
        rows = saved_segments(text, key)
        names = checked_segments([name for name, _ in rows])
        made = {name: Session.from_json(each, key=key, **options) for name, each in rows}
        require_one_campaign({name: each.campaign for name, each in made.items()})
        newest = made[names[-1]]._noise  # the last one that was saved
        for session in made.values():  # they had one source, and would each draw the same now
            session._noise = session._vault._noise = newest
        loaded = cls.__new__(cls)
        loaded._open(made)
        return loaded

    def _of(self, decision: object) -> Session:
        found = None
        if type(decision) is Decision and type(decision.campaign) is str:
            found = self._by_campaign.get(decision.campaign)
        if found is None:
            raise DecisionError(
                "Expected a decision of one of this session's segments (not its id, for each "
                "segment counts its own). Nothing was recorded."
            )
        return found


Session._segmented = SegmentedSession
