"""DPUCB-MAT's next swap: the pairs that are passed over could not have moved it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import PublicRng
from dpbandits.policies import DPUCBMAT
from dpbandits.policies import matroid as matroid_lazy
from dpbandits.policies.base import Statistics
from dpbandits.policies.formulas.indices import crossing, lazy_ucb


def means_of(s: Statistics) -> list[float]:
    return [total / n if n else math.nan for total, n in zip(s.totals, s.rounds, strict=True)]


def every_pair(
    policy: DPUCBMAT, s: Statistics, means: Sequence[float], action: tuple[int, ...], rounds: int
) -> int:
    """The plain way: no pair is passed over."""
    t, rank = s.t + 1, policy.problem.size
    end, table = t + rounds, policy.problem.exchanges(action)
    for e in sorted(set(range(policy.arms)) - set(action)):
        for f in (action[j] for j in np.flatnonzero(table[e]).tolist()):
            if s.rounds[e] and s.rounds[f]:
                end = crossing(
                    f, means[f], s.rounds[f], e, means[e], s.rounds[e], t, end, policy.share, rank
                )
    return end


def random_state(rng: np.random.Generator, arms: int) -> Statistics:
    rounds = tuple(int(2 ** rng.integers(0, 12)) if rng.random() < 0.95 else 0 for _ in range(arms))
    totals = tuple(float(np.round(rng.normal(0.5, 0.2), 1)) * n for n in rounds)
    return Statistics(
        totals,
        rounds,
        rounds,
        rounds,
        tuple(int(rng.integers(0, n + 1)) for n in rounds),
        int(rng.integers(1, 30)),
    )


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.1, 10, 1000])
def test_the_same_swap_as_by_all_pairs(epsilon: float) -> None:
    rng, swaps = np.random.default_rng(7), 0
    for _ in range(1500):
        nodes = rng.integers(4, size=(8, 2))
        problem = (
            dpb.PartitionMatroid(categories=rng.integers(0, 3, 8), capacities=[1, 2, 1])
            if rng.random() < 0.5
            else None
        )
        policy = DPUCBMAT(
            problem=problem or dpb.GraphicMatroid([(0, 1), *((int(u), int(v)) for u, v in nodes)]),
            epsilon=epsilon,
        )
        s = random_state(rng, policy.arms)
        means, log_t = means_of(s), math.log(policy.problem.size * (s.t + 1))
        scores = [
            lazy_ucb(m, n, log_t, policy.share) if n else matroid_lazy.FIRST
            for m, n in zip(means, s.rounds, strict=True)
        ]
        action = policy.best(scores)
        rounds = policy.hold(s, action).rounds
        expected = every_pair(policy, s, means, action, rounds)
        assert policy.first_swap(s, means, scores, action, rounds) == expected
        swaps += expected < s.t + 1 + rounds
    assert swaps >= 5


def test_few_pairs_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A basis of 30 that is ahead and 200 rivals of which each catches up with one of it at most:
    200 pairs, not 6000.
    """
    looked = []

    def spy(*pair: float) -> int:
        looked.append(pair)
        return crossing(*pair)  # type: ignore[arg-type]

    monkeypatch.setattr(matroid_lazy, "crossing", spy)
    n = (64,) * 230
    totals = (0.4 * 64, *(0.9 * 64 for _ in range(29)), *(0.39 * 32 for _ in range(200)))
    s = Statistics(totals, n[:30] + (32,) * 200, n, n, (0,) * 230, 2000)
    policy = DPUCBMAT(problem=dpb.UniformMatroid(arms=230, rank=30), epsilon=10**6)
    means = means_of(s)
    scores = [0.0] * 230
    for e in range(230):
        scores[e] = lazy_ucb(means[e], s.rounds[e], math.log(30 * 2001), policy.share)
    scores[0] = max(scores[30:]) + 1e-9  # ahead of its rivals by next to nothing
    policy.first_swap(s, means, scores, tuple(range(30)), 128)
    assert 0 < len(looked) <= 200
    assert policy.plan(s, PublicRng(0, 0))
