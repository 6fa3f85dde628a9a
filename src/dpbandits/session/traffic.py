"""A test of traffic that may be looked at after every decision: whether arms were played as often
as planned. Whether answers come for every arm alike is tested beside it (`answering.py`).

Source: Lindon and Malek 2022, "Anytime-valid inference for multinomial count data" (arXiv
2011.03567): the Bayes factor of a Dirichlet-multinomial against the planned probabilities is a
martingale where traffic is as planned; the probabilities may change from decision to decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, final

import numpy as np
from msgspec import Meta, Struct

from dpbandits.core.inputs import (
    Count,
    Finite,
    converted,
    damaged,
    numbers_in,
    real_number,
    shown,
    whole_number,
)
from dpbandits.core.tables import Tabular
from dpbandits.session.answering import Answers, AnswerTest

CONCENTRATION = 1000.0
"""Decisions that the prior counts for: the larger, the smaller the deviations it is made for."""

OFF = 1e-9
"""By how much probabilities may miss the sum 1."""


@final
@dataclass(frozen=True)
class Traffic:
    """Counts and evidence so far; public, plain data, never changed in place.

    counts: decisions by arm. expected: by the probabilities in force. prior: each arm's part of the
        prior; 0 until it first had a chance. score: the logarithm of the Bayes factor; highest: the
        largest so far. answers: whether answers come for every arm alike.

    >>> traffic = Traffic.of(2)
    >>> for _ in range(100):
    ...     traffic = traffic.after([.5, .5], [60, 40])
    >>> traffic.counts, traffic.evidence < 1e-6
    ((6000, 4000), True)
    """

    counts: tuple[int, ...]
    expected: tuple[float, ...]
    prior: tuple[float, ...]
    score: float = 0.0
    highest: float = 0.0
    concentration: float = CONCENTRATION
    answers: AnswerTest = field(default_factory=AnswerTest)

    @classmethod
    def of(cls, arms: int, concentration: float = CONCENTRATION) -> Traffic:
        """Before any decision."""
        arms, weight = whole_number(arms, "arms", 1), real_number(concentration)
        if weight is None or not 0.0 < weight < 1e12:
            raise ValueError(
                f"Expected concentration={shown(concentration)} to be a number above 0."
            )
        return cls((0,) * arms, (0.0,) * arms, (0.0,) * arms, concentration=float(weight))

    @property
    def evidence(self) -> float:
        """A p-value that may be looked at after every decision: where traffic is as planned, it is
        ever at most α with probability at most α.
        """
        return math.exp(-max(0.0, self.highest))

    def with_arm(self) -> Traffic:
        """One more arm."""
        return replace(
            self,
            counts=(*self.counts, 0),
            expected=(*self.expected, 0.0),
            prior=(*self.prior, 0.0),
        )

    def played(self, probabilities: Sequence[float], arm: int) -> Traffic:
        """After one decision for this arm: what `after` comes to, whose gammas cancel."""
        arm, law = whole_number(arm, "arm", 0, len(self.counts) - 1), self._law(probabilities)
        chances: list[float] = law.tolist()
        prior = [old or self.concentration * p for old, p in zip(self.prior, chances, strict=True)]
        tilt = [
            (old + seen) / (old + wanted) if p else 0.0
            for old, seen, wanted, p in zip(prior, self.counts, self.expected, chances, strict=True)
        ]
        mean = math.fsum(p * t for p, t in zip(chances, tilt, strict=True))
        score = self.score + math.log(tilt[arm] / mean) if tilt[arm] else math.inf
        return Traffic(
            tuple(count + (each == arm) for each, count in enumerate(self.counts)),
            tuple(old + p for old, p in zip(self.expected, chances, strict=True)),
            tuple(prior),
            score,
            max(self.highest, score),
            self.concentration,
            self.answers,
        )

    def after(self, probabilities: Sequence[float], counts: Sequence[int]) -> Traffic:
        """After decisions that were made while these probabilities were in force.

        Args:
            probabilities: each arm's, for each of the decisions, settled before they were made.
            counts: decisions by arm.

        Raises:
            ValueError: no probabilities, or no counts, of so many arms.
        """
        law, made = self._law(probabilities), self._counts(counts)
        expected, prior = np.array(self.expected), np.array(self.prior)
        prior = np.where((prior == 0.0) & (law > 0.0), self.concentration * law, prior)
        before = np.array(self.counts, np.float64)
        score = self.score
        if (made[law == 0.0] > 0).any():
            score = math.inf  # what could not happen
        elif score < math.inf:
            score += block_score(law, made, prior + before, prior + expected)
        return Traffic(
            tuple((before + made).astype(int).tolist()),
            tuple((expected + made.sum() * law).tolist()),
            tuple(prior.tolist()),
            score,
            max(self.highest, score),
            self.concentration,
            self.answers,
        )

    def _law(self, probabilities: Sequence[float]) -> Any:
        law = numbers_in(probabilities, "probabilities")
        fits = law.shape == (len(self.counts),) and bool(np.all(law >= 0.0))
        if not fits or abs(law.sum() - 1.0) > OFF:
            raise ValueError(
                f"Expected probabilities={shown(probabilities)} to be {len(self.counts)} numbers "
                "of at least 0 that add up to 1, one an arm."
            )
        return law

    def _counts(self, counts: Sequence[int]) -> Any:
        made = numbers_in(counts, "counts")
        fits = made.shape == (len(self.counts),)
        if not fits or not np.all((made >= 0) & (made == np.rint(made)) & (made < 2**53)):
            raise ValueError(
                f"Expected counts={shown(counts)} to be {len(self.counts)} whole numbers of at "
                "least 0, one an arm."
            )
        return made

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON. What could not happen has no score: null."""
        impossible = self.score == math.inf
        return {
            "counts": list(self.counts),
            "expected": list(self.expected),
            "prior": list(self.prior),
            "score": None if impossible else self.score,
            "highest": None if impossible else self.highest,
            "concentration": self.concentration,
            "answers": self.answers.to_data(),
        }

    @classmethod
    def restored(cls, data: object, arms: int) -> Traffic:
        """What `to_data` wrote, of a session of so many arms.

        Raises:
            DamagedSessionError: it is not that.
        """
        saved = converted(data, TrafficData, "traffic")
        counts, expected, prior = saved.counts, saved.expected, saved.prior
        score, highest = (math.inf if x is None else x for x in (saved.score, saved.highest))
        fits = max(0.0, score) <= highest and (highest < math.inf or score == math.inf)
        if not fits or not 0 < len(counts) == len(expected) == len(prior) <= arms:
            raise damaged("traffic contradicts itself, or has more counts than there are arms")
        answers = AnswerTest.restored(saved.answers, arms)
        return cls(counts, expected, prior, score, highest, saved.concentration, answers)


