"""What is said of specimens before they are audited: that wrong ones lose more than they claim,
where it can be worked out, and that a right one does not.
"""

import math
from collections import Counter

import numpy as np
from benchmarks.controls import invented
from benchmarks.controls.unseen import (
    EightBits,
    Impatient,
    TiesByLastReward,
    kept_in_range,
    reproducible,
)

WRONG, RIGHT = ([each for each in invented() if each.right is right] for right in (False, True))


def chosen(box: type, seed: int, rewards: list[float]) -> tuple[int, ...]:
    """The decisions of a box whose rewards come in this order, whatever it plays."""
    played, made = box(seed), []
    for reward in rewards:
        made.append(played.select())
        played.update(made[-1], reward)
    return tuple(made)


def test_there_are_twenty_and_five_and_all_differ() -> None:
    assert (len(WRONG), len(RIGHT)) == (20, 5)
    assert len({each.name for each in (*WRONG, *RIGHT)}) == 25
    assert all(each.right for each in RIGHT)
    assert not any(each.right for each in WRONG)


def test_amplification_counted_once_is_above_the_claim() -> None:
    (claim,) = (each.claim for each in WRONG if each.name == "amplified_twice")
    assert math.log1p((math.e**3 - 1) / 4) < claim < math.log1p((math.e**3 - 1) / 2)


def test_a_tie_that_a_reward_decides_costs_two() -> None:
    """Of discrete Laplace noise P[z <= −m] is in proportion to e^−m, for m >= 1. The first arm's
    rewards are 1, 1, 0, and the second's 0, 0 and then 1 or 0: it is chosen for z <= −1 or z <= −3.
    """
    for last, most in ((1.0, -1), (0.0, -3)):
        for z in range(-5, 3):
            box = TiesByLastReward(0)
            box.rng = Fixed(z)  # type: ignore[assignment]  # a generator that says what it is told
            for arm, reward in ((0, 1.0), (1, 0.0), (0, 1.0), (1, 0.0), (0, 0.0), (1, last)):
                box.update(arm, reward)
            assert box.chosen == int(z <= most)


class Fixed:
    """Exponential draws whose difference is z."""

    def __init__(self, z: int) -> None:
        self.draws = iter((max(z, 0), max(-z, 0)))

    def exponential(self, scale: float) -> int:
        return next(self.draws)


def test_some_decisions_come_of_one_table_alone() -> None:
    """Exactly: all of a weak generator's 256 tapes of noise are played."""
    one, other = (
        {chosen(EightBits, seed, [first, *[1.0] * 7]) for seed in range(256)}
        for first in (1.0, 0.0)
    )
    assert one - other
    assert other - one
    three = Counter(chosen(Impatient, seed, [0.0] * 4)[3] for seed in range(200))
    assert three[1] > 0
    assert {chosen(Impatient, seed, [0.0, 0.0, 1.0, 0.0])[3] for seed in range(200)} == {0}


def test_some_answers_come_of_one_table_alone() -> None:
    equal = np.full((8, 2), 0.5)
    assert {one - other for one, other in (reproducible(equal, seed) for seed in range(99))} == {0}
    changed = equal.copy()
    changed[0, 0] = 1.0
    assert len({one - other for one, other in (reproducible(changed, s) for s in range(99))}) > 9
    assert {kept_in_range(np.zeros(8), seed) for seed in range(99)} == {0}
    assert len({kept_in_range(np.eye(8)[0], seed) for seed in range(99)}) > 9
