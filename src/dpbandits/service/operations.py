"""Every operation on a campaign, in one table.

An operation is a model: what a caller sends, whether in Python, over HTTP or in a shell; it names
the model of its reply. `run` changes the campaign within a transaction; whatever refuses it does so
before anything was changed. Routes, client and commands are made from `OPERATIONS`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from itertools import groupby
from numbers import Integral
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    final,
)
from uuid import UUID

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    Strict,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from dpbandits.core.contexts import TableRow, by_name, labels_of
from dpbandits.core.errors import HorizonError, MessageError, RewardError
from dpbandits.core.inputs import as_int, is_line, number, opaque, shown, whole_number
from dpbandits.local.messages import report_from_json
from dpbandits.mechanisms.randomizers import Report
from dpbandits.mechanisms.rewards import flaw, no_number, read_or_none, reward_parts
from dpbandits.service.models import AnyAction, Body, Named, Observed, Record
from dpbandits.service.parts import Part, held_answers_of, known_decisions, leave_due
from dpbandits.service.refusals import code_for, refusal
from dpbandits.service.sealing import edited_decisions, name_bytes
from dpbandits.service.tables import Status
from dpbandits.service.transaction import Transaction
from dpbandits.session.decisions import Decision, checked_pairs, read_here
from dpbandits.session.options import (
    LONGEST_KEY,
    checked_batch_key,
    listed_outcomes,
    require_recordable,
)
from dpbandits.session.people import hashed_place, named_bytes
from dpbandits.session.saving import plain
from dpbandits.session.segments import require_rewards
from dpbandits.session.session import Session, may_restart
from dpbandits.session.state import LONGEST_WHY
from dpbandits.session.storing import (
    is_release_missing,
    record_batch,
    require_reward,
    waiting_for,
)

MOST_ARMS = 10_000
"""Arms of a campaign, in all its parts: each call reads and writes what is known of each."""

MOST_ITEMS = 10_000
"""Entries of any list over HTTP."""

MOST_AT_ONCE = 100_000
"""Decisions of one ask."""

MOST_ELIGIBLE = 32 * 2**20
"""Characters in which the eligible arms of one ask are kept, beside each of its decisions."""

# What is replied


class Reply(Record):
    """The reply to an operation, made of its answer: its only field, if it says no more."""

    @classmethod
    def of(cls, answer: Any) -> Self:
        return cls(**dict.fromkeys(cls.model_fields, answer))

    def made(self) -> Any:
        """The answer."""
        return next(iter(dict(self).values()))


TellStatus = Literal["recorded", "already", "unknown", "gone"]
"""What became of an answer. already: the decision was resolved before. unknown: there is no such
decision. gone: it is void, its time has passed, a restored database gave it up, or its policy is
past its horizon.
"""


class CampaignDecision(Record):
    """A decision: play `action` and tell the reward under `id`. Public.

    As `Decision`, but its id is a name of 32 hexadecimal digits.

    Args:
        campaign: the campaign's name; with segments or a holdout followed by "/" and the part's.
        propensity: how likely the action was; None where it was drawn from a posterior.
        message: in the local model, what the user's device is sent.
    """

    id: str
    action: AnyAction
    round: int
    observe: Observed = None
    campaign: str = ""
    label: Named = None
    learn: bool = True
    propensity: float | None = 1.0
    message: str | None = None

    def to_json(self) -> str:
        """The message for the user's device (`dpbandits.Client`).

        Raises:
            MessageError: nobody learns from this decision, so no device reports on it.
        """
        made = self.round, self.action, self.round, self.observe, self.campaign
        return Decision(*made, learn=self.learn).to_json()


class AskReply(Reply):
    """Decisions that were made."""

    decisions: list[CampaignDecision]


class Result(Record):
    """What became of one answer."""

    id: str
    status: TellStatus


class Results(Reply):
    """What became of each answer."""

    results: list[Result]


class RecordedBatch(Reply):
    """What became of a batch of outcomes."""

    status: TellStatus


class AddedArm(Reply):
    """The number of a new arm."""

    arm: int


class Voided(Reply):
    """How many decisions were made void."""

    void: int


class Done(Reply):
    """A change was made."""

    status: Literal["done"] = "done"

    @classmethod
    def of(cls, answer: Any) -> Self:
        return cls()

    def made(self) -> None:
        return None


# What is sent

Item = TypeVar("Item")
Items = Annotated[list[Item], Field(max_length=MOST_ITEMS, fail_fast=True)]
"""A list that is refused at its first wrong entry: to describe each of many takes seconds."""

Role = Literal["ask", "tell", "read", "admin"]


def checked_line(name: str, most: int, done: str) -> BeforeValidator:
    """Refuse what is no text of at most so many characters that can be printed."""

    def check(value: object) -> object:
        if value is not None and (not is_line(value, most) or not value.strip()):
            raise refusal(
                name,
                f"Expected {name}={shown(value)} to be a text of 1 to {most} characters that can "
                f"be printed. {done}",
            )
        return value

    return BeforeValidator(check)


def plain_whole(value: object) -> object:
    """A whole number of any kind as an int: JSON knows no other."""
    integer = as_int(value)
    return value if integer is None else integer


def plain_user(value: object) -> object:
    """A person's name or number, as JSON has it."""
    if isinstance(value, UUID):
        return str(UUID(int=value.int))
    return plain_whole(value) if isinstance(value, Integral) else value


