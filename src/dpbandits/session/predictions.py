"""Estimates by context from what a contextual policy released: means of arms, effects between two
arms, and values of other policies. They are post-processing and cost no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.core.contexts import checked_rows
from dpbandits.core.inputs import Booleans, Floats, numbers_in, shown
from dpbandits.mechanisms.rewards import read_or_none
from dpbandits.policies.contextual import ContextState, ContextualPolicy
from dpbandits.session.beliefs import checked_confidence
from dpbandits.session.ranges import Range

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


Contexts = ArrayLike | Mapping[str, float] | Sequence[Mapping[str, float]]
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
                one side at many contexts at once; so averages over contexts have the average of
                their half-widths. Coverage is measured. True for intervals that hold for all
                contexts and arms at all times at once, if no arm was added: proved under zCDP and
                without privacy, a sketch under pure ε (proofs/context.md). They are several times
                as wide. Both take the weights of each arm to have a norm of at most 1.
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

    def means(self, contexts: Contexts) -> Estimated:
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
        self, arm: int | str, other: int | str, contexts: Contexts, *, average: bool = False
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

    def value(self, shares: ArrayLike, contexts: Contexts) -> Estimated:
        """Return the mean reward of another policy over these contexts.

        Args:
            shares: the arm that it plays for each context, by number or name, shape (contexts,);
                or its probability of each arm, shape (contexts, arms), rows that sum to 1.
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

    def _rows(self, contexts: Contexts) -> Floats:
        names = self.features or None
        return checked_rows(contexts, self.theta.shape[1], "contexts", self.clip, names)

    def _arm(self, arm: int | str) -> int:
        if isinstance(arm, str) and arm in self.labels:
            return self.labels.index(arm)
        if type(arm) is int and 0 <= arm < len(self.theta):
            return arm
        raise ValueError(
            f"Expected an arm from 0 to {len(self.theta) - 1}, or its name, got {shown(arm)}."
        )

    def _shares(self, shares: ArrayLike, contexts: int) -> Floats:
        named = read_or_none(np.asarray, shares)
        if named is not None and named.ndim == 1 and all(isinstance(arm, str) for arm in named):
            shares = [self._arm(arm) for arm in named.tolist()]
        given, arms = numbers_in(shares, "shares"), len(self.theta)
        if given.shape == (contexts,) and np.all(np.isin(given, np.arange(arms))):
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
