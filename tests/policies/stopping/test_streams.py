"""Streams of values and one estimate: what is refused, and what an error leaves behind."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.policies.stopping.rules import EVERY
from tests.session.small import content


@EVERY
def test_estimates_are_in_the_values_own_units(rule: Any) -> None:
    own = {"epsilon": 50} if rule.guarantee else {}
    rule = replace(rule, alpha=0.3, beta=0.1, cap=10**5, low=10, high=14, grid=1024, **own)
    found = dpb.estimate(rule, [11.0] * 10**4, noise=SimulatedNoise(1))
    assert found.value == pytest.approx(11, rel=0.01)
    assert not found.capped
    mechanism = rule.mechanism()
    assert mechanism.mean(2, 1024) == 12  # one value of 10, one of 14
    assert mechanism.distance(2, 1024) == 24 * 1024 // 4  # 24 in ranges of 4, in grid steps


@EVERY
def test_a_stream_that_ends_gives_what_it_has(rule: Any) -> None:
    found = dpb.estimate(rule, iter([1.0, -1.0, 1.0]), noise=SimulatedNoise(1))
    assert (found.rounds, found.capped) == (3, True)
    if rule.guarantee is None:
        assert found.value == pytest.approx(1 / 3)
    estimator = dpb.Estimator(rule, noise=SimulatedNoise(1))
    for x in (1.0, -1.0, 1.0):
        assert estimator.add(x) is None
    assert estimator.finish() == found == estimator.finish() == estimator.add(1.0)
    assert estimator.session.spent == (rule.guarantee.cost if rule.guarantee else None)
    assert sum(e.stop - e.start for e in estimator.session.ledger) == 3


def test_values_that_were_dropped_do_not_count_towards_the_cap() -> None:
    rule = dpb.DPExponentialNAS(alpha=0.1, beta=0.1, cap=8, epsilon=1)
    session = dpb.Session(rule, noise=SimulatedNoise(1))
    session.tell(session.ask(), 0.5)
    session.drop_open()
    while not session.state.rounds:
        session.tell(session.ask(), 0.5)
    assert (session.state.rounds, session.resolved) == (8, 9)


def test_an_iterator_is_read_no_further_than_needed() -> None:
    read = itertools.count()
    found = dpb.estimate(
        dpb.NAS(alpha=0.5, beta=0.1, cap=1000), (1.0 for _ in read), noise=SimulatedNoise(1)
    )
    assert next(read) == found.rounds < 1000
    assert not found.capped


BAD_VALUES = [math.nan, math.inf, -math.inf, -1.0000001, 1.5, "much", None, [1], 10**400]


@pytest.mark.parametrize("bad", BAD_VALUES, ids=lambda bad: repr(bad)[:12])
def test_bad_values_are_refused_and_nothing_is_recorded(bad: Any) -> None:
    rule = dpb.DPNAS(alpha=0.5, beta=0.05, cap=10**6, epsilon=1)
    estimator = dpb.Estimator(rule, noise=SimulatedNoise(1))
    estimator.add(0.5)
    before = content(estimator)
    with pytest.raises(dpb.RewardError, match="Nothing was recorded") as error:
        estimator.add(bad)
    assert content(estimator) == before
    # the value is not shown
    assert not any(digit in str(error.value).replace("[-1, 1]", "") for digit in "023456789")
    assert estimator.add(-1) is None
    assert estimator.finish().rounds == 2
    consumed: list[float] = []
    with pytest.raises(dpb.RewardError):
        # a list is checked before anything is asked of the noise
        dpb.estimate(rule, [0.5, bad], noise=Failing(consumed))
    assert consumed == []


class Failing(SimulatedNoise):
    """Notes every draw; fails where told to."""

    def __init__(self, log: list[float], fail_at: tuple[int, ...] = ()) -> None:
        super().__init__(1)
        self.log, self.fail_at, self.calls = log, fail_at, 0

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        self.calls += 1
        if self.calls in self.fail_at:
            raise OSError("no randomness")
        self.log.append(value)
        return super().laplace(value, sensitivity=sensitivity, epsilon=epsilon)


@pytest.mark.parametrize("fails", [1, 2, 3, 4])
def test_failing_noise_loses_nothing(fails: int) -> None:
    """A value enters once; only `NotRecordedError` says that it has to be offered again."""
    rule = dpb.DPNAS(alpha=0.9, beta=0.9, epsilon=50, cap=5, low=0, high=1, grid=1)
    again = 0
    for fail_at in itertools.combinations(range(1, 9), fails):
        estimator, offered = dpb.Estimator(rule, noise=Failing([], fail_at)), 0
        while estimator.result is None:
            try:
                offered += 1
                estimator.add(1.0)
            except dpb.NotRecordedError as error:
                offered -= 1
                again += isinstance(error.__cause__, OSError)
            except OSError:
                pass
            stopped_before = (
                estimator.result is not None and estimator.session._current.records < offered
            )
            assert estimator.session._current.records == offered - stopped_before
        assert (
            sum(e.stop - e.start for e in estimator.session.ledger)
            == estimator.result.rounds
            == estimator.session._current.records
            <= 5
        )
    assert (again > 0) is (fails > 1)


def test_finite_environments_end_the_stream() -> None:
    rule = dpb.DPExponentialNAS(alpha=0.5, beta=0.1, cap=10**6, epsilon=1)
    table = dpb.Table(np.tile([[0.0], [1.0]], (50, 1)))
    found = dpb.estimates(rule, table, runs=3, seed=1)
    assert found.rounds.tolist() == [100] * 3
    assert found.capped.all()
    assert len(set(found.value.tolist())) == 3
