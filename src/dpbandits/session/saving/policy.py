"""The policy of a saved session: written by its name, and read without running any code that a
document names. An oracle of the caller's own is written by its size, and given again.
"""

from dataclasses import fields
from fractions import Fraction
from typing import Any

from dpbandits.campaign.people.price import policy_for_users
from dpbandits.core.values import damaged, part, whole
from dpbandits.oracles import PROBLEMS, DecisionSet, problem_from_data
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy


def policy_to_data(policy: Policy, *, own: bool = False) -> dict[str, Any]:
    """A policy as {"class": name, its hyper-parameters}.

    own: whether a decision set of the caller's own is written by its size; else it is refused.
    """
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
        | {name: plain(value, own) for name, value in values.items()}
    )


def plain(value: Any, own: bool) -> Any:
    """A hyper-parameter as JSON."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, DecisionSet):
        return size_of_own(value) if own and is_own(value) else value.to_data()
    return value


def is_own(problem: DecisionSet) -> bool:
    """Whether a decision set is the caller's own, which no table makes again."""
    return PROBLEMS.get(type(problem).__name__) is not type(problem)


def size_of_own(problem: DecisionSet) -> dict[str, Any]:
    """All that a document says of a decision set of the caller's own."""
    kind = type(problem).__name__
    return {"kind": kind, "own": True, "arms": problem.arms, "size": problem.size}


def given_problem(said: dict[str, Any], given: Policy | type[Policy] | None) -> DecisionSet:
    """The decision set of the caller's own, which has to be given again.

    Raises:
        ValueError: it is not, or is another one.
    """
    wanted = f"a {said.get('kind')!s:.60} of {said.get('arms')!s:.20} arms of your own"
    problem = getattr(given, "problem", None) if isinstance(given, Policy) else None
    if not isinstance(problem, DecisionSet):
        raise ValueError(
            f"Expected policy=, the policy that was saved: its problem is {wanted}, and a document "
            "names no code. Session.from_json(text, policy=policy) goes on with its oracle."
        )
    if not is_own(problem) or said["own"] is not True or size_of_own(problem) != said:
        raise ValueError(
            f"Expected a policy whose problem is {wanted}, super arms of "
            f"{said.get('size')!s:.20} at most; got {problem!r:.200}."
        )
    return problem


def given_for_users(
    given: Policy | type[Policy] | None, public: dict[str, Any]
) -> Policy | type[Policy] | None:
    """A policy that the caller gives, at the budget that one learned round of a user has."""
    if public["people"] is None or not isinstance(given, Policy):
        return given
    cap = whole(part(public["people"], "public.people", "cap")["cap"], "public.people.cap", 1)
    return policy_for_users(given, cap, apart=public.get("spacing") is not None)


def policy_from_data(data: dict[str, Any], given: Policy | type[Policy] | None) -> Policy:
    """The policy `policy_to_data` described: one of ours by its name, another by the class that the
    caller gives, or the policy.

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
    values = {k: v for k, v in data.items() if k not in ("class", "module")}
    said = values.get("problem")
    if isinstance(said, dict) and "own" in said:
        values["problem"] = given_problem(said, given)
    try:
        policy = policy_made(kind, values)
    except (TypeError, LookupError, OverflowError) as error:
        raise damaged(f"the parameters of {name} do not make one ({error})") from None
    if isinstance(given, Policy) and data_of(policy) != data_of(given):
        raise ValueError(f"Expected a session of {given!r}, got one of {policy!r}.")
    return policy


def data_of(policy: Policy) -> dict[str, Any]:
    """What a document says of a policy."""
    return policy_to_data(policy, own=True)


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
    """Refuse what a store could never open again by itself: a decision set of the caller's own is
    rebuilt from no table.
    """
    for f in fields(policy):
        value = getattr(policy, f.name)
        if isinstance(value, DecisionSet) and is_own(value):
            raise TypeError(
                f"Expected {f.name}= to be of a kind that a store can name "
                f"({', '.join(PROBLEMS)}), got a {type(value).__name__} of your own. List its "
                "super arms in an ExplicitSet or ExplicitMatroid; or run a Session, which can be "
                "saved and is opened again by Session.from_json(text, policy=policy)."
            )
