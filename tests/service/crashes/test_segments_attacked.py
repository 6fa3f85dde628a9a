"""What was found by attacking campaigns with segments, and transactions that nobody saw."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import WitnessError
from dpbandits.service.witness import Witness
from tests.service.conftest import Open
from tests.service.machine import Time
from tests.service.timelines import Lite, copy_file, create

PEOPLE: dict[str, Any] = {
    "segments": ["DE", "FR"],
    "privacy_unit": "user",
    "max_contributions": 1,
}


@pytest.mark.parametrize("apart", [False, True])
def test_a_clock_that_is_behind_opens_no_window_again(make: Open, apart: bool) -> None:
    """Of one worker whose clock steps back, and of two whose clocks differ."""
    clocks = [Time(), Time()]
    first = make(clock=clocks[0])
    clocks[0].now = 1_000_001.0
    campaign = create(first, window=timedelta(seconds=100), **PEOPLE)
    campaign.ask(segment="DE", user="zoe")
    clocks[0].now = clocks[1].now = 999_999.0
    if apart:
        clocks[0].now, campaign = 1_000_001.0, make(clock=clocks[1])["c"]
    asked = [campaign.ask(segment=of, user="ann") for _ in range(5) for of in ("DE", "FR")]
    assert sum(decision.learn for decision in asked) == 1


def test_a_release_that_was_never_witnessed_stays_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two releases of the same rewards, on two timelines, one is ever shown."""
    lite = Lite(tmp_path)
    first = lite.file.with_name("first.db")
    second = lite.file.with_name("second.db")
    with lite.open() as store:
        # seeded noise would draw the same release on both
        campaign = store.create("c", dpb.DPKLUCB(arms=1, epsilon=1, first=4))
        asked = campaign.ask(4)
        campaign.tell_many([(d, 1) for d in asked[:3]])
        lite.copy(first)
        with monkeypatch.context() as killed:
            killed.setattr(Witness, "add", lambda *_: exit())
            with pytest.raises(SystemExit):
                campaign.tell(asked[3], 1)
        lite.copy(second)
    lite.put_back(first)
    with lite.open() as store:
        campaign = store["c"]
        campaign.tell(asked[3], 1)
        shown = campaign.releases()
        assert [release.coordinates for release in shown] == [(0,)]
    lite.put_back(second)
    with lite.open() as store:
        campaign = store["c"]
        assert campaign.generation == 2
        assert not any(release.coordinates for release in campaign.releases())
        assert [row.mean for row in campaign.beliefs()] == [None]
        assert campaign.tell(asked[3], 1) == "gone"
        more = campaign.ask(4)
        assert {*campaign.tell_many([(d, 1) for d in more])} == {"recorded"}
        assert len([r for r in campaign.releases() if r.coordinates]) == 1


def test_a_fence_of_one_segment_is_one_of_all(tmp_path: Path) -> None:
    """Where a witness is lost, too: what was asked before is gone in every segment."""
    lite = Lite(tmp_path)
    kept = lite.witness.with_name("older")
    with lite.open() as store:
        campaign = create(store, dpb.DPKLUCB(arms=2, epsilon=1, first=4), **PEOPLE)
        ann = campaign.ask(segment="DE", user="ann")
        copy_file(lite.witness, kept)
        for part in range(3):
            told = [campaign.ask(segment="FR", user=f"{part} {who}") for who in range(8)]
            campaign.tell_many([(d, 1) for d in told])
    lite.witness.write_bytes(kept.read_bytes())
    with lite.open() as store:
        campaign = store["c"]
        with pytest.raises(WitnessError, match="put back"):
            campaign.ask(segment="DE", user="x")
        campaign["FR"].fence()
        assert campaign.tell(ann, 1) == "gone"
        assert [campaign[name].generation for name in ("DE", "FR")] == [2, 2]
