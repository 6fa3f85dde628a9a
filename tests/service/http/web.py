"""A server in this process, and a client of it."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.client import RemoteStore
from dpbandits.service.server import serving
from dpbandits.service.server.app import Access, make_app
from dpbandits.service.store import CampaignStore
from tests.service.timelines import KEY, Lite

POLICY = {"name": "DPKLUCB", "arms": ["blue", "green"], "epsilon": "1"}


SERVED = ContextVar[CampaignStore]("SERVED")
"""The store whose server answers the present request."""


class Served:
    """Stands for what a request finds in its store."""

    is_looking = False

    def __init__(self, find: Callable[[CampaignStore], Any]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(SERVED.get()), name)

    def __getitem__(self, name: str) -> Any:
        return self._find(SERVED.get())[name]

    def __len__(self) -> int:
        return len(self._find(SERVED.get()))


@cache
def app_of_all(*, open: bool) -> tuple[Any, Access]:
    """One application for every store, as routes take long to make; and its access."""
    made = list[Access]()

    def access(*given: Any, **how: Any) -> Access:
        made.append(Access(*given, **how))
        return made[0]

    store: Any = Served(lambda store: store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpbandits.service.server.app.Access", access)
        return make_app(store, open=open), made[0]


def app_of(store: CampaignStore, *, open: bool = True) -> Any:
    if store.is_looking:
        return make_app(store, open=open)
    app, access = app_of_all(open=open)

    async def served(scope: Any, receive: Any, send: Any) -> None:
        SERVED.set(store)
        access.open = open  # what it notes of one store says nothing of others
        await app(scope, receive, send)

    return served


class Calls(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Requests that an application answers in this process, without a network."""

    def __init__(self, app: Any) -> None:
        self._inner = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        how: Any = {"headers": request.headers, "content": request.content}
        answer = await self._inner.handle_async_request(
            httpx.Request(request.method, request.url, **how)
        )
        body = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers, content=body)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return anyio.run(self.handle_async_request, request)


def client_of(store: CampaignStore, *, open: bool = True, token: str | None = None) -> httpx.Client:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    transport = Calls(app_of(store, open=open))
    return httpx.Client(transport=transport, base_url="http://localhost", headers=headers)


def from_environment(monkeypatch: pytest.MonkeyPatch, lite: Lite) -> httpx.Client:
    """A client of a server that is told of its store as a worker is."""
    said = {"STORE": f"sqlite:///{lite.file}", "WITNESS": str(lite.witness), "KEY": KEY.hex()}
    for name, value in said.items():
        monkeypatch.setenv(f"DPBANDITS_{name}", value)
    monkeypatch.setattr(serving, "poll_views", lambda _: None)
    transport = Calls(serving.app_from_environment())
    return httpx.Client(transport=transport, base_url="http://localhost")


@contextmanager
def served(**options: Any) -> Iterator[tuple[CampaignStore, httpx.Client]]:
    """A store in memory behind a server with one campaign, `trial`."""
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        client = client_of(store)
        made = client.post(
            "/v1/campaigns", json={"name": "trial", "policy": POLICY, "seed": 1, **options}
        )
        assert made.status_code == 201, made.text
        yield store, client


def remote(client: httpx.Client) -> RemoteStore:
    return RemoteStore("http://localhost", client=client)


def mocked(answer: Callable[[httpx.Request], httpx.Response], **options: Any) -> RemoteStore:
    client = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://localhost")
    return RemoteStore("http://localhost", client=client, **options)


def ask(client: httpx.Client, count: int = 1, **more: Any) -> list[dict[str, Any]]:
    """Decisions of `trial`."""
    answer = client.post("/v1/campaigns/trial/ask", json={"count": count, **more})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["decisions"]
    return found


def tell(client: httpx.Client, *pairs: tuple[str, object]) -> list[str]:
    """What became of these answers."""
    body = [{"id": id, "reward": reward} for id, reward in pairs]
    answer = client.post("/v1/campaigns/trial/tell", json=body)
    assert answer.status_code == 200, answer.text
    return [each["status"] for each in answer.json()["results"]]


def at_once(number: int, call: Any) -> list[Any]:
    found = list[Any]()
    threads = [threading.Thread(target=lambda: found.append(call())) for _ in range(number)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return found


def answered(address: str, process: subprocess.Popen[bytes]) -> int:
    """What a server that is starting says once it says anything."""
    for _ in range(600):
        assert process.poll() is None
        try:
            return httpx.get(address).status_code
        except httpx.HTTPError:
            time.sleep(0.1)
    raise AssertionError("The server did not answer within a minute.")


@contextmanager
def started(port: int, *options: str, **how: Any) -> Iterator[None]:
    program = str(Path(sys.executable).with_name("dpbandits"))
    command = [program, "serve", f"--port={port}", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, **how) as process:
        try:
            assert answered(f"http://127.0.0.1:{port}/healthz", process) == 200
            yield
        finally:
            process.terminate()
