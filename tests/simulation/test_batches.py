"""Index policies decide by a few scores what all scores decide, on one tape and in law."""

from typing import Any

import numpy as np
import pytest

from dpbandits import DPIMED, DPKLUCB, AdaCUCB, AdaPKLUCB, AdaPUCB, AnytimeLazyUCB, DPRateIMED
from dpbandits.checks import CHECKS
from dpbandits.simulation.compiled.batches import FEW, player_of
from dpbandits.simulation.compiled.players import kernel_for

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
    few: int, policy: Any, means: Any, rounds: int, seed: int
) -> tuple[Any, list[list[int]]]:
    """(releases, events, …) and play counts; below `few` arms all scores are computed."""
    marks = np.array(sorted({*range(5, min(rounds, 300), 5), rounds // 2, rounds}))
    steps, out = policy.reader.grid.steps, np.zeros((len(marks), policy.arms), np.int64)
    numbers = kernel_for(policy).args[0]  # type: ignore[union-attr]
    play = player_of(policy.rule, policy.reader, isinstance(policy, AnytimeLazyUCB), few)
    assert play is not None
    law = np.stack([1.0 - means, means], axis=1)
    rng = np.random.default_rng(seed)
    found = play(numbers, steps, np.array([0, steps]), law, rounds, marks, rng, out)
    return found, out.tolist()


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_same_decisions_on_one_tape(policy: Any, world: str) -> None:
    """Both draw in the same order, so that one other decision changes what is played."""
    for seed in range(3):
        for rounds in ROUNDS:
            case = policy, WORLDS[world], rounds, seed
            assert played(FEW, *case) == played(ARMS + 1, *case)


@pytest.mark.hours
def test_law_of_the_plain_hosts() -> None:
    """Play counts, regret, releases and events; false alarms: 10⁻⁶."""
    CHECKS["compiled_law"](DPKLUCB(arms=ARMS, epsilon=1, first=1))
    CHECKS["compiled_law"](AnytimeLazyUCB(arms=ARMS, epsilon=1))
