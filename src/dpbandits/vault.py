"""The privacy boundary: rewards go in, noisy sums come out.

Only a mechanism turns exact sums into released values, so every decision is post-processing of
these. Other code passes rewards and sums on, and neither shows one nor decides by one:
`session/session` has a reward until it is recorded; `session/state`, with contexts also
`session/contexts` and `mechanisms/cells`, adds sums up; `session/saving`, `session/storing` and
`service/sealing` write them into private parts. `session/releases_only`, where decisions are
private too, has no vault: it counts answers in a histogram that its mechanism reads.

A `Vault` is stateless: the sums are in `Books`. It validates rewards, converts them to whole grid
steps, and makes new `Books` from old ones when blocks are released. A reward takes this path:

    Vault.checked     plain numbers in [0, 1]
    Vault.on_grid     whole grid steps
    Vault.parts       (key of a block, steps to add to its sums)
    (Vault.quick_parts: these three at once, for a plain float)
    add_records       exact sums of the blocks that are open, from `View.apply`
    Progress.count    says by counts alone when the block is ready
    Vault.release     one answer of the mechanism, and its line in the ledger
    Policy.update     and `plan`: the next decisions
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral
from typing import Any, NamedTuple, ParamSpec, TypeVar, final

import numpy as np

from dpbandits.core.errors import LedgerError, RewardError, coded
from dpbandits.core.inputs import Opaque, opaque
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import Entry, NoiseKind, printed
from dpbandits.mechanisms.base import NEW, Block, Mechanism
from dpbandits.mechanisms.cells import ContextRecord, ShapedBlock
from dpbandits.mechanisms.randomizers import Randomizer, Report, is_well_formed
from dpbandits.mechanisms.rewards import (
    checked_reward,
    checked_rewards,
    few_on_grid,
    on_grid,
    read_or_none,
    reward_parts,
    vector_on_grid,
)
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Feedback, Release

Given = ParamSpec("Given")
Result = TypeVar("Result")

NEAREST = float.__round__
"""Rounds a float, three times as fast as `round`."""

Steps = Any
"""One record in whole grid steps: a tuple of ints, or an int64 array for long records."""

Parts = tuple[tuple[int, Steps], ...]
"""(key of a block, steps to add to its sums)."""


class OpenBlock(Opaque, frozen=True):
    """Records that are not released yet. Private.

    Args:
        count: number of records.
        sums: their exact sums in grid steps.
    """

    count: int
    sums: Steps


def add_records(blocks: dict[int, OpenBlock], parts: Parts, count: int = 1) -> None:
    """Add `count` records to their open blocks, in place. This is where rewards become sums; with
    contexts they do in `mechanisms/cells`.
    """
    for key, steps in parts:
        before = blocks.get(key)
        if before is None:
            blocks[key] = OpenBlock(count, steps)
        else:
            blocks[key] = OpenBlock(before.count + count, added(before, steps))


def added(block: OpenBlock, steps: Steps) -> Steps:
    """Return a block's sums with one more record. No frame of an interruption holds them."""
    if type(block.sums) is tuple and type(steps) is tuple:
        if len(block.sums) == 1:
            return (block.sums[0] + steps[0],)
        return tuple(map(int.__add__, block.sums, steps))
    return np.add(block.sums, steps, dtype=np.int64)


class Line(NamedTuple):
    """Records [start, stop) of one coordinate, released in `releases` releases."""

    start: int
    stop: int
    releases: int

    def joined(self, after: Line) -> Line | None:
        """Return this line and a later one as one, if both are of single records that follow one
        another; else None.
        """
        (start, middle, before), (begins, stop, releases) = self, after
        if middle == begins and middle - start == before and stop - begins == releases:
            return Line(start, stop, before + releases)
        return None


CHUNK = 256
"""Older lines are kept in tuples of this length, so that one more line copies few of them."""


