"""What campaigns with segments, or with sides, show of themselves."""

import json
from collections.abc import Mapping
from fractions import Fraction
from textwrap import fill
from typing import Any, Generic, TypeVar

from dpbandits.core.privacy import Guarantee
from dpbandits.forecasting.forecast import ExpectedLoss
from dpbandits.policies.contract import ArmLabel, Policy
from dpbandits.service.looks.campaign import ShownCampaign
from dpbandits.service.looks.reports import LedgerLine, Summary, summary_over
from dpbandits.service.rows.records import CampaignRow
from dpbandits.session.arms import ArmStanding
from dpbandits.session.beliefs import Uplift, checked_confidence, uplift_of
from dpbandits.session.holdout import HoldoutRule
from dpbandits.session.options import one_segment
from dpbandits.session.segments import ONE_SEGMENT, SegmentedBeliefs, segmented_beliefs
from dpbandits.session.state import SessionEvent
from dpbandits.session.statement import WIDTH
from dpbandits.session.traffic import SampleRatio

OnePart = TypeVar("OnePart")


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


ShownPart = TypeVar("ShownPart", bound=ShownCampaign)

NO_HOLDOUT = (
    "Expected a campaign with holdout=, against whose people the policy's are compared; this one "
    "has none."
)


class ShownSegments(BySegment[ShownPart]):
    """A campaign with segments that is looked at: what they share, and by segment what they do not.
    One of them is looked at as `campaign["DE"]`.
    """

    _parts: Mapping[str, ShownPart]

    def __init__(self, row: CampaignRow, parts: Mapping[str, ShownPart]) -> None:
        self._row, self.name = row, row.name
        self._parts = parts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, segments={list(self._parts)})"

    def __getattr__(self, name: str) -> Any:
        """
        Raises:
            AttributeError: it has none of this name; where each segment has, the message says so.
        """
        parts: dict[str, ShownPart] = self.__dict__.get("_parts") or {}
        for first, part in parts.items():
            if not name.startswith("_") and hasattr(type(part), name):
                raise AttributeError(
                    f"{self!r} has {name} by segment: campaign[{first!r}].{name}, for one."
                )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def ledger(self) -> dict[str, list[LedgerLine]]:
        """Every reading, by segment."""
        return {name: part.ledger for name, part in self._parts.items()}

    @property
    def alarms(self) -> dict[str, tuple[SessionEvent, ...]]:
        """What somebody should look at, by segment (see `Campaign.alarms`)."""
        return {name: part.alarms for name, part in self._parts.items()}

    def statement(self) -> str:
        """The privacy statements of the segments."""
        return "\n\n".join([ONE_SEGMENT, *(part.statement() for part in self._parts.values())])

    def summary(self) -> Summary:
        """Where the campaign stands: counts over all segments."""
        found = [part.summary() for part in self._parts.values()]
        return summary_over(self._row, found, self.segments)

    @property
    def options(self) -> dict[str, Any]:
        """How the campaign was made. Public."""
        found: dict[str, Any] = json.loads(self._row.options)["shown"]
        return found


class ShownHoldout(ShownSegments[ShownPart]):
    """A campaign with `holdout=` or `ramp=` that is looked at. Its parts are its sides, "policy",
    "holdout" and "control".
    """

    def __init__(self, row: CampaignRow, parts: Mapping[str, ShownPart], rule: HoldoutRule) -> None:
        super().__init__(row, parts)
        for side in rule.sides:
            parts[side].side_of, parts[side].side = self.name, side
        self.rule = rule

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, sides={list(self._parts)})"

    def uplift(self, confidence: float = 0.95) -> Uplift:
        """The policy's people, whatever they got, against holdout people: means of released values,
        with intervals that hold at all times at once.

        Raises:
            ValueError: this campaign has no holdout people, or a confidence outside (0, 1).
        """
        if not self.rule.holdout:
            raise ValueError(NO_HOLDOUT)
        both = (1.0 + checked_confidence(confidence)) / 2.0
        policy, holdout = self["policy"].beliefs(both), self["holdout"].beliefs(both)
        return uplift_of(policy, holdout, float(confidence))

    def expected_loss(self) -> ExpectedLoss | None:
        """What the policy's people are expected to have lost to privacy (see
        `Campaign.expected_loss`); what the others lose is not the policy's.
        """
        return self["policy"].expected_loss()

    def statement(self) -> str:
        """The privacy statements of the sides on which something is learned."""
        share, rule = float(self.rule.holdout), self.rule
        head = [
            "Each record is on one side, so what is promised to it is what its side's statement "
            "says. Which side a person is on is public, and when."
        ]
        if rule.holdout:
            head.append(
                f"Holdout people, a share of {share:g}, get the control arm alone. Their mean is "
                "read after numbers of people that were fixed beforehand; comparing it with the "
                "policy's costs nothing more."
            )
        if rule.ramp:
            asked = self["control"].summary().asked
            head.append(
                f"Of {asked:,} decisions for people whom the ramp had not come to, nothing is read."
            )
        learned = [part for name, part in self._parts.items() if name != "control"]
        return "\n\n".join([fill(" ".join(head), WIDTH), *(part.statement() for part in learned)])
