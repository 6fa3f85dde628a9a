"""People who come back, rewards in the user's units, and what is believed."""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits as dpb
from dpbandits.campaign.people.register import Register
from dpbandits.core.errors import MessageError
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import DPKLUCB, DPSE, LDPKLUCB, UCB1, AdaCUCB, AnytimeLazyUCB
from tests.session.small import loaded

KEY = b"0123456789abcdef"
POLICY = DPKLUCB(arms=["a", "b"], epsilon=1)
PSEUDONYM_OF_7 = hmac.new(KEY, b"int:7", "sha256").hexdigest()[:32]
"""As it was made at first."""


def session(policy: Any = POLICY, **options: Any) -> dpb.Session:
    return dpb.Session(policy, noise=SimulatedNoise(1), seed=1, **options)


def for_users(cap: int = 2, policy: Any = POLICY, **options: Any) -> dpb.Session:
    return session(policy, privacy_unit="user", max_contributions=cap, **options)


def test_the_policy_runs_at_its_share_and_the_promise_is_to_each_user() -> None:
    s = for_users(4)
    assert s.policy == DPKLUCB(arms=["a", "b"], epsilon="1/4")
    assert s.policy.first == 128  # type: ignore[attr-defined]  # 32/ε of the share
    assert s.guarantee is not None
    assert (s.guarantee.epsilon, s.guarantee.unit) == (1, "user")
    assert "ε = 1 per user (all rewards replaced, at most 4 learned rounds)" in str(s.guarantee)
    rho = for_users(2, AdaCUCB(arms=2, rho=1)).guarantee
    assert rho is not None
    assert rho.rho == 1
    assert for_users(2, AdaCUCB(arms=2, rho=1)).policy.mechanism().promise().rho == Fraction(1, 4)  # type: ignore[union-attr]
    own = for_users(4, DPKLUCB(arms=2, epsilon=1, first=50)).policy
    assert own.first == 50  # type: ignore[attr-defined]  # what was given stays


def test_beyond_the_cap_a_person_gets_a_decision_that_nobody_learns_from() -> None:
    s = for_users(2)
    asked = [s.ask(user="ann") for _ in range(5)]
    assert [d.learn for d in asked] == [True, True, False, False, False]
    for d in asked:
        s.tell(d, 1.0)
    assert (s._vault.records, s.unread, s.pending) == (2, 3, ())
    assert s.ask(user="ben").learn


def test_a_void_decision_gives_its_place_back_and_an_expired_one_does_not() -> None:
    s = for_users(1)
    s.void(s.ask(user="ann"))
    s.expire(s.ask(user="ann"))
    assert not s.ask(user="ann").learn
    s.void(s.pending[-1])
    assert not s.ask(user="ann").learn


def test_windows_open_by_the_clock_and_never_twice() -> None:
    now = [datetime(2026, 1, 1, 12)]
    s = for_users(1, window=timedelta(days=1), clock=lambda: now[0])
    assert [s.ask(user=1).learn for _ in range(2)] == [True, False]
    now[0] += timedelta(days=1)
    assert [s.ask(user=1).learn for _ in range(2)] == [True, False]
    now[0] -= timedelta(days=3)  # a clock that goes back
    assert not s.ask(user=1).learn
    assert "one window of 1 day" in str(s.guarantee)


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_user_is_learned_from_more_often_than_the_cap(data: st.DataObject) -> None:
    """Whatever is asked, told, voided, expired and saved, in any order."""
    cap = data.draw(st.integers(1, 3))
    s = for_users(cap, AnytimeLazyUCB(arms=2, epsilon=1), user_key=KEY)
    whose, learned = dict[int, int](), dict[int, int]()
    for _ in range(data.draw(st.integers(1, 60))):
        match data.draw(st.sampled_from(["ask", "ask", "tell", "void", "expire", "save"])):
            case "ask":
                user = data.draw(st.integers(0, 3))
                whose[s.ask(user=user).id] = user
            case "save":
                s = loaded(s.to_json(), user_key=KEY)
            case what:
                if not s.pending:
                    continue
                decision = data.draw(st.sampled_from(s.pending))
                before = s._vault.records
                if what == "tell":
                    s.tell(decision, 1.0)
                else:
                    getattr(s, what)(decision)
                if s._vault.records > before:
                    user = whose[decision.id]
                    learned[user] = learned.get(user, 0) + 1
    assert all(times <= cap for times in learned.values())
    assert sum(learned.values()) == s._vault.records


