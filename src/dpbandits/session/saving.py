"""Saved sessions: a state as a JSON document, and back.

A document has a public and a private part, and a seal over both: a checksum that finds accidents
or, with a key, a MAC that finds every change. It names no code: a policy is written by its class's
name and its arguments. The parts are typed (`PublicPart`, `PrivatePart`). What does not fit a type,
or whose counts do not agree, is refused with the name of the part, never its value. Other relations
between the parts are not looked at: only an edit that was sealed anew could break one, and without
a key nothing is promised of those (SECURITY.md). Whatever then fails is damage, too (`rebuilt`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import secrets
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace as replaced

from dpbandits.core.errors import coded
from dpbandits.core.inputs import (
    MOST,
    SAVES,
    Count,
    Number,
    Opaque,
    checked_key,
    checked_noise,
    checked_seed,
    converted,
    damaged,
    finite,
    has_form_of,
    read_as,
    rebuilt,
    require_shallow,
    shown,
    tuples_for_lists,
    unique_keys,
)
from dpbandits.core.plan import EVERY
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise, SimulatedNoise, noise_from_state
from dpbandits.oracles import PROBLEMS, DecisionSet, problem_from_data
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.named import EVERY_POLICY
from dpbandits.session.arms import Roster, roster_from_data, roster_to_data
from dpbandits.session.beliefs import HistoryData, MeanReader, ReleaseHistory
from dpbandits.session.contexts import ContextsData, contexts_of
from dpbandits.session.decisions import (
    MOST_PENDING,
    ChosenData,
    Play,
    chosen_from_data,
    chosen_to_data,
)
from dpbandits.session.guardrail import Guardrail, Harm, HarmData
from dpbandits.session.people import Register, RegisterData, policy_for_users
from dpbandits.session.ranges import RangeData, range_from_data
from dpbandits.session.state import (
    LONGEST_WHY,
    Kept,
    Offer,
    OpenPlan,
    State,
    Tables,
    View,
    opened,
)
from dpbandits.session.times import (
    AttributionData,
    AttributionWindow,
    Clock,
    OpenPeriod,
    PeriodsData,
    periods_from_data,
)
from dpbandits.vault import Books, Ledger, Line, OpenBlock, Vault

if TYPE_CHECKING:
    from dpbandits.session.session import Session
    from dpbandits.session.storing import ContextualParts

VERSION = 7
FORMAT = "dpbandits session"
SEGMENTED = "dpbandits session with segments"

LONGEST = 2**28
"""Characters of a document: more would fill the memory."""

WIDTH = 24
"""Characters of each number in an encrypted part: a float has no more, and no sum of rewards."""

WITH_KEY = "This session was saved with a key: give the same one, from_json(text, key=…)."

AHEAD = 64
"""How far a count in a policy's state may be ahead of the decisions made: one that is further ahead
would keep the policy busy for ever."""

GUESS = "guess"
"""The field of a state that guesses the horizon, which may be ahead by any number."""

ActionData = Count | tuple[Count | float, ...]


# The parts


class PlayData(NamedTuple):
    """A play, without the arms' names."""

    action: ActionData
    observe: tuple[Count, ...] | None
    counted_as: ActionData
    learn: bool
    propensity: float | None
    kept: tuple[Count, ...] | None
    context: tuple[float, ...] | None = None


OfferData = tuple[Number, Count, PlayData | None]
"""`Offer` without its law: a law that is not the plan's is made anew by the next ask."""

LineData = tuple[Annotated[int, Meta(ge=EVERY)], Count, Number, Number]
"""A coordinate, and its `vault.Line`."""


class LedgerData(Struct, forbid_unknown_fields=True):
    """`vault.Ledger`. left: (coordinate, records that left its blocks, those dropped unread)."""

    left: list[tuple[Annotated[int, Meta(ge=EVERY)], Count, Count]]
    lines: list[LineData]


