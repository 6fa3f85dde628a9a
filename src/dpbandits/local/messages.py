"""The three messages of local privacy, as JSON: the randomizer, the decision and the user's report.
All of them are public.

The server describes the randomizer once and sends decisions. A user's device answers each decision
with one report. All messages name their campaign: the server chooses the name, and a device answers
only the campaign whose description it was given.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

from dpbandits.core.errors import MessageError
from dpbandits.core.inputs import (
    MOST_ARMS,
    require_shallow,
    tuples_for_lists,
    unique_keys,
)
from dpbandits.core.privacy import LARGEST, Grid, as_fraction
from dpbandits.mechanisms.randomizers import (
    LocalLaplace,
    RandomizedResponse,
    Randomizer,
    Report,
    is_well_formed,
)
from dpbandits.noise.exact import LARGEST_SCALE

RANDOMIZERS: dict[str, type[Randomizer]] = {
    cls.__name__: cls for cls in (LocalLaplace, RandomizedResponse)
}
LONGEST = 2**20
"""The most characters of a message; longer ones are not read."""

LONGEST_NAME = 200
"""The most characters of a campaign's name."""

LARGEST_STEP = 2**60
"""A bound on the numbers of a report, in grid steps."""

VERSION = 1
"""The version of these messages."""


class Asked(NamedTuple):
    """A decision as the user's device reads it.

    Args:
        campaign: name of the campaign.
        id: number of the decision.
        action: the arm or super arm.
        observe: the arms to report about, in this order.
    """

    campaign: str
    id: int
    action: int | tuple[int, ...]
    observe: tuple[int, ...]


class Described(NamedTuple):
    """The randomizer of a campaign, as the user's device reads it."""

    campaign: str
    randomizer: Randomizer


class Told(NamedTuple):
    """A user's report on decision `id` of a campaign, for `Session.tell(id, report)`."""

    campaign: str
    id: int
    report: Report


def randomizer_to_json(randomizer: Randomizer, campaign: str = "") -> str:
    """Return the public description of a policy's randomizer, for one campaign.

    Raises:
        MessageError: the randomizer cannot be described.
    """
    kind = type(randomizer).__name__
    if kind not in RANDOMIZERS:
        raise MessageError(
            f"Expected one of the randomizers {', '.join(RANDOMIZERS)}, got a {kind}."
        )
    if not short(randomizer.epsilon):
        raise MessageError(
            "Expected an epsilon whose numerator and denominator have at most 100 digits. Round "
            "it to a shorter one."
        )
    grid = {"steps": randomizer.grid.steps, "rounding": randomizer.grid.rounding}
    return written(
        campaign,
        randomizer=kind,
        epsilon=str(randomizer.epsilon),
        grid=grid,
        width=randomizer.width,
    )


def randomizer_from_json(text: str) -> Described:
    """Return the randomizer and the campaign of a description.

    Raises:
        MessageError: not a valid description.
    """
    data = fields_of(text, {"randomizer", "epsilon", "grid", "width"}, "a randomizer's description")
    kind = RANDOMIZERS.get(str(data["randomizer"]))
    grid = data["grid"]
    if (
        kind is None
        or not whole_at_least(data["width"], 1)
        or data["width"] > MOST_ARMS
        or not isinstance(grid, dict)
        or set(grid) != {"steps", "rounding"}
    ):
        raise MessageError(
            f"Expected a randomizer among {', '.join(RANDOMIZERS)} with its grid and width."
        )
    made = None
    with suppress(ValueError):  # so that the error below has no context that shows the text
        if (
            isinstance(data["epsilon"], str)
            and whole_at_least(grid["steps"], 1)
            and grid["rounding"] in ("nearest", "bernoulli")
        ):
            epsilon = as_fraction(data["epsilon"], "epsilon")
            put = Grid(steps=grid["steps"], rounding=grid["rounding"])
            made = kind(epsilon=epsilon, grid=put, width=data["width"]) if short(epsilon) else None
            if isinstance(made, LocalLaplace) and made.reach > 60 * LARGEST_SCALE:
                made = None  # its noise could not be drawn, but would be charged
    if made is None:
        raise MessageError(
            "Expected epsilon to be a text such as '1/10' with numbers of at most 100 digits, "
            "grid steps from 1 to 2^20, "
            "rounding nearest or bernoulli, and reports within 60 * 2^50 steps."
        )
    return Described(data["campaign"], made)


