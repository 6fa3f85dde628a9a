"""Running sums of whole records: what is summed, how many nodes a record is in, and how much noise
an answer has.
"""

import math
from copy import deepcopy
from fractions import Fraction
from itertools import accumulate, product
from typing import Any

import numpy as np
import pytest

from dpbandits.core.errors import HorizonError
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Block, SignedCounter, SignedTree, SquareRoot
from dpbandits.mechanisms.counters import (
    FINE,
    best_base,
    cells_at,
    digits_of,
    levels_of,
    most_digits,
    reach,
    squared_weights,
    weight,
)
from dpbandits.noise import SecureNoise, SimulatedNoise
from tests.session.small import Exact

ONE = Fraction(1)
Mechanism = SignedTree | SquareRoot


def tree(leaves: int, actions: int = 2, grid: int = 4, **given: Any) -> SignedTree:
    settings = {"epsilon": ONE} | given
    return SignedTree(grid=Grid(steps=grid), leaves=leaves, actions=actions, **settings)


def root(leaves: int, actions: int = 2, grid: int = 4) -> SquareRoot:
    return SquareRoot(rho=ONE, grid=Grid(steps=grid), leaves=leaves, actions=actions)


def record(*rewards: int) -> Block:
    return Block((EVERY,), np.array(rewards, np.int64), (1,))


@pytest.mark.parametrize("make", [tree, root])
@pytest.mark.parametrize("leaves", [1, 2, 17, 130, 500])
def test_every_running_sum_is_released(make: Any, leaves: int) -> None:
    mechanism: Mechanism = make(leaves, actions=3)
    memory: Any = mechanism.init(3)
    rows = np.random.default_rng(leaves).integers(0, mechanism.grid.steps + 1, (leaves, 3))
    for n, total in enumerate(np.cumsum(rows, axis=0).tolist(), start=1):
        memory, answers = mechanism.answer(memory, record(*rows[n - 1]), Exact(1))
        assert [answer.total * mechanism.grid.steps for answer in answers] == pytest.approx(total)
        assert {answer.rounds for answer in answers} == {n}
    before = deepcopy(memory)
    with pytest.raises(HorizonError, match=rf"at most {leaves} releases, .* longer horizon"):
        mechanism.answer(memory, record(0, 0, 0), Exact(1))
    assert memory == before
    assert not mechanism.reads_last(memory, EVERY)


@pytest.mark.parametrize("base", [3, 5, 9])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_digits(base: int, levels: int) -> None:
    """Every number up to the reach has one form, and the most digits are those of the worst."""
    half, found = base // 2, list[int]()
    for n in range(reach(base, levels) + 1):
        digits = digits_of(n, base, levels)
        assert all(-half <= digit <= half for digit in digits)
        assert sum(digit * base**at for at, digit in enumerate(digits)) == n
        found.append(sum(map(abs, digits)))
    for n, most in enumerate(accumulate(found, max)):
        assert most_digits(n, base, levels) == most


def test_the_base_has_the_least_noise() -> None:
    """Among all odd bases and numbers of levels that reach the horizon."""
    for leaves in (1, 2, 13, 14, 100, 1000):

        def noise(base: int, levels: int) -> Fraction:
            return levels**3 * (base - Fraction(1, base))

        base = best_base(leaves)
        levels = levels_of(leaves, base)
        others = product(range(3, 2 * leaves + 4, 2), range(1, 16))
        assert noise(base, levels) == min(noise(b, n) for b, n in others if reach(b, n) >= leaves)


