"""Policies that play the largest upper confidence bounds: of one arm, or of a basis's elements.

Where a bound is not below its own mean, an arm is played in place of a better one only if its bound
reaches that one's mean. With U the bound of an arm e at some number of its rewards, a wrong play
costs the gap to the best arm whose mean U reaches. So, gaps Δ_1 >= Δ_2 >= … > 0 of e to the best
arms μ_1 >= μ_2 >= …, regret <= Σ_e Σ_k (Δ_k − Δ_{k+1}) · E[plays of e with U >= μ_k], and for every
best arm its largest gap times the rounds in which its bound is below its mean. On a matroid the
pairs are those of Kveton et al. 2014, Lemma 1; one arm is a basis of rank 1 (Auer et al. 2002).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dpbandits.core.arrays import Floats
from dpbandits.oracles.base import DecisionSet

PlayCount = Callable[[float, float], float]
"""Expected plays of an arm of the first mean with a bound that reaches the second."""


class Playable(NamedTuple):
    """What an optimistic policy chooses from.

    best: arms of the best action. playable: arms of any action.
    first: the first round in which bounds are compared.
    largest: what the worst action loses in a round.
    """

    means: tuple[float, ...]
    best: tuple[int, ...]
    playable: tuple[int, ...]
    first: int
    largest: float


def one_arm(means: Sequence[float]) -> Playable:
    """One arm a round, each once before bounds are compared."""
    best = (list(means).index(max(means)),)
    largest = max(means) - min(means)
    return Playable(tuple(means), best, tuple(range(len(means))), len(means) + 1, largest)


def basis(problem: DecisionSet, means: Sequence[float]) -> Playable:
    """A basis of a matroid; the first ones hold elements that were not seen yet."""
    playable = sorted(set(range(problem.arms)) - set(problem.loops))
    best, worst = problem.best(means), problem.best([-mean for mean in means])
    largest = math.fsum(means[k] for k in best) - math.fsum(means[k] for k in worst)
    return Playable(tuple(means), best, tuple(playable), 2, largest)


def positive_gaps(means: Sequence[float]) -> list[float]:
    """The best mean less each smaller one."""
    return [max(means) - mean for mean in means if mean < max(means)]


def least_gaps(problem: DecisionSet, means: Sequence[float]) -> list[float]:
    """Of every element outside the best basis, the smallest positive gap to an element of it,
    Δ_{e,min}. Elements without such a gap, and loops, are left out.
    """
    arms = basis(problem, means)
    outside = sorted(set(arms.playable) - set(arms.best))
    larger = [[means[k] - means[e] for k in arms.best if means[k] > means[e]] for e in outside]
    return [min(found) for found in larger if found]


def best_gaps(problem: DecisionSet, means: Sequence[float]) -> list[float]:
    """Of every element of the best basis, the smallest positive gap to an element outside it."""
    arms = basis(problem, means)
    outside = sorted(set(arms.playable) - set(arms.best))
    smaller = [[means[k] - means[e] for e in outside if means[k] > means[e]] for k in arms.best]
    return [min(found) for found in smaller if found]


def optimistic_bound(arms: Playable, rounds: int, count: PlayCount, low: float) -> float:
    """At most this regret in `rounds` rounds, and never more than the worst action each round.

    low: rounds, at most, in which the bound of one best arm is expected below its mean.
    """
    means = arms.means
    least = min(means[e] for e in arms.playable)
    targets = sorted((means[k] for k in arms.best), reverse=True)
    wrong: list[float] = []
    seen: dict[tuple[float, float], float] = {}
    for e in sorted(set(arms.playable) - set(arms.best)):
        for target, following in zip(targets, [*targets[1:], -math.inf], strict=True):
            step = target - max(following, means[e])
            if step <= 0.0:
                continue
            pair = (means[e], target)
            if pair not in seen:
                seen[pair] = min(float(rounds), count(*pair))
            wrong.append(step * seen[pair])
    missed = math.fsum(target - least for target in targets)
    return min(math.fsum(wrong) + low * missed, rounds * arms.largest)


def harmonic(count: int) -> float:
    """1 + 1/2 + … + 1/count."""
    return math.fsum(1.0 / i for i in range(1, count + 1))


def rank_factor(gaps: Sequence[float] | Floats) -> float:
    """What rank costs in the noise's term on a uniform matroid, for an element with gaps Δ_1 >= Δ_2
    >= … > 0 to the best ones: Σ_k (A_k − A_{k+1})/Δ_k, A_k the mean of Δ_k, Δ_{k+1}, …; at most
    `harmonic(len(gaps))` and 1 + ln(Δ_1/Δ_K) (proofs/uniform_matroid.md).
    """
    sums, total = [0.0], 0.0
    for gap in reversed(gaps):
        total += float(gap)
        sums.append(total / len(sums))
    means = sums[::-1]
    return math.fsum((means[k] - means[k + 1]) / float(gap) for k, gap in enumerate(gaps))
