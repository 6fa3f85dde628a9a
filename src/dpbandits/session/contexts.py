"""What a session keeps of contexts, and its estimates by context.

It keeps public counts of open blocks, the newest contexts of each arm, and those of the first
visitors. A decision's own context stands with the pending decision, and goes once its reward is
recorded. Estimates are means of arms, effects between two arms, and values of other policies. They
are post-processing and cost no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, final

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import ArrayLike

from dpbandits.core.contexts import FINE, by_name, checked_rows
from dpbandits.core.inputs import Booleans, Count, Floats, damaged, numbers_in, opaque
from dpbandits.core.plan import ContextLaw, Draw, Plan
from dpbandits.mechanisms.cells import (
    ContextAnswer,
    ContextRecord,
    PublicCounts,
    Shape,
    no_counts,
    with_records,
)
from dpbandits.mechanisms.rewards import read_or_none
from dpbandits.policies.contextual import ContextState, ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.session.arms import Roster
from dpbandits.session.beliefs import checked_confidence
from dpbandits.session.ranges import Range
from dpbandits.vault import OpenBlock

if TYPE_CHECKING:
    from dpbandits.session.state import State


MOST_REACH = 2**62
"""No `largest_reach` is larger."""

CHUNK = 64
"""Rows of a matrix of contexts up to which more are added to it."""


@opaque
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
            ContextAnswer(answer[0], answer[1], self.open[arm], self.rows(policy, arm))
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


# Estimates by context


MODEL = "each arm's mean reward is linear in the context, E r = x·θ"
"""What all estimates rest on."""


class Estimated(NamedTuple):
    """Estimates with their intervals, in the session's units.

    Args:
        mean: the nearest to the estimate that rewards can have; NaN where an arm of it has no
            release.
        low: lower ends, of the same shape.
        high: upper ends.
    """

    mean: Floats
    low: Floats
    high: Floats


Rows = ArrayLike | Mapping[str, float] | Sequence[Mapping[str, float]]
"""Rows of numbers; or one context by the features' names, or several."""


