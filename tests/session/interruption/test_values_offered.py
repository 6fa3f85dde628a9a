"""An estimator whose call was interrupted takes no value twice."""

from __future__ import annotations

import contextlib

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.session.interruption.interrupted import (
    POLICIES,
    Interrupted,
    interrupt,
)


@pytest.mark.parametrize("line", range(1, 60, 3))
def test_an_estimator_asks_no_second_decision_for_one_value(line: int) -> None:
    estimator = dpb.Estimator(POLICIES["stopping rule"], noise=SimulatedNoise(1))
    for _ in range(4):
        with contextlib.suppress(Interrupted):
            interrupt(lambda: estimator.add(0.0), line)
    estimator.add(0.0)
    assert estimator.session.pending == ()


def test_a_value_offered_again_at_its_place_is_taken_once() -> None:
    """A call that was interrupted and made again counted its value twice at 173 of 276 lines."""
    line = 0
    while True:
        line += 1
        estimator, stopped = (
            dpb.Estimator(POLICIES["stopping rule"], noise=SimulatedNoise(1)),
            False,
        )
        for at in range(3):
            try:
                interrupt(lambda: estimator.add(0.0, at=at), line)  # noqa: B023  # called at once
            except Interrupted:
                stopped = True
                estimator.add(0.0, at=at)
            assert estimator.offered == at + 1
        estimator.session.settle()
        assert estimator.session._vault.records + estimator.session.lost == 3
        if not stopped:
            return


def test_places_of_values() -> None:
    estimator = dpb.Estimator(POLICIES["stopping rule"], noise=SimulatedNoise(1))
    with pytest.raises(ValueError, match="at=1 to be at most 0, the values offered so far"):
        estimator.add(0.0, at=1)
    for at in (0, 0, 1, 0, 1):
        estimator.add(0.0, at=at)
    assert estimator.offered == 2