def plain_arms(value: object) -> object:
    """Names or numbers of arms; which of them there are is seen later."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise refusal(
            "eligible",
            "Expected eligible= to be a list of arms, such as ['blue', 'green'] or [0, 2], got "
            f"{shown(value)}.",
        )
    arms = tuple(str(arm) if isinstance(arm, str) else plain_whole(arm) for arm in value)
    if len(arms) > MOST_ITEMS:
        raise refusal("eligible", f"Expected eligible= to have at most {MOST_ITEMS:,} arms.")
    return arms


def plain_contexts(value: Any) -> Any:
    """A context for each decision, without arrays; one alone is the only one. Whether they are the
    policy's is seen later.
    """
    if value is None:
        return None
    if isinstance(value, (list, tuple)) and any(map(labels_of, value)):
        return tuple(row for each in value for row in plain_contexts(each))
    names = list(dict.fromkeys(labels_of(value) or ()))
    value = by_name(value, names or None)
    if isinstance(value, np.ndarray):
        value = np.atleast_2d(value).tolist() if names else value.tolist()
    if names:
        value = [TableRow(zip(names, row, strict=True)) for row in value]
    several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    rows = list(value) if several else [value]
    rows = [each.tolist() if isinstance(each, (np.ndarray, np.generic)) else each for each in rows]
    nested = not rows or any(isinstance(each, (list, tuple, Mapping)) for each in rows)
    return tuple(rows if nested else [rows])


ONE_CONTEXT: list[dict[str, Any]] = [
    {"type": "array", "items": {"type": "number"}},
    {"type": "object", "additionalProperties": {"type": "number"}},
]
CONTEXT_SHAPE: dict[str, Any] = {
    "anyOf": [*ONE_CONTEXT, {"type": "array", "items": {"anyOf": ONE_CONTEXT}}, {"type": "null"}]
}
"""What a caller may send as context, as JSON schema."""


def plain_count(value: object) -> object:
    with code_for("count"):
        return whole_number(value, "count", 0, MOST_AT_ONCE)


Key = Annotated[
    str | None, checked_line("key", LONGEST_KEY, "None was made, and nothing was changed.")
]
Arm = Annotated[Any, BeforeValidator(plain_whole)]
User = Annotated[Any, BeforeValidator(plain_user)]


class OperationModel(BaseModel):
    """What a caller sends.

    Args:
        key: chosen by the caller. A repeated call with this key runs once; both get one reply.
    """

    model_config = Body.model_config
    name: ClassVar[str]
    role: ClassVar[Role] = "admin"
    reply: ClassVar[type[Reply]] = Done
    passes: ClassVar[tuple[type[Exception], ...]] = ()
    """The errors of releases that are due in spite of which it is done."""
    key: Key = None

    def parts(self, tx: Transaction) -> Sequence[Part]:
        """The parts of the campaign that it touches; by default all."""
        return tx.parts()

    def settles(self, part: Part) -> bool:
        """Whether what is due is made before it, and its reply to a key kept. What is made stands
        even if it is refused.
        """
        return True

    def run(self, tx: Transaction, by: str) -> Any:
        """Change the campaign; returns the answer. If it is refused, nothing was changed."""
        raise NotImplementedError

    def identity(self) -> str:
        """What tells it from other calls with the same key."""
        fields = {field: getattr(self, field) for field in type(self).model_fields}
        if fields.get("user") is not None:
            fields["user"] = named_bytes(fields["user"]).hex()
        return json.dumps([self.name, fields], sort_keys=True, default=str)

    def kept(self, answer: Any) -> Any:
        """The answer as JSON, for a call that is made again."""
        return answer

    def restored_answer(self, kept: Any, tx: Transaction) -> Any:
        """The answer to a call that is made again."""
        return kept

    def replied(self, answer: Any) -> Reply:
        """The answer as a server sends it."""
        return self.reply.of(answer)

    def answered(self, reply: Any) -> Any:
        """The answer that a server sent, as `run` gave it.

        Raises:
            ValueError: it is none to this call.
        """
        return reply.made()

    def body(self) -> Any:
        """What a client sends."""
        known = type(self).model_fields
        return {known[name].alias or name: value for name, value in self if value is not None}


Made = TypeVar("Made", bound=OperationModel)


def made(kind: type[Made], **fields: Any) -> Made:
    """Return an operation; what is wrong with it is said in one sentence.

    Raises:
        ValueError, TypeError: a field is not as expected. Nothing was done.
    """
    try:
        return kind(**fields)
    except ValidationError as error:
        first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, Exception):
        raise cause
    place = ".".join(map(str, first["loc"]))
    text = f"Expected another {place}=: {first['msg']}. Nothing was done."
    raise refusal("shape", text)


# Asking


@final
class Ask(OperationModel):
    """Request decisions.

    Args:
        count: how many.
        eligible: arms by names or numbers; None: all in play.
        user: for whom, where people come back; not needed once the campaign is closed.
        segment: which, of a campaign with segments.
        context: of a policy that decides by contexts, what is known of the visitor, as numbers or
            as numbers by the features' names; for several decisions a list of these.
    """

    name: ClassVar[str] = "ask"
    role: ClassVar[Role] = "ask"
    reply: ClassVar[type[Reply]] = AskReply
    count: Annotated[int, BeforeValidator(plain_count)] = 1
    eligible: Annotated[tuple[Any, ...] | None, BeforeValidator(plain_arms)] = None
    user: User = None
    segment: Any = None
    context: Annotated[Any, BeforeValidator(plain_contexts), WithJsonSchema(CONTEXT_SHAPE)] = None

    def parts(self, tx: Transaction) -> Sequence[Part]:
        layout = tx.layout
        if layout.rule is not None:
            if self.segment is not None:
                raise refusal("side_chosen")
            policy = tx.part("policy")
            if policy.closed is not None or policy.head.closed is not None:
                return [policy]
            if self.user is None:
                raise refusal("user_missing")
            assert layout.side_key is not None
            place = hashed_place(self.user, layout.side_key)
            return [tx.part(layout.rule.side(place))]
        return [segment_part(tx, self.segment)]

    def run(self, tx: Transaction, by: str) -> list[CampaignDecision]:
        (part,) = self.parts(tx)
        session, user, eligible = part.session, self.user, self.eligible
        text = self._kept_eligible()
        people = part.tables.people
        if tx.layout.rule is not None and people is None:
            user = None  # the hash of the side is all that is known of people here
        if part.closed is not None or part.head.closed is not None:
            return self._show_winner(part if tx.layout.rule is None else tx.part("policy"), user)
        if tx.layout.rule is not None:
            require_control(tx, eligible)
            if part is not tx.part("policy"):
                eligible = None  # the control arm is all that there is
        who = None
        if people is not None and user is not None:
            who = people.pseudonym(user)
            tx.read_places(part, who)
            tx.catch_up(people)
            closed = tx.closed_window()
            if closed is not None and people.window_number() <= closed:
                people.use_up(who)
        asked = session.ask(self.count, eligible=eligible, user=user, context=self.context)
        pending = part.view.pending
        if who is not None and part.contexts is not None:
            part.contexts.owners.update((each.id, who) for each in asked)
        if text is not None:
            part.eligible.update((each.id, text) for each in asked)
        return decisions_of(part, asked, [pending[each.id].propensity for each in asked])

    def _kept_eligible(self) -> str | None:
        """The eligible arms, each once, as they are kept beside every decision; None: all.

        Raises:
            TypeError: they take too much. None was made.
        """
        if self.eligible is None:
            return None
        arms = dict.fromkeys(json.dumps(arm, default=str) for arm in self.eligible)
        text = f"[{','.join(arms)}]"
        if self.count * len(text) > MOST_ELIGIBLE:
            raise refusal("eligible")
        return text

    def _show_winner(self, part: Part, user: User) -> list[CampaignDecision]:
        """Decisions of a campaign that is closed."""
        session = part.session
        if session.closed is None or session.closed.winner is None:
            raise refusal("closed")
        asked = session.ask(self.count, eligible=self.eligible, user=user, context=self.context)
        return decisions_of(part, asked, [1.0] * len(asked))

    def answered(self, reply: Any) -> list[CampaignDecision]:
        decisions: list[CampaignDecision] = reply.decisions
        if len(decisions) != self.count:
            raise ValueError("Expected as many decisions as were asked for.")
        return decisions

    def kept(self, answer: list[CampaignDecision]) -> Any:
        return [each.model_dump(mode="json", exclude_defaults=True) for each in answer]

    def restored_answer(self, kept: Any, tx: Transaction) -> list[CampaignDecision]:
        try:
            decisions = [CampaignDecision.model_validate(each) for each in kept]
        except (ValidationError, TypeError):
            raise refusal("edited_reply") from None
        # a closed holdout shows the policy side's decisions to holdout people, too
        for part in self.parts(tx) if tx.layout.rule is None else tx.parts():
            ids = [each.id for each in decisions]
            named, known = part.names.opened(ids), known_decisions(ids, part, tx.rows)
            if all(
                (name is not None and name.nonce == part.nonce)  # this very transaction made it
                or (stored is not None and stored[0].generation >= part.head.generation)
                for name, stored in zip(named, known, strict=True)
            ):
                return decisions
        raise refusal("given_up")


def decisions_of(
    part: Part, asked: Sequence[Decision], shares: Sequence[float | None]
) -> list[CampaignDecision]:
    """Return a session's decisions under their names. shares: their propensities."""
    is_local, rows = part.session.policy.randomizer() is not None, part.pending.rows
    names = list[str]()
    # one that is asked for in this very transaction is not stored yet
    by_nonce = groupby(asked, lambda each: rows[each.id].nonce if each.id in rows else part.nonce)
    for nonce, some in by_nonce:
        names += part.names.names(nonce, part.head.generation, (each.id for each in some))
    return [
        CampaignDecision(
            id=name,
            action=made.action,
            round=made.round,
            observe=made.observe,
            campaign=made.campaign,
            label=made.label,
            learn=made.learn,
            propensity=share,
            message=made.to_json() if is_local and made.learn else None,
        )
        for name, made, share in zip(names, asked, shares, strict=True)
    ]


