"""The page in Chromium: the API's numbers, nothing from elsewhere, phones and keyboards."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import numpy as np
import pytest
from pydantic import TypeAdapter

import dpbandits as dpb
from dpbandits.service.server.app import Access
from dpbandits.service.views import VIEWS
from tests.service.browsing.chromium import Browser, at_work, in_chromium

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

MISSED = """[...document.querySelectorAll("a[href], button, input, summary")]
    .filter(each => each.checkVisibility() && !window.met.includes(each))
    .map(each => each.id || each.textContent.trim())"""
"""What can be used, and never had the focus."""

NUMBERS = "[...document.querySelectorAll('data')].map(each => each.value)"
LOADED = "performance.getEntriesByType('resource').map(each => each.name)"
EXPORTING = """(() => {
    const sent = fetch;
    window.fetch = async (to, how) => {
        const answer = await sent(to, how);
        if (`${to}`.includes("/decisions?"))
            await sent("../v1/campaigns/trial/ask", {
                method: "POST", headers: {"content-type": "application/json"}, body: "{}" });
        return answer;
    };
    URL.createObjectURL = file => {
        const ids = text => text.trim().split("\\n").slice(1).map(parseFloat);
        file.text().then(text => window.exported = ids(text));
        return "data:,";
    };
})()"""
"""Somebody comes after each page of decisions; the numbers of those that a file has."""

SHOWN = ("summary", "beliefs", "lift", "recent", "ledger", "spent", "harm", "uplift")
TEXT = "document.body.innerText"
WIDE = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """One for all tests: each shows it a server of its own, and so another site."""
    chromium.call("Emulation.clearDeviceMetricsOverride")
    chromium.complaints()
    return chromium


@pytest.fixture
def store() -> Iterator[Any]:
    """Campaigns of several kinds, visited for a while."""
    rng = np.random.default_rng(1)
    with dpb.open_store("memory:", key=bytes(32), noise=dpb.SimulatedNoise(1)) as store:
        rail = dpb.Guardrail("refunds", limit=0.2)
        policy = dpb.DPKLUCB(arms=["<b>blue</b>", "green"], epsilon=4)  # type: ignore[arg-type]
        trial = store.create("trial", policy, guardrail=rail)
        for _ in range(30):
            told = [(d, (rng.random(), float(d.label == "green"))) for d in trial.ask(40)]
            trial.tell_many(told)
        store.create("lands", policy, segments=["DE", "FR"]).ask(5, segment="DE")
        sale = store.create("sale", policy, holdout=".4")
        sale.tell_many([(sale.ask(user=n), rng.random()) for n in range(80)])
        yield store


@pytest.fixture
def site(store: Any) -> Iterator[str]:
    with at_work(store) as address:
        yield f"{address}/static/index.html"


def ready(browser: Browser, address: str) -> None:
    browser.open(address)
    shown = address.partition("#")[2]
    browser.wait(f"document.body.dataset.ready === {json.dumps('#' + (shown or '/'))}")


def texts(found: Any) -> set[str]:
    """All numbers in a reply, as the page writes their values."""
    if isinstance(found, dict):
        return set().union(*map(texts, found.values()), set())
    if isinstance(found, list):
        return {str(len(found))}.union(*map(texts, found))
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        return {f"{found:g}", str(found), str(int(found) + 1), str(float(found)).removesuffix(".0")}
    return {str(found)} if isinstance(found, str) else {""}


def test_the_program_that_is_shown_runs(
    browser: Browser, store: Any, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every kind of campaign. It falls back on an arm in play."""
    real, pairs = dpb.open_store, dpb.DPJointCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=4)
    store.create("pairs", pairs, rewards=dpb.Range(20, 60))
    store["lands"].pause_arm("<b>blue</b>")
    store.create("shut", dpb.DPKLUCB(arms=2, epsilon=1), holdout=".4").close("enough", winner=1)
    store.create("kinds", dpb.DPLinTS(arms=2, features=2, epsilon=1))
    store.create("far", dpb.LDPUCB(arms=2, epsilon=1), noise=dpb.SecureNoise())
    with ExitStack() as opened:
        monkeypatch.setattr(
            dpb, "open_store", lambda *at, **how: opened.enter_context(real(*at, **how))
        )
        paths = "trial", "lands", "lands/FR", "sale", "sale/policy", "shut", "kinds", "pairs"
        for path in paths:
            ready(browser, f"{site}?{path}#/campaigns/{path}")
            python, js = browser.value(
                "[...document.querySelectorAll('[data-part=use] pre')].map((e) => e.textContent)"
            )
            before = store[path.partition("/")[0]].summary().asked
            reward = [20, 60] if path == "pairs" else 1
            exec(python, {"visitor": "ann", "features": [0.1, 0.2], "reward": reward, "harm": 0})
            assert store[path.partition("/")[0]].summary().asked == before + 1
            assert ("user: visitor" in js, "segment:" in js) == ("sale" in path, "lands" in path)
            assert ('fallback: "green"' in js) is ("lands" in path)
        ready(browser, f"{site}?far#/campaigns/far")
        assert "own device" in browser.value("document.body.innerText")


