"""A browser without a window, and the server of the page that it opens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 300
"""Seconds after which a browser that says nothing is given up."""


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder; what a page posts goes to the server's queue."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.put(json.loads(body))  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Queue[Any]]]:
    """The address of a server of this folder on a free port, and what pages post to it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    server.posted = Queue()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.posted  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def visited(program: str, address: str, profile: Path, posted: Queue[Any]) -> Any:
    """What the page at this address posts; the browser is ended afterwards, with all it started."""
    browser = subprocess.Popen(
        [program, *FLAGS, f"--user-data-dir={profile}", address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return posted.get(timeout=PATIENCE)
    finally:
        os.killpg(browser.pid, signal.SIGTERM)
        browser.wait(PATIENCE)
