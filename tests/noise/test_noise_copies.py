"""A copied or pickled secure source draws for itself: one draw on two sums would give away their
exact difference.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction

import pytest

from dpbandits.noise import SecureNoise


def draws(noise: SecureNoise) -> list[int]:
    return [noise.laplace(0, sensitivity=1024, epsilon=Fraction(1, 10)) for _ in range(8)]


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        *(
            lambda noise, p=p: pickle.loads(pickle.dumps(noise, p))
            for p in range(pickle.HIGHEST_PROTOCOL + 1)
        ),
    ],
)
def test_a_copy_draws_for_itself(copied: Callable[[SecureNoise], SecureNoise]) -> None:
    noise = SecureNoise()
    draws(noise)
    again = copied(noise)
    assert type(again) is SecureNoise
    assert draws(noise) != draws(again)  # equal by chance with probability below 1e-30