def test_every_number_is_the_api_s(browser: Browser, store: Any, site: str) -> None:
    """On a phone, too, which it fits."""
    said = set[str]()
    for name in store:
        campaign = store[name]
        for part in [campaign, *(campaign[each] for each in campaign.segments)]:
            for view in SHOWN:
                with suppress(ValueError):
                    seen = VIEWS[view].to_sent(part._view(view))
                    said |= texts(json.loads(TypeAdapter(Any).dump_json(seen)))
    pages = product((390, 1200), ("", "campaigns/trial", "campaigns/lands", "campaigns/lands/DE"))
    for width, path in pages:
        how = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.call("Emulation.setDeviceMetricsOverride", **how)
        ready(browser, f"{site}?{width}#/{path}")
        numbers = browser.value(NUMBERS)
        assert numbers
        assert [each for each in numbers if each not in said] == [], path
        assert browser.value(WIDE) <= width, path
        assert all(each.startswith(site.partition("/static")[0]) for each in browser.value(LOADED))
    assert not browser.complaints()


def test_what_it_shows(browser: Browser, store: Any, site: str) -> None:
    ready(browser, f"{site}#/campaigns/trial")
    shown = browser.value(TEXT)
    words = ("ε = 4 per round", "<b>blue</b>", "refunds: an arm whose mean", "is ahead since 20")
    words += ("green passed the guardrail's limit", "Is traffic as planned?")
    assert all(each in shown for each in (*words, "Privacy statement", "Ledger")), shown
    assert browser.value("document.querySelectorAll('.chart canvas').length") == 2
    assert browser.value("document.querySelector('[role=alert]') !== null")
    for name, said in (("trial", "a guardrail"), ("sale/policy", "are expected to have lost")):
        ready(browser, f"{site}#/campaigns/{name}")
        browser.value("document.getElementById('loss').focus()")  # as a click does: no renewal
        browser.value("document.getElementById('loss').click()")
        browser.wait(f"document.body.innerText.includes('{said}')")
    ready(browser, f"{site}#/campaigns/sale")
    assert "Policy less holdout" in browser.value(TEXT)
    store["lands"].retire_arm("green")
    ready(browser, f"{site}#/campaigns/lands")
    assert browser.value(TEXT).count("green out of play") == 2
    assert "<b>blue</b> out of play" not in browser.value(TEXT)
    before = store["trial"].summary().asked
    browser.value(
        "window.drawn = []; window.uPlot = class extends uPlot {"
        " constructor(...all) { super(...all); drawn.push(all[0]); } }; 0"
    )
    ready(browser, f"{site}#/campaigns/trial")
    slanted = "drawn.flatMap((each) => each.series.slice(1)).filter(({ paths }) => !paths).length"
    assert browser.value(f"[drawn.length, {slanted}]") == [2, 0], "a release stands until the next"
    store["trial"].ask(7)
    browser.wait(f"{NUMBERS}.includes('{before + 7}')")
    store["trial"].void(store["trial"].ask())
    browser.wait(f"{NUMBERS}.includes('{before + 1}')")  # resolved: told, or void
    ready(browser, f"{site}#/campaigns/100%")
    assert "Not possible" in browser.value(TEXT)
    ready(browser, f"{site}#/new")
    browser.value("document.getElementById('name').value = 'costly'")
    browser.value("document.getElementById('epsilon').value = '0,5'")
    browser.value("document.getElementById('create').click()")
    browser.wait("document.body.innerText.includes('epsilon: Not a possible value.')")


