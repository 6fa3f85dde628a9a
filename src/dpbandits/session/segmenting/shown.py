"""What a session with segments says of itself: of all segments together, or by segment. All of it
is public.
"""

from typing import Any

from dpbandits.campaign.guardrail import Guardrail
from dpbandits.campaign.ruler import Range
from dpbandits.campaign.segmented import SegmentedTable
from dpbandits.campaign.statement import people_words
from dpbandits.core.plan import Plan
from dpbandits.core.privacy import Entry
from dpbandits.session.decisions import Decision
from dpbandits.session.segmenting.parts import ONE_SEGMENT, BySegment
from dpbandits.session.session import Session
from dpbandits.session.standing import SessionEvent
from dpbandits.session.wheel.choices import DecisionTable, SegmentDecision

OVER_ALL = "A user's learned rounds are counted over all segments."

SegmentedDecisions = SegmentedTable[DecisionTable, SegmentDecision]


class SegmentReports(BySegment[Session]):
    """A session for each segment, to look at."""

    _parts: dict[str, Session]

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}: {session!r}" for name, session in self._parts.items())
        return f"SegmentedSession({inner})"

    @property
    def campaign(self) -> str:
        """The name that decisions carry before their segment's."""
        return self._first.campaign.removesuffix(f"/{self.segments[0]}")

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
    def max_pending(self) -> int:
        """How many decisions of each segment may wait for their rewards at a time."""
        return self._first.max_pending

    @property
    def seed(self) -> dict[str, int]:
        """The seed of the public randomness, by segment."""
        return {name: session.seed for name, session in self._parts.items()}

    @property
    def state(self) -> dict[str, Any]:
        """What the policy knows, by segment (public)."""
        return {name: session.state for name, session in self._parts.items()}

    @property
    def plan(self) -> dict[str, Plan]:
        """What is being played now, by segment (public)."""
        return {name: session.plan for name, session in self._parts.items()}

    @property
    def events(self) -> dict[str, tuple[SessionEvent, ...]]:
        """What was done besides asking and telling, by segment."""
        return {name: session.events for name, session in self._parts.items()}

    @property
    def alarms(self) -> dict[str, tuple[SessionEvent, ...]]:
        """What somebody should look at, by segment (see `Session.alarms`)."""
        return {name: session.alarms for name, session in self._parts.items()}

    @property
    def ledger(self) -> dict[str, tuple[Entry, ...]]:
        """What was read, by segment."""
        return {name: session.ledger for name, session in self._parts.items()}

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions that wait for their rewards, segment by segment."""
        return tuple(d for session in self._parts.values() for d in session.pending)

    @property
    def resolved(self) -> int:
        """Decisions that were told or expired, in all segments (see `Session.resolved`)."""
        return sum(session.resolved for session in self._parts.values())

    @property
    def unread(self) -> int:
        """Decisions that are resolved without a reward that counts, in all segments."""
        return sum(session.unread for session in self._parts.values())

    @property
    def lost(self) -> int:
        """Decisions whose rewards never entered, in all segments (see `Session.lost`)."""
        return sum(session.lost for session in self._parts.values())

    @property
    def releases(self) -> int:
        """Coordinates released so far, in all segments."""
        return sum(session.releases for session in self._parts.values())

    def decisions(self) -> SegmentedDecisions:
        """Every decision with the probability it had, by segment (see `Session.decisions`)."""
        return SegmentedTable(self._by_segment("decisions"), SegmentDecision)

    def description(self) -> dict[str, str]:
        """In the local model, by segment: what users' devices need to know before they answer."""
        return self._by_segment("description")

    def statement(self) -> str:
        """The privacy statements of the segments."""
        head, people = [ONE_SEGMENT], self._first._people  # one register for all
        if people is not None and people.people is not None:
            head.append(f"{OVER_ALL} {people_words(people.people)}")
        return "\n\n".join([*head, *(each._statement(None) for each in self._parts.values())])
