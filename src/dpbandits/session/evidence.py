"""Evidence that the mean of one arm is above that of another, from released values.

For each arm a mixture of martingales in which the exact law of its noise stands; the product of two
of them, at its worst common mean, bounds the probability of a wrong comparison at all times at once
(proofs/evidence.md). Within periods, in which arms are drawn with shares that stand still, bets
that one arm is better than another one: each is a martingale whatever common rates do
(proofs/periods.md). All of it is post-processing of released values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, final

import numpy as np
from msgspec import Struct

from dpbandits.core.inputs import Count, Finite, Floats, Number
from dpbandits.mechanisms.base import AnswerLaw, NoiseDraws
from dpbandits.policies.formulas.joint import log_moment

STEEPEST = 8.0
"""No λ beyond is of use, for rewards in [0, 1]."""

SPREAD, WINDOW = np.linspace(0.0, 1.0, 65), np.linspace(0.0, 1.0, 129)
"""Means at which evidence is computed: over [0, 1], and from the one released mean to the other."""

GROWS = 1.02
"""A pair is compared anew when the arm that trails has so many times the rewards."""

AT_START, ADDED = 0.9, 0.05
"""Shares of the failure probability: of all arms that were there at the start, and of all that are
added. The rest is for names while arms are out of play that the named one is not known to be above.
"""


class ReleasedRow(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """All that was released of an arm up to one of its answers.

    total: the noised sum of its rewards, in [0, 1] each, or of the reports about them. rounds: how
        many. draws: the noise inside (see `NoisedSum`).
    """

    release: Number
    total: Finite
    rounds: Number
    draws: tuple[tuple[Number, Count], ...]


class Mixture(NamedTuple):
    """λ as shares of the steepest one, shape (k,), and the logarithms of their weights. idle: of
    the weight on λ = 0; minus infinity without one.
    """

    shares: Floats
    weights: Floats
    idle: float


def mixture(count: int, offset: float, power: float, idle: float) -> Mixture:
    """Halves of one half, weighted as (i + offset)^−power."""
    weights = (np.arange(count) + offset) ** -power
    weights *= (1.0 - idle) / weights.sum()
    return Mixture(
        0.5 ** np.arange(1.0, count + 1.0),
        np.log(weights),
        math.log(idle) if idle else -math.inf,
    )


LEADING, TRAILING = mixture(12, 6.0, 0.7, 0.4), mixture(9, 0.5, 2.0, 0.0)
"""Of the arm that is said to be better, which most often has many more people, and of the other."""


BETS = 0.5 ** np.arange(8.0)
"""Bets that one arm is better than another one, as shares of the largest that may be."""


def largest_stake(share: float, centre: float, steepest: float) -> float:
    """Return the largest stake on an arm at which a reward of 1 moves the bet's logarithm by at
    most `steepest` more than a reward of 0.

    Args:
        share: the probability of the arm. centre: from which its rewards are counted.
    """
    most = math.expm1(steepest)
    return share * most / (1.0 + most * centre)


def mean_bet(bets: Sequence[float]) -> float:
    """Return the logarithm of the mean of bets that are given as logarithms."""
    most = max(bets)
    return most + math.log(math.fsum(math.exp(each - most) for each in bets) / len(bets))


@final
class Compared:
    """How far one arm is known to be above another. It is worked out once somebody asks for it.

    Args:
        known: the logarithm of the most evidence so far, in natural units.
        rounds: rewards of the arm that trails when they were compared last.
        waiting: return the logarithms of further evidence.
    """

    __slots__ = ("_known", "_waiting", "rounds")

    def __init__(
        self, known: float, rounds: int, waiting: tuple[Callable[[], float], ...] = ()
    ) -> None:
        self._known, self.rounds, self._waiting = known, rounds, waiting

    def after(self, evidence: Callable[[], float], rounds: int) -> Compared:
        """Return this after one more comparison."""
        waiting = self._waiting  # before what is known, which somebody else may add them to
        return Compared(self._known, rounds, (*waiting, evidence))

    @property
    def evidence(self) -> float:
        """The logarithm of the most evidence so far."""
        waiting = self._waiting  # somebody else may look at the same time
        if waiting:
            self._known, self._waiting = max(self._known, *(each() for each in waiting)), ()
        return self._known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compared) and (
            (self.evidence, self.rounds) == (other.evidence, other.rounds)
        )


UNCOMPARED = Compared(-math.inf, 0)

Comparisons = Mapping[tuple[int, int], Compared]
"""By (arm that leads, arm that trails)."""


WIDER = 1.0 + 2.0**-40
"""Scales of noise are rounded up where they are drawn, by less than this."""

LARGEST_THETA = 16.0
"""No theta beyond is of use: e^−16 is nothing beside a mean."""

HALVINGS, NEAR = 2.0 ** -np.arange(16.0), 1.0 - 2.0 ** -np.arange(2.0, 8.0)


def thetas(law: AnswerLaw) -> Floats:
    """The 16 fixed values at which bounds are computed, shape (16,): by halves from the largest of
    use; where the noise's moments end before that, by halves of that end, and six close to it.
    """
    if law.family in ("laplace", "joint"):
        if law.cost <= 2.0:
            return law.cost * np.concatenate([HALVINGS[1:11], NEAR])
        if law.cost < 2.0 * LARGEST_THETA:
            return law.cost * HALVINGS / 2.0
    return LARGEST_THETA * HALVINGS


def draw_moment(law: AnswerLaw, kind: int, theta: float) -> float:
    """ln E e^(theta z) of one draw, infinite from where it does not exist."""
    if law.family == "gaussian":
        return theta * theta * kind * WIDER / (4.0 * law.cost)
    wide = kind if law.family == "laplace" else 1
    share = theta * wide * WIDER / law.cost
    if share >= 1.0:
        return math.inf
    return log_moment(1 if law.family == "laplace" else kind, share)


class NoiseMoments:
    """The moments of all draws of one law, by default at its 16 thetas; each kind's are computed
    once.
    """

    def __init__(self, law: AnswerLaw, at: Floats | None = None) -> None:
        self.law, self.thetas = law, thetas(law) if at is None else at
        self._known: dict[int, Floats] = {}

    def of(self, draws: NoiseDraws) -> Floats:
        """ln E e^(theta z) of all these draws together, a number for each theta."""
        total = np.zeros(len(self.thetas))
        for kind, count in draws:
            if count > 0:
                total += count * self._kind(kind)
        return total

    def of_each(self, several: Iterable[NoiseDraws]) -> Floats:
        """The same, a row for each of one or more."""
        return np.stack([self.of(draws) for draws in several])

    def _kind(self, kind: int) -> Floats:
        moments = self._known.get(kind)
        if moments is None:
            each = [draw_moment(self.law, kind, float(theta)) for theta in self.thetas]
            moments = self._known[kind] = np.array(each)
        return moments


@final
class PairEvidence:
    """Compares arms whose released sums have noise of one law.

    Args:
        law: of the noise.
        rounding: how far the mean of what is summed may be from the true one.
    """

    def __init__(self, law: AnswerLaw, rounding: float) -> None:
        noisy = law.family in ("laplace", "joint")
        self.steepest = min(0.97 * law.cost, STEEPEST) if noisy else STEEPEST
        self.law, self.rounding = law, rounding
        # by side: λ, and e^λ − 1
        at = {True: self.steepest * LEADING.shares, False: -self.steepest * TRAILING.shares}
        self._at = {leads: (each, np.expm1(each)) for leads, each in at.items()}
        self._noise = {leads: NoiseMoments(law, np.abs(each)) for leads, each in at.items()}

    def above(self, leads: ReleasedRow, trails: ReleasedRow) -> float:
        """Return the logarithm of the evidence that the mean of `leads` is the larger one.

        The leading arm's evidence falls with the mean, the trailing arm's rises. So the values at
        two neighbouring means bound the product between them from below.
        """
        low, high = sorted(min(1.0, max(0.0, row.total / row.rounds)) for row in (trails, leads))
        means = np.sort(np.concatenate([SPREAD, low + (high - low) * WINDOW]))
        over = self._evidence(leads, np.minimum(1.0, means[1:] + self.rounding), leads=True)
        under = self._evidence(trails, np.maximum(0.0, means[:-1] - self.rounding), leads=False)
        return float((over + under).min())

    def grown(
        self,
        leads: ReleasedRow,
        trails: ReleasedRow,
        shares: tuple[float, float],
        centre: float,
    ) -> Floats:
        """Return by how much a period moves the logarithm of each bet that `leads` is better than
        `trails`, shape of `BETS`. At no time has the bet more than its mean before, unless `leads`
        is better then.

        Args:
            leads, trails: what was released of the two arms in the period.
            shares: the probabilities with which the two arms were drawn in it.
            centre: from which rewards are counted: any number that was settled beforehand; the bets
                vary least where it is near both means.
        """
        centre = min(max(centre, self.rounding), 1.0 - self.rounding)
        above, below = centre + self.rounding, centre - self.rounding
        stakes = BETS * min(
            largest_stake(shares[0], above, self.steepest),
            largest_stake(shares[1], 1.0 - below, self.steepest),
        )
        found = np.zeros(len(stakes))
        for row, share, at, sign in (
            (leads, shares[0], above, 1.0),
            (trails, shares[1], below, -1.0),
        ):
            one = np.log1p(sign * stakes * (1.0 - at) / share)
            zero = np.log1p(-sign * stakes * at / share)
            found += (one - zero) * row.total + zero * row.rounds
            found -= NoiseMoments(self.law, np.abs(one - zero)).of(row.draws)
        return found

    def _evidence(self, row: ReleasedRow, means: Floats, *, leads: bool) -> Floats:
        """Return ln E of one arm at each of these means, shape of `means`."""
        of, (at, growth) = LEADING if leads else TRAILING, self._at[leads]
        slope = at * row.total + of.weights - self._noise[leads].of(row.draws)
        each = slope[:, None] - row.rounds * np.log(1.0 + growth[:, None] * means)
        most = np.maximum(each.max(axis=0), -1e300)  # all may be infinite: no moment exists
        with np.errstate(divide="ignore"):
            evidence = most + np.log(np.exp(each - most).sum(axis=0))
        return np.asarray(np.logaddexp(evidence, of.idle))


def required(arm: int, first: int, delta: float, out: int = 0) -> float:
    """Return the logarithm of the evidence with which an arm is above another one, so that all
    wrong names together have the probability `delta`.

    Args:
        arm: the arm that is named.
        first: arms at the start; the others were added.
        out: arms out of play that it is not known to be above. They may have been taken out because
            they did well, so each of them asks for more.
    """
    share, later = AT_START / first, arm - first + 1
    if later > 0:  # which arm is added may be chosen by what was released of those before it
        share = ADDED / (later * (later + 1) * (arm + 1))
    if out:
        share *= (1.0 / (AT_START + ADDED) - 1.0) / (out * (out + 1))
    return -math.log(share * delta)