def require_control(tx: Transaction, eligible: Sequence[Any] | None) -> None:
    """Refuse, on all sides, an ask whose person must not get the control arm."""
    assert tx.layout.rule is not None
    control = tx.layout.rule.control
    if eligible is not None and control not in eligible:
        label = tx.part("policy").session.arms[control][0]
        if label not in eligible:
            raise refusal("control_needed")


# Answers


StrictNumber = Annotated[float, Strict()]


class TellItem(Body):
    """An answer: the id of a decision with its reward, or in the local model with the device's
    report.
    """

    id: str = Field(max_length=100)
    reward: StrictNumber | Items[StrictNumber] | None = Field(default=None, repr=False)
    report: str | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.reward is None) is (self.report is None):
            raise refusal("reward_or_report")
        return self


@opaque
class PlainTell(NamedTuple):
    """A `TellItem` of this process: its reward is checked by the session alone."""

    id: str
    reward: object
    report: None = None


Placed = tuple[TellStatus, int | None]
"""What is said of an answer, and the decision if it counts now."""


class ResolvingOperation(OperationModel):
    """An operation on decisions that were requested before. What a part past its policy's horizon
    takes no more is "gone". Neither that nor a release that fails in one part keeps anything from
    being done in another.
    """

    role: ClassVar[Role] = "tell"
    reply: ClassVar[type[Reply]] = Results
    passes: ClassVar[tuple[type[Exception], ...]] = (Exception,)
    gone: ClassVar[tuple[Status, ...]] = ("void", "passed", "lost")
    """Where decisions stand that it comes too late for."""

    def ids(self) -> list[str]:
        """The decisions that are meant."""
        raise NotImplementedError

    def parts(self, tx: Transaction) -> Sequence[Part]:
        return (not tx.layout.is_whole and list(dict.fromkeys(self._places(tx)))) or tx.parts()

    def settles(self, part: Part) -> bool:
        """Return False where answers are held: a release, or a reply that is kept, would show that
        somebody answered. Made again, the call holds nothing more.
        """
        return part.session.attribution_window is None

    def _places(self, tx: Transaction) -> list[Part]:
        """Of each decision, its part; of what is none, the first one."""
        parts, ids = tx.parts(), self.ids()
        if len(parts) == 1:
            return [parts[0]] * len(ids)
        of_ids: list[Part] = [parts[0]] * len(ids)
        written = {at: block for at, id in enumerate(ids) if (block := name_bytes(id)) is not None}
        places, blocks = list(written), b"".join(written.values())
        for part in parts:  # each has names of its own: nobody sees which part a decision is of
            asked = part.view.asked
            some = [places[at] for at in part.names.plausible(blocks, part.head.generation, asked)]
            known = known_decisions([ids[at] for at in some], part, tx.rows)
            for at, place in zip(some, known, strict=True):
                if place is not None:
                    of_ids[at] = part
        return of_ids

    def run(self, tx: Transaction, by: str) -> list[TellStatus]:
        places, ids = self._places(tx), self.ids()
        statuses = list[TellStatus](["unknown"] * len(ids))
        parts = list(dict.fromkeys(places))
        by_part = {part: [at for at, each in enumerate(places) if each is part] for part in parts}
        failed: Exception | None = None
        for part, own in by_part.items():
            if len(parts) > 1 or is_release_missing(part.session):
                self._require(tx, part, own)
        for part, own in by_part.items():
            due = tx.failed.get(part.uid)
            if due is not None and not isinstance(due, HorizonError):
                failed = failed or due  # nothing of it is tried again in this call
                continue
            placed = placed_in([ids[at] for at in own], part, tx, self.gone)
            try:
                counts = [(at, seq) for at, (_, seq) in zip(own, placed, strict=True) if seq]
                self._resolve(tx, part, counts)
            except Exception as error:
                leave_due(part.session, error)
                left = part.view.pending  # the policy came to its horizon before them
                placed = [("gone", None) if each[1] in left else each for each in placed]
                if not isinstance(error, HorizonError):  # for want of noise, say
                    failed = failed or error
            for at, (status, _) in zip(own, placed, strict=True):
                statuses[at] = status
            if len(parts) > 1:
                tx.accept(part)
        if failed is not None:
            raise failed
        return statuses

    def _require(self, tx: Transaction, part: Part, own: Sequence[int]) -> None:
        """Refuse for all parts what one of them would refuse."""

    def _resolve(self, tx: Transaction, part: Part, counts: Sequence[tuple[int, int]]) -> None:
        """Resolve these decisions of a part, by their places in the call and their numbers."""
        raise NotImplementedError

    def replied(self, answer: Any) -> Reply:
        pairs = zip(self.ids(), answer, strict=True)
        return Results(results=[Result(id=id, status=status) for id, status in pairs])

    def answered(self, reply: Any) -> list[TellStatus]:
        pairs = zip(self.ids(), reply.results, strict=True)
        return [each.status for _, each in pairs]


