"""Which generators are alive is known at any time, however the garbage collector has moved them."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpbandits.auditing.played_noise import Outside, generators


class Mine(random.Random):
    """Somebody's own."""


MAKERS: list[Callable[[], Any]] = [
    lambda: random.Random(3),
    lambda: Mine(3),
    lambda: np.random.PCG64(3),
    lambda: np.random.default_rng(3).bit_generator,
    lambda: np.random.RandomState(3),
]


def alive(one: Any) -> bool:
    return any(other is one for other in generators())


@pytest.mark.parametrize("make", MAKERS)
def test_a_generator_is_found_young_and_old(make: Callable[[], Any]) -> None:
    generators()
    one = make()
    assert alive(one)
    for generation in (0, 1, 2):
        gc.collect(generation)
        assert alive(one)
    gc.collect(0)
    assert alive(one)


@pytest.mark.parametrize("generation", [None, 0, 1, 2])
def test_a_draw_of_one_that_is_held_is_noticed(generation: int | None) -> None:
    held = np.random.default_rng(5)
    for draws in (0, 1):
        with Outside(calls=False) as outside:
            if generation is not None:
                gc.collect(generation)
            held.random(draws)
        assert outside.used is bool(draws)
