"""Calls that answer: each decision is resolved once, and a call made again says so."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, final

from dpbandits.core.errors import MessageError
from dpbandits.mechanisms.rewards import tried
from dpbandits.service.rows.records import DecisionRecord
from dpbandits.service.sealing import edited_decisions
from dpbandits.service.turns.asks import CampaignDecision, Scratch
from dpbandits.service.turns.settling import answers_of
from dpbandits.service.turns.working import Working, known_in
from dpbandits.session.decisions import listed_tells, two_of
from dpbandits.session.storing import (
    its_time_passed,
    known_answers,
    owned_by,
    read_places,
    require_reward,
    waits,
)

TellStatus = Literal["recorded", "already", "unknown", "gone"]
"""What became of an answer. already: the decision was resolved before. unknown: there is no such
decision. gone: it is void, its time has passed, or a restored database gave it up.
"""


@final
@dataclass(frozen=True)
class TellOp:
    """Several answers, in this order. One that is no reward refuses them all."""

    pairs: Sequence[tuple[object, object]] = field(repr=False)

    def settles(self, work: Working) -> bool:
        return settles_openly(work)

    def run(self, work: Working, scratch: Scratch) -> list[TellStatus]:
        found = placed([name for name, _ in self.pairs], work, scratch)
        valid = [
            (seq, meant_for(seq, reward))
            for (_, seq), (_, reward) in zip(found, self.pairs, strict=True)
            if seq is not None
        ]
        seqs = [seq for seq, _ in valid]
        with answers_of(work, scratch, seqs):
            work.session.tell_many(valid)
            # the first answer stays, and is written again: nobody sees that another one came
            scratch.told.update(known_answers(work.session))
        return [status for status, _ in found]


class DeviceAnswer(NamedTuple):
    """What a user's device answered, and to which round. It is no one else's answer."""

    round: int
    report: object

    def __repr__(self) -> str:
        return "DeviceAnswer(not shown)"


def meant_for(seq: int, reward: object) -> object:
    """What is told of a decision.

    Raises:
        MessageError: a device's answer to another one.
    """
    if not isinstance(reward, DeviceAnswer):
        return reward
    if reward.round != seq:
        raise MessageError(
            "Expected a report for this decision, got one for another. Nothing was recorded."
        )
    return reward.report


@final
@dataclass(frozen=True)
class ExpireOp:
    """Nobody answered: the declared default counts."""

    names: Sequence[object]

    def settles(self, work: Working) -> bool:
        return settles_openly(work)

    def run(self, work: Working, scratch: Scratch) -> list[TellStatus]:
        found = placed(self.names, work, scratch)
        for _, seq in found:
            if seq is not None:
                work.session.expire(seq)
        return [status for status, _ in found]


@final
@dataclass(frozen=True)
class VoidOp:
    """Decisions that were never carried out: nothing is recorded, and a person's place is free."""

    names: Sequence[object]

    def settles(self, work: Working) -> bool:
        return True

    def run(self, work: Working, scratch: Scratch) -> list[TellStatus]:
        found = placed(self.names, work, scratch)
        owners = {seq: owner_of(work, scratch, seq) for _, seq in found if seq is not None}
        for _, seq in found:
            if seq is None:
                continue
            row = owners[seq]
            if row is not None and row.pseudonym is not None and row.window is not None:
                read_places(work.session, scratch.rows, row.pseudonym)
                owned_by(work.session, seq, row.pseudonym, row.window)
            work.session.void(seq)
        return [status for status, _ in found]


def require_rewards(work: Working, pairs: Iterable[tuple[object, object]]) -> None:
    """Refuse what is no reward of a decision that waits, before anything is recorded.

    Raises:
        RewardError: one of them. None is shown.
    """
    told = list(pairs)
    opened = work.ids.opened(name for name, _ in told)
    for place, (_, reward) in zip(opened, told, strict=True):
        waiting = None if place is None else work.waiting.rows.get(place.seq)
        if place is not None and waiting is not None and waiting.nonce == place.nonce:
            require_reward(work.session, place.seq, meant_for(place.seq, reward))


def settles_openly(work: Working) -> bool:
    """Whether a call that answers makes what is due before it: not where answers are waited for,
    else one could tell by a release that somebody answered.
    """
    return work.session.attribution_window is None


def owner_of(work: Working, scratch: Scratch, seq: int) -> DecisionRecord | None:
    """The row of a decision, which says whose place it took.

    Raises:
        EditedRowsError: it says somebody else's.
    """
    row, waiting = scratch.rows.decision(seq), work.waiting.rows.get(seq)
    if waiting is None:
        return row
    if row is None or work.waiting.owner(row.pseudonym, row.window) != waiting.owner:
        raise edited_decisions()
    return row


def placed(
    names: Iterable[object], work: Working, scratch: Scratch
) -> list[tuple[TellStatus, int | None]]:
    """Of each name, what is said of it, and the decision if its answer counts now."""
    windowed = work.session.attribution_window is not None
    found, seen = list[tuple[TellStatus, int | None]](), set[int]()
    for place in known_in(names, work, scratch.rows):
        if place is None:
            found.append(("unknown", None))
        elif place.generation < work.head.generation:
            found.append(("gone", None))
        elif not waits(work.session, place.seq):
            gone = place.status in ("void", "passed", "lost")
            found.append(("gone" if gone else "already", None))
        elif windowed and its_time_passed(work.session, place.seq):
            found.append(("gone", None))
        elif place.seq in seen:  # where answers are waited for, nobody learns that one came
            found.append(("recorded" if windowed else "already", None))
        else:
            seen.add(place.seq)
            found.append(("recorded", place.seq))
    return found


ID = re.compile(r"[0-9a-f]{32}")
"""What is none is a mistake that is said at once: told under an arm's name, answers would be lost
without a word.
"""


def id_of(decision: object) -> str:
    """The id of a decision, or of what is one already.

    Raises:
        TypeError: neither. It is not shown: it may be a reward.
    """
    if isinstance(decision, CampaignDecision):
        return decision.id
    if isinstance(decision, str):
        return decision
    raise TypeError(
        "Expected a decision, as ask() gives it, or its id as text (several one by one, not as a "
        f"list), got an object of type {type(decision).__name__}. Nothing was done."
    )


def required_id(decision: object) -> str:
    """As `id_of`, of what has the form of an id.

    Raises:
        TypeError, ValueError: it has not.
    """
    found = id_of(decision)
    if not ID.fullmatch(found):
        raise ValueError(
            "Expected a decision, as ask() gives it, or its id of 32 hexadecimal digits; got "
            "another text, such as an arm's name. Nothing was done."
        )
    return found


def pairs_in(tells: object) -> list[tuple[object, object]]:
    """Pairs of a decision and its reward.

    Raises:
        TypeError: one of them is none. It is not shown.
    """
    found, pairs = listed_tells(tells), list[tuple[object, object]]()
    for at, each in enumerate(found):
        pair = tried(two_of, each)  # what comes with a reward may bring code along
        if pair is None:
            raise TypeError(
                f"Pair {at} (counted from 0) of {len(found)}: Expected (decision, reward), got an "
                f"object of type {type(each).__name__}. Nothing was recorded."
            )
        pairs.append(pair)
    return pairs
