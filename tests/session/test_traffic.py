"""Is traffic as planned, and do answers come for every arm alike? False alarms at all times, power,
and Lindon and Malek's closed form.
"""

from __future__ import annotations

import json
import math
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.core.errors import DamagedSessionError
from dpbandits.noise import SimulatedNoise
from dpbandits.session.traffic import Answers, Traffic, jeffreys_mixture
from tests.session.small import changed, document, loaded

LAW = np.array([0.5, 0.25, 0.15, 0.1])


def test_it_is_the_published_bayes_factor_where_the_law_stays() -> None:
    """In blocks of any size: ln B(α + n)/B(α) − Σ n ln p, α = concentration · p."""
    rng, traffic, counts = np.random.default_rng(1), Traffic.of(4, 80.0), np.zeros(4)
    for size in (1, 1, 7, 100, 1, 33):
        made = rng.multinomial(size, [0.4, 0.3, 0.2, 0.1])
        traffic, counts = traffic.after(LAW.tolist(), made.tolist()), counts + made
        a = 80.0 * LAW
        wanted = (gammaln(a + counts) - gammaln(a)).sum() - (counts * np.log(LAW)).sum()
        wanted -= gammaln(80.0 + counts.sum()) - gammaln(80.0)
        assert traffic.score == pytest.approx(wanted, abs=1e-8)
    assert traffic.counts == tuple(counts.astype(int))
    assert traffic.expected == pytest.approx(tuple(143 * LAW))


def campaign(rng: np.random.Generator, blocks: int, law: Any, truth: Any, k: float) -> Traffic:
    traffic = Traffic.of(4, k)
    for at in range(blocks):
        planned = law(at)
        made = rng.multinomial(rng.integers(1, 60), truth(planned))
        traffic = traffic.after(planned.tolist(), made.tolist())
    return traffic


def turning(at: int) -> Any:
    """A law that changes, with arms that cannot be played at times."""
    law = np.roll(LAW, at % 4) if at % 3 else np.array([0.0, 0.5, 0.5, 0.0])
    return np.eye(4)[at % 4] if at % 7 == 0 else law


@pytest.mark.parametrize("law", [lambda at: LAW, turning], ids=["steady", "turning"])
@pytest.mark.parametrize("k", [10.0, 1000.0])
def test_false_alarms_at_all_times(law: Any, k: float) -> None:
    """The smallest p-value of a whole campaign is at most .05 in at most that share of them;
    false-alarm rate of this test 10⁻⁶.
    """
    rng = np.random.default_rng(2)
    found = [campaign(rng, 40, law, lambda p: p, k).evidence for _ in range(400)]
    assert sum(p <= 0.05 for p in found) <= binom.isf(1e-6, 400, 0.05)
    assert min(found) < 1.0


def test_power() -> None:
    """A tenth of one arm's people go to another: found within 40,000 decisions, and soon where no
    one of an arm is seen.
    """

    def shifted(p: Any) -> Any:
        return p + np.array([-0.05, 0.05, 0.0, 0.0])

    def lost(p: Any) -> Any:
        return np.array([*p[:3], 0.0]) / p[:3].sum()

    def steady(at: int) -> Any:
        return LAW

    rng = np.random.default_rng(3)
    assert campaign(rng, 1300, steady, shifted, 1000.0).evidence < 1e-6
    assert campaign(rng, 40, steady, lost, 1000.0).evidence < 1e-6


def test_what_cannot_happen_is_evidence_at_once() -> None:
    traffic = Traffic.of(2).played([1.0, 0.0], 0)
    assert traffic.evidence == 1.0
    traffic = traffic.played([1.0, 0.0], 1)
    assert traffic.evidence == 0.0
    assert traffic.played([0.5, 0.5], 1).evidence == 0.0
    assert Traffic.restored(json.loads(json.dumps(traffic.to_data())), 3) == traffic


def test_plans_that_leave_no_choice_are_no_evidence() -> None:
    traffic = Traffic.of(3)
    for at in range(50):
        traffic = traffic.played(np.eye(3)[at % 3].tolist(), at % 3)
    assert traffic.evidence == 1.0
    assert abs(traffic.score) < 1e-9


def test_an_arm_may_be_added() -> None:
    traffic = Traffic.of(1).played([1.0], 0).with_arm().after([0.5, 0.5], [3, 4])
    assert traffic.counts == (4, 4)
    assert math.isfinite(traffic.score)


def test_it_survives_json() -> None:
    traffic = Traffic.of(2).after([0.3, 0.7], [30, 70])
    assert Traffic.restored(json.loads(json.dumps(traffic.to_data())), 3) == traffic


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts", [1]),
        ("counts", []),
        ("counts", [-1, 2]),
        ("expected", [1.0, float("inf")]),
        ("prior", "x"),
        ("score", "1"),
        ("score", 5.0),
        ("highest", float("nan")),
        ("highest", None),
        ("concentration", 0),
    ],
)
def test_damaged_data_are_refused(name: str, value: Any) -> None:
    data = Traffic.of(2).after([0.3, 0.7], [30, 70]).to_data() | {name: value}
    with pytest.raises(DamagedSessionError, match="traffic"):
        Traffic.restored(data, 2)


