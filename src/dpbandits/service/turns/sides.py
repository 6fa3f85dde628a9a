"""What a campaign with `holdout=` or `ramp=` begins with: a session for each side."""

from collections.abc import Mapping
from typing import Any

from dpbandits.core.inputs import shown
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.policies.cumulative import DPKLUCB
from dpbandits.service.turns.beginning import OPTIONS, segment_name
from dpbandits.session.arms import Roster
from dpbandits.session.holdout import HoldoutRule, Side, rule_of
from dpbandits.session.session import Session
from dpbandits.session.storing import play_only

DOUBLING = 2.0
"""By this factor the holdout people that are read grow from one reading to the next."""


def asked_rule(policy: Policy, options: Mapping[str, Any]) -> HoldoutRule | None:
    """The rule that a campaign's options ask for; None: everybody is the policy's.

    Raises:
        ValueError: options that contradict each other, or the policy. Nothing was created.
    """
    holdout, ramp, control = (options.get(name) for name in OPTIONS)
    if holdout is None and ramp is None:
        if control is not None:
            raise ValueError(
                "control= names the arm of those whom the policy does not decide for: give "
                "holdout= or ramp=, too. Nothing was created."
            )
        return None
    if options.get("segments") is not None:
        raise ValueError(
            "Expected segments= or one of holdout= and ramp=, and not both: create a campaign with "
            "a holdout for each segment. Nothing was created."
        )
    if policy.about.feedback != "bandit" or policy.randomizer() is not None:
        raise ValueError(
            "holdout= and ramp= are for policies that play one arm and whose rewards are read in "
            f"the central model; {shown(policy.name)} is none. Nothing was created."
        )
    if holdout is not None and (policy.guarantee is None or policy.guarantee.epsilon is None):
        raise ValueError(
            f"Expected a policy with an epsilon, at which the holdout people's mean is released, "
            f"too; {policy.name} has none. Nothing was created."
        )
    number = 0 if control is None else Roster.of(policy.arms, policy.labels).number(control)
    return rule_of(holdout, ramp, number)


def side_sessions(
    name: str, policy: Policy, rule: HoldoutRule, *, noise: Noise, **options: Any
) -> dict[str | None, Session]:
    """The session of each side, the policy's first: it is the one that a campaign without sides
    would begin with.
    """
    seed, made = options.pop("seed", None), dict[str | None, Session]()
    for place, side in enumerate(rule.sides):
        own = {} if seed is None else {"seed": seed + place}
        draws = SimulatedNoise(noise.seed + place) if type(noise) is SimulatedNoise else noise
        made[side] = side_session(side, name, policy, rule, noise=draws, **own, **options)
        made[side].campaign = segment_name(name, side)
    return made


def side_session(
    side: Side, name: str, policy: Policy, rule: HoldoutRule, **options: Any
) -> Session:
    """The session of one side. Beside the policy's, the control arm alone is in play."""
    if side == "policy":
        return Session(policy, campaign=name, **options)
    # with the same arms, so that an arm has one number and one name on all sides
    # nothing is left to chance here, and the seed that is given foretells the policy's side
    own = dict.fromkeys(("min_share", "seed"))
    plain = {**options, "assignment": "planned", **own}
    session = Session(single_arm_policy(policy), campaign=name, **plain)
    play_only(session, rule.control)
    return session


def single_arm_policy(policy: Policy) -> DPKLUCB:
    """Reads blocks of an arm whose sizes are fixed beforehand, at the policy's own price. For the
    "control" side any price would do, because nothing is read there.
    """
    promised = policy.guarantee
    epsilon = None if promised is None else promised.epsilon
    return DPKLUCB(
        # names stand where a number would
        arms=policy.arms if policy.labels is None else policy.labels,
        epsilon=1 if epsilon is None else epsilon,
        grid=getattr(policy, "grid", 1024),
        alpha=DOUBLING,
    )
