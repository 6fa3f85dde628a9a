"""People who come back: nobody is learned from more often than the cap, whatever they are called.
What all learned rounds of a user cost is in `test_options_together.py`.
"""

import json
import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.core.errors import MessageError
from dpbandits.session.people import hashed_place, rule_of
from tests.session.small import begun, changed, document, first, loaded, parts, recorded

KEY = b"0123456789abcdef"
POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1)
DAY = timedelta(days=1)


def for_users(cap: int = 2, policy: Any = POLICY, **options: Any) -> Any:
    return begun(policy, privacy_unit="user", max_contributions=cap, **options)


def test_windows_open_by_the_clock_and_never_twice() -> None:
    now: list[Any] = [datetime(2026, 1, 1, 12)]
    s = for_users(1, window=DAY, clock=lambda: now[0])
    assert [s.ask(user=1).learn for _ in range(2)] == [True, False]
    now[0] += DAY
    assert [s.ask(user=1).learn for _ in range(2)] == [True, False]
    now[0] -= 3 * DAY  # a clock that goes back
    assert not s.ask(user=1).learn
    assert "one window of 1 day" in str(s.guarantee)
    now = [-(10.0**9)]  # a time before 1970 is a time
    s = for_users(1, window=DAY, clock=lambda: now[0])
    assert [s.ask(user=1).learn for _ in range(2)] == [True, False]
    now[0] += 86_400
    assert s.ask(user=1).learn


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
            loaded(text, user_key=wrong)
    with pytest.raises(ValueError, match=r"no user_key=|damaged"):  # then nobody would count
        loaded(changed(document(s), "public.people", None), user_key=KEY)
    again = loaded(text, user_key=KEY)
    assert again.guarantee == s.guarantee
    assert not again.ask(user="a very particular name").learn
    with pytest.raises(ValueError, match="no user_key="):
        loaded(begun(POLICY), user_key=KEY)


def test_who_is_asked_for_has_to_be_said_where_people_come_back_and_only_there() -> None:
    with pytest.raises(ValueError, match="Expected user="):
        for_users().ask()
    with pytest.raises(ValueError, match="Expected no user="):
        begun(POLICY).ask(user="ann")
    s, store = for_users(), dpb.open_store("memory:", noise=dpb.SimulatedNoise(1), key=KEY)
    campaign: Any = store.create("c", POLICY, privacy_unit="user", max_contributions=2)
    # a flag of another library has an index, too
    flag: Any = type("Flag", (), {"__index__": lambda self: 1})()
    for wrong in (1.5, True, np.True_, flag, object(), ("ann",), "x" * 2_000, 10**5_000):
        for host in (s, campaign):
            with pytest.raises(TypeError, match="user="):
                host.ask(user=wrong)
    assert s.pending == ()
    assert campaign.pending() == []


class Liar(str):
    """Says another name each time."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{id(object())}"

    __format__ = None  # type: ignore[assignment]


def test_a_name_of_another_kind_is_the_same_person() -> None:
    """NumPy's columns hold names and numbers of their own kinds; a subclass may say anything."""
    s = for_users(1)
    names = ["ann", np.str_("ann"), Liar("ann"), 7, np.int64(7), "7", "07"]
    learned = [s.ask(user=name).learn for name in names]
    assert learned == [True, False, False, True, False, False, True]


def test_no_report_is_asked_for_where_nobody_learns() -> None:
    """In the local model a report costs its user whether it is read or not."""
    s = for_users(2, dpb.LDPKLUCB(arms=2, epsilon=1))
    noise = dpb.SimulatedNoise(1)
    device = dpb.Client(s.description(), most=1, total=9, noise=noise, simulated=True)
    for _ in range(5):
        decision = s.ask(user="ann")
        if decision.learn:
            s.tell_message(device.answer(decision.to_json(), 1.0))
            continue
        with pytest.raises(MessageError, match="learn=False"):
            decision.to_json()
        s.expire(decision)
    assert device._budget.spent == s.guarantee.epsilon == 1  # type: ignore[attr-defined]
    assert s.pending == ()


@pytest.mark.parametrize("policy", [dpb.LDPUCB(arms=2, epsilon=1), POLICY])
def test_a_report_that_is_held_costs_a_place_though_its_decision_is_void(policy: Any) -> None:
    """The server has seen it. A reward that is held is never read then."""
    s = for_users(1, policy, attribution_window=DAY)
    decision, randomizer = s.ask(user="ann"), policy.randomizer()
    s.tell(decision, 1.0 if randomizer is None else s._vault.randomizer.report(1.0, s._vault.noise))
    s.void(decision)
    assert s.ask(user="ann").learn is (randomizer is None)


# Who is on which side: a share as declared, a person's side for ever, and shares that are none


ALARM = 1e-6
PEOPLE = 20_000
SECRET_KEY = bytes(range(32))


