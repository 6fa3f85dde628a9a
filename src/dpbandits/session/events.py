"""What was done to arms, by hand and by a guardrail, as one story."""

from collections.abc import Sequence
from typing import Protocol, TypeVar


class SessionHappening(Protocol):
    """Something that was done to an arm, and after how many decisions."""

    @property
    def what(self) -> str: ...
    @property
    def arm(self) -> str | int | None: ...
    @property
    def asked(self) -> int: ...


EventKind = TypeVar("EventKind", bound=SessionHappening)

OUT = ("pause", "retire", "suspend")
"""After these an arm is out of play."""


def merged_events(own: Sequence[EventKind], alarms: Sequence[EventKind]) -> tuple[EventKind, ...]:
    """Return both lists in the order of decisions. At equal numbers a suspension comes before a
    resume. An arm that is out of play is not suspended.
    """
    story, out, left = list[EventKind](), set[str | int | None](), list(alarms)
    for event in own:
        while left and (left[0].asked, left[0].arm in out) < (event.asked, True):
            alarm = left.pop(0)
            story.append(alarm)
            if alarm.what in OUT:
                out.add(alarm.arm)
        story.append(event)
        if event.what in OUT:
            out.add(event.arm)
        out -= {event.arm} if event.what == "resume" else set()
    return (*story, *left)
