"""Saved sessions: policies and states to JSON and back, exactly. Fractions are written as "1/10", tuples as lists."""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from typing import Any

from dpbandits.noise import Noise, noise_from_state
from dpbandits.oracles import PROBLEMS, DecisionSet, problem_from_data
from dpbandits.plan import PublicRng
from dpbandits.policies import POLICIES
from dpbandits.policies.base import Statistics
from dpbandits.policy import Policy
from dpbandits.strict import alike, damaged, entries, frozen, part

VERSION = 2


def policy_to_data(policy: Policy) -> dict[str, Any]:
    """A policy as {"class": name, its hyper-parameters}."""
    values = {f.name: getattr(policy, f.name) for f in fields(policy) if f.init}
    module = {} if POLICIES.get(type(policy).__name__) is type(policy) else {"module": type(policy).__module__}
    return {"class": type(policy).__name__} | module | {name: plain(value) for name, value in values.items()}


def plain(value: Any) -> Any:
    """A hyper-parameter as JSON."""
    return str(value) if isinstance(value, Fraction) else value.to_data() if isinstance(value, DecisionSet) else value


def policy_from_data(data: dict[str, Any]) -> Policy:
    """The policy `policy_to_data` described; unknown names and parameters are errors that list what is known."""
    name = data.get("class")
    found = POLICIES.get(str(name)) if "module" not in data else imported(str(data["module"]), str(name))
    if found is None:
        raise ValueError(f"Expected one of the policies {', '.join(POLICIES)}; got {name!r}.")
    known = {f.name for f in fields(found) if f.init}
    given = {k: v for k, v in data.items() if k not in ("class", "module")}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"{name} does not take {', '.join(unknown)}; it takes {', '.join(sorted(known))}.")
    try:
        if isinstance(given.get("problem"), dict):
            given["problem"] = problem_from_data(given["problem"])
        return found(**given)
    except (TypeError, LookupError, OverflowError) as error:
        raise damaged(f"the parameters of {name} do not make one ({error})") from None


def imported(module: str, name: str) -> type[Policy] | None:
    """A third party's policy class, already imported by the program that loads the document.

    Documents never cause an import: a file should not be able to run code.
    """
    import sys

    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) and issubclass(found, Policy) else None


def write_document(policy: Policy, public: dict[str, Any], private: dict[str, Any]) -> str:
    require_readable(policy)
    head = {"format": "dpbandits session", "version": VERSION, "policy": policy_to_data(policy)}
    return json.dumps(head | {"public": public, "private": private})


def require_readable(policy: Policy) -> None:
    """Refuse to write what could never be read again: a decision set of the caller's own is rebuilt from no table."""
    for f in fields(policy):
        value = getattr(policy, f.name)
        kind = type(value).__name__
        if isinstance(value, DecisionSet) and PROBLEMS.get(kind) is not type(value):
            raise TypeError(
                f"Expected {f.name}= to be of a kind that a saved session can name ({', '.join(PROBLEMS)}), got a {kind} of your own. "
                "List its super arms in an ExplicitSet or ExplicitMatroid, or keep a log and play it again."
            )


def read_document(text: str) -> tuple[Policy, dict[str, Any], dict[str, Any]]:
    """Policy, public part and private part of a saved session, with its state rebuilt.

    Raises:
        ValueError: not such a document, a part is missing, or another version.
    """
    data = parsed(text)
    part(data, "the document", "policy", "public", "private")
    public, private = part(data["public"], "public", *PUBLIC_KEYS), part(data["private"], "private", "sums", "memory", "noise")
    policy = policy_from_data(part(data["policy"], "policy"))
    part(public["vault"], "public.vault", "counts", "ledger")
    entries(private["sums"], "private.sums", policy.arms)  # before anything of that size is made
    return policy, public | {"state": state_from_data(policy, public["state"])}, private


def parsed(text: str) -> dict[str, Any]:
    """The document as JSON, of this format and version."""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, TypeError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(f"Expected the JSON text of Session.to_json(); this is not JSON{where}.") from None
    if not isinstance(data, dict) or data.get("format") != "dpbandits session":
        raise ValueError('Expected a document with "format": "dpbandits session", as Session.to_json() writes it.')
    if data.get("version") != VERSION:
        raise ValueError(f"Expected version {VERSION} of the document, got {data.get('version')!r}.")
    return data


PUBLIC_KEYS = (
    "seed", "default", "state", "step", "asked", "asked_in_plan", "resolved",
    "pending", "told_in_plan", "plan_finished", "rng", "vault",
)  # fmt: skip


def state_from_data(policy: Policy, data: object) -> Any:
    """A policy's state from its JSON form: the same NamedTuple, lists turned back into tuples."""
    fresh = policy.init()
    fits = isinstance(data, list) and len(data) == len(fresh) and (not isinstance(fresh, Statistics) or alike(data, fresh))
    state = type(fresh)(*frozen(data)) if fits else None
    if state is None or (isinstance(state, Statistics) and min(*state.rounds, *state.draws, *state.pulls, *state.open, state.t) < 0):
        raise damaged(f"public.state does not fit {type(policy).__name__}")
    return state


def rng_from_data(seed: int, step: int, data: Any) -> PublicRng:
    """The public randomness of a plan, where it was."""
    try:
        return PublicRng(seed, step, data)
    except (LookupError, TypeError, ValueError, OverflowError):
        raise damaged("public.rng is no position of the public randomness") from None


def noise_to_continue(saved: dict[str, Any], given: Noise | None) -> Noise:
    """The noise to go on with: the given source or, without one, the saved one's."""
    source = noise_from_state(saved)
    if given is not None and given.kind != source.kind:
        raise ValueError(f"This session was played with {source.kind} noise; going on with {given.kind} noise would void its guarantee.")
    return given or source
