"""What a session keeps of contexts: public counts of open blocks, the newest contexts of each arm,
and those of the first visitors.

A decision's own context stands with the pending decision, and goes once its reward is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import numpy as np
from msgspec import Meta, Struct

from dpbandits.core.contexts import FINE
from dpbandits.core.inputs import Count, Floats, damaged
from dpbandits.core.plan import ContextLaw, Draw, Plan
from dpbandits.mechanisms.cells import (
    ContextRecord,
    PublicCounts,
    Shape,
    context_answer,
    no_counts,
    with_records,
)
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.vault import OpenBlock

if TYPE_CHECKING:
    from dpbandits.session.state import State


MOST_REACH = 2**62
"""No `largest_reach` is larger."""

CHUNK = 64
"""Rows of a matrix of contexts up to which more are added to it."""


class Contexts(NamedTuple):
    """What is known of contexts when the log was last folded. Public.

    Args:
        open: counts beside the sums of open blocks, by arm.
        recent: the newest contexts of each arm, oldest first, in matrices of rows; the next
            codebook is made of them.
        pilot: contexts of the first visitors, until the first codebooks are made of them.
    """

    open: Mapping[int, PublicCounts]
    recent: tuple[tuple[Floats, ...], ...]
    pilot: tuple[Floats, ...] = ()

    def __repr__(self) -> str:
        return f"Contexts(open={len(self.open)}, pilot={len(self.pilot)})"

    @classmethod
    def first(cls, policy: Policy) -> Self | None:
        """Before anybody came; None for a policy without contexts."""
        return cls({}, ((),) * policy.arms) if isinstance(policy, ContextualPolicy) else None

    @property
    def saved(self) -> ContextsData:
        """The same, for JSON, which has lists for the arrays."""
        own: Any = self
        recent: Any = [np.concatenate(each) if each else () for each in self.recent]
        return ContextsData(own.open, recent, own.pilot)

    def with_records(
        self, state: State, plan: Plan, records: Mapping[int, Sequence[ContextRecord]]
    ) -> tuple[dict[int, OpenBlock], Self]:
        """The open blocks of a state with these records, and the contexts with theirs.

        Args:
            plan: made from this state.
            records: since the log was folded, by arm. Private.
        """
        policy, blocks = state.policy, dict(state.books.blocks)
        assert isinstance(policy, ContextualPolicy)
        assert isinstance(plan, Draw)
        assert isinstance(plan.law, ContextLaw)
        open_, recent = {arm: self.open[arm] for arm in blocks}, list(self.recent)
        for arm, new in records.items():
            book = plan.law.books[arm] if plan.law.books else np.empty((0, policy.dimension))
            block = blocks.get(arm, OpenBlock(0, ()))
            if arm not in open_:
                open_[arm] = no_counts(policy.layout, book, policy.dimension)
                block = OpenBlock(0, np.zeros(len(open_[arm].directions), np.int64))
            known = np.asarray(block.sums, np.int64), open_[arm], new
            added, open_[arm] = with_records(policy.layout, book, policy.grid, *known)
            blocks[arm] = OpenBlock(block.count + len(new), added)
            recent[arm] = newest(recent[arm], [each.context for each in new], policy.kept_contexts)
        return blocks, self._replace(open=open_, recent=tuple(recent))

    def rows(self, policy: ContextualPolicy, arm: int) -> Floats:
        """The newest contexts of an arm, oldest first, shape (contexts, features)."""
        return np.concatenate((np.empty((0, policy.dimension)), *self.recent[arm]))

    def shapes(self, state: State, arms: Sequence[int]) -> tuple[Shape, ...]:
        """The public shapes of the noise in these arms' blocks; none if their layout takes none."""
        policy = state.policy
        assert isinstance(policy, ContextualPolicy)
        if policy.layout != "shaped":
            return ()
        return tuple(
            policy.shape_of(state.learned.fits[arm], self.open[arm], self.rows(policy, arm))
            for arm in arms
        )

    def answers(
        self, policy: Policy, arms: Sequence[int], answers: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Answers about these arms, with the public counts of their blocks."""
        assert isinstance(policy, ContextualPolicy)
        return tuple(
            context_answer(answer, self.open[arm], self.rows(policy, arm))
            for arm, answer in zip(arms, answers, strict=True)
        )

    def without(self, arms: Iterable[int]) -> Self:
        """Once these arms' open blocks were read or dropped."""
        gone = set(arms)
        return self._replace(open={arm: each for arm, each in self.open.items() if arm not in gone})

    def widened(self, arms: int) -> Self:
        """For so many arms, the last of which were never played."""
        return self._replace(recent=self.recent + ((),) * (arms - len(self.recent)))


def newest(before: tuple[Floats, ...], contexts: Sequence[Floats], kept: int) -> tuple[Floats, ...]:
    """The `kept` newest contexts, in matrices of rows, once these have come."""
    if not kept:
        return ()
    rows, chunks = np.array(contexts), list(before)
    if chunks and len(chunks[-1]) + len(rows) <= CHUNK:
        rows = np.concatenate((chunks.pop(), rows))
    chunks.append(rows)
    beyond = sum(map(len, chunks)) - kept
    while beyond > 0:
        oldest = chunks.pop(0)
        if beyond < len(oldest):
            chunks.insert(0, oldest[beyond:].copy())
        beyond -= len(oldest)
    return tuple(chunks)


class OpenData(NamedTuple):
    """`PublicCounts` of a saved session."""

    counts: list[Count]
    negatives: list[Count]
    directions: list[list[float]]
    reach: list[Annotated[int, Meta(gt=0, le=MOST_REACH)]]


class ContextsData(Struct, forbid_unknown_fields=True):
    """`Contexts` of a saved session, with lists in place of arrays."""

    open: dict[int, OpenData]
    recent: list[list[list[float]]]
    pilot: list[list[float]]


def contexts_of(data: ContextsData, policy: ContextualPolicy) -> Contexts:
    """What is kept of contexts, from a saved session."""
    open_ = {
        arm: PublicCounts(
            np.array(each.counts, np.int64),
            np.array(each.negatives, np.int64),
            np.array(each.directions, np.float64).reshape(-1, policy.dimension),
            np.array(each.reach, np.int64),
        )
        for arm, each in data.open.items()
    }
    recent = tuple((np.array(each),) if each else () for each in data.recent)
    return Contexts(open_, recent, tuple(map(np.array, data.pilot)))


# In rows of a database


def packed(context: Floats) -> bytes:
    """A context in whole steps of 2^−20, four bytes each.

    >>> packed(np.array([0.5, -1.0])).hex()
    '000008000000f0ff'
    """
    return (context * FINE).astype("<i4").tobytes()


def unpacked(body: bytes) -> Floats:
    """The context that `packed` wrote.

    >>> unpacked(bytes.fromhex("000008000000f0ff"))
    array([ 0.5, -1. ])
    """
    return np.frombuffer(body, "<i4") / FINE


def packed_counts(counts: PublicCounts) -> dict[int, bytes]:
    """The counts beside an arm's open block, by cell; cells without a record are left out. A block
    that is a vector has one, and where its noise is shaped, the reach by each matrix.
    """
    groups = len(counts.counts)
    rows = counts.directions.reshape(groups, -1)
    return {
        int(cell): np.array([counts.counts[cell], counts.negatives[cell]], "<i8").tobytes()
        + rows[cell].astype("<f8").tobytes()
        + counts.reach.astype("<i8").tobytes()
        for cell in np.flatnonzero(counts.counts)
    }


def unpacked_counts(
    bodies: Mapping[int, bytes], policy: ContextualPolicy, learned: Any, arm: int
) -> PublicCounts:
    """The counts that `packed_counts` wrote of an arm's open block.

    Raises:
        DamagedSessionError: they are not of the arm's cells.
    """
    counts = no_counts(policy.layout, policy.book_of(learned, arm), policy.dimension)
    groups = len(counts.counts)
    rows = counts.directions.reshape(groups, -1) if groups else counts.directions
    end = 8 * (2 + rows.shape[1])
    for cell, body in bodies.items():
        if not 0 <= cell < groups or len(body) != end + 8 * len(counts.reach):
            raise damaged("an open block has another number of cells than its arm's codebook")
        counts.counts[cell], counts.negatives[cell] = np.frombuffer(body[:16], "<i8")
        rows[cell] = np.frombuffer(body[16:end], "<f8")
        counts.reach[:] = np.frombuffer(body[end:], "<i8")
    return counts
