"""When the best arm can be named: as `beliefs` would say at expected totals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import dpbandits as dpb
from dpbandits.forecasting.forecast import expected_bounds, named_after, plain_schedule, schedule_of
from dpbandits.session.beliefs import GROWTH, interval
from tests.session.campaigns import campaign


@pytest.mark.parametrize("cls", [dpb.DPKLUCB, dpb.AdaPUCB, dpb.LazyDPTS, dpb.DPUCBBound])
def test_bounds_are_those_of_beliefs(cls: type[dpb.DPKLUCB]) -> None:
    """Of an arm that is played by itself, at its last release, were its totals as expected. Where
    noise is drawn anew that is what the rows that `beliefs` keeps have in common.
    """
    policy = cls(arms=1, epsilon=1)
    redraws = cls is dpb.DPUCBBound
    history = campaign(policy, [0.4], 2000, 1, growth=GROWTH if redraws else 1.0)
    arm = history.arms[0]
    rows = tuple(replace(row, total=0.4 * row.rounds) for row in arm.kept[0 if redraws else -1 :])
    known = (replace(arm, kept=rows, newest=rows[-1]),)
    only = history.__class__(history.reader, known, 1, history.growth)
    wanted: Any = interval(only, 0, 0.05)
    schedule: Any = schedule_of(policy, 2000)
    low, high = expected_bounds(schedule, np.array([[[2000]]]), np.array([[0.4]]))
    half = history.reader.rounding
    assert low[0, 0, 0] - half == pytest.approx(wanted.low, abs=1e-9)
    assert high[0, 0, 0] + half == pytest.approx(wanted.high, abs=1e-9)


def test_the_first_round_at_which_intervals_are_apart() -> None:
    kept = np.array([10, 1000, 100_000])
    plays = np.stack([kept // 2, kept // 2], axis=1)[None]
    found = named_after(plain_schedule(2), plays, np.array([[0.7, 0.4]]), kept)
    assert found.tolist() == [1000.0]
    alike = named_after(plain_schedule(2), plays, np.array([[0.5, 0.5]]), kept)
    assert alike.tolist() == [np.inf]


def test_an_arm_without_a_release_is_unknown() -> None:
    schedule: Any = schedule_of(dpb.DPKLUCB(arms=2, epsilon=1), 1000)
    low, high = expected_bounds(schedule, np.array([[[5, 400]]]), np.array([[0.9, 0.1]]))
    assert (low[0, 0, 0], high[0, 0, 0]) == (0.0, 1.0)
    assert 0.0 <= low[0, 0, 1] < 0.1 < high[0, 0, 1] < 0.3


def test_policies_that_say_nothing_of_means_have_no_schedule() -> None:
    assert schedule_of(dpb.RNMFTNL(actions=2, epsilon=1), 100) is None
    assert schedule_of(dpb.DPKLUCB(arms=2, epsilon=1), 10) is None, "no release so soon"
