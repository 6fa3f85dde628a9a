"""Decisions by contexts that are private themselves: contexts, decisions and rewards.

A record is one count of a histogram over (arm, signed cell of the context, reward 0 or 1). All
counts of all arms are released, with noise, at the end of every block. Blocks have fixed lengths,
counted in asks. A linear law for each arm is fitted to the released counts, which is
post-processing; what a cell's contexts look like is known from public ones. Proof:
proofs/joint_contexts.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, final

import numpy as np

from dpbandits.core.contexts import checked_context, checked_features
from dpbandits.core.inputs import Floats, Places, switch
from dpbandits.core.plan import FOREVER, ContextLaw, Draw, Plan, PublicRng
from dpbandits.core.privacy import as_fraction
from dpbandits.mechanisms.cells import MOVES, Counts, Histograms, cells_of
from dpbandits.policies.base import require_budget
from dpbandits.policies.contextual import (
    ENOUGH,
    LEAST_RIDGE,
    Rows,
    public_rows,
    rows_of,
    spherical_means,
    unit_rows,
    whitening,
)
from dpbandits.policies.contract import About, Policy, Release, policy_dataclass

KEPT = 2_000
"""The most of `public_contexts` that are kept."""

REPEATS = 8
"""How often each public context is decided about, to see which contexts come to an arm."""

SHRINK = 2.0
"""Contexts of its cell that are added to those of an arm and cell: there may be few or none."""

USED = 1.0
"""A cell counts if it has more than so many records, in units of 1/ε."""

LEAST_ERROR = 0.05
"""By how much of themselves foreseen numbers are off at least."""

FEW = 2**16
"""Numbers that all arms' roots at once may turn contexts into."""

ROUNDS = 8
"""Rounds of k-means that make directions of cells."""

MOST_COUNTS = 2**20
"""The most counts of a histogram: each gets a draw at every release."""

FORMAT = "dpbandits snapshot"


class Random(Protocol):
    """Where posterior draws come from."""

    @property
    def generator(self) -> np.random.Generator: ...


class JointState(NamedTuple):
    """Public state: a fold over released histograms.

    Args:
        information: by arm Λ, shape (arms, features, features).
        weighted: by arm η; the law of an arm's mean reward less ½ is Λ⁻¹η.
        visits: asks before the open block.
        releases: blocks that were released.
    """

    information: tuple[Rows, ...]
    weighted: Rows
    visits: int
    releases: int


@final
@dataclass(frozen=True, eq=False)
class Snapshot(ContextLaw):
    """All that decides until the next release. Public: a person's own device can decide by it.

    The arm is that with the largest ½ + x·θ + ‖R x‖·z, z standard normal.

    Args:
        theta: shape (arms, features).
        roots: R, shape (arms, features, features): RᵀR = width²·Λ⁻¹.
        directions: one for every two signed cells, shape (cells / 2, features).
        block: number of the open block, from 0.
        labels: names of the arms, if they have any.
    """

    theta: Floats
    roots: Floats
    directions: Floats
    block: int
    labels: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"Snapshot(block={self.block})"

    @property
    def arms(self) -> int:
        """Number of arms."""
        return len(self.theta)

    @property
    def cells(self) -> int:
        """Number of signed cells."""
        return 2 * len(self.directions)

    def choose(
        self, context: Any, arms: Sequence[int], rng: PublicRng | Random
    ) -> tuple[int, float | None]:
        return int(self.choices(np.asarray(context)[None], rng.generator)[0]), None

    def choices(self, contexts: Floats, generator: np.random.Generator) -> Places:
        """The arm of each context, shape (contexts,), drawn from this randomness."""
        means = contexts @ self.theta.T
        draws = generator.standard_normal((self.arms, len(contexts))).T
        if contexts.size * self.arms <= FEW:
            turned = (contexts @ self._stacked).reshape(len(contexts), *self.theta.shape)
            means += np.sqrt(np.einsum("nap,nap->na", turned, turned)) * draws
        else:
            for arm, root in enumerate(self.roots):
                means[:, arm] += np.linalg.norm(contexts @ root.T, axis=1) * draws[:, arm]
        return np.asarray(means.argmax(axis=1))

    @cached_property
    def _stacked(self) -> Floats:
        return np.ascontiguousarray(self.roots.reshape(-1, self.theta.shape[1]).T)

    def cell_of(self, contexts: Floats) -> Places:
        """The signed cell of each context, shape (contexts,): twice the direction it lies along
        most, and 1 more if it points against it.
        """
        cell, against = cells_of(self.directions, contexts)
        return np.asarray(2 * cell + against)

    def to_json(self, policy: JointDPLinTS, rewards: Mapping[str, Any] | None = None) -> str:
        """The document that a device decides and reports by, as the session would. See
        docs/guides/private_contexts.md.

        Args:
            policy: whose snapshot it is.
            rewards: the declared range of rewards: low, high, clip, minimise.
        """
        return json.dumps(
            {
                "format": FORMAT,
                "version": 1,
                "epsilon": str(policy.budget),
                "block": self.block,
                "labels": None if self.labels is None else list(self.labels),
                "features": policy.feature_names,
                "clip": policy.clip,
                "rewards": rewards,
                "theta": self.theta.tolist(),
                "roots": self.roots.tolist(),
                "directions": self.directions.tolist(),
            }
        )