@final
class Tell(ResolvingOperation):
    """Record rewards, in this order. One that is no reward refuses them all."""

    name: ClassVar[str] = "tell"
    tells: Items[TellItem] = Field(repr=False)

    def ids(self) -> list[str]:
        return [item.id for item in self.tells]

    def _require(self, tx: Transaction, part: Part, own: Sequence[int]) -> None:
        names = part.names.opened([self.tells[at].id for at in own])
        for at, place in zip(own, names, strict=True):
            known = None if place is None else part.pending.rows.get(place.seq)
            if place is not None and known is not None and known.nonce == place.nonce:
                reward = reward_of(self.tells[at], place.seq, part)
                require_reward(part.session, place.seq, reward)

    def _resolve(self, tx: Transaction, part: Part, counts: Sequence[tuple[int, int]]) -> None:
        pairs = [(seq, reward_of(self.tells[at], seq, part)) for at, seq in counts]
        with held_answers_of(part, tx.rows, [seq for seq, _ in pairs]):
            part.session.tell_many(pairs)
            # the first answer stays, and is written again: nobody sees that another one came
            part.told.update((seq, plain(steps)) for seq, steps in part.tables.held.items())

    def body(self) -> Any:
        return [
            {"id": item.id, "reward": sent_reward(item.reward)}
            if item.report is None
            else {"id": item.id, "report": item.report}
            for item in self.tells
        ]