def test_names_are_not_kept_and_a_key_is_needed_to_save() -> None:
    with pytest.raises(ValueError, match="Nothing was saved"):
        for_users().to_json()
    s = for_users(1, user_key=KEY)
    s.ask(user="a very particular name")
    text = s.to_json()
    assert "particular" not in text
    assert KEY.hex() not in text
    for wrong in (None, b"another key of 16"):
        with pytest.raises(ValueError, match="user_key="):
            dpb.Session.from_json(text, user_key=wrong)
    again = loaded(text, user_key=KEY)
    assert again.guarantee == s.guarantee
    assert not again.ask(user="a very particular name").learn


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"privacy_unit": "user"}, "max_contributions="),
        ({"privacy_unit": "user", "max_contributions": 0}, "max_contributions=0"),
        ({"privacy_unit": "person"}, "'person'"),
        ({"max_contributions": 3}, "privacy_unit='user'"),
        ({"window": timedelta(1)}, "privacy_unit='user'"),
        ({"privacy_unit": "user", "max_contributions": 1, "window": 7}, "window=7"),
        ({"privacy_unit": "user", "max_contributions": 1, "user_key": b"short"}, "16 bytes"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        session(**options)


def test_a_policy_without_a_budget_cannot_share_it() -> None:
    with pytest.raises(ValueError, match="not private"):
        for_users(2, UCB1(arms=2))


def test_who_is_asked_for_has_to_be_said_where_people_come_back_and_only_there() -> None:
    with pytest.raises(ValueError, match="Expected user="):
        for_users().ask()
    with pytest.raises(ValueError, match="Expected no user="):
        session().ask(user="ann")
    for wrong in (1.5, True, object(), ("ann",), "x" * 2_000):
        s = for_users()
        with pytest.raises(TypeError, match="user="):
            s.ask(user=wrong)  # type: ignore[call-overload]
        assert s.pending == ()


@pytest.mark.parametrize(
    "policy", [DPSE(arms=2, epsilon=1, horizon=1_000), LDPKLUCB(arms=2, epsilon=1)]
)
def test_any_private_policy_can_be_for_users(policy: Any) -> None:
    s = for_users(2, policy)
    randomizer = s.policy.randomizer()
    for _ in range(4):
        decision = s.ask(user=1)
        s.tell(decision, 1.0 if randomizer is None else randomizer.report(1.0, SimulatedNoise(1)))
    assert (s._vault.records, s.unread) == (2, 2)
    assert s.guarantee is not None
    assert s.guarantee.epsilon == 1


class Liar(str):
    """Says another name each time."""

    def __str__(self) -> str:
        return f"{id(object())}"

    __format__ = None  # type: ignore[assignment]


def test_a_name_of_another_kind_is_the_same_person() -> None:
    """NumPy's columns hold names and numbers of their own kinds; a subclass may say anything."""
    s = for_users(1)
    names = ["ann", np.str_("ann"), Liar("ann"), 7, np.int64(7), "7"]
    learned = [s.ask(user=name).learn for name in names]  # type: ignore[call-overload]
    assert learned == [True, False, False, True, False, False]
    assert s.ask(user="07").learn
    with pytest.raises(TypeError, match="user="):
        s.ask(user=10**5_000)


def test_what_was_begun_before_goes_on_to_know_its_people() -> None:
    """Then 7 and "7" were two; were they one from now on, both would be new, and learned from
    again.
    """
    register = Register(1, window=None, clock=None, key=KEY)
    assert register.pseudonym(7) == register.pseudonym("7")
    data = register.to_data({})
    again, _ = Register.restored(data, None, KEY, 0)
    assert again.pseudonym(7) == register.pseudonym("7")
    del data["typed"]
    for _ in range(2):  # and so after it is saved
        older, _owners = Register.restored(data, None, KEY, 0)
        assert older.pseudonym(7) == PSEUDONYM_OF_7
        assert older.pseudonym("7") == register.pseudonym("7") != PSEUDONYM_OF_7
        data = older.to_data({})


def test_times_before_1970_are_times() -> None:
    now = [-(10.0**9)]
    s = for_users(1, window=timedelta(days=1), clock=lambda: now[0])
    assert [s.ask(user=1).learn for _ in range(2)] == [True, False]
    now[0] += 86_400
    assert s.ask(user=1).learn


def test_no_report_is_asked_for_where_nobody_learns() -> None:
    """In the local model a report costs its user whether it is read or not: beyond the cap devices
    were asked all the same, and what was promised to each user was spent twice over.
    """
    s = for_users(2, LDPKLUCB(arms=2, epsilon=1))
    device = dpb.Client(s.description(), most=1, total=9, noise=SimulatedNoise(1), simulated=True)
    for _ in range(5):
        decision = s.ask(user="ann")
        if decision.learn:
            s.tell_message(device.answer(decision.to_json(), 1.0))
            continue
        with pytest.raises(MessageError, match="learn=False"):
            decision.to_json()
        s.expire(decision)
    assert s.guarantee is not None
    assert device._budget.spent == s.guarantee.epsilon == 1  # type: ignore[attr-defined]
    assert s.pending == ()


def test_a_clock_that_fails_makes_no_decision() -> None:
    """It was asked before each of several decisions, and those until then had been made."""
    times = iter([0.0, 0.0])
    s = for_users(9, window=timedelta(days=1), clock=lambda: next(times))
    s.ask(2, user="ann")
    assert len(s.ask(3, user="ann")) == 3
    with pytest.raises(StopIteration):
        s.ask(4, user="ann")
    assert len(s.pending) == 5
