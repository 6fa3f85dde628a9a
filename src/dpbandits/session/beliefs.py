"""What released values say of every arm: estimates, intervals, the chance of being the best arm.

`ReleaseHistory` keeps the releases of each arm in a few rows. Intervals hold at all times at once:
they come from nonnegative martingales with the exact law of the noise (proofs/beliefs.md). All of
it is post-processing of released values, so it has no privacy cost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Annotated, Any, ClassVar, NamedTuple, final

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace as replaced

from dpbandits.core.inputs import (
    Count,
    Finite,
    Floats,
    Number,
    number_within,
)
from dpbandits.core.plan import EVERY
from dpbandits.core.tables import Rows, aligned, cell_text
from dpbandits.mechanisms.base import AnswerLaw, Mechanism, NoiseDraws, NoisedSum
from dpbandits.policies.contract import Policy, Release
from dpbandits.policies.formulas.joint import joint_variance
from dpbandits.session.evidence import (
    BETS,
    GROWS,
    UNCOMPARED,
    Compared,
    Comparisons,
    NoiseMoments,
    PairEvidence,
    ReleasedRow,
    mean_bet,
    required,
)
from dpbandits.session.ranges import Range
from dpbandits.session.times import EndedPeriod


class ArmHistory(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One arm. answers: how many there were. kept: rows, oldest first. newest: the last row, which
    counts for intervals once a row is kept.
    """

    label: str
    answers: Count = 0
    kept: tuple[ReleasedRow, ...] = ()
    newest: ReleasedRow | None = None


def combined(newest: ReleasedRow, other: ReleasedRow, sign: int) -> ReleasedRow:
    """The rows of two answers about different rewards as one, where the sign is 1; where it is −1,
    what was released after the other one.
    """
    draws: Counter[int] = Counter(dict(newest.draws))
    for kind, count in other.draws:
        draws[kind] += sign * count
    return ReleasedRow(
        newest.release,
        newest.total + sign * other.total,
        newest.rounds + sign * other.rounds,
        tuple(sorted(draws.items())),
    )


NOTHING = ReleasedRow(0, 0.0, 0, ())
"""Before anything was released."""

plus = partial(combined, sign=1)

FADES = 0.5
"""How much of a period's weight the next one leaves it, in the centre from which rewards count."""


class Within(NamedTuple):
    """What is known of arms from comparing them within periods. By arm:

    before: its newest row when the last period ended. recent: total and rounds of the periods so
        far, older ones with less weight. last: share and rounds in the last period.
    bets: by (arm that may lead, arm that trails), the logarithm of each bet.
    """

    before: tuple[ReleasedRow | None, ...]
    recent: tuple[tuple[Finite, Finite], ...]
    last: tuple[tuple[Finite, Count], ...]
    bets: tuple[tuple[tuple[Count, Count], tuple[Finite, ...]], ...]

    @classmethod
    def of(cls, arms: int) -> Within:
        """Before anything was released."""
        return cls((None,) * arms, ((0.0, 0.0),) * arms, ((0.0, 0),) * arms, ())

    def with_arm(self) -> Within:
        """One more arm."""
        more = Within.of(1)
        return Within(
            self.before + more.before, self.recent + more.recent, self.last + more.last, self.bets
        )

    def centre(self, one: int, other: int, shares: Sequence[float]) -> float:
        """A number near the means of two arms, nearer to that of the arm that is seen less, from
        earlier periods; ½ before there are any.
        """
        means = {
            arm: min(1.0, max(0.0, total / rounds)) if rounds else 0.5
            for arm in (one, other)
            for total, rounds in [self.recent[arm]]
        }
        whole = 1.0 / shares[one] + 1.0 / shares[other]
        return sum(mean / shares[arm] for arm, mean in means.items()) / whole


class HistoryData(Struct):
    """`ReleaseHistory`, of a saved session. compared: (leads, trails, `Compared`)."""

    first: Number
    growth: Annotated[float, Meta(ge=1, le=1000)]
    arms: tuple[ArmHistory, ...]
    compared: list[tuple[Count, Count, Finite, Number]]
    within: Within | None


def draw_variance(law: AnswerLaw, kind: int) -> float:
    """Of one draw, in squared reward units."""
    match law.family:
        case "gaussian":
            return kind / (2.0 * law.cost)
        case "joint":
            return joint_variance(kind, law.cost)
        case "laplace":
            return 2.0 * kind * kind / (law.cost * law.cost)
        case "none":
            return 0.0


def draws_variance(law: AnswerLaw, draws: NoiseDraws) -> float:
    return math.fsum([count * draw_variance(law, kind) for kind, count in draws])


GROWTH = 1.1
"""A row is kept when its count has grown by this factor since the row before."""


LARGE, ENOUGH = 4.0, 16.0
"""Standard deviations of its noise that a block has people, or all so far have, when an arm's
first row is kept.
"""


@dataclass(frozen=True)
class MeanReader:
    """How a policy's answers are read. law: the noise in totals; None: they say nothing of means.

    ends: the mean of what is summed, for a reward of 0 and of 1. reports: each reward is a report
        with a draw of its own. rounding: how far a reward may lie from its grid step.
    alone: whether a record is one arm's, and noise is never drawn anew: then arms are compared in
        pairs.
    """

    mechanism: Mechanism
    law: AnswerLaw | None
    ends: tuple[float, float] = (0.0, 1.0)
    reports: bool = False
    rounding: float = 0.0
    alone: bool = False

    @classmethod
    def of(cls, policy: Policy) -> MeanReader:
        mechanism, randomizer = policy.reader, policy.randomizer()
        grid = mechanism.grid if randomizer is None else randomizer.grid
        # a grid of one step is for rewards of 0 and 1, which it holds as they are
        whole = grid.rounding == "bernoulli" or getattr(policy, "grid", 0) == 1 or grid.steps == 1
        rounding = 0.0 if whole else 0.5 / grid.steps
        law = mechanism.law
        alone = policy.about.feedback == "bandit" and law is not None and not law.redraws
        if randomizer is None:
            return cls(mechanism, law, rounding=rounding, alone=alone)
        law = None if law is None else randomizer.law
        noisy = law is not None and law.family != "none"
        return cls(mechanism, law, randomizer.ends, noisy, rounding, alone)

    @cached_property
    def noise(self) -> NoiseMoments:
        """The noise in totals, where they say something of means."""
        assert self.law is not None
        return NoiseMoments(self.law)

    @cached_property
    def pairs(self) -> PairEvidence:
        """Compares two arms."""
        zero, one = self.ends
        return PairEvidence(self.noise.law, self.rounding * (one - zero))

    def noised_sum(self, answer: Any, release: int) -> NoisedSum | None:
        noised = self.mechanism.noised_sum(answer, release)
        if noised is None or not self.reports:
            return noised
        return noised._replace(draws=((1, noised.rounds),))


