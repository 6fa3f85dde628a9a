"""A campaign has so many arms at most that its calls do not take long."""

from __future__ import annotations

from typing import Any

import pytest

import dpbandits as dpb

MOST = 10_000


@pytest.mark.parametrize("more", [{}, {"holdout": ".5"}, {"segments": ["DE", "FR"]}], ids=str)
def test_more_arms_are_refused(more: Any) -> None:
    parts = len(more.get("segments", [1]))
    with dpb.open_store("memory:", key=bytes(32), noise=dpb.SimulatedNoise(1)) as store:
        with pytest.raises(ValueError, match=r"at most 10,000 arms.*Nothing was created"):
            store.create("c", dpb.DPKLUCB(arms=MOST // parts + 1, epsilon=1), **more)
        assert list(store) == []
        store.create("c", dpb.DPKLUCB(arms=MOST // parts, epsilon=1), **more)


def test_no_arm_is_added_beyond() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        campaign = store.create("c", dpb.DPKLUCB(arms=MOST - 1, epsilon=1))
        assert campaign.add_arm(key="last") == MOST - 1
        with pytest.raises(ValueError, match=r"has 10,000 arms.*Nothing was changed"):
            campaign.add_arm()
        assert campaign.add_arm(key="last") == MOST - 1, "a call that is made again is answered"
        assert len(campaign.arms) == MOST


def test_segments_are_few() -> None:
    names = [f"{at}" for at in range(1_001)]
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        with pytest.raises(ValueError, match=r"at most 1,000 segments=.*Nothing was created"):
            store.create("c", dpb.DPKLUCB(arms=2, epsilon=1), segments=names)
        assert list(store) == []
