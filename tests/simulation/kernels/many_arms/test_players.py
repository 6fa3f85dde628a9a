"""Players for many arms decide what the plain ones decide, on one tape and in law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpbandits import (
    DPIMED,
    DPKLUCB,
    AdaCUCB,
    AdaPKLUCB,
    AdaPUCB,
    AnytimeLazyUCB,
    DPRateIMED,
)
from dpbandits.checks import CHECKS
from dpbandits.simulation.kernels.batches import play_batches, play_lazy
from dpbandits.simulation.kernels.many_arms.players import play_many, play_many_lazy
from dpbandits.simulation.parts.skew import empty_heaps, pop, push, remove
from dpbandits.simulation.players.table import kernel_for

ARMS = 60
POLICIES = [
    DPKLUCB(arms=ARMS, epsilon=1),
    DPKLUCB(arms=ARMS, epsilon=30, grid=2, alpha=1.1),
    DPKLUCB(arms=ARMS, epsilon=0.05),
    DPIMED(arms=ARMS, epsilon=1),
    DPIMED(arms=ARMS, epsilon=30, grid=1),
    DPRateIMED(arms=ARMS, epsilon=1),
    DPRateIMED(arms=ARMS, epsilon=1, preset="mean"),
    DPRateIMED(arms=ARMS, epsilon=30, grid=1, alpha=1.1),
    DPRateIMED(arms=ARMS, epsilon=0.05, first=3, preset="safe"),
    AdaPUCB(arms=ARMS, epsilon=0.5),
    AdaPKLUCB(arms=ARMS, epsilon=1),
    AdaPKLUCB(arms=ARMS, epsilon=30, grid=1),
    AdaCUCB(arms=ARMS, rho=0.5),
    AnytimeLazyUCB(arms=ARMS, epsilon=0.5),
    AnytimeLazyUCB(arms=ARMS, epsilon=30, grid=1),
]
WORLDS = {
    "spread": np.linspace(0.85, 0.15, ARMS),
    "equal": np.full(ARMS, 0.5),
    "sure": np.repeat([1.0, 0.0], ARMS // 2),
    "near 1": 1.0 - np.geomspace(1e-6, 1e-1, ARMS),
}
ROUNDS = (37, 61, 700, 30_000)


def played(
    play: Any, policy: Any, means: Any, rounds: int, seed: int
) -> tuple[Any, list[list[int]]]:
    """(releases, events, …) and play counts at some rounds."""
    marks = np.array(sorted({*range(5, min(rounds, 300), 5), rounds // 2, rounds}))
    steps, out = policy.reader.grid.steps, np.zeros((len(marks), policy.arms), np.int64)
    numbers = kernel_for(policy).args[0]  # type: ignore[union-attr]
    law = np.stack([1.0 - means, means], axis=1)
    rng = np.random.default_rng(seed)
    found = play(numbers, steps, np.array([0, steps]), law, rounds, marks, rng, out)
    return found, out.tolist()


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_same_decisions_on_one_tape(policy: Any, world: str) -> None:
    """Both draw in the same order, so that one other decision changes what is played."""
    lazy = isinstance(policy, AnytimeLazyUCB)
    many, plain = (play_many_lazy, play_lazy) if lazy else (play_many, play_batches)
    for seed in range(3):
        for rounds in ROUNDS:
            case = policy, WORLDS[world], rounds, seed
            assert played(many, *case) == played(plain, *case)


@pytest.mark.long
def test_law_of_the_plain_hosts() -> None:
    """Play counts, regret, releases and events; false alarms: 10⁻⁶."""
    CHECKS["compiled_law"](DPKLUCB(arms=ARMS, epsilon=1, first=1))
    CHECKS["compiled_law"](AnytimeLazyUCB(arms=ARMS, epsilon=1))


def test_heaps_give_arms_in_order() -> None:
    rng = np.random.default_rng(0)
    heaps = empty_heaps(2, 200)
    keys = rng.integers(0, 30, 200).astype(float)
    for arm in rng.permutation(200):
        push(heaps, arm % 2, arm, keys[arm])
    for arm in (4, 10, 50):
        remove(heaps, 0, arm)
    left = [arm for arm in range(0, 200, 2) if arm not in (4, 10, 50)]
    assert [pop(heaps, 0) for _ in left] == sorted(left, key=lambda arm: (-keys[arm], arm))
    assert heaps.root.tolist()[0] == -1
    assert pop(heaps, 1) == max(range(1, 200, 2), key=lambda arm: (keys[arm], -arm))
