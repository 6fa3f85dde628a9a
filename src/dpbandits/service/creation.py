"""New campaigns: what they can be made of, and the rows that they begin with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from hashlib import sha256
from inspect import signature
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from dpbandits.core.errors import EditedRowsError
from dpbandits.core.inputs import (
    checked_name,
    checked_seed,
    options_of,
    refuse_others,
    require_options,
    shown,
)
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise, SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.policies.cumulative import DPKLUCB
from dpbandits.policies.named import EVERY_POLICY, close_to
from dpbandits.service.models import Body
from dpbandits.service.operations import MOST_ARMS, Items
from dpbandits.service.parts import compact, first_change
from dpbandits.service.refusals import code_for, refusal
from dpbandits.service.sealing import EDITED, StoreSeal
from dpbandits.service.tables import CampaignRow, Change
from dpbandits.service.transaction import ONLY_PART, Layout
from dpbandits.session.arms import Roster
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.options import (
    LONGEST_KEY,
    checked_guardrail,
    checked_rewards_range,
    checked_segments,
    require_for_contexts,
)
from dpbandits.session.people import SIDES, HoldoutRule, rule_of
from dpbandits.session.ranges import Range
from dpbandits.session.saving import policy_made, policy_to_data
from dpbandits.session.session import Session
from dpbandits.session.state import LONGEST_WHY
from dpbandits.session.storing import play_single_arm

KEPT = {"campaign", "user_key", "clock"}
"""Options of a session that a store knows by itself."""

OPTIONS = "holdout", "control"
"""The options of a campaign that its sessions do not know."""

TAKEN = [
    *(name for name in options_of(Session) if name not in KEPT | {"policy"}),
    "segments",
    *OPTIONS,
]
"""What may be said of a new campaign beside its name and scope."""

MOST_SEGMENTS = 1_000
LONGEST_NAME = 200
"""Characters of a campaign's name and its part's together, with a stroke between them."""

DOUBLING = 2.0
"""By this factor the holdout people that are read grow from one reading to the next."""


# What is sent


class RangeModel(Body):
    """The declared range of rewards."""

    low: float
    high: float
    clip: bool = False
    minimise: bool = False


class GuardrailModel(Body):
    """The second number of each record that is watched: see `Guardrail`."""

    name: str
    limit: float
    confidence: float = 0.95
    default: float = 0.0


Seconds = Annotated[
    float,
    Field(gt=0, lt=1e12, allow_inf_nan=False),
    AfterValidator(lambda seconds: timedelta(seconds=seconds)),
]
"""A time as it is sent; once it is read, a timedelta."""

Share = str | float
TIMES = ("window", "attribution_window", "period")


class NewCampaign(Body):
    """A new campaign: its name, its policy by name and arguments, and options of `Session`.

    Args:
        window, attribution_window, period: seconds.
        holdout: a share as a number or its text.
        unsealed: whether answers that are held may lie in the database in clear, where the server
            has no key.
        simulated_noise: a seed, for experiments only.
        key: a word of the caller's: sent again with it, the campaign is made once.
    """

    name: str = Field(min_length=1, max_length=100)
    policy: dict[str, Any]
    rewards: RangeModel | None = None
    default: float | None = None
    max_pending: int | None = None
    privacy_unit: str | None = None
    max_contributions: int | None = None
    window: Seconds | None = None
    sticky: bool | None = None
    attribution_window: Seconds | None = None
    assignment: str | None = None
    min_share: float | dict[str, float] | None = None
    period: Seconds | None = None
    seed: int | None = None
    segments: Items[str] | None = None
    holdout: Share | None = None
    control: str | int | None = None
    guardrail: GuardrailModel | None = None
    responsible: str | None = Field(default=None, max_length=LONGEST_WHY)
    scope: str | None = None
    unsealed: bool | None = None
    simulated_noise: int | None = None
    key: str | None = Field(default=None, max_length=LONGEST_KEY)

    @code_for("option")
    def options(self) -> dict[str, Any]:
        """What `CampaignStore.create` takes beside name and policy."""
        apart = ("name", "policy", "simulated_noise")
        options = {
            n: value for n, value in dict(self).items() if n not in apart and value is not None
        }
        if self.rewards is not None:
            options["rewards"] = Range(**dict(self.rewards))
        if self.guardrail is not None:
            options["guardrail"] = Guardrail(**dict(self.guardrail))
        if self.simulated_noise is not None:
            options["noise"] = SimulatedNoise(self.simulated_noise)
        return options


def sent_creation(name: str, policy: Policy, options: Mapping[str, Any]) -> dict[str, Any]:
    """A new campaign as a client sends it.

    Raises:
        TypeError: the policy, the range or the guardrail is none, or a class of them.
        ValueError: a noise source that cannot be sent, or a time that is no timedelta.
    """
    refuse_others(policy, Policy, "a policy", "dpbandits.DPKLUCB(arms=5, epsilon=1)")
    checked_rewards_range(options.get("rewards"), policy.randomizer() is not None)
    checked_guardrail(options.get("guardrail"))
    data = policy_to_data(policy)
    data["name"] = data.pop("class")
    body: dict[str, Any] = {"name": name, "policy": data}
    for option, value in options.items():
        if isinstance(value, timedelta):
            value = value.total_seconds()
        elif option in TIMES and value is not None:  # days, or the seconds of the server?
            raise ValueError(
                f"Expected {option}={shown(value)} to be a datetime.timedelta above 0, for example "
                "timedelta(days=7)."
            )
        elif isinstance(value, (Range, Guardrail)):
            value = asdict(value)
        elif option == "min_share" and isinstance(value, Mapping):
            value = {str(arm): share for arm, share in value.items()}
        elif option == "holdout" and value is not None and not isinstance(value, (int, float)):
            value = str(value)
        elif option == "noise" and value is not None:
            if not isinstance(value, SimulatedNoise):
                raise ValueError("Expected no noise=: a server draws secure noise by itself.")
            option, value = "simulated_noise", value.seed
        body[option] = value
    return body


@code_for("policy")
def policy_from(data: Mapping[str, Any]) -> Policy:
    """Return a policy by its name and its arguments: {"name": "DPRateIMED", "arms": 2, "epsilon":
    "1"}.

    Raises:
        ValueError: there is no such policy, it does not take these arguments, or has more arms than
            a campaign may have.
    """
    name, known = data.get("name"), EVERY_POLICY
    if not isinstance(name, str) or name not in known:
        close = close_to(name, known) if isinstance(name, str) else ""
        raise refusal(
            "no_such_policy",
            f"Expected policy.name to be a policy's; got {shown(name)}{close}. There are "
            f"{', '.join(sorted(known))}.",
        )
    arguments = {key: value for key, value in data.items() if key != "name"}
    if "class" in arguments or "module" in arguments:
        raise ValueError("Expected policy.name and the policy's own arguments.")
    lists = {key: value for key, value in arguments.items() if key != "public_contexts"}
    require_few_arms(longest_list(lists))  # before a graph, say, is made of its edges
    for each in signature(known[name]).parameters.values():
        if each.default is each.empty and each.name not in arguments:
            raise ValueError(f"Expected {each.name}=, for which {name} has no default.")
    try:
        policy = policy_made(known[name], arguments)
    except (TypeError, LookupError, OverflowError, RecursionError) as error:
        raise ValueError(f"{name} cannot be made of this: {error}") from None
    require_few_arms(policy.arms)
    return policy


def longest_list(data: Any) -> int:
    """The length of the longest list in a piece of JSON."""
    longest, left = 0, [data]
    while left:
        each = left.pop()
        if isinstance(each, list):
            longest = max(longest, len(each))
        if isinstance(each, (list, dict)):
            left += each if isinstance(each, list) else each.values()
    return longest


# What is refused


def require_creatable(name: str, noise: Noise | None, options: Mapping[str, Any]) -> None:
    """Refuse what no campaign can be made of.

    Raises:
        ValueError: of the name, or of the options. Nothing was created.
        TypeError: of the noise.
    """
    if set(checked_name(name)) & set("/\\?#%") or name in (".", ".."):
        raise ValueError(
            f"Expected name={shown(name)} to be without / \\ ? # and %: it stands in "
            "addresses. Nothing was created."
        )
    if KEPT & options.keys():
        raise ValueError(
            "Expected neither campaign=, user_key= nor clock=: a campaign is known by its "
            "name, its people under a key made from the store's, and the clock is the store's."
        )
    require_options("create()", options, TAKEN)
    if noise is not None and type(noise) not in (SecureNoise, SimulatedNoise):
        raise TypeError(
            "Expected noise= to be SecureNoise or SimulatedNoise: a user-defined source cannot "
            "be made again from what a database holds. Nothing was created."
        )


def require_few_arms(arms: int, parts: int = 1) -> None:
    """Refuse a campaign whose every call would take long.

    Raises:
        ValueError: it has too many arms.
    """
    if arms * parts > MOST_ARMS:
        raise ValueError(
            f"Expected a campaign to have at most {MOST_ARMS:,} arms, over all its segments; this "
            f"one would have {arms * parts:,}. Each call reads and writes what is known of "
            "every arm. Nothing was created."
        )


# What a campaign begins with


def holdout_rule(policy: Policy, options: Mapping[str, Any]) -> HoldoutRule | None:
    """Return the rule that a campaign's options ask for; None: everybody is the policy's.

    Raises:
        ValueError: options that contradict each other, or the policy. Nothing was created.
    """
    holdout, control = (options.get(name) for name in OPTIONS)
    parts = {"segments": options.get("segments"), "holdout": holdout}
    require_for_contexts(policy, [name for name, value in parts.items() if value is not None])
    if holdout is None:
        if control is not None:
            raise ValueError(
                "control= names the arm of holdout people: give holdout=, too. Nothing was created."
            )
        return None
    if options.get("segments") is not None:
        raise ValueError(
            "Expected segments= or holdout=, and not both: create a campaign with a holdout for "
            "each segment. Nothing was created."
        )
    if options.get("sticky") and options.get("period") is not None:
        raise ValueError(
            "Expected sticky= with holdout= to come without period=: with it the policy learns "
            "from first visits alone, so the sides could not be compared. Nothing was created."
        )
    if policy.about.feedback != "bandit" or policy.randomizer() is not None:
        raise ValueError(
            "holdout= is for policies that play one arm and whose rewards are read in the central "
            f"model; {shown(policy.name)} is none. Nothing was created."
        )
    if policy.guarantee is None or policy.guarantee.epsilon is None:
        raise ValueError(
            "Expected a policy with an epsilon, at which the holdout people's mean is released, "
            f"too; {policy.name} has none. Nothing was created."
        )
    number = 0 if control is None else Roster.of(policy.arms, policy.labels).number(control)
    return rule_of(holdout, number)


def first_sessions(
    name: str,
    policy: Policy,
    rule: HoldoutRule | None,
    *,
    noise: Noise,
    segments: object = None,
    seed: int | None = None,
    **options: Any,
) -> dict[str, Session]:
    """Return the session of each part, by name.

    Raises:
        ValueError: they are no names of segments, or too long or many. Nothing was created.
    """
    names: tuple[str, ...] = (ONLY_PART,)
    if rule is not None:
        names = SIDES
    elif segments is not None:
        names = checked_segments(segments)
    if len(names) > MOST_SEGMENTS:
        raise ValueError(
            f"Expected at most {MOST_SEGMENTS:,} segments=; this campaign would have "
            f"{len(names):,}. Nothing was created."
        )
    require_few_arms(policy.arms, 1 if rule is not None else len(names))
    made = dict[str, Session]()
    for place, part in enumerate(names):
        own = {} if seed is None else {"seed": checked_seed(seed) + place}
        draws = SimulatedNoise(noise.seed + place) if type(noise) is SimulatedNoise else noise
        how = {"noise": draws, "campaign": name, **own, **options}
        if part == "holdout" and rule is not None:
            made[part] = holdout_session(policy, rule, how)
        else:
            made[part] = Session(policy, **how)
        made[part].campaign = part_name(name, part)
    return made


def part_name(name: str, part: str) -> str:
    """How the decisions of a part name their campaign.

    Raises:
        ValueError: it is too long.
    """
    both = name if part == ONLY_PART else f"{name}/{part}"
    if len(both) > LONGEST_NAME:
        raise ValueError(
            f"Expected the names of campaign and segment {shown(part)} to have fewer than "
            f"{LONGEST_NAME} characters together. Nothing was created."
        )
    return both


def holdout_session(policy: Policy, rule: HoldoutRule, options: Mapping[str, Any]) -> Session:
    """Return the session of holdout people: the control arm alone is in play. It reads blocks whose
    sizes are fixed beforehand, at the policy's own cost.
    """
    assert policy.guarantee is not None
    assert policy.guarantee.epsilon is not None
    single = DPKLUCB(
        # with the same arms, so that an arm has one number and one name on all sides
        arms=policy.arms if policy.labels is None else policy.labels,
        epsilon=policy.guarantee.epsilon,
        grid=getattr(policy, "grid", 1024),
        alpha=DOUBLING,
    )
    # nothing is left to chance here, and the seed that is given foretells the policy's side
    plain = {**options, "assignment": "planned", "min_share": None, "period": None, "seed": None}
    if not {options.get("window"), options.get("attribution_window")} - {None}:
        plain["clock"] = None  # it has nothing to time
    session = Session(single, **plain)
    play_single_arm(session, rule.control)
    return session


def beginning(
    name: str,
    uid: str,
    sessions: Mapping[str, Session],
    rule: HoldoutRule | None,
    seal: StoreSeal,
    options: Mapping[str, Any],
    now: float,
    took: tuple[str, str] | None = None,
) -> tuple[Layout, dict[str, Change]]:
    """Return what a campaign is made of, and by uid what is written of each part.

    Args:
        took: the scope that it joins, and what it takes of it.
    """
    shown_options = options_shown(next(iter(sessions.values())).policy, options)
    public_options: dict[str, Any] = {"shown": shown_options}
    if ONLY_PART not in sessions:
        public_options["segments"] = list(sessions)
    if rule is not None:
        public_options["holdout"] = rule.to_data()
    if took is not None:
        public_options["scope"] = list(took)
    whole = CampaignRow(uid, name, uid, compact(public_options), now)
    parts = {
        part: whole
        if part == ONLY_PART
        else CampaignRow(
            part_uid(uid, part), session.campaign, uid, compact({"shown": shown_options}), now
        )
        for part, session in sessions.items()
    }
    changes = {
        parts[part].uid: first_change(parts[part], session, seal, now)
        for part, session in sessions.items()
    }
    return Layout(whole, parts, rule), changes


def part_uid(uid: str, part: str) -> str:
    """The uid of a segment, or of a side."""
    return sha256(f"{uid} {part}".encode()).hexdigest()[:32]


def options_shown(policy: Policy, options: Mapping[str, Any]) -> dict[str, str]:
    """How a campaign is made, for readers."""
    known = {
        key: str(value) for key, value in options.items() if key != "seed" and value is not None
    }
    return {"policy": repr(policy), **known}


def creation_mark(name: str, policy: Policy, options: Mapping[str, Any], scope: str | None) -> str:
    """What is kept of a call that creates a campaign, which tells whether another call creates the
    same one. All that it is made of is public.
    """
    how = [name, policy_to_data(policy), options_shown(policy, options), scope]
    made = json.dumps(how, sort_keys=True, default=str)
    return compact([sha256(made.encode()).hexdigest(), None])


def options_in(row: CampaignRow) -> dict[str, Any]:
    """How a campaign was made.

    Raises:
        EditedRowsError: its row does not say so.
    """
    options: Any = None
    with suppress(ValueError, TypeError, RecursionError):
        options = json.loads(row.options)
    if not isinstance(options, dict):
        raise EditedRowsError(EDITED)
    return options


def layout_of(row: CampaignRow, parts: list[CampaignRow], seal: StoreSeal) -> Layout:
    """Return what a stored campaign is made of.

    Raises:
        EditedRowsError: rows of its parts are missing.
        ValueError: it needs a key, which this store does not have.
    """
    options = options_in(row)
    names = tuple(map(str, options.get("segments", ())))
    if not names:
        return Layout(row, {ONLY_PART: row})
    by_name = {part.name: part for part in parts}
    parts_by_name = {name: by_name.get(part_name(row.name, name)) for name in names}
    known = {name: part for name, part in parts_by_name.items() if part is not None}
    if len(known) < len(names):
        raise EditedRowsError(EDITED)
    if options.get("holdout") is None:
        return Layout(row, known)
    rule = HoldoutRule.restored(options["holdout"])
    return Layout(row, known, rule, seal.side_key(row.uid))
