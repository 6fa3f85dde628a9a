"""DPKalmanTS and KalmanTS: the filter, restarts, looks, late rewards and options."""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.mechanisms import Answer
from dpbandits.policies.changing import KalmanState
from dpbandits.policies.contract import Release


def after(policy: Any, blocks: list[tuple[int, float]]) -> KalmanState:
    """The state after these (arm, released mean), each of a block."""
    state, t = policy.init(), 0
    for arm, mean in blocks:
        t += policy.block
        plan = Hold(arm, policy.block, (arm,))
        answer = Answer(mean * policy.block, policy.block, 1)
        state = policy.update(state, plan, Release((arm,), (answer,), t, ((arm, policy.block),)))
    return state


def test_a_block_averages_its_noise_away() -> None:
    assert [dpb.DPKalmanTS(arms=2, epsilon=e, lasting=9).block for e in ("1/4", 1, 3)] == [
        64,
        16,
        6,
    ]


def test_beliefs_are_the_posterior_of_a_random_walk() -> None:
    """Against the joint normal law of all means and releases, conditioned at once."""
    policy = dpb.DPKalmanTS(arms=2, epsilon=1, lasting=10**6)
    b, q, rng = 16, 1 / (16 * 10**6), np.random.default_rng(1)
    blocks = [(int(rng.integers(2)), float(rng.normal(0.5, 0.2))) for _ in range(12)]
    state = after(policy, blocks)
    noise = 0.25 / b + 2 / b**2
    for arm in range(2):
        # the mean after block i is that before plus a step: growth is added before the answer
        at = [i + 1 for i, (each, _) in enumerate(blocks) if each == arm]
        values = np.array([mean for each, mean in blocks if each == arm])
        times = np.array([*at, len(blocks)])
        walk = 1 / 12 + q * b * (np.minimum.outer(times, times) - 1.0)
        # 1/12 caps the growth before an arm's first release
        first = at[0]
        walk = 1 / 12 + q * b * (np.minimum.outer(times, times) - float(first))
        seen = walk[:-1, :-1] + noise * np.eye(len(values))
        share = np.linalg.solve(seen, walk[:-1, -1])
        assert state.means[arm] == pytest.approx(0.5 + share @ (values - 0.5), rel=1e-9)
        assert state.variances[arm] == pytest.approx(walk[-1, -1] - share @ walk[:-1, -1], rel=1e-9)


def test_two_surprises_of_one_arm_in_a_row_reset_all_beliefs() -> None:
    policy = dpb.DPKalmanTS(arms=2, epsilon=1, lasting=10**6, preset="restarts")
    known = [(0, 0.9), (1, 0.3)] * 20
    for surprising, restarts in (
        ([(0, 0.1)], 0),
        ([(0, 0.1), (1, 0.9)], 0),
        ([(0, 0.1), (0, 0.85), (0, 0.1)], 0),
        ([(0, 0.1), (1, 0.3), (0, 0.1)], 1),
        ([(0, 0.1), (0, 0.1)], 1),
    ):
        state = after(policy, known + surprising)
        assert state.restarts == restarts
        assert (state.variances[1] == 1 / 12) is bool(restarts)
        if restarts:
            assert state.means[1] == 0.5
            assert state.surprises == (0, 0)
    assert (
        after(dpb.DPKalmanTS(arms=2, epsilon=1, lasting=10**6), known + [(0, 0.1)] * 2).restarts
        == 0
    )


def test_looks_go_to_the_arm_released_longest_ago_as_often_as_is_said() -> None:
    """10,000 plans; a two-sided binomial bound with a false alarm of 1e-6."""
    policy = dpb.DPKalmanTS(arms=2, epsilon=1, lasting=320, preset="restarts", looks=2)
    assert policy.look == pytest.approx(2 * 2 * 16 / 320)
    state = after(policy, [(1, 0.1)] + [(0, 0.9)] * 3000)._replace(variances=(1e-12, 1e-12))
    looks = sum(policy.plan(state, PublicRng(3, step)).action == 1 for step in range(10_000))
    radius = math.sqrt(math.log(2 / 1e-6) / (2 * 10_000))
    assert abs(looks / 10_000 - policy.look) < radius