AtLeast0 = Annotated[float, Meta(ge=0, le=1e308)]


class TrafficData(Struct):
    """`Traffic`, of a saved session. What could not happen has no score."""

    counts: tuple[Count, ...]
    expected: tuple[AtLeast0, ...]
    prior: tuple[AtLeast0, ...]
    score: Finite | None
    highest: Finite | None
    concentration: Annotated[float, Meta(gt=0, le=1e308)]
    answers: Any


def block_score(law: Any, made: Any, seen: Any, wanted: Any) -> float:
    """ln of the Bayes factor of these counts: of a Dirichlet-multinomial whose weights are the
    planned ones times how much more than expected each arm was seen so far.

    seen, wanted: of each arm, what was counted and what was expected, the prior included.
    """
    open_ = law > 0.0
    law, made, tilt = law[open_], made[open_], seen[open_] / wanted[open_]
    weights = law * tilt
    weights *= seen.sum() / weights.sum()
    parts = [
        math.lgamma(weight + count) - math.lgamma(weight) - count * math.log(chance)
        for weight, count, chance in zip(*map(np.ndarray.tolist, (weights, made, law)), strict=True)
    ]
    total, count = float(weights.sum()), float(made.sum())
    return math.fsum(parts) - math.lgamma(total + count) + math.lgamma(total)


def answers_by_arm(labels: Sequence[str], answers: Answers) -> str:
    """Return, for a report, how often each arm's decisions were answered."""
    rows = list(zip(labels, answers.told, answers.missing, strict=True))
    since = f" (since {answers.since})" if answers.since else ""
    still = f"decision {answers.open:,} is still open{since}" if answers.open else ""
    if not any(answers.told) and not any(answers.missing):
        return f"Answers by arm are not tested yet: {still or UNTESTED}."
    by_arm = ", ".join(f"{label} {told:,} of {told + none:,}" for label, told, none in rows)
    later = f" Later ones are not tested yet: {still}." if still else ""
    return (
        f"Answers by arm: {by_arm} (evidence that arms differ: p = {answers.evidence:.2g}).{later}"
    )


UNTESTED = "no arm was drawn by chance, as it is with min_share=, for a decision that was answered"

PRIVATE = "Answers by arm cannot be tested: with an attribution window who answered is private."

LEVEL = 0.001
"""How probable a false alarm may be."""

OF_ANSWERS = 0.8
"""The share of that for answers; the rest is for traffic."""


@final
@dataclass(frozen=True)
class SampleRatio(Tabular):
    """What `Traffic` says, with the arms' labels. evidence: see there. As a table:
    label, decisions, expected.

    answers: whether answers come for every arm alike; None where who answered is private. A change
        of answering that is common to all arms is no evidence.
    """

    labels: tuple[str, ...]
    traffic: Traffic
    answers: Answers | None = None

    @property
    def evidence(self) -> float:
        return self.traffic.evidence

    def alarm(self, level: float = LEVEL) -> bool:
        """Whether traffic is not as planned, or answers differ by arm; false with probability
        `level` at most, however often one looks.
        """
        if self.answers is None:
            return self.evidence <= level
        if self.answers.evidence <= OF_ANSWERS * level:
            return True
        return self.evidence <= (1.0 - OF_ANSWERS) * level

    def _columns(self) -> dict[str, list[Any]]:
        counts, expected = list(self.traffic.counts), list(self.traffic.expected)
        return {"label": list(self.labels), "decisions": counts, "expected": expected}

    def __str__(self) -> str:
        counts, expected = self.traffic.counts, self.traffic.expected
        if not any(counts):
            return (
                "No arm was drawn by chance so far: whether traffic is as planned, and whether "
                "answers come for every arm alike, cannot be tested."
            )
        answers = PRIVATE if self.answers is None else answers_by_arm(self.labels, self.answers)
        rows = zip(self.labels, counts, expected, strict=True)
        lines = [f"{label}: {made:,} decisions, {want:,.1f} planned" for label, made, want in rows]
        verdict = "is NOT" if self.evidence <= LEVEL else "may well be"
        return "\n".join(lines) + (
            f"\nTraffic {verdict} as planned (evidence against it: p = {self.evidence:.2g} at any "
            f"time, of the {sum(counts):,} decisions whose arms were drawn by chance).\n{answers}"
        )

    __repr__ = __str__
