"""What a session is told: rewards, reports and ids that are refused, late and missing tells;
nothing is lost or half-applied.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from tests.session.small import content, session


@pytest.mark.parametrize(
    "reward", [math.nan, math.inf, -math.inf, -1e-9, 1.0000001, "high", None, [1], 10**400]
)
def test_bad_reward_is_refused_and_nothing_is_recorded(reward: Any) -> None:
    s = session()
    d = s.ask()
    before = content(s)
    with pytest.raises(dpb.RewardError, match="Nothing was recorded") as error:
        s.tell(d, reward)
    assert content(s) == before
    # the value is not shown
    assert not any(digit in str(error.value).replace("[0, 1]", "") for digit in "0123456789")
    s.tell(d, 1.0)  # the decision can still be told


@pytest.mark.parametrize("reward", [0, 1, True, np.float64(0.5), np.int64(1), Fraction(1, 3), 0.25])
def test_numbers_of_any_kind_are_rewards(reward: Any) -> None:
    s = session()
    s.tell(s.ask(), reward)


def test_tells_resolve_once() -> None:
    s = session()
    d = s.ask()
    s.tell(d.id, 1.0)
    for wrong in (d, d.id):
        with pytest.raises(dpb.DecisionError, match="resolved already"):
            s.tell(wrong, 0.0)
        with pytest.raises(dpb.DecisionError, match="resolved already"):
            s.expire(wrong)
    for unknown in (99, 0, -1, "x", None, [1]):
        with pytest.raises(dpb.DecisionError, match="Expected a decision this session made"):
            s.tell(unknown, 0.0)  # type: ignore[arg-type]


def test_tell_many_is_all_or_nothing() -> None:
    s = session()
    ds = s.ask(count=4)
    before = content(s)
    for bad in (
        [(ds[0], 1.0), (ds[1], math.nan)],
        [(ds[0], 1.0), (ds[0], 1.0)],
        [(ds[0], 1.0), (77, 1.0)],
    ):
        with pytest.raises((dpb.RewardError, dpb.DecisionError)):
            s.tell_many(bad)
        assert content(s) == before
    s.tell_many([(d, 1.0) for d in reversed(ds)])
    assert s.pending == ()


def test_late_tells_enter_the_open_block_and_divide_by_its_count() -> None:
    """A block closes by its own count of answers, whichever they are and whatever is planned."""
    s = dpb.Session(
        dpb.DPKLUCB(arms=2, epsilon=1, first=4, grid=1), noise=dpb.SimulatedNoise(3), seed=1
    )
    asked = s.ask(count=16)
    assert [d.action for d in asked] == [0] * 4 + [1] * 4 + [0, 1] * 4
    of_arm = [[d for d in asked if d.action == arm] for arm in (0, 1)]
    for d in of_arm[1][4:]:  # the later ones first
        s.tell(d, 1.0)
    assert s.state.rounds == (0, 4)
    for d in of_arm[1][:1]:  # late: arm 1's next block, which takes two
        s.tell(d, 0.0)
    assert s._vault.public_state()["counts"] == [0, 1]
    assert [(e.coordinate, e.stop - e.start) for e in s.ledger] == [(1, 4)]
    for d in of_arm[0][4:]:
        s.tell(d, 1.0)
    assert (s.state.rounds, s.state.open) == ((4, 4), (0, 1))


def test_expiry_enters_the_declared_default() -> None:
    for default, total in ((0.0, 0), (1.0, 4)):
        s = dpb.Session(dpb.UCB1(arms=1, grid=1), noise=dpb.SimulatedNoise(1), default=default)
        for _ in range(4):
            s.expire(s.ask())
        assert s.state.totals == (total,)


def test_failed_noise_source_loses_nothing() -> None:
    """The release is made by the next call when the source works again."""
    s = session()
    honest, failing = s._noise.laplace, True

    def laplace(*args: Any, **kwargs: Any) -> int:
        if failing:
            raise OSError("no randomness")
        return honest(*args, **kwargs)

    s._noise.laplace = laplace  # type: ignore[method-assign]
    for _ in range(3):
        s.tell(s.ask(), 1.0)
    with pytest.raises(OSError, match="no randomness"):
        s.tell(s.ask(), 1.0)
    assert s.ledger == ()
    failing = False
    assert s.ask().action == 1
    assert [e.stop - e.start for e in s.ledger] == [4]


def test_a_changed_or_foreign_decision_is_unknown() -> None:
    s = session()
    d = s.ask()
    before = content(s)
    for wrong in (d._replace(action=2), d._replace(round=99), d._replace(observe=(0,)), True, 1.0):
        with pytest.raises(dpb.DecisionError):
            s.tell(wrong, 1.0)  # type: ignore[arg-type]
    assert content(s) == before
    s.tell(np.int64(d.id), 1.0)  # an id read back from a table


def test_the_arms_to_observe_are_part_of_a_decision() -> None:
    """In another order the rewards would be other arms'."""
    s = dpb.Session(
        dpb.LazyCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=1), noise=dpb.SimulatedNoise(1), seed=1
    )
    d = s.ask()
    for tell in (
        lambda: s.tell(d._replace(observe=(1, 0)), [1.0, 0.0]),
        lambda: s.expire(d._replace(observe=(1,))),
    ):
        with pytest.raises(
            dpb.DecisionError,
            match="as this session made it, got one with another action, round or arms to observe",
        ):
            tell()
    s.tell(d, [1.0, 0.0])


