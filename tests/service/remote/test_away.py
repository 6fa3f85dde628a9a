"""A server that is away: the clients for threads and for asyncio make calls again, or decide for a
fallback arm, and nothing that nobody got stays pending.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.client import AsyncRemoteStore, RemoteStore
from dpbandits.service.store import CampaignStore
from tests.service.http.web import app_of

AWAY = ["timeout", "cut", "done", "503", "500"]
"""How a request fails: the server never answers, hangs up, has done it and then hangs up, says that
its database is away, or that it is at fault.
"""


class Faults:
    """What happens to the next requests, in order; after that all is well. seen: their paths."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.next, self.seen = inner, list[str](), list[str]()

    async def reply(self, request: httpx.Request, body: bytes) -> httpx.Response:
        self.seen.append(request.url.path.rpartition("/")[2])
        how = self.next.pop(0) if self.next else ""
        if how == "timeout":
            raise httpx.ReadTimeout("no reply")
        if how == "unreachable":
            raise httpx.ConnectError("refused")
        if how == "cut":
            raise httpx.ReadError("cut")
        if how in ("503", "500"):
            code = "store" if how == "503" else "fault"
            return httpx.Response(int(how), json={"code": code, "detail": "Away."})
        plain = httpx.Request(request.method, request.url, headers=request.headers, content=body)
        answer = await self._inner.handle_async_request(plain)
        said = await answer.aread()
        if how == "done":
            raise httpx.ReadError("cut")
        return httpx.Response(answer.status_code, headers=answer.headers, content=said)


class SyncTransport(httpx.BaseTransport):
    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return anyio.run(self._faults.reply, request, request.content)


class AsyncTransport(httpx.AsyncBaseTransport):
    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._faults.reply(request, request.content)


class Far:
    """A campaign of a server, by either client: its verbs are called here in one way."""

    def __init__(self, store: CampaignStore, faults: Faults, kind: str, **options: Any) -> None:
        self.store, self.faults, self.kind = store, faults, kind
        self._options = options

    def __call__(self, name: str, *given: Any, **options: Any) -> Any:
        """What a verb says."""
        return self.run(lambda trial: getattr(trial, name)(*given, **options))

    def run(self, call: Callable[[Any], Any]) -> Any:
        if self.kind == "threads":
            return call(self._sync()._campaign("trial"))

        async def awaited() -> Any:
            found: Awaitable[Any] = call(self._async()._campaign("trial"))
            return await found

        return anyio.run(awaited)

    def _sync(self) -> RemoteStore:
        if not hasattr(self, "_store"):
            client = httpx.Client(transport=SyncTransport(self.faults), base_url="http://localhost")
            self._store: Any = RemoteStore("http://localhost", client=client, **self._options)
        return self._store  # type: ignore[no-any-return]

    def _async(self) -> AsyncRemoteStore:
        if not hasattr(self, "_store"):
            transport = AsyncTransport(self.faults)
            client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
            self._store = AsyncRemoteStore("http://localhost", client=client, **self._options)
        return self._store  # type: ignore[no-any-return]

    @property
    def pending(self) -> int | None:
        return self.store["trial"].summary().waiting


Make = Callable[..., Far]


@pytest.fixture(params=["threads", "asyncio"])
def far(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    monkeypatch.setattr("dpbandits.service.client.PAUSE", 0.0)
    with dpb.open_store("memory:", key=bytes(32), noise=dpb.SimulatedNoise(1)) as store:
        policy = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1)  # type: ignore[arg-type]
        store.create("trial", policy, privacy_unit="user", max_contributions=5)
        inner = httpx.ASGITransport(app=app_of(store), raise_app_exceptions=False)
        yield lambda **options: Far(store, Faults(inner), request.param, **options)


@pytest.mark.parametrize("how", AWAY)
def test_a_fallback_arm_while_the_server_is_away(far: Make, how: str) -> None:
    trial = far(fallback="blue")
    trial.faults.next = [how] if how == "500" else [how, how]  # a fault is not tried again
    decision = trial("ask", user="anna")
    assert (decision.id, decision.label, decision.learn) == ("", "blue", False)
    assert trial.faults.seen == (["ask"] if how == "500" else ["ask", "ask"])
    assert trial("tell", decision, 1.0) == "unknown"
    assert trial("expire", decision) == ["unknown"]
    assert trial.faults.seen[-1] == "ask", "nothing was sent"
    del trial.faults.seen[:]
    found = trial("ask", user="anna")
    assert found.label in ("blue", "green")
    assert trial.faults.seen == ["ask", "ask", "void"], "what may have been made is void"
    assert trial.pending == 1
    assert trial("tell", found, 1.0) == "recorded"


