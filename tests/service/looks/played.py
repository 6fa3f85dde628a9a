"""Campaigns of every kind, some turns of them, and all that they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dpbandits as dpb
from tests.service.machine import PEOPLE, WINDOWED, Time

TREE = dpb.DPUCB(arms=3, epsilon=1, horizon=1000)
SUPER = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=1)
GUARDED = {"guardrail": dpb.Guardrail("harm", limit=0.5)}


def of(policy: Any = None, **options: Any) -> Callable[[Any, Time], Any]:
    def made(store: Any, clock: Time) -> Any:
        chosen = policy or dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=4)
        return store.create("c", chosen, noise=dpb.SimulatedNoise(1), seed=2, **options)

    return made


CAMPAIGNS: dict[str, Callable[[Any, Time], Any]] = {
    "plain": of(),
    "tree": of(TREE),
    "super arms": of(SUPER),
    "experts": of(dpb.RNMFTNL(actions=3, epsilon=1)),
    "reports": of(dpb.LDPKLUCB(arms=2, epsilon=4)),
    "guardrail": of(**GUARDED),
    "people": of(**PEOPLE),
    "windowed": of(**WINDOWED),
    "segments": of(segments=["DE", "FR"], **PEOPLE),
    "holdout": of(holdout=".3", ramp=[("1969-12-31", ".5")]),
}


def go_on(campaign: Any, clock: Time) -> None:
    """Some decisions, most of them answered; an arm comes where one can."""
    for number in range(24):
        clock.now += 10
        options: dict[str, Any] = {}
        if hasattr(campaign, "segments") and not hasattr(campaign, "rule"):
            options["segment"] = campaign.segments[number % 2]
        if hasattr(campaign, "rule") or campaign.options.get("privacy_unit") == "user":
            options["user"] = f"{number % 20} at {clock.now}"
        decision = campaign.ask(**options)
        if number % 6:
            campaign.tell(decision, reward(campaign, decision, number))


def reward(campaign: Any, decision: Any, number: int) -> Any:
    """What is told of a decision."""
    policy = campaign.policy
    if policy.about.feedback != "bandit":
        looked_at = decision.observe or range(policy.arms)
        return [number % 2] * len(looked_at)
    if policy.randomizer() is not None:
        return policy.randomizer().report(number % 2, dpb.SimulatedNoise(number))
    if getattr(campaign, "guardrail", None) is not None:
        return number % 2, 0
    return number % 2


LOOKS = ("guarantee", "spent", "generation", "arms", "ledger", "attribution_window", "options")
CALLS = ("beliefs", "statement", "summary")
OF_ONE = ("releases", "decisions", "events", "history", "recent", "sample_ratio")


def everything(campaign: Any) -> dict[str, Any]:
    """All that a campaign shows, as text, for some of it is compared by identity."""
    found = {look: getattr(campaign, look) for look in LOOKS}
    found |= {call: getattr(campaign, call)() for call in CALLS}
    if hasattr(campaign, "segments"):
        parts = {name: everything(campaign[name]) for name in campaign.segments}
        rule = getattr(campaign, "rule", None)
        return shown(found) | parts | ({"uplift": str(campaign.uplift())} if rule else {})
    found |= {call: getattr(campaign, call)() for call in OF_ONE}
    if campaign.guardrail is not None:
        found |= {"harm": campaign.harm(), "alarms": campaign.alarms}
    if campaign.policy.randomizer() is not None:
        found["randomizer"] = campaign.randomizer()
    return shown(found)


def shown(found: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) for name, value in found.items()}
