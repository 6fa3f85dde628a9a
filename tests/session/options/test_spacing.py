"""At most one reward of a person in each release: kρ for k of them, in place of up to k²ρ."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits as dpb
from dpbandits.campaign.people.spacing import Spacing
from dpbandits.policies import DPKLUCB, AdaCUCB
from tests.session.interruption.interrupted import Interrupted, interrupt
from tests.session.options.test_user_level import loss
from tests.session.small import loaded

KEY = b"0123456789abcdef"
CAP = 3
SPACED = {"privacy_unit": "user", "max_contributions": CAP, "max_contributions_per_release": 1}
PEOPLE = 5
GRID = 4**PEOPLE


class Seen(dpb.SimulatedNoise):
    """Keeps the exact sums that it hides. Person i's reward is 4^i steps, so a sum's digits to the
    base of four say how many rewards of each person it holds.
    """

    sums: list[int]

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        self.sums.append(value)
        return super().gaussian(value, sensitivity=sensitivity, rho=rho)

    def people(self) -> list[list[int]]:
        return [[total // 4**who % 4 for who in range(PEOPLE)] for total in self.sums]


def made(seed: int = 1, **options: Any) -> tuple[dpb.Session, Seen]:
    noise = Seen(seed)
    noise.sums = []
    policy = AdaCUCB(arms=["a", "b"], rho=1, grid=GRID)
    session = dpb.Session(policy, noise=noise, seed=1, user_key=KEY, **(SPACED | options))
    return session, noise


def reward_of(who: int) -> float:
    return float(4**who / GRID) if who < PEOPLE else 0.0


def test_the_policy_runs_at_a_larger_share() -> None:
    session, _ = made()
    assert session.policy.mechanism().promise().rho == Fraction(1, CAP)  # type: ignore[union-attr]
    assert session.guarantee is not None
    assert session.guarantee.rho == 1
    assert "at most 3 learned rounds, no two of them in one release" in str(session.guarantee)
    statement = " ".join(session.statement().split())
    assert "before their reward was read is not learned from that time" in statement
    assert "ρ = 1 per user" in statement
    windowed = made(window=timedelta(days=1), clock=lambda: 0.0)[0].statement()
    assert "pays w times that" in " ".join(windowed.split())
    plain = made(max_contributions_per_release=None, window=timedelta(days=1), clock=lambda: 0.0)
    assert "pays w² times that" in " ".join(plain[0].statement().split())


def test_a_users_loss_is_at_most_the_printed_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """By replay, with late answers: k rounds at ρ/k come to ρ. Where nobody waits they do not."""
    policy, apart = AdaCUCB(arms=2, rho=1), {"max_contributions_per_release": 1}
    assert max(loss(policy, CAP, seed, **apart) for seed in range(5)) == 1
    monkeypatch.setattr(Spacing, "is_free", lambda *_: True)
    assert max(loss(policy, CAP, seed, **apart) for seed in range(5)) > 1


def test_people_wait_for_a_release_and_no_longer() -> None:
    session, noise = made()
    learned = list[bool]()
    for round in range(30 + 200):
        back = round >= 30 and round % 2
        decision = session.ask(user=0 if back else f"visitor {round}")
        learned += [decision.learn] if back else []
        session.tell(decision, reward_of(0) if back else 0.0)
    assert sum(learned) == CAP
    assert not all(learned[:CAP]), "nobody ever waited: the test misses its aim"
    held = Counter(people[0] for people in noise.people())
    assert held[1] >= CAP - 1  # the last one may be unread still
    assert set(held) == {0, 1}


def test_an_answer_that_never_comes_keeps_nobody_else_waiting() -> None:
    session, _ = made()
    assert session.ask(user="never answers").learn
    learned = list[bool]()
    for round in range(400):
        back = round % 40 == 7
        decision = session.ask(user=0 if back else f"visitor {round}")
        learned += [decision.learn] if back else []
        session.tell(decision, 0.0)
    assert sum(learned) == CAP
    assert not session.ask(user="never answers").learn


STEPS = ("ask", "ask", "ask", "tell", "tell", "void", "expire", "drop", "pause", "save", "add")


@pytest.mark.long
@given(st.data())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_no_release_holds_two_rewards_of_a_person(data: st.DataObject) -> None:
    """Whatever is asked, told, voided, expired, dropped, paused and saved, in any order."""
    session, noise = made()
    whose = dict[int, int]()
    for _ in range(data.draw(st.integers(1, 80))):
        step = data.draw(st.sampled_from(STEPS))
        if step == "ask":
            who = data.draw(st.integers(0, PEOPLE + 3))
            count = data.draw(st.integers(1, 3))
            whose.update((each.id, who) for each in session.ask(count, user=who))
        elif step == "drop":
            session.drop_open()
        elif step == "add" and len(session.arms) < 4:
            session.add_arm(f"arm {len(session.arms)}")
        elif step == "pause":
            session.pause_arm("a")
            session.resume_arm("a")
        elif step == "save":
            session = dpb.Session.from_json(session.to_json(), user_key=KEY, noise=noise)
        elif session.pending and step in ("tell", "void", "expire"):
            decision = data.draw(st.sampled_from(session.pending))
            if step == "tell":
                session.tell(decision, reward_of(whose[decision.id]))
            else:
                getattr(session, step)(decision)
    for held in noise.people():
        assert max(held) <= 1


def test_everybody_is_learned_from_up_to_the_cap_where_answers_are_late() -> None:
    session, noise = made()
    waiting, learned = list[tuple[Any, int]](), Counter[int]()
    for round in range(6_000):
        who = round // 2 % 40 if round % 2 else 1_000 + round  # and newcomers
        waiting.append((session.ask(user=who), who))
        learned[who] += waiting[-1][0].learn
        if len(waiting) > 11:
            decision, who = waiting.pop(round % 5)
            session.tell(decision, reward_of(who))
    assert {max(held) for held in noise.people()} == {0, 1}
    assert [learned[who] for who in range(40)] == [CAP] * 40


def test_an_interrupted_ask_makes_nobody_come_twice() -> None:
    """Interrupted at every line, a person's rewards still come in releases of their own."""

    def asked(line: int) -> int:
        session, noise = made()
        try:
            lines = interrupt(lambda: session.ask(user=0), line)
        except Interrupted:
            lines = line
        for _ in range(4):
            session.ask(user=0)
        for decision in session.pending:
            session.tell(decision, reward_of(0))
        for round in range(20):
            session.tell(session.ask(user=f"visitor {round}"), 0)
        assert max(people[0] for people in noise.people()) <= 1
        return lines

    for line in range(1, asked(0) + 1):
        asked(line)


