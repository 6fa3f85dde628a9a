"""What a session with segments says of itself: of all segments together, or by segment. All of it
is public.
"""

from fractions import Fraction
from typing import Any

from dpbandits.campaign.guardrail import Guardrail
from dpbandits.campaign.roster import ArmStanding
from dpbandits.campaign.ruler import Range
from dpbandits.campaign.segmented import SegmentedBeliefs, SegmentedTable, segmented_beliefs
from dpbandits.campaign.statement import people_words
from dpbandits.campaign.watching.ratio import SampleRatio
from dpbandits.core.plan import Plan
from dpbandits.core.privacy import Entry, Guarantee
from dpbandits.policies.contract import Policy
from dpbandits.policies.labels import ArmLabel
from dpbandits.session.decisions import Decision
from dpbandits.session.options import one_segment
from dpbandits.session.session import Session
from dpbandits.session.standing import SessionEvent
from dpbandits.session.wheel.choices import DecisionTable, SegmentDecision

ONE_SEGMENT = "Each record is in one segment, so what is promised to it is what its segment's says."
OVER_ALL = "A user's learned rounds are counted over all segments."

SegmentedDecisions = SegmentedTable[DecisionTable, SegmentDecision]


class SegmentReports:
    """A session for each segment, to look at. What they share is said once, counts are added up,
    and all else is by segment.
    """

    _sessions: dict[str, Session]

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}: {session!r}" for name, session in self._sessions.items())
        return f"SegmentedSession({inner})"

    def __getitem__(self, segment: str) -> Session:
        """The session of one segment."""
        return one_segment(self._sessions, segment)

    @property
    def _first(self) -> Session:
        return next(iter(self._sessions.values()))

    @property
    def segments(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._sessions)

    @property
    def campaign(self) -> str:
        """The name that decisions carry before their segment's."""
        return self._first.campaign.removesuffix(f"/{self.segments[0]}")

    @property
    def policy(self) -> Policy:
        """The policy at work: each segment's learns for itself."""
        return self._first.policy

    @property
    def guarantee(self) -> Guarantee | None:
        """What is promised: each record is in one segment, so it is that of one."""
        return self._first.guarantee

    @property
    def rewards(self) -> Range | None:
        """The declared range of rewards; None: [0, 1]."""
        return self._first.rewards

    @property
    def default(self) -> float:
        """What enters for an expired decision."""
        return self._first.default

    @property
    def guardrail(self) -> Guardrail | None:
        """What is watched beside the reward."""
        return self._first.guardrail

    @property
    def attribution_window(self) -> float | None:
        """For how many seconds an answer is waited for; None: it counts as it comes."""
        return self._first.attribution_window

    @property
    def max_pending(self) -> int:
        """How many decisions of each segment may wait for their rewards at a time."""
        return self._first.max_pending

    @property
    def generation(self) -> int:
        """How often the session was saved."""
        return max(session.generation for session in self._sessions.values())

    @property
    def seed(self) -> dict[str, int]:
        """The seed of the public randomness, by segment."""
        return {name: session.seed for name, session in self._sessions.items()}

    @property
    def state(self) -> dict[str, Any]:
        """What the policy knows, by segment (public)."""
        return {name: session.state for name, session in self._sessions.items()}

    @property
    def plan(self) -> dict[str, Plan]:
        """What is being played now, by segment (public)."""
        return {name: session.plan for name, session in self._sessions.items()}

    @property
    def arms(self) -> dict[str, tuple[tuple[ArmLabel | int, ArmStanding], ...]]:
        """Every arm there ever was, and where it stands, by segment."""
        return {name: session.arms for name, session in self._sessions.items()}

    @property
    def events(self) -> dict[str, tuple[SessionEvent, ...]]:
        """What was done besides asking and telling, by segment."""
        return {name: session.events for name, session in self._sessions.items()}

    @property
    def ledger(self) -> dict[str, tuple[Entry, ...]]:
        """What was read, by segment."""
        return {name: session.ledger for name, session in self._sessions.items()}

    @property
    def spent(self) -> Fraction | None:
        """The largest of the segments' totals; None if anything was read without noise."""
        totals = [session.spent for session in self._sessions.values()]
        known = [total for total in totals if total is not None]
        return max(known) if len(known) == len(totals) else None

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions that wait for their rewards, segment by segment."""
        return tuple(d for session in self._sessions.values() for d in session.pending)

    @property
    def resolved(self) -> int:
        """Decisions that were told or expired, in all segments (see `Session.resolved`)."""
        return sum(session.resolved for session in self._sessions.values())

    @property
    def unread(self) -> int:
        """Decisions that are resolved without a reward that counts, in all segments."""
        return sum(session.unread for session in self._sessions.values())

    @property
    def lost(self) -> int:
        """Decisions whose rewards never entered, in all segments (see `Session.lost`)."""
        return sum(session.lost for session in self._sessions.values())

    @property
    def releases(self) -> int:
        """Coordinates released so far, in all segments."""
        return sum(session.releases for session in self._sessions.values())

    def beliefs(self, confidence: float = 0.95) -> SegmentedBeliefs:
        """What is believed of every arm, by segment; each segment's hold with this confidence
        alone.
        """
        return segmented_beliefs(self._each("beliefs", confidence))

    def harm(self) -> SegmentedBeliefs:
        """What is believed of every arm's harm, by segment (see `Session.harm`)."""
        return segmented_beliefs(self._each("harm"))

    def decisions(self) -> SegmentedDecisions:
        """Every decision with the probability it had, by segment (see `Session.decisions`)."""
        return SegmentedTable(self._each("decisions"), SegmentDecision)

    def sample_ratio(self) -> dict[str, SampleRatio]:
        """Whether traffic is as planned, by segment: of several tests, one gives a false alarm
        more often than each.
        """
        return self._each("sample_ratio")

    def description(self) -> dict[str, str]:
        """In the local model, by segment: what users' devices need to know before they answer."""
        return self._each("description")

    def statement(self) -> str:
        """The privacy statements of the segments."""
        head, people = [ONE_SEGMENT], self._first._people  # one register for all
        if people is not None and people.people is not None:
            head.append(f"{OVER_ALL} {people_words(people.people)}")
        return "\n\n".join([*head, *(each._statement(None) for each in self._sessions.values())])

    def _each(self, verb: str, *arguments: Any) -> dict[str, Any]:
        """What every segment answers."""
        return {name: getattr(each, verb)(*arguments) for name, each in self._sessions.items()}
