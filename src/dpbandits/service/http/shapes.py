"""Answers as plain data."""

from typing import Any

from dpbandits.campaign.traffic import SampleRatio
from dpbandits.service.campaign import Campaign
from dpbandits.service.trail import Moment, Recent
from dpbandits.service.turns.asks import CampaignDecision


def decision_data(decision: CampaignDecision) -> dict[str, Any]:
    """A decision; with what a user's device is sent."""
    return decision._asdict() | {"message": decision.to_json()}


def summary_data(campaign: Campaign) -> dict[str, Any]:
    """Where a campaign stands."""
    said = campaign.summary()._asdict()
    return said | {"arms": [{"arm": arm, "standing": standing} for arm, standing in said["arms"]]}


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
    return {"words": str(found), "evidence": found.evidence, "alarm": found.alarm()}
