"""Mechanisms: exact node counts, exact worst-case loss of one record, equal prefix sums, and the
randomizers' exact laws.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpbandits.core.errors import HorizonError
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    BinaryTree,
    Block,
    EachArm,
    Exact,
    GaussianBatches,
    Hybrid,
    LazyCumulative,
    LazyForgetful,
    LocalLaplace,
    Logarithmic,
    RandomizedResponse,
    Separable,
    SignedCounter,
)
from dpbandits.noise import Noise, SecureNoise, SimulatedNoise
from tests.session.replay import largest_loss
from tests.session.small import Exact as ExactNoise

ONE = Fraction(1)


def worst_loss(mechanism: Separable, length: int) -> Fraction:
    """The largest exact loss over all changes of one leaf, with the noised values frozen."""

    def play(stream: list[int], noise: Noise) -> None:
        memory: Any = mechanism.start()
        for x in stream:
            memory, _ = mechanism.step(memory, x, 1, noise)

    return largest_loss(play, [0] * length, [mechanism.grid.steps], most=99)


@pytest.mark.parametrize("leaves", [1, 2, 3, 4, 7, 8, 9, 16, 31, 32, 33])
def test_tree_costs_epsilon_and_no_less_when_full(leaves: int) -> None:
    """A leaf of a full tree of 2^k sits in k + 1 nodes: lg N rounded up is one short."""
    tree = BinaryTree(epsilon=ONE, leaves=leaves, grid=Grid(steps=4))
    loss = worst_loss(tree, leaves)
    assert loss <= 1
    if leaves.bit_count() == 1:
        assert loss == 1


def test_full_tree_is_refused_before_reading() -> None:
    tree = BinaryTree(epsilon=ONE, leaves=2)
    memory = tree.start()
    for _ in range(2):
        memory, _ = tree.step(memory, 1, 1, SimulatedNoise(1))
    with pytest.raises(HorizonError, match=r"Expected at most 2 releases .* longer horizon"):
        tree.step(memory, 1, 1, SimulatedNoise(1))


@pytest.mark.parametrize(
    ("mechanism", "held"),
    [
        (LazyForgetful(epsilon=ONE), ONE),
        (LazyCumulative(epsilon=ONE), ONE),
        (Logarithmic(epsilon=ONE), ONE),
        (Hybrid(epsilon=ONE, segments="powers"), ONE),
        (Hybrid(epsilon=ONE, segments="doubling"), ONE),
        (Hybrid(epsilon=ONE, segments="doubling", root=True), Fraction(3, 2)),
        (GaussianBatches(rho=ONE), ONE),
    ],
    ids=lambda m: type(m).__name__ if isinstance(m, Separable) else str(m),
)
def test_promise_is_the_exact_worst_loss(mechanism: Separable, held: Fraction) -> None:
    """Tight mechanisms: what is promised is what one record can lose, neither less nor more."""
    guarantee = mechanism.guarantee
    assert guarantee is not None
    assert guarantee.cost == held
    assert worst_loss(mechanism, 70) == held


@pytest.mark.parametrize(
    "mechanism",
    [
        BinaryTree(epsilon=ONE, leaves=100),
        SignedCounter(epsilon=ONE, leaves=100),
        SignedCounter(epsilon=ONE, leaves=100, base=3),
        Hybrid(epsilon=ONE),
        Hybrid(epsilon=ONE, segments="doubling"),
    ],
)
def test_counters_sum_every_prefix(mechanism: Separable) -> None:
    rng = np.random.default_rng(3)
    memory, total, rounds = mechanism.start(), 0, 0
    for x in rng.integers(0, 1025, 100).tolist():
        memory, answer = mechanism.step(memory, x, 1, ExactNoise(1))
        total, rounds = total + x, rounds + 1
        assert answer.total == total / 1024
        assert answer.rounds == rounds


@pytest.mark.parametrize("padded", [False, True])
def test_a_tree_steps_many_coordinates_as_one_by_one(padded: bool) -> None:
    """Coordinates at different leaves, too; the same draws in the same order."""
    tree = BinaryTree(epsilon=ONE, leaves=40, padded=padded)
    rng, one, many = np.random.default_rng(3), SimulatedNoise(4), SimulatedNoise(4)
    memories = tree.init(5)
    for _ in range(40):
        chosen = [c for c in range(5) if rng.random() < 0.7]
        totals = tuple(rng.integers(0, 1025, len(chosen)).tolist())
        block = Block(tuple(chosen), totals, (1,) * len(chosen))
        apart = [tree.step(memories[c], x, 1, one) for c, x in zip(chosen, totals, strict=True)]
        memories, answers = tree.answer(memories, block, many)
        assert [(memories[c], a) for c, a in zip(chosen, answers, strict=True)] == apart
        assert one.state() == many.state()


def test_logarithmic_answers_at_powers_of_two() -> None:
    mechanism = Logarithmic(epsilon=ONE, grid=Grid(steps=1))
    memory, seen = mechanism.start(), []
    for _ in range(20):
        memory, answer = mechanism.step(memory, 1, 1, ExactNoise(1))
        seen.append(int(answer.total))
    assert seen == [1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 16]


def test_vector_answer_touches_only_its_block() -> None:
    mechanism = Exact(grid=Grid(steps=1))
    memory = mechanism.init(3)
    memory, answers = mechanism.answer(memory, Block((2, 0), (5, 3), (9, 4)), ExactNoise(1))
    assert answers == ((5.0, 9, 0), (3.0, 4, 0))
    assert memory == [(3, 4), (0, 0), (5, 9)]


def test_the_width_of_a_record_must_be_said() -> None:
    """Left out, it must not fall back to one arm: the promise would be too small for super arms."""
    with pytest.raises(TypeError, match="width"):
        EachArm(inner=LazyForgetful(epsilon=Fraction(1)))
    guarantee = EachArm(inner=LazyForgetful(epsilon=Fraction(1, 3)), width=3).guarantee
    assert guarantee is not None
    assert guarantee.epsilon == 1


@pytest.mark.parametrize("reward", [0.0, 0.25, 1.0])
def test_randomised_response_law(reward: float) -> None:
    """P[1 | r] = (r e^ε + 1 − r)/(1 + e^ε); false-alarm rate 1e-6."""
    randomizer, noise, n = (
        RandomizedResponse(epsilon=1, grid=Grid(steps=4)),
        SimulatedNoise(4),
        40_000,
    )
    ones = sum(randomizer.report(reward, noise).steps == 4 for _ in range(n))
    p = (reward * math.e + 1 - reward) / (1 + math.e)
    assert abs(ones - n * p) < 4.9 * math.sqrt(n * p * (1 - p))


def test_reports_are_integers_of_the_grid_and_never_clipped() -> None:
    randomizer, noise = LocalLaplace(epsilon=1, grid=Grid(steps=8)), SecureNoise()
    reports = [randomizer.report(1.0, noise) for _ in range(200)]
    assert all(isinstance(r.steps, int) and r.noise == "secure" for r in reports)
    assert any(r.steps > 8 for r in reports)
    assert any(r.steps < 0 for r in reports)
