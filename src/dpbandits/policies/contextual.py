"""Policies that decide by a public context: a linear law of rewards for each arm, r ≈ x·θ.

Private policies keep a record's reward in one whole-number sum, that of its arm and cell (see
`mechanisms.cells`); the law is fitted to the noised sums, which is post-processing. Each arm's
block ends by its own count of records. What is proved and what is measured: proofs/context.md.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from dpbandits.core.contexts import (
    FINE,
    checked_context,
    checked_features,
    checked_rows,
    names_of_outcomes,
)
from dpbandits.core.inputs import Floats, Integers, opaque, refuse_class, switch
from dpbandits.core.plan import FOREVER, ContextLaw, Draw, Plan, PublicRng
from dpbandits.core.privacy import Grid, as_fraction
from dpbandits.mechanisms import GaussianBatches, LazyForgetful, Mechanism
from dpbandits.mechanisms.cells import (
    ROW,
    STEPS,
    CellBatches,
    ContextAnswer,
    Layout,
    PublicCounts,
    Shape,
    ShapedBatches,
    VectorBatches,
    cells_of,
    largest_reach,
)
from dpbandits.policies.base import require_budget
from dpbandits.policies.contract import About, Policy, Release, policy_dataclass

RECENT = 1_500
"""Contexts that are kept of an arm, for its next codebook, and the most of `public_contexts`."""

PILOT = 500
"""Visitors whose contexts make the first codebooks, where no public contexts are given."""

LEAST_RIDGE = 1e-6
"""Below it, what is fitted to contexts in fewer dimensions than features may be singular."""

FINEST = 2**16
"""The most steps of a grid: Σ r·x in steps of both then takes 10⁸ records a block."""

Rows = tuple[tuple[float, ...], ...]
"""A matrix as plain numbers."""


# Codebooks: directions that split contexts into cells, chosen from public contexts.
#
# A cell's sum says how rewards lie along one direction, so what a block says of a linear law
# depends on how closely the contexts of a cell lie together. More cells lose less and carry more
# noise; how many pay is decided by the information that is expected, which depends on public data
# only.


AT_LEAST = 20
"""Contexts behind each direction at least: a direction of few contexts could equal one person's."""

ENOUGH = 4
"""Contexts for each feature from which on directions are made of them; before, cells are axes."""

EACH = 10, 2
"""Contexts, and records of a block, for each direction: where there are fewer, no more directions
are tried.
"""

ROUNDS = 3
"""Rounds of k-means for each number of directions, which goes on from those found before."""

FLOOR = 1e-3
"""Directions in which contexts vary by less than this share of the most are not stretched more."""


def whitening(contexts: Floats) -> Floats:
    """W with Wᵀ X about round for contexts X, shape (features, features)."""
    values, axes = np.linalg.eigh(contexts.T @ contexts / len(contexts))
    if values.max() <= 0.0:  # all contexts are zero
        return np.eye(contexts.shape[1])
    return axes / np.sqrt(values + FLOOR * values.max())


def in_cells(rows: Floats, book: Floats) -> tuple[Integers, Floats]:
    """How many rows are in each cell, and the sums of the rows, each turned so that it points along
    its cell's direction; shapes (cells,) and (cells, features).
    """
    cell, against = cells_of(book, rows)
    signs = np.zeros((len(book), len(rows)), rows.dtype)
    signs[cell, np.arange(len(rows))] = np.where(against, -1.0, 1.0)
    return np.bincount(cell, minlength=len(book)), signs @ rows