class NoiseData(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The kind of a noise source, and what everybody may know of it."""

    kind: str
    fresh: bool | None = None


class PublicPart(Kept, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What may be shown to anyone. Names are those of `Session` and `State`.

    seed: None where it is private. pending: (id, place of its play in `plays`). counts: (key of an
    open block, its records).
    """

    generation: Annotated[int, Meta(ge=1, le=SAVES)]
    campaign: Annotated[str, Meta(min_length=1, max_length=200)]
    seed: int | None
    default: float
    max_pending: Annotated[int, Meta(ge=1, le=MOST_PENDING)]
    noise: NoiseData
    rewards: RangeData | None
    guardrail: Guardrail | None
    people: RegisterData | None
    attribution: AttributionData | None
    chosen: ChosenData | None
    learned: Any
    history: HistoryData
    harm: HarmData | None
    arms: Annotated[str, Meta(pattern="^[apr]+$")]
    offer: OfferData
    step_counts: list[tuple[ActionData, Number]]
    plans: list[tuple[Number, OpenPlan]]
    plays: list[PlayData]
    pending: list[tuple[Number, Count]]
    counts: list[tuple[Annotated[int, Meta(ge=EVERY)], Number]]
    ledger: LedgerData
    contexts: ContextsData | None = None
    responsible: Annotated[str, Meta(max_length=LONGEST_WHY)] | None = None
    answered: Count = 0
    expired: Count = 0
    period: PeriodsData | None = None


Steps = Annotated[int, Meta(ge=-MOST, le=MOST)]
"""Grid steps: of an answer, or of a sum of them."""


class PrivatePart(Struct, forbid_unknown_fields=True):
    """As sensitive as the rewards.

    sums: of each open block, in the order of `PublicPart.counts`. held: (decision, its answer in
    grid steps). seed: where it foretells who gets which arm. kept: (pseudonym, mark of the arm that
    they keep).
    """

    sums: list[list[Steps]]
    memory: Any
    noise: dict[str, Any]
    held: list[tuple[Number, list[Steps]]] = []
    seed: int | None = None
    kept: list[tuple[Annotated[str, Meta(pattern="^[0-9a-f]{32}$")], Count]] = []

    __repr__, __rich_repr__ = Opaque.__repr__, Opaque.__rich_repr__


def lasting_fields(session: Session, state: State) -> dict[str, Any]:
    """Return the fields of the public part that no ask and no answer changes: they are as long as
    what was released.

    Raises:
        ValueError: a user-defined policy's state or memory could not be loaded again.
    """
    require_savable(session, state)
    ledger, rewards, harm = state.books.ledger, session.rewards, state.harm
    return {
        "noise": noise_data(session._vault.noise),
        "rewards": None if rewards is None else rewards.to_data(),
        "guardrail": session.guardrail,
        "assignment": state.assignment,
        "learned": state.learned,
        "history": state.history.to_data(),
        "harm": None if harm is None else harm.to_data(),
        "arms": roster_to_data(state.roster),
        "events": state.events,
        "ledger": LedgerData(
            [(c, *counts) for c, counts in sorted(ledger.left.items())],
            [(c, *line) for c, line in ledger.lines()],
        ),
    }


def public_part(
    session: Session, state: State, generation: int, lasting: Mapping[str, Any] | None = None
) -> PublicPart:
    """Return the public part of a session in this state.

    Args:
        lasting: its `lasting_fields`, if they are known; they may be JSON already.
    """
    tables = session._tables
    people, window = tables.people, tables.attribution
    plays = dict[PlayData, int]()
    pending = [
        (id, plays.setdefault(play_data(play), len(plays))) for id, play in state.pending.items()
    ]
    offer, blocks = state.offer, state.books.blocks
    closing, period, periods = state.closing, state.period, tables.periods
    kept = {name: getattr(state, name) for name in Kept.__struct_fields__}
    kept |= lasting_fields(session, state) if lasting is None else lasting
    kept["closing"] = closing and closing._replace(releases=() if closing.is_done else None)
    last = 0 if offer.play is None and offer.plan is not None else offer.last
    return PublicPart(
        **kept,
        generation=generation,
        campaign=session.campaign,
        seed=session.seed if state.assignment is None else None,
        default=session.default,
        max_pending=session.max_pending,
        people=None if people is None else people.to_data(tables.owners),
        attribution=None if window is None else window.to_data(),
        chosen=None if tables.chosen is None else chosen_to_data(tables.chosen, state.asked),
        answered=state.asked_at_answer,
        expired=state.expired_since,
        offer=(offer.since, last, None if offer.play is None else play_data(offer.play)),
        step_counts=list(state.step_counts),
        plans=list(state.plans.items()),
        plays=list(plays),
        pending=pending,
        counts=[(key, block.count) for key, block in blocks.items()],
        contexts=state.contexts and state.contexts.saved,
        responsible=session.responsible,
        period=period and periods and periods.to_data(period),
    )


def private_part(session: Session, state: State) -> PrivatePart:
    """Return the private part of a session in this state."""
    blocks, waiting = state.books.blocks.values(), state.pending
    held = [(id, plain(steps)) for id, steps in session._tables.held.items() if id in waiting]
    seed = None if state.assignment is None else session.seed
    noise, memory = session._vault.noise.state(), state.books.memory
    people = session._tables.people
    kept = [] if people is None or people.kept is None else list(people.kept.items())
    return PrivatePart([plain(block.sums) for block in blocks], memory, noise, held, seed, kept)


def plain(steps: Any) -> list[int]:
    return steps.tolist() if isinstance(steps, np.ndarray) else list(steps)


def play_data(play: Play) -> PlayData:
    context = None if play.context is None else tuple(play.context.tolist())
    return PlayData(
        play.action, play.observe, play.counted_as, play.learn, play.propensity, play.kept, context
    )


# Documents


def written(session: Session, state: State, generation: int, key: bytes | None) -> str:
    """Return the document of a session in this state.

    Raises:
        ValueError: it knows its people by a key that no document holds, or was saved too often.
    """
    people = session._tables.people
    if people is not None and people.has_random_key:
        raise ValueError(
            "This session knows its people by pseudonyms made with a key of its own, which no "
            "document holds. Make the session with user_key=secrets.token_bytes(32), keep that key "
            "apart, and give it to from_json, too. Nothing was saved."
        )
    if generation > SAVES:
        raise ValueError(f"Expected at most {SAVES} saves of one session.")
    public = public_part(session, state, generation)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "policy": policy_to_data(state.policy, own=True),
        "public": as_plain(public),
        "private": as_plain(private_part(session, state)),
    }
    return sealed(document, key, room_of(session, public))


