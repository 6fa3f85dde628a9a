"""Where answers are waited for, whether somebody answered is as private as the answer: it is in no
public table, and every process knows of it all the same.
"""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import dpbandits as dpb
from tests.service.timelines import Lite

WINDOW = 100
POLICY = dpb.DPKLUCB(arms=2, epsilon=1, first=2)


class Now:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


OPTIONS: dict[str, Any] = {
    "attribution_window": timedelta(seconds=WINDOW),
    "assignment": "planned",
    "seed": 1,
}


def create(store: Any) -> Any:
    return store.create("trial", POLICY, noise=dpb.SimulatedNoise(1), **OPTIONS)


def session_of(now: Now) -> dpb.Session:
    """A session of which the same may be asked."""
    return dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), clock=now, **OPTIONS)


def test_a_database_that_lost_answers_alone_is_read_anew(tmp_path: Path) -> None:
    """Its head is what it was, for it does not say that somebody answered."""
    now, lite = Now(), Lite(tmp_path)
    store, plain = lite.open(clock=now), session_of(now)
    campaign = create(store)
    first, second = campaign.ask(2)
    plain.tell(plain.ask(2)[0], 1)
    campaign.tell(first, 1)
    copy = sqlite3.connect(lite.copy(tmp_path / "copy.db"))
    campaign.tell(second, 1)
    live = sqlite3.connect(lite.file)
    copy.backup(live)  # put back while the store is open
    live.close()
    copy.close()
    now.seconds += WINDOW + 1
    campaign.settle()
    plain.settle()
    assert plain.releases == 1
    assert str(campaign.beliefs()) == str(plain.beliefs())
