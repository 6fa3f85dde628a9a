"""Exact privacy loss of the sparse vector, and mutants of it that the shipped checks catch."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbandits.checks.tape import RecordedDraw, Recorder
from dpbandits.core.errors import Diverged
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import AboveThreshold
from tests.policies.stopping.rules import upper


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=30),
    st.data(),
    st.integers(-50, 50),
    st.integers(1, 40),
    st.integers(1, 7),
)
def test_one_value_moves_the_distance_by_one_range_at_most(
    rewards: list[int], data: Any, low: int, width: int, scale: int
) -> None:
    """above_threshold: |D − D'| <= g, and always equal moves where the range does not hold 0."""
    a, b = Fraction(low, scale), Fraction(low + width, scale)
    mechanism = AboveThreshold(epsilon=Fraction(1), grid=Grid(steps=8), low=a, high=b)
    at, other = data.draw(st.integers(0, len(rewards) - 1)), data.draw(st.integers(0, 8))
    changed = [*rewards[:at], other, *rewards[at + 1 :]]
    moves = []
    for n in range(1, len(rewards) + 1):
        one, two = (mechanism.distance(n, sum(r[:n])) for r in (rewards, changed))
        exact = (
            abs(sum((a + (b - a) * Fraction(r, 8) for r in rewards[:n]), Fraction(0))) * 8 / (b - a)
        )
        assert one == math.floor(exact)
        assert abs(one - two) <= 8
        moves.append(two - one)
    if a >= 0 or b <= 0:
        assert len(set(moves[at:])) == 1


def outcomes(
    mechanism: AboveThreshold, rewards: list[int], script: list[RecordedDraw] | None
) -> Recorder:
    noise, memory = Recorder(1, script=script), mechanism.start()
    for x in rewards:
        memory, halt = mechanism.step(memory, x, 1, noise)
        if halt:
            break
    return noise


def forced(mechanism: AboveThreshold, yes_at: int) -> list[RecordedDraw]:
    """A recording in which question number `yes_at` is the first answered with yes."""
    g, cost = mechanism.grid.steps, mechanism.epsilon
    assert cost is not None
    asked = [
        RecordedDraw(f"exceeds {mechanism.bar_at(t)}", 0, int(t == yes_at), g, cost / 6, of=0)
        for t in range(1, yes_at + 1)
    ]
    return [
        RecordedDraw("threshold", 0, 3, g, cost / 6),
        *asked,
        RecordedDraw("laplace", 0, 5, g, cost / 2),
    ]


def loss(mechanism: AboveThreshold, rewards: list[int], other: list[int], yes_at: int) -> Fraction:
    first = outcomes(mechanism, rewards, forced(mechanism, yes_at))
    return outcomes(mechanism, other, first.draws).loss()


@pytest.mark.long
def test_loss_reaches_epsilon_and_never_exceeds_it() -> None:
    """All streams of six, all changes, every moment: ε where 0 is inside, else 2ε/3."""
    for low, high, most in (
        (-1, 1, Fraction(1)),
        (0, 1, Fraction(2, 3)),
        (-2, -1, Fraction(2, 3)),
        (Fraction(-1, 3), 1, Fraction(1)),
    ):
        mechanism = AboveThreshold(
            epsilon=Fraction(1), grid=Grid(steps=1), low=Fraction(low), high=Fraction(high)
        )
        worst = Fraction(0)
        for rewards in itertools.product((0, 1), repeat=6):
            for at, yes_at in itertools.product(range(6), range(1, 7)):
                changed = [*rewards[:at], 1 - rewards[at], *rewards[at + 1 :]]
                worst = max(worst, loss(mechanism, list(rewards), changed, yes_at))
        assert worst == most, (low, high)


def test_coupled_loss_bounds_the_true_one() -> None:
    """The exact likelihood ratio never exceeds what the Recorder counts."""
    mechanism = AboveThreshold(
        epsilon=Fraction(3),
        grid=Grid(steps=1),
        low=Fraction(-1),
        high=Fraction(1),
        bar=lambda t: 0.5 * t,
    )
    scale = 6 / 3.0
    p = math.exp(-1 / scale)
    for rewards in itertools.product((0, 1), repeat=4):
        for at in range(4):
            changed = [*rewards[:at], 1 - rewards[at], *rewards[at + 1 :]]
            chances = []
            for stream in (rewards, changed):
                total = 0.0
                for b in range(-60, 61):
                    term = (1 - p) / (1 + p) * p ** abs(b)
                    for t in range(1, 5):
                        yes = upper(
                            scale, mechanism.bar_at(t) + b - mechanism.distance(t, sum(stream[:t]))
                        )
                        term *= yes if t == 4 else 1 - yes
                    total += term
                chances.append(total)
            counted = float(loss(mechanism, list(rewards), changed, 4)) - 1.5 * (
                rewards[at] != changed[at]
            )
            assert abs(math.log(chances[0] / chances[1])) <= counted + 1e-9
            assert counted <= 1.5


def test_questions_belong_to_their_own_threshold() -> None:
    """Streams that take turns pay for one threshold each; one never drawn is refused."""
    noise = Recorder(1)
    thresholds = [noise.threshold(sensitivity=1, epsilon=Fraction(1)) for _ in range(2)]
    for value in (0, 1):
        for threshold in thresholds:
            noise.exceeds(value, 1, threshold, sensitivity=1, epsilon=Fraction(1))
    assert len(set(thresholds)) == 2
    assert [draw.of for draw in noise.draws] == [-1, -1, 0, 1, 0, 1]
    with pytest.raises(Diverged, match="never drawn"):
        noise.exceeds(0, 1, max(thresholds) + 1, sensitivity=1, epsilon=Fraction(1))
