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


def test_each_segment_learns_for_itself_at_the_price_of_one(make: Open) -> None:
    campaign = segmented(make())
    for _ in range(10):
        for segment, liked in (("DE", "a"), ("FR", "b")):
            asked = campaign.ask(40, segment=segment)
            campaign.tell_many([(each, float(each.label == liked)) for each in asked])
    again = make()["trial"]
    found = again.beliefs()
    assert [row.segment for row in found] == ["DE", "DE", "FR", "FR"]
    assert found.to_polars().columns[:2] == ["segment", "label"]
    assert again.sample_ratio()["FR"] == again["FR"].sample_ratio()
    assert again.alarms == {"DE": (), "FR": ()}
    means = {name: [row.mean or 0.0 for row in found[name]] for name in SEGMENTS}
    assert means["DE"][0] > means["DE"][1]
    assert means["FR"][0] < means["FR"][1]
    assert again.spent == 1
    assert again.guarantee == again["FR"].guarantee
    assert again.statement().count("PRIVACY STATEMENT") == 2
    assert again.summary().asked == 800
    assert again.summary().segments == ("DE", "FR")
    assert list(make()) == ["trial"]
    assert len(make()) == 1
    assert "trial/DE" not in make()


def test_a_person_counts_over_all_segments(make: Open) -> None:
    campaign, other = segmented(make(), **PEOPLE), make()["trial"]
    asked = [campaign.ask(segment="DE", user="ann"), other.ask(segment="FR", user="ann")]
    asked += [host.ask(segment=s, user="ann") for host, s in ((campaign, "FR"), (other, "DE"))]
    assert [each.learn for each in asked] == [True, True, False, False]
    assert other.void(asked[0].id) == ["recorded"]
    assert campaign.ask(segment="FR", user="ann").learn
    assert campaign.erase("ann") > 0
    assert not other.ask(segment="DE", user="ann").learn


def test_answers_find_their_segment_and_one_wrong_one_refuses_all(make: Open) -> None:
    campaign = segmented(make())
    german, french = campaign.ask(segment="DE"), campaign.ask(segment="FR")
    assert (german.campaign, french.campaign) == ("trial/DE", "trial/FR")
    with pytest.raises(dpb.RewardError):
        campaign.tell_many([(german.id, 1), (french.id, 7)])
    told = campaign.tell_many([(french.id, 1), ("0" * 32, 1), (german, 0), (french, 0)])
    assert told == ["recorded", "unknown", "recorded", "already"]
    assert campaign.summary().waiting == 0


def test_arms_come_and_go_in_all_segments_together(make: Open) -> None:
    campaign = segmented(make())
    for change in ("add_arm", "retire_arm", "pause_arm"):
        with pytest.raises(ValueError, match="whole campaign"):
            getattr(campaign["DE"], change)("a")
    assert campaign.add_arm("c") == 2
    assert campaign.add_arm("d") == 3
    campaign.retire_arm("a")
    with pytest.raises(ValueError, match="come back"):
        campaign.resume_arm("a")
    arms = make()["trial"].arms
    assert arms["DE"] == arms["FR"]
    campaign.close("enough")
    with pytest.raises(dpb.ClosedError):
        campaign.ask(segment="FR")


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


def test_a_scope_pays_for_a_campaign_and_not_for_each_segment(make: Open) -> None:
    store = make()
    store.scope("people", epsilon=1)
    segmented(store, scope="people")
    assert store.scope("people").left == 0


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