@final
@dataclass(frozen=True, eq=False)
class Predictions:
    """Estimates for given contexts, from released values alone: no privacy cost.

    The model is that each arm's mean reward is linear in the context. Where it is not, estimates
    are of the nearest linear law on the contexts that the arm was played with, and intervals need
    not hold.

    Args:
        policy: its name.
        theta: each arm's weights, shape (arms, features).
        covariance: of them, shape (arms, features, features).
        added: by arm, how many deviations are added to a half-width, shape (arms,).
        normal: how many more of them are added in squares over arms.
        seen: by arm, whether it has a release.
        confidence: of each interval.
        always: whether intervals hold for all contexts and arms at all times at once.
        units: the range of rewards.
        labels: names of the arms; () for their numbers.
        clip: whether contexts of a norm above 1 are shortened.
        features: names of the features; () for none.
        caution: where the declared range clips rewards, or outcomes of one person may count
            repeatedly, what that does to estimates.
    """

    policy: str
    theta: Floats
    covariance: Floats
    added: Floats
    normal: float
    seen: Booleans
    confidence: float = 0.95
    always: bool = False
    units: Range = field(default_factory=Range)
    labels: tuple[str, ...] = ()
    clip: bool = False
    features: tuple[str, ...] = ()
    caution: str | None = None
    model: ClassVar[str] = MODEL

    @classmethod
    def of(
        cls,
        policy: ContextualPolicy,
        state: ContextState,
        confidence: float = 0.95,
        *,
        always: bool = False,
        units: Range | None = None,
        labels: Sequence[str] | None = None,
    ) -> Predictions:
        """Return what a policy's state tells.

        Args:
            confidence: of each interval.
            always: False for intervals of one estimate at one time: a normal quantile, for rewards
                of the largest variance, 1/4, and the most that the ridge can move an estimate. They
                do not account for arms being chosen by earlier releases, for which estimates err to
                one side at many contexts at once: an arm that looked bad early is played rarely and
                stays too low, and its intervals hold less often. Averages over contexts have the
                average of their half-widths. Coverage is measured. True for intervals that hold for
                all contexts and arms at all times at once, if no arm was added: proved under zCDP
                and without privacy, a sketch under pure ε (proofs/context.md). They are several
                times as wide. Both take the weights of each arm to have a norm of at most 1.
            units: the range of rewards; by default [0, 1].
            labels: names of the arms.

        Raises:
            ValueError: a confidence that is not between 0 and 1.
        """
        level = checked_confidence(confidence)
        units = units or Range()
        information = np.array([fit.information for fit in state.fits])
        weighted = np.array([fit.weighted for fit in state.fits])
        radii = policy.radii(information, 1.0 - level) if always else policy.ridge_bias
        return cls(
            policy.name,
            np.linalg.solve(information, weighted[:, :, None])[:, :, 0],
            policy.covariances(state, information),
            np.broadcast_to(np.asarray(radii, np.float64), policy.arms),
            0.0 if always else NormalDist().inv_cdf(0.5 + level / 2),
            np.array([fit.releases > 0 for fit in state.fits]),
            level,
            always,
            units,
            tuple(labels or ()),
            policy.clip,
            policy.feature_names or (),
            units.caution,
        )

    def __repr__(self) -> str:
        always = ", always=True" if self.always else ""
        said = f"Predictions({self.policy}, confidence={self.confidence}{always})"
        return "\n".join(filter(None, (said, self.caution)))

    def means(self, contexts: Rows) -> Estimated:
        """Return each arm's mean reward for each context.

        Use contexts of visitors, or like theirs. At the mean of many contexts estimates err to one
        side by more than the interval allows for; `value` and `effect(average=True)` are for
        averages over visitors.

        Args:
            contexts: shape (contexts, features); or one by the features' names, or a list of these.

        Returns:
            Estimates of shape (contexts, arms).
        """
        rows = self._rows(contexts)
        mean, width = rows @ self.theta.T, self._deviations(rows) * (self.normal + self.added)
        return self._in_units(self._cut(mean, width, 0.0, self.seen[None, :]))

    def effect(
        self, arm: int | str, other: int | str, contexts: Rows, *, average: bool = False
    ) -> Estimated:
        """Return by how much an arm's mean reward is above another one's, for each context.

        Args:
            arm: an arm, or its name.
            other: another one.
            contexts: shape (contexts, features).
            average: True for the average effect over the contexts.

        Returns:
            Estimates of shape (contexts,); of shape () for the average.
        """
        one, two, rows = self._arm(arm), self._arm(other), self._rows(contexts)
        if one == two:
            raise ValueError("Expected two different arms.")
        if average and self.always:
            rows = rows.mean(axis=0, keepdims=True)
        deviations = np.zeros((len(rows), len(self.theta)))
        deviations[:, [one, two]] = self._deviations(rows)[:, [one, two]]
        mean = rows @ (self.theta[one] - self.theta[two])
        normal = self.normal * np.sqrt((deviations**2).sum(axis=1))
        width = np.asarray(normal + deviations @ self.added)
        if average:
            mean, width = mean.mean(keepdims=True), width.mean(keepdims=True)
        known = self.seen[one] and self.seen[two]
        estimates = self._cut(mean, width, -1.0, np.full(len(mean), known))
        sign = -1.0 if self.units.minimise else 1.0
        parts = [each * sign * self.units.span for each in self._turned(estimates)]
        return Estimated(*(each[0] for each in parts)) if average else Estimated(*parts)

    def value(self, shares: ArrayLike, contexts: Rows) -> Estimated:
        """Return the mean reward of another policy over these contexts.

        Args:
            shares: the arm that it plays for each context, by number or name, shape (contexts,);
                or its probability of each arm, shape (contexts, arms), rows that sum to 1 (a data
                frame's columns are arms by name, where arms have names).
            contexts: shape (contexts, features).

        Returns:
            An estimate of shape ().

        Raises:
            ValueError: arms or probabilities that do not fit.
        """
        rows = self._rows(contexts)
        weights = self._shares(shares, len(rows))
        sums = weights.T @ rows / len(rows)  # Σ over contexts of share · x, by arm
        mean = float((sums * self.theta).sum())
        if self.always:  # which bounds the error along every direction
            deviations = np.diagonal(self._deviations(sums))
        else:
            deviations = (weights * self._deviations(rows)).mean(axis=0)
        width = deviations @ (self.normal + self.added)
        known = bool(np.all(self.seen | (weights.sum(axis=0) == 0)))
        return self._in_units(self._cut(np.array(mean), np.asarray(width), 0.0, np.array(known)))

    # Helpers

    def _rows(self, contexts: Rows) -> Floats:
        names = self.features or None
        return checked_rows(contexts, self.theta.shape[1], "contexts", self.clip, names)

    def _arm(self, arm: int | str) -> int:
        return Roster.of(len(self.theta), self.labels).number(arm)

    def _shares(self, shares: ArrayLike, contexts: int) -> Floats:
        if hasattr(shares, "columns"):  # a data frame: its columns are the arms
            shares = by_name(shares, self.labels or None)
        named = read_or_none(np.asarray, shares)
        if named is not None and named.ndim == 1 and all(isinstance(arm, str) for arm in named):
            shares = [self._arm(arm) for arm in named.tolist()]
        given, arms = numbers_in(shares, "shares", secret=True), len(self.theta)
        is_mask = np.asarray(shares).dtype == np.bool_  # of one arm's contexts, or of another's?
        if given.shape == (contexts,) and np.all(np.isin(given, np.arange(arms))) and not is_mask:
            return np.asarray(np.eye(arms)[given.astype(np.int64)])
        fits = given.shape == (contexts, arms) and bool(np.all(given >= 0))
        if not fits or not np.allclose(given.sum(axis=1), 1.0, atol=1e-9):
            raise ValueError(
                f"Expected shares to be an arm from 0 to {arms - 1} for each of the {contexts} "
                f"contexts, or probabilities of shape ({contexts}, {arms}) whose rows sum to 1; "
                f"got shape {given.shape}."
            )
        return given

    def _deviations(self, rows: Floats) -> Floats:
        """Standard deviations of x·θ, shape (contexts, arms)."""
        squares = np.einsum("ni,kij,nj->nk", rows, self.covariance, rows)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def _cut(self, mean: Floats, width: Floats, least: float, known: Any) -> tuple[Floats, ...]:
        """Means, lower and upper ends, each the nearest that is possible."""
        middle, low, high = (
            np.clip(each, least, 1.0) for each in (mean, mean - width, mean + width)
        )
        return (
            np.where(known, middle, math.nan),
            np.where(known, low, least),
            np.where(known, high, 1.0),
        )

    def _turned(self, estimates: tuple[Floats, ...]) -> tuple[Floats, ...]:
        mean, low, high = estimates
        return estimates if not self.units.minimise else (mean, high, low)

    def _in_units(self, estimates: tuple[Floats, ...]) -> Estimated:
        low, high = float(self.units.low), float(self.units.high)
        first, span = (high, low - high) if self.units.minimise else (low, high - low)
        return Estimated(*(np.asarray(first + each * span) for each in self._turned(estimates)))