def room_of(session: Session, public: PublicPart) -> int:
    """Return the characters that answers take which are held, had everybody answered.

    Who answered is private: an encrypted document has the same length whoever did.
    """
    if public.attribution is None:
        return 0
    vault, room = session._vault, len("[]")
    for _, at in public.pending:
        numbers = 1 + vault.length(public.plays[at].observe)  # with the decision's id
        room += numbers * (WIDTH + 1) + 4
    return room


def as_plain(value: Any) -> Any:
    """Return plain data for JSON."""
    return msgspec.to_builtins(value, enc_hook=plain_number)


def plain_number(value: Any) -> Any:
    """Return numbers and arrays of NumPy's as plain ones."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    for kind in (int, float, str):  # subclasses
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"Expected plain data in a policy's state, got a {type(value).__name__}.")


def read(
    text: str,
    policy: Policy | type[Policy] | None,
    noise: Noise | None,
    *,
    key: bytes | None,
    clock: Clock | None,
    user_key: bytes | None,
) -> Session:
    """Return the session of a document (see `Session.from_json`)."""
    document = unsealed(parsed(text, FORMAT, VERSION), key)
    # first, so that no error below keeps it in clear
    private: PrivatePart = converted(document.pop("private", None), PrivatePart, "private")
    described: dict[str, Any] = converted(document.get("policy"), dict[str, Any], "policy")
    public: PublicPart = converted(document.get("public"), PublicPart, "public")
    if user_key is not None and public.people is None:
        raise ValueError(
            "Expected no user_key=: in this session each reward counts as another person's. Is it "
            "the one that was meant?"
        )
    if public.people is not None and isinstance(policy, Policy):
        policy = policy_for_users(policy, public.people.cap)
    known = policy_from_data(described, policy)
    source = noise_to_continue(public.noise, private.noise, noise)
    session = session_of(known, public, private, source, clock, user_key)
    if noise is None and key is None:
        raise ValueError(
            "Expected noise=dpbandits.SecureNoise(), or noise=dpbandits.SimulatedNoise(seed) for "
            "an experiment: a document that is saved without a key may have been changed to name "
            "a weaker one. One that is saved and loaded with key= goes on with the noise it had."
        )
    session._saved_with_key = key is not None
    return session


def parsed(text: object, format: str, version: int) -> dict[str, Any]:
    """Return a document as plain data, of this format and version."""
    data, why = None, ""
    if not isinstance(text, str):
        why = "is no text"
    elif len(text) > LONGEST:
        why = f"has more than {LONGEST:,} characters"
    else:
        try:
            # of a name that is there twice readers would take this one or that one
            data = json.loads(
                text,
                object_pairs_hook=unique_keys,
                parse_float=finite,
                parse_constant=finite,
            )
        except json.JSONDecodeError:
            why = "is not JSON"
        except (ValueError, RecursionError):
            why = "has a name twice, a number that is not finite, or too many brackets"
    if why:  # outside the handler, for its error may show the text
        raise ValueError(
            f"Expected the JSON text of to_json() (of a file, its read_text()); this {why}."
        )
    written_format = data.get("format") if isinstance(data, dict) else None
    if written_format == SEGMENTED != format:
        raise ValueError(
            "This is a session with segments: load it by SegmentedSession.from_json(text)."
        )
    if written_format == FORMAT != format:
        raise ValueError("This is a session without segments: load it by Session.from_json(text).")
    if not isinstance(data, dict) or written_format != format:
        raise ValueError(f'Expected a document with "format": "{format}", as to_json() writes it.')
    if data.get("version") != version:
        raise ValueError(
            f"Expected version {version} of the document, got {data.get('version')!r:.60}. Load it "
            "with the dpbandits that wrote it."
        )
    require_shallow(data)
    return data


def session_of(
    policy: Policy,
    public: PublicPart,
    private: PrivatePart | None,
    noise: Noise,
    clock: Clock | None,
    user_key: bytes | None,
    pending: dict[int, Play] | None = None,
    contextual: ContextualParts | None = None,
) -> Session:
    """Return the session that these parts describe.

    Args:
        private: None for a session that is only looked at.
        pending: pending decisions, if they are kept apart.
        contextual: the policy's state and its contexts, if they are.

    Raises:
        ValueError: another `user_key`, or none.
        DamagedSessionError: the parts contradict each other.
    """
    people = public.people
    register = None if people is None else Register.restored(people, clock, user_key)

    def make() -> Session:
        from dpbandits.session.session import Session

        seed = public.seed
        if seed is None:  # nobody tosses coins in a session that is only looked at
            seed = 0 if private is None else private.seed
        bare = policy.bare if isinstance(policy, ContextualPolicy) else policy
        session = Session.__new__(Session)
        rewards = None if public.rewards is None else range_from_data(public.rewards)
        settings = public.default, public.campaign, public.max_pending, rewards, public.guardrail
        session._set_up(bare, noise, checked_seed(seed), *settings, public.responsible)
        session.generation = public.generation
        state = state_of(policy, session, public, private, pending, contextual)
        session._tables, period = tables_of(public, clock, register)
        if private is not None:
            session._tables.held = {id: tuple(steps) for id, steps in private.held}
            if register is not None and register.kept is not None:
                register.kept.update(private.kept)
        state = replaced(state, period=period)
        session._log, _ = opened(session.seed, state, [], first=False)
        session._open(View(session.seed, session._log, session._tables))
        return session

    return rebuilt(make)


def state_of(
    policy: Policy,
    session: Session,
    public: PublicPart,
    private: PrivatePart | None,
    pending: dict[int, Play] | None,
    contextual: ContextualParts | None,
) -> State:
    roster = roster_from_data(public.arms, policy.labels)
    if pending is None:
        plays = [play_of_data(policy, roster, data) for data in public.plays]
        pending = {id: plays[at] for id, at in public.pending}
    resolved = public.records + public.unread
    if public.asked != resolved + len(pending) or public.forgotten > public.elsewhere:
        raise damaged("its decisions, its records and those that are pending do not add up")
    history = ReleaseHistory.restored(MeanReader.of(policy), public.history)
    if not policy.arms == len(public.arms) == len(history.arms):
        raise damaged("public.arms or public.history is of another number of arms")
    if public.rng and public.rng.get("normals", (0, policy.arms))[1] != policy.arms:
        raise damaged("public.rng draws for another number of arms")
    rail = session.guardrail
    since, last, offered = public.offer
    if contextual is None:
        learned: Any = learned_of(policy, public.learned, public.asked)
        contexts = None
        if isinstance(policy, ContextualPolicy):
            contexts = contexts_of(public.contexts, policy)  # type: ignore[arg-type]  # or it fails
    else:
        learned, contexts = contextual.learned, contextual.contexts
    return State(
        **{name: getattr(public, name) for name in Kept.__struct_fields__},
        policy=policy,
        learned=learned,
        books=books_of(session, public, private),
        history=history,
        roster=roster,
        harm=rail and Harm.of(rail, policy).restored(public.harm),  # type: ignore[arg-type]  # or it fails
        asked_at_answer=public.answered,
        expired_since=public.expired,
        offer=Offer(since, last, offered and play_of_data(policy, roster, offered)),
        step_counts=tuple(public.step_counts),
        plans=dict(public.plans),
        pending=pending,
        contexts=contexts,
    )


def play_of_data(policy: Policy, roster: Roster, data: PlayData) -> Play:
    action, observe, counted_as, learn, propensity, kept, given = data
    label, context = roster.labels.of(action), None
    if given is not None:
        context = policy.context(given)  # type: ignore[attr-defined]  # or its error is caught
    return Play(action, observe, label, counted_as, learn, propensity, kept, context)


def require_savable(session: Session, state: State) -> None:
    """Refuse a state of a user-defined policy, or a memory of its mechanism, that would not be
    loaded again, such as one with a NaN, which JSON does not have.
    """
    policy, vault = state.policy, session._vault
    if is_of_this_package(policy):
        return
    if not survives(state.learned, lambda data: learned_of(policy, data, state.asked)):
        raise ValueError(
            f"Expected a state of {policy.name} that can be saved: finite numbers, texts and "
            "tuples of them, of the types that its init() declares; its init() or update() "
            "returned another one. Correct the policy."
        )
    if not survives(state.books.memory, lambda data: memory_of(vault, data)):
        raise ValueError(
            f"Expected a memory of {policy.name}'s mechanism that can be saved: finite numbers, "
            "texts and lists of them, in the form of what its init() (or start()) returns; it "
            "has another one (not shown). Correct the mechanism."
        )


def survives(value: Any, load: Callable[[Any], object]) -> bool:
    """Return whether a value of the user's own classes can be written to JSON and loaded again."""
    try:
        plain = as_plain(value)
        load(json.loads(json.dumps(plain, allow_nan=False)))
    except Exception:  # their code may raise any
        return False
    return has_texts_as_keys(plain)


