"""A server at a port: requests in part, without end, or too many at once are refused."""

import json
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from benchmarks.service.postgres import free_port

from tests.service.http.web import started
from tests.terminal import in_one, shell

MOST, SECONDS = 12, 2
LONG = 240
"""Seconds within which whatever happens has happened: much longer than it takes."""

HEAD = b"POST /v1/campaigns HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
LOOK = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"


MADE = list[socket.socket]()
"""Connections, which are closed when their test ends."""


class Server(NamedTuple):
    """A server of `dpbandits serve`."""

    port: int

    def connection(self, *sent: bytes) -> socket.socket:
        """A connection, with what is sent so far."""
        found = socket.create_connection(("127.0.0.1", self.port), LONG)
        MADE.append(found)
        found.sendall(b"".join(sent))
        return found

    def is_served(self) -> bool:
        """Whether a request is answered, on a connection of its own."""
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/healthz", timeout=LONG).is_success
        except httpx.TransportError:
            return False

    def holds(self, connection: socket.socket) -> bool:
        ours = f":{connection.getsockname()[1]:04X}"
        rows = [line.split() for line in Path("/proc/net/tcp").read_text("utf-8").splitlines()[1:]]
        return any(
            row[1].endswith(f":{self.port:04X}") and row[2].endswith(ours) and row[3] == "01"
            for row in rows
        )


