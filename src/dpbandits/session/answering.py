"""Whether answers come for every arm alike: a test that may be looked at after every decision.

Decisions whose arms were drawn at random are compared in stretches: consecutive decisions with one
law. Where arms make no difference, whoever answers would have answered with any arm; so among those
who answered and among those who did not, each arm was drawn with its recorded probability. Evidence
is the likelihood of the arms drawn if the odds of a missing answer differ by a factor for one arm,
over their recorded probabilities: a martingale with mean 1, averaged over arms and factors. How
often people answer, and how that changes with time, cancels. Decisions count in their order: a
stretch counts once it and all before it are resolved. Where every decision is drawn, one that waits
for much longer than usual counts as not answered, whatever comes later (proofs/answering.md).

Source: Shafer et al. 2011, "Test martingales, Bayes factors and p-values" (arXiv 0912.4269).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from msgspec import Meta

from dpbandits.core.inputs import Count, Finite, Floats, Number, converted, damaged, part
from dpbandits.session.decisions import Play
from dpbandits.session.evidence import AT_START

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
"""After so many decisions, or one in so many of those so far, an answer counts half for the usual
share of missing ones.
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

    def fits(self, arms: int) -> bool:
        """Return whether its numbers agree, in a session of so many arms."""
        same = len(self.law) == len(self.told) == len(self.missing)
        counted = sum(self.told) + sum(self.missing) + self.waiting
        return same and 0 < len(self.law) <= arms and counted <= self.size


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


class AnswerTest(NamedTuple):
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
        test, chances = self._replace(first=self.first or len(law)), tuple(law)
        last = self.open[-1] if self.open else None
        most = min(LONGEST, max(SHORTEST, self.drawn // FRACTION))
        goes_on = last is not None and (last.first + last.size, last.law) == (id, chances)
        if last is not None and goes_on and last.size < most:
            grown = last._replace(size=last.size + 1, waiting=last.waiting + 1)
            return test._replace(drawn=self.drawn + 1, open=(*self.open[:-1], grown))
        test = test._counted(grows=False)
        if len(test.open) >= MOST_OPEN:
            return test
        none = (0,) * len(chances)
        new = Stretch(id, chances, 1, 1, none, none)
        return test._replace(drawn=test.drawn + 1, open=(*test.open, new))

    def with_resolved(self, id: int, arm: int, answered: bool | None) -> Self:
        """The test after a drawn decision was resolved.

        answered: None: it is void.
        """
        at = bisect_right(self.open, id, key=lambda of: of.first) - 1
        if id <= self.cut or at < 0 or id >= self.open[at].first + self.open[at].size:
            return self
        of = self.open[at]._replace(waiting=self.open[at].waiting - 1)
        if answered is True:
            of = of._replace(told=one_more(of.told, arm))
        elif answered is False:
            of = of._replace(missing=one_more(of.missing, arm))
        test = self._replace(open=(*self.open[:at], of, *self.open[at + 1 :]))
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
        return test._replace(cut=id)

    def oldest(self, pending: Mapping[int, Play]) -> int:
        """The oldest decision that is not compared because it waits for its answer; 0: none."""
        first = self.open[0].first if self.open and self.open[0].waiting else 0
        return next((id for id in pending if id >= first > 0 and id > self.cut), 0)

    def ended(self) -> Self:
        """The test where no further answer comes: open stretches never count."""
        return self._replace(open=())

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
            test = test._with(test.open[0])._replace(open=test.open[1:])
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
        kept = 0.5 ** (count / max(HALF, self.drawn / HALF_FRACTION))
        return self._replace(
            told=added_up(self.told, told),
            missing=added_up(self.missing, missing),
            usual=(kept * self.usual[0] + lost, kept * self.usual[1] + count),
            scores=tuple(map(tuple, before.tolist())),
            highest=max(self.highest, score),
        )

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {key: each for key, each in self._asdict().items() if key != "cut" or each}

    @classmethod
    def restored(cls, data: object, arms: int) -> AnswerTest:
        """What `to_data` wrote, of a session of so many arms.

        Raises:
            DamagedSessionError: it is not that.
        """
        fields = {"cut": 0} | part(data, "answers", *cls._fields[:-1])
        test: AnswerTest = converted([fields[name] for name in cls._fields], cls, "answers")
        ids = [id for of in test.open for id in (of.first, of.first + of.size - 1)]
        fits = test.first <= arms and test.drawn >= sum(of.size for of in test.open)
        fits = fits and 0.0 < test.usual[0] < test.usual[1] and ids == sorted(ids)
        fits = fits and max(map(len, (test.scores, test.told, test.missing))) <= arms
        fits = fits and all(len(row) == len(SIGNED) for row in test.scores)
        if not fits or not all(of.fits(arms) for of in test.open):
            raise damaged("answers contradict themselves")
        return test


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
