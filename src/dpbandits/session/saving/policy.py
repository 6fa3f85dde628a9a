"""The policy of a saved session: written by its name, and read without running any code that a
document names.
"""

from dataclasses import fields
from fractions import Fraction
from typing import Any

from dpbandits.core.values import damaged
from dpbandits.oracles import PROBLEMS, DecisionSet, problem_from_data
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy


def policy_to_data(policy: Policy) -> dict[str, Any]:
    """A policy as {"class": name, its hyper-parameters}."""
    values = {f.name: getattr(policy, f.name) for f in fields(policy) if f.init}
    if policy.labels is not None:
        values["arms"] = list(policy.labels)
    module = (
        {}
        if POLICIES.get(type(policy).__name__) is type(policy)
        else {"module": type(policy).__module__}
    )
    return (
        {"class": type(policy).__name__}
        | module
        | {name: plain(value) for name, value in values.items()}
    )


def plain(value: Any) -> Any:
    """A hyper-parameter as JSON."""
    return (
        str(value)
        if isinstance(value, Fraction)
        else value.to_data()
        if isinstance(value, DecisionSet)
        else value
    )


def policy_from_data(data: dict[str, Any], given: Policy | type[Policy] | None) -> Policy:
    """The policy `policy_to_data` described: one of ours by its name, another by the class that the
    caller gives.

    A document names no code: a module named in a file could be another one's class of the same
    name, which adds no noise.
    """
    name = data.get("class")
    kind = (
        given
        if isinstance(given, type)
        else type(given)
        if given is not None
        else POLICIES.get(str(name))
    )
    if kind is None or kind.__name__ != name or (given is None and "module" in data):
        raise ValueError(unknown_policy(name, given))
    try:
        policy = policy_made(kind, {k: v for k, v in data.items() if k not in ("class", "module")})
    except (TypeError, LookupError, OverflowError) as error:
        raise damaged(f"the parameters of {name} do not make one ({error})") from None
    if isinstance(given, Policy) and policy_to_data(policy) != policy_to_data(given):
        raise ValueError(f"Expected a session of {given!r}, got one of {policy!r}.")
    return policy


def policy_made(kind: type[Policy], values: dict[str, Any]) -> Policy:
    """A policy of hyper-parameters as JSON has them.

    Raises:
        ValueError, TypeError, LookupError, OverflowError: they do not make one.
    """
    known = {f.name for f in fields(kind) if f.init}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ValueError(
            f"{kind.__name__} does not take {', '.join(unknown)}; it takes "
            f"{', '.join(sorted(known))}."
        )
    if isinstance(values.get("problem"), dict):
        values = values | {"problem": problem_from_data(values["problem"])}
    return kind(**values)


def unknown_policy(name: object, given: object) -> str:
    if given is not None:
        shown = given.__name__ if isinstance(given, type) else type(given).__name__
        return f"Expected a session of {shown}, the policy that was given, got one of {name!r:.60}."
    return (
        f"Expected one of the policies {', '.join(POLICIES)}; got {name!r:.60}. If it is a "
        "policy of your own, give its class: "
        "Session.from_json(text, policy=YourPolicy)."
    )


def require_readable(policy: Policy) -> None:
    """Refuse to write what could never be read again: a decision set of the caller's own is rebuilt
    from no table.
    """
    for f in fields(policy):
        value = getattr(policy, f.name)
        kind = type(value).__name__
        if isinstance(value, DecisionSet) and PROBLEMS.get(kind) is not type(value):
            raise TypeError(
                f"Expected {f.name}= to be of a kind that a saved session can name "
                f"({', '.join(PROBLEMS)}), got a {kind} of your own. "
                "List its super arms in an ExplicitSet or ExplicitMatroid, or keep a log and "
                "play it again."
            )
