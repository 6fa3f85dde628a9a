"""The same person sees the same arm as long as it is in play."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import dpbandits as dpb
from tests.session.small import begun, loaded

KEY = bytes(range(16))
CHOOSES = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=4, first=4)
DRAWS = dpb.LazyDPTS(arms=["a", "b", "c"], epsilon=4)
CANNOT_CHOOSE = dpb.DPSE(arms=["a", "b", "c"], epsilon=4, horizon=1_000)


def sticky(policy: Any = CHOOSES, cap: int = 3, **options: Any) -> Any:
    people = {"privacy_unit": "user", "max_contributions": cap, "user_key": KEY, "sticky": True}
    return begun(policy, noise=dpb.SimulatedNoise(1), seed=1, **people, **options)


@pytest.mark.parametrize("segments", [None, ["x", "y"]])
@pytest.mark.parametrize("policy", [CHOOSES, DRAWS, CANNOT_CHOOSE], ids=lambda each: each.name)
def test_a_person_keeps_the_arm_while_it_is_in_play_and_eligible(
    policy: Any, segments: Any
) -> None:
    """Whatever is asked, told, voided, paused and saved in any order; learned within the cap, and
    repeatedly only where the policy can be asked for one arm.
    """
    kept_again = 0
    for seed in range(4):
        rng, s = random.Random(seed), sticky(policy, segments=segments, min_share=None)
        keeps, learned, out = dict[int, str](), dict[int, int](), set[str]()
        for _ in range(60):
            match rng.choice(["ask"] * 5 + ["tell", "tell", "void", "save", "move"]):
                case "ask":
                    user, where, among = rng.randrange(6), {}, {"a", "b", "c"}
                    if segments is not None:
                        where["segment"] = rng.choice(segments)
                    if policy.chooses and rng.random() < 0.2:
                        among = set(rng.sample("abc", 2))
                        where["eligible"] = sorted(among)
                        if not among - out:
                            continue
                    many = s.ask(rng.choice([1, 1, 2]), user=user, **where)
                    first = keeps.get(user) in among - out
                    assert len({each.label for each in many}) == 1
                    assert many[0].label not in out
                    if first:
                        assert many[0].label == keeps[user]
                        kept_again += 1
                    for at, each in enumerate(many):
                        room = learned.get(user, 0) < 3
                        assert each.learn is (room and (policy.chooses or not (first or at)))
                        learned[user] = learned.get(user, 0) + each.learn
                    keeps[user] = many[0].label
                case "save":
                    s = loaded(s, user_key=KEY)
                case "move" if policy.chooses:
                    arm = rng.choice("abc")
                    if arm in out:
                        s.resume_arm(arm)
                        out.remove(arm)
                    elif not out:
                        s.pause_arm(arm)
                        out.add(arm)
                case "tell" if s.pending:
                    decision = rng.choice(s.pending)
                    s.tell(decision, float(decision.label == "b"))
                case "void" if s.pending:
                    decision = next((each for each in s.pending if not each.learn), None)
                    if decision is not None:
                        s.void(decision)
    assert kept_again > 40


def test_a_repeated_visit_was_not_drawn() -> None:
    s = sticky(assignment="shuffled", min_share=0.2)
    for user in [*range(20)] * 2:
        s.ask(user=user)
    rows = list(s.decisions())
    assert {row.propensity for row in rows[20:]} == {1.0}
    assert max(row.propensity for row in rows[:20]) < 1.0


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


def test_a_restarted_arm_keeps_its_people() -> None:
    s = sticky(cap=1)
    assert s.ask(user="ann", eligible=["b"]).label == "b"
    assert s._restart("b") == 3
    again = s.ask(user="ann")
    assert (again.action, again.label) == (3, "b")