@contextmanager
def at_work(folder: Path, seconds: int) -> Iterator[Server]:
    port = free_port()
    store = [f"--store=sqlite:///{folder}/t.db", f"--witness={folder}/t.witness"]
    with started(port, *store, f"--connections={MOST}", f"--timeout={seconds}"):
        yield Server(port)


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with at_work(tmp_path_factory.mktemp("hasty"), SECONDS) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose time does not run out, however busy the machine is."""
    with at_work(tmp_path_factory.mktemp("served"), LONG) as server:
        yield server


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while MADE:
        MADE.pop().close()


def reply(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    with connection.makefile("rb") as file:
        first, *lines = iter(lambda: file.readline().decode().strip(), "")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        return int(first.split()[1]), headers, file.read(int(headers["content-length"]))


def refused(connection: socket.socket, status: int) -> str:
    found, headers, body = reply(connection)
    assert found == status, body
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-content-type-options"] == "nosniff"
    assert ("retry-after" in headers) is (status == 503)
    said = json.loads(body)
    assert said["status"] == status
    return str(said["detail"])


def has_reply(connection: socket.socket) -> bool:
    return bool(select.select([connection], [], [], 0)[0])


def in_time(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + LONG
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


PARTS = {
    "nothing": b"",
    "half an address": b"GET /heal",
    "half a head": LOOK,
    "half a header": LOOK + b"accept: app",
    "no body": HEAD + b"content-length: 10\r\n\r\n",
    "half a body": HEAD + b"content-length: 10\r\n\r\n{",
    "half a chunk": HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n{",
    "no last chunk": HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
}


@pytest.mark.long
def test_half_requests_are_refused_and_others_are_served_meanwhile(hasty: Server) -> None:
    waiting = {name: hasty.connection(part) for name, part in PARTS.items()}
    for part in LOOK, PARTS["half a body"], b"\r\n":  # an empty line is no request
        both = hasty.connection(LOOK, b"\r\n")
        assert reply(both)[0] == 200
        both.sendall(part)
        waiting[f"{part!r} after a whole request"] = both
    assert hasty.is_served()
    for name, connection in waiting.items():
        assert "the whole request within 2 s" in refused(connection, 408), name
        assert connection.recv(1) == b"", "the server closes it"
    assert hasty.is_served()


@pytest.mark.long
def test_a_request_that_comes_byte_by_byte_is_refused(hasty: Server) -> None:
    """Its time begins with its first byte, and not anew with each."""
    begun = LOOK + b"x: ", HEAD + b"content-length: 9999\r\n\r\n"
    slow = [hasty.connection(part) for part in begun]

    def are_over() -> bool:
        for connection in slow:
            if not has_reply(connection):
                connection.sendall(b"a")
        return all(map(has_reply, slow))

    assert in_time(are_over)
    for connection in slow:
        assert "the whole request within" in refused(connection, 408)


CLOSE = b"connection: close\r\n\r\n"
HEADS: dict[str, tuple[bytes, int]] = {
    "a long header": (LOOK + b"x: " + b"a" * 40_000 + b"\r\n" + CLOSE, 431),
    "a header without an end": (LOOK + b"x: " + b"a" * 2_000_000, 431),
    "a long address": (b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nhost: localhost\r\n" + CLOSE, 431),
    "an address without an end": (b"GET /" + b"a" * 2_000_000, 431),
    "many headers": (LOOK + b"x: a\r\n" * 99 + CLOSE, 431),
    "headers without an end": (LOOK + b"x: a\r\n" * 100_000, 431),
    "the most headers": (LOOK + b"x: a\r\n" * 98 + CLOSE, 200),
    "the longest header": (LOOK + b"x: " + b"a" * 32_000 + b"\r\n" + CLOSE, 200),
    "no address": (b"CONNECT localhost:1 HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    "words": (b"no request at all\r\n\r\n", 400),
    "a length of words": (HEAD + b"content-length: many\r\n\r\n", 400),
    "a chunk of words": (HEAD + b"transfer-encoding: chunked\r\n\r\nno number\r\n", 400),
    "another version": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
}


def test_too_few_files_for_the_connections_are_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource", reason="files are not limited here")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (400, 400))
    where = ["--store", f"sqlite:///{tmp_path}/t.db", "--port", f"{free_port()}"]
    assert "500 connections need 948 open files" in in_one(shell("serve", *where, code=2))


def test_heads_have_an_end(server: Server) -> None:
    for name, (sent, status) in HEADS.items():
        connection = server.connection(sent)
        if status == 200:
            assert reply(connection)[0] == status, name
            continue
        said = refused(connection, status)
        wanted = "100 headers, and 32,768 bytes" if status == 431 else "a request of HTTP/1.1"
        assert wanted in said, name


@pytest.mark.parametrize("end", [b"0\r\nx: ", b"1;x=", b"0\r\n"], ids=["header", "word", "many"])
def test_what_comes_beside_a_body_has_an_end(server: Server, end: bytes) -> None:
    """Headers after a body, and words beside its parts, are in no body's length."""
    connection = server.connection(HEAD, b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n", end)
    more = (b"x: " + b"a" * 1_000 + b"\r\n") * 100 if end == b"0\r\n" else b"a" * 100_000
    for _ in range(300):  # 30 MB
        connection.sendall(more)
        if has_reply(connection):
            break
    assert "a body of at most 4,194,304 bytes" in refused(connection, 413)
    assert server.is_served()


def test_further_connections_are_refused_and_served_once_others_are_closed(server: Server) -> None:
    assert in_time(server.is_served)
    made, said = list[socket.socket](), b""
    for _ in range(50 * MOST):
        made.append(server.connection())
        made[-1].settimeout(0.05)
        try:
            said = made[-1].recv(2**16)
        except TimeoutError:
            continue
        break
    assert said.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 1" in said
    assert b"This server has 12 connections" in said
    assert len(made) > MOST
    for connection in made:
        connection.close()
    assert in_time(server.is_served)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's /proc")
def test_who_reads_no_reply_is_let_go_of(hasty: Server) -> None:
    """Of many megabytes of replies nothing is read."""
    assert in_time(hasty.is_served)
    look = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n"
    size = len(httpx.get(f"http://127.0.0.1:{hasty.port}/openapi.json").content)
    left, connection = look * (2**26 // size), hasty.connection()

    def is_held() -> bool:
        nonlocal left
        if left and select.select([], [connection], [], 0)[1]:
            left = left[connection.send(left[: 2**16]) :]
        return hasty.holds(connection)

    assert is_held()
    assert in_time(lambda: not is_held())
    assert hasty.is_served()
