"""Exact laws: of a local report that is made with coins alone, and of a noisy maximum.

A coin is one of 2⁵³ equally likely numbers. Where the report, or what later coins make of it,
differs between two probes, the switching point between them is found to the last bit. What happens
only in a window narrower than 1/128 that no probe hits is not seen; windows at either end of a
coin, however narrow, are.
"""

import math
import random
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import cycle, pairwise, permutations
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.core.errors import NotSteps
from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import NoiseKind, printed
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.noise.protocol import Relay, Selection

ReportLaw = dict[int, Fraction]
ReportFunction = Callable[[Any], int]
"""What a randomizer makes of one reward and a source of coins."""

FACES = 2**53
DEEPEST = 4
"""Coins thrown for one report, at most."""

ENDLESS = 1000
"""Coins or draws of noise after which a loop that waits for a lucky one is given up."""

SWITCHES = 16
"""Switching points of one coin, at most."""

PROBES = sorted(
    {0, FACES - 1}
    | {2**k for k in range(53)}
    | {FACES - 2**k for k in range(53)}
    | {FACES * (2 * i + 1) // 256 + 77 for i in range(128)}
)
LATER = [
    [random.Random(i).randrange(FACES) for i in range(j, j + DEEPEST)]
    for j in range(0, 12 * DEEPEST, DEEPEST)
]
"""Fixed throws of later coins: by them, two throws of an earlier one are told apart."""


@final
class Coins:
    """Throws that are given; after them others, over and over."""

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, first: Sequence[int], later: Sequence[int] = (FACES // 2,)) -> None:
        self.thrown, self._first, self._later = 0, first, cycle(later)

    def uniform(self) -> float:
        self.thrown += 1
        if self.thrown > ENDLESS:
            raise NotSteps("it throws coins again and again")
        return (
            self._first[self.thrown - 1] if self.thrown <= len(self._first) else next(self._later)
        ) / FACES

    def __getattr__(self, name: str) -> Any:
        raise NotSteps("it throws coins and draws noise for one reward")


def coin_law(report: ReportFunction, first: tuple[int, ...] = ()) -> ReportLaw:
    """The probability of every report, the `first` coins given."""
    coins = Coins(first)
    said = report(coins)
    if coins.thrown <= len(first):
        return {said: Fraction(1)}
    if len(first) == DEEPEST:
        raise NotSteps(f"it throws more than {DEEPEST} coins")
    law: ReportLaw = {}
    for low, high in steps(report, first):
        at_ends = [
            coin_law(report, (*first, coin)) for coin in sorted({low, (low + high) // 2, high - 1})
        ]
        if any(other != at_ends[0] for other in at_ends):
            raise NotSteps(
                "what later coins do depends on the value of an earlier one, not on its side of "
                "a few switching points"
            )
        for said, chance in at_ends[0].items():
            law[said] = law.get(said, Fraction(0)) + chance * Fraction(high - low, FACES)
    return law


def steps(report: ReportFunction, first: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """The stretches [low, high) of the next coin on which the report stays what it is."""
    starts, here = [0], shape(report, (*first, 0))
    for old, probe in pairwise(PROBES):
        low, there = old, shape(report, (*first, probe))
        while here != there:
            low = switching_point(report, first, low, probe)
            here = shape(report, (*first, low))
            starts.append(low)
            if len(starts) > SWITCHES:
                raise NotSteps(f"it switches more than {SWITCHES} times along one coin")
    return pairwise([*starts, FACES])


def switching_point(report: ReportFunction, first: tuple[int, ...], low: int, high: int) -> int:
    """The first throw above `low` with another outcome, if there is one switch between; one of the
    switches otherwise.
    """
    here, throws = shape(report, (*first, low)), range(low + 1, high)
    differs = bisect_left(throws, True, key=lambda coin: shape(report, (*first, coin)) != here)
    return low + 1 + differs


def shape(report: ReportFunction, first: tuple[int, ...]) -> tuple[int, ...]:
    """What the report becomes for some throws of the later coins, if there are later ones."""
    said: list[int] = []
    for later in LATER:
        coins = Coins(first, later)
        said.append(report(coins))
        if coins.thrown <= len(first):
            break
    return tuple(said)


LEVEL = "randomised response"

COARSE = 16
"""Steps of a grid whose rewards are all compared; of a finer one, some."""

REPEATS = 8
"""Reports of one reward with the same coins."""

ERROR = 1e-12
"""Of the logarithm of a ratio of probabilities: far above what floats lose."""


def randomised_response_level(randomizer: Randomizer, claim: Fraction | None = None) -> LevelResult:
    """The exact loss of a report that is made with coins alone, between any two rewards on the
    grid; of `width` rewards in one report, all moved at once.

    A report with noise on it has no verdict here: runs look at it.

    claim: by default the randomizer's own epsilon.
    """
    guarantee = randomizer.guarantee
    claim = guarantee.epsilon if claim is None else claim
    if claim is None:
        return LevelResult(
            LEVEL,
            "not applicable",
            evidence=f"It claims {guarantee.measure}, which promises no epsilon.",
        )
    points, unit = rewards_compared(randomizer), randomizer.grid.steps
    try:
        see_repeats(randomizer, points)
        laws = {steps: coin_law(partial(randomizer.randomise, steps)) for steps in points}
    except NotSteps as error:
        said = f"The law of its report is not computed: {error}."
        return LevelResult(LEVEL, "not applicable", evidence=said)
    ratio, one, other = max((law_ratio(laws[a], laws[b]), a, b) for a, b in permutations(points, 2))
    loss = math.inf if ratio == math.inf else math.log(ratio) * randomizer.width
    outcome: Outcome = "passed" if loss <= claim + Fraction(ERROR) else "failed"
    several = f", {randomizer.width} at once," if randomizer.width > 1 else ""
    costs = "has no ε" if loss == math.inf else f"costs {loss:.10g} of {printed(claim)}"
    tried = 2 if randomizer.grid.rounding == "bernoulli" else unit + 1
    evidence = (
        f"coins, their switching points by bisection (what matters in less than 1/128 of a coin "
        f"may be missed): a reward of {Fraction(one, unit)} against {Fraction(other, unit)}"
        f"{several} {costs}; {len(points):,} of {tried:,} rewards tried"
    )
    details = {
        "loss_value": loss,
        "loss": str(loss),
        "rewards_tried": len(points),
        "rewards_of": tried,
    }
    return LevelResult(
        LEVEL,
        outcome,
        loss,
        error=0.0 if loss == math.inf else ERROR,
        evidence=evidence,
        details=details,
    )


def rewards_compared(randomizer: Randomizer) -> list[int]:
    """In grid steps."""
    unit, half = randomizer.grid.steps, randomizer.grid.steps // 2
    if randomizer.grid.rounding == "bernoulli":
        return [0, unit]  # no other reward reaches the randomizer
    if unit <= COARSE:
        return list(range(unit + 1))
    some = random.Random(0).sample(range(unit + 1), 8)
    return sorted({0, 1, half - 1, half, half + 1, unit - 1, unit, *some})


def see_repeats(randomizer: Randomizer, points: Sequence[int]) -> None:
    """See whether the same coins make the same report, under the same name, again and again.

    Raises:
        NotSteps: they do not, or noise is drawn.
    """
    names = {randomizer.name}
    for steps in points:
        for later in LATER:
            said = {randomizer.randomise(steps, Coins((), later)) for _ in range(REPEATS)}
            if len(said) > 1:
                raise NotSteps("it draws randomness that is not seen here")
            names.add(randomizer.name)
    if len(names) > 1:
        raise NotSteps("the name that every report carries is not always the same")


def law_ratio(one: ReportLaw, other: ReportLaw) -> Fraction | float:
    """The largest ratio of the chances of a report."""
    return max(
        chance / other[report] if other.get(report) else math.inf
        for report, chance in one.items()
        if chance
    )


@final
class Selected(Relay):
    """Noise that names the first action, and keeps what it was asked."""

    kind: ClassVar[NoiseKind] = "simulated"

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        self.exact, self.cost = exact, cost
        return 0


def noisy_max_loss(mechanism: Mechanism, rounds: int) -> float:
    """Return the largest loss of a noisy maximum of two actions over a block of 0/1 records: the
    log-ratio of the chance of an action between two blocks that differ in one record.

    Args:
        mechanism: a noisy maximum, such as `NoisyMax`.
        rounds: records in the block.

    Example:
        >>> from dpbandits.mechanisms import NoisyMax
        >>> round(noisy_max_loss(NoisyMax(epsilon=1, selection="exponential"), 2), 3)
        0.62
    """
    unit = mechanism.grid.steps

    @cache
    def law(lead: int) -> Floats:
        spy, sums = Selected(), np.array([max(lead, 0), max(-lead, 0)], np.int64) * unit
        mechanism.answer(mechanism.init(2), Block((EVERY,), sums, (rounds,)), spy)
        scale = float(2 * spy.cost["sensitivity"] / spy.cost["epsilon"])
        return selection_law(spy.exact[0], scale=scale, selection=spy.cost["law"])

    pairs = [
        (lead, lead + move)
        for lead in range(-rounds, rounds + 1)
        for move in (-2, -1, 1, 2)
        if abs(lead + move) <= rounds
    ]
    return max(math.log(law(a)[k] / law(b)[k]) for a, b in pairs for k in (0, 1))


# Of a noisy maximum.


TAIL = 40.0
"""Number of scales beyond which a Laplace tail (e^-40, 4e-18) is ignored."""


def selection_law(sums: ArrayLike, *, scale: float, selection: Selection) -> Floats:
    """Return P[action j is selected], shape (actions,), accurate to about 1e-14.

    Args:
        sums: whole-number sums, shape (actions,), in grid steps.
        scale: scale of the noise, in grid steps.
        selection: law of the noise. "laplace" is discrete, with ties to the lowest action; its run
            time grows with actions · scale.

    >>> selection_law([0, 1], scale=1.0, selection="exponential").round(4).tolist()
    [0.2689, 0.7311]
    """
    exact = np.asarray(sums, dtype=np.int64)
    lag = (exact - exact.max()) / scale
    if selection == "exponential":
        weights: Floats = np.exp(lag)
        return np.asarray(weights / weights.sum())
    if selection == "permute-and-flip":
        return permute_and_flip_law(np.exp(lag))
    return discrete_laplace_law(exact, scale)


def permute_and_flip_law(q: Floats) -> Floats:
    """Return q_j ∫ Π_{i≠j} (1 − x q_i) dx over [0, 1].

    Actions arrive at uniform times and are taken with probability q; the first one wins.
    """
    # exact for polynomials of degree actions − 1
    nodes, weights = np.polynomial.legendre.leggauss(len(q) // 2 + 1)
    missed = 1 - np.outer((nodes + 1) / 2, q)
    others = np.stack([np.delete(missed, j, axis=1).prod(axis=1) for j in range(len(q))])
    return np.asarray(q * (others @ weights) / 2)


def discrete_laplace_law(exact: Integers, scale: float) -> Floats:
    """Sum over the winner's noisy value z: earlier actions stay below z, later ones do not exceed
    it.
    """
    reach = math.ceil(TAIL * scale) + 1
    z = np.arange(exact.min() - reach, exact.max() + reach + 1)
    r = math.exp(-1 / scale)
    away = z[None, :] - exact[:, None]
    mass = (1 - r) / (1 + r) * r ** np.abs(away)
    at_most = np.where(
        away >= 0, 1 - r ** np.maximum(away + 1, 0) / (1 + r), r ** np.maximum(-away, 0) / (1 + r)
    )
    below = at_most - mass
    first = np.cumprod(np.vstack([np.ones_like(z, dtype=float), below[:-1]]), axis=0)
    later = np.cumprod(np.vstack([np.ones_like(z, dtype=float), at_most[:0:-1]]), axis=0)[::-1]
    return np.asarray((mass * first * later).sum(axis=1))


def published_loss(rounds: int, epsilon: float) -> float:
    """Return the privacy loss of a noisy maximum with Laplace noise of scale 1/ε (as published) on
    two tables of two actions.

    All of `rounds` ≥ 2 rounds are (0, 1) except one, which is (1, 0) in one table and (0, 1) in the
    other. The loss is the logarithm of e^{2ε}(2 + ε(n − 2))/(2 + εn), which tends to 2ε.

    >>> [round(published_loss(n, 1.0), 3) for n in (2, 4, 64)]
    [1.307, 1.595, 1.969]
    """
    return 2 * epsilon + math.log((2 + epsilon * (rounds - 2)) / (2 + epsilon * rounds))
