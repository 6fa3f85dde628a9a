"""What is said of all segments together, or by segment, whatever each is: a session, or a campaign
in a store. All of it is public.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Generic, TypeVar

from dpbandits.campaign.roster import ArmStanding
from dpbandits.campaign.segmented import SegmentedBeliefs, segmented_beliefs
from dpbandits.campaign.watching.ratio import SampleRatio
from dpbandits.core.privacy import Guarantee
from dpbandits.policies.contract import Policy
from dpbandits.policies.labels import ArmLabel
from dpbandits.session.options import one_segment

OnePart = TypeVar("OnePart")

ONE_SEGMENT = "Each record is in one segment, so what is promised to it is what its segment's says."


class BySegment(Generic[OnePart]):
    """A part for each segment, to look at. What they share is said once, counts are added up, and
    all else is by segment.
    """

    _parts: Mapping[str, Any]

    def __getitem__(self, segment: str) -> OnePart:
        """One segment.

        Raises:
            ValueError: it was not declared.
        """
        found: OnePart = one_segment(self._parts, segment)
        return found

    @property
    def _first(self) -> OnePart:
        found: OnePart = next(iter(self._parts.values()))
        return found

    @property
    def segments(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._parts)

    @property
    def policy(self) -> Policy:
        """The policy at work, as it was at first: each segment's learns for itself."""
        return self._shared("policy")  # type: ignore[no-any-return]  # a part's own type

    @property
    def guarantee(self) -> Guarantee | None:
        """What is promised: each record is in one segment, so it is that of one."""
        return self._shared("guarantee")  # type: ignore[no-any-return]  # a part's own type

    @property
    def attribution_window(self) -> float | None:
        """For how many seconds an answer is waited for; None: it counts as it comes."""
        # a part's own type
        return self._shared("attribution_window")  # type: ignore[no-any-return]

    @property
    def generation(self) -> int:
        """The largest of the segments': how often a session was saved, or a campaign fenced, plus
        one.
        """
        found: list[int] = [part.generation for part in self._parts.values()]
        return max(found)

    @property
    def arms(self) -> dict[str, tuple[tuple[ArmLabel | int, ArmStanding], ...]]:
        """Every arm there ever was, and where it stands, by segment."""
        return {name: part.arms for name, part in self._parts.items()}

    @property
    def spent(self) -> Fraction | None:
        """The largest of the segments' totals; None if anything was read without noise."""
        totals = [part.spent for part in self._parts.values()]
        return None if None in totals else max(totals)

    def beliefs(self, confidence: float = 0.95) -> SegmentedBeliefs:
        """What is believed of every arm, by segment; each segment's hold with this confidence
        alone.
        """
        return segmented_beliefs(self._by_segment("beliefs", confidence))

    def harm(self) -> SegmentedBeliefs:
        """What is believed of every arm's harm, by segment (see `Session.harm`)."""
        return segmented_beliefs(self._by_segment("harm"))

    def sample_ratio(self) -> dict[str, SampleRatio]:
        """Whether traffic is as planned, by segment: of several tests, one gives a false alarm
        more often than each.
        """
        return self._by_segment("sample_ratio")

    def _by_segment(self, verb: str, *arguments: Any) -> dict[str, Any]:
        """What every segment answers."""
        return {name: getattr(part, verb)(*arguments) for name, part in self._parts.items()}

    def _shared(self, what: str) -> Any:
        """What is the same for all of them."""
        return getattr(self._first, what)
