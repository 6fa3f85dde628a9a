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
def test_a_copy_starts_with_empty_pools(copied: Callable[[SecureNoise], SecureNoise]) -> None:
    noise = SecureNoise()
    draws(noise)
    again = copied(noise)
    assert type(again) is SecureNoise
    assert (again._pools, len(noise._pools)) == ({}, 1)
    assert draws(noise) != draws(again)  # equal by chance with probability below 1e-30


def test_the_original_keeps_its_pool_when_a_copy_draws() -> None:
    noise = SecureNoise()
    draws(noise)
    before = len(next(iter(noise._pools.values())))
    draws(copy.copy(noise))
    assert len(next(iter(noise._pools.values()))) == before


def test_two_copies_of_a_session_never_share_a_draw() -> None:
    """Told other rewards, their answers would differ by exactly the sums' difference."""
    s = dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon="1/10", grid=1), noise=SecureNoise(), seed=1)
    s.tell(s.ask(), 1.0)
    other = copy.deepcopy(s)
    totals = []
    for session, reward in ((s, 0.0), (other, 1.0)):
        for _ in range(126):
            session.tell(session.ask(), reward)
        totals.append([e.stop - e.start for e in session.ledger])
    assert totals[0] == totals[1] == [1, 2, 4, 8, 16, 32, 64]
    assert not {id(pool) for pool in s._vault.noise._pools.values()} & {
        id(pool) for pool in other._vault.noise._pools.values()
    }  # type: ignore[attr-defined]
    differences = {a - b for a, b in zip(pools(s), pools(other), strict=False)}
    assert differences != {0}


def pools(session: dpb.Session) -> list[int]:
    return [draw for pool in session._vault.noise._pools.values() for draw in pool]  # type: ignore[attr-defined]
