"""With a keyboard and no mouse: everything is reached, the focus is seen, a campaign is made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.pages.browsing.chromium import Browser, at_work, complaints, in_chromium
from tests.service.pages.test_dashboard import visited

pytestmark = in_chromium

FOCUS = """(() => {
    const at = document.activeElement;
    if (at === null || at === document.body) return null;
    const look = getComputedStyle(at), box = at.getBoundingClientRect();
    window.met ??= [];
    const again = window.met.includes(at);
    window.met.push(at);
    return {
        name: at.id || at.value || at.textContent.trim(), again,
        ring: look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 1,
        seen: box.width > 0 && box.bottom > 0 && box.right > 0
            && box.top < innerHeight && box.left < innerWidth,
    };
})()"""
"""What has the focus, whether it had it before, and whether that can be seen."""

MISSED = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
    .filter(each => each.type !== "hidden" && !window.met.includes(each))
    .map(each => each.id || each.textContent.trim())"""
"""What can be used, and never had the focus."""


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    browser = Browser(tmp_path)
    yield browser
    browser.close()


def walked(browser: Browser, most: int = 200) -> Iterator[Any]:
    """Where Tab leads, from where the focus is, until it leaves the page or comes back."""
    for _ in range(most):
        browser.press("Tab")
        place = browser.value(FOCUS)
        if place is None or place["again"]:
            return
        yield place
    raise AssertionError("Tab does not come to an end.")


def go(browser: Browser, name: str) -> None:
    """Tab on, until the focus is there."""
    assert any(place["name"] == name for place in walked(browser)), name


@pytest.mark.parametrize("path", ["/", "/new", "/campaigns/trial"])
def test_everything_is_reached_and_the_focus_is_seen(browser: Browser, path: str) -> None:
    with visited("trial") as store, at_work(store) as address:
        browser.open(address + path)
        places = list(walked(browser))
        assert places[0]["name"] == "To the content"
        assert [place["name"] for place in places if not (place["ring"] and place["seen"])] == []
        assert browser.value(MISSED) == []


def test_a_campaign_is_made_by_keyboard(browser: Browser) -> None:
    with visited("trial") as store, at_work(store) as address:
        browser.open(f"{address}/new")
        for field, text in (("name", "by hand"), ("arms", "blue\ngreen")):
            go(browser, field)
            browser.value("document.activeElement.select()")
            browser.write(text)
        go(browser, "forecast")
        browser.press("Enter")
        browser.wait("document.querySelector('table.forecast') !== null")
        go(browser, "create")
        browser.press("Enter")
        browser.wait("location.pathname === '/campaigns/by%20hand' && document.body !== null")
        browser.wait("document.querySelector('h1')?.textContent.includes('by hand')")
        assert {*store} == {"trial", "by hand"}
        assert [label for label, _ in store["by hand"].arms] == ["blue", "green"]
    assert not complaints(browser.log.read_text(errors="replace"))