def test_a_void_decision_lets_the_person_come_again() -> None:
    session, _ = made()
    session.void(session.ask(user=0))
    assert session.ask(user=0).learn
    assert not session.ask(user=0).learn


def test_an_answer_for_a_retired_arm_is_not_waited_for() -> None:
    session, _ = made()
    decision = session.ask(user=0)
    session.retire_arm(decision.label)
    assert session.ask(user=0).learn


def test_segments_release_apart() -> None:
    session: Any = made(segments=["DE", "FR"])[0]
    assert session.ask(user=0, segment="DE").learn
    assert session.ask(user=0, segment="FR").learn
    assert not session.ask(user=0, segment="DE").learn
    again = loaded(session.to_json(), user_key=KEY)
    assert [again.ask(user=0, segment=name).learn for name in ("DE", "FR")] == [False, False]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_contributions_per_release": 2}, "max_contributions_per_release=2"),
        ({"max_contributions_per_release": 0}, "to be 1"),
        ({"max_contributions_per_release": True}, "to be 1"),
        ({"privacy_unit": "round", "max_contributions": None}, "privacy_unit='user'"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], said: str) -> None:
    policy = AdaCUCB(arms=2, rho=1)
    with pytest.raises(ValueError, match=said):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1), **(SPACED | options))


def test_it_is_for_policies_that_pay_by_the_square() -> None:
    with pytest.raises(ValueError, match="with an ε, k rounds"):
        dpb.Session(DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1), **SPACED)  # type: ignore[arg-type]
