"""Saved sessions: policies and states to JSON and back, exactly. Fractions are written as "1/10",
tuples as lists.
"""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from typing import Any

from dpbandits.core.values import (
    SAVES,
    alike,
    checked_noise,
    damaged,
    entries,
    finite,
    frozen,
    kin,
    once,
    part,
    require_shallow,
    whole,
)
from dpbandits.mechanisms.above_threshold import HALTED
from dpbandits.noise.sources import Noise, SecureNoise, noise_from_state
from dpbandits.oracles import PROBLEMS, DecisionSet, problem_from_data
from dpbandits.policies import POLICIES
from dpbandits.policies.base import Statistics
from dpbandits.policies.contract import Policy
from dpbandits.policies.stopping.empirical import StoppingRule
from dpbandits.session.seals import sealed, unsealed

VERSION = 4
FORMAT = "dpbandits session"

AHEAD = 64
"""How far a count in a policy's state may be ahead of the decisions made."""


def policy_to_data(policy: Policy) -> dict[str, Any]:
    """A policy as {"class": name, its hyper-parameters}."""
    values = {f.name: getattr(policy, f.name) for f in fields(policy) if f.init}
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
    known = {f.name for f in fields(kind) if f.init}
    values = {k: v for k, v in data.items() if k not in ("class", "module")}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ValueError(
            f"{name} does not take {', '.join(unknown)}; it takes {', '.join(sorted(known))}."
        )
    try:
        if isinstance(values.get("problem"), dict):
            values["problem"] = problem_from_data(values["problem"])
        policy = kind(**values)
    except (TypeError, LookupError, OverflowError) as error:
        raise damaged(f"the parameters of {name} do not make one ({error})") from None
    if isinstance(given, Policy) and policy_to_data(policy) != policy_to_data(given):
        raise ValueError(f"Expected a session of {given!r}, got one of {policy!r}.")
    return policy


def unknown_policy(name: object, given: object) -> str:
    if given is not None:
        shown = given.__name__ if isinstance(given, type) else type(given).__name__
        return f"Expected a session of {shown}, the policy that was given, got one of {name!r:.60}."
    return (
        f"Expected one of the policies {', '.join(POLICIES)}; got {name!r:.60}. If it is a "
        "policy of your own, give its class: "
        "Session.from_json(text, policy=YourPolicy)."
    )


def write_document(
    policy: Policy, public: dict[str, Any], private: dict[str, Any], key: bytes | None
) -> str:
    require_readable(policy)
    if public["generation"] > SAVES:
        raise ValueError(
            f"Expected at most {SAVES} saves of one session: a document with a larger number "
            "could not be loaded."
        )
    head = {"format": FORMAT, "version": VERSION, "policy": policy_to_data(policy)}
    return sealed(head | {"public": public, "private": private}, key)


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


def read_document(
    text: str, given: Policy | type[Policy] | None, key: bytes | None
) -> tuple[Policy, dict[str, Any], dict[str, Any]]:
    """Policy, public part and private part of a saved session, with its state rebuilt.

    Raises:
        ValueError: not such a document, a part is missing, another version, or changed since it was
        written.
    """
    data = unsealed(parsed(text), key)
    part(data, "the document", "policy", "public", "private")
    public, private = (
        part(data["public"], "public", *PUBLIC_KEYS),
        part(data["private"], "private", "sums", "memory", "noise"),
    )
    policy = policy_from_data(part(data["policy"], "policy"), given)
    vault = part(public["vault"], "public.vault", "records", "turns", "counts", "ledger")
    require_drops(
        policy,
        part(vault["ledger"], "vault.ledger", "dropped", "releases"),
        whole(vault["turns"], "vault.turns"),
    )
    entries(private["sums"], "private.sums", policy.arms)  # before anything of that size is made
    state = state_from_data(policy, public["state"], whole(public["asked"], "public.asked"))
    if isinstance(policy, StoppingRule) and (state.value is not None) is not (
        private["memory"] == [list(HALTED)]
    ):
        raise damaged("public.state and private.memory do not agree on whether the rule has halted")
    return policy, public | {"state": state}, private


