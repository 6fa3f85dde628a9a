"""What goes to a server and what it says: options, errors."""

import math
import secrets
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import httpx

from dpbandits.core.errors import (
    NameTakenError,
    NotForThisKeyError,
    RewardError,
    UnknownCampaignError,
)
from dpbandits.core.inputs import as_int, number
from dpbandits.mechanisms.rewards import flaw, reward_parts, tried
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.service.turns.asks import CampaignDecision, decision_from
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.ranges import Range


def fresh_key() -> str:
    """The key of one call, which it keeps however often it is made again."""
    return secrets.token_hex(16)


def sent_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options as a request carries them.

    Raises:
        ValueError: one that cannot be sent.
    """
    sent = dict[str, Any]()
    for name, value in options.items():
        if isinstance(value, timedelta):
            sent[name] = value.total_seconds()
        elif isinstance(value, Range):
            low, high = float(value.low), float(value.high)
            sent[name] = {"low": low, "high": high, "clip": value.clip, "minimise": value.minimise}
        elif isinstance(value, Guardrail):
            sent[name] = value.to_data()
        elif name == "holdout":
            sent[name] = exact_text(value)
        elif name == "ramp" and isinstance(value, (list, tuple)):
            sent[name] = [
                list(map(exact_text, pair)) if isinstance(pair, (list, tuple)) else pair
                for pair in value
            ]
        elif name == "noise":
            if not isinstance(value, SimulatedNoise):
                raise ValueError("Expected no noise=: a server draws secure noise by itself.")
            sent["simulated_noise"] = value.seed
        else:
            sent[name] = value
    return sent


def exact_text(value: object) -> Any:
    """A share or a date as JSON has it: exact, as text, where it is of a kind of its own."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, (Fraction, Decimal)) else value


def sent_reward(reward: object) -> Any:
    """A reward, or several of one record, as JSON has numbers; those of numpy and of fractions are
    some, and so is a bool.

    Raises:
        RewardError: it is none. What came is not told.
    """
    several, parts = tried(reward_parts, reward) or (False, [])
    if several:
        return [sent_reward(each) for each in parts]
    value = tried(number, reward)
    if value is None:
        raise RewardError(
            "Expected a reward that is a number in [0, 1], or a list of them, got an object of "
            f"type {type(reward).__name__}. Nothing was sent."
        )
    if not math.isfinite(value):
        what, cure = flaw(value)
        raise RewardError(f"Expected a reward in [0, 1], got {what}. {cure} Nothing was sent.")
    return value


def sent_number(value: Any) -> Any:
    """A whole number of NumPy's, say, as JSON has it; what is none as it came."""
    found = as_int(value)
    return value if found is None else found


def decision_of(said: dict[str, Any]) -> CampaignDecision:
    """A decision as the server writes it."""
    return decision_from([said[name] for name in CampaignDecision._fields])


def error_of(answer: httpx.Response) -> Exception:
    """A problem document as the error it was."""
    try:
        said = answer.json()
        detail, title = str(said["detail"]), str(said["title"])
    except (ValueError, LookupError, TypeError):
        detail, title = f"The server answered {answer.status_code}.", ""
    kinds: dict[int, type[Exception]] = {
        401: PermissionError,
        403: NotForThisKeyError,
        404: KeyError,
    }
    if answer.status_code == 401:
        detail += " From Python: open_store(url, token='dpb_…'), or DPBANDITS_TOKEN."
    if answer.status_code == 404 and title == "Not found":
        return UnknownCampaignError(detail)
    if answer.status_code == 409:
        return NameTakenError(detail) if "name" in title else RuntimeError(detail)
    if title == "No reward":
        return RewardError(detail)
    return kinds.get(answer.status_code, ValueError)(detail)
