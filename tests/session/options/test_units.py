"""Rewards and costs in the user's own units, and what is believed in them."""

from __future__ import annotations

import json
import traceback
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies import DPKLUCB, LDPKLUCB, TreeFTRL
from tests.session.options.test_people import session
from tests.session.small import loaded


def test_rewards_in_the_users_units() -> None:
    s = session(DPKLUCB(arms=2, epsilon=10**6, first=4), rewards=dpb.Range(0, 250, clip=True))
    for reward in (100, 100, 400, 0):
        s.tell(s.ask(), reward)
    s.tell_many([(d, 250.0) for d in s.ask(4)])
    first, second = s.beliefs()
    assert first.mean == pytest.approx(112.5, abs=250 / 1024)
    assert second.mean == pytest.approx(250, abs=250 / 1024)
    with pytest.raises(dpb.RewardError, match="NaN"):
        s.tell(s.ask(), float("nan"))
    again = loaded(s.to_json())
    assert again.rewards == s.rewards
    assert list(again.beliefs()) == list(s.beliefs())


@pytest.mark.parametrize(
    ("rewards", "default"),
    [
        (None, 0.0),
        (dpb.Range(0, 60), 0.0),
        (dpb.Range(0, 60, minimise=True), 0.0),
        (dpb.Range(-5, 5), 0.0),
        (dpb.Range(1, 5), 1.0),
        (dpb.Range(1, 5, minimise=True), 5.0),
        (dpb.Range(-60, -10), -60.0),
        (dpb.Range(0.1, 0.7), 0.1),
    ],
)
def test_who_did_not_answer_counts_as_nothing_or_as_the_worst(rewards: Any, default: float) -> None:
    """Stars from 1 to 5 were refused, for want of a default that nobody had given."""
    s = session(rewards=rewards)
    assert s.default == default
    s.expire(s.ask())
    assert loaded(s.to_json()).default == default


def test_costs_are_turned_round_and_defaults_are_in_units() -> None:
    s = session(
        DPKLUCB(arms=1, epsilon=10**6, first=2), rewards=dpb.Range(0, 60, minimise=True), default=60
    )
    s.tell(s.ask(), 30)
    s.expire(s.ask())
    assert s.state.totals[0] == pytest.approx(0.5, abs=250 / 1024)
    assert s.beliefs()[0].mean == pytest.approx(45, abs=0.1)
    with pytest.raises(dpb.RewardError, match=r"\[0, 60\]") as told:
        s.tell(s.ask(), 61.0)
    assert "61" not in str(told.value)
    with pytest.raises(ValueError, match="default=6"):
        session(rewards=dpb.Range(10, 60), default=6)
    with pytest.raises(ValueError, match="default=70"):
        session(rewards=dpb.Range(0, 60), default=70)
    with pytest.raises(TypeError, match=r"dpbandits\.Range"):
        session(rewards=(0, 60))
    with pytest.raises(ValueError, match="local model"):
        session(LDPKLUCB(arms=2, epsilon=1), rewards=dpb.Range(0, 60))


def test_beliefs_are_of_released_values_only_and_follow_the_roster() -> None:
    s, rng = session(DPKLUCB(arms=["a", "b"], epsilon=2, first=16)), np.random.default_rng(1)
    assert [(row.label, row.people, row.mean) for row in s.beliefs()] == [
        ("a", 0, None),
        ("b", 0, None),
    ]
    for _ in range(800):
        decision = s.ask()
        s.tell(decision, float(rng.random() < (0.8 if decision.label == "a" else 0.2)))
    found = s.beliefs()
    assert found.best == "a"
    assert [row.people for row in found] == list(s.state.rounds)
    for row, mean in zip(found, (0.8, 0.2), strict=True):
        assert row.low is not None
        assert row.high is not None
        assert row.low < mean < row.high
    before = str(s.beliefs())
    s.tell(s.ask(), 1.0)
    assert str(s.beliefs()) == before
    s.add_arm("c")
    assert [row.label for row in s.beliefs()] == ["a", "b", "c"]
    assert list(loaded(s.to_json()).beliefs()) == list(s.beliefs())
    json.loads(s.to_json())


@pytest.mark.parametrize("default", [Fraction(1, 4), Decimal("0.25"), np.float32(0.25), 0.25])
def test_a_default_of_any_kind_of_number_can_be_saved(default: Any) -> None:
    """It was kept as it came, and no session with a fraction could be written."""
    s = session(rewards=dpb.Range(0, 1), default=default)
    assert type(s.default) is float
    again = loaded(s.to_json())
    for each in (s, again):
        each.expire(each.ask())
    assert again._vault._sums() == s._vault._sums()


def secret() -> Any:
    raise LookupError("the reward is 0.7314")


class OwnList(list[float]):
    def __init__(self) -> None:
        super().__init__([0.7314, 0.0])

    def __iter__(self) -> Any:
        return secret()


class OwnArray(np.ndarray[Any, Any]):
    def __iter__(self) -> Any:
        return secret()


class OwnNumber:
    @property
    def __class__(self) -> Any:
        return secret()

    def __float__(self) -> float:
        return 0.7314


@pytest.mark.parametrize("kind", [OwnList, OwnArray, OwnNumber])
def test_code_that_rewards_bring_along_is_not_repeated_where_there_are_units(kind: Any) -> None:
    array = np.array([0.7314, 0.0])
    reward = array.view(OwnArray) if kind is OwnArray else kind()
    s = session(TreeFTRL(actions=2, epsilon=1, horizon=10), rewards=dpb.Range(0, 10))
    decision = s.ask()
    for call in (lambda: s.tell(decision, reward), lambda: s.tell_many([(decision, reward)])):
        with pytest.raises(dpb.RewardError, match="Nothing was recorded") as refused:
            call()
        assert "0.73" not in "".join(traceback.format_exception(refused.value))
    assert s.pending == (decision,)


SUPER_ARMS = dpb.UniformMatroid(arms=3, rank=2)
SEVERAL = [
    dpb.DPJointMAT(problem=SUPER_ARMS, epsilon=1),
    dpb.DPKLMAT(problem=SUPER_ARMS, epsilon=1),
    dpb.RNMFTNL(actions=2, epsilon=1),
]


@pytest.mark.parametrize("policy", SEVERAL, ids=lambda policy: policy.name)
def test_units_are_of_short_lists_too(policy: Any) -> None:
    """Where 1 in the user's units is 1/4: what is told must not be taken for rewards already."""
    given = session(policy, rewards=dpb.Range(0, 4))
    plain = session(policy, rewards=dpb.Range(0, 1))
    for told in ([1.0, 0.0], [0, 1], [4.0, 1.0], [0.5, 0.25], [1, 1]):
        given.tell(given.ask(), told)
        plain.tell(plain.ask(), [x / 4 for x in told])
    sums = [one._vault.private_state()["sums"] for one in (given, plain)]
    assert sums[0] == sums[1]
    assert max(sums[0]) > 0