@final
@dataclass(frozen=True, slots=True)
class Ledger:
    """The records of each coordinate that were released or dropped. Public.

    Args:
        left: by coordinate, the number of records that left its blocks, and how many of them were
            dropped without a release.
        newest: by coordinate, its newest line, which may still grow.
        older: finished lines with their coordinates, oldest first, in chunks.
        releases: number of coordinates released so far.
    """

    left: dict[int, tuple[int, int]] = field(default_factory=dict)
    newest: dict[int, Line] = field(default_factory=dict)
    older: tuple[tuple[tuple[int, Line], ...], ...] = ()
    releases: int = 0

    def after(self, read: dict[int, int], dropped: dict[int, int]) -> Ledger:
        """Return the ledger after one more release.

        Args:
            read: by coordinate, the number of records that are released now.
            dropped: by coordinate, the number of records that are discarded without a release.
        """
        left, newest, older = dict(self.left), dict(self.newest), self.older
        for coordinate, count in read.items():
            start, unread = left.get(coordinate, (0, 0))
            left[coordinate] = start + count, unread
            line, last = Line(start, start + count, 1), newest.get(coordinate)
            joined = None if last is None else last.joined(line)
            if last is not None and joined is None:
                older = with_line(older, coordinate, last)
            newest[coordinate] = joined or line
        for coordinate, count in dropped.items():
            start, unread = left.get(coordinate, (0, 0))
            left[coordinate] = start + count, unread + count
        return Ledger(left, newest, older, self.releases + len(read))

    def lines(self) -> list[tuple[int, Line]]:
        """Return all lines with their coordinates, by coordinate and then in order."""
        finished = [pair for chunk in self.older for pair in chunk]
        return sorted([*finished, *self.newest.items()])

    @classmethod
    def of(cls, lines: Iterable[tuple[int, Line]], left: dict[int, tuple[int, int]]) -> Ledger:
        """Return the ledger of these lines or single releases, which are in order within each
        coordinate.
        """
        newest, older, releases = dict[int, Line](), list[tuple[int, Line]](), 0
        for coordinate, line in lines:
            last = newest.get(coordinate)
            joined = None if last is None else last.joined(line)
            if last is not None and joined is None:
                older.append((coordinate, last))
            newest[coordinate] = joined or line
            releases += line.releases
        chunks = (tuple(older[at : at + CHUNK]) for at in range(0, len(older), CHUNK))
        return cls(dict(left), newest, tuple(chunks), releases)


def with_line(
    older: tuple[tuple[tuple[int, Line], ...], ...], coordinate: int, line: Line
) -> tuple[tuple[tuple[int, Line], ...], ...]:
    if older and len(older[-1]) < CHUNK:
        return (*older[:-1], (*older[-1], (coordinate, line)))
    return (*older, ((coordinate, line),))


@opaque
class Books(NamedTuple):
    """All data of a vault: an immutable value, replaced by each release.

    Args:
        blocks: open blocks by key: an arm, `EVERY` (whole records), or the number of a joint plan.
            Private.
        memory: the mechanism's memory. Private.
        ledger: the released records.
    """

    blocks: dict[int, OpenBlock]
    memory: Any
    ledger: Ledger


