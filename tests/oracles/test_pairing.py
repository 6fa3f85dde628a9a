"""The pairing π_t of a greedy basis with the best one, by which the paper splits regret."""

from __future__ import annotations

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.oracles.matroids import Matroid

MATROIDS: list[Matroid] = [
    dpb.UniformMatroid(arms=7, rank=3),
    dpb.PartitionMatroid(categories=[0, 0, 0, 1, 1, 2, 2], capacities=[2, 1, 1]),
    dpb.LinearMatroid([(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 1, 1)]),
    dpb.SpanningTrees([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 3)]),
]


def paired(matroid: Matroid, chosen: list[int], best: list[int]) -> list[int]:
    """π_t by the paper's backward construction (section 4.3): `best` and `chosen` are in falling
    order; each arm of `chosen` gets one of `best`, itself where it is there.
    """
    rest, partner = list(chosen), [-1] * len(chosen)
    for k in reversed(range(len(chosen))):
        others = [arm for i, arm in enumerate(rest) if i != k]
        partner[k] = (
            chosen[k]
            if chosen[k] in best
            else next(a for a in best if a not in others and matroid.contains([*others, a]))
        )
        rest[k] = partner[k]
    return partner


@pytest.mark.parametrize("matroid", MATROIDS, ids=lambda m: type(m).__name__)
def test_each_arm_is_paired_with_one_that_could_have_taken_its_place(matroid: Matroid) -> None:
    """π_t is a bijection, and the partner's index is at most that of the arm chosen by greed, so
    regret is a sum over pairs each of which is a bandit's.
    """
    rng = np.random.default_rng(5)
    for _ in range(200):
        means, index = rng.random(matroid.arms), rng.random(matroid.arms)
        best = sorted(matroid.best(means), key=lambda arm: -means[arm])
        chosen = sorted(matroid.best(index), key=lambda arm: -index[arm])
        partner = paired(matroid, chosen, best)
        assert sorted(partner) == sorted(best)
        for arm, other in zip(chosen, partner, strict=True):
            assert index[arm] >= index[other]
            assert arm == other or arm not in best