def has_texts_as_keys(value: Any) -> bool:
    """Return whether all keys in nested data are texts. JSON makes texts of numbers."""
    if isinstance(value, dict):
        return all(type(key) is str and has_texts_as_keys(each) for key, each in value.items())
    return not isinstance(value, (list, tuple)) or all(map(has_texts_as_keys, value))


def learned_of(policy: Policy, data: object, asked: int) -> Any:
    """Return a policy's state from plain data."""
    form = policy.bare if isinstance(policy, ContextualPolicy) else policy
    fresh, learned = form.init(), tuples_for_lists(data)
    most = max(asked, largest(fresh)) + AHEAD
    named = zip(getattr(fresh, "_fields", range(len(fresh))), learned, strict=True)
    # what whole numbers of a user-defined policy count is not known
    if is_of_this_package(policy) and any(
        largest(each) > most for name, each in named if name != GUESS
    ):
        raise damaged("public.learned counts more than was asked")
    why = ""
    try:
        return read_as(type(fresh), learned)
    except TypeError:  # annotations of a user-defined state that say nothing
        return type(fresh)(*learned)
    except msgspec.ValidationError as error:
        why = str(error)
    raise damaged(f"public.learned: {why}")


def largest(value: object) -> int:
    """Return the largest whole number in nested data, or 0."""
    if isinstance(value, tuple):
        return max(map(largest, value), default=0)
    return abs(value) if isinstance(value, int) else 0


