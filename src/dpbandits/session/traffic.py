"""Two tests that may be looked at after every decision: whether answers come for every arm alike,
and whether arms were played as often as planned.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, Self, final

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace as changed

from dpbandits.core.inputs import (
    Count,
    Finite,
    Floats,
    Number,
)
from dpbandits.core.tables import Tabular
from dpbandits.session.decisions import Play
from dpbandits.session.evidence import AT_START

# Whether answers come for every arm alike.
#
# Decisions whose arms were drawn at random are compared in stretches: consecutive decisions with
# one law. Where arms make no difference, whoever answers would have answered with any arm; so among
# those who answered and among those who did not, each arm was drawn with its recorded probability.
# Evidence is the likelihood of the arms drawn if the odds of a missing answer differ by a factor
# for one arm, over their recorded probabilities: a martingale with mean 1, averaged over arms and
# factors. How often people answer, and how that changes with time, cancels. Decisions count in
# their order: a stretch counts once it and all before it are resolved. Where every decision is
# drawn, one that waits for much longer than usual counts as not answered, whatever comes later
# (proofs/answering.md).
#
# Source: Shafer et al. 2011, "Test martingales, Bayes factors and p-values" (arXiv 0912.4269).


TILTS = np.array([0.1, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0])
"""Differences of log odds between one arm and the others that the test is made for."""

TILT_WEIGHTS = np.array([0.1, 0.2, 0.25, 0.2, 0.1, 0.1, 0.05])

SIGNED = np.concatenate([TILTS, -TILTS])
SIGNED_WEIGHTS = np.log(np.concatenate([TILT_WEIGHTS, TILT_WEIGHTS]) / 2.0)

SHORTEST, LONGEST, FRACTION = 16, 1024, 32
"""A stretch has at most one in `FRACTION` of the decisions so far, within these bounds."""

MOST_OPEN = 128
"""Stretches that may wait for answers at a time; decisions beyond are not tested."""

HALF, HALF_FRACTION = 128, 8
"""After so many decisions, or one in so many of those that count, an answer counts half for the
usual share of missing ones.
"""

LEAST_USUAL = 1e-4
"""The usual share of missing answers is at least that, and at most 1 less that."""


Counts = tuple[Count, ...]
Chance = Annotated[float, Meta(ge=0, lt=1)]


class Stretch(NamedTuple):
    """Consecutive decisions with one law.

    Args:
        first: the first decision.
        law: each arm's probability.
        size: decisions.
        waiting: those of them that are not resolved.
        told, missing: decisions that were answered, and that expired, by arm.
    """

    first: Number
    law: tuple[Chance, ...]
    size: Annotated[int, Meta(ge=1, le=LONGEST)]
    waiting: Count
    told: Counts
    missing: Counts


class Answers(NamedTuple):
    """How many of each arm's decisions that were compared were answered, and how many expired.

    evidence: a p-value that may be looked at at any time: where arms make no difference, it is ever
        at most α with probability at most α.
    open: the oldest decision that is not compared because it waits for its answer; 0: none.
    since: when it was made, in words, where that is known.
    """

    told: tuple[int, ...]
    missing: tuple[int, ...]
    evidence: float = 1.0
    open: int = 0
    since: str = ""


class AnswerTest(Struct, frozen=True):
    """The test so far: public, plain data, never changed in place.

    Args:
        first: arms at the start; 0 before any decision.
        drawn: decisions in stretches so far.
        open: stretches that do not count yet, oldest first.
        told, missing: decisions that count, by arm.
        usual: missing ones and all of late.
        scores: logarithms of evidence by arm and tilt, shape (arms, 2·tilts).
        highest: the logarithm of the largest evidence so far.
        cut: decisions up to this one that waited then count as not answered.

    >>> test = AnswerTest()
    >>> for id in range(1, 2001):
    ...     arm, answers = id % 2, id // 2 % (4 if id % 2 else 10) > 0
    ...     test = test.with_drawn(id, (0.5, 0.5)).with_resolved(id, arm, answers)
    >>> test.answers(2).evidence < 1e-9
    True
    """

    first: Count = 0
    drawn: Count = 0
    open: tuple[Stretch, ...] = ()
    told: Counts = ()
    missing: Counts = ()
    usual: tuple[Finite, Finite] = (0.5, 1.0)
    scores: tuple[tuple[Finite, ...], ...] = ()
    highest: Annotated[float, Meta(ge=0, le=1e308)] = 0.0
    cut: Count = 0

    def with_drawn(self, id: int, law: Sequence[float]) -> Self:
        """The test after a decision whose arm was drawn from this law."""
        if max(law) >= 1.0:  # it left no choice
            return self
        test, chances = changed(self, first=self.first or len(law)), tuple(law)
        last = self.open[-1] if self.open else None
        most = min(LONGEST, max(SHORTEST, self.drawn // FRACTION))
        goes_on = last is not None and (last.first + last.size, last.law) == (id, chances)
        if last is not None and goes_on and last.size < most:
            grown = last._replace(size=last.size + 1, waiting=last.waiting + 1)
            return changed(test, drawn=self.drawn + 1, open=(*self.open[:-1], grown))
        test = test._counted(grows=False)
        if len(test.open) >= MOST_OPEN:
            return test
        none = (0,) * len(chances)
        new = Stretch(id, chances, 1, 1, none, none)
        return changed(test, drawn=test.drawn + 1, open=(*test.open, new))

    def with_resolved(self, id: int, arm: int, answered: bool | None) -> Self:
        """The test after a drawn decision was resolved.

        answered: None: it is void.
        """
        last = self.open[-1] if self.open else None
        if last is None or not self.cut < id < last.first + last.size:
            return self
        at = bisect_right(self.open, id, key=lambda of: of.first) - 1
        if at < 0 or id >= self.open[at].first + self.open[at].size:
            return self
        of = self.open[at]._replace(waiting=self.open[at].waiting - 1)
        if answered is True:
            of = of._replace(told=one_more(of.told, arm))
        elif answered is False:
            of = of._replace(missing=one_more(of.missing, arm))
        test = changed(self, open=(*self.open[:at], of, *self.open[at + 1 :]))
        return test._counted() if not of.waiting and not at else test

    def with_cut(self, id: int, pending: Mapping[int, Play]) -> Self:
        """The test once decisions up to this one that still wait count as not answered."""
        if not self.open or id < max(self.open[0].first, self.cut + 1):
            return self
        test = self
        for each in range(max(self.open[0].first, self.cut + 1), id + 1):
            play = pending.get(each)
            if play is not None and isinstance(play.action, int):
                test = test.with_resolved(each, play.action, False)
        return changed(test, cut=id)

    def oldest(self, pending: Mapping[int, Play]) -> int:
        """The oldest decision that is not compared because it waits for its answer; 0: none."""
        first = self.open[0].first if self.open and self.open[0].waiting else 0
        return next((id for id in pending if id >= first > 0 and id > self.cut), 0)

    def ended(self) -> Self:
        """The test where no further answer comes: open stretches never count. Which these are may
        depend on arms, so evidence from later ones begins anew; the largest so far stays.
        """
        return changed(self, open=(), scores=())

    def answers(self, arms: int) -> Answers:
        """What was compared so far, of so many arms, and the evidence that arms differ."""
        told, missing = (padded(counts, arms) for counts in (self.told, self.missing))
        return Answers(told, missing, math.exp(-max(0.0, self.highest)))

    def _counted(self, *, grows: bool = True) -> Self:
        """The test with stretches counted that are resolved, and all before them.

        grows: whether the last one may get further decisions.
        """
        test = self
        while len(test.open) > grows and not test.open[0].waiting:
            test = changed(test._with(test.open[0]), open=test.open[1:])
        return test

    def _with(self, stretch: Stretch) -> Self:
        told, missing = stretch.told, stretch.missing
        arms = max(len(self.scores), len(told))
        before = np.zeros((arms, len(SIGNED)))
        before[: len(self.scores)] = np.array(self.scores).reshape(-1, len(SIGNED))
        share = self.usual[0] / self.usual[1]
        before[: len(told)] += stretch_scores(stretch.law, told, missing, share)
        weights = np.array([arm_weight(arm, self.first) for arm in range(arms)])
        every = before + SIGNED_WEIGHTS + weights[:, None]
        most = float(every.max())
        score = most + math.log(np.exp(every - most).sum())
        lost, count = sum(missing), sum(told) + sum(missing)
        told, missing = added_up(self.told, told), added_up(self.missing, missing)
        # of those that count: how many were drawn meanwhile may depend on the next stretch's arms
        kept = 0.5 ** (count / max(HALF, (sum(told) + sum(missing)) / HALF_FRACTION))
        return changed(
            self,
            told=told,
            missing=missing,
            usual=(kept * self.usual[0] + lost, kept * self.usual[1] + count),
            scores=tuple(map(tuple, before.tolist())),
            highest=max(self.highest, score),
        )


def arm_weight(arm: int, first: int) -> float:
    """The logarithm of an arm's share of the evidence. first: arms at the start."""
    if arm < first:
        return math.log(AT_START / first)
    later = arm - first + 1
    return math.log((1.0 - AT_START) / (later * (later + 1)))


