"""Campaigns with segments: each learns for itself, and a person counts over all of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.conftest import KEY, Open
from tests.service.machine import Time

POLICY = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=8)
SEGMENTS = ["DE", "FR"]
PEOPLE = {"privacy_unit": "user", "max_contributions": 2}


def segmented(store: Any, **options: Any) -> Any:
    return store.create(
        "trial", POLICY, noise=dpb.SimulatedNoise(1), seed=1, segments=SEGMENTS, **options
    )


def test_segments_that_are_none_and_those_that_were_not_declared(make: Open) -> None:
    store = make()
    for wrong in ([], ["DE", "DE"], "DE", [1], [""], 7, ["x" * 100, "y" * 196]):
        with pytest.raises(ValueError, match=r"segment"):
            store.create("trial", POLICY, segments=wrong)
    assert list(store) == []
    campaign = segmented(store)
    for wrong in (None, "ES", 3):
        with pytest.raises(ValueError, match="'DE', 'FR'"):
            campaign.ask(segment=wrong)
    plain = store.create("plain", POLICY)
    with pytest.raises(ValueError, match="has none"):
        plain.ask(segment="DE")
    with pytest.raises(dpb.NameTakenError):
        store.create("trial", POLICY)
    with pytest.raises(dpb.NameTakenError):
        segmented(store)


def test_a_copy_put_back_fences_every_segment_though_one_alone_was_read(
    tmp_path: Path, opened: list[Any]
) -> None:
    """Ann's place was free in the copy; in the timeline that was lost she was read in FR. She is
    learned from no more, in DE neither, though that lost nothing.
    """
    url, witness, clock = f"sqlite:///{tmp_path}/t.db", tmp_path / "w", Time()

    def opener() -> Any:
        store = dpb.open_store(url, witness=witness, key=KEY, clock=clock)
        opened.append(store)
        return store

    store = opener()
    campaign = segmented(store, **{**PEOPLE, "max_contributions": 1})
    waiting = campaign.ask(segment="DE", user="ben")
    store.close()
    shutil.copy(tmp_path / "t.db", tmp_path / "copy.db")
    store = opener()
    assert store["trial"].ask(segment="FR", user="ann").learn
    for at in range(40):
        person = store["trial"].ask(segment="FR", user=f"person {at}")
        store["trial"].tell(person, 1)
    assert store["trial"]["FR"].summary().step > 0
    assert store["trial"]["DE"].summary().step == 0
    store.close()
    for left in tmp_path.glob("t.db*"):
        left.unlink()
    shutil.copy(tmp_path / "copy.db", tmp_path / "t.db")
    again = opener()["trial"]
    assert not again.ask(segment="DE", user="ann").learn
    assert [again[name].generation for name in SEGMENTS] == [2, 2]
    assert again.tell(waiting, 1) == "gone"
    assert not again.ask(segment="FR", user="ann").learn
    assert again["DE"].tell(again.ask(segment="DE", user="carl"), 1) == "recorded"


# A campaign has so many arms at most that its calls do not take long


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
