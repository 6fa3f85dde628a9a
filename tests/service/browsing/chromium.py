"""Chromium without a window, driven by its DevTools protocol as by somebody at a keyboard."""

import fcntl
import json
import os
import select
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from benchmarks.service.postgres import free_port

from dpbandits.service.server.app import make_app
from dpbandits.service.store import CampaignStore

CHROMIUM = shutil.which("chromium")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
]
PATIENCE = 180.0
"""Seconds to wait for what a page does."""

in_chromium = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's package chromium"),
]
KEYS = {"Tab": (9, ""), "Enter": (13, "\r")}
"""A key's number, and the text that it types."""


@contextmanager
def at_work(store: CampaignStore, below: str = "") -> Iterator[str]:
    """The address of a server of this store. below: what a proxy puts before its paths."""
    app = make_app(store, open=True)

    async def proxied(scope: Any, receive: Any, send: Any) -> None:
        assert scope["path"].startswith(below)
        await app({**scope, "path": scope["path"].removeprefix(below)}, receive, send)

    port = free_port()
    config = uvicorn.Config(proxied, port=port, log_level="warning", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}{below}"
    server.should_exit = True
    thread.join()


class Browser:
    """One page of a browser. Chromium reads the protocol's messages from its file 3 and writes to
    its file 4, each message ended by a zero, so that nothing but the standard library is needed.

    log: where the browser writes what it has to say.
    """

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM is not None
        self.log, self._seen, self._number, self._left = folder / "log", 0, 0, b""
        (its_in, self._to), (self._from, its_out) = high_pipe(), high_pipe()
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}"]
        wired: list[Any] = [
            (os.POSIX_SPAWN_OPEN, 2, str(self.log), os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, its_in, 3),
            (os.POSIX_SPAWN_DUP2, its_out, 4),
        ]
        self._process = os.posix_spawn(
            CHROMIUM, [*command, "--remote-debugging-pipe"], os.environ, file_actions=wired
        )
        os.close(its_in)
        os.close(its_out)
        self._session: str | None = None
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")

    def complaints(self) -> list[str]:
        """What pages, and the browser about them, wrote to the console since the last look."""
        lines = self.log.read_text(errors="replace").splitlines()
        new, self._seen = lines[self._seen :], len(lines)
        return [line for line in new if "CONSOLE" in line or "Refused to" in line]

    def call(self, method: str, **parameters: Any) -> Any:
        answer = self._asked(method, parameters)
        assert "error" not in answer, answer
        return answer["result"]

    def _asked(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        said: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            said["sessionId"] = self._session
        os.write(self._to, json.dumps(said).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        return answer

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._from], [], [], PATIENCE)
            assert ready, "The browser says nothing any more."
            some = os.read(self._from, 1 << 16)
            assert some, "The browser has gone."
            self._left += some
        one, _, self._left = self._left.partition(b"\0")
        found: dict[str, Any] = json.loads(one)
        return found

    def value(self, script: str) -> Any:
        """What an expression is worth in the page; None while one page takes another's place."""
        about = {"expression": script, "returnByValue": True}
        found = self._asked("Runtime.evaluate", about).get("result", {})
        return found.get("result", {}).get("value")

    def wait(self, script: str) -> None:
        """Until an expression is true in the page, which may be another one by then."""
        until = time.monotonic() + PATIENCE
        while not self.value(script):
            assert time.monotonic() < until, self.value("document.body.innerText")
            time.sleep(0.1)

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.wait(f"document.readyState == 'complete' && location.href == {json.dumps(address)}")

    def press(self, key: str) -> None:
        number, text = KEYS[key]
        about = {"key": key, "code": key, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def write(self, text: str) -> None:
        """As if it was typed where the focus is."""
        self.call("Input.insertText", text=text)

    def close(self) -> None:
        """The browser ends of itself once nobody speaks to it."""
        os.close(self._to)
        until = time.monotonic() + 10
        while not os.waitpid(self._process, os.WNOHANG)[0]:
            if time.monotonic() > until:
                os.kill(self._process, signal.SIGKILL)
            time.sleep(0.05)
        os.close(self._from)


def high_pipe() -> tuple[int, int]:
    """A pipe whose ends are not among the files that the browser is given."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]
