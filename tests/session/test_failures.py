"""A noise source that fails twice running: every call says whether its reward is recorded, and none
is lost or counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.plan import PublicRng
from dpbandits.noise import SimulatedNoise
from dpbandits.session.wheel.turn import note_recorded
from tests.session.small import content


class Flaky(SimulatedNoise):
    """Fails while it is told to."""

    failing = False

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        if self.failing:
            raise OSError("no randomness")
        return super().laplace(value, sensitivity=sensitivity, epsilon=epsilon)


RECORDED = (
    "This reward is recorded, and its decision is no longer pending. The error is of what it "
    "completes, a release or a plan; what is still due is made by the next call."
)


@dataclass(frozen=True)
class Frozen(Exception):
    """An error that takes no note."""


def test_a_note_is_said_where_the_next_call_mends() -> None:
    for error, notes in ((OSError(), [RECORDED]), (Frozen(), None), (dpb.HorizonError(), None)):
        note_recorded(error)
        assert getattr(error, "__notes__", None) == notes


def one_arm() -> tuple[dpb.Session, Flaky]:
    noise = Flaky(1)
    return dpb.Session(dpb.AnytimeLazyUCB(arms=1, epsilon=1), noise=noise, seed=1), noise


def counted(s: dpb.Session) -> int:
    state = s._vault.public_state()
    return int(sum(state["counts"]) + sum(clock for _, clock in state["ledger"]["clocks"]))


def test_a_tell_says_whether_it_recorded() -> None:
    """The first failure comes after the reward has entered; later ones before, under a name of
    their own and with their cause.
    """
    s, noise = one_arm()
    decisions = s.ask(3)
    noise.failing = True
    with pytest.raises(OSError, match="no randomness") as first:
        s.tell(decisions[0], 1.0)
    assert first.value.__notes__ == [RECORDED]
    assert (counted(s), s.pending) == (1, tuple(decisions[1:]))
    for _ in range(2):
        with pytest.raises(dpb.NotRecordedError, match="recorded nothing") as error:
            s.tell(decisions[1], 1.0)
        assert isinstance(error.value.__cause__, OSError)
        with pytest.raises(dpb.NotRecordedError):
            s.settle()
        assert (counted(s), s.pending) == (1, tuple(decisions[1:]))
    noise.failing = False
    for decision in decisions[1:]:
        s.tell(decision, 1.0)
    assert (counted(s), s.pending) == (3, ())


def test_a_tell_of_a_super_arm_says_so_too() -> None:
    """Its oracle fails as the next plan is made: the block is read, the plan is still due."""
    failing = False

    def heaviest(weights: Any) -> Any:
        if failing:
            raise OSError("no catalogue")
        return weights.argsort()[-2:]

    problem = dpb.UserDecisionSet(arms=4, size=2, oracle=heaviest)
    policy = dpb.DPJointCUCB(problem=problem, epsilon=4)
    s = dpb.Session(policy, noise=SimulatedNoise(1), seed=1)
    decisions = s.ask(policy.plan(policy.init(), PublicRng(1, 0)).rounds)
    for decision in decisions[:-1]:
        s.tell(decision, [1, 0])
    failing = True
    with pytest.raises(OSError, match="no catalogue") as first:
        s.tell(decisions[-1], [1, 0])
    assert first.value.__notes__ == [RECORDED]
    assert (s._vault.records, s.releases, s.pending) == (len(decisions), 1, ())
    with pytest.raises(dpb.NotRecordedError, match="recorded nothing") as error:
        s.settle()
    assert isinstance(error.value.__cause__, OSError)
    failing = False
    s.settle()
    assert (s._vault.records, s.releases) == (len(decisions), 1)
    assert s.ask().action is not None


def test_tell_many_says_how_many_are_recorded() -> None:
    """Those are the first ones; the others are told again, as a list."""
    s, noise = one_arm()
    pairs = [(decision, 1.0) for decision in s.ask(4)]
    noise.failing = True
    with pytest.raises(OSError, match="no randomness") as error:
        s.tell_many(pairs)
    assert error.value.__notes__ == [
        RECORDED,
        (
            "tell_many: the first 1 of 4 pairs are resolved; the others are pending and can be "
            "told again."
        ),
    ]
    assert s.pending == tuple(decision for decision, _ in pairs[1:])
    with pytest.raises(dpb.NotRecordedError):
        s.tell_many(pairs[1:])
    assert (counted(s), len(s.pending)) == (1, 3)
    noise.failing = False
    s.tell_many(pairs[1:])
    assert (counted(s), s.pending) == (4, ())


def test_settle_makes_what_is_due_and_no_more() -> None:
    s, noise = one_arm()
    before = content(s)
    s.settle()
    assert content(s) == before
    noise.failing = True
    with pytest.raises(OSError, match="no randomness"):
        s.tell(s.ask(), 1.0)
    assert s.releases == 0
    noise.failing = False
    s.settle()
    assert (s.releases, s.pending) == (1, ())


@pytest.mark.parametrize(
    "policy",
    [
        dpb.DPUCB(arms=1, epsilon=1, horizon=3),
        dpb.TreeFTRL(actions=2, epsilon=1, horizon=3),
        dpb.CUCBDP(problem=dpb.TopK(arms=2, k=1), epsilon=1, horizon=3),
    ],
    ids=lambda policy: policy.name,
)
def test_beyond_its_horizon_a_policy_says_so_and_reads_nothing(policy: dpb.Policy) -> None:
    """Every further call has the same error, and none has another one around it."""
    s = dpb.Session(policy, noise=SimulatedNoise(1), seed=1)
    reward = {"bandit": 1.0, "full": [1.0, 1.0]}.get(policy.about.feedback, [1.0])
    words = r"Expected at most \d+ releases of one arm.* one more is due.* a longer horizon"

    def play() -> None:
        s.ask()  # it waits still
        while True:
            s.tell(s.ask(), reward)

    with pytest.raises(dpb.HorizonError, match=words):
        play()
    ledger, waiting = s.ledger, s.pending
    for call in (lambda: s.tell(waiting[0], reward), s.ask, s.settle):
        with pytest.raises(dpb.HorizonError, match=words):
            call()
    assert (s.ledger, s.pending) == (ledger, waiting)
