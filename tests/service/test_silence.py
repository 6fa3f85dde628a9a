"""Campaigns some of whose people never answer: every arm is read, in whichever process, and what
waits is said on the page, by the API and in the log.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from tests.service.http.web import client_of, remote

NAMES = ["blue", "green", "red"]
WAITS = "green waits for 1 answer since 2023-11-14 22:13 UTC; nothing is learned of it until"


@pytest.mark.parametrize(("silent", "late"), [(0.4, 0), (0.3, 10)])
@pytest.mark.parametrize("every", [2, 7])
def test_a_store_that_is_opened_anew_decides_as_a_session_does(
    silent: float, late: int, every: int, tmp_path: Path
) -> None:
    """Whichever process does a call: every few people another one, which knows rows alone."""
    where = {"url": f"sqlite:///{tmp_path}/trial.db", "witness": tmp_path / "witness"}
    policy = dpb.DPRateIMED(arms=NAMES, epsilon=1, first=6)
    options: dict[str, Any] = {"seed": 2, "assignment": "shuffled"}
    session: Any = dpb.Session(policy, noise=dpb.SimulatedNoise(2), campaign="trial", **options)
    store = dpb.open_store(**where)
    trial = store.create("trial", policy, noise=dpb.SimulatedNoise(2), **options)
    rng, queue = np.random.default_rng(3), list[tuple[Any, Any]]()
    for step in range(120):
        here, there = session.ask(), trial.ask()
        assert here.action == there.action, step
        if rng.random() >= silent:
            queue.append((here, there))
        while len(queue) > late:
            here, there = queue.pop(int(rng.integers(len(queue))))
            kind, reward = rng.random(), float(rng.random() < 0.4)
            if kind < 0.05:
                session.void(here), trial.void(there)
            elif kind < 0.1:
                session.expire(here), trial.expire(there)
            else:
                session.tell(here, reward), trial.tell(there, reward)
        if step % every == 0:
            store.close()
            store = dpb.open_store(**where)
            trial = store["trial"]
            assert [each[:3] for each in trial.alarms] == [each[:3] for each in session.alarms]
    assert trial.beliefs() == session.beliefs()
    ratio = trial.sample_ratio()  # a store knows since when a decision is open
    assert replace(ratio, answers=ratio.answers._replace(since="")) == session.sample_ratio()
    overdue = [(each.arm, each.asked) for each in session.events]
    logged = [(row.about, row.asked) for row in trial.events() if row.what == "overdue"]
    assert logged[::-1] == overdue
    assert late or overdue
    store.close()


def test_an_arm_that_waits_is_said_everywhere() -> None:
    """The second person who gets green is silent, and so are those in their place."""
    now = [1.7e9]
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1), clock=lambda: now[0]) as store:
        policy = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1, first=4)
        trial = store.create("trial", policy, seed=1, assignment="planned")
        client = client_of(store)
        waits = list[Any]()
        for person in range(1, 41):
            now[0] += 60.0 * (person > 6)
            decision = trial.ask()
            if person == 6 or (person > 8 and decision.label == "green"):
                waits.append(decision)
            else:
                trial.tell(decision, 1.0)
        (alarm,) = trial.alarms
        assert (alarm.what, alarm.arm) == ("overdue", "green")
        assert alarm.advice.startswith(WAITS)
        far = remote(client)["trial"]
        assert far.alarms == trial.alarms
        assert far.sample_ratio() == trial.sample_ratio()
        assert trial.sample_ratio().answers is not None
        assert client.get("/v1/campaigns/trial/alarms").json() == [alarm._asdict()]
        assert 'dpbandits_overdue{campaign="trial"} 1' in client.get("/metrics").text
        assert trial.summary().overdue == 1
        (event,) = trial.events()
        assert (event.what, event.about, event.asked) == ("overdue", "green", alarm.asked)
        trial.expire(waits[0])
        assert trial.alarms == ()
        assert 'dpbandits_overdue{campaign="trial"} 0' in client.get("/metrics").text
        assert [row.what for row in trial.events()] == ["overdue"]
