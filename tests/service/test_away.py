"""A server that is away: clients call again or fall back, and nothing nobody got stays pending."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.client import AsyncRemoteStore, RemoteStore
from dpbandits.service.store import CampaignStore
from tests.service.http.web import Calls, app_of, mocked

AWAY = ["timeout", "cut", "done", "503", "500"]
"""How a request fails: the server never answers, hangs up, has done it and then hangs up, says that
its database is away, or that it is at fault.
"""

ERRORS = {
    "timeout": httpx.ReadTimeout("no reply"),
    "unreachable": httpx.ConnectError("refused"),
    "cut": httpx.ReadError("cut"),
    "done": httpx.ReadError("cut"),
}
POLICY = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1)  # type: ignore[arg-type]


class Faults(Calls):
    """What happens to the next requests, in order; after that all is well. seen: their paths."""

    def __init__(self, store: CampaignStore) -> None:
        super().__init__(app_of(store))
        self.next, self.seen = list[str](), list[str]()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request.url.path.rpartition("/")[2])
        how = self.next.pop(0) if self.next else ""
        if how in ERRORS and how != "done":
            raise ERRORS[how]
        if how == "strange":
            return httpx.Response(200, text="<html>Log in</html>")
        if how in ("503", "500"):
            code = "store" if how == "503" else "fault"
            return httpx.Response(int(how), json={"code": code, "detail": "Away."})
        answer = await super().handle_async_request(request)
        if how == "done":
            raise ERRORS[how]
        if how == "unread":
            return httpx.Response(answer.status_code, text="<html>Log in</html>")
        return answer


class Far:
    """A campaign of a server, by either client: its verbs are called here in one way."""

    def __init__(self, store: CampaignStore, kind: str, **options: Any) -> None:
        self.trial, self.faults = store["trial"], Faults(store)
        how: dict[str, Any] = {"transport": self.faults, "base_url": "http://localhost"}
        self._threads = kind == "threads"
        self.away: Any = (
            RemoteStore("http://localhost", client=httpx.Client(**how), **options)
            if self._threads
            else AsyncRemoteStore("http://localhost", client=httpx.AsyncClient(**how), **options)
        )

    def __call__(self, name: str, *given: Any, **options: Any) -> Any:
        return self.run(lambda store: getattr(store._campaign("trial"), name)(*given, **options))

    def run(self, call: Callable[[Any], Any]) -> Any:
        if self._threads:
            return call(self.away)

        async def awaited() -> Any:
            found: Awaitable[Any] = call(self.away)
            return await found

        return anyio.run(awaited)

    @property
    def pending(self) -> int | None:
        return self.trial.summary().waiting


Make = Callable[..., Far]


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbandits.service.client.PAUSE", 0.0)


@pytest.fixture(params=["threads", "asyncio"])
def far(store: Any, request: pytest.FixtureRequest) -> Make:
    store.create("trial", POLICY, privacy_unit="user", max_contributions=5)
    return lambda **options: Far(store, request.param, **options)


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
    told = trial("tell_many", [(decision, 1), (found, 1), (decision, 0)])
    assert told == ["unknown", "recorded", "unknown"]


def test_what_was_never_made_or_came_through_later_is_not_void(far: Make) -> None:
    trial = far(fallback=1)
    trial.faults.next = ["unreachable", "unreachable"]
    assert [each.action for each in trial("ask", 2, user="anna")] == [1, 1]
    trial("ask", user="anna")
    assert trial.faults.seen == ["ask"] * 3
    trial.faults.next = ["done", "done"]
    assert trial("ask", user="anna", key="visit 7").id == ""
    assert trial("tell", trial("ask", user="anna", key="visit 7"), 1) == "recorded"
    trial("ask", user="anna")
    assert "void" not in trial.faults.seen


@pytest.mark.parametrize("meanwhile", ["ask", "void", ""])
def test_who_asks_again_with_the_key_gets_nothing_that_is_made_void(
    store: Any, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """Whether it was asked for again while the first call failed, while what nobody got was made
    void, or after that. A decision that is void would learn from nobody.
    """
    store.create("trial", POLICY)
    trial, asked = Far(store, "threads", fallback="blue"), list[Any]()
    handle = trial.faults.handle_async_request

    def ask() -> None:
        asked.append(trial("ask", key="visit 7"))

    async def handled(request: httpx.Request) -> httpx.Response:
        if meanwhile == request.url.path.rpartition("/")[2] and not asked:
            asked.append(None)
            ahead, trial.faults.next = trial.faults.next, []
            with ThreadPoolExecutor(1) as pool:
                pool.submit(ask).result()
            trial.faults.next = ahead
        return await handle(request)

    trial.faults.next = ["done", "done"]
    monkeypatch.setattr(trial.faults, "handle_async_request", handled)
    assert trial("ask", key="visit 7").id == ""
    trial("tell", "0" * 32, 1)
    if not meanwhile:
        ask()
    again = asked[-1]
    assert trial("tell", again, 1) == ("recorded" if meanwhile == "ask" else "unknown")
    assert trial.pending == 0


def test_without_a_fallback_what_nobody_got_is_void_at_the_next_contact(far: Make) -> None:
    trial = far()
    trial.faults.next = ["unreachable"] * 4
    with pytest.raises(dpb.StoreError, match=r"No server answers .*ConnectError: refused"):
        trial("ask", user="anna")
    trial.faults.next = ["done"] * 4
    with pytest.raises(dpb.StoreError, match="No server answers"):
        trial("ask", user="anna")
    assert trial.pending == 1
    trial.faults.next = ["unread"]
    with pytest.raises(dpb.StoreError, match="Expected a reply of `dpbandits serve`"):
        trial("ask", user="anna")
    assert trial.pending == 2
    decision = trial("ask", user="anna")
    assert trial.pending == 2
    assert trial("tell", decision, 1) == "recorded"
    assert trial.pending == 0
    trial.faults.next = ["done"] * 4  # under a key of the caller's, who may make the call again
    with pytest.raises(dpb.StoreError):
        trial("ask", user="anna", key="visit 7")
    assert trial("ask", user="anna", key="visit 7").learn
    assert trial.pending == 1


def test_however_many_nobody_got_they_are_void(far: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbandits.service.client.MOST_ITEMS", 2)
    trial = far(fallback="blue")
    trial.faults.next = ["done", "done"]
    trial("ask", 3, user="anna")
    trial("ask", user="anna")
    assert trial.faults.seen == ["ask"] * 4 + ["void", "void"]
    assert trial.pending == 1


def test_what_cannot_be_made_void_keeps_nothing_else_from_it(
    far: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a campaign that alone is at fault."""
    trial, sent, stuck = far(fallback="blue"), list[bytes](), list[bytes]()
    handle = trial.faults.handle_async_request

    async def handled(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)  # with the key of the ask
        return httpx.Response(500) if sent[-1] in stuck else await handle(request)

    monkeypatch.setattr(trial.faults, "handle_async_request", handled)
    trial.faults.next = ["done"] * 4
    for _ in range(2):
        trial("ask", user="anna")
    stuck.append(sent[-1])
    for _ in range(3):
        trial("tell", trial("ask", user="anna"), 1)
    assert trial.pending == 1, "that one alone"


