"""Campaigns some of whose people never answer: what waits is said by the API, in metrics and in the
log.
"""

from __future__ import annotations

from typing import Any

import dpbandits as dpb
from tests.service.http.web import client_of, remote

WAITS = "green waits for 1 answer since 2023-11-14 22:13 UTC; nothing is learned of it until"


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
