"""Arms whose means have changed, and that are learned anew under their names."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.core.inputs import Floats
from dpbandits.mechanisms import Answer
from dpbandits.noise import SimulatedNoise
from dpbandits.policies.contract import Release
from dpbandits.session.beliefs import ReleaseHistory, interval, mean_changed
from tests.session.small import begun, loaded, play_by_chance

POLICY = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1, first=16)


def noticed(means: Floats, rng: np.random.Generator, growth: float) -> tuple[int, int]:
    """After how many people a change is known, by releases and by intervals; 0: never."""
    history, total, people, draws, size = ReleaseHistory.of(POLICY), 0.0, 0, 0, 32
    found = [0, 0]
    while people + size <= len(means):
        rewards = rng.random(size) < means[people : people + size]
        total += float(rewards.sum()) + rng.laplace(0.0, 1.0)
        people, draws = people + size, draws + 1
        answer = Answer(total, people, draws)
        history = history.after(Release((0,), (answer,), people, ((0, size),)))
        by_intervals = interval(history, 0, 0.05)
        assert by_intervals is not None
        for at, is_known in enumerate((mean_changed(history, 0, 0.05), by_intervals.changed)):
            found[at] = found[at] or people * is_known
        size = max(32, int(growth * people))
    return found[0], found[1]


def test_a_mean_that_stays_is_seldom_called_changed() -> None:
    """Of 60 arms at most .05 · .9/2 each; more than this have a probability below 10⁻⁶."""
    rng = np.random.default_rng(1)
    found = [noticed(np.full(4_000, 0.3), rng, growth) for growth in [0.05, 0.2, 0.5] * 20]
    assert sum(by > 0 for by, _ in found) <= binom.isf(1e-6, 60, 0.0225)


def test_a_step_is_noticed_before_intervals_do() -> None:
    means, rng = np.where(np.arange(8_000) < 2_000, 0.2, 0.4), np.random.default_rng(2)
    found = [noticed(means, rng, 0.1) for _ in range(20)]
    assert all(by > 2_000 for by, _ in found)
    assert np.median([by for by, _ in found]) < np.median([by for _, by in found])


def turned(**options: Any) -> Any:
    """A session in which blue, the better arm, turns bad."""
    s, rng = begun(POLICY, **options), np.random.default_rng(3)
    play_by_chance(s, 1_500, {"blue": 0.7, "green": 0.3}, rng)
    play_by_chance(s, 900, {"blue": 0.1, "green": 0.3}, rng)
    return s


def test_an_arm_is_learned_anew_under_its_name() -> None:
    s, rng = turned(), np.random.default_rng(4)
    before = s.beliefs()
    assert before.changed == ("blue",)
    assert before.best is None
    ledger, spent, waiting = s.ledger, s.spent, s.ask(3, eligible=["blue"])
    assert s.restart_arm("blue") == 2
    assert s.arms == (("blue (1)", "retired"), ("green", "active"), ("blue", "active"))
    assert (s.ledger, s.spent) == (ledger, spent)
    after = s.beliefs()
    assert (after["blue"].people, after["blue"].mean) == (0, None)
    assert after["blue (1)"][:3] == before["blue"]._replace(label="blue (1)")[:3]
    assert after["green"].low <= before["green"].low  # one arm more shares the confidence
    assert after.changed == ()
    assert s.events[-1][:3] == ("restart", "blue", 2_403)
    assert "restart arm blue after 2,403 decisions" in " ".join(s.statement().split())
    unread = s.unread
    for decision in waiting:  # accepted, and not read
        s.tell(decision, 1.0)
    assert s.unread == unread + 3
    again = loaded(s)
    for each in (s, again):
        play_by_chance(each, 600, {"blue": 0.1, "green": 0.3}, np.random.default_rng(5))
        assert each.beliefs()["blue"].mean < 0.3
        assert each.spent == Fraction(1)
    assert s.beliefs() == again.beliefs()
    play_by_chance(s, 1, {"blue": 0.1, "green": 0.3}, rng)
    assert {row.label for row in s.decisions()} == {"blue (1)", "green", "blue"}


@pytest.mark.parametrize(
    ("arms", "labels"), [(["blue", "green"], ["blue (1)", "green", "blue"]), (2, ["0", "1", "2"])]
)
def test_a_restarted_arm_keeps_its_history_apart(arms: Any, labels: list[str]) -> None:
    """Rewards and harm of before stay with the old name, or number; the next one is another."""
    s = begun(replace(POLICY, arms=arms), guardrail=dpb.Guardrail("refunds", limit=0.9))
    for decision in s.ask(32):
        s.tell(decision, (1.0, 0.5))
    s._restart(0)
    for rows in (s.harm(), s.beliefs()):
        assert [(row.label, row.people) for row in rows] == list(
            zip(labels, (16, 16, 0), strict=True)
        )
    assert s._restart(2) == 3
    assert [name for name, _ in s.arms][2:] == ([2, 3] if arms == 2 else ["blue (2)", "blue"])
    assert [s.lift(0).control, loaded(s).lift().control] == [labels[0], s.beliefs()[3].label]
    s.pause_arm(1)  # in one of the segments a guardrail may have suspended it
    assert s._restart(1) == 4
    assert s.arms[4][1] == "paused"
    assert {each.action for each in s.ask(40)} == {3}
    s.resume_arm(4)
    assert 4 in {each.action for each in s.ask(40)}
    s.retire_arm(3)
    assert s.lift().control == s.beliefs()[4].label
    s.add_arm(None if arms == 2 else "red")
    for decision in s.ask(64):
        s.tell(decision, (1.0, 0.5))
    assert [row[:2] for row in s.harm()] == [row[:2] for row in s.beliefs()]
    assert s.harm()[5].people > 0
    assert loaded(s).harm() == s.harm()


def test_segments_are_restarted_together() -> None:
    s = begun(POLICY, ["DE", "FR"])
    rng = np.random.default_rng(3)
    for means in ({"blue": 0.7, "green": 0.3}, {"blue": 0.1, "green": 0.3}):
        for _ in range(1_500):
            decision = s.ask(segment="DE")
            s.tell(decision, float(rng.random() < means[decision.label]))
    assert s["DE"].beliefs().changed == ("blue",)
    with pytest.raises(ValueError, match="changed"):
        s.restart_arm("green")
    s["FR"]._restart("blue")  # as if the call had been cut off after it
    s.drop_open()
    with pytest.raises(ValueError, match="cut off"):
        s.restart_arm("green")
    assert s.restart_arm("blue") == 2
    assert s["DE"].arms == s["FR"].arms


def test_in_a_store_and_over_http() -> None:
    from tests.service.http.web import client_of, remote

    with dpb.open_store("memory:", noise=SimulatedNoise(1)) as store:
        trial, rng = store.create("trial", POLICY, seed=1), np.random.default_rng(3)
        for means in ({"blue": 0.9, "green": 0.3}, {"blue": 0.05, "green": 0.3}):
            for _ in range(40):
                made = trial.ask(20)
                each = [(d, float(rng.random() < means[str(d.label)])) for d in made]
                trial.tell_many(each)
        assert trial.beliefs().changed == ("blue",)
        far = remote(client_of(store))["trial"]
        with pytest.raises(ValueError, match="changed"):
            far.restart_arm("green")
        assert far.restart_arm("blue", key="once") == 2
        assert far.restart_arm("blue", key="once") == 2
        assert dict(trial.arms) == {"blue (1)": "retired", "green": "active", "blue": "active"}
        assert trial.events()[0].what == "restart arm"
        assert trial.recent(1_600).arms[2].decisions == 0
        trial.tell(trial.ask(), 1.0)
        for shown in (trial.decisions(), far.decisions()):
            assert {row.label for row in shown} == {"blue (1)", "green", "blue"}
            assert {row.label for row in shown if row.action == 0} == {"blue (1)"}
        assert far.beliefs() == trial.beliefs()
        assert [row.label for row in trial.history()[-1].arms] == ["blue (1)", "green", "blue"]