def parsed(text: str) -> dict[str, Any]:
    """The document as JSON, of this format and version."""
    try:
        data = json.loads(text, object_pairs_hook=once, parse_float=finite, parse_constant=finite)
    except (ValueError, TypeError, RecursionError) as error:
        why = "has a name twice in one object, or a number that is not finite"
        if not isinstance(error, ValueError) or isinstance(error, json.JSONDecodeError):
            why = "is not JSON" + (
                f" (line {error.lineno}, column {error.colno})"
                if isinstance(error, json.JSONDecodeError)
                else ""
            )
        raise ValueError(
            f"Expected the JSON text of Session.to_json() (of a file, its read_text()); this {why}."
        ) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(
            f'Expected a document with "format": "{FORMAT}", as Session.to_json() writes it.'
        )
    if data.get("version") != VERSION:
        raise ValueError(
            f"Expected version {VERSION} of the document, got {data.get('version')!r:.60}."
        )
    require_shallow(data)
    return data


def require_drops(policy: Policy, ledger: dict[str, Any], turns: int) -> None:
    """Refuse drops, which cost nothing, where readings must stand: most of our policies never drop
    a block.

    What a policy of the caller's own drops is not known.
    """
    if POLICIES.get(type(policy).__name__) is not type(policy):
        return
    if ledger["dropped"] != [] and not policy.about.drops:
        raise damaged(f"vault.ledger says that blocks were dropped, which {policy.name} never does")
    if policy.about.drops and 2 * whole(ledger["releases"], "vault.ledger.releases") < turns:
        raise damaged(f"vault.ledger says that more was dropped than {policy.name} drops")


PUBLIC_KEYS = (
    "generation",
    "campaign",
    "seed",
    "default",
    "max_pending",
    "noise",
    "state",
    "step",
    "asked",
    "asked_before_plan",
    "lost",
    "pending",
    "told_in_plan",
    "plan_finished",
    "rng",
    "vault",
)


def state_from_data(policy: Policy, data: object, asked: int) -> Any:
    """A policy's state from its JSON form: the same NamedTuple, lists turned back into tuples.

    asked: decisions made so far. No count in a state runs ahead of them by much: what does would
        keep the policy busy for ever.
    """
    fresh = policy.init()
    fits = isinstance(data, list) and len(data) == len(fresh) and all(map(kin, data, fresh))
    fits = fits and (not isinstance(fresh, Statistics) or alike(data, fresh))
    fits = fits and largest(data) <= max(asked, largest(fresh)) + AHEAD
    state = type(fresh)(*frozen(data)) if fits else None
    if state is None or (
        isinstance(state, Statistics)
        and min(*state.rounds, *state.draws, *state.pulls, *state.open, state.t) < 0
    ):
        raise damaged(f"public.state does not fit {type(policy).__name__}")
    return state


def largest(value: object) -> int:
    """The largest whole number in nested data, or 0."""
    if isinstance(value, (list, tuple)):
        return max(map(largest, value), default=0)
    return abs(value) if isinstance(value, int) else 0


def noise_to_data(noise: Noise) -> dict[str, Any]:
    """What everybody may know of a noise source: its kind and, of a secure one, whether it draws
    ahead.

    A secure source of the caller's own that does not say so in its state (`pool`) counts as one
    that does, the weaker.
    """
    return {"kind": noise.kind} | (
        {"pool": noise.state().get("pool", True)} if noise.kind == "secure" else {}
    )


def noise_to_continue(said: object, saved: dict[str, Any], given: Noise | None) -> Noise:
    """The noise to go on with: the given source or, without one, the saved one's. Its kind stays,
    and it gets no weaker.

    said: the public part's word, as `noise_to_data` wrote it; the private part has to say the same.
    """
    source = noise_from_state(saved)
    if said != noise_to_data(source) or not isinstance(
        part(said, "public.noise").get("pool", True), bool
    ):
        raise damaged("its public and its private part name different kinds of noise")
    if given is None:
        return source
    if checked_noise(given).kind != source.kind:
        raise ValueError(
            f"This session was played with {source.kind} noise; going on with {given.kind} noise "
            "would void its guarantee."
        )
    if isinstance(source, SecureNoise) and not source.pool and noise_to_data(given)["pool"]:
        raise ValueError(
            "This session was played with noise that is never drawn ahead, for machines that are "
            "restored from snapshots. "
            "Go on with noise=SecureNoise(pool=False), or leave noise= out."
        )
    return given
