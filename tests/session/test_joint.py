"""Joint releases in a session: a record lives in its own plan's block, and is read there once or
never, in whatever order answers come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.noise.protocol import Noise
from tests.session.replay import largest_loss
from tests.session.small import (
    Exact,
)


def session(first: float = 1.0, arms: int = 4, noise: Any = None) -> dpb.Session:
    problem = dpb.UniformMatroid(arms=arms, rank=2)
    policy = dpb.DPJointMAT(problem=problem, epsilon=4, first=first)
    return dpb.Session(policy, noise=noise or Exact(2), seed=3)


def loss(delay: int, chosen: Sequence[int]) -> Any:
    """Of these decisions' records, in units of epsilon. Answers come in any order, some as the
    default, some never.
    """

    def play(records: list[float], noise: Noise) -> Any:
        of, rng, waiting = session(1.0, 5, noise), np.random.default_rng(delay), list[Any]()
        for _ in range(400):
            waiting.append(of.ask())
            while len(waiting) > delay * rng.random():
                told, fate = waiting.pop(int(rng.integers(len(waiting)))), rng.random()
                if fate < 0.8 or told.id in chosen:
                    of.tell(told, [records[told.id]] * 2)
                elif fate < 0.9:
                    of.expire(told)
                else:
                    of.void(told)
        return list(of.decisions()), of.ledger

    return largest_loss(play, [0.0] * 401, [1.0], at=chosen, most=4) / 4


CHOSEN = [1, 7, 30, 111, 290]


@pytest.mark.parametrize("delay", [3, 40])
def test_a_record_is_in_one_release_at_most(delay: int) -> None:
    """One record is replaced: the sums of one release at most move, each by one reward at most."""
    assert loss(delay, CHOSEN) == 1
