"""Holdout people over HTTP, in a client and on pages: what the campaign itself does and shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from fractions import Fraction
from typing import Any

import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.store import CampaignStore
from tests.service.conftest import KEY
from tests.service.http.web import POLICY, client_of, remote

OPTIONS: dict[str, Any] = {
    "holdout": ".4",
    "ramp": [["2020-01-01", ".5"], ["2999-01-01", 1]],
    "control": "green",
}


@contextmanager
def served(**options: Any) -> Iterator[tuple[CampaignStore, httpx.Client]]:
    """A store with a key behind a server, with one campaign, `trial`."""
    with dpb.open_store("memory:", key=KEY, noise=dpb.SimulatedNoise(1)) as store:
        client = client_of(store)
        body = {"name": "trial", "policy": {**POLICY, "epsilon": "8"}, "seed": 1, **options}
        made = client.post("/v1/campaigns", json=body)
        assert made.status_code == 201, made.text
        yield store, client


def test_a_client_makes_asks_and_compares() -> None:
    with served(**OPTIONS) as (store, client):
        trial = remote(client)["trial"]
        asked = [trial.ask(user=user) for user in range(120)]
        assert trial.tell_many([(each, 1.0) for each in asked]) == ["recorded"] * 120
        sides = {each.campaign for each in asked}
        assert sides == {"trial/policy", "trial/holdout", "trial/control"}
        assert {each.label for each in asked if each.campaign != "trial/policy"} == {"green"}
        own: Any = store["trial"]
        assert trial.uplift(0.9) == own.uplift(0.9)
        assert trial.uplift().holdout.people > 0
        assert trial["holdout"].ledger == own["holdout"].ledger
        assert trial["control"].decisions().rows == own["control"].decisions().rows
        assert trial.statement() == own.statement()
        assert trial.options["holdout"] == ".4"
        dates = [(datetime(2026, 12, 1), Fraction(1, 3)), ("2026-12-08", 1)]
        more = remote(client).create(
            "more", dpb.DPKLUCB(arms=2, epsilon=1), holdout=Fraction(1, 3), ramp=dates
        )
        found: Any = store["more"]
        assert found.rule.holdout == found.rule.ramp[0].share == Fraction(1, 3)
        assert more.ask(user="anna").campaign == f"more/{found.side('anna')}"


def test_requests_that_are_refused() -> None:
    with served(**OPTIONS) as (_, client):
        for body in (
            {},
            {"user": "anna", "segment": "policy"},
            {"user": "a", "eligible": ["blue"]},
        ):
            assert client.post("/v1/campaigns/trial/ask", json=body).status_code == 422
        assert client.get("/v1/campaigns/trial/uplift?confidence=1").status_code == 422
        for wrong in (
            {"holdout": 2},
            {"ramp": [["soon", 1]]},
            {"ramp": [[1, 1]]},
            {"ramp": [["2026-12-01"]]},
            {"holdout": ".1", "segments": ["DE"]},
        ):
            body = {"name": "other", "policy": POLICY, **wrong}
            assert client.post("/v1/campaigns", json=body).status_code == 422, wrong
    with served() as (_, client):
        answer = client.get("/v1/campaigns/trial/uplift")
        assert answer.status_code == 422
        assert "holdout=" in answer.json()["detail"]


def test_the_page_compares_the_sides() -> None:
    with served(**OPTIONS) as (_, client):
        whole = client.get("/campaigns/trial").text
        assert "Policy against holdout" in whole
        assert "Nothing was released of both sides yet." in whole
        assert 'href="/campaigns/trial?segment=holdout"' in whole
        trial = remote(client)["trial"]
        trial.tell_many([(trial.ask(user=user), 1.0) for user in range(120)])
        whole, found = client.get("/campaigns/trial").text, trial.uplift()
        assert f'<data value="{found.holdout.mean}">' in whole
        assert f'<data value="{found.high}">' in whole
        assert "<h2>Ledger</h2>" in client.get("/campaigns/trial?segment=holdout").text
    with served(ramp=OPTIONS["ramp"]) as (_, client):
        assert "Policy against holdout" not in client.get("/campaigns/trial").text


@pytest.mark.parametrize("name", ["ledger", "releases", "beliefs", "decisions", "events"])
def test_looks_name_a_side(name: str) -> None:
    with served(**OPTIONS) as (_, client):
        assert client.get(f"/v1/campaigns/trial/{name}?segment=policy").status_code == 200
        answer = client.get(f"/v1/campaigns/trial/{name}")
        assert "policy, holdout, control" in answer.json()["detail"]


def test_what_privacy_cost_is_about_the_policys_people() -> None:
    with served(holdout=".4", control="green") as (store, client):
        trial = store["trial"]
        for user in range(600):
            trial.tell(trial.ask(user=user), float(user % 3 == 0))
        assert trial["policy"].expected_loss() is not None
        assert trial.expected_loss() == trial["policy"].expected_loss()
        assert trial["holdout"].expected_loss() is None
        path = "/v1/campaigns/trial/expected_loss"
        assert client.get(path, params={"segment": "holdout"}).json() is None
        assert client.get(path, params={"segment": "policy"}).json() is not None
        page = client.get("/campaigns/trial/expected_loss", params={"segment": "holdout"})
        assert "no policy decides" in page.text
