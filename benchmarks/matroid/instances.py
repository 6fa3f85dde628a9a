"""The instances that constants were chosen and judged on, and the constants that were tried."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dpbandits as dpb
from dpbandits.core.inputs import Floats
from dpbandits.datasets import Films, films_from_counts, movielens
from dpbandits.policies import (
    DPKLMAT,
)


class Instance(NamedTuple):
    problem: dpb.Matroid
    means: Floats
    epsilon: float
    rounds: int
    share: float  # of the runs


SEVEN = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (2, 0, 0), (0, 0, 0)]
SEVEN_MEANS = [0.80, 0.75, 0.60, 0.20, 0.30, 0.40, 0.70]
"""The seven vectors of the matroid paper, as it lists them: the best come first."""


def random_linear(
    seed: int,
    arms: int,
    dimensions: int,
    low: float,
    high: float,
    epsilon: float,
    rounds: int,
    share: float,
) -> Instance:
    rng = np.random.default_rng(seed)
    vectors = rng.integers(0, 2, (arms, dimensions))
    return Instance(
        dpb.LinearMatroid(vectors), rng.uniform(low, high, arms), epsilon, rounds, share
    )


def of_films(films: Films) -> Instance:
    """In a random order: loaders put the most rated first, and a tie goes to the lower number,
    which would give the answer away.
    """
    order = np.random.default_rng(0).permutation(len(films.titles))
    return Instance(dpb.LinearMatroid(films.vectors[order]), films.means[order], 2, 20_000, 0.2)


def tuning(data: Path) -> dict[str, Instance]:
    """Other instances the constants were chosen on."""
    rng = np.random.default_rng(5)
    areas = dpb.PartitionMatroid(categories=np.arange(48) % 8, capacities=[1] * 8)
    found = {
        "linear 30 × 6": random_linear(2, 30, 6, 0.1, 0.9, 2, 10_000, 1.0),
        "linear 100 × 15": random_linear(7, 100, 15, 0.1, 0.6, 2, 20_000, 0.2),
        "linear 60 × 10, ε = .5": random_linear(8, 60, 10, 0.2, 0.8, 0.5, 20_000, 0.3),
        "partition 48 × 8, skewed": Instance(areas, rng.beta(0.5, 3, 48), 2, 20_000, 0.3),
        "uniform 10 × 3, gap .1": Instance(
            dpb.UniformMatroid(arms=10, rank=3), np.array([0.6] * 3 + [0.5] * 7), 2, 10_000, 1.0
        ),
    }
    if (data / "ml-latest-small").exists():
        films = movielens(data / "ml-latest-small", drop_unlisted=True)
        found["MovieLens small, 100 films"] = of_films(films)
    return found


def papers(data: Path) -> dict[str, Instance]:
    """What they are judged on (in view, too, when the constants were chosen: decision 8)."""
    found = {
        "seven vectors": Instance(dpb.LinearMatroid(SEVEN), np.array(SEVEN_MEANS), 2, 10_000, 2.0)
    }
    if (data / "ml1m_top100.json").exists():
        films = films_from_counts(data / "ml1m_top100.json")
        found["MovieLens 1M, 100 films"] = of_films(films)
    return found


def variants(instance: Instance) -> dict[str, dpb.Policy]:
    """first is given in units of K/ε."""
    problem, eps = instance.problem, instance.epsilon

    def first(times: int) -> int:
        return math.ceil(times * problem.rank / eps)

    found: dict[str, dpb.Policy] = {}
    for times, level in (
        (32, 1.0),
        (32, 0.5),
        (24, 0.5),
        (24, 0.4),
        (24, 0.35),
        (16, 0.5),
        (16, 0.35),
    ):
        found[f"DPKLMAT, first = {times}, level = {level}"] = DPKLMAT(
            problem=problem, epsilon=eps, first=first(times), level=level
        )
    return found
