"""Do answers come for every arm alike? The test finds an arm whose answers get lost, and gives no
false alarm however often one looks.
"""

from __future__ import annotations

import json
import math
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.session.traffic import Answers, jeffreys_mixture
from dpbandits.noise import SimulatedNoise
from dpbandits.session.saving import sealed
from tests.session.interruption.interrupted import Interrupted, interrupt
from tests.session.small import loaded

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1)


def session(policy: Any = POLICY, **options: Any) -> Any:
    return dpb.Session(policy, noise=SimulatedNoise(1), seed=1, **options)


def play(s: Any, rounds: int, answered: tuple[float, float], seed: int = 1) -> None:
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
    play(s, 2_000, (0.9, 0.75))
    found = s.sample_ratio()
    assert found.evidence > 0.01  # decisions are as planned
    assert found.answers.evidence < 1e-4
    assert found.alarm()
    assert "Answers by arm: a " in str(found)
    assert loaded(s.to_json()).sample_ratio() == found


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_no_false_alarm_at_any_time(share: float) -> None:
    """40 campaigns, looked at after every 20 of 600 decisions: at level .05 each alarms with
    probability .05 at most, so more than 11 of 40 do with probability below 10⁻⁶.
    """
    alarms = 0
    for seed in range(40):
        s, lowest = session(min_share=share), 1.0
        for look in range(30):
            play(s, 20, (0.7, 0.7), seed=1_000 * seed + look)
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
    again = loaded(s.to_json())
    assert again.sample_ratio().answers == Answers((2, 0), (1, 0))
    assert "2 of 3" in str(again.sample_ratio())


@pytest.mark.parametrize(("verb", "counts"), [("void", (4, 0)), ("expire", (4, 1))])
def test_an_interrupted_call_is_counted_as_what_it_was(verb: str, counts: tuple[int, int]) -> None:
    """Interrupted at each of its lines, and made again where the decision still waits."""
    at = lines = 0
    while at <= lines:
        s = session(dpb.DPKLUCB(arms=2, epsilon=1, first=3))
        first, *others = s.ask(5)
        call = partial(getattr(s, verb), first)
        try:
            lines = interrupt(call, at)
        except Interrupted:
            if first.id in {each.id for each in s.pending}:
                call()
        s.tell_many([(each, 0.5) for each in others])
        found = s.sample_ratio().answers
        assert (sum(found.told), sum(found.missing)) == counts, at
        at += 1
    assert lines > 40


def test_who_answered_is_not_tested_where_it_is_private() -> None:
    now = [0.0]
    s = session(attribution_window=timedelta(days=1), clock=lambda: now[0])
    s.expire(s.ask())
    s.tell(s.ask(), 1.0)
    now[0] = 1e6
    s.settle()
    assert s.sample_ratio().answers is None
    assert json.loads(s.to_json(unsealed=True))["public"]["unanswered"] is None
    matroid = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=1)
    assert session(matroid).sample_ratio().answers is None


def test_what_nobody_learns_from_does_not_count() -> None:
    """In the local model it has no message, and always expires."""
    s = session(privacy_unit="user", max_contributions=1)
    for _ in range(3):
        s.expire(s.ask(user="ann"))
    assert sum(s.sample_ratio().answers.missing) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        3,
        [],
        {"expired": []},
        {"expired": [[0, 1]], "void": []},
        {"expired": [], "void": [[1, 9]]},
        {"expired": [[2, 1], [1, 1]], "void": []},
    ],
)
def test_what_is_saved_is_read_strictly(wrong: Any) -> None:
    s = session()
    s.ask(5)
    data = json.loads(s.to_json())
    data["public"]["unanswered"] = wrong
    del data["seal"]
    with pytest.raises(dpb.DamagedSessionError):
        dpb.Session.from_json(sealed(data, None))


def test_a_store_does_not_say_what_it_does_not_count() -> None:
    store = dpb.open_store("memory:", noise=SimulatedNoise(1))
    trial = store.create("trial", POLICY)
    trial.expire(trial.ask())
    assert trial.sample_ratio().answers is None
