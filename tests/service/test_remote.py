"""A store behind HTTP, as somebody's first program calls it, on threads or on asyncio."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.service.campaign import Campaign
from dpbandits.service.client import AsyncCampaign, AsyncRemoteStore
from dpbandits.service.operations import CampaignDecision
from dpbandits.service.store import CampaignStore
from tests.service.http.web import app_of, client_of, mocked, remote

POLICY = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1)  # type: ignore[arg-type]


def test_options_of_another_kind_are_refused() -> None:
    wrong: dict[str, list[Any]] = {"timeout": [0, "2", float("nan")], "fallback": ["", 0.5, True]}
    wrong["token"] = ["dpb_of_a_file\n", 5]
    for name, values in wrong.items():
        for value, opens in product(values, (dpb.open_store, dpb.open_async_store)):
            with pytest.raises(ValueError, match=f"Expected {name}"):
                opens("http://localhost:1", **{name: value})


def test_they_are_for_servers_only(tmp_path: Path) -> None:
    place = f"sqlite:///{tmp_path}/t.db"
    for call in (lambda: dpb.open_store(place, fallback="a"), lambda: dpb.open_async_store(place)):
        with pytest.raises(ValueError, match="address of a server"):
            call()
    with pytest.raises(ValueError, match="with the address of a server"):
        dpb.open_store(place, token="dpb_1")
    its_own: dict[str, Any] = {"key": bytes(32), "noise": dpb.SecureNoise()}
    its_own |= {"witness": tmp_path / "w", "clock": datetime.now}
    for name, value in its_own.items():
        with pytest.raises(ValueError, match="An access key is token="):
            dpb.open_store("http://localhost", **{name: value})
    with pytest.raises(ValueError, match=r"three slashes, got 'sqlite://trial\.db'"):
        dpb.open_store("sqlite://trial.db")
    for nowhere in ("sqlite://", "sqlite:///", "sqlite:///:memory:"):
        for witness in (None, tmp_path / "w"):  # with one, a store that forgets was opened
            with pytest.raises(ValueError, match="'memory:'"):
                dpb.open_store(nowhere, witness=witness)
    no: dict[str, Any]
    for no in ({"noise": 1}, {"noise": dpb.SecureNoise}, {"clock": 3}):
        with pytest.raises(TypeError, match=f"Expected {next(iter(no))}="):
            dpb.open_store(place, **no)
    assert not any(tmp_path.iterdir())


def test_what_a_server_says_of_its_store_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbandits.service.client.PAUSE", 0.0)
    said = {"title": "Away", "code": "store", "detail": "Its file is damaged.", "status": 503}
    said["errors"] = [{"where": "file"}, {"where": "holdout"}]
    store = mocked(lambda _: httpx.Response(503, json=said))
    with pytest.raises(dpb.StoreError, match=r"damaged\. Named in `errors`: holdout\."):
        store["trial"]


def test_weights_of_0_and_1_come_as_weights() -> None:
    """They are no super arm of the arms 0 and 1."""
    for action in ([1.0, 0.0], [0.5, 0.5], [0, 2]):
        found = CampaignDecision.model_validate({"id": "a", "action": action, "round": 1})
        assert repr(found.action) == repr(tuple(action))


def test_what_json_has_not_is_refused_and_later_calls_go_on() -> None:
    """A person known by bytes, say: the ask is not made again at each later call."""
    far = remote(client_of(dpb.open_store("memory:", noise=dpb.SimulatedNoise(1))))
    trial = far.create("trial", POLICY, min_share=np.float32(0.125), default=Fraction(1, 2))
    assert (trial.options["min_share"], trial.options["default"]) == ("0.125", "0.5")
    for arguments in ({"user": b"anna"}, {"user": "\ud800"}, {"eligible": [object()]}):
        with pytest.raises((TypeError, ValueError), match="Expected"):
            trial.ask(**arguments)
    for default in (float("nan"), Fraction(10**400)):
        with pytest.raises(ValueError, match="Expected finite numbers"):
            far.create("other", POLICY, default=default)
    for policy in ("DPKLUCB", dpb.DPKLUCB):
        with pytest.raises(TypeError, match="Expected a policy"):
            far.create("other", policy)  # type: ignore[arg-type]
    wrong: dict[str, Any]
    for wrong in ({"rewards": (0, 10)}, {"guardrail": [0.314, 1]}):
        near = partial(dpb.Session, POLICY, noise=dpb.SimulatedNoise(1))
        for create in (partial(far.create, "other", POLICY), near):
            with pytest.raises(TypeError, match=r"such as dpbandits\.\w+\(.*, got an object of"):
                create(**wrong)
    for name in ("default", "seed", "max_pending", "min_share", "responsible", "period", "sticky"):
        for rewards in ([0.314], np.array([0.314]), [Fraction(314, 999)]):  # in another's place
            with pytest.raises((TypeError, ValueError), match=f"Expected {name}=") as said:
                dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), **{name: rewards})
            assert "314" not in str(said.value)
    for time in ("window", "attribution_window", "period"):  # a server would take 7 for seconds
        with pytest.raises(ValueError, match=f"Expected {time}=7 to be a datetime.timedelta"):
            far.create("other", POLICY, **{time: 7})
    assert trial.tell(trial.ask(), 1) == "recorded"
    assert trial.lift(control=1).control == "green"
    assert [each.action for each in trial.ask(np.int64(2), eligible=np.array([1]))] == [1, 1]
    trial.pause_arm(np.int64(0))
    assert dict(trial.arms) == {"blue": "paused", "green": "active"}


def test_every_call_waits_as_long_as_the_store_says() -> None:
    """And one more second for each 1,000 rows; ten times as long where much is computed."""
    seconds = list[float]()

    def answer(request: httpx.Request) -> httpx.Response:
        seconds.append(request.extensions["timeout"]["read"])
        return httpx.Response(404, json={"code": "no_such_campaign", "detail": "There is none."})

    store = mocked(answer, timeout=0.5)
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


# On asyncio


def test_every_verb_and_view_of_a_campaign_is_awaited_too() -> None:
    """But for those of the store itself."""
    local = {"uid", "rule", "side", "fence", "settle", "policy"}
    names = {name for name in vars(Campaign) if not name.startswith("_")}
    assert names - local == {name for name in vars(AsyncCampaign) if not name.startswith("_")}


async def compared(store: CampaignStore) -> None:
    transport = httpx.ASGITransport(app=app_of(store))
    client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
    async with AsyncRemoteStore("http://localhost", client=client) as far:
        trial = await far.create("trial", POLICY, segments=["DE", "FR"])
        near: Any = store["trial"]
        for name in ("DE", "FR"):
            made = await trial.ask(200, segment=name)
            await trial.tell_many([(each, each.round & 1) for each in made])
        await trial.add_arm("red")
        assert [each async for each in far] == ["trial"]
        names = "arms segments spent guarantee ledger alarms options guardrail generation"
        for name in (*names.split(), "attribution_window"):
            assert str(await getattr(trial, name)()) == str(getattr(near, name)), name
        assert str(await trial.beliefs()) == str(near.beliefs())
        assert await trial["DE"].releases() == near["DE"].releases()
        for limit in (7, None):
            page = await trial["DE"].decisions(limit=limit)
            assert page.rows == near["DE"].decisions(limit=limit).rows
        assert await trial.statement() == near.statement()
        with pytest.raises(dpb.UnknownCampaignError):
            await far.campaign("trail")


def test_what_is_awaited_is_what_is_called(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbandits.service.client.PAGE_ROWS", 30)
    asyncio.run(compared(store))
