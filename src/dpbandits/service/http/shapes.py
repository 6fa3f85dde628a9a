"""Which campaign a request looks at, and answers as plain data."""

import csv
import io
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dpbandits.service.looks.campaign import ShownCampaign
from dpbandits.service.looks.reports import Summary
from dpbandits.service.looks.segments import NO_HOLDOUT, ShownHoldout, ShownSegments
from dpbandits.service.looks.store import Campaigns
from dpbandits.service.looks.trail import Moment, Recent
from dpbandits.service.scope import Scope
from dpbandits.service.turns.asks import CampaignDecision
from dpbandits.session.beliefs import Beliefs
from dpbandits.session.traffic import SampleRatio

BESIDE_ROWS = ("confidence", "best", "more", "changed", "caution", "together")
"""What a table of beliefs says beside its rows."""


def whole_or_part(store: Campaigns[Any], name: str, segment: str | None) -> ShownCampaign:
    """A campaign, or the segment of it that is named.

    Raises:
        ValueError: it has no such segment.
    """
    found: ShownCampaign = store[name]
    if segment is None:
        return found
    if isinstance(found, ShownSegments):  # the same looks
        part: ShownCampaign = found[segment]
        return part
    raise ValueError("Expected no segment: this campaign has none.")


def single_part(store: Campaigns[Any], name: str, segment: str | None) -> ShownCampaign:
    """A campaign without segments, or the segment that is named.

    Raises:
        ValueError: it has segments, and none of them is named.
    """
    found: ShownCampaign | ShownSegments[Any] = whole_or_part(store, name, segment)
    if isinstance(found, ShownSegments):
        names = ", ".join(found.segments)
        raise ValueError(
            f"Expected ?segment= to be one of this campaign's segments: {names}. In Python that is "
            f"campaign[{found.segments[0]!r}]."
        )
    return found


def shown_data(
    store: Campaigns[Any],
    at: tuple[str, str | None],
    look: Callable[[ShownCampaign], Any],
    data: Callable[[Any], Any],
) -> dict[str, Any]:
    """What a look shows, whole: all of it as `data` writes it, under "whole"; of a campaign with
    segments, under "segments" by their names.

    at: the campaign, and the segment that is named.
    """
    found: Any = whole_or_part(store, *at)
    if isinstance(found, ShownSegments):
        return {"segments": {name: data(look(found[name])) for name in found.segments}}
    return {"whole": data(look(found))}


def beliefs_data(found: Beliefs) -> dict[str, Any]:
    """A table of beliefs with what it says beside its rows."""
    said = {name: getattr(found, name) for name in BESIDE_ROWS}
    return said | {"rows": rows_data(found.rows)}


def uplift_data(campaign: Any, confidence: float) -> dict[str, Any]:
    """A policy's people against holdout people.

    Raises:
        ValueError: this campaign has no holdout people.
    """
    if not isinstance(campaign, ShownHoldout):
        raise ValueError(NO_HOLDOUT)
    found = campaign.uplift(confidence)
    sides = {"policy": found.policy._asdict(), "holdout": found.holdout._asdict()}
    return found._asdict() | sides


def decision_data(decision: CampaignDecision) -> dict[str, Any]:
    """A decision; with what a user's device is sent, if somebody learns from it."""
    return decision._asdict() | {"message": decision.to_json() if decision.learn else None}


def summary_data(campaign: ShownCampaign) -> dict[str, Any]:
    """Where a campaign stands."""
    return said_summary(campaign.summary())


def said_summary(summary: Summary) -> dict[str, Any]:
    """A campaign in a few numbers, as an object."""
    said = summary._asdict()
    return said | {"arms": [{"arm": arm, "standing": standing} for arm, standing in said["arms"]]}


def scope_data(scope: Scope) -> dict[str, Any]:
    """A budget over campaigns; its window in seconds."""
    exact = {"epsilon": str(scope.epsilon), "spent": str(scope.spent)}
    window = None if scope.window is None else scope.window.total_seconds()
    return scope._asdict() | exact | {"window": window}


def rows_data(rows: Any) -> list[dict[str, Any]]:
    """Named tuples as objects."""
    return [row._asdict() for row in rows]


def history_data(moments: tuple[Moment, ...]) -> list[dict[str, Any]]:
    """What was believed, release by release."""
    return [moment._asdict() | {"arms": rows_data(moment.arms)} for moment in moments]


def recent_data(found: Recent) -> dict[str, Any]:
    """Who was shown what of late."""
    return found._asdict() | {"arms": rows_data(found.arms)}


def ratio_data(found: SampleRatio) -> dict[str, Any]:
    """Whether traffic is as planned."""
    answers = found.answers
    return {
        "words": str(found),
        "evidence": found.evidence,
        "alarm": found.alarm(),
        "labels": list(found.labels),
        "traffic": found.traffic.to_data(),
        "answers": None if answers is None else asdict(answers),
    }


def csv_of(rows: Any) -> str:
    """Rows for a spreadsheet. A cell that a spreadsheet would compute is text."""
    out = io.StringIO()
    writer = csv.writer(out)
    for at, row in enumerate(rows):
        if at == 0:
            writer.writerow(row._fields)
        writer.writerow([safe_cell(value) for value in row])
    return out.getvalue()


def safe_cell(value: object) -> str:
    said = "" if value is None else str(value)
    return "'" + said if isinstance(value, str) and said[:1] in "=+-@\t\r" else said
