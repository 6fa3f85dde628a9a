"""Instances the constants of joint releases were chosen on, and others they are reported on. No
instance is in both lists.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dpbandits as dpb
from benchmarks.matroid.instances import (
    SEVEN,
    SEVEN_MEANS,
    Instance,
    of_films,
    random_linear,
)
from dpbandits.datasets import films_from_counts, movielens


def shuffled(problem: dpb.Matroid, means: list[float], epsilon: float, rounds: int) -> Instance:
    """Its arms in a random order: ties and first batches go to lower numbers. For matroids whose
    elements are all alike.
    """
    order = np.random.default_rng(0).permutation(len(means))
    return Instance(problem, np.array(means)[order], epsilon, rounds, 1.0)


def drawn(vectors: list[tuple[int, ...]], means: list[float], rounds: int, seed: int) -> Instance:
    """A linear matroid with its vectors in a random order, ε = 2."""
    order = np.random.default_rng(seed).permutation(len(means))
    problem = dpb.LinearMatroid(np.array(vectors)[order])
    return Instance(problem, np.array(means)[order], 2, rounds, 1.0)


def tuning() -> dict[str, Instance]:
    """What level and first batch were chosen on."""
    rng = np.random.default_rng(105)
    areas = dpb.PartitionMatroid(categories=np.arange(30) % 6, capacities=[1] * 6)
    uniform = dpb.UniformMatroid(arms=12, rank=4)
    small = [(1, 0), (0, 1), (1, 1), (2, 0), (0, 0), (1, 2)]
    return {
        "linear 6 × 2, ε = 2": drawn(small, [0.7, 0.5, 0.35, 0.65, 0.6, 0.4], 10_000, 77),
        "linear 40 × 8, ε = 2": random_linear(102, 40, 8, 0.1, 0.9, 2, 20_000, 1.0),
        "linear 80 × 14, ε = 1": random_linear(107, 80, 14, 0.05, 0.5, 1, 20_000, 1.0),
        "partition 30 × 6, ε = 1": Instance(areas, rng.beta(1, 3, 30), 1, 20_000, 1.0),
        "uniform 12 × 4, gap .1, ε = 2": shuffled(uniform, [0.5] * 4 + [0.4] * 8, 2, 20_000),
        "uniform 12 × 4, clicks, ε = 1": shuffled(uniform, [0.06] * 4 + [0.03] * 8, 1, 50_000),
    }


ORDERS = 8
"""Orders of the seven vectors that are drawn; what is told is of all together."""


def reported(data: Path) -> dict[str, list[Instance]]:
    """What is reported; real data where it is found. Several instances of one name: its orders."""
    rng = np.random.default_rng(5)
    areas = dpb.PartitionMatroid(categories=np.arange(48) % 8, capacities=[1] * 8)
    uniform = dpb.UniformMatroid(arms=10, rank=3)
    found = {
        "seven vectors, ε = 2": [drawn(SEVEN, SEVEN_MEANS, 10_000, seed) for seed in range(ORDERS)],
        "partition 48 × 8, ε = 1": [Instance(areas, rng.beta(0.5, 3, 48), 1, 20_000, 1.0)],
        "linear 30 × 6, ε = 1": [random_linear(2, 30, 6, 0.1, 0.9, 1, 20_000, 1.0)],
        "uniform 10 × 3, gap .1, ε = 1": [shuffled(uniform, [0.6] * 3 + [0.5] * 7, 1, 20_000)],
    }
    if (data / "ml-latest-small").exists():
        films = of_films(movielens(data / "ml-latest-small", drop_unlisted=True))
        found["MovieLens small, 100 films, ε = 1"] = [films._replace(epsilon=1, share=1.0)]
    if (data / "ml1m_top100.json").exists():
        films = of_films(films_from_counts(data / "ml1m_top100.json"))._replace(share=1.0)
        for epsilon in (2, 1, 0.5):
            name = f"MovieLens 1M, 100 films, ε = {epsilon:g}"
            found[name] = [films._replace(epsilon=epsilon)]
    return found