def test_a_server_that_was_never_reached_has_nothing_to_void(far: Make) -> None:
    trial = far(fallback=1)
    trial.faults.next = ["unreachable", "unreachable"]
    assert [each.action for each in trial("ask", 2, user="anna")] == [1, 1]
    trial("ask", user="anna")
    assert trial.faults.seen == ["ask"] * 3


def test_a_fallback_decision_among_others(far: Make) -> None:
    trial = far(fallback="blue")
    trial.faults.next = ["503", "503"]
    lost, known = trial("ask", user="anna"), trial("ask", user="anna")
    assert trial("tell_many", [(lost, 1), (known, 1), (lost, 0)]) == [
        "unknown",
        "recorded",
        "unknown",
    ]


def test_an_ask_of_the_callers_key_that_came_through_is_not_void(far: Make) -> None:
    trial = far(fallback="blue")
    trial.faults.next = ["done", "done"]
    assert trial("ask", user="anna", key="visit 7").id == ""
    decision = trial("ask", user="anna", key="visit 7")
    assert trial("tell", decision, 1) == "recorded"
    trial("ask", user="anna")
    assert "void" not in trial.faults.seen


def test_without_a_fallback_what_nobody_got_is_void_at_the_next_contact(far: Make) -> None:
    trial = far()
    trial.faults.next = ["done"] * 4
    with pytest.raises(dpb.StoreError, match="No server answers"):
        trial("ask", user="anna")
    assert trial.pending == 1
    decision = trial("ask", user="anna")
    assert trial.pending == 1
    assert trial("tell", decision, 1) == "recorded"
    trial.faults.next = ["done"] * 4  # under a key of the caller's, who may make the call again
    with pytest.raises(dpb.StoreError):
        trial("ask", user="anna", key="visit 7")
    assert trial("ask", user="anna", key="visit 7").learn
    assert trial.pending == 1


def test_answers_are_told_again_until_they_are_recorded(far: Make) -> None:
    trial = far(fallback="blue")
    decisions = trial("ask", 3, user="anna")
    trial.faults.next = ["503", "timeout", "done"]
    assert set(trial("tell_many", [(each, 1) for each in decisions])) == {"already"}
    assert trial.store["trial"].summary().told == 3


def test_refusals_pass_through_a_fallback(far: Make) -> None:
    trial = far(fallback="blue")
    trial.store["trial"].close("over")
    with pytest.raises(dpb.ClosedError):
        trial("ask", user="anna")
    assert trial.faults.seen == ["ask"]


@pytest.mark.parametrize("said", [b"<html>Under repair</html>", b"{", b'{"results": 3}'])
def test_what_is_no_reply_of_a_server_is_an_error(said: bytes) -> None:
    kind = {"content-type": "application/json"}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=said, headers=kind))
    client = httpx.Client(transport=transport, base_url="http://localhost")
    trial = RemoteStore("http://localhost", client=client)._campaign("trial")
    with pytest.raises(dpb.StoreError, match="Expected a reply of `dpbandits serve`"):
        trial.tell("0" * 32, 1)


def test_a_task_that_is_cancelled_leaves_nothing_pending() -> None:
    async def asked(store: CampaignStore) -> None:
        begun = asyncio.Event()
        inner = httpx.ASGITransport(app=app_of(store))

        class Slow(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                answer = await inner.handle_async_request(request)
                if not begun.is_set():
                    begun.set()
                    await asyncio.Event().wait()
                return answer

        client = httpx.AsyncClient(transport=Slow(), base_url="http://localhost")
        async with AsyncRemoteStore("http://localhost", client=client) as far:
            trial = far._campaign("trial")
            task = asyncio.create_task(trial.ask())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert store["trial"].summary().waiting == 1
            await trial.ask()
            assert store["trial"].summary().waiting == 1

    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1))
        asyncio.run(asked(store))


