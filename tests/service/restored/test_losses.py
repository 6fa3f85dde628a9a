"""No copy of a store holds noise, and replies to repeated answers tell nothing."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.database import Database
from dpbandits.service.sealing import StoreSeal
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness
from tests.service.conftest import KEY
from tests.service.machine import Time
from tests.service.timelines import copied, store_of


def test_no_noise_lies_in_a_copy() -> None:
    """Of secure noise a database holds the kind, and nothing that the next draw comes from."""
    store = CampaignStore(Database("memory:"), Witness(None), key=KEY)
    campaign = store.create("c", dpb.DPKLUCB(arms=1, epsilon=1, first=4))
    campaign.tell_many([(each, 1) for each in campaign.ask(20)])
    row = store.database.campaign("c")
    assert row is not None
    with store.database.reading(campaign.uid) as rows:
        head = rows.heads([row.uid])[row.uid]
        private = StoreSeal(KEY).of(row).opened_private(rows.private(row.uid), head)
    assert private["noise"] == {"kind": "secure"}


Tell = Callable[[Any, Any, float], str]
"""Tells a campaign a reward of a decision, and passes on the reply."""


def honest(campaign: Any, decision: Any, reward: float) -> str:
    return str(campaign.tell(decision, reward))


class Oracle:
    """BROKEN ON PURPOSE: its reply says whether a repeated answer is the one that was told."""

    def __init__(self) -> None:
        self.told = dict[str, float]()

    def __call__(self, campaign: Any, decision: Any, reward: float) -> str:
        reply = honest(campaign, decision, reward)
        same = self.told.setdefault(decision.id, reward) == reward
        return reply if same else "conflict"


def replies(folder: Path, tell: Tell, reward: float, options: dict[str, Any]) -> object:
    """All replies to answers that come again, with what they may have said and what not: while the
    block is open, after it was read, after the database was put back, and in a lost timeline.
    """
    clock, path, heard = Time(), folder / "witness", list[str]()
    backend, policy = Database("memory:"), dpb.DPKLUCB(arms=1, epsilon=1, first=4, grid=1)
    made = {"noise": dpb.SimulatedNoise(1), "seed": 1, **options}

    def opened(rows: Database) -> Any:
        return store_of(rows, path, clock=clock)

    def probe(campaign: Any) -> None:
        heard.extend(tell(campaign, one, again) for again in (0, 1, 0.5, 1, 0))

    campaign = opened(backend).create("c", policy, **made)
    one, *others = campaign.ask(8)
    early = copied(backend)
    heard.append(tell(campaign, one, reward))
    probe(campaign)
    held = copied(backend)
    probe(opened(held)["c"])
    probe(opened(early)["c"])
    campaign.tell_many([(each, 1) for each in others])
    clock.now += 3600
    campaign.settle()
    probe(campaign)
    assert campaign.releases()
    for copy in (held, early):
        probe(opened(copied(copy))["c"])
    path.unlink()
    return tuple(heard)


@pytest.mark.parametrize(
    "options", [{}, {"attribution_window": timedelta(minutes=1), "default": 0}], ids=["", "window"]
)
@pytest.mark.parametrize("make", [lambda: honest, Oracle])
def test_a_repeated_answer_tells_nothing_of_the_first(
    tmp_path: Path, make: Callable[[], Tell], options: dict[str, Any]
) -> None:
    heard = {replies(tmp_path, make(), reward, options) for reward in (0, 1, 0.5)}
    assert len(heard) == (3 if make is Oracle else 1)
