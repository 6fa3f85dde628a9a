"""What privacy is expected to have cost: the same in Python, over HTTP, in the client and on the
page; computed once a release, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.campaign import Campaign
from dpbandits.service.store import CampaignStore
from tests.service.http.web import client_of, remote
from tests.service.pages.test_dashboard import Numbers, text_of

PATH = "/v1/campaigns/trial/expected_loss"


@pytest.fixture
def trial() -> Iterator[tuple[CampaignStore, Campaign]]:
    """A campaign of which every arm has a released mean."""
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        campaign = store.create("trial", dpb.DPKLUCB(arms=["a", "b"], epsilon=1), seed=1)
        told(campaign, 400)
        yield store, campaign


def told(campaign: Campaign, count: int) -> None:
    campaign.tell_many([(each, float(each.label == "b")) for each in campaign.ask(count)])


def test_all_say_the_same(trial: tuple[CampaignStore, Campaign]) -> None:
    store, campaign = trial
    client, found = client_of(store), campaign.expected_loss()
    assert found is not None
    assert (found.people, found.runs) == (400, 400)
    assert client.get(PATH).json() == found._asdict()
    assert remote(client)["trial"].expected_loss() == found
    page = Numbers(text_of(client.get("/campaigns/trial/expected_loss")))
    assert page.values == [str(found.people), str(found.loss), str(found.privacy)]
    assert "/campaigns/trial/expected_loss" in text_of(client.get("/campaigns/trial"))


def test_arms_that_are_paused_do_not_count(trial: tuple[CampaignStore, Campaign]) -> None:
    _, campaign = trial
    campaign.add_arm("c")
    assert campaign.expected_loss() is None  # nothing is known of c
    campaign.pause_arm("c")
    assert campaign.expected_loss() is not None


def test_before_a_release_nothing_can_be_said() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1))
        client = client_of(store)
        assert client.get(PATH).json() is None
        assert remote(client)["trial"].expected_loss() is None
        assert "cannot be said yet" in text_of(client.get("/campaigns/trial/expected_loss"))


def test_a_release_is_simulated_once(
    trial: tuple[CampaignStore, Campaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, campaign = trial
    simulated, inner = list[int](), Campaign.expected_loss

    def counted(self: Campaign) -> Any:
        simulated.append(1)
        return inner(self)

    monkeypatch.setattr(Campaign, "expected_loss", counted)
    client = client_of(store)
    first = client.get(PATH).json()
    campaign.ask()
    assert client.get(PATH).json() == first
    assert len(simulated) == 1
    told(campaign, 800)
    assert client.get(PATH).json()["people"] == 1201
    assert len(simulated) == 2


def test_who_comes_meanwhile_does_not_wait(
    trial: tuple[CampaignStore, Campaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _ = trial
    client, said = client_of(store), list[Any]()

    def slow(self: Campaign) -> None:
        said.append(client.get(PATH))

    monkeypatch.setattr(Campaign, "expected_loss", slow)
    assert client.get(PATH).json() is None
    (meanwhile,) = said
    assert meanwhile.status_code == 409
    assert "Ask again in some seconds" in meanwhile.json()["detail"]
