"""Which policies are compared, at which ε, and what each is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from dpbandits.core.inputs import shown
from dpbandits.core.privacy import as_fraction
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.policies.named import NO_ABOUT, close_to
from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.session.people import policy_for_users

DEFAULT = RECOMMENDED[:1]
"""What is forecast where no policies are named."""


@dataclass(frozen=True)
class Entrant:
    """A policy under a label. epsilon: what is promised to a user; None: no privacy."""

    label: str
    epsilon: float | None
    policy: Policy


def entrants(
    policies: Sequence[str | type[Policy]] | None,
    epsilons: Sequence[Any] | Any,
    arms: int,
    visitors: int,
    cap: int = 1,
) -> list[list[Entrant]]:
    """For each policy, itself at every ε, small ones first.

    cap: rounds in which one user is learned from at most, as of a session; each of them gets that
        share of ε.

    Raises:
        ValueError: no such policy, one that does not play single arms at an ε, or no ε.
    """
    given: Any = epsilons if isinstance(epsilons, (list, tuple)) else [epsilons]
    budgets = sorted({as_fraction(epsilon, "epsilon") for epsilon in given})
    named = DEFAULT if policies is None else policies
    if isinstance(named, (str, type)):
        named = [named]
    if not budgets or not named:
        raise ValueError("Expected one ε and one policy at least: epsilon=[.5, 1], for example.")
    groups = []
    for name in dict.fromkeys(named):
        cls = forecast_class(name)
        whole = [(epsilon, built(cls, arms, visitors, epsilon=epsilon)) for epsilon in budgets]
        made = [(epsilon, policy_for_users(policy, cap)) for epsilon, policy in whole]
        groups.append([Entrant(cls.__name__, float(epsilon), policy) for epsilon, policy in made])
    return groups


def forecast_class(name: object) -> type[Policy]:
    """The class that is meant, by itself or by its name."""
    cls: Any = POLICIES.get(name) if isinstance(name, str) else name
    if not (isinstance(cls, type) and issubclass(cls, Policy)):
        close = close_to(name, POLICIES) if isinstance(name, str) else ""
        raise ValueError(
            f"Expected policies={shown(name)} to be a policy's name or class, such as "
            f"{DEFAULT[0]!r}{close}; `dpbandits list` and dpbandits.list_policies() list them."
        )
    takes, about = {field.name for field in fields(cls)}, getattr(cls, "about", None)
    if about is None:
        raise ValueError(f"{NO_ABOUT} {cls.__name__} says nothing.")
    if about.feedback != "bandit" or about.goal != "regret" or not {"arms", "epsilon"} <= takes:
        raise ValueError(
            f"Expected policies that play single arms at an ε, got {cls.__name__}: a forecast is "
            "for A/B tests and their like."
        )
    return cls


def built(cls: type[Policy], arms: int, visitors: int, **budget: Any) -> Policy:
    """An instance for so many arms; it knows how many visitors come if it can."""
    takes = {field.name for field in fields(cls)}
    known = {"horizon": visitors} if "horizon" in takes else {}
    return cls(arms=arms, **known, **budget)


def twin_of(entrant: Entrant, visitors: int) -> Entrant | None:
    """The same without privacy."""
    cls = POLICIES.get(entrant.policy.about.twin)
    if cls is None:
        return None
    return Entrant(cls.__name__, None, built(cls, entrant.policy.arms, visitors))