def unit_rows(rows: Floats) -> Floats:
    """The rows of an array, each of norm 1."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def spherical_means(rows: Floats, found: Floats, rounds: int) -> Floats:
    """Unit directions for rows, up to sign, by so many rounds of k-means on the sphere.

    Directions of few rows are left out, more of them from round to round, and in the end each is
    the mean of `AT_LEAST` rows or more. There may be none.

    Args:
        rows: shape (rows, features).
        found: the directions to begin with, shape (directions, features).
    """
    for turn in range(1, rounds + 1):
        members, sums = in_cells(rows, found)
        norms = np.linalg.norm(sums, axis=1)
        kept = (norms > 0) & (members * rounds >= AT_LEAST * turn)
        found = sums[kept] / norms[kept][:, None]
        if not len(found):
            break
    return found


def codebook(
    contexts: Floats,
    features: int,
    rounds: int,
    before: Floats,
    variance: float,
    noise: float,
    rng: np.random.Generator,
) -> Floats:
    """The cells of a block, shape (cells, features): a context x is in the one with the largest
    |row · x|.

    It begins with the axes of whitened contexts. Half as many directions again are drawn and
    k-means goes on from all, for as long as more information is expected of the block: the ln det
    of what is then known of the arm.

    Args:
        contexts: public ones, like those to come, shape (contexts, features).
        features: numbers in a context.
        rounds: records that the block will have.
        before: information on the arm so far, shape (features, features).
        variance: of a reward. noise: variance of the noise in a sum.
        rng: public randomness.
    """
    if len(contexts) < ENOUGH * features:
        return np.eye(features)
    stretch = whitening(contexts)
    rows: Any = (contexts @ stretch).astype(np.float32)
    before = stretch.T @ before @ stretch
    share, size, best = rounds / len(contexts), features, -np.inf
    found: Any = np.eye(features, dtype=np.float32)
    chosen = found
    while len(found):
        counts, sums = in_cells(rows, found)
        weights = share**2 / (variance * share * counts + noise)
        value = np.linalg.slogdet(before + (sums.T * weights) @ sums)[1]
        size += (size + 1) // 2
        if value <= best:  # more cells carry more noise
            break
        best, chosen = value, found
        if EACH[0] * size > len(rows) or EACH[1] * size > rounds:
            break
        drawn = rows[rng.choice(len(rows), size - len(found), replace=False)]
        found = spherical_means(rows, np.concatenate((found, unit_rows(drawn))), ROUNDS)
    return np.asarray(chosen @ stretch.T)


EVENED = (0.01, 0.1, 1.0, 10.0)
"""How far matrices even contexts out: shares of the largest variance that are added to all. Small
shares suit blocks whose noise is small beside what rewards vary.
"""


def shaping_matrices(contexts: Floats) -> Floats:
    """Matrices A of whole numbers for a block's noise, one below the other, shape (matrices ·
    features, features): A·x is about round for contexts x like these.

    Args:
        contexts: public ones, of the block or like those to come, shape (contexts, features).
    """
    features = contexts.shape[1]
    values, axes = np.linalg.eigh(contexts.T @ contexts / len(contexts))
    if values.max() <= 0.0:  # all contexts are zero
        return ROW * np.eye(features)
    found = []
    for share in EVENED:
        matrix = axes.T / np.sqrt(np.maximum(values, 0.0) + share * values.max())[:, None]
        longest = np.linalg.norm(matrix, axis=1).max()
        # rounded towards zero, so that no row is longer than ROW
        found.append(np.trunc(matrix * (ROW / longest)))
    return np.concatenate(found)


# The policies.


class ArmFit(NamedTuple):
    """What is known of an arm. Public.

    Args:
        information: Λ, shape (features, features).
        weighted: η, shape (features,); the arm's law is Λ⁻¹η.
        book: directions of the open block's cells; matrices that may shape its noise; none where a
            block is a vector.
        read: records that were released.
        open: records since then.
        need: records that the open block takes.
        releases: how often it was read.
    """

    information: Rows
    weighted: tuple[float, ...]
    book: Rows
    read: int
    open: int
    need: int
    releases: int = 0


class ContextState(NamedTuple):
    """Public state of a contextual policy.

    Args:
        fits: one an arm.
        in_pilot: whether contexts for the first codebooks are still collected.
        t: records of all arms.
    """

    fits: tuple[ArmFit, ...]
    in_pilot: bool
    t: int


def public_rows(
    contexts: Any, dimension: int, names: Sequence[str] | None, clip: bool, most: int
) -> Rows:
    """Return public contexts that are given beforehand, `most` of them at most.

    Raises:
        ValueError: they are no contexts, or too few.
    """
    refuse_class(contexts, "contexts", "an array of shape (contexts, features)")
    rows = checked_rows(contexts, dimension, clip=clip, names=names)
    if len(rows) < 2 * dimension:
        raise ValueError(
            f"Expected public_contexts of at least {2 * dimension} rows, two for each feature, got "
            f"{len(rows)}."
        )
    if len(rows) > most:  # evenly spaced: rows may come in some order
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(int)]
    return rows_of(rows)


def rows_of(matrix: Floats) -> Rows:
    return tuple(map(tuple, matrix.tolist()))


@opaque
class UniformLaw(ContextLaw):
    """Each arm alike, for contexts that make the first codebooks."""

    learns: ClassVar[bool] = False

    def choose(
        self, context: Floats, arms: Sequence[int], rng: PublicRng
    ) -> tuple[int, float | None]:
        return arms[int(rng.generator.integers(len(arms)))], 1.0 / len(arms)

    def likeliest(self, context: Floats, arms: Sequence[int]) -> int:
        return arms[0]


@dataclass(frozen=True, eq=False)
class LinearLaw(ContextLaw):
    """The arm with the largest x·θ + width·‖x‖_{Λ⁻¹}·z; z is standard normal or, for optimism, 1.

    Args:
        theta: shape (arms, features).
        roots: shape (arms, features, features), of each arm a matrix R with RᵀR = width²·Λ⁻¹.
        sampled: whether z is drawn.
        books: directions of the cells of each arm's open block, shape (cells, features).
    """

    theta: Floats
    roots: Floats
    sampled: bool
    books: tuple[Floats, ...]
    learns: ClassVar[bool] = True

    @cached_property
    def _stacked(self) -> Floats:
        """The roots, one below the other, and theta: one product serves a decision."""
        return np.concatenate((self.roots.reshape(-1, self.theta.shape[1]), self.theta))

    def choose(
        self, context: Floats, arms: Sequence[int], rng: PublicRng
    ) -> tuple[int, float | None]:
        product, every = self._stacked.dot(context), len(self.theta)
        turned = product[:-every].reshape(self.theta.shape)
        score = np.sqrt(np.vecdot(turned, turned))
        if self.sampled:
            score *= rng.normals(every)
        score += product[-every:]
        if len(arms) < every:
            score = score[list(arms)]
        return arms[score.argmax()], None if self.sampled else 1.0

    def likeliest(self, context: Floats, arms: Sequence[int]) -> int:
        """The arm with the largest estimated mean."""
        return arms[int((self.theta[list(arms)] @ context).argmax())]


@policy_dataclass
class ContextualPolicy(Policy):
    """A policy whose decisions depend on a public context of each visitor.

    Args:
        features: numbers in a context, or their names. Let one be constant: the law has no
            intercept.
        clip: whether contexts of a norm above 1 are shortened; by default they are refused.
        regularisation: λ, the weight of the ridge.
        variance_of_rewards: s₂, the variance of a reward around its law.
        width: how much the deviation ‖x‖_{Λ⁻¹} counts.
    """

    chooses: ClassVar[bool] = True
    # whether widths are drawn (Thompson sampling) or added in full (optimism)
    sampled: ClassVar[bool] = True
    # whether its releases are noised
    private: ClassVar[bool] = False
    # contexts that are kept of an arm
    kept_contexts: ClassVar[int] = 0
    features: Any
    grid: int = 1024
    clip: bool = False
    regularisation: float | None = 0.1
    variance_of_rewards: float = 0.15
    width: float | None = 0.5

    def validate(self) -> None:
        number, names = checked_features(self.features)
        object.__setattr__(self, "features", number if names is None else names)
        switch(self.clip, "clip")
        if self.grid > FINEST:
            raise ValueError(
                f"Expected grid={self.grid:,} to be at most {FINEST:,} with contexts: sums of "
                "rewards times contexts would not fit into 64 bits."
            )
        doubtful = names_of_outcomes(names or ())
        if doubtful and self.private:
            warnings.warn(
                f"Features named {', '.join(doubtful[:5])} may carry recorded outcomes. Contexts "
                "are public: a context that was made from a reward that this policy learned from "
                "is outside of its guarantee. Leave such features out, or take them from data "
                "that nobody's reward is in.",
                stacklevel=4,
            )
        self._validate()
        self._number("regularisation", LEAST_RIDGE, 1e9)
        self._number("variance_of_rewards", 0, 1e9)
        if self.width is not None or type(self).width is not None:  # None is DPLinUCB's own choice
            self._number("width", 0, 1e9)

    def _validate(self) -> None:
        """Check further hyper-parameters."""

    @property
    def layout(self) -> Layout:
        """How an arm's block is kept."""
        return "vector"

    @property
    def pilot_visitors(self) -> int:
        """Visitors that come before the first block, and are not learned from."""
        return 0

    @property
    def bare(self) -> ContextualPolicy:
        """The same policy without public contexts: its state has the same form, and takes no time
        to make.
        """
        return self

    # Constants of the fit: variance of a reward, prior information, and variance of the noise

    @property
    def variance(self) -> float:
        """The variance of a reward around its law that the fit reckons with."""
        return float(self.variance_of_rewards)

    @property
    def prior(self) -> float:
        """Λ₀ is this times the identity."""
        assert self.regularisation is not None
        return float(self.regularisation) / self.variance

    @final
    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The features' names, if they have any."""
        return self.features if isinstance(self.features, tuple) else None

    @cached_property
    def dimension(self) -> int:
        """Numbers in a context."""
        return len(self.features) if isinstance(self.features, tuple) else int(self.features)

    @final
    def context(self, context: object) -> Floats:
        """A context as it is kept, shape (features,).

        Raises:
            ValueError: not so many finite numbers of norm at most 1.
        """
        return checked_context(context, self.dimension, self.feature_names, self.clip)

    def _first_fit(self) -> ArmFit:
        p = self.dimension
        zeros = (0.0,) * p
        return ArmFit(rows_of(self.prior * np.eye(p)), zeros, (), 0, 0, self._need(0))

    def init(self) -> ContextState:
        return ContextState((self._first_fit(),) * self.arms, self.pilot_visitors > 0, 0)

    def _need(self, read: int) -> int:
        """Records in the block after so many were read."""
        raise NotImplementedError

    def learned_from(self, fit: ArmFit, arm: int, answer: ContextAnswer) -> ArmFit:
        """What is known of an arm after its block was read."""
        information = np.array(fit.information) + answer.public.directions / self.variance
        weighted = np.array(fit.weighted) + answer.totals / self.variance
        read = fit.read + answer.rounds
        return fit._replace(
            information=rows_of(information),
            weighted=tuple(weighted.tolist()),
            read=read,
            open=0,
            need=self._need(read),
            releases=fit.releases + 1,
        )

    def roots_of(self, state: ContextState, information: Floats) -> Floats:
        """See `LinearLaw`. They are lower triangular."""
        return (
            np.linalg.inv(np.linalg.cholesky(information)) * self.widths(information)[:, None, None]
        )

    def widths(self, information: Floats) -> Floats:
        """By arm, how much ‖x‖_{Λ⁻¹} counts, shape (arms,).

        Args:
            information: Λ, shape (arms, features, features).
        """
        assert self.width is not None
        return np.full(self.arms, float(self.width))

    def covariances(self, state: ContextState, information: Floats) -> Floats:
        """Of each arm's weights, for rewards of the largest variance, shape (arms, features,
        features).
        """
        inverse = np.linalg.inv(information)
        return np.asarray(max(1.0, 0.25 / self.variance) * inverse, np.float64)

    @property
    def ridge_bias(self) -> float:
        """How many deviations by `covariances` the ridge moves weights of norm 1 at most."""
        return math.sqrt(self.prior / max(1.0, 0.25 / self.variance))

    def radii(self, information: Floats, delta: float) -> Floats:
        """How many deviations by `covariances` each arm's weights are within, at all times at once
        with probability 1 − delta, shape (arms,). See proofs/context.md, Theorem 2.
        """
        grown = np.linalg.slogdet(information)[1] - self.dimension * math.log(self.prior)
        chance = 2.0 * math.log(self.arms / delta)
        return np.asarray(np.sqrt(chance + grown) + self.ridge_bias, np.float64)

    @final
    def plan(self, state: ContextState, rng: PublicRng) -> Plan:
        if state.in_pilot:
            return Draw(UniformLaw(), (FOREVER,) * self.arms)
        limits = tuple(max(1, fit.need - fit.open) for fit in state.fits)
        total = self.all_together(state)
        waiting = () if total is None else tuple(a for a, fit in enumerate(state.fits) if fit.open)
        return Draw(self.law_of(state), limits, total, waiting)

    def all_together(self, state: ContextState) -> int | None:
        """Records of all arms after which all of them are read; None where each arm's block ends by
        its own count.
        """
        return None

    @final
    def law_of(self, state: ContextState) -> LinearLaw:
        """How arms are chosen in this state."""
        information = np.array([fit.information for fit in state.fits])
        weighted = np.array([fit.weighted for fit in state.fits])
        theta = np.linalg.solve(information, weighted[:, :, None])[:, :, 0]
        roots = self.roots_of(state, information)
        books = tuple(self.book_of(state, arm) for arm in range(self.arms))
        return LinearLaw(theta, roots, self.sampled, books)

    @final
    def update(self, state: ContextState, plan: Plan, release: Release) -> ContextState:
        fits = self._told(state, release)
        for arm, answer in zip(release.coordinates, release.answers, strict=True):
            fits[arm] = self.learned_from(fits[arm], arm, answer)
        return ContextState(tuple(fits), state.in_pilot, release.round)

    def _told(self, state: ContextState, release: Release) -> list[ArmFit]:
        fits = list(state.fits)
        for arm, times in release.told:
            fits[arm] = fits[arm]._replace(open=fits[arm].open + times)
        return fits

    @final
    def dropped(
        self, state: ContextState, release: Release, arms: Collection[int] | None = None
    ) -> ContextState:
        fits = [
            fit._replace(open=0) if arms is None or arm in arms else fit
            for arm, fit in enumerate(self._told(state, release))
        ]
        return state._replace(fits=tuple(fits), t=release.round)

    @final
    def widened(self, state: ContextState, arms: int) -> ContextState:
        first = self._first_fit()._replace(book=state.fits[0].book)
        return state._replace(fits=state.fits + (first,) * (arms - len(state.fits)))

    def room(self, state: ContextState, arm: int) -> int | None:
        fit = state.fits[arm]
        return None if state.in_pilot else max(1, fit.need - fit.open)

    def shape_of(self, fit: ArmFit, counts: PublicCounts, recent: Floats) -> Shape:
        """The shape of the noise in an arm's block, by public data, for the layout "shaped".

        Args:
            fit: what is known of the arm.
            counts: the public counts of its block.
            recent: the newest contexts that were played with the arm, oldest first.
        """
        raise NotImplementedError

    def opened(self, state: ContextState, contexts: Floats) -> ContextState:
        """The state once contexts for the first codebooks are there, shape (contexts, features)."""
        return state._replace(in_pilot=False)

    @final
    def book_of(self, state: ContextState, arm: int) -> Floats:
        """Directions of the cells of an arm's open block, shape (cells, features), or its matrices
        one below the other.
        """
        return np.array(state.fits[arm].book, np.float64).reshape(-1, self.dimension)