def test_what_has_succeeded_does_not_fail_for_what_nobody_got(far: Make) -> None:
    trial = far(fallback="blue")
    trial.faults.next = ["done", "done", "", "strange"]
    trial("ask", user="anna")
    decision = trial("ask", user="anna")
    trial.faults.next = ["", "strange"]
    assert trial("tell", decision, 1) == "recorded"
    assert trial("tell", decision, 1) == "already"
    assert trial.faults.seen[-2:] == ["ask", "void"]
    assert trial.pending == 0


def test_answers_are_told_again_until_they_are_recorded(far: Make) -> None:
    trial = far(fallback="blue")
    decisions = trial("ask", 3, user="anna")
    trial.faults.next = ["503", "timeout", "done"]
    assert set(trial("tell_many", [(each, 1) for each in decisions])) == {"already"}
    assert trial.trial.summary().told == 3


def test_changes_are_made_once(far: Make) -> None:
    """And so is a campaign, in a scope or not; another one of its name is refused."""
    trial = far()
    trial.run(lambda store: store.scope("all", epsilon=3))

    def create(name: str, policy: Any = POLICY, **how: Any) -> Any:
        return trial.run(lambda store: store.create(name, policy, scope="all", **how))

    for parts in ({}, {"segments": ["DE", "FR"]}, {"holdout": "1/4"}):
        trial.faults.next = ["done", "done"]
        assert create(f"other {len(parts)} {[*parts]}", **parts).name.startswith("other")
    assert trial.run(lambda store: store.scope("all")).spent == 3
    with pytest.raises(dpb.NameTakenError, match="Nothing was created"):
        create("other 0 []")
    trial.faults.next = ["done"]
    assert trial("add_arm", "red") == 2
    assert len(trial.trial.arms) == 3


