"""Mechanisms say which noise is in their answers, and its moments are no larger than said."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpbandits.session.beliefs import (
    NoiseMoments,
    draw_moment,
    draw_variance,
    draws_variance,
)
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    AboveThreshold,
    BinaryTree,
    Block,
    EachArm,
    Hybrid,
    JointBatch,
    LazyCumulative,
    LazyForgetful,
    LocalLaplace,
    Logarithmic,
    Mechanism,
    RandomizedResponse,
)
from dpbandits.mechanisms.meaning import AnswerLaw
from dpbandits.noise import SimulatedNoise

ONE, GRID = Fraction(1), Grid(steps=64)
LAPLACE: dict[str, Mechanism] = {
    "forgetful": LazyForgetful(epsilon=ONE, grid=GRID),
    "cumulative": LazyCumulative(epsilon=ONE / 3, grid=GRID),
    "tree": BinaryTree(epsilon=ONE, leaves=40, grid=GRID),
    "padded tree": BinaryTree(epsilon=ONE, leaves=40, padded=True, grid=GRID),
    "logarithmic": Logarithmic(epsilon=ONE, grid=GRID),
    "hybrid, powers": Hybrid(epsilon=ONE, grid=GRID),
    "hybrid, doubling": Hybrid(epsilon=ONE, segments="doubling", grid=GRID),
    "hybrid, powers, root": Hybrid(epsilon=ONE, root=True, grid=GRID),
    "hybrid, doubling, root": Hybrid(epsilon=ONE, segments="doubling", root=True, grid=GRID),
    "each arm": EachArm(inner=LazyCumulative(epsilon=ONE, grid=GRID), width=2),
}


class Scales(SimulatedNoise):
    """Every draw is its scale squared and doubled, its variance: totals of no rewards then show
    the variance that is inside.
    """

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        return value + round(2 * sensitivity / epsilon**2)


@pytest.mark.parametrize("name", LAPLACE)
def test_the_draws_inside_are_those_that_were_made(name: str) -> None:
    mechanism, noise = LAPLACE[name], Scales(0)
    law, memory = mechanism.law, mechanism.init(1)
    assert law is not None
    for release in range(1, 41):
        memory, (answer,) = mechanism.answer(memory, Block((0,), (0,), (3,)), noise)
        said = mechanism.says(answer, release)
        assert said is not None
        assert said.rounds == answer.rounds
        assert math.isclose(said.total, draws_variance(law, said.draws), abs_tol=0.05)
        assert sum(count for _, count in said.draws) == answer.draws


def test_a_halted_stream_says_its_mean() -> None:
    rule = AboveThreshold(epsilon=ONE, grid=GRID, low=Fraction(-1), cap=4)
    memory = rule.start()
    for release in range(1, 5):
        memory, answer = rule.step(memory, 48, 1, SimulatedNoise(3))
        assert (rule.says(answer, release) is None) == (answer is None)
    said = rule.says(answer, 4)
    assert said is not None
    assert said.draws == ((1, 1),)
    assert said.total / said.rounds == pytest.approx((answer.value + 1) / 2)  # type: ignore[union-attr]


def test_a_joint_release_says_its_dimension() -> None:
    mechanism = JointBatch(epsilon=ONE, size=3, grid=GRID)
    _, answers = mechanism.answer(None, Block((0, 2), (64, 128), (5, 5)), SimulatedNoise(1))
    assert [mechanism.says(answer, 1) for answer in answers] == [
        (answer.total, 5, ((2, 1),)) for answer in answers
    ]


LAWS: dict[str, tuple[AnswerLaw, int, Any]] = {
    "laplace": (AnswerLaw("laplace", 0.5), 1, lambda r, n: r.laplace(0.0, 2.0, n)),
    "wider laplace": (AnswerLaw("laplace", 0.5), 3, lambda r, n: r.laplace(0.0, 6.0, n)),
    "gaussian": (AnswerLaw("gaussian", 0.125), 1, lambda r, n: r.normal(0.0, 2.0, n)),
    "joint": (
        AnswerLaw("joint", 0.5),
        4,
        lambda r, n: r.gamma(5.0, 2.0, n) * r.uniform(-1.0, 1.0, n),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_moments_and_variances_are_the_laws(name: str) -> None:
    """A quarter of a million draws; the alarm is at five standard errors, false below 10⁻⁶."""
    law, kind, draw = LAWS[name]
    z = draw(np.random.default_rng(7), 250_000)
    for values, wanted in (
        (z * z, draw_variance(law, kind)),
        (np.exp(0.04 * z), math.exp(draw_moment(law, kind, 0.04))),
    ):
        error = values.std() / math.sqrt(len(values))
        assert abs(values.mean() - wanted) < 5 * error


@pytest.mark.parametrize("price", [0.01, 1.0, 2.0, 5.0, 400.0])
@pytest.mark.parametrize("family", ["none", "laplace", "joint", "gaussian"])
def test_sixteen_thetas_within_the_moments(family: Any, price: float) -> None:
    noise = NoiseMoments(AnswerLaw(family, price))
    assert len(np.unique(noise.thetas)) == 16
    assert not noise.of(()).any()
    if family == "none":
        return
    assert np.isfinite(noise.of(((1, 3),))).all()
    assert (noise.of(((1, 3), (2, 0))) == 3 * noise.of(((1, 1),))).all()


def test_where_a_wide_draw_has_no_moment_it_bounds_nothing() -> None:
    assert draw_moment(AnswerLaw("laplace", 1.0), 4, 0.3) == math.inf


def test_discrete_noise_has_no_larger_moments() -> None:
    """The exact law of discrete Laplace noise on grids as coarse as one step a unit."""
    for steps, epsilon in ((1, 0.5), (1, 2.0), (4, 1.0), (1024, 1.0)):
        decay = math.exp(-epsilon / steps)
        for share in (0.01, 0.3, 0.9):
            up, down = (decay * math.exp(sign * share * epsilon / steps) for sign in (1, -1))
            exact = (1 - decay) ** 2 / ((1 - up) * (1 - down))
            said = draw_moment(AnswerLaw("laplace", epsilon), 1, share * epsilon)
            assert math.log(exact) <= said + 1e-9


def test_reports() -> None:
    assert LocalLaplace(epsilon=ONE, width=4).law == AnswerLaw("laplace", 0.25)
    response = RandomizedResponse(epsilon=ONE)
    assert response.law == AnswerLaw("none")
    wrong, right = response.ends
    assert wrong + right == 1.0
    assert right == response.keep
