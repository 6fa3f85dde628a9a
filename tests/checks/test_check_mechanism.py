"""`check_mechanism`: every mechanism we ship passes, and broken ones fail for the right reason."""

import inspect
import random
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from dpbandits import mechanisms
from dpbandits.checks import CheckFailed, check_mechanism
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    AboveThreshold,
    Answer,
    BinaryTree,
    Comparisons,
    EachAction,
    EachArm,
    Exact,
    GaussianBatches,
    Hybrid,
    JointBatch,
    LazyCumulative,
    LazyForgetful,
    Logarithmic,
    Mechanism,
    NoisyMax,
    SeparableDP,
    SignedCounter,
    SignedTree,
    SquareRoot,
    WeightedArms,
)
from dpbandits.mechanisms.base import AnswerLaw, Block, PureDP
from dpbandits.noise.protocol import Noise

ONE, GRID = Fraction(1), Grid(steps=4)
HALF = LazyCumulative(epsilon=ONE / 2, grid=GRID)
OURS: list[tuple[Mechanism, bool]] = [
    (LazyForgetful(epsilon=ONE, grid=GRID), False),
    (LazyCumulative(epsilon=ONE, grid=GRID), False),
    (GaussianBatches(rho=ONE, grid=GRID), False),
    (BinaryTree(epsilon=ONE, leaves=16, grid=GRID), False),
    (BinaryTree(epsilon=ONE, leaves=16, padded=True, grid=GRID), False),
    (Hybrid(epsilon=ONE, segments="powers", grid=GRID), False),
    (Hybrid(epsilon=ONE, segments="doubling", root=True, grid=GRID), False),
    (Logarithmic(epsilon=ONE, grid=GRID), False),
    (AboveThreshold(epsilon=ONE, grid=GRID, cap=16), False),
    (Comparisons(epsilon=ONE, grid=GRID), False),
    (Comparisons(epsilon=ONE, grid=GRID, watch="arms"), False),
    (Comparisons(epsilon=ONE, grid=GRID, watch="one"), False),
    (Exact(grid=GRID), False),
    (JointBatch(epsilon=ONE, size=2, grid=GRID), False),
    (EachArm(inner=HALF, width=2), False),
    (WeightedArms(inner=HALF, kinds=(1, 2), epsilon=ONE * 3 / 4, width=2), False),
    (EachAction(inner=HALF, actions=2), True),
    (SignedCounter(epsilon=ONE, leaves=16, grid=GRID), False),
    (SignedTree(epsilon=ONE, leaves=16, actions=2, grid=GRID), True),
    (SquareRoot(rho=ONE, leaves=16, actions=2, grid=GRID), True),
    (NoisyMax(epsilon=ONE, grid=GRID), True),
    (NoisyMax(epsilon=ONE, grid=GRID, selection="permute-and-flip"), True),
]


@pytest.mark.parametrize(("mechanism", "whole"), OURS, ids=lambda value: type(value).__name__)
def test_ours_pass(mechanism: Mechanism, whole: bool) -> None:
    check_mechanism(mechanism, whole=whole)


def test_all_of_ours_are_tried() -> None:
    exported = {getattr(mechanisms, name) for name in mechanisms.__all__}
    made = {c for c in exported if issubclass(c, Mechanism) and not inspect.isabstract(c)}
    assert made == {type(mechanism) for mechanism, _ in OURS}


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (mechanism, name)
        for mechanism, _ in OURS
        for name in ("epsilon", "rho")
        if name in vars(mechanism)
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_budget_is_an_exact_number_above_0(mechanism: Any, name: str) -> None:
    assert getattr(replace(mechanism, **{name: "1/4"}), name) == ONE / 4
    for wrong in (0, -1, "nan", "much"):
        with pytest.raises(ValueError, match=name):
            replace(mechanism, **{name: wrong})


@dataclass(frozen=True, kw_only=True)
class Broken(SeparableDP):
    """The newest batch, with a fault."""

    fault: str
    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> Any:
        return {} if self.fault == "numbers as keys" else [0]

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Answer]:
        epsilon = 2 * self.epsilon if self.fault == "too little noise" else self.epsilon
        if self.fault == "less noise for many":
            epsilon *= count
        if self.fault == "raw":
            noisy = total
        elif self.fault == "decides by a reward" and total == 0:
            noisy = 0
        else:
            noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=epsilon)
        if self.fault == "in place":
            memory[0] += 1
        if self.fault == "own coins":
            noisy += random.getrandbits(30)
        new = {0: 0} if self.fault in ("no JSON", "numbers as keys") else [0]
        rounds = total if self.fault == "the sum beside it" else count
        if self.fault == "says that it is between":
            rounds += total % self.grid.steps > 0
        if self.fault == "says that it is large":
            rounds += total > 5 * self.grid.steps
        return new, Answer(noisy / self.grid.steps, rounds, 1)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("too little noise", "One record can cost 2, the guarantee is 1"),
        ("less noise for many", "One record can cost 8, the guarantee is 1"),
        ("says that it is between", "An answer changes with a reward, whatever the noise"),
        ("says that it is large", "An answer changes with a reward, whatever the noise"),
        ("raw", "An answer changes with a reward, whatever the noise"),
        ("the sum beside it", "An answer changes with a reward, whatever the noise"),
        ("decides by a reward", "changes the requests to the noise"),
        ("in place", "changes its memory in place"),
        ("no JSON", "not the form of a fresh one"),
        ("numbers as keys", "not the form of a fresh one"),
        ("own coins", "randomness other than its noise"),
    ],
)
def test_faults_are_named(fault: str, message: str) -> None:
    with pytest.raises(CheckFailed, match=message):
        check_mechanism(Broken(epsilon=ONE, grid=GRID, fault=fault))