@final
@dataclass(frozen=True)
class ReleaseHistory:
    """What was released so far, of every arm there ever was.

    first: arms at the start. growth: see `GROWTH`. compared: how far arms are known to be above
        others. within: with periods, in which alone arms are compared then.

    >>> import dpbandits as dpb
    >>> from dpbandits.mechanisms import Answer
    >>> from dpbandits.policies.contract import Release
    >>> history = ReleaseHistory.of(dpb.DPKLUCB(arms=2, epsilon=1))
    >>> answer = Answer(total=20.5, rounds=32, draws=1)
    >>> history = history.after(Release((0,), (answer,), 32, ((0, 32),)))
    >>> history.arms[0].newest
    ReleasedRow(release=1, total=20.5, rounds=32, draws=((1, 1),))
    """

    reader: MeanReader
    arms: tuple[ArmHistory, ...]
    first: int
    growth: float = GROWTH
    compared: Comparisons = field(default_factory=dict)
    within: Within | None = None

    @classmethod
    def of(
        cls,
        policy: Policy,
        labels: Sequence[str] | None = None,
        growth: float = GROWTH,
        *,
        periods: bool = False,
    ) -> ReleaseHistory:
        """Before anything was released. labels: the arms' names; by default their numbers.
        periods: whether arms are compared within periods.
        """
        names = labels or map(str, range(policy.arms))
        within = Within.of(policy.arms) if periods else None
        arms = tuple(map(ArmHistory, names))
        return cls(MeanReader.of(policy), arms, policy.arms, growth, within=within)

    def with_arm(self, label: str) -> ReleaseHistory:
        """One more arm, added while the others are at work."""
        within = None if self.within is None else self.within.with_arm()
        return replace(self, arms=(*self.arms, ArmHistory(label)), within=within)

    def restarted(self, arm: int, kept: str, label: str) -> ReleaseHistory:
        """One more arm of this label, of which nothing was released; this arm is `kept` on."""
        arms = (*self.arms[:arm], replaced(self.arms[arm], label=kept), *self.arms[arm + 1 :])
        return replace(self, arms=arms).with_arm(label)

    def leader(self, arms: Sequence[int]) -> int:
        """The arm with the largest released mean among these; the first where nothing was
        released.
        """
        rows = {arm: self.arms[arm].newest for arm in arms}
        means = {arm: row.total / row.rounds for arm, row in rows.items() if row is not None}
        return max(means, key=means.__getitem__) if means else arms[0]

    def evidence(self, leads: int, trails: int) -> float:
        """The logarithm of the most evidence so far that one arm is above another one."""
        return self.compared.get((leads, trails), UNCOMPARED).evidence

    def after(
        self,
        release: Release,
        among: Sequence[int] | None = None,
        ended: EndedPeriod | None = None,
    ) -> ReleaseHistory:
        """The history with one more release.

        among: the arms in play; None: all. ended: the period that ended with it, if one did.
        """
        whole_record = release.coordinates == (EVERY,)
        coordinates = range(len(release.answers)) if whole_record else release.coordinates
        if self.reader.law is None or not (release.answers or ended):
            return self
        arms = list(self.arms)
        for arm, answer in zip(coordinates, release.answers, strict=True):
            arms[arm] = self._answered(arms[arm], answer)
        compared = self.compared
        if self.within is None and self.reader.alone and len(arms) > 1:
            compared = self._compared(arms, release.coordinates, among)
        after = replace(self, arms=tuple(arms), compared=compared)
        return after if ended is None else after._period_ended(ended)

    def _period_ended(self, ended: EndedPeriod) -> ReleaseHistory:
        """The history after a period, in which each arm's open block was released at the end."""
        within, shares = self.within, dict(enumerate(ended.shares))
        assert within is not None
        rows = [  # an arm that nobody was drawn for has the factor 1
            combined(arm.newest or NOTHING, before or NOTHING, -1)
            for before, arm in zip(within.before, self.arms, strict=True)
        ]
        bets, compared = dict(within.bets), dict(self.compared)
        known = [a for a, share in shares.items() if share > 0.0 and a not in ended.mixed]
        for pair in ((one, other) for one in known for other in known if one != other):
            leads, trails = rows[pair[0]], rows[pair[1]]
            centre = within.centre(*pair, ended.shares)
            own = shares[pair[0]], shares[pair[1]]
            grown = self.reader.pairs.grown(leads, trails, own, centre)
            bets[pair] = tuple((np.array(bets.get(pair, 0.0)) + grown).tolist())
            before = compared.get(pair, UNCOMPARED)
            rounds = trails.rounds + (0 if pair not in compared else before.rounds)
            compared[pair] = Compared(max(before.evidence, mean_bet(bets[pair])), max(1, rounds))
        recent = tuple(
            (FADES * total + row.total, FADES * rounds + row.rounds)
            for (total, rounds), row in zip(within.recent, rows, strict=True)
        )
        last = tuple((shares.get(arm, 0.0), row.rounds) for arm, row in enumerate(rows))
        newest = tuple(arm.newest for arm in self.arms)
        after = Within(newest, recent, last, tuple(bets.items()))
        return replace(self, compared=compared, within=after)

    def _compared(
        self, arms: Sequence[ArmHistory], released: Sequence[int], among: Sequence[int] | None
    ) -> Comparisons:
        """Return how far the arm that leads is known to be above those that were just released."""
        rows = {
            arm: row
            for arm in (range(len(arms)) if among is None else among)
            if (row := arms[arm].newest) is not None and arms[arm].kept
        }
        if len(rows) < 2:
            return self.compared
        leader = max(rows, key=lambda arm: rows[arm].total / rows[arm].rounds)
        new = dict[tuple[int, int], Compared]()
        for arm in released:
            row = rows.get(arm)
            if row is None or arm == leader:
                continue
            before = self.compared.get((leader, arm), UNCOMPARED)
            if row.rounds >= GROWS * before.rounds and self._may_be_apart(rows[leader], row):
                above = partial(self.reader.pairs.above, rows[leader], row)
                new[leader, arm] = before.after(above, row.rounds)
        return {**self.compared, **new} if new else self.compared

    def _answered(self, arm: ArmHistory, answer: Any) -> ArmHistory:
        number = arm.answers + 1
        noised = self.reader.noised_sum(answer, number)
        if noised is None or noised.rounds == 0:
            return replaced(arm, answers=number)
        row, law = ReleasedRow(number, *noised), self.reader.law
        assert law is not None
        starts = not arm.kept and self._starts(arm, row, law)
        if law.forgets and arm.newest is not None and not starts:
            row = combined(row, arm.newest, 1)
        keeps = starts or (bool(arm.kept) and self._keeps(arm.kept[-1], row, law))
        return ArmHistory(arm.label, number, (*arm.kept, row) if keeps else arm.kept, row)

    def _may_be_apart(self, leads: ReleasedRow, trails: ReleasedRow) -> bool:
        """Whether two means are two standard deviations apart: closer ones are no evidence that
        would name anybody, and are not compared.
        """
        law = self.reader.noise.law
        middle = (leads.total + trails.total) / (leads.rounds + trails.rounds)
        spread = max(middle * (1.0 - middle), 0.0)
        apart = leads.total / leads.rounds - trails.total / trails.rounds
        variance = 0.0
        for row in (leads, trails):
            variance += spread / row.rounds + draws_variance(law, row.draws) / row.rounds**2
        return apart * apart > 4.0 * variance

    @staticmethod
    def _starts(arm: ArmHistory, row: ReleasedRow, law: AnswerLaw) -> bool:
        """Whether an arm's rows start with this one. Answers that forget may be left out before:
        the first blocks of a policy that doubles them are smaller than their noise.
        """
        before, draws = (0, ()) if arm.newest is None else (arm.newest.rounds, arm.newest.draws)
        own = draws_variance(law, row.draws)
        so_far = math.sqrt(draws_variance(law, draws) + own)
        large = row.rounds >= LARGE * math.sqrt(own) or before + row.rounds >= ENOUGH * so_far
        return large or not law.forgets

    def _keeps(self, last: ReleasedRow, row: ReleasedRow, law: AnswerLaw) -> bool:
        """Whether a row is kept after the last one: by the number of the answer alone where noise
        is drawn anew, for there the rows have to be settled beforehand.
        """
        if law.redraws:
            return row.release >= max(last.release + 1, math.ceil(self.growth * last.release))
        return row.rounds >= self.growth * last.rounds

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "first": self.first,
            "growth": self.growth,
            "arms": self.arms,
            "compared": [
                (*pair, each.evidence, each.rounds) for pair, each in self.compared.items()
            ],
            "within": self.within,
        }

    @classmethod
    def restored(cls, reader: MeanReader, saved: HistoryData) -> ReleaseHistory:
        """What `to_data` wrote, of answers that are read so."""
        compared = {pair[:2]: Compared(*pair[2:]) for pair in saved.compared}
        return cls(reader, saved.arms, saved.first, saved.growth, compared, saved.within)