def test_hashed_people_are_shared_out_as_declared() -> None:
    """20,000 people with holdout=.05, within exact binomial bounds at 10⁻⁶ (two-sided)."""
    rule = rule_of(".05", 0)
    places = [hashed_place(f"person {number}", SECRET_KEY) for number in range(PEOPLE)]
    assert hashed_place("person 0", SECRET_KEY) == places[0] != hashed_place("person 0", bytes(32))
    held = [rule.side(place) for place in places].count("holdout")
    assert binom.ppf(ALARM / 2, PEOPLE, 0.05) <= held <= binom.isf(ALARM / 2, PEOPLE, 0.05)


# The same person sees the same arm as long as it is in play


CHOOSES = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=4, first=4)
DRAWS = dpb.LazyDPTS(arms=["a", "b", "c"], epsilon=4)
CANNOT_CHOOSE = dpb.DPSE(arms=["a", "b", "c"], epsilon=4, horizon=1_000)


def sticky(policy: Any = CHOOSES, cap: int = 3, **options: Any) -> Any:
    people = {"privacy_unit": "user", "max_contributions": cap, "user_key": KEY, "sticky": True}
    return begun(policy, **people, **options)


@pytest.mark.parametrize("is_sticky", [False, True])
@pytest.mark.parametrize("segments", [None, ["x", "y"]])
@pytest.mark.parametrize("window", [None, DAY])
@pytest.mark.parametrize("policy", [CHOOSES, DRAWS, CANNOT_CHOOSE], ids=lambda each: each.name)
def test_who_comes_back_is_learned_from_up_to_the_cap_and_keeps_an_arm(
    policy: Any, window: Any, segments: Any, is_sticky: bool
) -> None:
    """Whatever is done, in any order; sticky= keeps an arm while it is in play and eligible."""
    full = kept_again = 0
    for seed in range(3):
        rng, now, cap = random.Random(seed), [0.0], 1 + seed
        clock: Any = {} if window is None else {"clock": lambda now=now: now[0]}
        options = {"segments": segments, "window": window, "user_key": KEY, "sticky": is_sticky}
        s = for_users(cap, policy, **options, **clock)
        taken, whose = Counter[Any](), dict[Any, Any]()
        keeps, out, told = dict[int, str](), set[str](), 0
        for _ in range(60):
            match rng.choice(["ask"] * 5 + ["tell", "tell", "void", "expire", "save", "go on"]):
                case "ask":
                    user, where, among = rng.randrange(4), dict[str, Any](), {"a", "b", "c"}
                    if segments is not None:
                        where["segment"] = rng.choice(segments)
                    if policy.chooses and rng.random() < 0.2:
                        among = set(rng.sample("abc", 2))
                        where["eligible"] = sorted(among)
                    if not among - out:
                        continue
                    place = user, 0 if window is None else now[0] // 86_400
                    is_known = is_sticky and keeps.get(user) in among - out
                    made = s.ask(rng.choice([1, 1, 3]), user=user, **where)
                    for at, each in enumerate(made):
                        again = is_known or (is_sticky and at > 0)
                        assert each.learn is (taken[place] < cap and (policy.chooses or not again))
                        assert each.label == keeps[user] if again else each.label in among - out
                        taken[place] += each.learn
                        whose[each.campaign, each.id] = place
                        keeps[user] = each.label
                        kept_again += again
                case "save":
                    s = loaded(s, user_key=KEY, **clock)
                case "go on":
                    now[0] += 86_400 / 2
                    if policy.chooses and rng.random() < 0.5:
                        verb = "resume_arm" if out else "pause_arm"
                        arm = out.pop() if out else rng.choice("abc")
                        out |= {arm} if verb == "pause_arm" else set()
                        getattr(s, verb)(arm)
                case what if s.pending:
                    decision, is_void = rng.choice(s.pending), what == "void"
                    getattr(s, what)(*((decision, 1.0) if what == "tell" else (decision,)))
                    taken[whose[decision.campaign, decision.id]] -= is_void and decision.learn
                    told += decision.learn and not is_void
        assert told == sum(map(recorded, parts(s)))
        learned = {place for place, times in taken.items() if times > 0}
        in_window = sum(at == now[0] // 86_400 for _, at in learned)
        assert first(s)._tables.people.in_window == (None if window is None else in_window)
        full += sum(times == cap for times in taken.values())
    assert full > 3
    assert kept_again > 40 or not is_sticky


def test_the_map_is_saved_sealed_at_one_length_and_named_in_the_statement() -> None:
    one, other = sticky(), sticky()
    for s in (one, other):
        for user in range(4):
            s.ask(user=user, eligible=[0 if s is one else user % 3])
    with pytest.raises(ValueError, match=r"sticky=.*Nothing was saved"):
        one.to_json()
    texts = [s.to_json(key=KEY) for s in (one, other)]
    private = [json.loads(text)["private"] for text in texts]
    assert len(private[0]) == len(private[1])
    again = dpb.Session.from_json(texts[1], key=KEY, user_key=KEY)
    assert [again.ask(user=user).action for user in range(4)] == [0, 1, 2, 0]
    assert "which arm each user keeps" in again.statement().replace("\n", " ")
    assert "same option again" in again.participant_text().replace("\n", " ")
