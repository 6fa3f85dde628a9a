"""Joint releases: the sampler has its exact law, the draw has its cost, and the vault keeps a
record in its own plan's block.

A sampler is wrongly called wrong with probability 1e-6 at most, each time a test is run.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Block, JointBatch, SignedTree
from dpbandits.noise import SecureNoise, SimulatedNoise
from dpbandits.policies.formulas.joint import joint_variance, log_moment
from dpbandits.simulation.compiled.parts import joint_radius
from tests.noise.cubes import coordinate_law, norm_law

ONE, ALARM = Fraction(1), 1e-6


def compiled(count: int, dimension: int, steps: int) -> Floats:
    rng = np.random.default_rng(3)
    radii = [joint_radius(rng, dimension, float(steps)) for _ in range(count)]
    return np.array([rng.integers(-m, m, dimension, endpoint=True) for m in radii])


def drawn_by(noise: Any) -> Callable[[int, int, int], Floats]:
    def draw(count: int, dimension: int, steps: int) -> Floats:
        zeros = (0,) * dimension
        return np.array([noise.joint(zeros, sensitivity=steps, epsilon=ONE) for _ in range(count)])

    return draw


SAMPLERS: dict[str, Callable[[int, int, int], Floats]] = {
    "secure": drawn_by(SecureNoise()),
    "secure and fresh": drawn_by(SecureNoise(fresh=True)),
    "simulated": drawn_by(SimulatedNoise(1)),
    "compiled": compiled,
}


def enough(name: str, dimension: int) -> int:
    """Draws that see a sampler without rejection or of another dimension, but for a secure source
    at 17, where they take too long: what it does there is followed coin by coin
    (tests/noise/test_cube.py).
    """
    if not name.startswith("secure"):
        return 20_000
    return 5_000 if dimension <= 3 else 1_000


def within(count: int) -> float:
    """How far distribution functions may be apart (Dvoretzky, Kiefer, Wolfowitz, Massart)."""
    return math.sqrt(math.log(2 * 2 / ALARM) / (2 * count))


def far_from(drawn: Floats, law: Floats, first: int) -> float:
    """The largest distance of the two distribution functions. law[i]: P[first + i]."""
    seen = np.bincount(np.clip(drawn - first, 0, len(law) - 1).astype(int), minlength=len(law))
    return float(np.abs(np.cumsum(seen / len(drawn)) - np.cumsum(law)).max())


@pytest.mark.parametrize("dimension", [1, 2, 3, 17])
@pytest.mark.parametrize("name", SAMPLERS)
def test_the_draw_has_its_law(name: str, dimension: int) -> None:
    """Norm and first coordinate."""
    count = enough(name, dimension)
    drawn = SAMPLERS[name](count, dimension, dimension)
    norms, coordinate = norm_law(dimension, 1 / dimension), coordinate_law(dimension, 1 / dimension)
    assert far_from(np.abs(drawn).max(axis=1), norms, 0) <= within(count)
    assert far_from(drawn[:, 0], coordinate, -(len(coordinate) // 2)) <= within(count)


def test_the_test_sees_another_dimension_and_another_scale() -> None:
    drawn = SAMPLERS["simulated"](20_000, 3, 3)
    assert far_from(np.abs(drawn).max(axis=1), norm_law(2, 1 / 3), 0) > within(20_000)
    assert far_from(np.abs(drawn).max(axis=1), norm_law(3, 1 / 2.8), 0) > within(20_000)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_laws_agree_with_the_density(dimension: int) -> None:
    """Summed over all points of a box, for both marginal laws; the weight itself is the cost."""
    rate, box = 1.5, range(-12, 13)
    weights = {z: math.exp(-rate * max(map(abs, z))) for z in product(box, repeat=dimension)}
    total = math.fsum(weights.values())
    norms, coordinate = norm_law(dimension, rate), coordinate_law(dimension, rate)
    middle = len(coordinate) // 2
    for r in range(4):
        exact = math.fsum(w for z, w in weights.items() if max(map(abs, z)) == r) / total
        assert norms[r] == pytest.approx(exact, rel=1e-4)
        exact = math.fsum(w for z, w in weights.items() if z[0] == r) / total
        assert coordinate[middle + r] == pytest.approx(exact, rel=1e-4)
        assert coordinate[middle - r] == coordinate[middle + r]


@pytest.mark.parametrize("dimension", [1, 2, 5, 17, 50])
def test_moments_are_at_most_the_continuous_law_s(dimension: int) -> None:
    """On every grid that a mechanism uses: at least size·epsilon steps."""
    series, closed = (log_moment(dimension, y / dimension) / y**2 for y in (0.99e-4, 1.01e-4))
    assert series == pytest.approx(closed, rel=1e-4)
    for rate in (1 / dimension, 0.3 / dimension):
        law = coordinate_law(dimension, rate)
        x = (np.arange(len(law)) - len(law) // 2) * rate
        assert (law * x**2).sum() <= joint_variance(dimension, 1.0)
        for share in (0.01, 0.3, 0.6, 0.9):
            kept = law > 0
            exact = float(np.log((law[kept] * np.exp(share * x[kept])).sum()))
            assert exact <= log_moment(dimension, share) * (1 + 1e-9)


def test_grids_are_refined_to_whole_multiples_and_said() -> None:
    assert JointBatch(epsilon=ONE, size=17, grid=Grid(steps=1)).grid.steps == 17
    assert JointBatch(epsilon=2, size=4, grid=Grid(steps=3)).grid.steps == 9
    assert JointBatch(epsilon=ONE, size=17).grid.steps == 1024
    sums = SignedTree(epsilon=Fraction(8), leaves=5, actions=30, base=3, grid=Grid(steps=5))
    assert sums.grid.steps == 80 == 30 * sums.share
    policy = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=6, rank=3), epsilon=2, grid=1)
    assert policy.guarantee is not None
    assert policy.guarantee.grid.steps == 6
    assert str(policy.guarantee).endswith("; grid=6, refined from 1")
    session = dpb.Session(policy, noise=SimulatedNoise(1))
    assert str(session.guarantee).endswith("simulated noise; grid=6, refined from 1")
    fine = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=6, rank=3), epsilon=2)
    assert "grid" not in str(fine.guarantee)


def test_other_arms_than_declared_are_refused() -> None:
    mechanism = JointBatch(epsilon=ONE, size=2)
    with pytest.raises(RuntimeError, match="size=2"):
        mechanism.answer(None, Block((0, 1, 2), (1, 1, 1), (1, 1, 1)), SimulatedNoise(1))
    with pytest.raises(RuntimeError, match=r"got 0.*Nothing was released"):
        mechanism.answer(None, Block((), (), ()), SimulatedNoise(1))
    with pytest.raises(RuntimeError, match=r"numbers of rounds differ.*Nothing was released"):
        mechanism.answer(None, Block((0, 1), (1, 1), (1, 2)), SimulatedNoise(1))
    for size in (0, -1, 1.5, True):
        with pytest.raises((TypeError, ValueError), match="size"):
            JointBatch(epsilon=ONE, size=size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="epsilon of at most 349,525"):
        JointBatch(epsilon=10**6, size=3)


def test_an_answer_says_how_many_were_drawn_together() -> None:
    mechanism = JointBatch(epsilon=1000, size=3, grid=Grid(steps=4))
    answers = mechanism.answer(None, Block((5, 7), (0, 8), (2, 2)), SimulatedNoise(1))[1]
    assert [tuple(a) for a in answers] == [
        (pytest.approx(0.0, abs=0.05), 2, 2),
        (pytest.approx(8 / mechanism.grid.steps, abs=0.05), 2, 2),
    ]