def books_of(session: Session, public: PublicPart, private: PrivatePart | None) -> Books:
    """Return the books."""
    vault, memory, sums = session._vault, None, list[Any]([()] * len(public.counts))
    if private is not None:
        memory = memory_of(vault, private.memory)
        sums = [
            np.array(each, np.int64) if vault.contextual else tuple(each) for each in private.sums
        ]
    counted = zip(public.counts, sums, strict=True)
    blocks = {key: OpenBlock(count, block) for (key, count), block in counted}
    return Books(blocks, memory, ledger_of(public.ledger))


def memory_of(vault: Vault, data: Any) -> Any:
    """Return a memory from plain data."""
    if not has_form_of(data, vault.mechanism.init(vault.arms)):
        raise damaged("private.memory (not shown) has another form than that of its mechanism")
    return data


def ledger_of(data: LedgerData) -> Ledger:
    """Return a ledger whose lines follow one another and add up with what was dropped."""
    left = {coordinate: (total, dropped) for coordinate, total, dropped in data.left}
    ends, read = dict.fromkeys(left, 0), dict.fromkeys(left, 0)
    for coordinate, start, stop, releases in data.lines:
        if coordinate not in left or not ends[coordinate] <= start < stop <= left[coordinate][0]:
            raise damaged("a line of public.ledger does not fit its count, or the line before it")
        if releases not in (1, stop - start):
            raise damaged("a line of public.ledger has more releases than records")
        ends[coordinate] = stop
        read[coordinate] += stop - start
    if any(total - dropped != read[c] for c, (total, dropped) in left.items()):
        raise damaged("the lines of public.ledger and what was dropped do not add up")
    return Ledger.of([(c, Line(*line)) for c, *line in data.lines], left)