@pytest.mark.parametrize(("leaves", "base"), [(13, None), (13, 3), (40, 3), (60, 5), (130, None)])
def test_a_record_is_in_one_node_a_level(leaves: int, base: int | None) -> None:
    """The shear of the proof: noise that is moved by one in the nodes of leaf τ, at most one a
    level, moves the answers from τ on by one, and none before. All levels are needed by leaf 1.
    """
    mechanism = tree(leaves, actions=1, base=base)
    base, levels = 2 * mechanism.half + 1, mechanism.levels
    used = set[tuple[int, int]]()
    for n in range(1, leaves + 1):
        used |= {node for node, _ in nodes_of(n, base, levels)}
    for leaf in range(leaves):
        around = {(level, leaf // base**level) for level in range(levels)}
        moves = [
            sum(sign for node, sign in nodes_of(n, base, levels) if node in around)
            for n in range(1, leaves + 1)
        ]
        assert moves == [int(n > leaf) for n in range(1, leaves + 1)]
        assert len(around & used) <= levels
        assert leaf or len(around & used) == levels


def nodes_of(n: int, base: int, levels: int) -> list[tuple[tuple[int, int], int]]:
    """The nodes (level, number) of an answer, with their signs."""
    found, above = list[tuple[tuple[int, int], int]](), n
    for level, digit in enumerate(digits_of(n, base, levels)):
        above = (above - digit) // base
        first, last = sorted([above * base, above * base + digit])
        found += [((level, node), 1 if digit > 0 else -1) for node in range(first, last)]
    return found


class Spike(Exact):
    """Adds 1 to each value of one request, and nothing to others."""

    def __init__(self, at: int) -> None:
        self.left = at

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        self.left -= 1
        return np.asarray(exact[0]) + (self.left == -1)


COUNTER = SignedCounter(epsilon=ONE, leaves=64, base=5, grid=Grid(steps=1))


@pytest.mark.parametrize(
    ("mechanism", "block"), [(tree(500), record(0, 0)), (COUNTER, Block((0,), (0,), (1,)))]
)
def test_an_answer_has_its_draws(mechanism: Any, block: Block) -> None:
    """Each once, added or taken off, and no others."""
    leaves, coordinates = 12, len(block[1])
    seen = np.zeros((leaves, coordinates))
    for at in range(20):
        noise, memory, told = Spike(at), mechanism.init(coordinates), []
        for leaf in range(leaves):
            memory, answers = mechanism.answer(memory, block, noise)
            seen[leaf] += [(answer.total * mechanism.grid.steps) ** 2 for answer in answers]
            told.append([answer.draws for answer in answers])
    assert noise.left >= 0, "every draw was seen"
    assert seen.tolist() == told


# The square root.


def encoder(leaves: int) -> np.ndarray[Any, Any]:
    """What is noised at each release, of each block, in parts of `FINE`."""
    matrix = np.zeros((leaves, leaves))
    for newest in range(leaves):
        for start, size in cells_at(newest):
            matrix[newest, start : start + size] = weight(newest - start - size + 1)
    return matrix


def test_weights_are_those_of_the_square_root() -> None:
    exact = list(accumulate(range(1, 2000), lambda f, n: f * (2 * n - 1) / (2 * n), initial=1.0))
    for age in (0, 1, 2, 10, 500, 1999):
        assert weight(age) / FINE == pytest.approx(exact[age], rel=0.01)


def test_noise_is_close_to_the_best_known() -> None:
    """The largest of sensitivity² times variance is within 4 % of the factorisation's with exact
    weights, S² with S = Σ binomial(2j, j)²/16^j; and simulated sums have this variance.

    60 figures, each within 5.7 standard errors of a normal's sample variance: a false alarm in 1e6.
    """
    leaves, actions = 60, 1500
    decoder = np.tril(np.ones((leaves, leaves))) @ np.linalg.inv(encoder(leaves))
    rows, squared = (decoder**2).sum(axis=1), squared_weights(leaves)
    ratios = [(2 * j - 1) / (2 * j) for j in range(1, leaves)]
    best = sum(f * f for f in accumulate(ratios, lambda f, r: f * r, initial=1.0))
    assert best**2 <= squared * rows.max() <= 1.04 * best**2
    mechanism, noise, totals = root(leaves, actions), SimulatedNoise(8), list[Any]()
    memory = mechanism.init(actions)
    for _ in range(leaves):
        memory, answers = mechanism.answer(memory, record(*[0] * actions), noise)
        totals.append([answer.total for answer in answers])
    variances = np.mean(np.square(totals), axis=1)  # ρ = 1
    rel = 5.7 * math.sqrt(2 / actions)
    assert variances == pytest.approx(actions * squared * rows / 2, rel=rel)


# Both: secure noise, saved memory, and what is refused.


@pytest.mark.parametrize("mechanism", [tree(40), root(40)], ids=lambda m: type(m).__name__)
def test_secure_noise_serves_both(mechanism: Mechanism) -> None:
    memory: Any = mechanism.init(2)
    for fresh in (True, False):
        memory, answers = mechanism.answer(memory, record(1, 3), SecureNoise(fresh=fresh))
        assert all(math.isfinite(answer.total) for answer in answers)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tree(0), "leaves"),
        (lambda: tree(5, actions=0), "actions"),
        (lambda: tree(5, base=4), "base=4 to be odd"),
        (lambda: tree(5, base=1), "base=1"),
        (lambda: tree(5, actions=100, epsilon=Fraction(10**6)), "epsilon of at most"),
        (lambda: tree(5).init(3), "record of 2 actions"),
        (lambda: root(2**24 + 1), "at most 16,777,216 rounds"),
        (lambda: root(5).init(1), "record of 2 actions"),
        (lambda: SquareRoot(rho=Fraction(1, 10**9), leaves=10, actions=9), "rho >= "),
    ],
)
def test_bad_sizes_are_refused(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
