"""Where answers are waited for, whether somebody answered is as private as the answer: it is in no
public table, and every process knows of it all the same.
"""

from __future__ import annotations

import random
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

import dpbandits as dpb
from dpbandits.service.tables import PRIVATE, metadata
from tests.service.conftest import Open
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


def public_tables(store: Any) -> Any:
    """All rows of all tables that hold nothing private."""
    with store.database.begun(write=False) as connection:
        return {
            name: sorted(map(repr, connection.execute(select(table))))
            for name, table in metadata.tables.items()
            if name not in PRIVATE
        }


def test_no_public_row_moves_as_somebody_answers(make: Open) -> None:
    now = Now()
    store = make(clock=now)
    campaign = create(store)
    asked = campaign.ask(6)
    before = public_tables(store)
    assert campaign.tell(asked[0], 1) == "recorded"
    assert campaign.tell_many([(asked[1], 0.5), (asked[2], 0)]) == ["recorded"] * 2
    assert campaign.tell(asked[0], 0) == "recorded"
    assert public_tables(store) == before
    campaign.ask()
    assert public_tables(store) != before


@pytest.mark.parametrize("seed", range(6))
def test_workers_know_each_others_answers(tmp_path: Path, seed: int) -> None:
    """Answers told to one of three workers count for all, the first of each decision alone."""
    now, rng, lite = Now(), random.Random(seed), Lite(tmp_path)
    stores = [lite.open(clock=now) for _ in range(3)]
    create(stores[0])
    campaigns, plain = [store["trial"] for store in stores], session_of(now)
    waiting = list[Any]()
    for _ in range(60):
        campaign = rng.choice(campaigns)
        kind = rng.choice(["ask", "tell", "tell", "tell", "look", "wait"])
        if kind == "ask":
            many = rng.choice([1, 3])
            waiting += zip(campaign.ask(many), plain.ask(many), strict=True)
        elif kind == "look":
            campaign.summary()
        elif kind == "wait":
            now.seconds += rng.choice([1, 30])
        elif waiting:
            (decision, same), reward = rng.choice(waiting), rng.choice([0, 1])
            if campaign.tell(decision, reward) == "recorded":
                plain.tell(same, reward)
    now.seconds += WINDOW + 1
    rng.choice(campaigns).settle()
    plain.settle()
    assert plain.releases > 2
    for campaign in campaigns:
        assert campaign.summary().step == plain.releases
        assert str(campaign.beliefs()) == str(plain.beliefs())


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
