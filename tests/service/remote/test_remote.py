"""A store behind HTTP, as somebody's first program calls it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import httpx
import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.service.client import RemoteStore
from dpbandits.service.server.access import Access
from tests.service.http.web import client_of, remote, served


def test_a_key_that_asks_and_tells_is_enough_to_ask_and_tell() -> None:
    with served() as (store, _):
        key = Access(store.database, open=False).create("website", ["ask", "tell"], "trial")
        website = remote(client_of(store, open=False, token=key))
        decision = website["trial"].ask()
        assert website["trial"].tell(decision, 1.0) == "recorded"
        with pytest.raises(PermissionError, match="needs another role"):
            website["trial"].summary()
        with pytest.raises(PermissionError, match="another campaign"):
            website["other"].ask()
        stranger = remote(client_of(store, open=False))
        with pytest.raises(PermissionError, match="No key was sent"):
            stranger["trial"]


@pytest.mark.parametrize("reward", [np.int64(1), np.float32(0.5), Fraction(1, 2), True, 1])
def test_every_kind_of_number_is_a_reward(reward: Any) -> None:
    with served() as (_, client):
        trial = remote(client)["trial"]
        assert trial.tell(trial.ask(), reward) == "recorded"


@pytest.mark.parametrize("reward", ["0.123", float("nan"), {"reward": 0.123}, None, b"0.123"])
def test_what_is_no_reward_is_not_sent_and_not_shown(reward: Any) -> None:
    with served() as (_, client):
        trial = remote(client)["trial"]
        decision = trial.ask()
        with pytest.raises(dpb.RewardError, match=r"Expected a reward .* Nothing was sent") as said:
            trial.tell(decision, reward)
        assert "123" not in str(said.value)
        assert trial.tell(decision, 1.0) == "recorded", "nothing had been done"


def test_what_a_server_says_of_its_store_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbandits.service.client.PAUSE", 0.0)
    said = {"title": "Away", "code": "store", "detail": "Its file is damaged.", "status": 503}
    transport = httpx.MockTransport(lambda request: httpx.Response(503, json=said))
    client = httpx.Client(transport=transport, base_url="http://localhost:1")
    with pytest.raises(dpb.StoreError, match="Its file is damaged"):
        RemoteStore("http://localhost:1", client=client)["trial"]


def test_a_scope_that_there_is_needs_no_epsilon() -> None:
    with served() as (store, client):
        far = remote(client)
        with pytest.raises(ValueError, match="scope"):
            far.scope("all")
        made = far.scope("all", epsilon=Fraction(5, 2))
        assert far.scope("all") == store.scope("all") == made


def test_numbers_of_numpy_are_numbers_far_away_too() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1), key=bytes(32)) as store:
        policy = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1)  # type: ignore[arg-type]
        options: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2}
        far = remote(client_of(store)).create("trial", policy, **options)
        made = far.ask(np.int64(2), eligible=np.array([1]), user=np.int32(7))
        assert [each.action for each in made] == [1, 1]
        far.pause_arm(np.int64(0))
        assert dict(far.arms) == {"blue": "paused", "green": "active"}
        assert far.erase(np.int64(7)) == 2


def test_every_call_waits_as_long_as_the_store_says() -> None:
    """And one more second for each 1,000 rows; ten times as long where much is computed."""
    seconds = list[float]()

    def answer(request: httpx.Request) -> httpx.Response:
        seconds.append(request.extensions["timeout"]["read"])
        return httpx.Response(404, json={"code": "no_such_campaign", "detail": "There is none."})

    client = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://localhost")
    store = RemoteStore("http://localhost", client=client, timeout=0.5)
    trial = store._campaign("trial")
    calls: dict[Callable[[], object], float] = {
        trial.summary: 0.5,
        trial.beliefs: 0.5,
        lambda: trial.pause_arm(0): 0.5,
        lambda: trial.tell("0" * 32, 1): 0.501,
        lambda: trial.decisions(limit=2_000): 2.5,
        lambda: trial.pending(limit=2_000): 2.5,
        lambda: trial.expire(*["0" * 32] * 500): 1.0,
        trial.expected_loss: 5.0,
        store.summaries: 5.0,
        lambda: store.create("new", dpb.DPKLUCB(arms=2, epsilon=1)): 5.0,
    }
    for call in calls:
        with pytest.raises(dpb.UnknownCampaignError, match="There is none"):
            call()
    assert seconds == list(calls.values())
