"""Worlds of a forecast in which no arm is best for everybody: visitors differ (policies that decide
by contexts), or rates change in the course of the trial.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from dpbandits.core.contexts import UnitContexts, checked_rows
from dpbandits.core.inputs import MOST, Floats, number_within, whole_number
from dpbandits.environments.changing import ChangingMeans
from dpbandits.environments.contexts import ContextTable
from dpbandits.forecasting.outcome import EachRate, Prior, drawn_means
from dpbandits.policies.contract import Policy
from dpbandits.session.ranges import Range

ROWS = 2_000
"""Visitors that are made up where only the number of features is given."""

MOST_PIECES = 1_000
"""Times that rates may be drawn anew in a trial, as expected."""

WEIGHTS, MADE_UP, CHANGES = 3, 4, 5
"""Set the streams of laws, of made-up visitors and of changes apart from all others."""


@dataclass(frozen=True)
class Visitors:
    """What is said of visitors.

    Args:
        contexts: of visitors like those to come, shape (rows, features).
        spread: the standard deviation over visitors of an arm's rate, as a share of the rate.
        words: in words.
    """

    contexts: Floats
    spread: float
    words: str
    usual: ClassVar[tuple[str, str]] = ("DPLinTS", "DPRateIMED")

    @property
    def known(self) -> dict[str, Any]:
        """What policies are told."""
        return {"features": self.contexts.shape[1]}

    def takes(self, baseline: type[Policy]) -> bool:
        """Whether this is played to be compared with."""
        return True

    @classmethod
    def given(cls, features: Any, spread: object, seed: int) -> Visitors:
        """
        Args:
            features: how many there are, or contexts, shape (rows, features).

        Raises:
            ValueError: neither; or the spread is no number of at least 0.
        """
        what = "the standard deviation over visitors of an arm's rate, as a share of the rate"
        share = number_within(spread, "spread", 0, 10, of=what)
        if isinstance(features, (list, tuple, np.ndarray)) and np.ndim(features) == 2:
            rows = np.asarray(features)
            contexts = checked_rows(rows, rows.shape[1], "features")
            if len(contexts) < 2:
                raise ValueError("Expected features= to be at least two contexts.")
            said = f"{len(contexts):,} given contexts of {contexts.shape[1]} features"
        else:
            many = whole_number(features, "features", 2, 1_000)
            rng = np.random.default_rng([seed, MADE_UP])
            measured = rng.normal(size=(ROWS, many - 1))
            contexts = UnitContexts(measured)(measured)
            said = f"made-up visitors of {many} features, a constant among them"
        return cls(contexts, share, f"visitors: {said}; spread of a rate over them: {share:.0%}")

    def world(self, means: Floats, seed: int, draw: int) -> ContextTable:
        """Visitors of one draw: each arm's rate varies along a direction of its own.

        Args:
            means: of each arm over all visitors, shape (arms,).
        """
        rng = np.random.default_rng([seed, draw, WEIGHTS])
        along = self.contexts @ rng.normal(size=(self.contexts.shape[1], len(means)))
        along -= along.mean(axis=0)
        along /= np.maximum(along.std(axis=0), 1e-12)
        return ContextTable(self.contexts, np.clip(means * (1.0 + self.spread * along), 0.0, 1.0))


@dataclass(frozen=True)
class Lasting:
    """Rates that are drawn anew, with which arm has which, at random times.

    Args:
        lasting: visitors from one time to the next, on average.
        prior: what the rates may be at a time. ruler: the range of rewards.
        visitors: in the trial.
    """

    lasting: int
    prior: Prior | EachRate
    ruler: Range
    visitors: int
    usual: ClassVar[tuple[str, str]] = ("DPKalmanTS", "DPRateIMED")

    @classmethod
    def given(
        cls, lasting: object, prior: Prior | EachRate, ruler: Range, visitors: int
    ) -> Lasting:
        """
        Raises:
            ValueError: not a whole number, or one for which rates change too often.
        """
        least = -(-visitors // MOST_PIECES)
        return cls(whole_number(lasting, "lasting", least, MOST), prior, ruler, visitors)

    @property
    def known(self) -> dict[str, Any]:
        """What policies are told."""
        return {"lasting": self.lasting}

    def takes(self, baseline: type[Policy]) -> bool:
        """Whether this is played to be compared with; others would take minutes."""
        return "lasting" in {field.name for field in fields(baseline)}

    @property
    def words(self) -> str:
        return (
            f"they last {self.lasting:,} visitors on average, then they and which arm has which "
            "are drawn anew; losses are against the arm that is best at each time"
        )

    def world(self, seed: int, draw: int) -> ChangingMeans:
        rng = np.random.default_rng([seed, draw, CHANGES])
        changes = rng.binomial(self.visitors - 1, 1.0 / self.lasting)
        starts = np.sort(rng.choice(self.visitors - 1, changes, replace=False)) + 1
        rates = drawn_means(self.prior, self.ruler, changes + 1, int(rng.integers(2**32)))
        return ChangingMeans(rng.permuted(rates, axis=1), [0, *starts], self.visitors)


World = ContextTable | ChangingMeans