def reward_of(item: TellItem | PlainTell, seq: int, part: Part) -> object:
    """The reward of an answer, or the report of a user's device.

    Raises:
        MessageError: no report, or one for another decision. Nothing was recorded.
    """
    if item.report is None:
        return item.reward
    message = report_from_json(item.report)
    if message.campaign != part.row.name or message.id != seq:
        raise refusal("other_report")
    return message.report


def sent_reward(reward: object) -> Any:
    """A reward, or several of one record, as JSON has numbers.

    Raises:
        RewardError: it is none. It is not shown.
    """
    several, parts = read_or_none(reward_parts, reward) or (False, [])
    if several:
        return [sent_reward(each) for each in parts]
    value = read_or_none(number, reward)
    if type(reward) is Report:
        raise RewardError(
            "Expected the text that the user's device made of its Report: tell_message(decision, "
            "text). Nothing was sent."
        )
    if value is None:
        raise RewardError(
            "Expected a reward that is a number, or a list of them, got "
            f"{no_number(reward)} Nothing was sent."
        )
    if not math.isfinite(value):
        what, cure = flaw(value)
        raise RewardError(f"Expected a reward in [0, 1], got {what}. {cure} Nothing was sent.")
    return value


class DecisionsOperation(ResolvingOperation):
    """An operation on decisions by their ids."""

    decisions: Items[Annotated[str, Field(max_length=100)]] = Field(alias="ids")

    def ids(self) -> list[str]:
        return self.decisions


@final
class Expire(DecisionsOperation):
    """Nobody answered: the declared default counts."""

    name: ClassVar[str] = "expire"

    def _resolve(self, tx: Transaction, part: Part, counts: Sequence[tuple[int, int]]) -> None:
        for _, seq in counts:
            part.session.expire(seq)


@final
class Void(DecisionsOperation):
    """Decisions were never carried out: nothing is recorded, and a person's place is free again.
    Of those that are void it says "already": it may have made them so itself, before another
    segment failed.
    """

    name: ClassVar[str] = "void"
    gone: ClassVar[tuple[Status, ...]] = ("passed", "lost")

    def settles(self, part: Part) -> bool:
        return True

    def _resolve(self, tx: Transaction, part: Part, counts: Sequence[tuple[int, int]]) -> None:
        owners = {seq: owner_of(part, tx, seq) for _, seq in counts}
        for seq, (who, window) in owners.items():
            if who is not None and window is not None:
                tx.read_places(part, who)
                part.tables.owners[seq] = who, window
            part.session.void(seq)


def owner_of(part: Part, tx: Transaction, seq: int) -> tuple[str | None, int | None]:
    """Whose place a decision took, and in which window.

    Raises:
        EditedRowsError: its row says somebody else's.
    """
    row, pending = tx.rows.decision(part.uid, seq), part.pending.rows.get(seq)
    if pending is not None and (
        row is None or part.pending.owner(row.pseudonym, row.window) != pending.owner
    ):
        raise edited_decisions()
    return (None, None) if row is None else (row.pseudonym, row.window)


def placed_in(
    ids: Sequence[str], part: Part, tx: Transaction, gone: Sequence[Status]
) -> list[Placed]:
    """Return of each id what is said of it, and the decision if its answer counts now.

    Args:
        gone: where decisions stand that are gone.
    """
    window = part.tables.attribution
    placed, seen, pending = list[Placed](), set[int](), part.view.pending
    for known in known_decisions(ids, part, tx.rows):
        if known is None:
            placed.append(("unknown", None))
            continue
        (_, generation, seq), status = known
        if generation < part.head.generation:
            placed.append(("gone", None))
        elif seq not in pending:
            placed.append(("gone" if status in gone else "already", None))
        elif window is not None and window.is_over(seq):
            placed.append(("gone", None))
        elif seq in seen:  # where answers are held, nobody learns that one came
            placed.append(("already" if window is None else "recorded", None))
        else:
            seen.add(seq)
            placed.append(("recorded", seq))
    return placed