# Without privacy: every record is read as it is.


@policy_dataclass
class ExactLinear(ContextualPolicy):
    """Ridge regression for each arm on exact sums.

    Args:
        alpha: growth of an arm's records from one fit to the next; 1 fits after every record.
    """

    alpha: float = 1.0

    def _validate(self) -> None:
        self._number("alpha", 0.999999, 1000)

    def mechanism(self) -> Mechanism:
        return VectorBatches(grid=Grid(steps=self.grid))

    def _need(self, read: int) -> int:
        return max(1, math.ceil((self.alpha - 1.0) * read))


@policy_dataclass
class LinTS(ExactLinear):
    """Linear Thompson sampling, without privacy.

    Source: Agrawal and Goyal 2013, Algorithm 1, with a law of its own for each arm. Guarantee:
    none. Regret: O(d^{3/2} √T) up to logarithms for one shared law (there, with a larger width).

    Args:
        width: v, how much the posterior's deviation counts.
    """

    about: ClassVar[About] = About(
        paper="Agrawal and Goyal 2013",
        algorithm="Algorithm 1 (linear Thompson sampling), disjoint arms",
        bound="Õ(d^{3/2} √T)",
        privacy="none",
        randomised=True,
        every_round=True,
        theory=False,
    )


@policy_dataclass
class LinUCB(ExactLinear):
    """Linear UCB: optimism for linear rewards, without privacy.

    Source: Li, Chu, Langford and Schapire 2010, Algorithm 1 (disjoint). Guarantee: none.
    Regret: Õ(√(dT)) for a variant of it (Chu, Li, Reyzin and Schapire 2011).

    Args:
        width: how much the deviation ‖x‖_{Λ⁻¹} is added.
    """

    about: ClassVar[About] = About(
        paper="Li, Chu, Langford and Schapire 2010",
        algorithm="Algorithm 1 (LinUCB, disjoint)",
        bound="Õ(√(dT))",
        privacy="none",
        every_round=True,
        theory=False,
    )
    sampled: ClassVar[bool] = False
    width: float | None = 1.0


