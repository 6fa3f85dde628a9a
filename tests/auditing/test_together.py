"""Level 1 on sums that are released together: exactly the claim, whatever part of them a record
touches.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpbandits.auditing import replays
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import JointBatch

HALF = Fraction(1, 2)


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_a_record_of_one_arm_costs_what_a_whole_record_does(
    arm: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where sums are released together, there is no discount for a record that moves one of them
    alone (proofs/joint_batch.md).
    """

    def moves(steps: Any, full: int, unit: int, rng: Any) -> Any:
        alone = np.where(np.arange(len(steps)) == arm, unit, 0)
        return [alone, -alone]

    monkeypatch.setattr(replays, "wishes", moves)
    result = transcript_level(feed(JointBatch(epsilon=HALF, size=3, grid=Grid(steps=1))), rounds=32)
    assert result.outcome == "passed"
    assert Fraction(result.details["loss"]) == HALF
    assert result.lower_bound == float(HALF)
    assert np.flatnonzero(result.details["change"]).tolist() == [arm]
