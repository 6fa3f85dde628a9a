"""What the options of `dpbandits campaign create` say of a policy and its campaign."""

import json
from typing import Any

from dpbandits.policies.named import close_to


def given_policy(policy: str, arms: str | None, epsilon: str | None) -> dict[str, Any]:
    """A policy's name and arguments. policy: its name, or all of it as JSON.

    Raises:
        ValueError: JSON that is none, or an argument that is said twice.
    """
    example = '{"name": "DPRateIMED", "arms": 2, "epsilon": "1"}'
    json_given = policy.lstrip().startswith("{")
    said = object_in(policy, "--policy", example) if json_given else {"name": policy}
    beside: dict[str, Any] = {}
    if arms is not None:
        names = [name.strip() for name in arms.split(",")]
        beside["arms"] = int(arms) if arms.strip().isdecimal() else names
    if epsilon is not None:
        beside["epsilon"] = epsilon
    if twice := sorted(set(said) & set(beside)):
        raise ValueError(f"Expected {', '.join(twice)} once: in --policy, or as an option.")
    return said | beside


def given_options(name: str, options: str) -> dict[str, Any]:
    """What `CampaignStore.create` takes beside name and policy.

    Raises:
        ValueError: no JSON object, or an option that is not known or of another kind.
    """
    from pydantic import ValidationError

    from dpbandits.service.creation import NewCampaign

    said = object_in(options, "--options", '{"min_share": 0.01}')
    known = sorted(set(NewCampaign.model_fields) - {"name", "policy"})
    for option in said:
        if option not in known:
            raise ValueError(
                f"--options: there is no {option!r}{close_to(option, known)}; known are "
                f"{', '.join(known)}."
            )
    try:
        return NewCampaign(name=name, policy={}, **said).options()
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise ValueError(f"--options: {'; '.join(wrong)}.") from None


def object_in(text: str, what: str, example: str) -> dict[str, Any]:
    """A JSON object.

    Raises:
        ValueError: it is none.
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"Expected {what} to be JSON, such as {example}.")
    return found