def tables_of(
    public: PublicPart, clock: Clock | None, people: Register | None
) -> tuple[Tables, OpenPeriod | None]:
    window = periods = period = None
    if public.attribution is not None:
        window = AttributionWindow.restored(public.attribution, clock)
    if public.period is not None:
        waits = 0.0 if window is None else window.seconds
        periods, period = periods_from_data(public.period, clock, waits)
    tables = Tables(people, window, periods)
    if public.people is not None:
        tables.owners = {id: (who, number) for id, who, number in public.people.owners}
    tables.chosen = None if public.chosen is None else chosen_from_data(public.chosen)
    return tables, period


# Noise


def noise_data(noise: Noise) -> NoiseData:
    """Return what everybody may know of a noise source.

    A user-defined secure source that does not say whether it is fresh counts as one that is not,
    the weaker.
    """
    fresh = noise.state().get("fresh", False) if noise.kind == "secure" else None
    return NoiseData(noise.kind, fresh)


def noise_to_continue(saved_kind: NoiseData, saved: dict[str, Any], given: Noise | None) -> Noise:
    """Return the noise to go on with: the given source or, without one, the saved one's.
    Simulated noise of the same seed goes on from where it stood.

    Raises:
        ValueError: the given source is of another kind, or weaker.
    """
    source: Noise = noise_from_state(saved)
    if saved_kind != noise_data(source):
        raise damaged("its public and its private part name different kinds of noise")
    if given is None:
        return source
    if checked_noise(given).kind != source.kind:
        raise ValueError(
            f"This session was played with {source.kind} noise; going on with {given.kind} noise "
            "would void its guarantee."
        )
    if isinstance(source, SecureNoise) and source.fresh and not noise_data(given).fresh:
        raise ValueError(
            "This session was played with noise that keeps no generator, for machines that are "
            "restored from snapshots. Go on with noise=SecureNoise(fresh=True)."
        )
    if type(given) is type(source) is SimulatedNoise and given.seed == source.seed:
        return source
    return given