def test_expiring_an_unknown_decision_changes_nothing() -> None:
    s = dpb.Session(dpb.LDPUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1), seed=1)
    before = content(s)
    with pytest.raises(dpb.DecisionError):
        s.expire(5)
    assert content(s) == before


@pytest.mark.parametrize("steps", [10**9, -1, 512, "1024", math.nan, 1024.0, True])
def test_damaged_reports_are_refused(steps: Any) -> None:
    policy = dpb.LDPKLUCB(arms=2, epsilon=1)
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    d = s.ask()
    report = policy.randomizer().report(1.0, dpb.SimulatedNoise(1))
    with pytest.raises(dpb.RewardError, match="damaged"):
        s.tell(d, dpb.Report(steps, report.randomizer, report.noise))
    s.tell(d, report)


@pytest.mark.parametrize(
    "policy", [dpb.HybridUCB(arms=2, epsilon=1), dpb.DPUCB(arms=2, epsilon=1, horizon=64)], ids=repr
)
def test_counters_survive_a_failing_noise_source(policy: Any) -> None:
    """A draw that fails leaves the tree as it was: the answer afterwards still counts every
    reward.
    """

    class Failing(dpb.SimulatedNoise):
        """Adds nothing, and fails every third time."""

        calls = 0

        def laplace(self, value: int, **price: Any) -> int:
            self.calls += 1
            if self.calls % 3 == 0:
                raise OSError("no randomness")
            return value

    s = dpb.Session(policy, noise=Failing(1), seed=1)
    for _ in range(50):
        try:
            s.tell(s.ask(), 1.0)
        except OSError:
            continue
    while s._wheel.turn.progress.due is not None:
        try:
            s.ask()
        except OSError:
            continue
    told = 50 - sum(d.round <= 50 for d in s.pending)
    assert sum(s.state.pulls) == told
    # silent noise, every reward 1: nothing is missing or double
    assert list(s.state.totals) == list(s.state.rounds)


def test_local_session_takes_reports_only() -> None:
    policy = dpb.LDPUCB(arms=2, epsilon=1)
    s = dpb.Session(policy, noise=dpb.SecureNoise())
    d = s.ask()
    with pytest.raises(TypeError, match="Nothing was recorded"):
        s.tell(d, 1.0)
    with pytest.raises(dpb.RewardError, match="simulated"):
        s.tell(d, policy.randomizer().report(1.0, dpb.SimulatedNoise(1)))
    with pytest.raises(dpb.RewardError, match=r"epsilon=1, .*another randomizer"):
        s.tell(d, dpb.LDPUCB(arms=2, epsilon=2).randomizer().report(1.0, dpb.SecureNoise()))
    s.tell(d, policy.randomizer().report(1.0, dpb.SecureNoise()))
    assert s.guarantee.trust == "local"  # type: ignore[union-attr]
    assert s.spent == 1


def test_non_private_policy_refuses_reports() -> None:
    s = session()
    report = dpb.LDPUCB(arms=2, epsilon=1).randomizer().report(1.0, dpb.SimulatedNoise(1))
    with pytest.raises(dpb.RewardError):
        s.tell(s.ask(), report)