def test_who_is_ahead_is_in_play_and_compared_by_means(
    browser: Browser, store: Any, site: str
) -> None:
    """No retired arm, and nobody where means are not compared; the least cost is."""
    rates = dpb.DPRateIMED(arms=["a", "b"], epsilon=20, first=4)
    store.create("gone", rates)
    store.create("weeks", rates, min_share=0.3, period=timedelta(days=7))
    for name in ("gone", "weeks"):
        store[name].tell_many([(each, float(each.label == "a")) for each in store[name].ask(40)])
    store["gone"].retire_arm("a")
    policy = dpb.DPKLUCB(arms=["dear", "cheap"], epsilon=9, first=4)  # type: ignore[arg-type]
    costs = store.create("costs", policy, rewards=dpb.Range(0, 60, minimise=True))
    costs.tell_many([(d, 50 if d.label == "dear" else 10) for d in costs.ask(16)])
    costs.ask()
    ready(browser, site)
    shown = browser.value(TEXT)
    assert "b is ahead since" in shown
    assert "a is ahead since" not in shown
    assert "Arms are compared within periods; no winner can be named yet." in shown
    assert "cheap is ahead" in shown
    ready(browser, f"{site}#/campaigns/costs")
    assert "cheap is ahead" in browser.value(TEXT)


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
    assert any(place["name"] == name for place in walked(browser)), name


def test_everything_is_reached_and_the_focus_is_seen(
    browser: Browser, store: Any, site: str
) -> None:
    for path in ("", "new", "campaigns/trial"):
        ready(browser, f"{site}?{path}#/{path}")
        places = list(walked(browser))
        assert places[0]["name"] == "skip"
        unseen = [each["name"] for each in places if not (each["ring"] and each["seen"])]
        assert unseen == [], path
        assert browser.value(MISSED) == [], path


def test_it_may_stand_below_a_path(browser: Browser, store: Any) -> None:
    with at_work(store, "/trials") as address:
        page = str(httpx.get(f"{address}/", follow_redirects=True).url)
        ready(browser, page)
        assert "sale" in browser.value("document.querySelector('main').textContent")
        ready(browser, f"{page}?api#/docs")
        assert browser.value("document.querySelector('main a').href") == f"{address}/openapi.json"
    assert not browser.complaints()


def test_a_campaign_is_made_by_keyboard(browser: Browser, store: Any, site: str) -> None:
    ready(browser, f"{site}#/new")
    for name, text in (("name", "by hand"), ("arms", "blue, green")):
        go(browser, name)
        browser.value("document.activeElement.select()")
        browser.write(text)
    go(browser, "create")
    browser.press("Enter")
    browser.wait("document.querySelector('h1')?.textContent === 'by hand'")
    assert [label for label, _ in store["by hand"].arms] == ["blue", "green"]
    assert not browser.complaints()


def test_who_may_changes_arms(browser: Browser, store: Any, site: str) -> None:
    pressed = "[...document.querySelectorAll('button')].find(each => each.textContent === '{}')"
    ready(browser, f"{site}#/campaigns/trial")
    browser.value(pressed.format("Resume") + ".click()")  # of the arm that was suspended
    browser.wait("!document.body.innerText.includes('green paused')")
    assert {status for _, status in store["trial"].arms} == {"active"}
    key = Access(store, open=False).create("reader", ["read"])
    browser.value(f"sessionStorage.setItem('key', {json.dumps(key)})")
    browser.open(f"{site}?again#/campaigns/trial")
    browser.wait(pressed.format("Export decisions") + " !== undefined")
    assert browser.value(pressed.format("Pause") + " === undefined")


def test_an_export_misses_nobody(browser: Browser, store: Any, site: str) -> None:
    """Also if visitors come while it is read, page by page."""
    trial = store["trial"]
    trial.ask(9_999 - trial.summary().asked)
    ready(browser, f"{site}#/campaigns/trial")
    browser.value(EXPORTING)
    browser.value("document.querySelector('[data-part=actions] .buttons button').click()")
    browser.wait("window.exported !== undefined")
    exported = browser.value("exported")
    assert len(exported) >= 9_999
    assert exported == list(range(1, len(exported) + 1))


def test_a_key_is_asked_for(browser: Browser, store: Any, site: str) -> None:
    key = Access(store, open=False).create("me", ["read"], "trial")
    ready(browser, site)
    assert browser.value("document.querySelector('h1').textContent") == "Log in"
    browser.value("sessionStorage.setItem('key', 'dpb_wrong')")
    browser.open(f"{site}?again")
    browser.wait("document.querySelector('[role=alert]') !== null")
    browser.value("document.getElementById('key').focus()")
    browser.write(key)
    browser.press("Enter")
    browser.wait("document.querySelector('h1').textContent === 'trial'")
    assert key not in browser.value("document.documentElement.outerHTML")