@pytest.mark.parametrize("law", [[0.5], [0.5, 0.6], [1.5, -0.5], ["a", "b"], [[1.0, 0.0]], None])
def test_probabilities_are_checked(law: Any) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        Traffic.of(2).after(law, [1, 1])


@pytest.mark.parametrize("counts", [[1], [0.5, 1], [-1, 2], ["a", 1], None])
def test_counts_are_checked(counts: Any) -> None:
    with pytest.raises(ValueError, match="counts"):
        Traffic.of(2).after([0.5, 0.5], counts)


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match="concentration"):
        Traffic.of(2, 0)
    with pytest.raises(ValueError, match="arm="):
        Traffic.of(2).played([0.5, 0.5], 2)


# Answers


POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1)


def session(policy: Any = POLICY, **options: Any) -> Any:
    return dpb.Session(policy, noise=SimulatedNoise(1), seed=1, **options)


def answered_so(s: Any, rounds: int, answered: tuple[float, float], seed: int = 1) -> None:
    """Rewards are equal; of each arm's decisions so many are answered."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        decision = s.ask()
        if rng.random() < answered[decision.action]:
            s.tell(decision, 0.5)
        else:
            s.expire(decision)


def test_an_arm_whose_answers_get_lost_is_noticed() -> None:
    """Nothing looked at tells by arm."""
    s = session(min_share=0.3)
    answered_so(s, 2_000, (0.9, 0.75))
    found = s.sample_ratio()
    assert found.evidence > 0.01  # decisions are as planned
    assert found.answers.evidence < 1e-4
    assert found.alarm()
    assert "Answers by arm: a " in str(found)
    assert loaded(s).sample_ratio() == found


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_no_false_alarm_at_any_time(share: float) -> None:
    """40 campaigns, looked at after every 20 of 600 decisions: at level .05 each alarms with
    probability .05 at most, so more than 11 of 40 do with probability below 10⁻⁶.
    """
    alarms = 0
    for seed in range(40):
        s, lowest = session(min_share=share), 1.0
        for look in range(30):
            answered_so(s, 20, (0.7, 0.7), seed=1_000 * seed + look)
            lowest = min(lowest, s.sample_ratio().answers.evidence)
        alarms += lowest <= 0.05
    assert alarms <= 11


def test_the_evidence_is_at_most_a_martingale() -> None:
    """Exactly: over all sequences of 8 answers, arms by turns, the mean of what the evidence is the
    inverse of is at most 1, whatever the probability of an answer.
    """
    sums = dict.fromkeys((0.1, 0.5, 0.77), 0.0)
    for code in range(2**8):
        bits = [(code >> at) & 1 for at in range(8)]
        told, both = (sum(bits[::2]), sum(bits[1::2])), sum(bits)
        apart = math.exp(sum(jeffreys_mixture(each, 4 - each) for each in told))
        together = (both / 8) ** both * (1 - both / 8) ** (8 - both)
        answers = Answers(told, (4 - told[0], 4 - told[1]))
        assert answers.evidence == pytest.approx(min(1.0, together / apart))
        for q in sums:
            sums[q] += q**both * (1 - q) ** (8 - both) * apart / together
    assert max(sums.values()) <= 1.0
    assert Answers((0, 0), (0, 0)).evidence == pytest.approx(1.0)


def test_what_counts_is_what_was_asked_before_the_oldest_that_waits() -> None:
    s = session()
    first, second, third, fourth = s.ask(4)
    for _ in range(100):
        s.ask()
    s.tell(second, 1.0)
    assert s.sample_ratio().answers == Answers((0, 0), (0, 0))
    s.tell(first, 1.0)
    s.expire(third)
    s.void(fourth)
    assert s.sample_ratio().answers == Answers((2, 0), (1, 0))
    again = loaded(s)
    assert again.sample_ratio().answers == Answers((2, 0), (1, 0))
    assert "2 of 3" in str(again.sample_ratio())


def test_who_answered_is_not_tested_where_it_is_private() -> None:
    now = [0.0]
    s = session(attribution_window=timedelta(days=1), clock=lambda: now[0])
    s.expire(s.ask())
    s.tell(s.ask(), 1.0)
    now[0] = 1e6
    s.settle()
    assert s.sample_ratio().answers is None
    assert document(s)["public"]["unanswered"] is None
    matroid = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=1)
    assert session(matroid).sample_ratio().answers is None


def test_what_nobody_learns_from_does_not_count() -> None:
    """In the local model it has no message, and always expires."""
    s = session(privacy_unit="user", max_contributions=1)
    for _ in range(3):
        s.expire(s.ask(user="ann"))
    assert sum(s.sample_ratio().answers.missing) == 1


def test_what_is_saved_is_read_strictly() -> None:
    s = session()
    s.ask(5)
    for wrong in (
        3,
        [],
        {"expired": []},
        {"expired": [[0, 1]], "void": []},
        {"expired": [], "void": [[1, 9]]},
        {"expired": [[2, 1], [1, 1]], "void": []},
    ):
        with pytest.raises(dpb.DamagedSessionError):
            loaded(changed(document(s), "public.unanswered", wrong))
