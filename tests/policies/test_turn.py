"""What a policy of one's own may get wrong is said in its own words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Cycle, Hold
from dpbandits.mechanisms import LazyForgetful
from dpbandits.policies.cumulative import DPKLUCB


@dataclass(frozen=True, kw_only=True)
class Planning(DPKLUCB):
    """Plans what it is told to."""

    what: Any = 3

    def plan(self, state: Any, rng: Any) -> Any:
        return self.what


@pytest.mark.parametrize(
    ("what", "kind", "words"),
    [
        (3, TypeError, r"Planning\.plan\(\) to return a Hold, Cycle or Draw .* got .* int"),
        (None, TypeError, "got an object of type NoneType"),
        (Hold(99, 10, release=()), ValueError, "to hold an arm from 0 to 1, got 99"),
        (Hold(np.argmax([1, 2]), 10, release=()), TypeError, "types int64 and int: write int"),  # type: ignore[arg-type]
        (Hold(0, 1.5, release=()), TypeError, "types int and float: write int"),  # type: ignore[arg-type]
        (Hold(-1, 10, release=()), ValueError, "to hold an arm from 0 to 1, got -1"),
    ],
)
def test_a_plan_that_is_none_is_said_by_every_host(
    what: Any, kind: type[Exception], words: str
) -> None:
    policy = Planning(arms=2, epsilon=1, what=what)
    with pytest.raises(kind, match=words):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))
    with pytest.raises(kind, match=words):
        dpb.simulate(policy, dpb.Bernoulli([0.5, 0.4]), 100)


class Positions(dpb.CUCB):
    def plan(self, state: Any, rng: Any) -> Any:
        return Hold(tuple(np.argsort([3, 1, 2])[:2]), 1, release=())  # type: ignore[arg-type]


def test_arms_of_a_super_arm_are_whole_numbers() -> None:
    """A store showed them as (1.0, 2.0)."""
    policy = Positions(problem=dpb.UniformMatroid(arms=3, rank=2))
    with pytest.raises(TypeError, match=r"types int64 and int: write int\(arm\)"):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))


class InTurn(dpb.DPJointMAT):
    def plan(self, state: Any, rng: Any) -> Any:
        return Cycle((0, 1), each=1, release=(0, 1))


def test_a_plan_of_joint_releases_plays_one_super_arm() -> None:
    policy = InTurn(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=1)
    with pytest.raises(TypeError, match="Expected a Hold, got a Cycle"):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))


def test_a_grid_is_a_grid() -> None:
    with pytest.raises(TypeError, match="Grid, such as"):
        LazyForgetful(epsilon=1, grid=1)  # type: ignore[arg-type]
