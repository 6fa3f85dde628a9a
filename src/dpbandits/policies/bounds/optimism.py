"""Policies that play the largest upper confidence bounds: of one arm, or of the elements of a basis.

Where a bound is not below its own mean, an arm is played in place of a better one only if its bound
reaches that one's mean. With U the bound of an arm e at some number of its rewards, a wrong play
costs the gap to the best arm whose mean U reaches. So, gaps Δ_1 >= Δ_2 >= … > 0 of e to the best
arms μ_1 >= μ_2 >= …, regret <= Σ_e Σ_k (Δ_k − Δ_{k+1}) · E[plays of e with U >= μ_k], and for every
best arm its largest gap times the rounds in which its bound is below its mean. On a matroid the
pairs are those of Kveton et al. 2014, Lemma 1; a single arm is a basis of rank 1 (Auer et al. 2002).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Count = Callable[[float, float], float]
"""Expected plays of an arm of the first mean with a bound that reaches the second."""


def best_arm(means: Sequence[float]) -> tuple[int, ...]:
    """The basis of a policy that plays one arm."""
    return (list(means).index(max(means)),)


def optimistic_bound(
    means: Sequence[float],
    best: Sequence[int],
    playable: Sequence[int],
    rounds: int,
    count: Count,
    low: float,
) -> float:
    """At most this regret in `rounds` rounds, and never more than the worst action each round.

    best: arms of the best action. playable: arms of any action.
    low: rounds, at most, in which the bound of one of them is expected below its mean.
    """
    least = min(means[e] for e in playable)
    targets = sorted((means[k] for k in best), reverse=True)
    wrong, seen = [], {}
    for e in sorted(set(playable) - set(best)):
        for target, following in zip(targets, [*targets[1:], -math.inf], strict=True):
            if target <= means[e]:
                break
            step = target - max(following, means[e])
            if step > 0.0:
                pair = (means[e], target)
                if pair not in seen:
                    seen[pair] = min(float(rounds), count(*pair))
                wrong.append(step * seen[pair])
    missed = math.fsum(target - least for target in targets)
    return min(math.fsum(wrong) + low * missed, rounds * missed)
