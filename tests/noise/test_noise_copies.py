"""A copied or pickled secure source draws for itself: one draw on two sums would give away their
exact difference.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction

import pytest

import dpbandits as dpb
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


def test_two_copies_of_a_session_never_share_a_draw() -> None:
    """Told other rewards, their answers would differ by exactly the sums' difference."""
    s = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon="1/10", grid=1), noise=SecureNoise(), seed=1)
    other = copy.deepcopy(s)
    told: list[list[float]] = [[], []]
    for session, reward, totals in ((s, 0.0, told[0]), (other, 1.0, told[1])):
        for _ in range(127):
            before = session.releases
            session.tell(session.ask(), reward)
            if session.releases > before:
                totals.append(session.state.totals[0])
    differences = [two - one for one, two in zip(*told, strict=True)]
    assert len(differences) == 7
    assert differences != [1, 2, 4, 8, 16, 32, 64]  # by chance with probability below 1e-9
