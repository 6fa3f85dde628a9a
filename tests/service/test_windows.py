"""Where answers are held until their time has passed, replies and releases tell nothing of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import dpbandits as dpb
from tests.service.machine import Time
from tests.service.timelines import create

WINDOWED: dict[str, Any] = {"attribution_window": timedelta(seconds=60), "default": 0}


def test_an_answer_that_is_held_makes_nothing_due() -> None:
    """Two campaigns of one seed on one clock, one of which is told between two settlings (a view
    settles, too): what is public of them stays the same.
    """
    seen = list[Any]()
    for told in (True, False):
        clock = Time()
        store = dpb.open_store("memory:", clock=clock)
        campaign = create(store, dpb.DPKLUCB(arms=2, epsilon=1, first=2), **WINDOWED)
        asked = campaign.ask(8)
        clock.now += 30
        late = campaign.ask()
        clock.now += 31
        if told:
            assert campaign.tell(late, 0) == "recorded"
            assert campaign.expire(late) == ["recorded"]
            assert campaign.tell(asked[0], 0) == "gone"
        clock.now += 1.5
        campaign.settle()
        seen.append((campaign.summary(), campaign.ledger, campaign.releases(), campaign.beliefs()))
    assert seen[0] == seen[1]
    assert seen[0][0].step > 0