@dataclass(frozen=True, kw_only=True)
class Together(PureDP):
    """The newest blocks, with a fault that shows in some forms of a release."""

    fault: str

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, Any]:
        _, sums, counts = block
        faulty = {
            "one alone": len(counts) == 1,
            "unequal": len(set(counts)) > 1,
            "a hundred": max(counts) > 100,
        }
        epsilon = 2 * self.epsilon if faulty.get(self.fault) else self.epsilon
        noisy = [noise.laplace(s, sensitivity=self.grid.steps, epsilon=epsilon) for s in sums]
        answers = tuple(
            Answer(n / self.grid.steps, c, 1) for n, c in zip(noisy, counts, strict=True)
        )
        return None, answers[self.fault == "one less" :]

    def finish(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, Any]:
        if self.fault == "finish":
            return None, tuple(Answer(float(s), c, 1) for _, s, c in zip(*block, strict=True))
        return self.answer(memory, block, noise)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("", ""),
        ("one alone", "One record can cost 2, the guarantee is 1"),
        ("unequal", "One record can cost 2, the guarantee is 1"),
        ("a hundred", "One record can cost 2, the guarantee is 1"),
        ("one less", "Release 1 has not an answer for each coordinate"),
        ("finish", "An answer changes with a reward, whatever the noise"),
    ],
)
def test_blocks_of_every_form_are_tried(fault: str, message: str) -> None:
    """All were of all coordinates, with one record each or eight, and `finish` was not called."""
    mechanism = Together(epsilon=ONE, grid=GRID, fault=fault)
    if not message:
        return check_mechanism(mechanism)
    with pytest.raises(CheckFailed, match=message):
        check_mechanism(mechanism)
    return None


class Remembers(LazyForgetful):
    """Says that its memory is public, and keeps the exact sum in it."""

    def start(self) -> Any:
        return 0

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        _, answer = super().step(None, total, count, noise)
        return memory + total, answer


def test_a_memory_that_is_not_public_is_named() -> None:
    """It passed, and a store would have restored it as if it held released values only."""
    with pytest.raises(CheckFailed, match="`public_memory` is true, but"):
        check_mechanism(Remembers(epsilon=ONE, grid=GRID))


@dataclass(frozen=True, kw_only=True)
class Says(SeparableDP):
    """The newest batch, or the newest two, with a law; late: nothing is said at first."""

    says: AnswerLaw
    two: bool = False
    late: bool = False
    proof: ClassVar[str] = "lazy_forgetful"

    @property
    def law(self) -> AnswerLaw:
        return self.says

    def start(self) -> Any:
        return [0, 0]

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        if self.late and not memory[1]:
            return [noisy, count], Answer(0.0, 0, 0)
        before, rounds = memory if self.two else (0, 0)
        answer = Answer((before + noisy) / self.grid.steps, rounds + count, 1 + (rounds > 0))
        return [noisy, count], answer


@pytest.mark.parametrize(
    ("cost", "forgets", "two", "message"),
    [
        (1.0, True, False, ""),
        (1.5, True, False, "more noise than `law` says"),
        (1.0, False, False, "by `law` it covers the first blocks"),
        (1.0, True, True, "the newest block alone"),
        (1.0, False, True, "by `law` it covers the first blocks"),
    ],
)
def test_a_law_that_answers_do_not_have_is_named(
    cost: float, forgets: bool, two: bool, message: str
) -> None:
    """Intervals and names come from it: they were too narrow, or counted people twice."""
    law = AnswerLaw("laplace", cost, forgets)
    mechanism = Says(epsilon=ONE, grid=GRID, says=law, two=two)
    if not message:
        return check_mechanism(mechanism)
    with pytest.raises(CheckFailed, match=message):
        check_mechanism(mechanism)
    return None


def test_an_answer_that_says_nothing_yet_has_no_law() -> None:
    """It was named as one that covers other rounds."""
    law = AnswerLaw("laplace", 1.0, forgets=True)
    check_mechanism(Says(epsilon=ONE, grid=GRID, says=law, late=True))
