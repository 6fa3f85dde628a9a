"""The runs that an audit counts are those of a `Session`, decision by decision."""

from typing import Any

import numpy as np
import pytest

from dpbandits import Session, SimulatedNoise
from dpbandits.checks import examples
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Release
from dpbandits.session.state import Released
from dpbandits.simulation.transcript import decisions
from tests.families import NEAR


@pytest.mark.parametrize("name", [*NEAR, "NaiveFTNL", "TreeFTRL", "CUCBDP"])
def test_runs_are_those_of_sessions(name: str) -> None:
    """With the same noise, coins and rewards; and what was released is the same."""
    policy = examples(name)[0]
    assert name in POLICIES
    table = np.random.default_rng(1).integers(0, 2, (150, policy.arms)).astype(float)
    bandit, randomizer = policy.about.feedback == "bandit", policy.randomizer()
    for seed in range(3):
        noise, released, played = SimulatedNoise(seed), list[Release](), list[Any]()
        rows: Any = table.tolist() if bandit else table
        ours = decisions(policy, rows, noise=noise, seed=seed, releases=released)
        again = SimulatedNoise(seed)
        session = Session(policy, noise=again, seed=seed)
        journal = session._tables.journal = list[Any]()
        for row in table:
            decision = session.ask()
            action: Any = decision.action
            seen: Any = row[action] if bandit else row[list(decision.observe or range(len(row)))]
            session.tell(decision, seen if randomizer is None else randomizer.report(seen, again))
            played.append(action)
        assert list(ours) == played
        assert again.state() == noise.state()
        assert released == [each.release for each in journal if isinstance(each, Released)]
