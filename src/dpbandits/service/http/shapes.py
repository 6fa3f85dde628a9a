"""Answers as plain data."""

from typing import Any

from dpbandits.service.campaign import Campaign
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
