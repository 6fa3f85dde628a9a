"""A campaign is a session, decision for decision, whatever its store is and however often it is
opened. Examples are drawn from fixed seeds.
"""

import secrets
import tempfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from benchmarks.service.postgres import Server
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from dpbandits.policies import contextual
from dpbandits.service.client import RemoteStore
from dpbandits.service.database import Database
from dpbandits.service.opening import open_store
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness
from tests.service.conftest import KEY
from tests.service.http.web import Calls, app_of
from tests.service.machine import POLICY, SETTINGS, SideBySide
from tests.service.timelines import everything


@pytest.fixture(autouse=True)
def pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contextual, "PILOT", 12)


class InMemory(SideBySide):
    def __init__(self) -> None:
        super().__init__()
        self.database, self.witness = Database("memory:"), Witness(None)

    def close(self, store: Any) -> None:
        """All of them have one database, which would forget."""

    def open_anew(self) -> Any:
        return CampaignStore(self.database, self.witness, key=KEY, clock=self.clock)


class CutReplies(httpx.BaseTransport):
    """A server of which every fifth reply is lost on its way."""

    def __init__(self, store: CampaignStore, lost: list[str]) -> None:
        self.inner, self.sent, self.lost = Calls(app_of(store)), 0, lost

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer, self.sent = self.inner.handle_request(request), self.sent + 1
        if self.sent % 5 == 0:
            self.lost.append(request.url.path)
            raise httpx.ReadError("cut")
        return answer


class Far(InMemory):
    """The second store is called over HTTP, and shows what the campaign itself does."""

    def campaign(self, which: int) -> Any:
        if which == 0:
            return super().campaign(which)
        if getattr(self, "served", None) is not self.stores[1]:
            self.served = self.stores[1]
            cut = CutReplies(self.served, self.lost)
            client = httpx.Client(transport=cut, base_url="http://localhost")
            self.far = RemoteStore("http://localhost", client=client)["c"]
        return self.far

    def teardown(self) -> None:
        if hasattr(self, "session"):
            assert everything(self.campaign(1)) == everything(self.campaign(0))
        super().teardown()


class InFile(SideBySide):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url, self.witness = f"sqlite:///{self.folder.name}/trial.db", self.folder.name + "/w"

    def open_anew(self) -> Any:
        return open_store(self.url, key=KEY, witness=Path(self.witness), clock=self.clock)

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


def played(kind: type[SideBySide], given: dict[str, Any], examples: int, steps: int = 25) -> None:
    options = {**given}
    fields = {"policy": options.pop("policy", POLICY), "options": options}
    how: dict[str, Any] = {"phases": [Phase.explicit, Phase.generate], "derandomize": True}
    how |= {"deadline": None, "suppress_health_check": list(HealthCheck)}
    chosen = settings(max_examples=examples, stateful_step_count=steps, **how)
    run_state_machine_as_test(type(kind.__name__, (kind,), fields), settings=chosen)


def on_server(server: Server) -> type[InFile]:
    class OnServer(InFile):
        def __init__(self) -> None:
            super().__init__()
            self.url = server.fresh(secrets.token_hex(8))

    return OnServer


def each(*fast: int) -> pytest.MarkDecorator:
    """All options, those at these places in `make test`."""
    cases = [
        pytest.param(given, marks=[] if at in fast else pytest.mark.long)
        for at, given in enumerate(SETTINGS)
    ]
    return pytest.mark.parametrize("given", cases, ids=lambda given: ",".join(given) or "plain")


@each(10, 11, 14, 15)
def test_in_memory(given: dict[str, Any]) -> None:
    played(InMemory, given, 4)


@pytest.mark.parametrize("given", [SETTINGS[0], SETTINGS[-1]], ids=["plain", "people"])
def test_in_a_file(given: dict[str, Any]) -> None:
    played(InFile, given, 3, 15)


@each(0, 10)
def test_over_http_where_replies_are_lost(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpbandits.service.client.PAUSE", 0.0)
    played(Far, given, 5, 15)


@each()
def test_in_a_file_for_long(given: dict[str, Any]) -> None:
    played(InFile, given, 8, 40)


@pytest.mark.hours
@each()
def test_in_memory_for_long(given: dict[str, Any]) -> None:
    played(InMemory, given, 60, 50)


@each()
def test_on_a_server(server: Server, given: dict[str, Any]) -> None:
    played(on_server(server), given, 4)