def stretch_scores(
    law: Sequence[float], told: Sequence[int], missing: Sequence[int], usual: float
) -> Floats:
    """Return the logarithm of a stretch's evidence for each arm and tilt, shape (arms, 2·tilts).

    Args:
        usual: the share of answers that are usually missing.
    """
    p, t = np.array(law)[:, None], SIGNED
    answered, lost = np.array(told)[:, None], np.array(missing)[:, None]
    usual = min(max(usual, LEAST_USUAL), 1.0 - LEAST_USUAL)
    odds = math.log(usual / (1.0 - usual))
    this = 1.0 / (1.0 + np.exp(-(odds + t * (1.0 - p))))
    others = 1.0 / (1.0 + np.exp(-(odds - t * p)))
    mean = p * this + (1.0 - p) * others
    scores = lost * np.log(this / mean) + (lost.sum() - lost) * np.log(others / mean)
    scores += answered * np.log((1.0 - this) / (1.0 - mean))
    scores += (answered.sum() - answered) * np.log((1.0 - others) / (1.0 - mean))
    return np.asarray(scores)


def one_more(counts: tuple[int, ...], arm: int) -> tuple[int, ...]:
    return (*counts[:arm], counts[arm] + 1, *counts[arm + 1 :])


def padded(counts: tuple[int, ...], arms: int) -> tuple[int, ...]:
    return (*counts, *(0,) * (arms - len(counts)))