@final
class Pending(OperationModel):
    """List decisions that wait for their rewards, oldest first, by their ids: to expire those that
    nobody will answer, say.

    Args:
        after: from after this round on.
        limit: how many at most.
        segment: which, of a campaign with segments; or the side of a holdout.
    """

    name: ClassVar[str] = "pending"
    role: ClassVar[Role] = "tell"
    reply: ClassVar[type[Reply]] = AskReply
    passes: ClassVar[tuple[type[Exception], ...]] = (HorizonError,)
    after: Annotated[int, Field(ge=0, le=2**53)] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_ITEMS)] = 1_000
    segment: Any = None

    def parts(self, tx: Transaction) -> Sequence[Part]:
        return [segment_part(tx, self.segment)]

    def run(self, tx: Transaction, by: str) -> list[CampaignDecision]:
        (part,) = self.parts(tx)
        if part.session.attribution_window is not None:
            raise refusal("resolved_by_time")
        waiting = [each for each in part.session.pending if each.id > self.after][: self.limit]
        seqs = [each.id for each in waiting]
        drawn = {row.seq: row.propensity for row in tx.rows.statuses(part.uid, seqs)}
        shares = [drawn.get(seq, part.view.pending[seq].propensity) for seq in seqs]
        return decisions_of(part, waiting, shares)

    def kept(self, answer: Any) -> Any:
        return None

    def restored_answer(self, kept: Any, tx: Transaction) -> Any:
        return self.run(tx, "")


# People who are assigned elsewhere


@final
class RecordOutcomes(OperationModel):
    """Record the outcomes of people who were assigned to an arm elsewhere (see `Session.record`):
    all of them, or none. A call with a key that was used records nothing.

    Args:
        outcomes: rewards, one a person; or, for rewards of 0 and 1:
        people, successes: how many people there were, and how many of them had the reward 1.
        segment: which, of a campaign with segments.
        key: another word for each batch.
    """

    name: ClassVar[str] = "record"
    role: ClassVar[Role] = "tell"
    reply: ClassVar[type[Reply]] = RecordedBatch
    arm: Arm
    outcomes: Items[StrictNumber | Items[StrictNumber]] | None = Field(default=None, repr=False)
    people: Annotated[int, Strict()] | None = None
    successes: Annotated[int, Strict()] | None = Field(default=None, repr=False)
    segment: Any = None
    key: Annotated[str, checked_line("key", LONGEST_KEY, "Nothing was recorded.")]

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        counts = [self.people, self.successes]
        if counts.count(None) != (0 if self.outcomes is None else 2):
            raise refusal("outcomes")
        return self

    def parts(self, tx: Transaction) -> Sequence[Part]:
        if tx.layout.rule is not None:
            raise refusal("no_batches")
        return [segment_part(tx, self.segment)]

    def run(self, tx: Transaction, by: str) -> TellStatus:
        (part,) = self.parts(tx)
        session = part.session
        if part.closed is not None or part.head.closed is not None:
            raise refusal("closed")
        require_recordable(session.policy, part.tables.people, part.tables.attribution is not None)
        if tx.is_lost(part, by, self.key):
            return "gone"
        counts = self.people is not None
        outcomes = listed_outcomes((self.people, self.successes) if counts else self.outcomes)
        record_batch(session, self.arm, outcomes, counts)
        return "recorded"

    def identity(self) -> str:
        """Nothing of outcomes is in it."""
        people = len(self.outcomes or ()) if self.people is None else self.people
        return json.dumps([self.name, self.arm, people, self.segment], default=str)

    def body(self) -> Any:
        fields = super().body()
        if self.outcomes is not None:
            if len(self.outcomes) > MOST_ITEMS:
                raise ValueError(
                    f"Expected at most {MOST_ITEMS:,} outcomes in one batch over HTTP, got "
                    f"{len(self.outcomes):,}. Record several batches, each with a key of its own, "
                    "or (people, successes). Nothing was sent."
                )
            fields["outcomes"] = [sent_reward(each) for each in self.outcomes]
        return fields


def recorded_batch(arm: object, outcomes: Any, segment: str | None, key: object) -> RecordOutcomes:
    """Return the operation that records a batch: `outcomes` as `Session.record` takes them.

    Raises:
        RewardError, ValueError: they are none, or the key is none. Nothing was recorded.
    """
    checked_batch_key(key)
    several: list[Any] | None = listed_outcomes(outcomes)
    people, successes = None, None
    if type(outcomes) is tuple:
        several, people, successes = None, *map(int, outcomes)
    return RecordOutcomes.model_construct(
        arm=plain_whole(arm),
        outcomes=several,
        people=people,
        successes=successes,
        segment=segment,
        key=key,
    )


def segment_part(tx: Transaction, segment: Any) -> Part:
    """The part of a campaign with this name, or its only one.

    Raises:
        ValueError: there is none of this name, or none was expected.
    """
    layout = tx.layout
    if layout.is_whole:
        if segment is not None:
            raise refusal("no_segments")
        return tx.parts()[0]
    if not isinstance(segment, str) or segment not in layout.parts:
        names = ", ".join(map(repr, layout.parts))
        text = f"Expected segment= to be one of {names}, got {shown(segment)}. Nothing was done."
        raise refusal("no_such_segment", text)
    return tx.part(segment)


