"""Pages for people: their numbers are the API's, every text is escaped, and only our own pages may
send a form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest

import dpbandits as dpb
from dpbandits.mechanisms import Answer
from dpbandits.service.http.access import COOKIE, Access
from dpbandits.service.pages.forms import TOKEN
from dpbandits.service.store import CampaignStore
from tests.service.http.web import client_of

EVIL = "<script>alert(1)</script>"
FIELDS = {"name": "made", "arms": "a\nb", "policy": "DPKLUCB", "epsilon": "1"}


class Numbers(HTMLParser):
    """The values of all <data> of a page, and of those that are renewed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.values, self.live, self.tags = list[str](), dict[str, str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.tags.add(tag)
        assert "style" not in said
        assert not any(name.startswith("on") for name in said)
        if tag == "data":
            self.values.append(said["value"] or "")
            if "data-live" in said:
                self.live[said["data-live"] or ""] = said["value"] or ""


def visited(name: str, rounds: int = 400, **options: Any) -> CampaignStore:
    store = dpb.open_store("memory:", noise=dpb.SimulatedNoise(1))
    campaign = store.create(name, dpb.DPKLUCB(arms=[EVIL, "b & c"], epsilon=1), seed=1, **options)
    for decision in campaign.ask(rounds)[:-7]:
        campaign.tell(decision, float(decision.label == "b & c"))
    return store


@pytest.fixture(scope="module")
def shop() -> Iterator[CampaignStore]:
    with visited(EVIL.replace("/", "")) as store:
        yield store


def text_of(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"].startswith("default-src 'self';")
    return answer.text


def said(value: object) -> str:
    return "" if value is None else str(value)


def test_every_number_is_the_api_s(shop: CampaignStore) -> None:
    client, (name,) = client_of(shop), shop
    page = Numbers(text_of(client.get(f"/campaigns/{name}")))
    api = {
        path: client.get(f"/v1/campaigns/{name}{path}").json()
        for path in ("", "/guarantee", "/beliefs", "/recent", "/ledger")
    }
    summary, guarantee = api[""], api["/guarantee"]
    assert summary["step"] > 2
    assert page.live == {
        "guarantee.spent": guarantee["spent"],
        **{f"summary.{key}": said(summary[key]) for key in ("asked", "waiting", "told", "step")},
    }
    expected = [guarantee["spent"], summary["epsilon"]]
    expected += [said(summary[key]) for key in ("asked", "waiting", "told", "step")]
    for arm in api["/beliefs"]:
        expected += [said(value) for key, value in arm.items() if key != "label"]
    expected += [said(api["/recent"]["after"] + 1), said(api["/recent"]["until"])]
    expected += [said(arm["decisions"]) for arm in api["/recent"]["arms"]]
    expected += [said(len(api["/ledger"])), guarantee["spent"]]
    for line in api["/ledger"][:-13:-1]:
        expected += [said(line["start"] + 1), said(line["stop"])]
    assert page.values == expected
    assert str(sum(arm["decisions"] for arm in api["/recent"]["arms"])) == said(summary["asked"])


def test_history_ends_with_what_is_believed(shop: CampaignStore) -> None:
    client, (name,) = client_of(shop), shop
    history = client.get(f"/v1/campaigns/{name}/history").json()
    believed = client.get(f"/v1/campaigns/{name}/beliefs").json()
    keys = ("label", "people", "mean", "low", "high")
    newest = [[arm[key] for key in keys] for arm in history[-1]["arms"]]
    assert newest == [[arm[key] for key in keys] for arm in believed]
    assert [moment["step"] for moment in history] == list(range(1, len(history) + 1))


def test_the_list_has_every_campaign(shop: CampaignStore) -> None:
    client = client_of(shop)
    (summary,) = client.get("/v1/campaigns").json()["campaigns"]
    keys = ("asked", "waiting", "step")
    expected = [*(said(summary[key]) for key in keys), said(len(summary["arms"]))]
    assert Numbers(text_of(client.get("/"))).values == expected


@pytest.mark.parametrize("path", ["/", "/campaigns/{name}", "/new"])
def test_names_and_labels_are_text(shop: CampaignStore, path: str) -> None:
    (name,) = shop
    text = text_of(client_of(shop).get(path.format(name=name)))
    assert "alert(1)</script>" not in text
    assert "<script>" not in text
    assert not re.search(r"(src|href|action)=\"(?!/|#)", text)  # of this server alone


def test_what_is_private_is_not_shown() -> None:
    from datetime import timedelta

    with visited("held", attribution_window=timedelta(days=1)) as store:
        page = Numbers(text_of(client_of(store).get("/campaigns/held")))
        assert page.live["summary.waiting"] == page.live["summary.told"] == ""


def token_in(client: httpx.Client, path: str) -> str:
    (token,) = re.findall(r'name="token" value="([^"]+)"', text_of(client.get(path)))
    return str(token)


def test_an_arm_that_passed_the_guardrail_is_shown() -> None:
    rail = dpb.Guardrail("refunds", limit=0.2)
    with dpb.open_store("memory:") as store:
        noise, policy = dpb.SimulatedNoise(1), dpb.DPKLUCB(arms=["bad", "good"], epsilon=4)
        trial = store.create("trial", policy, noise=noise, guardrail=rail)
        for _ in range(40):
            trial.tell_many([(d, (0.5, float(d.label == "bad"))) for d in trial.ask(50)])
        said = client_of(store).get("/campaigns/trial").text
        (alarm,) = trial.alarms
        assert "refunds: an arm whose mean is above 0.2 is suspended" in said
        assert f'bad passed the limit after <data value="{alarm.asked}">' in said
        assert all(f'<data value="{row.mean}">' in said for row in trial.harm())


def test_a_plan_is_forecast_before_it_is_created() -> None:
    with dpb.open_store("memory:") as store:
        client = client_of(store)
        sent = {**FIELDS, "visitors": "300", "base": "40", "best": "50"}
        sent["token"] = token_in(client, "/new")
        first = text_of(client.post("/new", data={**sent, "do": "create"}))
        assert "equal shares" in first
        assert "± two standard errors of an expectation over the draws" in first
        assert "of 40 about 2 lie above 95 %" in first
        assert "made" not in store
        (mark,) = re.findall(r'name="foreseen" value="([^"]+)"', first)
        sent["foreseen"] = mark.replace("&#34;", '"')
        other = client.post("/new", data={**sent, "epsilon": "2", "do": "create"})
        assert "equal shares" in text_of(other)
        assert "made" not in store
        answer = client.post("/new", data={**sent, "do": "create"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/campaigns/made")
        assert store["made"].policy.labels == ("a", "b")


@pytest.mark.parametrize(
    ("field", "value"),
    [("policy", "os"), ("arms", "one"), ("epsilon", "-1"), ("visitors", "many"), ("base", "300")],
)
def test_a_plan_that_is_none_is_refused(field: str, value: str) -> None:
    with dpb.open_store("memory:") as store:
        client = client_of(store)
        sent = {**FIELDS, field: value, "token": token_in(client, "/new")}
        answer = client.post("/new", data=sent)
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        assert not len(store)


@pytest.mark.parametrize("path", ["/new", "/login", "/logout"])
@pytest.mark.parametrize(
    ("token", "site"), [("other" * 9, "same-origin"), ("", "same-origin"), (None, "cross-site")]
)
def test_a_form_of_another_page_is_refused(path: str, token: str | None, site: str) -> None:
    with dpb.open_store("memory:") as store:
        client = client_of(store)
        sent = {**FIELDS, "token": token_in(client, "/new") if token is None else token}
        answer = client.post(path, data=sent, headers={"Sec-Fetch-Site": site})
        assert answer.status_code == 403
        client.cookies.clear()
        assert client.post(path, data={**FIELDS, "token": ""}).status_code == 403


def test_pages_are_for_those_with_a_key(shop: CampaignStore) -> None:
    (name,) = shop
    key = Access(shop.backend, open=False).create("ann", ["read"])
    client = client_of(shop, open=False)
    for path in ("/", f"/campaigns/{name}", "/new"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    sent = {"token": token_in(client, "/login"), "key": "dpb_wrong"}
    assert client.post("/login", data=sent).status_code == 403
    entered = client.post("/login", data={**sent, "key": key})
    assert entered.status_code == 303
    (cookie,) = [each for each in entered.headers.get_list("set-cookie") if COOKIE in each]
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    text_of(client.get(f"/campaigns/{name}"))
    assert client.get(f"/v1/campaigns/{name}").status_code == 200
    assert client.get("/new").status_code == 403  # it needs the role admin
    # a cookie is enough to look, and for nothing else
    assert client.post(f"/v1/campaigns/{name}/ask", json={}).status_code == 401
    client.post("/logout", data={"token": client.cookies[TOKEN]})
    assert client.get("/").status_code == 303


def test_a_key_for_one_campaign_leads_to_it(shop: CampaignStore) -> None:
    key = Access(shop.backend, open=False).create("bob", ["read"], "trial")
    client = client_of(shop, open=False, token=key)
    assert client.get("/").headers["location"] == "/campaigns/trial"
    assert client.get("/campaigns/other").status_code == 403


def test_a_page_that_there_is_not() -> None:
    answer = client_of(dpb.open_store("memory:")).get("/campaigns/none")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("name", ["page.css", "live.js", "icon.svg"])
def test_style_and_script_come_from_here(shop: CampaignStore, name: str) -> None:
    answer = client_of(shop).get(f"/static/{name}")
    assert answer.status_code == 200
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", answer.text)


def test_answers_get_their_types_back() -> None:
    from dpbandits.mechanisms import JointBatch, LazyCumulative
    from dpbandits.mechanisms.joint import JointAnswer
    from dpbandits.session.storing import typed_answer

    assert typed_answer(LazyCumulative(epsilon=1), [1.5, 3, 2]) == Answer(1.5, 3, 2)
    joint = typed_answer(JointBatch(epsilon=1, size=2), [1.5, 3, 2])
    assert type(joint) is JointAnswer
