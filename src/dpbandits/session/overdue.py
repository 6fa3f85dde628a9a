"""Requests that have waited for too long: they are not counted as outstanding any more.

A policy asks for as many rounds as a block takes and then goes on to other blocks. Were a request
that nobody ever answers counted for ever, its arm's first block would never be complete and its
arm never be read. So a request that is older than its patience is overdue: another one takes its
place, and its own answer still counts if it comes.

Age and delay are numbers of decisions. Patience is a few times the usual delay of answers, and at
least the size of the request's block. Everything here is a function of public counts: the numbers
of decisions, and which of them were told, expired or void, after how many decisions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Set
from typing import Any, NamedTuple

from dpbandits.core.plan import FOREVER
from dpbandits.session.decisions import Play

ENOUGH = 10
"""No request is overdue before so many answers were recorded, and so many younger decisions are
resolved: before that, nothing tells those who answer late from those who never do.
"""

RARE = 20
"""One answer in so many may come later than usual, and one in any case."""

TIMES = 3
"""Patience, in usual delays."""

SOONEST, LATEST, SPREAD = 4, 32, 256
"""Requests are checked again after 4 to 32 decisions. Each 256 pending decisions add one decision
to the wait for the next check, so that checks cost the same for each decision.
"""

DOUBLINGS = 40
"""How often patience can double."""


class Outstanding:
    """Requests of one action, or of one block, that wait for their rewards and are counted on.

    count: their number. ids: their decisions, rising; a resolved one stays until it is the oldest.
        edge: requests before this decision are overdue, and are not here.
    """

    __slots__ = ("count", "edge", "ids")

    def __init__(self, edge: int) -> None:
        self.count, self.edge, self.ids = 0, edge, deque[int]()

    def add(self, id: int) -> None:
        self.count += 1
        self.ids.append(id)

    def drop_oldest(self) -> None:
        """The oldest one is overdue."""
        self.edge = self.ids.popleft() + 1
        self.count -= 1

    def oldest(self, pending: Mapping[int, Play]) -> int | None:
        ids = self.ids
        while ids and ids[0] not in pending:
            ids.popleft()
        return ids[0] if ids else None


Waiting = dict[Any, Outstanding]
"""By action; where a record belongs to its plan, by the number of its block."""


class OverdueRequests(NamedTuple):
    """Of one arm or block. edge: requests before this decision are overdue. many: requests that
    became overdue since the block began; a later answer does not lower it. since: the first of
    them; 0: there is none.
    """

    edge: int = 0
    many: int = 0
    since: int = 0


class Overdue(NamedTuple):
    """Which requests are overdue. Replaced whole.

    blocks: by arm, or by block where a record belongs to its plan. total: requests that ever became
    overdue. check: the decision before which requests are looked through next; `FOREVER`: at the
    next look ahead. noticed: arms whose first block was found to wait for overdue requests, and
    after how many decisions.
    """

    blocks: Mapping[Any, OverdueRequests] = {}
    total: int = 0
    check: int = FOREVER
    noticed: tuple[tuple[int, int], ...] = ()

    def of(self, key: Any) -> OverdueRequests:
        return self.blocks.get(key, OverdueRequests())

    def read(self, keys: Iterable[int]) -> Overdue:
        """The open blocks of these arms were read: others begin."""
        begun = {
            key: self.blocks[key]._replace(many=0, since=0) for key in keys if key in self.blocks
        }
        return self._replace(blocks={**self.blocks, **begun}) if begun else self

    def without(self, block: int) -> Overdue:
        """A block is closed."""
        return self._replace(blocks={key: of for key, of in self.blocks.items() if key != block})


class AskedBlock(NamedTuple):
    """size: rounds that it takes. told: those that were told. arms: whose rewards are read.
    is_first: nothing was read before of one of them.
    """

    size: int
    told: int
    arms: tuple[int, ...]
    is_first: bool


class DelayedBlock(NamedTuple):
    """An arm's first block that would be complete had the overdue requests of it been answered.

    missing: answers that it lacks. since: the oldest of the overdue requests that wait still.
    """

    arm: int
    missing: int
    since: int


def bucket_of(delay: int) -> int:
    """The bucket of a delay, from 4 on: four for each factor of two.

    >>> [bucket_of(delay) for delay in (1, 2, 3, 4, 5, 8, 9, 10)]
    [4, 8, 10, 12, 13, 16, 16, 17]
    """
    bits = delay.bit_length()
    return bits << 2 | (delay << 3 >> bits) & 3


def longest_in(bucket: int) -> int:
    """The longest delay of a bucket.

    >>> [longest_in(bucket_of(delay)) for delay in (1, 2, 3, 4, 5, 8, 9, 10)]
    [1, 2, 3, 4, 5, 9, 9, 11]
    """
    bits, quarter = bucket >> 2, bucket & 3
    return max((4 + quarter) << bits >> 3, ((5 + quarter) << bits >> 3) - 1)


def usual_delay(late: Mapping[int, int], answers: int) -> int | None:
    """About the 95 % quantile of the delays of answers; None: there are too few of them.

    late: by bucket, answers that came after further decisions were made.
    """
    if answers < ENOUGH:
        return None
    rare = max(1, answers // RARE)
    for bucket in sorted(late, reverse=True):
        rare -= late[bucket]
        if rare < 0:
            return longest_in(bucket)
    return 0


def patience(usual: int, block: AskedBlock, overdue: int, elsewhere: tuple[int, int]) -> int:
    """How old a request of a block may become: a few usual delays, and in a first block as many
    decisions as it has rounds.

    It doubles each time as many requests are overdue as the block has rounds, times the share of
    answers in other blocks: else an arm whose people never answer would get all requests for ever.

    overdue: requests that became overdue in the block. elsewhere: answers and overdue requests of
        all other blocks.

    >>> first, later = AskedBlock(32, 0, (0,), True), AskedBlock(32, 0, (0,), False)
    >>> [patience(usual, block, 0, (100, 0)) for usual in (5, 50) for block in (first, later)]
    [32, 15, 150, 150]
    >>> [patience(5, first, overdue, (100, 0)) for overdue in (31, 32, 64)]
    [32, 64, 128]
    >>> patience(5, first, 64, (50, 100))
    32
    """
    answers, silent = elsewhere
    doublings = overdue * (answers + 1) // (block.size * (answers + silent + 1))
    least = max(TIMES * usual, block.size if block.is_first else 0)
    return least << min(doublings, DOUBLINGS)


def outstanding_in(pending: Mapping[int, Play], overdue: Overdue) -> Waiting:
    """What waits and is not overdue, by what it is counted by."""
    waiting = Waiting()
    for id, play in pending.items():
        if play.learn:
            key = play.unit
            of = waiting.get(key)
            if of is None:
                of = waiting[key] = Outstanding(overdue.of(key).edge)
            if id >= of.edge:
                of.add(id)
    return waiting


def overtaken_before(pending: Container[int], asked: int) -> int:
    """Return the tenth youngest resolved decision; 0 if there are fewer. Only older requests can be
    overdue.
    """
    left = ENOUGH
    for id in range(asked, 0, -1):
        left -= id not in pending
        if not left:
            return id
    return 0


def looked_through(
    overdue: Overdue,
    waiting: Waiting,
    pending: Mapping[int, Play],
    delays: tuple[Mapping[int, int], int],
    asked: int,
    block_of: Callable[[Any], AskedBlock | None],
    overtaken_before: Callable[[int], int],
) -> Overdue:
    """What is overdue after so many decisions. Overdue requests are taken out of `waiting`.

    delays: answers that came late, by bucket, and the number of all answers. block_of: the open
        block that requests of a key are for; None: nothing waits for their answers alone.
        overtaken_before: see there.
    """
    usual, answers = usual_delay(*delays), delays[1]
    often, soonest, overtaken = len(pending) // SPREAD, FOREVER, None
    blocks, total = dict(overdue.blocks), overdue.total
    for key, of in waiting.items() if usual is not None else ():
        oldest = of.oldest(pending)
        block = None if oldest is None else block_of(key)
        if block is None:
            continue
        assert usual is not None
        _, count, since = before = overdue.of(key)
        elsewhere = max(0, answers - block.told), overdue.total - before.many
        while oldest is not None:
            last = oldest + patience(usual, block, count, elsewhere)
            if asked <= last:
                soonest = min(soonest, last + 2)  # it is overdue when that decision is made
                break
            if overtaken is None:
                overtaken = overtaken_before(asked)
            if oldest >= overtaken:
                break
            of.drop_oldest()
            count, since = count + 1, since or oldest
            oldest = of.oldest(pending)
        if count > before.many:
            blocks[key] = OverdueRequests(of.edge, count, since)
            total += count - before.many
    next = asked + 1 + often
    check = min(max(soonest, next + SOONEST), next + LATEST)
    return overdue._replace(blocks=blocks, total=total, check=check)


def delayed_blocks(
    overdue: Overdue,
    pending: Mapping[int, Play],
    block_of: Callable[[Any], AskedBlock | None],
    released: Set[int],
) -> list[DelayedBlock]:
    """First blocks that would be complete had their overdue requests been answered.

    released: arms of which anything was read.
    """
    full = dict[Any, AskedBlock]()
    for key, of in overdue.blocks.items():
        block = block_of(key) if of.many else None
        if block is not None and block.told + of.many >= block.size and set(block.arms) - released:
            full[key] = block
    still: dict[Any, list[int]] = {key: [] for key in full}
    for id, play in pending.items() if full else ():
        key = play.unit
        if play.learn and key in full and overdue.of(key).since <= id < overdue.of(key).edge:
            still[key].append(id)
    found = dict[int, DelayedBlock]()
    for key, ids in still.items():
        size, told, arms, _ = full[key]
        if ids and told + len(ids) >= size:
            found |= {arm: DelayedBlock(arm, size - told, ids[0]) for arm in arms}
    return [found[arm] for arm in sorted(found.keys() - released)]


MANY = 100
"""Decisions without an answer that raise an alarm, once their time is over."""

LEAST_PATIENCE = 200
"""Decisions that may be made at once before anybody answers."""


def nobody_answers(since: int, expired: int, usual: int) -> bool:
    """Whether many decisions had their time since the newest answer.

    Args:
        since, expired: decisions that were made, and that expired, since then.
        usual: the usual delay of answers, in decisions; 0 if nothing is known of it.

    >>> nobody_answers(150, 100, 5), nobody_answers(300, 0, 5), nobody_answers(300, 0, 80)
    (True, True, False)
    """
    return expired >= MANY or since >= MANY + max(LEAST_PATIENCE, TIMES * usual)


def silent_words(since: int, expired: int, when: str) -> str:
    """What to do about decisions that nobody answers.

    Args:
        when: when the first of them was made.

    >>> silent_words(250, 120, "12:42")[:61]
    'Nobody has answered since 12:42: 250 decisions were made and '
    """
    return (
        f"Nobody has answered since {when}: {since:,} decisions were made and {expired:,} expired "
        "since the newest answer. See whether outcomes reach tell()."
    )


def overdue_words(arm: str | int, missing: int, when: str) -> str:
    """What to do about an arm's first block that waits.

    >>> overdue_words("green", 3, "12:42")[:37]
    'green waits for 3 answers since 12:42'
    """
    name = arm if isinstance(arm, str) else f"arm {arm}"
    answers = "1 answer" if missing == 1 else f"{missing:,} answers"
    return (
        f"{name} waits for {answers} since {when}; nothing is learned of it until they are "
        "recorded or expired, or others who are asked in their place answer."
    )