# With privacy, as published: noise on the whole vector.


@policy_dataclass
class AdaCOFUL(ContextualPolicy):
    """The published algorithm: Gaussian noise on every number of Σ r·x; all noisy sums add up.

    Source: after Azize and Basu 2024, AdaC-OFUL, for comparison: a law of its own for each arm,
    batches for all arms at once that grow by a public factor, and sampling with the covariance
    v²(s₂A⁻¹ + σ²A⁻²), σ² the variance of all noise so far. An arm that nobody played in a batch
    is not read, so it gets no noise. Guarantee: rho-zCDP, given the contexts. Regret: a bound is
    proved in the source for optimism there, not for this form.

    Args:
        rho: budget for one record's reward under zCDP.
        first: records in the first batch.
        alpha: growth of the records of all arms at which a batch ends, above 1.
        width: v, how much the deviation counts.
        regularisation: λ; A₀ is λ times the identity.
        variance_of_rewards: s₂, the variance of a reward around its law.
    """

    about: ClassVar[About] = About(
        paper="Azize and Basu 2024",
        algorithm="AdaC-OFUL, for disjoint arms, sampled",
        bound="",
        proof="context",
        baseline="LinTS",
        privacy="zCDP",
        randomised=True,
        theory=False,
    )
    private: ClassVar[bool] = True
    rho: Fraction | float | str
    first: int = 1_000
    alpha: float = 1.5
    regularisation: float | None = 10.0

    def _validate(self) -> None:
        object.__setattr__(self, "rho", as_fraction(self.rho, "rho"))
        require_budget(as_fraction(self.rho, "rho"), self.grid, "rho")
        self._growing(Fraction(1_000))

    @property
    def variance(self) -> float:
        return 1.0  # sums count as they are

    def mechanism(self) -> Mechanism:
        return VectorBatches(rho=as_fraction(self.rho, "rho"), grid=Grid(steps=self.grid))

    def _need(self, read: int) -> int:
        return FOREVER

    def all_together(self, state: ContextState) -> int:
        read = sum(fit.read for fit in state.fits)
        batch = max(self.first, math.ceil((self.alpha - 1.0) * read))
        return max(1, batch - sum(fit.open for fit in state.fits))

    def room(self, state: ContextState, arm: int) -> int | None:
        return None

    def covariances(self, state: ContextState, information: Floats) -> Floats:
        roots = self._roots(state, information, max(0.25, float(self.variance_of_rewards)))
        return np.asarray(np.swapaxes(roots, 1, 2) @ roots, np.float64)

    @property
    def ridge_bias(self) -> float:
        return math.sqrt(self.prior / max(0.25, float(self.variance_of_rewards)))

    def radii(self, information: Floats, delta: float) -> Floats:
        raise ValueError(
            f"Expected always=False with {self.name}: no interval is proved for how it adds noise."
        )

    def roots_of(self, state: ContextState, information: Floats) -> Floats:
        roots = self._roots(state, information, float(self.variance_of_rewards))
        return self.widths(information)[:, None, None] * roots

    def _roots(self, state: ContextState, information: Floats, variance: float) -> Floats:
        """R, lower triangular, with RᵀR = s₂A⁻¹ + σ²A⁻²."""
        draws = np.array([fit.releases for fit in state.fits])[:, None, None]
        noise = draws / (2.0 * float(as_fraction(self.rho, "rho")))
        root = np.linalg.inv(np.linalg.cholesky(information))
        inverse = np.swapaxes(root, 1, 2) @ root
        stacked = np.concatenate((math.sqrt(variance) * root, np.sqrt(noise) * inverse), axis=1)
        # with columns turned round, and the root's rows too, so that it is lower triangular
        turned: Any = np.linalg.qr(stacked[:, :, ::-1], mode="r")
        return np.ascontiguousarray(turned[:, ::-1, ::-1])


