"""The page in a real browser: its numbers are the API's, nothing is said on the console, and
nothing is asked of another origin.
"""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from tests.service.http.web import client_of
from tests.service.pages.browsing.chromium import (
    at_work,
    complaints,
    in_chromium,
    shown_by_chromium,
)
from tests.service.pages.test_dashboard import EVIL, Numbers, said, visited

pytestmark = in_chromium


def test_the_page_in_chromium(tmp_path: Path) -> None:
    name = "trial & more"
    with visited(name) as store, at_work(store) as address:
        plain, log = shown_by_chromium(f"{address}/campaigns/trial%20%26%20more", tmp_path)
        assert not complaints(log), log
        client = client_of(store)
        assert Numbers(plain).values == Numbers(client.get(f"/campaigns/{name}").text).values
        summary = client.get(f"/v1/campaigns/{name}").json()
        live = Numbers(plain).live
        for key in ("asked", "waiting", "told", "step"):
            assert live[f"summary.{key}"] == said(summary[key])
        assert EVIL not in plain
        assert "alert(1)" in plain


def test_numbers_are_renewed_without_loading(tmp_path: Path) -> None:
    with visited("trial") as store, at_work(store) as address:
        before = store["trial"].summary()

        def later() -> None:
            time.sleep(4)  # the page is open by then; it may also come after, and is right anyhow
            for decision in store["trial"].ask(800):
                store["trial"].tell(decision, 1.0)

        visitor = threading.Thread(target=later)
        visitor.start()
        more = ("--timeout=30000", "--virtual-time-budget=40000")
        text, log = shown_by_chromium(f"{address}/campaigns/trial", tmp_path, *more)
        visitor.join()
        assert not complaints(log), log
        live, after = Numbers(text).live, store["trial"].summary()
        assert "· live" in text  # the script ran, and the API answered
        assert before.asked <= int(live["summary.asked"]) <= after.asked


@pytest.mark.parametrize("path", ["/", "/new", "/campaigns/none", "/campaigns/trial"])
def test_nothing_is_asked_of_another_origin(tmp_path: Path, path: str) -> None:
    with visited("trial") as store, at_work(store) as address:
        events = tmp_path / "net.json"
        shown = shown_by_chromium(address + path, tmp_path / "profile", f"--log-net-log={events}")
        wrong = [line for line in complaints(shown[1]) if "404" not in line]
        assert not wrong
        # the browser has errands of its own; those of the page name the page's origin
        lines = events.read_text(errors="replace").splitlines()
        own = [line for line in lines if f'"initiator":"{address}"' in line]
        assert own  # the style sheet, at least
        asked = {url for line in own for url in re.findall(r'"url":"(https?://[^"/]+)', line)}
        assert asked == {address}
