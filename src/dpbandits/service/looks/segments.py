"""What campaigns with segments, or with sides, show of themselves."""

import json
from collections.abc import Mapping
from textwrap import fill
from typing import Any, TypeVar

from dpbandits.forecasting.expected import ExpectedLoss
from dpbandits.service.looks.campaign import ShownCampaign
from dpbandits.service.looks.reports import LedgerLine, Summary, summary_over
from dpbandits.service.rows.records import CampaignRow
from dpbandits.session.beliefs import Uplift, checked_confidence, uplift_of
from dpbandits.session.holdout import HoldoutRule
from dpbandits.session.segments import ONE_SEGMENT, BySegment
from dpbandits.session.state import SessionEvent
from dpbandits.session.statement import WIDTH

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
