"""Answers are told of decisions, not of arms or lists. What is refused shows no reward."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from tests.service.http.web import client_of, remote

SECRET = 0.7314


@pytest.fixture(params=["near", "far"])
def trial(store: Any, request: pytest.FixtureRequest) -> Any:
    made = store.create("trial", dpb.recommend(arms=["a", "b"], epsilon=1))
    return remote(client_of(store))["trial"] if request.param == "far" else made


def refused(call: Any, kind: Any, match: str) -> None:
    with pytest.raises(kind, match=match) as said:
        call()
    assert str(SECRET) not in str(said.value)
    assert said.value.__context__ is None or str(SECRET) not in str(said.value.__context__)


def test_what_is_no_decision_is_none(trial: Any) -> None:
    """An arm's name, what is no text, and a list of decisions."""
    made = trial.ask(2)
    for wrong in ("a", "0" * 31, "0" * 31 + "G", ""):
        refused(partial(trial.tell, wrong, SECRET), ValueError, "an arm's name")
    for wrong in (0, SECRET, None, {"id": 1}, b"0" * 32, made):
        for call in (
            partial(trial.tell, wrong, 1),
            partial(trial.tell_many, [(wrong, 1)]),
            partial(trial.expire, wrong),
            partial(trial.void, wrong),
        ):
            refused(call, TypeError, "Expected a decision.*one by one")
    assert trial.tell("0" * 32, 1) == "unknown"
    assert trial.summary().waiting == 2
    assert [trial.tell(made[0].id, 1), *trial.expire(*made)] == ["recorded", "already", "recorded"]


class Told(tuple[Any, ...]):
    """A record with code of its own, which says what is in it."""

    def __iter__(self) -> Any:
        raise KeyError(*map(str, self[:]))

    __len__ = __iter__


def test_what_is_no_pair_is_said_and_not_shown(trial: Any) -> None:
    """Nor is what code says that records bring along."""
    words, record = r"entry 1 \(counted from 0\) of 2 is an", Told((SECRET,))
    for wrong in ("a", SECRET, ("a", SECRET, 1), "ab"):
        refused(partial(trial.tell_many, [(trial.ask(), 1), wrong]), TypeError, words)
    for given in (record, [record], [(trial.ask(), record)]):
        refused(partial(trial.tell_many, given), (TypeError, ValueError), "Expected")
    assert trial.summary().told == 0
    assert trial.tell(trial.ask(), np.array(0.5)) == "recorded"


def test_an_error_of_what_makes_the_pairs_is_said(trial: Any) -> None:
    """It was taken for one of the records'."""
    decisions = trial.ask(2)

    def fetched(decision: Any) -> Any:
        raise ConnectionError("the shop is away")

    for pairs in (map(fetched, decisions), filter(fetched, [(decisions[0], 0.5)])):
        with pytest.raises(ConnectionError, match="the shop is away"):
            trial.tell_many(pairs)
    with pytest.raises(TypeError, match="Are all that it zips of one length"):
        trial.tell_many(zip(decisions, [0.5], strict=True))
    assert trial.summary().told == 0


def test_numbers_of_every_kind_are_rewards_and_others_are_none(trial: Any) -> None:
    for reward in (np.int64(1), np.float32(0.5), Fraction(1, 2), True, 1):
        assert trial.tell(trial.ask(), reward) == "recorded"
    decision = trial.ask()
    for wrong in (str(SECRET), {"reward": SECRET}, b"0.7314"):
        refused(partial(trial.tell, decision, wrong), dpb.RewardError, "Expected")
    for none in (None, float("nan")):
        refused(partial(trial.tell, decision, none), dpb.RewardError, "expire the decision")
    assert trial.tell(decision, 1.0) == "recorded", "nothing had been done"