def test_a_rule_that_was_finished_and_a_campaign_with_a_key_answer_once(far: Make) -> None:
    trial = far()
    rule = dpb.DPNAS(alpha=0.5, beta=0.1, cap=1_000, epsilon=1)
    for _ in range(2):
        made = trial.run(lambda store: store.create("rule", rule, key="mine"))
    with pytest.raises(dpb.NameTakenError):
        trial.run(lambda store: store.create("rule", POLICY, key="mine"))
    decision = trial.run(lambda _: made.ask())
    trial.run(lambda _: made.tell(decision, 1))
    trial.faults.next = ["done", "done"]
    trial.run(lambda _: made.finish())
    events = trial.run(lambda _: made.events())
    assert [each.what for each in events] == ["finish"]


def test_refusals_pass_through_a_fallback(far: Make) -> None:
    trial = far(fallback="blue")
    trial.trial.close("over")
    with pytest.raises(dpb.ClosedError):
        trial("ask", user="anna")
    assert trial.faults.seen == ["ask"]


@pytest.mark.parametrize("fallback", ["bleu", 2, -1])
def test_a_fallback_that_is_none_of_the_arms_is_refused(store: Any, fallback: Any) -> None:
    store.create("trial", POLICY)
    far = Far(store, "threads", fallback=fallback)
    for call in (lambda: far.away["trial"], lambda: far.away.create("other", POLICY)):
        with pytest.raises(ValueError, match=r"fallback=.*'blue', 'green'"):
            call()
    assert list(store) == ["trial"]


CALLS: dict[str, Callable[[RemoteStore], object]] = {
    "open": lambda store: store["trial"],
    "create": lambda store: store.create("other", POLICY),
    "list": list,
    "scopes": lambda store: store.scopes(),
    "ask": lambda store: store._campaign("trial").ask(),
    "tell": lambda store: store._campaign("trial").tell("0" * 32, 1),
    "beliefs": lambda store: store._campaign("trial").beliefs(),
    "ledger": lambda store: store._campaign("trial").ledger,
    "statement": lambda store: store._campaign("trial").statement(),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (200, "text/html", b"<html>Under repair</html>"),
        (302, "text/html", b""),
        (200, "application/json", b"{"),
        (200, "application/json", b'{"results": 3}'),
        (200, "application/json", b'{"decisions": [], "results": []}'),
        (429, "text/html", b"Later"),
    ],
)
def test_what_is_no_reply_of_a_server_is_an_error(
    status: int, kind: str, said: bytes, call: str
) -> None:
    """Such as that of a page to log in, or of whatever else is at a wrong address."""
    if call == "statement" and kind == "application/json":
        return  # which is sent as a text, and may be any
    headers = {"content-type": kind}
    store = mocked(lambda _: httpx.Response(status, content=said, headers=headers))
    expected = "The server answered 429" if status == 429 else "a reply of `dpbandits serve`"
    with pytest.raises(dpb.StoreError, match=expected):
        CALLS[call](store)