# Policies


def is_of_this_package(policy: Policy) -> bool:
    return EVERY_POLICY.get(type(policy).__name__) is type(policy)


def policy_to_data(policy: Policy, *, own: bool = False) -> dict[str, Any]:
    """A policy as {"class": name, its hyper-parameters}.

    own: whether a decision set of the caller's own is written by its size; else it is refused.
    """
    values = {f.name: getattr(policy, f.name) for f in fields(policy) if f.init}
    if policy.labels is not None:
        values["arms"] = list(policy.labels)
    module = {} if is_of_this_package(policy) else {"module": type(policy).__module__}
    return (
        {"class": type(policy).__name__}
        | module
        | {name: plain_argument(name, value, own) for name, value in values.items()}
    )


def plain_argument(name: str, value: Any, own: bool) -> Any:
    """A hyper-parameter as JSON.

    Raises:
        TypeError: a user-defined policy's is something else than numbers and texts.
    """
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, DecisionSet):
        return size_of_own(value) if own and is_own(value) else value.to_data()
    if isinstance(value, (tuple, list)):
        return [plain_argument(name, each, own) for each in value]
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {key: plain_argument(name, each, own) for key, each in value.items()}
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, (str, int)):
        return plain
    if isinstance(plain, float) and math.isfinite(plain):
        return plain
    raise TypeError(
        f"Expected {name}={shown(value)} to be finite numbers or texts, or lists of them: "
        "documents and databases hold no other hyper-parameters. Keep it as one of these."
    )


def is_own(problem: DecisionSet) -> bool:
    """Whether a decision set is the caller's own, which no table makes again."""
    return PROBLEMS.get(type(problem).__name__) is not type(problem)


def size_of_own(problem: DecisionSet) -> dict[str, Any]:
    """All that a document says of a decision set of the caller's own."""
    kind = type(problem).__name__
    return {"kind": kind, "own": True, "arms": problem.arms, "size": problem.size}


def given_problem(saved: dict[str, Any], given: Policy | type[Policy] | None) -> DecisionSet:
    """The decision set of the caller's own, which has to be given again.

    Raises:
        ValueError: it is not, or is another one.
    """
    wanted = f"a {saved.get('kind')!s:.60} of {saved.get('arms')!s:.20} arms of your own"
    problem = getattr(given, "problem", None) if isinstance(given, Policy) else None
    if not isinstance(problem, DecisionSet):
        raise ValueError(
            f"Expected policy=, the policy that was saved: its problem is {wanted}, and a document "
            "names no code. Session.from_json(text, policy=policy) goes on with its oracle."
        )
    if not is_own(problem) or saved["own"] is not True or size_of_own(problem) != saved:
        raise ValueError(
            f"Expected a policy whose problem is {wanted}, super arms of "
            f"{saved.get('size')!s:.20} at most; got {problem!r:.200}."
        )
    return problem


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
        else EVERY_POLICY.get(str(name))
    )
    if (
        kind is None
        or kind.__name__ != name
        or ("module" in data) == (EVERY_POLICY.get(kind.__name__) is kind)
    ):
        text = unknown_policy(data, None if given is None else kind)
        raise coded("own_policy", ValueError, text) if "module" in data else ValueError(text)
    values = {k: v for k, v in data.items() if k not in ("class", "module")}
    problem = values.get("problem")
    if isinstance(problem, dict) and "own" in problem:
        values["problem"] = given_problem(problem, given)
    try:
        policy = policy_made(kind, values)
    except (TypeError, LookupError, OverflowError) as error:
        raise damaged(f"the parameters of {name} do not make one ({error})") from None
    saved = policy_to_data(policy, own=True)
    if isinstance(given, Policy) and saved != policy_to_data(given, own=True):
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
            f"Expected no {'=, '.join(unknown)}=: {kind.__name__} takes {', '.join(sorted(known))}."
        )
    if isinstance(values.get("problem"), dict):
        values = values | {"problem": problem_from_data(values["problem"])}
    return kind(**values)


