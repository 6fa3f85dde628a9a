"""Saved sessions: policies and states to JSON and back, exactly. Fractions are written as "1/10", tuples as lists."""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from typing import Any

from dpbandits.noise import Noise, noise_from_state
from dpbandits.oracles import DecisionSet, problem_from_data
from dpbandits.policies import POLICIES
from dpbandits.policy import Policy

VERSION = 2


def policy_to_data(policy: Policy) -> dict[str, Any]:
    """A policy as {"class": name, its hyper-parameters}."""
    values = {f.name: getattr(policy, f.name) for f in fields(policy) if f.init}
    module = {} if type(policy).__name__ in POLICIES else {"module": type(policy).__module__}
    return {"class": type(policy).__name__} | module | {name: plain(value) for name, value in values.items()}


def plain(value: Any) -> Any:
    """A hyper-parameter as JSON."""
    return str(value) if isinstance(value, Fraction) else value.to_data() if isinstance(value, DecisionSet) else value


def policy_from_data(data: dict[str, Any]) -> Policy:
    """The policy `policy_to_data` described; unknown names and parameters are errors that list what is known."""
    name = data.get("class")
    found = POLICIES.get(str(name)) if "module" not in data else imported(data["module"], str(name))
    if found is None:
        raise ValueError(f"Expected one of the policies {', '.join(POLICIES)}; got {name!r}.")
    known = {f.name for f in fields(found) if f.init}
    given = {k: v for k, v in data.items() if k not in ("class", "module")}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"{name} does not take {', '.join(unknown)}; it takes {', '.join(sorted(known))}.")
    if isinstance(given.get("problem"), dict):
        given["problem"] = problem_from_data(given["problem"])
    return found(**given)


def imported(module: str, name: str) -> type[Policy] | None:
    """A third party's policy class, already imported by the program that loads the document.

    Documents never cause an import: a file should not be able to run code.
    """
    import sys

    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) and issubclass(found, Policy) else None


def write_document(policy: Policy, public: dict[str, Any], private: dict[str, Any]) -> str:
    head = {"format": "dpbandits session", "version": VERSION, "policy": policy_to_data(policy)}
    return json.dumps(head | {"public": public, "private": private})


def read_document(text: str) -> tuple[Policy, dict[str, Any], dict[str, Any]]:
    """Policy, public part and private part of a saved session, with its state rebuilt.

    Raises:
        ValueError: not such a document, a part is missing, or another version.
    """
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, TypeError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(f"Expected the JSON text of Session.to_json(); this is not JSON{where}.") from None
    if not isinstance(data, dict) or data.get("format") != "dpbandits session":
        raise ValueError('Expected a document with "format": "dpbandits session", as Session.to_json() writes it.')
    if data.get("version") != VERSION:
        raise ValueError(f"Expected version {VERSION} of the document, got {data.get('version')!r}.")
    missing = [key for key in ("policy", "public", "private") if not isinstance(data.get(key), dict)]
    missing += [f"public.{key}" for key in PUBLIC_KEYS if key not in (data.get("public") or {})]
    missing += [f"private.{key}" for key in ("sums", "memory", "noise") if key not in (data.get("private") or {})]
    if missing:
        raise ValueError(f"The saved session is damaged: it lacks {', '.join(missing)}.")
    policy = policy_from_data(data["policy"])
    public = data["public"]
    public["state"] = state_from_data(policy, public["state"])
    if public["plan_finished"] is not None:
        public["plan_finished"] = tuple(public["plan_finished"])
    return policy, public, data["private"]


PUBLIC_KEYS = (
    "seed", "default", "state", "step", "asked", "asked_in_plan", "resolved",
    "pending", "told_in_plan", "plan_finished", "rng", "vault",
)  # fmt: skip


def state_from_data(policy: Policy, data: list[Any]) -> Any:
    """A policy's state from its JSON form: the same NamedTuple, lists turned back into tuples."""
    kind = type(policy.init())
    if not isinstance(data, list) or len(data) != len(kind._fields):
        raise ValueError(f"The saved session is damaged: its state does not fit {type(policy).__name__}.")
    return kind(*(frozen(value) for value in data))


def noise_to_continue(saved: dict[str, Any], given: Noise | None) -> Noise:
    """The noise to go on with: the given source or, without one, the saved one's."""
    source = noise_from_state(saved)
    if given is not None and given.kind != source.kind:
        raise ValueError(f"This session was played with {source.kind} noise; going on with {given.kind} noise would void its guarantee.")
    return given or source


def frozen(value: Any) -> Any:
    return tuple(frozen(v) for v in value) if isinstance(value, list) else value
