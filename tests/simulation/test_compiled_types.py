"""The compiled players take matroids and rules by their exact type: others may be other ones. Where
they are kept.
"""

import tempfile
from errno import ENOSPC
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.oracles import GraphicMatroid, LinearMatroid, PartitionMatroid, UniformMatroid
from dpbandits.oracles.linear import tableau
from dpbandits.policies import OMM
from dpbandits.policies.stopping import StoppingRule
from dpbandits.simulation.compiled.jit import cache_folder


class Even(UniformMatroid):
    """One of each pair (0, 1), (2, 3): no uniform matroid, though its parameters are one's."""

    def __init__(self) -> None:
        super().__init__(arms=4, rank=2)

    def parameters(self) -> dict[str, Any]:
        return {}

    def _independent(self, arms: Any) -> bool:
        return len({arm // 2 for arm in arms}) == len(arms)

    def _best(self, weights: Any) -> tuple[int, ...]:
        return tuple(pair + int(weights[pair + 1] > weights[pair]) for pair in (0, 2))


def test_a_subclass_is_played_as_what_it_says() -> None:
    """The first pair is the uniform matroid's best basis, and none of this one's."""
    runs = dpb.simulate(OMM(problem=Even()), dpb.Bernoulli([0.99, 0.98, 0.02, 0.01]), 300, runs=2)
    assert np.array_equal(runs.plays[:, [0, 2]] + runs.plays[:, [1, 3]], [[300, 300], [300, 300]])


class AtOnce(StoppingRule):
    """Halts after its first value."""

    about = dpb.NAS.about

    def bar(self, count: int) -> float:
        return 0.0


def test_a_stopping_rule_of_ones_own_halts_where_it_says() -> None:
    """The compiled loop of `NAS` was played in its place."""
    rule = AtOnce(alpha=0.5, beta=0.05, low=0, high=1, cap=1000)
    assert set(dpb.estimates(rule, dpb.Bernoulli([0.5]), runs=4, seed=1).rounds) == {1}


@pytest.mark.parametrize(
    "matroid",
    [
        LinearMatroid([(1, 0), (0, 1), (1, 1)]),
        GraphicMatroid([(0, 1), (1, 2), (0, 2)]),
        dpb.SpanningTrees([(0, 1), (1, 2), (0, 2)]),
        UniformMatroid(arms=3, rank=2),
        dpb.TopK(arms=3, k=2),
        PartitionMatroid(categories=[0, 0, 1], capacities=[1, 1]),
    ],
    ids=lambda matroid: type(matroid).__name__,
)
def test_the_built_in_ones_have_a_tableau(matroid: Any) -> None:
    assert tableau(matroid) is not None
    own = type("Own", (type(matroid),), {})  # a final class is one to type checkers only
    copied = own.__new__(own)
    copied.__dict__.update(matroid.__dict__)
    assert tableau(copied) is None


class Full(BytesIO):
    def write(self, data: object) -> int:
        raise OSError(ENOSPC, "No space left on device")


def refuse(dir: Path) -> BytesIO:
    raise PermissionError(dir)


@pytest.mark.parametrize("file", [refuse, lambda dir: Full()])
def test_a_cache_that_takes_nothing_more_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Any
) -> None:
    """As in an image that another user runs, or on a full disk: numba refuses to compile then."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert Path(cache_folder()).parent == tmp_path
    monkeypatch.setattr(tempfile, "TemporaryFile", file)
    assert Path(cache_folder()).parent != tmp_path