# With privacy: cells.


@policy_dataclass
class PrivateLinear(ContextualPolicy):
    """Linear laws fitted to noised sums.

    Args:
        epsilon: pure budget for one record's reward; or
        rho: the budget under zCDP. Exactly one of the two is given.
        release: form of an arm's block. "cells": a sum for each of several directions, for either
            budget. "shaped", with rho only: the vector Σ r·x, with noise that is shaped after the
            block's contexts.
        public_contexts: contexts like those to come, shape (contexts, features) or each by the
            features' names, public and without rewards, for the first codebooks; at most 1,500 of
            them are kept. Without them the first 500 visitors (at least 4 for each feature) get a
            random arm and are not learned from; with "shaped" none are needed.
        regularisation: λ, the weight of the ridge; None stands for .1 with "cells" and .3 with
            "shaped".
        alpha: growth of an arm's records at which its block ends, above 1.
        first: records in an arm's first block; None stands for ⌈12 √(features · variance of the
            noise)⌉ + features.
    """

    private: ClassVar[bool] = True
    kept_contexts: ClassVar[int] = RECENT
    epsilon: Fraction | float | str | None = None
    rho: Fraction | float | str | None = None
    release: str = "cells"
    public_contexts: Any = field(default=None, repr=False)
    regularisation: float | None = None
    alpha: float = 1.5
    first: int | None = None

    def _validate(self) -> None:
        if (self.epsilon is None) is (self.rho is None):
            raise ValueError(
                "Expected one budget: epsilon=1, say, for pure differential privacy, or rho=1/2 "
                f"for zCDP; got {'neither' if self.epsilon is None else 'both'}."
            )
        name = "epsilon" if self.rho is None else "rho"
        object.__setattr__(self, name, as_fraction(getattr(self, name), name))
        require_budget(self.budget, self.grid, name)
        if self.rho is not None:
            object.__setattr__(self, "about", replace(type(self).about, privacy="zCDP"))
        self._one_of("release", "cells", "shaped")
        if self.release == "shaped" and self.rho is None:
            raise ValueError(
                'Expected rho= with release="shaped": its noise is Gaussian. Give rho=1/2 in place '
                'of epsilon, say, or take release="cells".'
            )
        largest = Fraction(self.grid * STEPS << 10) ** 2 / (2 * self.budget)  # of the variances
        if self.release == "shaped" and largest > 2**108:
            raise ValueError(
                f"Expected a larger rho than {self.budget} for grid={self.grid}: with "
                'release="shaped" the noise would not fit into 64 bits. Use a coarser grid.'
            )
        if self.regularisation is None:
            object.__setattr__(self, "regularisation", 0.3 if self.release == "shaped" else 0.1)
        unit = Fraction(math.ceil(12 * math.sqrt(self.dimension * self.noise_variance)))
        self._growing(unit + self.dimension)
        if self.public_contexts is not None:
            rows = public_rows(
                self.public_contexts, self.dimension, self.feature_names, self.clip, RECENT
            )
            object.__setattr__(self, "public_contexts", rows)

    @final
    @property
    def budget(self) -> Fraction:
        """epsilon, or rho under zCDP."""
        if self.rho is not None:
            return as_fraction(self.rho, "rho")
        assert self.epsilon is not None
        return as_fraction(self.epsilon, "epsilon")

    @property
    def layout(self) -> Layout:
        return "shaped" if self.release == "shaped" else "cells"

    @property
    def noise_variance(self) -> float:
        """Of the noise in one sum, in reward units."""
        budget = float(self.budget)
        return 2.0 / budget**2 if self.rho is None else 1.0 / (2.0 * budget)

    @property
    def pilot_visitors(self) -> int:
        known = self.public_contexts is not None or self.release == "shaped"
        return 0 if known else max(PILOT, 4 * self.dimension)

    @property
    def bare(self) -> ContextualPolicy:
        made = copy(self)  # checked already
        object.__setattr__(made, "public_contexts", None)
        return made

    def mechanism(self) -> Mechanism:
        grid = Grid(steps=self.grid)
        if self.release == "shaped":
            return ShapedBatches(rho=self.budget, grid=grid)
        if self.rho is not None:
            return CellBatches(inner=GaussianBatches(rho=self.budget, grid=grid))
        return CellBatches(inner=LazyForgetful(epsilon=self.budget, grid=grid))

    def _first_fit(self) -> ArmFit:
        fit = super()._first_fit()
        if self.release == "shaped":  # the first block's noise is shaped by its own contexts
            return fit._replace(book=rows_of(ROW * np.eye(self.dimension)))
        return fit

    def init(self) -> ContextState:
        state = super().init()
        if self.public_contexts is None:
            return state
        return self.opened(state, np.array(self.public_contexts))

    def opened(self, state: ContextState, contexts: Floats) -> ContextState:
        fits = tuple(
            self._reopened(fit, arm, np.array(fit.information), contexts)
            for arm, fit in enumerate(state.fits)
        )
        return ContextState(fits, False, state.t)

    def _need(self, read: int) -> int:
        return max(self.first or 1, math.ceil((self.alpha - 1.0) * read))

    def _reopened(self, fit: ArmFit, arm: int, information: Floats, contexts: Floats) -> ArmFit:
        """The arm with the codebook of its next block, or the matrices that may shape it."""
        need = self._need(fit.read)
        if self.release == "shaped":
            matrices = shaping_matrices(contexts)
            return fit._replace(book=rows_of(matrices), need=need, open=0)
        rng = np.random.default_rng([arm, fit.read])  # public, and the same wherever it is played
        book = codebook(
            contexts, self.dimension, need, information, self.variance, self.noise_variance, rng
        )
        return fit._replace(book=rows_of(book), need=need, open=0)

    def shape_of(self, fit: ArmFit, counts: PublicCounts, recent: Floats) -> Shape:
        """Of a few matrices that with which the block tells most: of those made from its own
        contexts while all of them are kept, else of those that were fixed when it opened.
        """
        p, rounds = self.dimension, int(counts.counts.sum())
        book, reach = np.array(fit.book), counts.reach
        if rounds <= len(recent):
            own = np.array(recent[len(recent) - rounds :], np.float64)
            book = shaping_matrices(own)
            reach = largest_reach(book.astype(np.int64), (own * FINE).astype(np.int64))
        matrices = book.reshape(-1, p, p).astype(np.int64)
        shapes = [
            Shape(matrix, largest) for matrix, largest in zip(matrices, reach.tolist(), strict=True)
        ]
        before = np.array(fit.information)
        values = [
            np.linalg.slogdet(before + self._weights(shape, counts.directions) @ counts.directions)
            for shape in shapes
        ]
        return shapes[int(np.argmax([value for _, value in values]))]

    def _weights(self, shape: Shape, moments: Floats) -> Floats:
        """V·(s₂V + N)⁻¹ of a block with Σ x xᵀ = V and noise of covariance N."""
        noise = shape.covariance(float(self.budget))
        return np.asarray(np.linalg.solve(self.variance * moments + noise, moments).T, np.float64)

    def learned_from(self, fit: ArmFit, arm: int, answer: ContextAnswer) -> ArmFit:
        """The fit after one block: each released number counts by its own variance."""
        counts, negatives, directions, _ = answer.public
        if self.release == "shaped":
            shape = self.shape_of(fit, answer.public, answer.recent)
            sums, weights = answer.totals, self._weights(shape, directions)
        else:
            sums = answer.totals - negatives  # Σ ±r, noised
            weights = directions.T / (self.variance * counts + self.noise_variance)
        information = np.array(fit.information) + weights @ directions
        information = (information + information.T) / 2.0
        weighted = np.array(fit.weighted) + weights @ sums
        learned = fit._replace(
            information=rows_of(information),
            weighted=tuple(weighted.tolist()),
            read=fit.read + answer.rounds,
            releases=fit.releases + 1,
        )
        return self._reopened(learned, arm, information, answer.recent)