class PublicCells(NamedTuple):
    """What is known of cells from public contexts.

    Args:
        directions: see `Snapshot`.
        rows: the public contexts.
        cell: the signed cell of each.
        counts: public contexts by cell.
        means: mean context by cell; 0 where there is none.
    """

    directions: Floats
    rows: Floats
    cell: Places
    counts: Floats
    means: Floats


@policy_dataclass
class JointDPLinTS(Policy):
    """Thompson sampling by private contexts: contexts, decisions and rewards are all protected.

    Everything that leaves the system, but for the decision that is shown to the person concerned,
    is made of released counts. Play it in a `JointDPSession`, which shows nothing else. It has no
    public seed: decisions of people are drawn from the operating system's randomness and cannot
    be replayed.

    Source: ours. Guarantee: pure epsilon, delta = 0, joint differential privacy for one ask's
    context, decision and answer (also whether and when there is one). Regret: no bound is proved;
    measured in docs/measured/regret.md.

    Args:
        features: numbers in a context, or their names.
        public_contexts: contexts like those to come, shape (contexts, features) or each by the
            features' names, public and without rewards; evenly spaced ones, at most 2,000, are
            kept. No person's context that is to be protected may be among them.
        clip: whether contexts of a norm above 1 are shortened; by default they are refused.
        cells: signed cells at most; None stands for 4 for each feature. Directions of few public
            contexts are left out; where there are too few, cells lie along the axes.
        width: v, how much the posterior's deviation counts.
        regularisation: λ, the weight of the ridge.
        variance_of_rewards: s₂, the variance of a reward around its law.
        alpha: growth of the asks at which a block ends, above 1.
        first: asks in the first block; None stands for ⌈2 · arms · cells / √epsilon⌉.

    >>> public = np.random.default_rng(1).normal(size=(300, 4)) / 4
    >>> policy = JointDPLinTS(arms=3, features=4, epsilon=1, public_contexts=public, clip=True)
    >>> policy.shape, policy.first, str(policy.guarantee.epsilon)
    ((3, 16, 2), 96, '1')
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="JointDPLinTS (ours)",
        bound="",
        proof="joint_contexts",
        baseline="LinTS",
        privacy="joint",
        theory=False,
    )
    features: Any
    epsilon: Fraction | float | str
    public_contexts: Any = field(repr=False)
    clip: bool = False
    cells: int | None = None
    width: float = 0.25
    regularisation: float = 0.1
    variance_of_rewards: float = 0.15
    alpha: float = 1.35
    first: int | None = None

    def validate(self) -> None:
        number, names = checked_features(self.features)
        object.__setattr__(self, "features", number if names is None else names)
        switch(self.clip, "clip")
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))
        require_budget(self.budget, MOVES, "epsilon")
        for name in ("width", "variance_of_rewards"):
            self._number(name, 0, 1e9)
        self._number("regularisation", LEAST_RIDGE, 1e9)
        if self.cells is None:
            object.__setattr__(self, "cells", 4 * number)
        self._whole("cells", high=MOST_COUNTS)
        rows = public_rows(self.public_contexts, self.dimension, names, self.clip, KEPT)
        object.__setattr__(self, "public_contexts", rows)
        if math.prod(self.shape) > MOST_COUNTS:
            raise ValueError(
                f"Expected arms × cells × 2 to be at most {MOST_COUNTS:,} counts, got "
                f"{math.prod(self.shape):,}. Give cells=, a smaller number."
            )
        unit = 2 * self.arms * self.shape[1] / math.sqrt(self.budget)
        self._growing(Fraction(math.ceil(unit)))

    @property
    def budget(self) -> Fraction:
        """epsilon, exactly."""
        return as_fraction(self.epsilon, "epsilon")

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The features' names, if they have any."""
        return self.features if isinstance(self.features, tuple) else None

    @property
    def dimension(self) -> int:
        """Numbers in a context."""
        return len(self.features) if isinstance(self.features, tuple) else int(self.features)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a histogram: arms, signed cells, and rewards 0 and 1."""
        return self.arms, 2 * len(self.known.directions), 2

    @property
    def prior(self) -> float:
        """Λ₀ is this times the identity."""
        return float(self.regularisation) / float(self.variance_of_rewards)

    @cached_property
    def known(self) -> PublicCells:
        """What public contexts say of cells. The same wherever it is played."""
        rows, features = np.array(self.public_contexts, np.float64), self.dimension
        assert self.cells is not None
        directions = np.eye(features)
        if len(rows) >= ENOUGH * features:
            size = min(max(1, self.cells // 2), len(rows))
            stretch = whitening(rows)
            unit = unit_rows(rows @ stretch)
            first = np.random.default_rng(0).choice(len(rows), size, replace=False)
            turned = spherical_means(unit, unit[first], ROUNDS)
            if len(turned) >= features:
                directions = turned @ stretch.T
        blank = Snapshot(np.zeros((1, features)), np.zeros((1, features, features)), directions, 0)
        cell = blank.cell_of(rows)
        counts = np.bincount(cell, minlength=blank.cells).astype(np.float64)
        means = np.zeros((blank.cells, features))
        np.add.at(means, cell, rows)
        means /= np.maximum(counts, 1.0)[:, None]
        return PublicCells(directions, rows, cell, counts, means)

    def context(self, context: object) -> Floats:
        """A context as it is used, shape (features,). The error does not show it: it is private.

        Raises:
            ValueError: not so many finite numbers of norm at most 1.
        """
        try:
            return checked_context(context, self.dimension, self.feature_names, self.clip)
        except Exception:  # of whatever kind: it may show the context
            pass
        by_name = "" if self.feature_names is None else ", or by the features' names"
        raise ValueError(
            f"Expected context= to be {self.dimension} finite numbers of a Euclidean norm of at "
            f"most 1{by_name}; got another object (not shown: contexts are private). No decision "
            "was made."
        )

    def mechanism(self) -> Histograms:
        return Histograms(epsilon=self.budget, shape=self.shape)

    def init(self) -> JointState:
        first = rows_of(self.prior * np.eye(self.dimension))
        zeros = (0.0,) * self.dimension
        return JointState((first,) * self.arms, (zeros,) * self.arms, 0, 0)

    def length(self, state: JointState) -> int:
        """Asks in the open block: fixed beforehand."""
        assert self.first is not None
        return max(self.first, math.ceil((self.alpha - 1.0) * state.visits))

    def snapshot(self, state: JointState) -> Snapshot:
        """All that decides in this state."""
        information = np.array(state.information)
        weighted = np.array(state.weighted)
        theta = np.linalg.solve(information, weighted[:, :, None])[:, :, 0]
        roots = float(self.width) * np.linalg.inv(np.linalg.cholesky(information))
        labels = None if self.labels is None else tuple(self.labels)
        return Snapshot(theta, roots, self.known.directions, state.releases, labels)

    def plan(self, state: JointState, rng: PublicRng) -> Plan:
        return Draw(self.snapshot(state), (FOREVER,) * self.arms, self.length(state))

    def update(self, state: JointState, plan: Plan, release: Release) -> JointState:
        (answer,) = release.answers
        return self.learned(state, answer)

    def learned(self, state: JointState, answer: Counts) -> JointState:
        """The state after one release: each cell counts by its own variance."""
        epsilon, shares, means = float(self.budget), *self.foreseen(state)
        zeros, ones = answer.counts[:, :, 0], answer.counts[:, :, 1]
        noised = (zeros + ones).astype(np.float64)
        records = likely_records(noised, shares, answer.visits, 4.0 * MOVES**2 / epsilon**2)
        used = (records > USED / epsilon) & (self.known.counts > 0)
        records, sums = np.where(used, records, 0.0), np.where(used, (ones - zeros) / 2.0, 0.0)
        directions = means * records[:, :, None]
        # the noise in (ones − zeros)/2 has this variance
        variance = float(self.variance_of_rewards) * records + MOVES**2 / epsilon**2
        weights = np.swapaxes(directions / variance[:, :, None], 1, 2)
        information = np.array(state.information) + weights @ directions
        information = (information + np.swapaxes(information, 1, 2)) / 2.0
        gained = (weights @ sums[:, :, None])[:, :, 0]
        return JointState(
            tuple(map(rows_of, information)),
            rows_of(np.array(state.weighted) + gained),
            state.visits + answer.visits,
            state.releases + 1,
        )

    def foreseen(self, state: JointState) -> tuple[Floats, Floats]:
        """By arm and cell, the share of asks that come there by this state's snapshot, shape (arms,
        cells), and their mean context, shape (arms, cells, features): of public contexts, decided
        about anew by public coins. People's contexts are not needed.
        """
        snapshot, known = self.snapshot(state), self.known
        coins = np.random.default_rng([state.releases])
        arms, cells, features = self.arms, self.shape[1], self.dimension
        counts, sums = np.zeros(arms * cells), np.zeros((arms * cells, features))
        for _ in range(REPEATS):
            place = snapshot.choices(known.rows, coins) * cells + known.cell
            counts += np.bincount(place, minlength=len(counts))
            np.add.at(sums, place, known.rows)
        by_arm = counts.reshape(arms, cells)
        whole = sums.reshape(arms, cells, features) / REPEATS + SHRINK * known.means
        means = whole / (by_arm / REPEATS + SHRINK)[:, :, None]
        return by_arm / (REPEATS * len(known.rows)), means

    def index(self, arm: int, cell: int, one: int) -> int:
        """The place of a record in a histogram, as one number."""
        return (arm * self.shape[1] + cell) * 2 + one


def likely_records(noised: Floats, shares: Floats, visits: int, variance: float) -> Floats:
    """Records by arm and cell: the released numbers and those that are foreseen, each by its own
    variance. Post-processing.

    Args:
        noised: released numbers, shape (arms, cells).
        shares: the foreseen shares, of the same shape.
        visits: asks in the block; not all of them need be answered in time.
        variance: of the noise in a number.
    """
    foreseen = shares * min(float(visits), max(0.0, float(noised.sum())))
    # how far off they are, relative to themselves: public contexts may be of other people
    square = float((foreseen**2).sum())
    excess = float(((noised - foreseen) ** 2 - variance).sum())
    error = max(LEAST_ERROR**2, excess / square) if square else 1.0
    spread = error * foreseen**2 + foreseen + 1.0
    return (noised * spread + foreseen * variance) / (spread + variance)