def added_up(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    arms = max(len(one), len(other))
    return tuple(a + b for a, b in zip(padded(one, arms), padded(other, arms), strict=True))


# Whether arms were played as often as planned: the Bayes factor of a Dirichlet-multinomial against
# the planned probabilities is a martingale where traffic is as planned; the probabilities may
# change from decision to decision.
#
# Source: Lindon and Malek 2022, "Anytime-valid inference for multinomial count data" (arXiv
# 2011.03567).


CONCENTRATION = 1000.0
"""Decisions that the prior counts for: the larger, the smaller the deviations it is made for."""

IMPOSSIBLE = 1e308
"""The score of what could not happen."""

AtLeast0 = Annotated[float, Meta(ge=0, le=1e308)]


@final
@dataclass(frozen=True)
class Traffic:
    """Counts and evidence so far; public, plain data, never changed in place.

    counts: decisions by arm. expected: by the probabilities in force. prior: each arm's part of the
        prior; 0 until it first had a chance. score: the logarithm of the Bayes factor; highest: the
        largest so far. answers: whether answers come for every arm alike.

    >>> traffic = Traffic.of(2)
    >>> for at in range(5000):
    ...     traffic = traffic.played([.5, .5], at % 5 < 2)
    >>> traffic.counts, traffic.evidence < 1e-6
    ((3000, 2000), True)
    """

    counts: tuple[Count, ...]
    expected: tuple[AtLeast0, ...]
    prior: tuple[AtLeast0, ...]
    score: Finite = 0.0
    highest: Finite = 0.0
    answers: AnswerTest = field(default_factory=AnswerTest)

    @classmethod
    def of(cls, arms: int) -> Traffic:
        """Before any decision."""
        return cls((0,) * arms, (0.0,) * arms, (0.0,) * arms)

    @property
    def evidence(self) -> float:
        """A p-value that may be looked at after every decision: where traffic is as planned, it is
        ever at most α with probability at most α.
        """
        return math.exp(-max(0.0, self.highest))

    def with_arms(self, arms: int) -> Traffic:
        """For so many arms, the last of which were never drawn."""
        more = arms - len(self.counts)
        return replace(
            self,
            counts=self.counts + (0,) * more,
            expected=self.expected + (0.0,) * more,
            prior=self.prior + (0.0,) * more,
        )

    def played(self, law: Sequence[float], arm: int) -> Traffic:
        """After one decision for this arm, which was drawn from this law: the Bayes factor of all
        of them, whose gammas cancel.
        """
        prior = [old or CONCENTRATION * p for old, p in zip(self.prior, law, strict=True)]
        tilt = [
            (old + seen) / (old + wanted) if p else 0.0
            for old, seen, wanted, p in zip(prior, self.counts, self.expected, law, strict=True)
        ]
        mean = math.fsum(p * t for p, t in zip(law, tilt, strict=True))
        score = self.score + math.log(tilt[arm] / mean) if tilt[arm] else IMPOSSIBLE
        return Traffic(
            tuple(count + (each == arm) for each, count in enumerate(self.counts)),
            tuple(old + p for old, p in zip(self.expected, law, strict=True)),
            tuple(prior),
            score,
            max(self.highest, score),
            self.answers,
        )


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
        `level` at most, however often one looks (in each segment or side of a holdout, and as much
        more for each fence of a campaign).
        """
        if self.answers is not None and self.answers.evidence <= OF_ANSWERS * level:
            return True
        return self._is_unplanned(level)

    def _is_unplanned(self, level: float) -> bool:
        """Whether traffic is not as planned, at what answers leave of the level."""
        return self.evidence <= level * (1.0 if self.answers is None else 1.0 - OF_ANSWERS)

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
        verdict = "is NOT" if self._is_unplanned(LEVEL) else "may well be"
        return "\n".join(lines) + (
            f"\nTraffic {verdict} as planned (evidence against it: p = {self.evidence:.2g} at any "
            f"time, of the {sum(counts):,} decisions whose arms were drawn by chance).\n{answers}"
        )

    __repr__ = __str__
