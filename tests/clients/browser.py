"""The server of the page that a browser opens."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

from tests.service.browsing.chromium import PATIENCE, Browser


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


def visited(address: str, profile: Path, posted: Queue[Any]) -> Any:
    """What the page at this address posts; the browser is ended afterwards."""
    profile.mkdir(exist_ok=True)
    browser = Browser(profile)
    try:
        browser.open(address)
        return posted.get(timeout=PATIENCE)
    finally:
        browser.close()
