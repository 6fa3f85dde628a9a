"""What requests carry. An error says where something is wrong and what was expected, never what
came.
"""

from datetime import timedelta
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from dpbandits.core.inputs import shown
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.policies.named import close_to
from dpbandits.service.turns.asks import LONGEST_KEY
from dpbandits.service.turns.beginning import require_few_arms
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.ranges import Range
from dpbandits.session.saving import policy_made

MOST_ITEMS = 10_000
"""Of any list in a request, such as answers."""

Item = TypeVar("Item")
Items = Annotated[list[Item], Field(max_length=MOST_ITEMS, fail_fast=True)]
"""A list that is refused at its first wrong item: to describe each of many takes seconds, in which
no other request is answered.
"""

Arm = str | int

Share = str | float
"""An exact number, best as text; in a ramp also a date."""


Id = Annotated[str, Field(max_length=100)]
"""A decision's name: text that a reply can repeat."""

SomeSeconds = Annotated[float, Field(gt=0, lt=1e12, allow_inf_nan=False)]


class Body(BaseModel):
    """What is not known is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, said: Any) -> Any:
        """A field's name is what came, too: the error names those that are known."""
        if isinstance(said, dict) and not said.keys() <= cls.model_fields.keys():
            known = ", ".join(cls.model_fields)
            raise PydanticCustomError(
                "unknown_field",
                "a field is not known here; expected some of {known}",
                {"known": known},
            )
        return said


class RangeBody(Body):
    """The declared range of rewards."""

    low: float
    high: float
    clip: bool = False
    minimise: bool = False

    def made(self) -> Range:
        return Range(self.low, self.high, clip=self.clip, minimise=self.minimise)


class GuardrailBody(Body):
    """A second number of each record, told as [reward, harm]."""

    name: str = Field(min_length=1, max_length=100)
    limit: float
    confidence: float = 0.95
    default: float = 0.0

    def made(self) -> Guardrail:
        return Guardrail(self.name, self.limit, self.confidence, self.default)


class KeyedBody(Body):
    """What may be sent again. key: a word of the caller's; sent again with it, a request is done
    once.
    """

    key: str | None = Field(default=None, max_length=LONGEST_KEY)


class CreateBody(KeyedBody):
    """A new campaign: its name, its policy by name and arguments, and options of `Session`.

    window, attribution_window: seconds. holdout, ramp: shares as numbers or their text, dates as
    text. unsealed: whether answers that are held for `attribution_window` may lie in the database
    in clear, where the server has no key. simulated_noise: a seed, for experiments only.
    """

    name: str = Field(min_length=1, max_length=100)
    policy: dict[str, Any]
    rewards: RangeBody | None = None
    default: float | None = None
    max_pending: int | None = None
    privacy_unit: str | None = None
    max_contributions: int | None = None
    window: SomeSeconds | None = None
    attribution_window: SomeSeconds | None = None
    assignment: str | None = None
    min_share: float | None = None
    seed: int | None = None
    segments: Items[str] | None = None
    holdout: Share | None = None
    ramp: Items[Items[Share]] | None = None
    control: Arm | None = None
    guardrail: GuardrailBody | None = None
    scope: str | None = None
    unsealed: bool | None = None
    simulated_noise: int | None = None

    def options(self) -> dict[str, Any]:
        """What `CampaignStore.create` takes beside name and policy."""
        found = {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name not in ("name", "policy", "rewards", "guardrail", "simulated_noise", "key")
            and getattr(self, name) is not None
        }
        for name in ("window", "attribution_window"):
            if name in found:
                found[name] = timedelta(seconds=found[name])
        if self.rewards is not None:
            found["rewards"] = self.rewards.made()
        if self.guardrail is not None:
            found["guardrail"] = self.guardrail.made()
        if self.simulated_noise is not None:
            found["noise"] = SimulatedNoise(self.simulated_noise)
        return found


class AskBody(KeyedBody):
    """Decisions to be made. key: made again with it, a request gives the same decisions."""

    count: int = Field(default=1, ge=0, le=MOST_ITEMS)
    eligible: Items[Arm] | None = None
    user: Arm | None = None
    segment: str | None = None


class TellItem(Body):
    """The answer to one decision: a reward, or in the local model the device's message."""

    id: Id
    reward: float | Items[float] | None = Field(default=None, repr=False)
    report: str | None = Field(default=None, repr=False)


class IdsBody(Body):
    """Decisions that are meant."""

    ids: Items[Id]


class ArmBody(KeyedBody):
    """An arm: its name, or its number."""

    arm: Arm | None = None


class CloseBody(KeyedBody):
    """Why a campaign is over."""

    why: str = Field(min_length=1, max_length=500)


class UserBody(KeyedBody):
    """A person."""

    user: Arm


class ScopeBody(Body):
    """A budget over campaigns. epsilon: an exact number as text, "4" or "1/2"; of a scope that
    there is, it may be left out. Sent again, it is the same budget, so it takes no key. The first
    campaign that joins fixes unit, window, trust and noise; others are refused.
    """

    name: str = Field(min_length=1, max_length=100)
    epsilon: str | None = None


def policy_from(said: dict[str, Any]) -> Policy:
    """A policy by its name and its arguments: {"name": "DPRateIMED", "arms": 2, "epsilon": "1"}.

    Raises:
        ValueError: there is no such policy, it does not take these arguments, or has more arms than
            a campaign may have.
    """
    name = said.get("name")
    if not isinstance(name, str) or name not in POLICIES:
        close = close_to(name, POLICIES) if isinstance(name, str) else ""
        raise ValueError(
            f"Expected policy.name to be a policy's; got {shown(name)}{close}. There are "
            f"{', '.join(sorted(POLICIES))}."
        )
    arguments = {key: value for key, value in said.items() if key != "name"}
    if "class" in arguments or "module" in arguments:
        raise ValueError("Expected policy.name and the policy's own arguments.")
    require_few_arms(longest_list(arguments))  # before a graph, say, is made of its edges
    try:
        policy = policy_made(POLICIES[name], arguments)
    except (TypeError, LookupError, OverflowError) as error:
        raise ValueError(f"{name} cannot be made of this: {error}") from None
    require_few_arms(policy.arms)
    return policy


def longest_list(said: Any) -> int:
    """The length of the longest list in a piece of JSON."""
    longest, left = 0, [said]
    while left:
        each = left.pop()
        if isinstance(each, list):
            longest = max(longest, len(each))
        if isinstance(each, (list, dict)):
            left += each if isinstance(each, list) else each.values()
    return longest