# Arms


class PolicyOperation(OperationModel):
    """An operation on what decides. With a holdout that is the policy's side: the other has one
    arm.
    """

    def parts(self, tx: Transaction) -> Sequence[Part]:
        return tx.parts() if tx.layout.rule is None else [tx.part("policy")]


def require_room(sessions: Sequence[Session]) -> None:
    """Refuse another arm of a campaign that has as many as there may be.

    Raises:
        ValueError: it has.
    """
    if sum(session.policy.arms for session in sessions) >= MOST_ARMS:
        raise refusal("many_arms")


class ArmOperation(PolicyOperation):
    """An operation on an arm, by its name or number."""

    arm: Arm

    def run(self, tx: Transaction, by: str) -> Any:
        if self.arm is None:
            raise refusal("no_such_arm")
        rule, parts = tx.layout.rule, self.parts(tx)
        stays = [] if rule is None else [rule.control, parts[0].session.arms[rule.control][0]]
        if self.name != "resume" and self.arm in stays:
            raise refusal("control_stays")
        answer = self.change([part.session for part in parts])
        for part in parts:
            part.note(tx.now, f"{self.name} arm", self.arm, by)
        return answer

    def change(self, sessions: Sequence[Session]) -> Any:
        """Change the arm in all parts, or in none; returns the answer."""
        change: Any = self.name
        for session in sessions:
            session._with_status(self.arm, change)
        for session in sessions:
            getattr(session, f"{change}_arm")(self.arm)


@final
class RetireArm(ArmOperation):
    """Never play an arm again. Its open block is dropped unread."""

    name: ClassVar[str] = "retire"


@final
class PauseArm(ArmOperation):
    """Play an arm no more until it is resumed."""

    name: ClassVar[str] = "pause"


@final
class ResumeArm(ArmOperation):
    """Play a paused arm again."""

    name: ClassVar[str] = "resume"


@final
class AddArm(PolicyOperation):
    """Add an arm, from the next decision on."""

    name: ClassVar[str] = "arms"
    reply: ClassVar[type[Reply]] = AddedArm
    arm: Any = None

    def run(self, tx: Transaction, by: str) -> int:
        parts = self.parts(tx)
        require_room([part.session for part in parts])
        for part in parts:
            part.session._with_new_arm(self.arm)
        added = [part.session.add_arm(self.arm) for part in parts]
        for part in parts:
            part.note(tx.now, "add arm", part.session.arms[-1][0], by)
        return int(max(added))


@final
class RestartArm(ArmOperation):
    """Forget what was released of an arm whose mean has changed (see `Session.restart_arm`)."""

    name: ClassVar[str] = "restart"
    reply: ClassVar[type[Reply]] = AddedArm

    def change(self, sessions: Sequence[Session]) -> int:
        require_room(sessions)
        if not may_restart(sessions, self.arm):
            raise refusal("mean_stays")
        return max([session._restart(self.arm) for session in sessions])


# The campaign


@final
class DropOpen(OperationModel):
    """Drop, unread, what was recorded since the last releases."""

    name: ClassVar[str] = "drop"

    def run(self, tx: Transaction, by: str) -> None:
        for part in tx.parts():
            part.session.drop_open()
            part.note(tx.now, "drop", None, by)


@final
class Finish(PolicyOperation):
    """A stopping rule that has not halted gives its answer now."""

    name: ClassVar[str] = "finish"

    def run(self, tx: Transaction, by: str) -> None:
        parts = self.parts(tx)
        if len(parts) > 1:
            require_rewards({name: tx.part(name).session for name in tx.layout.parts})
        for part in parts:
            part.session.finish()
            part.note(tx.now, "finish", None, by)
            if len(parts) > 1:
                tx.accept(part)


FOR_EVER = (
    "close() ends the campaign for ever; store.close() closes the store. Nothing was changed."
)


@final
class Close(OperationModel):
    """The campaign is over: open blocks are released once, and pending decisions are void (see
    `Session.close`). It is for ever, so whoever calls it says why.

    Args:
        why: public, such as "winner declared: blue".
        winner: the arm that further decisions show; None: there are none.
        read: whether open blocks are released; else they are dropped.
    """

    name: ClassVar[str] = "close"
    passes: ClassVar[tuple[type[Exception], ...]] = (HorizonError,)
    why: Annotated[str, checked_line("why", LONGEST_WHY, FOR_EVER)]
    winner: Arm = None
    read: bool = True

    def run(self, tx: Transaction, by: str) -> None:
        parts = tx.parts()
        # with a holdout the policy's side, which has arms that were added, shows it to everybody
        shown = None if tx.layout.rule is None else tx.part("policy")
        winners = [self.winner if shown in (None, part) else None for part in parts]
        for part, winner in zip(parts, winners, strict=True):
            part.session._require_closable(winner, self.read)
        for part, winner in zip(parts, winners, strict=True):
            part.session.close(self.why, winner=winner, read=self.read)
            if part.head.closed is None and part.closed is None:
                part.closed = self.why
                part.note(tx.now, "closed", part.closed, by)
            tx.accept(part)