def decision_to_json(
    id: int, action: Any, observe: tuple[int, ...] | None, *, campaign: str = ""
) -> str:
    return written(campaign, id=id, action=action, observe=observe)


def decision_from_json(text: str) -> Asked:
    """Return the decision that a user's device is to report about.

    Raises:
        MessageError: not a valid message, or it observes arms that were not played.
    """
    data = fields_of(text, {"id", "action", "observe"}, "a decision")
    action, observe = tuples_for_lists(data["action"]), tuples_for_lists(data["observe"])
    played = action if isinstance(action, tuple) else (action,)
    observe = played if observe is None else observe if isinstance(observe, tuple) else ()
    if not whole_at_least(data["id"], 1) or not all(
        whole_at_least(arm, 0) for arm in (*played, *observe)
    ):
        raise MessageError("Expected a decision's id and arms to be whole numbers.")
    if not observe or len(set(observe)) < len(observe) or not set(observe) <= set(played):
        raise MessageError("Expected a decision to observe some of the arms it plays, each once.")
    return Asked(data["campaign"], data["id"], action, observe)


def report_to_json(id: int, report: Report, campaign: str = "") -> str:
    """Return the message of a report.

    Raises:
        MessageError: the report does not consist of whole grid steps; it may be a raw reward.
    """
    if not is_well_formed(report) or not whole_at_least(id, 1):
        raise MessageError(
            "Expected the id of a decision, and a Report of whole grid steps as a randomizer "
            "makes it (not shown)."
        )
    return written(
        campaign, id=id, steps=report.steps, randomizer=report.randomizer, noise=report.noise
    )


def report_from_json(text: str) -> Told:
    """Return a user's report. The session checks later whether it fits the decision and the
    policy's randomizer.

    Raises:
        MessageError: not a valid message, or it contains more than a report.
    """
    data = fields_of(text, {"id", "steps", "randomizer", "noise"}, "a report")
    steps = tuples_for_lists(data["steps"])
    numbers = steps if isinstance(steps, tuple) else (steps,)
    if (
        not whole_at_least(data["id"], 1)
        or not numbers
        or not all(whole_at_least(step, -LARGEST_STEP) and step < LARGEST_STEP for step in numbers)
    ):
        raise MessageError("Expected a report's id and steps to be whole numbers.")
    report = Report(steps, data["randomizer"], data["noise"])
    if not is_well_formed(report):
        raise MessageError(
            "Expected a report to name its randomizer, and its noise: secure or simulated."
        )
    return Told(data["campaign"], data["id"], report)


def written(campaign: str, **fields: object) -> str:
    if not is_name(campaign):
        raise MessageError(
            f"Expected a campaign's name to be text of at most {LONGEST_NAME} characters."
        )
    return json.dumps({"version": VERSION, "campaign": campaign} | fields)


def is_name(campaign: object) -> bool:
    return type(campaign) is str and len(campaign) <= LONGEST_NAME


def fields_of(text: str, names: set[str], what: str) -> Mapping[str, Any]:
    """Return the JSON object with exactly these fields, a version and a campaign."""
    try:
        data = json.loads(text, object_pairs_hook=unique_keys) if len(text) <= LONGEST else None
        require_shallow(data)
    except Exception as error:
        is_foreign = type(text) not in (str, bytes)  # it may be a reward that runs code
        if not is_foreign and not isinstance(error, (ValueError, TypeError, RecursionError)):
            raise
        data = None
    names = names | {"version", "campaign"}
    if not isinstance(data, dict) or set(data) != names:
        raise MessageError(
            f"Expected {what}: a JSON object with the fields {', '.join(sorted(names))}, and no "
            "others."
        )
    if type(data["version"]) is not int or data["version"] != VERSION:
        raise MessageError(
            f"Expected {what} of version {VERSION}: update the package on the server or on the "
            "device."
        )
    if not is_name(data["campaign"]):
        raise MessageError(
            f"Expected {what} to name its campaign, in at most {LONGEST_NAME} characters."
        )
    return data


def short(epsilon: Fraction) -> bool:
    """Return whether every device can add up such numbers."""
    return max(epsilon.numerator, epsilon.denominator) <= LARGEST


def whole_at_least(value: object, low: int) -> bool:
    return type(value) is int and value >= low