def test_a_silent_server_holds_no_site_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that accepts and never replies: few tries, each within the timeout, and the arm."""
    monkeypatch.setattr("dpbandits.service.client.PAUSE", 0.0)
    seconds = list[float]()

    def silent(request: httpx.Request) -> httpx.Response:
        seconds.append(request.extensions["timeout"]["read"])
        raise httpx.ReadTimeout("no reply")

    client = httpx.Client(transport=httpx.MockTransport(silent), base_url="http://localhost")
    with RemoteStore("http://localhost", client=client, timeout=0.5, fallback="blue") as store:
        assert store["trial"].ask().label == "blue"
    assert len(seconds) == 4
    assert sum(seconds) < 2.1


WRONG: list[dict[str, Any]] = [
    {"timeout": 0},
    {"timeout": "2"},
    {"timeout": float("nan")},
    {"fallback": ""},
    {"fallback": 0.5},
    {"fallback": True},
]


@pytest.mark.parametrize("options", WRONG)
def test_options_of_another_kind_are_refused(options: dict[str, Any]) -> None:
    for opens in (dpb.open_store, dpb.open_async_store):
        with pytest.raises(ValueError, match="Expected"):
            opens("http://localhost:1", **options)


def test_they_are_for_servers_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="address of a server"):
        dpb.open_store(f"sqlite:///{tmp_path}/t.db", fallback="blue")
    with pytest.raises(ValueError, match="address of a server"):
        dpb.open_async_store(f"sqlite:///{tmp_path}/t.db")


def test_every_verb_and_view_of_a_campaign_is_awaited_too() -> None:
    """But for those of the store itself."""
    from dpbandits.service.campaign import Campaign
    from dpbandits.service.client import AsyncCampaign

    local = {"uid", "rule", "side", "fence", "settle", "policy"}
    names = {name for name in vars(Campaign) if not name.startswith("_")}
    assert names - local == {name for name in vars(AsyncCampaign) if not name.startswith("_")}


def test_every_view_is_the_same_near_and_far() -> None:
    async def compared(store: CampaignStore) -> None:
        transport = httpx.ASGITransport(app=app_of(store))
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
        async with AsyncRemoteStore("http://localhost", client=client) as far:
            policy = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1)  # type: ignore[arg-type]
            trial = await far.create("trial", policy, segments=["DE", "FR"])
            near: Any = store["trial"]
            for name in ("DE", "FR"):
                made = await trial.ask(200, segment=name)
                await trial.tell_many([(each, each.round & 1) for each in made])
            await trial.add_arm("red")
            assert [each async for each in far] == ["trial"]
            assert await trial.arms() == near.arms
            assert await trial.segments() == near.segments
            assert await trial.spent() == near.spent == 1
            assert str(await trial.guarantee()) == str(near.guarantee)
            assert await trial.ledger() == near.ledger
            assert await trial.alarms() == near.alarms
            assert await trial.options() == near.options
            assert await trial.guardrail() is await trial.attribution_window() is None
            assert await trial.generation() == near.generation
            assert str(await trial.beliefs()) == str(near.beliefs())
            assert await trial["DE"].releases() == near["DE"].releases()
            assert (await trial["DE"].decisions(limit=7)).rows == near["DE"].decisions(limit=7).rows
            assert await trial.statement() == near.statement()
            with pytest.raises(dpb.UnknownCampaignError):
                await far.campaign("trail")

    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        asyncio.run(compared(store))


PROGRAM = """
import asyncio
from typing import assert_type

import dpbandits as dpb
from dpbandits.service.models import CampaignDecision, Summary

with dpb.open_store("http://localhost:8080", timeout=1.0, fallback="blue") as store:
    decision = store["trial"].ask()
    assert_type(decision, CampaignDecision)
    print(store["trial"].tell(decision, 1).upper())


async def main() -> None:
    async with dpb.open_async_store("http://localhost:8080", fallback="blue") as far:
        trial = await far.campaign("trial")
        assert_type(await trial.ask(), CampaignDecision)
        several = await trial.ask(3, eligible=["blue"], user="anna", key="visit 7")
        assert_type(several, list[CampaignDecision])
        status = await trial.tell(several[0], 1)
        print(status.upper(), await trial.tell_many((each, 0) for each in several))
        assert_type(await trial.summary(), Summary)
        await trial.close("over", key="closed once")
        await trial.tell(several[0])  # type: ignore[call-arg]  # a reward is missing


asyncio.run(main())
"""


@pytest.mark.long
def test_a_type_checker_knows_the_clients(tmp_path: Path) -> None:
    from mypy import api

    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    cache = str(tmp_path / "cache")
    said, _, code = api.run(["--strict", "--cache-dir", cache, str(tmp_path / "program.py")])
    assert code == 0, said
