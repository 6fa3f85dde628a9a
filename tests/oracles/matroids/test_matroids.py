"""Every kind of matroid: axioms, greedy, circuits, loops and covers, by enumeration; and the
checker catches what is broken.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpbandits.core.errors import OracleCheckFailed
from dpbandits.core.inputs import Floats
from dpbandits.oracles import (
    ExplicitMatroid,
    GraphicMatroid,
    Matroid,
    UniformMatroid,
    check_matroid,
)
from dpbandits.oracles.base import SuperArm
from tests.oracles.instances import MATROIDS, draw


@pytest.mark.parametrize("kind", MATROIDS)
@pytest.mark.parametrize("seed", range(6))
def test_random_small_matroids(kind: str, seed: int) -> None:
    check_matroid(draw(kind, seed))


@pytest.mark.parametrize("kind", MATROIDS)
def test_cover_is_what_the_greedy_finds(kind: str) -> None:
    """Shortcuts give the cover that `best` gives, with weight 1 on what is unseen."""
    for seed in range(10):
        matroid = draw(kind, 100 + seed)
        unseen = set(range(matroid.arms)) - set(matroid.loops)
        cover = []
        while unseen:
            cover.append(matroid.best([float(arm in unseen) for arm in range(matroid.arms)]))
            assert unseen & set(cover[-1])
            unseen -= set(cover[-1])
        assert list(matroid.cover()) == cover


@pytest.mark.parametrize("size", [1, 1000])
def test_many_arms(size: int) -> None:
    """Sorting, partial sorting and ties at a size where different code runs."""
    rng = np.random.default_rng(size)
    weights = rng.integers(0, 50, size=3000) / 10
    order = np.argsort(-weights, kind="stable")
    assert UniformMatroid(arms=3000, rank=size).best(weights) == tuple(
        sorted(order[:size].tolist())
    )


def check_broken(independent: Callable[[SuperArm], bool], rank: int = 2, **methods: Any) -> str:
    class Broken(Matroid):
        def __init__(self) -> None:
            self._set_rank(4, rank)

        def parameters(self) -> dict[str, Any]:
            return {}

        def _independent(self, arms: SuperArm) -> bool:
            return independent(arms)

    for name, method in methods.items():
        setattr(Broken, name, method)
    with pytest.raises(OracleCheckFailed) as failure:
        check_matroid(Broken())
    return str(failure.value)


def test_broken_matroids_are_caught() -> None:
    assert "Augmentation" in check_broken(lambda arms: arms in [(), (0,), (1,), (2,), (0, 1)])
    assert "Heredity" in check_broken(lambda arms: arms in [(), (0,), (1, 2)])
    assert "empty set" in check_broken(lambda arms: len(arms) == 1)
    assert "rank=3" in check_broken(lambda arms: len(arms) <= 2, rank=3)

    def first_two(self: Matroid, weights: Floats) -> SuperArm:
        return (0, 1)

    assert "best(" in check_broken(lambda arms: len(arms) <= 2, _best=first_two)
    assert "contains" in check_broken(
        lambda arms: len(arms) <= 2, _contains=lambda self, arms: True
    )
    assert "fundamental_circuit" in check_broken(
        lambda arms: len(arms) <= 2, _circuit=lambda self, basis, e: ()
    )
    assert "loops" in check_broken(lambda arms: len(arms) <= 2, _loops=lambda self: (3,))
    with pytest.raises(ValueError, match="Expected at most 12 arms"):
        check_matroid(UniformMatroid(arms=13, rank=2))


def test_a_matroid_of_ones_own() -> None:
    """`_independent` is enough. Paving matroid: two planes of rank 2 in rank 3."""

    class Paving(Matroid):
        def __init__(self) -> None:
            self._set_rank(7, 3)

        def parameters(self) -> dict[str, Any]:
            return {}

        def _independent(self, arms: SuperArm) -> bool:
            return len(arms) < 3 or not (set(arms) <= {0, 1, 2, 3} or set(arms) <= {3, 4, 5})

    check_matroid(Paving())


def test_independent_sets_or_bases_are_one_matroid() -> None:
    both = ExplicitMatroid(arms=3, independent_sets=[(), (0,), (1,)])
    assert both == ExplicitMatroid(arms=3, bases=[(1,), (0,)])


def test_circuits_of_many_arms_are_those_of_each() -> None:
    forest = GraphicMatroid(
        [("a", "b"), ("b", "c"), ("a", "c"), ("d", "d"), ("e", "f"), ("f", "e")]
    )
    for matroid in (forest, UniformMatroid(arms=6, rank=2)):
        basis = matroid.best([0.3, 0.2, 0.1, 0.6, 0.4, 0.5])
        arms = [5, 0, 3, 0, 2, 1, 4]
        assert matroid.circuits(basis, arms) == [
            matroid.fundamental_circuit(basis, e) for e in arms
        ]
        assert matroid.circuits(basis, []) == []
        with pytest.raises(ValueError, match="arm"):
            matroid.circuits(basis, [6])
