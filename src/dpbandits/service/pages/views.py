"""What pages are made of: templates, and what is shown of a campaign."""

import time
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpbandits.service.looks.campaign import ShownCampaign
from dpbandits.service.looks.reports import Summary
from dpbandits.service.looks.segments import ShownHoldout, ShownSegments
from dpbandits.service.looks.trail import Moment
from dpbandits.service.pages.drawing import STYLES, picture_of, whiskers
from dpbandits.session.beliefs import METHOD, Uplift
from dpbandits.version import __version__

LINES = 12
"""Lines of a ledger that are shown; the newest."""

SIZES = (("wide", (760.0, 300.0)), ("narrow", (360.0, 300.0)))
"""Pictures for screens and for phones; the style sheet shows one of them."""

TEMPLATES = Environment(
    loader=PackageLoader("dpbandits.service.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(template: str, **content: Any) -> str:
    """The page that a template makes of its content; every text is escaped."""
    return TEMPLATES.get_template(template).render(version=__version__, **content)


def shown_count(value: int | None) -> str:
    """A count; None: it is private."""
    return "private" if value is None else f"{value:,}"


def fine(value: float | None) -> str:
    """A mean, with four digits that count; None: nothing was released yet."""
    return "–" if value is None else f"{value:.4g}"


def percent(value: float | None) -> str:
    """A chance."""
    return "–" if value is None else f"{100 * value:.1f} %"


def day(seconds: float) -> Markup:
    """A time, for people and for machines."""
    at = datetime.fromtimestamp(seconds, UTC)
    said = f"{at:%Y-%m-%d %H:%M} UTC"
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(timespec="seconds"), said)


TEMPLATES.filters |= {"whole": shown_count, "fine": fine, "percent": percent, "day": day}


def campaigns_view(found: list[Summary], others: list[str]) -> dict[str, Any]:
    """All campaigns, the newest first. others: those that cannot be opened here."""
    return {"campaigns": sorted(found, key=lambda each: -each.created), "others": others}


def segments_view(campaign: ShownSegments[Any]) -> dict[str, Any]:
    """A campaign with segments: what they promise together, and where each stands."""
    spent = campaign.spent
    return {
        "summary": campaign.summary(),
        "spent": None if spent is None else str(spent),
        "segments": [(name, campaign[name].summary()) for name in campaign.segments],
        "sides": isinstance(campaign, ShownHoldout),
        "uplift": uplift_shown(campaign),
        "statement": campaign.statement(),
        "options": campaign.options,
    }


def uplift_shown(campaign: ShownSegments[Any]) -> Uplift | None:
    """The policy's people against holdout people; None where there are none of these."""
    if not isinstance(campaign, ShownHoldout) or not campaign.rule.holdout:
        return None
    return campaign.uplift()


def alarms_view(campaign: ShownCampaign) -> dict[str, Any]:
    """Each arm's harm (None without a guardrail), the arms that passed the limit, and those that
    wait for overdue requests.
    """
    rail, alarms = campaign.guardrail, campaign.alarms
    return {
        "rail": rail,
        "harm": None if rail is None else campaign.harm(),
        "alarms": [alarm for alarm in alarms if alarm.what != "overdue"],
        "overdue": [alarm for alarm in alarms if alarm.what == "overdue"],
    }


def campaign_view(campaign: ShownCampaign) -> dict[str, Any]:
    """One campaign, as it stands."""
    beliefs, moments, ledger = campaign.beliefs(), campaign.history(), campaign.ledger
    guarantee, spent = campaign.guarantee, campaign.spent
    newest = Moment(0, 0, beliefs.rows)
    summary = campaign.summary()
    labels = [str(name) for name, _ in summary.arms]
    return {
        "summary": summary,
        "guarantee": guarantee,
        "spent": None if spent is None else str(spent),
        "beliefs": beliefs,
        "method": METHOD,
        "standings": [standing for _, standing in summary.arms],
        "marks": whiskers(newest, len(beliefs.rows)),
        "pictures": [(name, picture_of(moments, *size)) for name, size in SIZES],
        "ledger": ledger[-LINES:][::-1],
        "lines": len(ledger),
        "labels": labels,
        "recent": campaign.recent(),
        "ratio": campaign.sample_ratio(),
        **alarms_view(campaign),
        "events": campaign.events(LINES),
        "statement": campaign.statement(),
        "options": campaign.options,
        "looks": STYLES,
        "now": time.time(),
    }