class Interval(NamedTuple):
    """Of one arm's mean, in [0, 1]. changed: the intervals of different times had nothing in
    common, so that the mean has changed meanwhile (or the arm is one of the few that intervals
    miss); the newest alone is given.
    """

    low: float
    high: float
    changed: bool = False


def level(history: ReleaseHistory, arm: int, delta: float, thetas: int) -> float:
    """ln(1/share): an arm's share of the failure probability, for each theta on each side.

    The K arms at the start have delta/(K + 1) each, the a-th arm ever, added later, delta/(a(a +
    1)): together delta, whatever is added.
    """
    arms = history.first
    share = arms + 1 if arm < arms else (arm + 1) * (arm + 2)
    return math.log(2.0 * thetas * share / delta)


def counted_rows(history: ReleaseHistory, arm: ArmHistory) -> tuple[ReleasedRow, ...]:
    """The rows that make an arm's interval, oldest first."""
    law = history.reader.law
    newest = arm.newest
    if law is None or newest is None or not arm.kept:
        return ()
    if law.redraws or arm.kept[-1].release == newest.release:
        return arm.kept
    return (*arm.kept, newest)


def least_bounds(totals: Floats, rounds: Floats, noise: Floats, u: Floats, at: Floats) -> Floats:
    """The least of the bounds of all thetas, shape (rows,), within [0, 1]: the closed form
    (1 − exp(−(u + θS + ln M(θ))/n))/(1 − e^(−θ)).

    noise: ln M, shape (rows, thetas). u: shape (rows,). at: the thetas.
    """
    exponent = (u[:, None] + at * totals[:, None] + noise) / rounds[:, None]
    bounds = -np.expm1(-np.maximum(exponent, 0.0)) / -np.expm1(-at)
    return np.asarray(np.clip(bounds.min(axis=1), 0.0, 1.0))


