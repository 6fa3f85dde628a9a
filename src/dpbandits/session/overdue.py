"""Overdue requests: decisions whose answers have been awaited for too long.

A policy requests as many decisions as a block takes, then goes on to other blocks. If some of them
are never answered, the block would never be full and its arm never be released. So a request that
is older than its patience is overdue: another decision is requested in its place. Its own answer
still counts if it comes.

Age and delay are measured in decisions that the session itself asked for; outcomes of people who
were assigned elsewhere have ids of their own, and age nobody. Patience is a few times the usual
delay of answers, and in an arm's first block at least the size of the block. Everything here
depends on public counts only: which decisions were made, told, expired or void, and in which order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Set
from typing import Any, NamedTuple

from dpbandits.core.inputs import Count, Number
from dpbandits.core.plan import FOREVER
from dpbandits.session.decisions import Play

ENOUGH = 10
"""A request is overdue only after this many answers were recorded and this many younger decisions
were resolved. Before that, late answers cannot be told from missing ones.
"""

RARE = 20
"""The usual delay leaves out one answer in `RARE`, and at least one, as outliers."""

TIMES = 3
"""Patience, as a multiple of the usual delay."""

SOONEST, LATEST, SPREAD = 4, 32, 256
"""Requests are checked again after 4 to 32 decisions. Each 256 pending decisions add one decision
to the wait for the next check, so that checks cost the same for each decision.
"""

DOUBLINGS = 40
"""The most doublings of patience."""


class Outstanding:
    """Pending decisions of one action, or of one joint block, that are not overdue.

    Attributes:
        count: their number.
        ids: their ids in ascending order; a resolved one stays until it is the oldest.
        edge: older decisions than this are overdue and not included.
    """

    __slots__ = ("count", "edge", "ids")

    def __init__(self, edge: int) -> None:
        self.count, self.edge, self.ids = 0, edge, deque[int]()

    def add(self, id: int) -> None:
        self.count += 1
        self.ids.append(id)

    def drop_oldest(self) -> None:
        """Remove the oldest one, which is overdue."""
        self.edge = self.ids.popleft() + 1
        self.count -= 1

    def oldest(self, pending: Mapping[int, Play]) -> int | None:
        ids = self.ids
        while ids and ids[0] not in pending:
            ids.popleft()
        return ids[0] if ids else None


InTime = dict[Any, Outstanding]
"""By action; with joint releases by the number of the block."""


class OverdueRequests(NamedTuple):
    """Overdue requests of one arm or joint block.

    Args:
        edge: requests before this decision are overdue.
        many: number of requests that became overdue since the block began. An answer does not
            reduce it.
        since: the first of them; 0 if there is none.
    """

    edge: Count = 0
    many: Count = 0
    since: Count = 0


class Overdue(NamedTuple):
    """The overdue requests of a session. Immutable.

    Args:
        blocks: by arm; with joint releases by block.
        total: number of requests that ever became overdue.
        check: the decision before which requests are checked next; `FOREVER` for the next new
            offer.
        noticed: arms whose first block waited for overdue requests, each with the number of
            decisions made by then.
        elsewhere: ids of recorded outcomes of people who were assigned elsewhere, as runs (first
            id, number), as far as decisions before them were pending.
    """

    blocks: Mapping[int, OverdueRequests] = {}
    total: Count = 0
    check: Number = FOREVER
    noticed: tuple[tuple[Count, Count], ...] = ()
    elsewhere: tuple[tuple[Number, Number], ...] = ()

    def elsewhere_after(self, id: int) -> int:
        """Return the number of outcomes that were recorded of people who were assigned elsewhere
        since decision `id`, which is pending.
        """
        if not self.elsewhere:
            return 0
        return sum(number for first, number in self.elsewhere if first > id)

    def decision_before(self, id: int, many: int) -> int:
        """Return an id up to which pending decisions have waited for so many further decisions,
        those of people who were assigned elsewhere not counted.

        Args:
            id: of the newest decision.
        """
        at = id - many
        for first, number in reversed(self.elsewhere):
            if first + number <= at:
                break
            at -= number
        return at

    def with_elsewhere(self, id: int, pending: Mapping[int, Play]) -> Overdue:
        """Return this after an outcome was recorded, under this id, of somebody who was assigned
        elsewhere. The next check is due after as many decisions as before.
        """
        oldest, runs = next(iter(pending), id), self.elsewhere
        if runs and sum(runs[-1]) == id:
            runs = (*runs[:-1], (runs[-1][0], runs[-1][1] + 1))
        else:
            runs = (*(run for run in runs if run[0] > oldest), (id, 1))
        return self._replace(elsewhere=runs, check=min(FOREVER, self.check + 1))

    def of(self, key: Any) -> OverdueRequests:
        return self.blocks.get(key, OverdueRequests())

    def with_new_blocks(self, keys: Iterable[int]) -> Overdue:
        """Return this after the blocks of these arms were released, and new ones began."""
        begun = {
            key: self.blocks[key]._replace(many=0, since=0) for key in keys if key in self.blocks
        }
        return self._replace(blocks={**self.blocks, **begun}) if begun else self

    def without(self, block: int) -> Overdue:
        """Return this without a closed block."""
        return self._replace(blocks={key: of for key, of in self.blocks.items() if key != block})


class AskedBlock(NamedTuple):
    """A block that decisions are requested for.

    Args:
        size: rounds until it is full.
        recorded: rewards recorded in it so far.
        arms: the arms whose rewards it sums.
        is_first: whether one of these arms was never released before.
    """

    size: int
    recorded: int
    arms: tuple[int, ...]
    is_first: bool


class DelayedBlock(NamedTuple):
    """An arm's first block that would be full if its overdue requests had been answered.

    Args:
        missing: number of answers that it lacks.
        since: its oldest pending overdue request.
    """

    arm: int
    missing: int
    since: int


def bucket_of(delay: int) -> int:
    """Return the bucket of a delay: four for each factor of two, from 4 on.

    >>> [bucket_of(delay) for delay in (1, 2, 3, 4, 5, 8, 9, 10)]
    [4, 8, 10, 12, 13, 16, 16, 17]
    """
    bits = delay.bit_length()
    return bits << 2 | (delay << 3 >> bits) & 3


def longest_in(bucket: int) -> int:
    """Return the longest delay of a bucket.

    >>> [longest_in(bucket_of(delay)) for delay in (1, 2, 3, 4, 5, 8, 9, 10)]
    [1, 2, 3, 4, 5, 9, 9, 11]
    """
    bits, quarter = bucket >> 2, bucket & 3
    return max((4 + quarter) << bits >> 3, ((5 + quarter) << bits >> 3) - 1)


def usual_delay(late_answers: Mapping[int, int], answers: int) -> int | None:
    """About the 95 % quantile of the delays of answers; None: there are too few of them.

    late_answers: by bucket, answers that came after further decisions were made.
    """
    if answers < ENOUGH:
        return None
    rare = max(1, answers // RARE)
    for bucket in sorted(late_answers, reverse=True):
        rare -= late_answers[bucket]
        if rare < 0:
            return longest_in(bucket)
    return 0


def patience(usual: int, block: AskedBlock, overdue: int, others: tuple[int, int]) -> int:
    """Return the age from which requests of a block are overdue: a few usual delays, and in an
    arm's first block at least its size.

    Patience doubles each time as many requests are overdue as the block has rounds, times the share
    of answers in other blocks. Otherwise an arm whose people never answer would get all requests.

    Args:
        usual: the usual delay.
        block: the block.
        overdue: number of requests of the block that became overdue.
        others: number of answers, and of overdue requests, in all other blocks.

    >>> first, later = AskedBlock(32, 0, (0,), True), AskedBlock(32, 0, (0,), False)
    >>> [patience(usual, block, 0, (100, 0)) for usual in (5, 50) for block in (first, later)]
    [32, 15, 150, 150]
    >>> [patience(5, first, overdue, (100, 0)) for overdue in (31, 32, 64)]
    [32, 64, 128]
    >>> patience(5, first, 64, (50, 100))
    32
    """
    answers, silent = others
    doublings = overdue * (answers + 1) // (block.size * (answers + silent + 1))
    least = max(TIMES * usual, block.size if block.is_first else 0)
    return least << min(doublings, DOUBLINGS)


def outstanding_in(pending: Mapping[int, Play], overdue: Overdue) -> InTime:
    """Return the pending decisions that are not overdue, by what they are counted as."""
    in_time = InTime()
    for id, play in pending.items():
        if play.learn:
            key = play.counted_as
            requests = in_time.get(key)
            if requests is None:
                requests = in_time[key] = Outstanding(overdue.of(key).edge)
            if id >= requests.edge:
                requests.add(id)
    return in_time


def overtaken_before(
    pending: Container[int], asked: int, elsewhere: tuple[tuple[int, int], ...] = ()
) -> int:
    """Return the tenth youngest resolved decision; 0 if there are fewer. Only requests that are
    older can be overdue.

    Args:
        pending: pending decisions.
        asked: number of decisions made.
        elsewhere: see `Overdue`.
    """
    left, last = ENOUGH, asked
    for first, number in (*reversed(elsewhere), (0, 1)):
        for id in range(last, first + number - 1, -1):
            left -= id not in pending
            if not left:
                return id
        last = first - 1
    return 0


def check_requests(
    overdue: Overdue,
    in_time: InTime,
    pending: Mapping[int, Play],
    usual: int | None,
    answers: int,
    asked: int,
    block_of: Callable[[Any], AskedBlock | None],
    overtaken_before: Callable[[int], int],
) -> Overdue:
    """Return the overdue requests after `asked` decisions. Removes them from `in_time`.

    Args:
        overdue: the overdue requests so far.
        in_time: the other pending decisions, by what they are counted as.
        pending: all pending decisions.
        usual: the usual delay; None if too few answers came yet.
        answers: number of recorded rewards.
        asked: number of decisions made.
        block_of: returns the open block that requests are for, by what they are counted as; None
            if no block waits for them.
        overtaken_before: the function of this name, with its first argument bound.
    """
    wait_more, soonest, overtaken = len(pending) // SPREAD, FOREVER, None
    blocks, total = dict(overdue.blocks), overdue.total
    for key, requests in in_time.items() if usual is not None else ():
        oldest = requests.oldest(pending)
        block = None if oldest is None else block_of(key)
        if block is None:
            continue
        assert usual is not None
        _, count, since = before = overdue.of(key)
        others = max(0, answers - block.recorded), overdue.total - before.many
        while oldest is not None:
            last = oldest + overdue.elsewhere_after(oldest) + patience(usual, block, count, others)
            if asked <= last:
                soonest = min(soonest, last + 2)  # it is overdue when that decision is made
                break
            if overtaken is None:
                overtaken = overtaken_before(asked)
            if oldest >= overtaken:
                break
            requests.drop_oldest()
            count, since = count + 1, since or oldest
            oldest = requests.oldest(pending)
        if count > before.many:
            blocks[key] = OverdueRequests(requests.edge, count, since)
            total += count - before.many
    next = asked + 1 + wait_more
    check = min(max(soonest, next + SOONEST), next + LATEST)
    return overdue._replace(blocks=blocks, total=total, check=check)


def delayed_blocks(
    overdue: Overdue,
    pending: Mapping[int, Play],
    block_of: Callable[[Any], AskedBlock | None],
    released: Set[int],
) -> list[DelayedBlock]:
    """Return arms' first blocks that would be full if their overdue requests had been answered.

    Args:
        released: arms with at least one release.
    """
    full = dict[Any, AskedBlock]()
    for key, requests in overdue.blocks.items():
        block = block_of(key) if requests.many else None
        if (
            block is not None
            and block.recorded + requests.many >= block.size
            and set(block.arms) - released
        ):
            full[key] = block
    still: dict[Any, list[int]] = {key: [] for key in full}
    for id, play in pending.items() if full else ():
        key = play.counted_as
        if play.learn and key in full and overdue.of(key).since <= id < overdue.of(key).edge:
            still[key].append(id)
    delayed = dict[int, DelayedBlock]()
    for key, ids in still.items():
        size, recorded, arms, _ = full[key]
        if ids and recorded + len(ids) >= size:
            delayed |= {arm: DelayedBlock(arm, size - recorded, ids[0]) for arm in arms}
    return [delayed[arm] for arm in sorted(delayed.keys() - released)]


def longest_wait(usual: int | None) -> int | None:
    """Return after how many further decisions one that waits counts as not answered where answers
    are compared by arm: of all arms alike. None: too few answers came to say.
    """
    return None if usual is None else max(LEAST_PATIENCE, TIMES * usual)


MANY = 100
"""An alarm is raised after this many decisions that should have been answered."""

LEAST_PATIENCE = 200
"""Decisions that may be made at once before anybody answers, without an alarm."""


def is_nobody_answering(since: int, expired: int, usual: int) -> bool:
    """Return whether many decisions should have been answered since the newest answer.

    Args:
        since, expired: decisions that were made, and that expired, since then.
        usual: the usual delay of answers, in decisions; 0 if nothing is known of it.

    >>> [is_nobody_answering(*given) for given in [(150, 100, 5), (300, 0, 5), (300, 0, 80)]]
    [True, True, False]
    """
    return expired >= MANY or since >= MANY + max(LEAST_PATIENCE, TIMES * usual)


def unanswered_advice(since: int, expired: int, when: str) -> str:
    """Return the advice of the alarm "silent".

    Args:
        when: when the first of them was made.

    >>> unanswered_advice(250, 120, "12:42")[:61]
    'Nobody has answered since 12:42: 250 decisions were made and '
    """
    return (
        f"Nobody has answered since {when}: {since:,} decisions were made and {expired:,} expired "
        "since the newest answer. See whether outcomes reach tell()."
    )


def overdue_advice(arm: str | int, missing: int, when: str) -> str:
    """Return the advice of the alarm "overdue".

    >>> overdue_advice("green", 3, "12:42")[:37]
    'green waits for 3 answers since 12:42'
    """
    name = arm if isinstance(arm, str) else f"arm {arm}"
    answers = "1 answer" if missing == 1 else f"{missing:,} answers"
    return (
        f"{name} waits for {answers} since {when}; nothing is learned of it until they are "
        "recorded or expired, or others who are asked in their place answer."
    )