@final
class Erase(OperationModel):
    """Forget a person, as far as the guarantee to them allows.

    Their pending decisions are void, and nobody learns from them any more in the window that is
    open. Their pseudonym stays with a count of contributions, and nothing else, as long as the
    campaign, so that they cannot be learned from twice. Which arm they kept is deleted, and so are
    their contexts, those that the next codebooks would be made of among them.
    """

    name: ClassVar[str] = "erase"
    reply: ClassVar[type[Reply]] = Voided
    passes: ClassVar[tuple[type[Exception], ...]] = (HorizonError,)
    user: User

    def run(self, tx: Transaction, by: str) -> int:
        parts, many = tx.parts(), 0
        for part in parts:
            people = part.tables.people
            if people is None:
                raise refusal("no_people")
            who = people.pseudonym(self.user)
            # with what an earlier call of this transaction asked for, which is not stored yet
            pending = waiting_for(part.session, who, tx.rows.waiting_of(part.uid, who))
            if part.contexts is not None:
                part.contexts.follow(part.session, part.watch)
                owned = [seq for seq, owner in part.contexts.owners.items() if owner == who]
                pending = list(dict.fromkeys([*pending, *owned]))
            for seq in pending:
                part.session.void(seq)
            if part.contexts is not None:
                part.contexts.follow(part.session, part.watch)
                part.contexts.erase(part.session, who)
                part.erases = True
            many += len(pending)
            tx.catch_up(people)
            people.use_up(who)
            tx.kept_arms.pop(who, None)
            part.note(tx.now, "erased a person", None, by)
        return many


@final
class Settle(OperationModel):
    """Record the answers whose time has passed, and make what is due. A server does so itself."""

    name: ClassVar[str] = "settle"

    def run(self, tx: Transaction, by: str) -> None:
        """All of it is done before."""


OPERATIONS: dict[str, type[OperationModel]] = {
    kind.name: kind
    for kind in (
        Ask,
        Tell,
        Expire,
        Void,
        Pending,
        RecordOutcomes,
        AddArm,
        RetireArm,
        PauseArm,
        ResumeArm,
        RestartArm,
        DropOpen,
        Finish,
        Close,
        Erase,
        Settle,
    )
}
"""By name, every operation on a campaign."""


def signed(call: Callable[..., Any], **params: tuple[Any, Any]) -> Callable[..., Any]:
    """Give a function these parameters, by name: type and default (...: none). Returns it."""
    kind = Parameter
    call.__signature__ = Signature(  # type: ignore[attr-defined]  # FastAPI and typer read it
        [
            kind(
                name,
                kind.KEYWORD_ONLY,
                annotation=annotation,
                default=kind.empty if default is ... else default,
            )
            for name, (annotation, default) in params.items()
        ]
    )
    call.__annotations__ = {name: annotation for name, (annotation, _) in params.items()}
    return call


# Decisions as callers name them

ID = re.compile(r"[0-9a-f]{32}")


def checked_caller(by: str | None) -> str:
    """Return who makes a call; empty where nobody says.

    Raises:
        ValueError: no name that can be printed and kept.
    """
    if by is None or (isinstance(by, str) and not by) or is_line(by, LONGEST_KEY):
        return by or ""
    raise ValueError(
        f"Expected by={shown(by)} to be a name of at most {LONGEST_KEY} characters that can be "
        "printed. Nothing was changed."
    )


def id_of(decision: object) -> str:
    """Return the id of a decision, or of what is one already.

    Raises:
        TypeError: it is neither. It is not shown: it may be a reward.
    """
    if isinstance(decision, CampaignDecision):
        return decision.id
    if isinstance(decision, str):
        return decision
    if isinstance(decision, UUID):
        return decision.hex
    raise TypeError(
        "Expected a decision, as ask() gives it, or its id as text (several one by one, not as a "
        f"list), got an object of type {type(decision).__name__}. Nothing was done."
    )


def required_id(decision: object) -> str:
    """As `id_of`, of what has the form of an id: told under an arm's name, answers would be lost
    without a word.

    Raises:
        TypeError, ValueError: it has not.
    """
    id = id_of(decision)
    is_fallback = isinstance(decision, CampaignDecision) and not id  # made while a server was away
    if not ID.fullmatch(id) and not is_fallback:
        raise ValueError(
            "Expected a decision, as ask() gives it, or its id of 32 hexadecimal digits; got "
            "another text, such as an arm's name. Nothing was done."
        )
    return id


def told_pairs(tells: object) -> Tell:
    """Return the operation that tells these (decision, reward) pairs.

    Raises:
        TypeError: one of them is no pair. It is not shown.
    """
    items = [
        PlainTell(id_of(decision), reward) for decision, reward in checked_pairs(read_here(tells))
    ]
    return Tell.model_construct(tells=items, key=None)


def told_message(decision: object, message: str) -> Tell:
    """Return the operation that tells a device's answer to a decision."""
    if not isinstance(message, str):
        raise MessageError("Expected the message of a user's device. Nothing was recorded.")
    return Tell(tells=[TellItem(id=required_id(decision), report=message)])