def row_bounds(rows: tuple[ReleasedRow, ...], noise: NoiseMoments, u: Floats) -> Floats:
    """Low and high of each row alone, for the mean of what is summed: shape (rows, 2)."""
    totals = np.array([row.total for row in rows])
    rounds = np.array([row.rounds for row in rows], np.float64)
    moments = noise.of_each(row.draws for row in rows)
    high = least_bounds(totals, rounds, moments, u, noise.thetas)
    low = 1.0 - least_bounds(rounds - totals, rounds, moments, u, noise.thetas)
    return np.stack([low, high], axis=1)


def row_levels(rows: int, u: float, redraws: bool) -> Floats:
    """Where noise is drawn anew, the m-th row has 1/(m(m + 1)) of its arm's share."""
    m = np.arange(1.0, rows + 1.0)
    return u + (np.log(m * (m + 1.0)) if redraws else np.zeros(rows))


def interval(history: ReleaseHistory, arm: int, delta: float) -> Interval | None:
    """The interval of one arm; None where nothing was released."""
    if history.arms[arm].newest is None:
        return None
    rows = counted_rows(history, history.arms[arm])
    if not rows:
        return Interval(0.0, 1.0)
    noise = history.reader.noise
    u = level(history, arm, delta, len(noise.thetas))
    bounds = row_bounds(rows, noise, row_levels(len(rows), u, noise.law.redraws))
    low, high = float(bounds[:, 0].max()), float(bounds[:, 1].min())
    mean, changed = rows[-1].total / rows[-1].rounds, low > high
    # where means change the newest row's is about the mean of all its people
    if changed or history.within is not None or not low <= min(max(mean, 0.0), 1.0) <= high:
        low, high = map(float, bounds[-1])
    return Interval(*in_rewards(history, low, high), changed=changed)


def in_rewards(history: ReleaseHistory, low: float, high: float) -> tuple[float, float]:
    """Bounds on the mean of what is summed as bounds on the mean reward, rounding included."""
    (zero, one), rounding = history.reader.ends, history.reader.rounding
    wide = one - zero
    return (
        max(0.0, min(1.0, (low - zero) / wide) - rounding),
        min(1.0, max(0.0, (high - zero) / wide) + rounding),
    )


def released_mean(history: ReleaseHistory, row: ReleasedRow) -> float:
    """The mean of a row, held within [0, 1]."""
    zero, one = history.reader.ends
    return min(1.0, max(0.0, (row.total / row.rounds - zero) / (one - zero)))


POINTS, MOST_POINTS, REACH = 801, 4096, 9.0
"""Points of an arm's own grid and of the common one; standard deviations that the former covers."""