def unknown_policy(data: dict[str, Any], given: type | None) -> str:
    name = data.get("class")
    if given is not None:
        return (
            f"Expected policy= to be {name!r:.60} of {data.get('module', 'dpbandits')!s:.60}, as "
            f"was saved; got {given.__name__!r:.60} of {given.__module__}."
        )
    return (
        "Expected one of the policies that dpbandits.list_policies() lists; got "
        f"{name!r:.60}. If it is a policy of your own, give its class: Session.from_json(text, "
        "policy=YourPolicy), or of a campaign store.open(name, policy=YourPolicy)."
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


# Seals


def sealed(document: dict[str, Any], key: bytes | None, room: int = 0) -> str:
    """The document's text with its seal.

    room: characters that the rewards held in its private part may take, however few there are.
    """
    plain = json.loads(json.dumps(document, allow_nan=False))  # as it will be read
    key = checked_key(key)
    if key is not None and isinstance(plain.get("private"), dict):
        plain["private"] = encrypted(plain["private"], key, room)
    return json.dumps(plain | {"seal": seal(plain, key)})


def unsealed(document: dict[str, Any], key: bytes | None) -> dict[str, Any]:
    """A document as it was sealed.

    Raises:
        ValueError: it was changed since, or the key is another one.
    """
    checked_key(key)
    mark = document.pop("seal", None)
    kind = mark.partition(":")[0] if isinstance(mark, str) else None
    if kind not in ("sha256", "hmac-sha256"):
        raise damaged("it has no seal")
    if (kind == "hmac-sha256") is (key is None):
        raise ValueError(
            WITH_KEY
            if key is None
            else (
                "This session was saved without a key, so anybody may have changed it. If you "
                "trust the file, load it without key=, and say noise=."
            )
        )
    # text may hold anything
    if not hmac.compare_digest(
        mark.encode(errors="backslashreplace"), seal(document, key).encode()
    ):
        changed = (
            "it was changed after it was saved"
            if key is None
            else "it was changed after it was saved, or saved with another key"
        )
        raise damaged(changed)
    if key is not None and "private" in document:
        document["private"] = decrypted(document["private"], key)
    elif isinstance(document.get("private"), str):
        raise ValueError(WITH_KEY)  # somebody put a checksum in the place of its seal
    return document


def encrypted(private: dict[str, Any], key: bytes, room: int) -> str:
    """A private part as text that tells nothing but its length, which does not depend on rewards:
    numbers take the same width, and so do rewards that are held and those that are not.
    """
    nonce, held = secrets.token_bytes(12), len(spread(private["held"]))
    text = spread(private) + " " * (room - held)
    return (nonce + cipher_of(key).encrypt(nonce, text.encode(), None)).hex()


def decrypted(body: object, key: bytes) -> dict[str, Any]:
    """What `encrypted` made of it. The seal over all of it was checked."""
    try:
        data = bytes.fromhex(body)  # type: ignore[arg-type]  # and caught
        private = msgspec.json.decode(cipher_of(key).decrypt(data[:12], data[12:], None))
    except Exception:  # of whatever kind: it would have the text
        private = None
    if not isinstance(private, dict):
        raise damaged("private is not an object")
    return private


def cipher_of(key: bytes) -> Any:
    """AES-GCM under a key of its own, made from this one."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(hmac.digest(key, b"dpbandits private part", "sha256"))


def spread(value: object) -> str:
    """JSON in which numbers, and what is not there, take at least `WIDTH` characters each."""
    if isinstance(value, dict):
        rows = [f"{json.dumps(name)}:{spread(each)}" for name, each in value.items()]
        return "{" + ",".join(rows) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(spread, value)) + "]"
    return json.dumps(value) if isinstance(value, str) else json.dumps(value).rjust(WIDTH)


def seal(document: dict[str, Any], key: bytes | None) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    if key is None:
        return f"sha256:{hashlib.sha256(text).hexdigest()}"
    return f"hmac-sha256:{hmac.new(key, text, 'sha256').hexdigest()}"