@final
class Vault:
    """Validates and releases the rewards of one policy.

    Args:
        feedback: what a round shows (see `About.feedback`).
        mechanism: releases the blocks.
        arms: number of arms.
        noise: source of noise.
        randomizer: for local policies; the vault then takes reports and refuses raw rewards.
        to_unit: maps a reward in the user's units to [0, 1]; None if it is in [0, 1] already.
    """

    def __init__(
        self,
        feedback: Feedback,
        mechanism: Mechanism,
        arms: int,
        noise: Noise,
        randomizer: Randomizer | None = None,
        to_unit: Callable[[object], float] | None = None,
    ) -> None:
        self.mechanism, self.randomizer, self.noise = mechanism, randomizer, noise
        self.arms, self.grid, self.to_unit = arms, mechanism.grid, to_unit
        self.full, self.joint = feedback == "full", mechanism.together
        self.numbers = mechanism.numbers
        self.contextual = hasattr(mechanism, "layout")
        source = randomizer or mechanism
        self.guarantee, self.width = source.guarantee, source.width
        self.cost: Fraction | None = (
            None if self.guarantee is None else self.guarantee.cost / self.width
        )
        self.costs = mechanism.costs if randomizer is None else None
        is_single = feedback == "bandit" and self.numbers == 1
        # arms' costs are looked at
        plain = is_single and randomizer is None and to_unit is None and self.costs is None
        self._every = tuple(range(arms))
        # where the record was that was checked last, and its arms: consecutive ones share them
        self._known: tuple[Any, tuple[int, ...] | None] = (), ()
        self._quick = float(self.grid.steps) if plain and self.grid.rounding == "nearest" else None

    def __repr__(self) -> str:
        return f"Vault({self.mechanism!r}, arms={self.arms})"

    def begin(self) -> Books:
        """Return books without records."""
        return Books({}, self.mechanism.init(self.arms), Ledger())

    def length(self, observe: Sequence[int] | None = None) -> int:
        """Return how many numbers an answer has, to a decision that observes these arms."""
        if observe is not None:
            return len(observe)
        return self.arms if self.full else self.numbers

    # Rewards in

    def quick_parts(self, arm: Any, reward: Any, context: Any = None) -> Parts | None:
        """Return the parts of a plain float for one arm; None for any other reward."""
        if self._quick is not None and type(reward) is float and 0.0 <= reward <= 1.0:
            steps = NEAREST(reward * self._quick)
            return ((arm, (steps,) if context is None else NEW(ContextRecord, (steps, context))),)
        return None

    def checked(self, where: Any, value: Any) -> Any:
        """Return a round's feedback as plain numbers in [0, 1], or already in grid steps (a tuple).

        Args:
            where: the arm, or the observed arms in this order.
            value: a number, a vector of numbers, a pair (reward, harm) with a guardrail, or in the
                local model a `Report`.

        Raises:
            RewardError: not such a value. The error does not show it.
            TypeError: a raw value in the local model.
            RuntimeError: `where` names invalid arms, or more arms than the guarantee covers.
        """
        several = self._several(where)
        if self.randomizer is not None:
            return checked_report(value, self.randomizer, self.noise.kind, len(several or (0,)))
        if self.numbers > 1:
            return self._checked_pair(value)
        if several is None:
            return checked_reward(self._in_units(value))
        few = few_on_grid(value, len(several), self.grid) if self.to_unit is None else None
        if few is not None:
            return tuple(few)  # grid steps already
        what = "action" if self.full else "arm"
        return checked_rewards(self._in_units(value), len(several), several, what)

    def on_grid(self, plain: Any) -> Steps:
        """Return the result of `checked` in whole grid steps. Bernoulli rounding draws coins."""
        if type(plain) is tuple:
            return plain
        if isinstance(plain, np.ndarray):
            record = vector_on_grid(plain, self.grid, self.noise)
            return record if self.full else tuple(record.tolist())
        return (on_grid(plain, self.grid, self.noise),)

    def parts(
        self,
        where: Any,
        steps: Steps,
        key: int,
        kept: tuple[int, ...] | None,
        context: Any = None,
    ) -> Parts:
        """Return the blocks that a record is added to.

        Args:
            where: the arm, or the observed arms.
            steps: the record in grid steps.
            key: `Play.counted_as`: for a joint plan its number; not used otherwise.
            kept: for a joint plan, the positions in the record that are released, in that order.
            context: of a contextual policy. Which sum of its arm's block the record is added to is
                decided when it is added, for the block may have been released meanwhile.
        """
        if context is not None:
            return ((where, ContextRecord(steps[0], context)),)
        if self.joint:
            return ((key, steps if kept is None else tuple([steps[at] for at in kept])),)
        if self.full:
            return ((EVERY, steps),)
        if self.numbers > 1 or type(where) is int:
            return ((where, steps),)
        arms = where if isinstance(where, tuple) else (where,)
        return tuple([(int(arm), (step,)) for arm, step in zip(arms, steps, strict=True)])

    def _several(self, where: Any) -> tuple[int, ...] | None:
        """Return the arms of a record; None if it belongs to one arm."""
        if self.full:
            return self._every
        if where is self._known[0]:
            return self._known[1]
        arms = self.known(where if isinstance(where, tuple) else (where,))
        if not self.joint and len(arms) > self.width:
            raise RuntimeError(
                f"Expected a record of at most {self.width} arms, which the guarantee covers, got "
                f"{len(arms)}. Correct the oracle's `size` or its super arms. Nothing was recorded."
            )
        if self.costs is not None and self.guarantee is not None:
            together = sum(self.costs[arm] for arm in arms)
            if together > self.guarantee.cost:
                raise RuntimeError(
                    "Expected a record whose arms have weights of at most 1 together, which the "
                    f"guarantee covers, got {printed(together / self.guarantee.cost)} for the arms "
                    f"{arms}. Give the policy weights that no super arm exceeds. Nothing was "
                    "recorded."
                )
        self._known = where, arms if isinstance(where, tuple) else None
        return self._known[1]

    def known(self, coordinates: Sequence[Any]) -> tuple[int, ...]:
        """Return coordinates as plain ints.

        Raises:
            RuntimeError: one is not an arm, or is named twice.
        """
        plain = tuple(coordinates)
        if not {int}.issuperset(map(type, plain)):
            fit = all(isinstance(c, Integral) and not isinstance(c, bool) for c in plain)
            plain = tuple(map(int, plain)) if fit else (-1,)
        if plain and not (
            0 <= min(plain) <= max(plain) < self.arms and len(set(plain)) == len(plain)
        ):
            raise RuntimeError(
                f"Expected different whole numbers from 0 to {self.arms - 1} as arms, got "
                f"{tuple(coordinates)}. Correct the policy's plan or its oracle. Nothing was "
                "recorded or released."
            )
        return plain

    def _checked_pair(self, value: Any) -> Any:
        pair = type(value) in (list, tuple) or (type(value) is np.ndarray and value.ndim == 1)
        if not pair or len(value) != self.numbers:
            raise RewardError(
                "Expected two numbers, the reward and the harm (this session has a guardrail): "
                f"tell(decision, (reward, harm)); got an object of type {type(value).__name__}. "
                "Nothing was recorded."
            )
        reward, harm = value
        return np.array([checked_reward(self._in_units(reward)), checked_reward(harm)])

    def _in_units(self, value: Any) -> Any:
        """Convert rewards to [0, 1] if another range was declared."""
        if self.to_unit is None:
            return value
        if type(value) is float:
            return self.to_unit(value)
        parts = read_or_none(reward_parts, value)
        if parts is None:
            raise RewardError(
                f"Expected rewards that can be read; those of type {type(value).__name__} failed "
                "(not shown). Nothing was recorded."
            )
        several, values = parts
        return [self.to_unit(each) for each in values] if several else self.to_unit(value)

    # Releases

    def release(
        self,
        books: Books,
        read: tuple[int, ...],
        drop: tuple[int, ...] = (),
        arms: tuple[int, ...] | None = None,
        shapes: tuple[Any, ...] = (),
    ) -> tuple[Books, tuple[Any, ...]]:
        """Release blocks through the mechanism, each once, and close them.

        Args:
            books: the books before; they are not changed.
            read: keys of the blocks that are released.
            drop: keys of the blocks that are discarded without a release.
            arms: for a joint plan, the arms of its sums, in order.
            shapes: public shapes of the noise, for mechanisms that take one for each block.

        Returns:
            The new books, and an answer for each released coordinate.

        Raises:
            LedgerError: a block to release is empty: its records were released before. Nothing was
                released.
            RuntimeError: a key is named twice. Nothing was released.
        """
        read, drop = self._plain_keys(books, read, drop)
        block: Any = self._block(books, read, arms) if read else None
        if shapes:
            block = ShapedBlock(block.coordinates, block.sums, block.counts, shapes)
        return self._closed(books, block, read, drop, self.mechanism.answer)

    def last_blocks(
        self, books: Books, blocks: Mapping[int, tuple[int, ...] | None]
    ) -> list[tuple[tuple[int, ...], tuple[int, ...] | None]]:
        """Return which blocks are released together when no further record comes: their keys and,
        of a joint plan, its arms.

        Args:
            books: as they stand.
            blocks: those that may be, with the arms of their joint plans.
        """
        if self.joint:
            joint = self.mechanism.law is not None
            return [((key,), arms) for key, arms in blocks.items() if joint and key in books.blocks]
        read = tuple(key for key in blocks if self.mechanism.reads_last(books.memory, key))
        return [(read, None)] if read else []

    def finish(self, books: Books) -> tuple[Books, tuple[Any, ...]]:
        """Close every block and release the answers that waited for more records.

        Raises:
            TypeError: this mechanism's answers do not wait.
            ValueError: nothing was recorded.
        """
        empty = OpenBlock(0, (0,))
        open_ = [books.blocks.get(arm, empty) for arm in range(self.arms)]
        sums, counts = tuple(block.sums[0] for block in open_), tuple(b.count for b in open_)
        block = Block(tuple(range(self.arms)), sums, counts)
        read = tuple(arm for arm in range(self.arms) if arm in books.blocks)
        return self._closed(books, block, read, (), self.mechanism.finish)

    def _closed(
        self,
        books: Books,
        block: Block | None,
        read: tuple[int, ...],
        drop: tuple[int, ...],
        answer: Callable[..., tuple[Any, tuple[Any, ...]]],
    ) -> tuple[Books, tuple[Any, ...]]:
        memory: Any = books.memory
        answers: tuple[Any, ...] = ()
        if block is not None:
            memory, answers = answer(memory, block, self.noise)
        blocks, left = books.blocks.copy(), (dict[int, int](), dict[int, int]())
        for keys, counts in zip((read, drop), left, strict=True):
            for key in keys:
                gone, coordinate = blocks.pop(key, None), EVERY if self.joint else key
                if gone is not None:
                    counts[coordinate] = counts.get(coordinate, 0) + gone.count
        return Books(blocks, memory, books.ledger.after(*left)), answers

    def _plain_keys(
        self, books: Books, read: tuple[int, ...], drop: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        keys = (*read, *drop)
        if not (self.joint or self.full):
            keys = self.known(keys)  # a user-defined policy may name arms by NumPy's numbers
        elif len(set(keys)) < len(keys) or (self.full and not {EVERY}.issuperset(keys)):
            raise RuntimeError(
                f"Expected blocks {(EVERY,)}, for records are released or dropped whole and once, "
                f"got {keys}. Nothing was released."
            )
        empty = [key for key in read if key not in books.blocks]
        if empty:
            raise LedgerError(
                f"Cannot release {read}: {empty} have no new reward since their last release, and "
                "each reward is released at most once. Nothing was released."
            )
        return keys[: len(read)], keys[len(read) :]

    def _block(self, books: Books, read: tuple[int, ...], arms: tuple[int, ...] | None) -> Block:
        first = books.blocks[read[0]]
        if self.joint:
            (_,) = read  # joint plans are released one by one
            coordinates = self.known(arms or ())
            return Block(coordinates, tuple(first.sums), (first.count,) * len(coordinates))
        if self.full:
            return Block((EVERY,), np.asarray(first.sums, np.int64), (first.count,))
        blocks = [books.blocks[arm] for arm in read]
        whole = self.numbers > 1 or self.contextual
        sums: Any = [b.sums if whole else b.sums[0] for b in blocks]
        return Block(read, tuple(sums), tuple([b.count for b in blocks]))

    def empty_arms(self, books: Books) -> tuple[int, ...]:
        """Return the arms without an open block."""
        if self.full or self.joint:
            return () if books.blocks else tuple(range(self.arms))
        return tuple(arm for arm in range(self.arms) if arm not in books.blocks)

    def widened(self, books: Books, arms: int) -> Books:
        """Return the books for more arms; the new arms have no records."""
        return books._replace(memory=self.mechanism.widened(books.memory, arms))

    def entries(self, ledger: Ledger) -> tuple[Entry, ...]:
        """Return the ledger's lines with their privacy costs."""
        most = (
            self.guarantee.cost if self.guarantee is not None and self.costs is not None else None
        )
        return tuple(
            Entry(c, line.start, line.stop, self.cost_of(c), line.releases, self.width, most)
            for c, line in ledger.lines()
        )

    def cost_of(self, coordinate: int) -> Fraction | None:
        """Return what one release of a coordinate costs a record; None without noise."""
        return self.cost if self.costs is None else self.costs[coordinate]


def frameless(call: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Return `call(*given)`. An error of it, or an interruption, loses its traceback and causes,
    whose frames hold rewards or exact sums.
    """
    try:
        return call(*given, **named)
    except BaseException as error:
        failed = error
        for name in ("__traceback__", "__cause__", "__context__"):
            getattr(BaseException, name).__set__(error, None)  # works for frozen dataclasses, too
    del given, named
    try:
        raise failed  # outside the handler, so that it has no context
    finally:
        del failed  # nor is it kept by its own frame


def checked_report(
    value: object, randomizer: Randomizer, noise: NoiseKind, about: int
) -> tuple[int, ...]:
    """Return a report's content: grid steps for each of the `about` arms that it covers.

    Raises:
        TypeError: not a report. The error does not show it: it may be a raw reward.
        RewardError: a report of another randomizer or kind of noise, or a damaged one.
    """
    if type(value) is not Report:
        raise coded(
            "reward_or_report",
            TypeError,
            "This policy is private in the local model: it takes the Report that its users' "
            f"{type(randomizer).__name__} makes, got an object of type {type(value).__name__}. "
            "Call policy.randomizer().report(reward, noise) on the user's side. Nothing was "
            "recorded.",
        )
    is_valid = is_well_formed(value)
    if is_valid and (value.randomizer, value.noise) != (randomizer.name, noise):
        other = (
            "another randomizer" if value.randomizer != randomizer.name else f"{value.noise} noise"
        )
        raise RewardError(
            f"Expected a report by {randomizer.name} with {noise} noise, got one by {other}. "
            "Nothing was recorded."
        )
    steps = value.steps if isinstance(value.steps, tuple) else (value.steps,)
    if not is_valid or len(steps) != about or not randomizer.accepts(steps):
        raise RewardError(
            f"Expected a report that {type(randomizer).__name__} can make, got one with damaged "
            "content (not shown). Nothing was recorded."
        )
    return steps


def release_of(
    coordinates: tuple[int, ...], answers: tuple[Any, ...], round: int, counts: Any, numbers: int
) -> Release:
    """Return a release; with a guardrail, answers about rewards and harm are separate."""
    if numbers == 1:
        return Release(coordinates, answers, round, counts)
    rewards = tuple(answer.reward for answer in answers)
    return Release(coordinates, rewards, round, counts, tuple(answer.harm for answer in answers))