def chances_to_be_best(
    history: ReleaseHistory,
    rows: dict[int, ReleasedRow],
    law: AnswerLaw,
    unseen: Sequence[int] = (),
) -> dict[int, float]:
    """For each of these arms, the probability that its mean is the largest among theirs: by the
    posteriors of independent means that are uniform on [0, 1] beforehand, noise taken as normal.

    unseen: arms of which nothing was released. The model's prior is all that is known of them.
    """
    if not rows:
        return {}
    posteriors = [posterior(history, row, draws_variance(law, row.draws)) for row in rows.values()]
    prior = np.linspace(0.0, 1.0, POINTS)  # a mean is no larger with just this probability
    posteriors += [(prior, prior)] * len(unseen)
    common = np.unique(np.concatenate([grid[:: (POINTS - 1) // 80] for grid, _ in posteriors]))
    if len(common) > MOST_POINTS:
        common = common[np.linspace(0, len(common) - 1, MOST_POINTS).astype(np.intp)]
    below = np.stack([np.interp(common, *each, left=0.0, right=1.0) for each in posteriors])
    middle = np.maximum((below[:, 1:] + below[:, :-1]) / 2.0, 1e-300)
    logs = np.log(middle)
    others = np.exp(logs.sum(axis=0) - logs)
    chance = (np.diff(below, axis=1) * others).sum(axis=1)
    return dict(zip([*rows, *unseen], (chance / chance.sum()).tolist(), strict=True))


def posterior(history: ReleaseHistory, row: ReleasedRow, variance: float) -> tuple[Floats, Floats]:
    """Points of [0, 1] and the posterior probability that the mean is no larger.

    variance: of the noise inside the row's total.
    """
    zero, one = history.reader.ends
    low, high = plausible(row, variance)
    ends = [(end - zero) / (one - zero) for end in (low, high)]
    low, high = max(0.0, ends[0]), min(1.0, ends[1])
    if low >= high:  # noise put the total far outside
        low, high = 0.0, 1.0
    means = np.linspace(low, high, POINTS)
    summed = zero + means * (one - zero)
    spread = row.rounds * summed * (1.0 - summed) + variance + 1e-9
    score = -0.5 * ((row.total - row.rounds * summed) ** 2 / spread + np.log(spread))
    density = np.exp(score - score.max())
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2.0)])
    return means, mass / mass[-1]


def plausible(row: ReleasedRow, variance: float) -> tuple[float, float]:
    """The means of what is summed within `REACH` standard deviations of the total: the roots of
    (S − nx)² = c²(nx(1 − x) + v).
    """
    n, total, c2 = float(row.rounds), row.total, REACH * REACH
    a, half = n * n + c2 * n, total * n + c2 * n / 2.0
    inside = half * half - a * (total * total - c2 * variance)
    if inside <= 0.0:
        return 0.0, 1.0
    root = inside**0.5
    return (half - root) / a, (half + root) / a


MOST_PEOPLE = 2**50
"""Nobody has more; arms that take more to tell apart count as alike."""


def least_that(holds: Callable[[int], bool], most: int, parts: int) -> int | None:
    """Return about the least number for which something holds that goes on to hold; None if it is
    larger than `most`. It is doubled from 1 on, then halved up to one of so many parts of it.
    """
    high = 1
    while not holds(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while high - low > max(1, high // parts):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def best_compared(history: ReleaseHistory, among: Sequence[int], delta: float) -> int | None:
    """The arm that is known to be above all others among these; None if there is none, or two."""

    def is_above(arm: int, least: float) -> bool:
        return all(history.evidence(arm, other) >= least for other in among if other != arm)

    best = [
        arm
        for arm in (among if len(among) > 1 else ())
        if is_above(arm, required(arm, history.first, delta))
        and is_above(arm, required_among(history, arm, among, delta))
    ]
    return best[0] if len(best) == 1 else None


def required_among(history: ReleaseHistory, arm: int, among: Iterable[int], delta: float) -> float:
    """The logarithm of the evidence with which an arm has to be above each other one of these, to
    be named among them.
    """
    others = set(range(len(history.arms))).difference(among)
    known = sorted(history.evidence(arm, other) for other in others)
    out = 0  # of the others, those that it is not above by as much
    while out < len(known) and known[out] < required(arm, history.first, delta, out):
        out += 1
    return required(arm, history.first, delta, out)


def best_apart(intervals: Mapping[int, Interval]) -> int | None:
    """The arm whose interval lies above all others'; None if there is none. It is the best with the
    intervals' confidence.
    """
    if len(intervals) < 2:
        return None
    leader = max(intervals, key=lambda arm: intervals[arm].low)
    others = (interval.high for arm, interval in intervals.items() if arm != leader)
    return leader if intervals[leader].low > max(others) else None


def more_people(
    history: ReleaseHistory,
    rows: Mapping[int, ReleasedRow],
    intervals: Mapping[int, Interval],
    delta: float,
) -> int | None:
    """About how many more people it takes to name the best arm, if the means are as released and
    they are shared equally among the arms in question; None if two leading means are alike.

    A forecast, no promise: two digits of it are given.
    """
    if len(rows) < 2:
        return None
    means = {arm: released_mean(history, row) for arm, row in rows.items()}
    leader = max(means, key=lambda arm: means[arm])
    least = intervals[leader].low
    rivals = [arm for arm in rows if arm != leader and intervals[arm].high >= least]
    if not rivals or means[leader] <= max(means[arm] for arm in rivals):
        return None
    group = [leader, *rivals]
    noise = history.reader.noise
    redraws, thetas = noise.law.redraws, len(noise.thetas)
    levels = np.array(
        [
            row_levels(
                len(history.arms[arm].kept) + 1, level(history, arm, delta, thetas), redraws
            )[-1]
            for arm in group
        ]
    )

    def apart(each: int) -> bool:
        grown = tuple(grown_row(history, rows[arm], each) for arm in group)
        bounds = row_bounds(grown, noise, levels)
        return bool(bounds[0, 0] > bounds[1:, 1].max())

    each = least_that(apart, MOST_PEOPLE, 64)
    return None if each is None else two_digits(each * len(group))


LEAST_SHARE = 0.05
"""The least share that is told of."""


class Sight(NamedTuple):
    """How many more people it takes to name the best arm. None: it is not in sight.

    Args:
        low, high: between these in eight of ten cases.
        middle: within a factor of two of it in as many cases as possible.
    """

    low: int | None
    middle: int | None
    high: int | None

    @property
    def rounded(self) -> Sight:
        """Two digits of each; the low end is rounded down, the others up.

        >>> tuple(Sight(128, 128, 1234).rounded)
        (120, 130, 1300)
        """
        ends = zip(self, (False, True, True), strict=True)
        return Sight(*(None if each is None else two_digits(each, up=up) for each, up in ends))

    def after(self, people: int) -> Sight:
        """The same once so many of these people have come, and no name: one more comes at least."""
        return Sight(*(None if each is None else max(1, each - people) for each in self))

    @property
    def words(self) -> str:
        """How many rounds, in words.

        >>> Sight(900, 1700, 3400).words, Sight(900, None, None).words
        ('900 to 3,400 more rounds in 8 of 10 cases', 'at least 900 more rounds in 8 of 10 cases')
        """
        if self.high is None:
            return f"at least {self.low or 0:,} more rounds in 8 of 10 cases"
        return f"{self.low or 0:,} to {self.high:,} more rounds in 8 of 10 cases"


class Allocation(NamedTuple):
    """How further people are allocated.

    Args:
        least: the share that each arm has at least; None: one of them has none.
        ahead: returns how many more people it takes to name the best arm, of the probability of a
            wrong name and of a least share of each arm, or None as they are; None if that cannot be
            foreseen.
        named: returns, of the same probability, whether the policy names the best arm itself, no
            more often wrongly; and the arm, once it has named one.
    """

    least: float | None
    ahead: Callable[[float, float | None], Sight | None]
    named: Callable[[float], tuple[bool, int | None]]


MOST_PERIODS = 10_000
"""Further periods that are foreseen."""


def people_in_periods(
    history: ReleaseHistory, rows: Mapping[int, ReleasedRow], delta: float
) -> int | None:
    """About how many more people it takes to name the best arm within periods, if further periods
    are like the last one and differences as released; None if that is not in sight. A forecast, no
    promise: two digits of it are given.
    """
    within = history.within
    assert within is not None
    means = {arm: within.recent[arm][0] / (within.recent[arm][1] or 1.0) for arm in rows}
    if len(rows) < 2 or any(
        share <= 0.0 or not people for share, people in map(within.last.__getitem__, rows)
    ):
        return None
    people = sum(within.last[arm][1] for arm in rows)
    leader, most = max(rows, key=lambda arm: means[arm]), 0
    enough = required_among(history, leader, rows, delta)
    for arm in rows:
        if arm == leader:
            continue
        shares = within.last[leader][0], within.last[arm][0]
        own, other = (
            ReleasedRow(
                1,
                min(1.0, max(0.0, means[each])) * share * people,
                round(share * people),
                ((1, 1),),
            )
            for each, share in zip((leader, arm), shares, strict=True)
        )
        every = [share for share, _ in within.last]
        grown = history.reader.pairs.grown(own, other, shares, within.centre(leader, arm, every))
        now = np.array(dict(within.bets).get((leader, arm), (0.0,) * len(BETS)))
        periods = least_that(partial(is_named, now, grown, enough), MOST_PERIODS, MOST_PERIODS)
        if periods is None:
            return None
        most = max(most, periods)
    return two_digits(most * people)


def is_named(now: Floats, grown: Floats, enough: float, periods: int) -> bool:
    """Return whether bets are enough after so many more periods."""
    return mean_bet((now + periods * grown).tolist()) >= enough


def grown_row(history: ReleaseHistory, row: ReleasedRow, people: int) -> ReleasedRow:
    """The row after so many more people, at the same mean. Reports bring a draw each; a batch that
    adds a half brings one, as a rule.
    """
    rounds = row.rounds + people
    draws = row.draws
    if history.reader.reports:
        draws = ((1, rounds),)
    elif draws and not (history.reader.law and history.reader.law.redraws):
        (kind, count), *rest = draws
        extra = math.ceil(math.log(rounds / row.rounds) / math.log(1.5))
        draws = ((kind, count + extra), *rest)
    return ReleasedRow(row.release, row.total * rounds / row.rounds, rounds, draws)


def two_digits(number: int, *, up: bool = True) -> int:
    """Rounded up, or down.

    >>> two_digits(12_345), two_digits(7), two_digits(12_345, up=False)
    (13000, 7, 12000)
    """
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return (-(-number // unit) if up else number // unit) * unit


ASSUMED = "This assumes that the mean of each arm stays the same."

COMPARED = "Arms were compared within periods: no change that all arms share favours one of them."

OVER_TIME = (
    "A mean and its interval are about all people of the arm so far, whenever they came. Do not "
    "compare arms by them: more people of one arm may have come when rates were high. A name comes "
    "from comparing arms within each period."
)

METHOD = (
    "With this confidence the intervals of all arms hold together, at all times: look as often as "
    "you like."
)

MODEL = " The chance to be best comes from a model."

NO_MEANS = (
    "No means can be estimated from what was released: this policy's mechanism states no `law` of "
    "its noise."
)

TOGETHER = "Arms are played together, so none of them is named the best."

BY_MEANS = (
    " Once every arm has a mean, policy.problem.best(means), of means in [0, 1], is the super arm "
    "that is best by them."
)


class Belief(NamedTuple):
    """One arm. None where nothing was released yet.

    people: how many rewards the released mean covers. low, high: the interval. chance_best: by a
        model in which, beforehand, each mean lies anywhere between the ends of its range alike,
        whatever the others are. Among the arms that are compared; one of which nothing was released
        takes its share. Where many arms are nearly alike it is too small for the best of them,
        because each of the others counts as one more that may be better. None with periods, where
        arms are seen at different times, and of harm.
    """

    label: str
    people: int
    mean: float | None
    low: float | None
    high: float | None
    chance_best: float | None


@final
@dataclass(frozen=True)
class Beliefs(Rows[Belief]):
    """Estimates of the arms' means, a row for each arm in their order; iterate over it.

    best: the label of the arm that is named the best with this confidence; None: not yet.
    more: about how many more rounds that takes, as people are allocated: more in half of the cases.
        None where that is not in sight. With periods, counted from the end of the last one.
    sight: the same as a range that holds in eight of ten cases. None where it cannot be foreseen,
        or nothing is in sight.
    at_share: the same with min_share=.05, where the range has no end otherwise.
    changed: labels of arms whose mean has changed: intervals of different times have nothing in
        common, or later releases are known to be above or below earlier ones. Where all means stay,
        the latter names an arm with probability 1 − confidence at most. See `Session.restart_arm`.
    caution: where the declared range clips rewards, outcomes of one person may count repeatedly, or
        releases estimate no means: what that does to means and intervals.
    together: whether arms are played together, as super arms: then none of them is the best.
    is_over: whether no more people are learned from: the session was closed, or a campaign's
        database was restored (see `Session.alarms`).
    in_periods: whether arms are compared within periods. Then an arm's interval is about the mean
        of all its people at their times, and a change of rates that is common to all arms speaks
        for none.
    limit: of a guardrail, where the means are those of harm; None: they are those of rewards.
    out_of_play: labels of paused and retired arms, which are not compared.
    """

    rows: tuple[Belief, ...]
    confidence: float
    best: str | None
    more: int | None
    changed: tuple[str, ...] = ()
    caution: str | None = None
    together: bool = False
    at_share: Sight | None = None
    sight: Sight | None = None
    is_over: bool = False
    in_periods: bool = False
    limit: float | None = None
    out_of_play: tuple[str, ...] = ()

    kind: ClassVar[Any] = Belief

    @property
    def advice(self) -> str:
        """What these beliefs allow to say of the best arm; of harm, which arms do more than the
        limit.
        """
        at = f"at {self.confidence:.4g}".replace("at 0.", "at .")
        if self.limit is not None:
            above = [row.label for row in self.rows if row.low is not None and row.low > self.limit]
            said = f"{self._names(above) or 'No arm'} {'are' if len(above) > 1 else 'is'}"
            return f"{said} known {at} confidence to be above the limit of {self.limit:g}."
        if self.together:
            return TOGETHER + BY_MEANS
        if self.best is not None:
            said = COMPARED if self.in_periods else ASSUMED
            what = "The best of the arms in play" if self.out_of_play else "The best arm"
            return f"{what} is named {at} confidence: {self.best}. {said}"
        if self.is_over:
            return f"No arm is named the best {at} confidence."
        text = f"No arm is named the best {at} confidence yet."
        if self.sight is not None:
            text = f"{text} As people are allocated, it takes {self.sight.words}."
        elif self.more is not None:
            return (
                f"{text[:-1]}; about {self.more:,} more rounds would take that, if means stay as "
                "released."
            )
        if self.at_share is not None:
            with_share = (
                f"In a trial with min_share={LEAST_SHARE:g}, which has to be given at its start, "
                f"it takes {self.at_share.words}."
            )
            if self.sight is None:
                text = f"{text[:-1]}, and none is in sight as people are allocated."
            text = f"{text} {with_share}"
        return text

    def __str__(self) -> str:
        has_chances = not (self.together or self.in_periods or self.limit is not None)
        notes = [self.advice, METHOD + MODEL if has_chances else METHOD]
        if self.in_periods:
            notes.append(OVER_TIME)
        if self.changed:
            notes.append(f"The mean of {self._names(self.changed)} has changed meanwhile.")
        if self.caution:
            notes.append(self.caution)
        columns = 6 if has_chances else 5
        cells = [("arm", "rounds", "mean", "low", "high", "best?")[:columns]]
        for row in self.rows:
            chance = "" if row.chance_best is None else f"{row.chance_best:.2f}"
            numbers = map(cell_text, row[2:5])
            cells.append((row.label, f"{row.people:,}", *numbers, chance)[:columns])
        return "\n".join((aligned(cells, 0), *notes))

    __repr__ = __str__

    def _notes(self) -> tuple[str, ...]:
        return (self.advice,)

    def _names(self, labels: Sequence[str]) -> str:
        unnamed = {row.label for at, row in enumerate(self.rows) if row.label == str(at)}
        return ", ".join(f"arm {each}" if each in unnamed else each for each in labels)


def beliefs(
    history: ReleaseHistory,
    confidence: float = 0.95,
    *,
    ruler: Range | None = None,
    among: Sequence[int] | None = None,
    together: bool = False,
    allocation: Allocation | None = None,
) -> Beliefs:
    """What is believed of every arm after these releases.

    Args:
        confidence: that all intervals of all arms hold, at all times together.
        ruler: the user's units, for means and intervals; by default [0, 1].
        among: arms that are compared, for the chance to be best and the advice; by default all.
        together: whether arms are played together, as super arms: then none is compared.
        allocation: of further people; without it their number is not foreseen.

    Raises:
        ValueError: a confidence outside (0, 1), or an arm that is none.
    """
    confidence = checked_confidence(confidence)
    delta, caution = 1.0 - confidence, None if ruler is None else ruler.caution
    if together:
        among = ()
    compared = range(len(history.arms)) if among is None else among
    law = history.reader.law
    if law is None:
        rows = tuple(Belief(arm.label, 0, None, None, None, None) for arm in history.arms)
        return Beliefs(rows, confidence, None, None, caution=NO_MEANS, together=together)
    known = {
        arm: each
        for arm in range(len(history.arms))
        if (each := interval(history, arm, delta)) is not None
    }
    newest = {arm: row for arm in compared if (row := history.arms[arm].newest) is not None}
    unseen = [arm for arm in compared if arm not in newest]
    chances = {} if history.within else chances_to_be_best(history, newest, law, unseen)
    rows = tuple(
        belief(history, arm, known.get(arm), chances.get(arm), ruler or Range())
        for arm in range(len(history.arms))
    )
    intervals = {arm: known[arm] for arm in newest}
    changed = changed_of(history, known if together else intervals, delta)
    in_periods = history.within is not None
    found = Beliefs(rows, confidence, None, None, changed, caution, together, in_periods=in_periods)
    if not together:
        out = (arm.label for place, arm in enumerate(history.arms) if place not in compared)
        found = replace(found, out_of_play=tuple(out))
    # where nothing was released of an arm it may be the best: nobody is named, or knows when
    if unseen or together:
        return found
    return advised(history, found, intervals, newest, allocation)


def advised(
    history: ReleaseHistory,
    found: Beliefs,
    intervals: dict[int, Interval],
    newest: dict[int, ReleasedRow],
    allocation: Allocation | None,
) -> Beliefs:
    """The rows with what they allow to say."""
    delta, more, sight, at_share = 1.0 - found.confidence, None, None, None
    if not history.reader.alone:
        best = best_apart(intervals)
        if best is None:
            more = more_people(history, newest, intervals, delta)
    else:
        is_own, best = (False, None) if allocation is None else allocation.named(delta)
        if not is_own:
            best = best_compared(history, tuple(newest), delta)
        best = None if found.changed and not found.in_periods else best
        if best is None and found.in_periods:
            more = people_in_periods(history, newest, delta)
        elif best is None and not found.changed:
            more, sight, at_share = more_to_come(len(newest), delta, allocation)
    named = None if best is None else history.arms[best].label
    return replace(found, best=named, more=more, at_share=at_share, sight=sight)


def more_to_come(
    arms: int, delta: float, allocation: Allocation | None
) -> tuple[int | None, Sight | None, Sight | None]:
    """How many more people a name takes: about, as a range, and as a range with least shares where
    it may not be in sight otherwise.
    """
    if allocation is None or (sight := allocation.ahead(delta, None)) is None:
        return None, None, None
    at_share, people = None, sight.rounded
    if sight.high is None and allocation.least is None and LEAST_SHARE * arms <= 1.0:
        other = allocation.ahead(delta, LEAST_SHARE)
        at_share = None if other is None or other.low is None else other.rounded
    return people.middle, people if people.low is not None else None, at_share


def changed_of(
    history: ReleaseHistory, intervals: dict[int, Interval], delta: float
) -> tuple[str, ...]:
    """Labels of the arms whose mean has changed: their intervals of different times have nothing in
    common, or what was released later is known to be above, or below, what was before.
    """
    return tuple(
        history.arms[arm].label
        for arm, each in intervals.items()
        if each.changed or mean_changed(history, arm, delta)
    )


def mean_changed(history: ReleaseHistory, arm: int, delta: float) -> bool:
    """Whether an arm's mean is known to have changed: wrong for any arm at any time with
    probability `delta` at most.

    The rewards up to a kept row are compared with those after it, as those of two arms are
    (proofs/evidence.md). Rows at which that is done have twice the rewards of the one before.
    """
    if not history.reader.alone:
        return False
    rows, last, number = counted_rows(history, history.arms[arm]), 0, 0
    for row in rows[:-1]:
        if row.rounds < 2 * last:
            continue
        last, number = row.rounds, number + 1
        later = combined(rows[-1], row, -1)
        least = required(arm, history.first, delta) + math.log(2.0 * number * (number + 1.0))
        if later.rounds > 0 and history._may_be_apart(row, later):
            pairs = history.reader.pairs
            if max(pairs.above(row, later), pairs.above(later, row)) >= least:
                return True
    return False


def belief(
    history: ReleaseHistory, arm: int, estimate: Interval | None, chance: float | None, ruler: Range
) -> Belief:
    """An arm's row, in the user's units."""
    label, row = history.arms[arm].label, history.arms[arm].newest
    if row is None or estimate is None:
        return Belief(label, 0, None, None, None, None)
    mean = released_mean(history, row)
    # where noise is drawn anew no interval is of the newest row, whose mean may lie outside
    ends = min(estimate.low, mean), max(estimate.high, mean)
    low, high = sorted(map(ruler.from_unit, ends))
    return Belief(label, row.rounds, ruler.from_unit(mean), low, high, chance)


def checked_confidence(value: object) -> float:
    """A confidence, as a plain number."""
    return number_within(value, "confidence", 0, 1, "()")


class SideMean(NamedTuple):
    """The mean of one side, in the user's units. None where nothing was released yet.

    people: how many rewards the released mean covers. low, high: the interval.
    """

    side: str
    people: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None


AT_THE_END = (
    "With periods the sides are compared once the campaign is closed and its last answers are "
    "read: until then the newest people of one side are of another time than those of the other."
)


class Uplift(NamedTuple):
    """A policy's side, all arms together, against holdout people.

    mean, low, high: of the policy's mean less the holdout people's, in the user's units; None until
        something was released of both, and with periods until the campaign is closed and its last
        answers are read. All three intervals hold at all times at once with this confidence.
    caution: see `Beliefs`.

    Each side's mean is of its people up to its newest release, which comes sooner on one side than
    on the other. Its interval holds that mean though rates move, save for policies that play
    several arms at once or draw their noise anew (`DPUCB`, `HybridUCB`): theirs suppose that each
    arm's mean stays. Where rates move, part of the difference may be one of times: make such a
    campaign with `period=`, or read this once it is closed.
    """

    confidence: float
    policy: SideMean
    holdout: SideMean
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    caution: str | None = None

    def __str__(self) -> str:
        sides = map(words_of_side, (self.policy, self.holdout))
        return "\n".join(filter(None, (*sides, self.advice, self.caution)))

    @property
    def advice(self) -> str:
        """What the difference allows to say."""
        at = f"at {self.confidence:.4g}".replace("at 0.", "at .")
        if self.mean is None or self.low is None or self.high is None:
            waits = None not in (self.policy.mean, self.holdout.mean)
            return AT_THE_END if waits else "Nothing was released of both sides yet."
        difference = f"{self.mean:+.4g}, from {self.low:+.4g} to {self.high:+.4g}"
        if self.low <= 0 <= self.high:
            return f"Policy less holdout: {difference}; no difference is known {at} confidence yet."
        more = "higher" if self.low > 0 else "lower"
        return f"Policy less holdout: {difference}; the policy's mean is {more} {at} confidence."


def uplift_of(policy: Beliefs, holdout: Beliefs, confidence: float) -> Uplift:
    """The two sides, and their difference.

    policy, holdout: one row each, of all arms together (see `together`), at half of the failure
        probability; over once its last release is made.
    """
    one, other = (
        SideMean(name, *side.rows[0][1:5])
        for name, side in (("policy", policy), ("holdout", holdout))
    )
    if policy.in_periods and not (policy.is_over and holdout.is_over):
        return Uplift(confidence, one, other, caution=policy.caution)
    mean, low, high = (
        None if left is None or right is None else left - right
        for left, right in ((one.mean, other.mean), (one.low, other.high), (one.high, other.low))
    )
    return Uplift(confidence, one, other, mean, low, high, policy.caution)


def together(history: ReleaseHistory, confidence: float, ruler: Range | None) -> Belief:
    """One row of all people of whom something was released, whichever arm they got and whenever;
    the intervals of all times hold together with this confidence.

    Where each draw is one arm's, the arms' sums are added up and have one interval
    (proofs/beliefs.md); elsewhere it is that of the arms' intervals, by their people.
    """
    arms = {arm: row for arm, each in enumerate(history.arms) if (row := each.newest) is not None}
    if not arms:
        return Belief("", 0, None, None, None, None)
    whole, delta, noise = reduce(plus, arms.values()), 1.0 - confidence, history.reader.noise
    counted = [row for arm, row in arms.items() if history.arms[arm].kept]
    if history.reader.alone and counted:
        rows, u = (reduce(plus, counted),), np.array([math.log(2.0 * len(noise.thetas) / delta)])
        low, high = in_rewards(history, *map(float, row_bounds(rows, noise, u)[0]))
        ends = [(rows[0].rounds, low, high), (whole.rounds - rows[0].rounds, 0.0, 1.0)]
    else:
        found = ((row, interval(history, arm, delta)) for arm, row in arms.items())
        ends = [(row.rounds, each.low, each.high) for row, each in found if each is not None]
    low, high = (math.fsum(each[0] * each[end] for each in ends) / whole.rounds for end in (1, 2))
    joined = replace(history, arms=(ArmHistory("", newest=whole),))
    return belief(joined, 0, Interval(low, high), None, ruler or Range())


def words_of_side(row: SideMean) -> str:
    if row.mean is None:
        return f"{row.side}: nothing was released yet"
    return (
        f"{row.side}: {row.mean:.4g}, from {row.low:.4g} to {row.high:.4g} ({row.people:,} rounds)"
    )
