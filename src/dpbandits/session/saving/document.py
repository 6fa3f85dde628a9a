"""Saved sessions: policies and states to JSON and back, exactly. Fractions are written as "1/10",
tuples as lists.

A document is sealed: by a checksum that finds accidents or, with a key, by a MAC that finds every
change. Sealed is its canonical text: its JSON with sorted keys and no spaces.
"""

import json
from typing import Any

from dpbandits.core.values import (
    SAVES,
    alike,
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
from dpbandits.mechanisms.joint import BOTH
from dpbandits.mechanisms.sparse_vectors.above_threshold import HALTED
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.stopping.empirical import StoppingRule
from dpbandits.policies.super_arms.joint_statistics import JointStatistics
from dpbandits.session.saving.policy import data_of, given_for_users, policy_from_data
from dpbandits.session.saving.seal import WIDTH, sealed, unsealed
from dpbandits.session.saving.segments import FORMAT as SEGMENTED

VERSION = 6
FORMAT = "dpbandits session"

LARGEST = 1e100
"""More than any total of a state is; its square is a number still."""

AHEAD = 64
"""How far a count in a policy's state may be ahead of the decisions made."""


def write_document(
    policy: Policy, public: dict[str, Any], private: dict[str, Any], key: bytes | None
) -> str:
    if public["generation"] > SAVES:
        raise ValueError(
            f"Expected at most {SAVES} saves of one session: a document with a larger number "
            "could not be loaded."
        )
    head = {"format": FORMAT, "version": VERSION, "policy": data_of(policy)}
    return sealed(head | {"public": public, "private": private}, key, room_of(policy, public))


def room_of(policy: Policy, public: dict[str, Any]) -> int:
    """Characters that rewards may take which are held until their time has passed, were all told.

    Who answered is private: an encrypted document has the same length whoever did.
    """
    if public["attribution"] is None:
        return 0
    several, room = policy.arms if policy.about.feedback == "full" else BOTH, len("[]")
    for _, many, _, observe, _ in public["pending"]:
        numbers = 1 + (several if observe is None else len(observe))  # with the decision's id
        room += many * (numbers * (WIDTH + 1) + 4)
    return room


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
        part(data["private"], "private", "sums", "memory", "noise", "held"),
    )
    policy = policy_from_data(part(data["policy"], "policy"), given_for_users(given, public))
    return policy, with_state(policy, public, private), private


def with_state(
    policy: Policy, public: dict[str, Any], private: dict[str, Any] | None
) -> dict[str, Any]:
    """The public part with the policy's state rebuilt.

    private: None for a session that is only looked at.

    Raises:
        ValueError: the parts contradict each other.
    """
    vault = part(public["vault"], "public.vault", "records", "turns", "counts", "ledger")
    ledger = part(vault["ledger"], "vault.ledger", "dropped", "releases")
    if not entries(public["events"], "public.events"):  # else blocks may have been dropped by hand
        require_drops(policy, ledger, whole(vault["turns"], "vault.turns"))
    blocks = 1 if public["guardrail"] is None else BOTH
    if policy.reader.together:
        blocks = len(entries(vault["counts"], "vault.counts"))
    if private is not None:  # before anything of that size is made
        entries(private["sums"], "private.sums", policy.arms * blocks)
    state = state_from_data(policy, public["state"], whole(public["asked"], "public.asked"))
    if private is not None and isinstance(policy, StoppingRule):
        require_halted(state.value is not None, private["memory"])
    if isinstance(state, JointStatistics):
        require_joint(state, whole(vault["ledger"]["releases"], "vault.ledger.releases"))
    return public | {"state": state}


def require_halted(halted: bool, memory: object) -> None:
    """Refuse a stopping rule's memory that does not say what its state says."""
    if halted is not (memory == [list(HALTED)]):
        raise damaged("public.state and private.memory do not agree on whether the rule has halted")


def require_joint(state: JointStatistics, releases: int) -> None:
    """Refuse a ledger with fewer joint releases than the state has seen, or with two more: one may
    be answered and not yet learned from; and a state that knows of an arm by one count and not by
    another.
    """
    arms, read = len(state.rounds), [sum(row) > 0 for row in state.drawn]
    if (
        not {*map(len, state[:-1])} == {arms}
        or len({*map(len, state.drawn)}) != 1
        or [rounds > 0 for rounds in state.rounds] != read
        or [0 < precision < LARGEST for precision in state.precisions] != read
        or not all(abs(of) < LARGEST for of in (*state.totals, *state.weighted))
    ):
        raise damaged("public.state does not know of each arm alike")
    together = [sum(column) for column in zip(*state.drawn, strict=True)][1:]
    seen, uneven = 0, min(*map(min, state.drawn), *state.rounds) < 0
    for k, arms in enumerate(together, start=1):
        seen, uneven = seen + arms // k, uneven or arms % k != 0
    if uneven or not seen <= releases <= seen + 1:
        raise damaged("public.state and vault.ledger do not agree on how often was released")


def parsed(text: str) -> dict[str, Any]:
    """The document as JSON, of this format and version."""
    data, why = None, ""
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
    if why:  # outside the handler, for the first error has the whole text
        raise ValueError(
            f"Expected the JSON text of Session.to_json() (of a file, its read_text()); this {why}."
        )
    if isinstance(data, dict) and data.get("format") == SEGMENTED:
        raise ValueError(
            "This is a session with segments: load it by SegmentedSession.from_json(text)."
        )
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
    if policy.reader.together:
        return  # it drops for as long as all arms are decided
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
    "unread",
    "arms",
    "events",
    "offer",
    "plans",
    "beliefs",
    "rewards",
    "people",
    "assignment",
    "attribution",
    "traffic",
    "chosen",
    "guardrail",
    "harm",
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
    if fits and isinstance(data, list) and isinstance(fresh, JointStatistics):
        fits = all(map(alike, data, fresh))
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