@pytest.mark.parametrize("silent", [[1], [1, 3]], ids=["its own", "while another is made void"])
def test_a_task_that_is_cancelled_leaves_nothing_pending(store: Any, silent: list[int]) -> None:
    class Slow(Faults):
        """Of whose replies some never come."""

        begun: Any = None

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            answer = await super().handle_async_request(request)
            if len(self.seen) in silent:
                self.begun.set()
                await asyncio.Event().wait()
            return answer

    async def asked() -> None:
        slow = Slow(store)
        client = httpx.AsyncClient(transport=slow, base_url="http://localhost")
        async with AsyncRemoteStore("http://localhost", client=client) as far:
            trial = far._campaign("trial")
            for made in range(1, len(silent) + 1):
                slow.begun = asyncio.Event()
                task = asyncio.create_task(trial.ask())
                await slow.begun.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert store["trial"].summary().waiting == made
            for _ in silent:
                await trial.tell("0" * 32, 1)
            assert store["trial"].summary().waiting == 0

    store.create("trial", POLICY)
    asyncio.run(asked())


def test_a_silent_server_holds_no_site_up() -> None:
    """One that accepts and never replies: few tries, each within the timeout, and the arm."""
    seconds = list[float]()

    def silent(request: httpx.Request) -> httpx.Response:
        seconds.append(request.extensions["timeout"]["read"])
        raise ERRORS["timeout"]

    with mocked(silent, timeout=0.5, fallback="blue") as store:
        assert store["trial"].ask().label == "blue"
    assert len(seconds) == 4
    assert sum(seconds) < 2.1


def test_threads_ask_at_once_after_a_server_was_away() -> None:
    """What nobody got is made void by some, and looked through by others."""
    made = {"id": "0" * 32, "action": 0, "round": 1, "label": "blue"}
    replies: dict[str, Any] = {"ask": {"decisions": [made]}}
    replies["void"] = {"results": [{"id": "0" * 32, "status": "recorded"}]}
    away, before = [True], sys.getswitchinterval()

    def answer(request: httpx.Request) -> httpx.Response:
        if away:
            raise ERRORS["cut"]
        return httpx.Response(200, json=replies[request.url.path.rpartition("/")[2]])

    with mocked(answer, fallback="blue") as store:
        trial = store._campaign("trial")
        for _ in range(300):
            trial.ask()
        away.clear()
        sys.setswitchinterval(1e-5)
        try:
            with ThreadPoolExecutor(6) as pool:
                asked = list(pool.map(lambda _: trial.ask(), range(330)))
        finally:
            sys.setswitchinterval(before)
    assert all(each.id for each in asked)


class Ports(BaseHTTPRequestHandler):
    """Says from which port a request came."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = json.dumps({"campaigns": [], "not_shown": [str(self.client_address[1])]}).encode()
        self.send_response(200)
        for name, value in (("type", "application/json"), ("length", str(len(body)))):
            self.send_header(f"content-{name}", value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_connections_of_its_own() -> None:
    """Or one of a web server's workers would get another's reply."""
    out, into = os.pipe()
    with ThreadingHTTPServer(("127.0.0.1", 0), Ports) as server:
        if not (serving := os.fork()):
            server.serve_forever()
        try:
            with RemoteStore(f"http://127.0.0.1:{server.server_port}") as store:
                (port,) = {*store, *store}
                if not os.fork():
                    os.write(into, next(iter(store)).encode())
                    os._exit(0)
                os.wait()
                assert os.read(out, 9).decode() != port
                assert [*store] == [port]
        finally:
            os.kill(serving, signal.SIGKILL)
            os.wait()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_makes_nothing_void_that_its_parent_was_owed() -> None:
    """Who asked there may have asked again, with the same key, and have got the decisions."""
    seen = list[str]()

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.path.rpartition("/")[2])
        if seen[-1] == "ask":
            raise ERRORS["cut"]
        return httpx.Response(200, json={"results": [{"id": "0" * 32, "status": "recorded"}]})

    out, into = os.pipe()
    with mocked(answer, fallback="blue") as store:
        trial = store._campaign("trial")
        assert not trial.ask(key="visit 1").id
        seen.clear()
        if not os.fork():
            try:
                trial.tell("0" * 32, 1)
            finally:
                os.write(into, ",".join(seen).encode())
                os._exit(0)
        os.wait()
        assert os.read(out, 99) == b"tell"
        trial.tell("0" * 32, 1)
    assert seen == ["tell", "ask"]
