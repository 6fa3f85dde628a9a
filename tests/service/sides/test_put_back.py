"""A database that is put back is fenced on every side, though one alone lost something."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.conftest import KEY
from tests.service.sides.held import BEFORE, HALF, PEOPLE, SIDES, at, held, on


@pytest.mark.long
def test_who_met_the_policy_in_a_lost_timeline_is_not_read_again(
    tmp_path: Path, opened: list[Any]
) -> None:
    """In the copy the ramp has not begun, so that no side was read; in the timeline that was lost
    the policy's people were.
    """
    url, witness, clock = f"sqlite:///{tmp_path}/t.db", tmp_path / "w", at(BEFORE)

    def opener() -> Any:
        store = dpb.open_store(url, witness=witness, key=KEY, clock=clock)
        opened.append(store)
        return store

    store = opener()
    campaign = held(store, **{**PEOPLE, "max_contributions": 1})
    waiting = campaign.ask(user=1)
    store.close()
    shutil.copy(tmp_path / "t.db", tmp_path / "copy.db")
    store, clock.now = opener(), HALF
    campaign = store["trial"]
    met = on(campaign, "policy", 40)
    asked = [campaign.ask(user=user) for user in met]
    campaign.tell_many([(each, 1) for each in asked])
    assert campaign["policy"].summary().step > 0
    assert campaign["holdout"].summary().step == 0
    store.close()
    for left in tmp_path.glob("t.db*"):
        left.unlink()
    shutil.copy(tmp_path / "copy.db", tmp_path / "t.db")
    again = opener()["trial"]
    assert not again.ask(user=met[0]).learn
    assert [again[side].generation for side in SIDES] == [2, 2, 2]
    assert again.tell(waiting, 1) == "gone"
    assert not again.ask(user=on(again, "holdout")[0]).learn  # nobody knows who was read
    assert again.ask(user=on(again, "control")[0]).label == "a"
