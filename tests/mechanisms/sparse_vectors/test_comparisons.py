"""Comparisons by sparse vectors: what they cost, and whom they put out."""

from fractions import Fraction

import pytest

from dpbandits.checks import check_mechanism
from dpbandits.checks.tape import Recorder
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Block, Comparisons
from tests.session.small import Exact

ONE, GRID = Fraction(1), Grid(steps=4)
WATCHES = ("pairs", "arms", "one")


def comparing(watch: str, lead: float) -> Comparisons:
    return Comparisons(epsilon=ONE, grid=GRID, watch=watch, bar=lambda count: lead)  # type: ignore[arg-type]


def out(mechanism: Comparisons, sums: tuple[int, ...], counts: tuple[int, ...]) -> tuple[bool, ...]:
    arms = len(sums)
    block = Block(tuple(range(arms)), sums, counts)
    return mechanism.answer(mechanism.init(arms), block, Exact(1))[1]


@pytest.mark.parametrize("watch", WATCHES)
def test_three_arms_cost_the_promise_at_most(watch: str) -> None:
    check_mechanism(comparing(watch, 1.0), coordinates=3, readings=6)


@pytest.mark.parametrize(("watch", "share"), [("pairs", "1/4"), ("arms", "1/5"), ("one", "1/4")])
def test_every_draw_has_its_share_of_the_budget(watch: str, share: str) -> None:
    mechanism, noise = comparing(watch, 100.0), Recorder(1)
    assert mechanism.share(5) == Fraction(share)
    mechanism.answer(mechanism.init(5), Block(tuple(range(5)), (0,) * 5, (1,) * 5), noise)
    assert {draw.cost for draw in noise.draws} == {Fraction(share) / 3}
    vectors = {"pairs": 10, "arms": 5, "one": 1}[watch]
    questions = {"pairs": 20, "arms": 5, "one": 5}[watch]
    assert sum(draw.family == "threshold" for draw in noise.draws) == vectors
    assert len(noise.draws) == vectors + questions


@pytest.mark.parametrize("watch", WATCHES)
def test_who_is_far_enough_behind_is_out(watch: str) -> None:
    # in grid steps; the bar is two rewards, eight steps
    assert out(comparing(watch, 2.0), (16, 9, 8, 0), (4, 4, 4, 4)) == (False, False, True, True)


@pytest.mark.parametrize("watch", WATCHES)
def test_the_last_arm_stays(watch: str) -> None:
    assert out(comparing(watch, -100.0), (0, 0, 0), (1, 1, 1)).count(False) == 1


@pytest.mark.parametrize("watch", WATCHES)
def test_sums_of_more_rewards_are_scaled_down(watch: str) -> None:
    # 8 of 16 steps in four rewards, 8 of 8 in two: behind by one reward of two
    assert out(comparing(watch, 1.0), (8, 8), (4, 2)) == (True, False)
    assert out(comparing(watch, 1.25), (8, 8), (4, 2)) == (False, False)


def test_all_arms_are_compared_or_none() -> None:
    mechanism = comparing("pairs", 1.0)
    with pytest.raises(RuntimeError, match=r"not eliminated.*Nothing was released"):
        mechanism.answer(mechanism.init(3), Block((0, 1), (0, 4), (1, 1)), Exact(1))
