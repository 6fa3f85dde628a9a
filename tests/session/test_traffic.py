"""Do answers come for every arm alike? The evidence is a martingale with mean 1 whatever ends a
stretch and whenever people answer; differences are found; what is not tested, and saved data.
"""

from __future__ import annotations

import json
import math
from datetime import timedelta
from itertools import product
from typing import Any

import numpy as np
import pytest
from benchmarks.answering import DRAWINGS, drawn, found_at
from scipy.special import gammaln

import dpbandits as dpb
from dpbandits.core.inputs import converted
from dpbandits.noise import SimulatedNoise
from dpbandits.session.decisions import Play
from dpbandits.session.saving import as_plain
from dpbandits.session.traffic import (
    CONCENTRATION,
    SIGNED,
    SIGNED_WEIGHTS,
    Answers,
    AnswerTest,
    SampleRatio,
    Traffic,
)
from tests.service.http.web import client_of, remote
from tests.session.small import begun, document, loaded

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1)


def answered_so(s: Any, rounds: int, answered: tuple[float, float], seed: int = 1) -> None:
    """Rewards are equal; of each arm's decisions so many are answered."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        decision = s.ask()
        if rng.random() < answered[decision.action]:
            s.tell(decision, 0.5)
        else:
            s.expire(decision)


def test_it_is_one_too_where_decisions_that_wait_for_long_count_as_not_answered() -> None:
    """Exactly, over all assignments of six people: who waits for three counts as missing."""
    delays, total = (0, 5, 2, 99, 1, 3), 0.0
    before = AnswerTest(first=2, drawn=900, usual=(30.0, 100.0))
    for arms in product((0, 1), repeat=6):
        test, chance, pending, answered = before, 1.0, dict[int, Any](), [0, 0]
        for now in range(1, 14):
            test = test.with_cut(now - 3, pending)
            law = (0.2, 0.8) if answered[0] > answered[1] else (0.7, 0.3)
            test = test.with_drawn(now, law if now <= 6 else (0.5, 0.5))
            if now <= 6:
                chance *= law[arms[now - 1]]
                pending[now] = Play(arms[now - 1], None, None, arms[now - 1])
            for id in [each for each in pending if now - each == delays[each - 1]]:
                arm = pending.pop(id).action
                test = test.with_resolved(id, arm, True)
                answered[arm] += 1
        assert sum(map(sum, test.answers(2)[:2])) == 6
        assert sum(test.missing) == 3
        each = np.array(test.scores) + SIGNED_WEIGHTS - math.log(2.0)
        total += chance * float(np.exp(each).sum())
    assert total == pytest.approx(1.0, abs=1e-12)


def test_the_usual_share_does_not_depend_on_later_decisions() -> None:
    """How many there were when answers came may depend on their arms."""
    usual = set()
    for later in (1, 2_000):
        test = AnswerTest()
        for id in range(1, 17 + later):
            test = test.with_drawn(id, (0.5, 0.5))
        for id in range(1, 17):
            test = test.with_resolved(id, id % 2, id > 4)
        assert sum(map(sum, test.answers(2)[:2])) == 16
        usual.add(test.usual)
    assert len(usual) == 1


def left_open(answered: tuple[float, float], seed: int) -> Any:
    """A session of 1,500 people, with answers up to 60 people late; others are never told."""
    s, rng, late = begun(POLICY, min_share=0.3), np.random.default_rng(seed), list[Any]()
    for t in range(1_500):
        decision = s.ask()
        if rng.random() < answered[decision.action]:
            late.append((t + int(rng.integers(60)), t, decision))
        for each in [each for each in late if each[0] <= t]:
            late.remove(each)
            s.tell(each[2], 0.5)
    return s


def test_decisions_that_are_left_open_are_tested() -> None:
    """Nobody expires them. Who is silent counts as such once three usual delays have passed."""
    fair = left_open((0.8, 0.8), 1).sample_ratio()
    assert sum(fair.answers.told) + sum(fair.answers.missing) > 1_000
    assert 0.7 < sum(fair.answers.told) / 1_200 < 1
    assert not fair.alarm()
    assert "Later ones are not tested yet: decision 1," in str(fair)
    s = left_open((0.95, 0.6), 2)
    assert s.sample_ratio().answers.evidence < 1e-6
    assert loaded(s).sample_ratio() == s.sample_ratio()
    few = begun(POLICY, min_share=0.3)
    few.tell_many([(decision, 1.0) for decision in few.ask(9)[1:]])
    assert "not tested yet: decision 1 is still open." in str(few.sample_ratio())


def test_a_campaign_says_since_when_a_decision_is_open() -> None:
    with dpb.open_store("memory:", noise=SimulatedNoise(1), clock=lambda: 86_400.0) as store:
        campaign = store.create("trial", POLICY, min_share=0.3)
        campaign.tell_many([(decision, 1.0) for decision in campaign.ask(9)[1:]])
        for seen in (campaign, remote(client_of(store))["trial"]):
            said = "decision 1 is still open (since 1970-01-02 00:00 UTC)."
            assert said in str(seen.sample_ratio())


def test_decisions_that_a_fence_gave_up_hold_back_no_later_ones() -> None:
    """Nobody waits for them any more. One arm's answers get lost before it, then nobody's."""
    with dpb.open_store("memory:", noise=SimulatedNoise(1)) as store:
        campaign, seen = store.create("trial", POLICY, seed=1, min_share=0.3), []
        for lost in (0, None):
            for decision in campaign.ask(400):
                if decision.action == lost:
                    campaign.expire(decision)
                else:
                    campaign.tell(decision, 1.0)
            waiting = campaign.ask(3)
            seen.append(campaign.sample_ratio().answers)
            assert seen[-1].open == waiting[0].round
            campaign.fence()
    before, after = seen
    assert before.evidence == after.evidence < 1e-6
    assert sum(after.told) > sum(before.told) + 300


@pytest.mark.long  # it compiles
@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda each: each.title)
def test_the_simulated_statistic_is_the_one_of_a_session(drawing: Any) -> None:
    people, law = 1_000, np.array(drawing.law)
    arms, planned = np.zeros(people, np.int64), np.zeros(people, np.int64)
    answered = np.zeros(people, np.bool_)
    answering = np.full((people, len(law)), 0.8) - 0.1 * (np.arange(len(law)) == 1)
    drawn(np.random.default_rng(1), answering, law, drawing.blocks, arms, answered, planned)
    _, highest = found_at(law, arms, answered, planned, 5.0, SIGNED, SIGNED_WEIGHTS)
    test = AnswerTest()
    for id, (arm, came, plan) in enumerate(zip(arms, answered, planned, strict=True), 1):
        test = test.with_drawn(id, np.roll(law, plan).tolist())
        test = test.with_resolved(id, int(arm), bool(came))
    closing = test.with_drawn(people + 1, [1.0 / len(law) + 1e-9 * k for k in range(len(law))])
    assert closing.highest == pytest.approx(highest, rel=1e-9)
    assert highest > 0.1


def test_an_added_arm_whose_answers_get_lost_is_noticed() -> None:
    """Nothing looked at tells by arm."""
    s = begun(POLICY, min_share=0.1)
    answered_so(s, 300, (0.9, 0.9))
    s.add_arm("c")
    rng = np.random.default_rng(1)
    for _ in range(1_000):
        decision = s.ask()
        if rng.random() < (0.3 if decision.label == "c" else 0.9):
            s.tell(decision, 0.5)
        else:
            s.expire(decision)
    found = s.sample_ratio()
    assert found.evidence > 0.01  # decisions are as planned
    assert found.answers.evidence < 1e-6
    assert found.alarm()
    assert "Answers by arm: a " in str(found)
    assert loaded(s).sample_ratio() == found


@pytest.mark.parametrize(("p_value", "is_tested"), [(5e-4, True), (1e-4, True), (5e-4, False)])
def test_words_and_alarm_say_the_same_of_traffic(p_value: float, is_tested: bool) -> None:
    traffic = Traffic((30, 20), (25.0, 25.0), (500.0, 500.0), highest=-math.log(p_value))
    found = SampleRatio(("a", "b"), traffic, Answers((3, 2), (0, 0)) if is_tested else None)
    assert found.alarm() is ("is NOT as planned" in str(found))


def test_who_answered_is_not_tested_where_it_is_private() -> None:
    now = [0.0]
    s = begun(
        POLICY, attribution_window=timedelta(days=1), clock=lambda: now[0], assignment="shuffled"
    )
    s.expire(s.ask())
    s.tell(s.ask(), 1.0)
    now[0] = 1e6
    s.settle()
    assert s.sample_ratio().answers is None
    assert not s.sample_ratio().alarm()
    assert "who answered is private" in str(s.sample_ratio())
    kept = document(s)["public"]["traffic"]["answers"]
    assert kept == json.loads(json.dumps(as_plain(AnswerTest())))


# Nobody answers


def silent(s: Any) -> list[Any]:
    return [alarm for alarm in s.alarms if alarm.what == "silent"]


def test_expired_decisions_are_enough() -> None:
    s = begun(POLICY)
    answered_so(s, 50, (1.0, 1.0))
    answered_so(s, 99, (0.0, 0.0))
    assert silent(s) == []
    answered_so(s, 1, (0.0, 0.0))
    assert "since decision 51: 100 decisions were made and 100 expired" in silent(s)[0].advice
    s.close("nobody answers")
    assert silent(s) == []


def test_slow_answers_are_waited_for() -> None:
    s = begun(POLICY)
    waiting = s.ask(500)
    for _ in range(600):
        waiting.append(s.ask())
        s.tell(waiting.pop(0), 1.0)
    s.ask(1_000)
    assert silent(s) == []
    s.ask(1_000)
    assert len(silent(s)) == 1


# Whether traffic is as planned


LAW = np.array([0.5, 0.25, 0.15, 0.1])


def test_it_is_the_published_bayes_factor_where_the_law_stays() -> None:
    """ln B(α + n)/B(α) − Σ n ln p, α = concentration · p, at any time."""
    rng, traffic, counts = np.random.default_rng(1), Traffic.of(4), np.zeros(4)
    for arm in rng.choice(4, 143, p=[0.4, 0.3, 0.2, 0.1]).tolist():
        traffic = traffic.played(LAW.tolist(), arm)
        counts[arm] += 1
        a = CONCENTRATION * LAW
        wanted = (gammaln(a + counts) - gammaln(a)).sum() - (counts * np.log(LAW)).sum()
        wanted -= gammaln(CONCENTRATION + counts.sum()) - gammaln(CONCENTRATION)
        assert traffic.score == pytest.approx(wanted, abs=1e-8)
    assert traffic.counts == tuple(counts.astype(int))
    assert traffic.expected == pytest.approx(tuple(143 * LAW))


def test_the_factor_has_mean_one_where_the_law_changes() -> None:
    """Exactly, over all assignments of ten people; so false alarms are rare (Ville)."""
    laws, total = [(0.7, 0.3), (0.2, 0.8), (0.0, 1.0), (0.5, 0.5), (0.9, 0.1)] * 2, 0.0
    for arms in product((0, 1), repeat=len(laws)):
        traffic, chance = Traffic.of(2), 1.0
        for law, arm in zip(laws, arms, strict=True):
            traffic, chance = traffic.played(law, arm), chance * law[arm]
        assert math.exp(-traffic.score) >= traffic.evidence
        total += chance * math.exp(traffic.score) if chance else 0.0
    assert total == pytest.approx(1.0, abs=1e-12)


def test_what_cannot_happen_is_evidence_at_once() -> None:
    traffic = Traffic.of(2).played([1.0, 0.0], 0)
    assert traffic.evidence == 1.0
    traffic = traffic.played([1.0, 0.0], 1)
    assert traffic.evidence == 0.0
    assert traffic.played([0.5, 0.5], 1).evidence == 0.0
    assert converted(json.loads(json.dumps(as_plain(traffic))), Traffic, "traffic") == traffic