@policy_dataclass
class DPLinTS(PrivateLinear):
    """Thompson sampling by public contexts, with private rewards.

    A record's reward enters one whole-number sum: that of its arm and of the cell that its context
    is in. The law is fitted to noised sums, each weighted by its own variance.

    Source: ours. Guarantee: epsilon-DP (or rho-zCDP) for the whole sequence of decisions, given the
    contexts, which are public: a context must not carry recorded outcomes. Regret: no bound is
    proved for Thompson sampling (see proofs/context.md); measured in docs/measured/contexts.md.

    Args:
        width: v, how much the posterior's deviation counts.

    >>> policy = DPLinTS(arms=3, features=4, epsilon=1)
    >>> policy.first, str(policy.guarantee.epsilon)
    (38, '1')
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DPLinTS (ours)",
        bound="",
        proof="context",
        baseline="LinTS",
        randomised=True,
        theory=False,
    )


@policy_dataclass
class DPLinUCB(PrivateLinear):
    """Optimism by public contexts, with private rewards.

    Source: ours. Guarantee: as `DPLinTS`. Regret: by the radius of proofs/context.md, which is
    proved under zCDP where rewards follow a linear law with ‖θ‖ ≤ 1 and `variance_of_rewards` is at
    least 1/4; a sketch with epsilon.

    Args:
        width: how much the deviation ‖x‖_{Λ⁻¹} is added; None: the radius for `delta`.
        delta: the chance that a law is ever outside of its radius.
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DPLinUCB (ours)",
        bound="",
        proof="context",
        baseline="LinUCB",
        theory=False,
    )
    sampled: ClassVar[bool] = False
    variance_of_rewards: float = 0.25
    width: float | None = None
    delta: float = 0.001

    def _validate(self) -> None:
        super()._validate()
        self._number("delta", 1e-100, 1)

    def widths(self, information: Floats) -> Floats:
        if self.width is not None:
            return super().widths(information)
        grown = np.linalg.slogdet(information)[1] - self.dimension * math.log(self.prior)
        chance = 2.0 * math.log(self.arms / self.delta)
        return np.sqrt(chance + grown) + math.sqrt(self.prior)
