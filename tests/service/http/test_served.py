"""What a server says of its campaigns: what the store's own campaigns show, of the same types; and
those whose policy it does not know keep nobody from the others.
"""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.service.server.serving import run_maintenance
from dpbandits.service.views import VIEWS
from dpbandits.session.segments import SegmentedTable
from tests.service.conftest import KEY, Open
from tests.service.counted import Counted
from tests.service.http.web import POLICY, ask, client_of, from_environment, remote, served
from tests.service.machine import CONTEXTS, Time
from tests.service.timelines import Lite, copy_file, create, everything
from tests.terminal import shell

SHARES = {"min_share": 0.1}
RAIL = {**SHARES, "guardrail": dpb.Guardrail("refunds", limit=0.2)}
ARMS = ["bad", "good", "other"]
BY_CONTEXT = dpb.DPLinTS(arms=ARMS, features=["p", "q"], epsilon=100, public_contexts=CONTEXTS * 4)
COSTS = dpb.Range(2, 12, minimise=True)
KINDS: dict[str, dict[str, Any]] = {
    "range": {**RAIL, "rewards": dpb.Range(-1, 3, clip=True), "period": timedelta(days=1)},
    "window": {**RAIL, "attribution_window": timedelta(days=1), "default": 0},
    "segments": {**RAIL, "segments": ["DE", "FR"]},
    "holdout": {**SHARES, "holdout": ".3"},
    "contexts": {"policy": BY_CONTEXT, "rewards": COSTS},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_view_shows_the_same_near_and_far(kind: str) -> None:
    """Of a campaign in which the arm "bad" harms, and of each of its parts."""
    options = KINDS[kind]
    how = {"seed": 1, "policy": dpb.DPKLUCB(arms=ARMS, epsilon=4), **options}
    with dpb.open_store("memory:", key=KEY) as store:
        far: Any = remote(client_of(store)).create("t", noise=dpb.SimulatedNoise(1), **how)
        near: Any = store["t"]
        for segment in options.get("segments", [None]):
            for user in range(50 if "holdout" in options else 10):
                if "holdout" in options:
                    asked = far.ask(5, user=user)
                    pairs = [(each, float(each.label == "good")) for each in asked]
                elif "policy" in options:
                    asked = far.ask(60, context=CONTEXTS * 20)
                    pairs = [(each, 8 + each.action) for each in asked]
                else:
                    asked = far.ask(50, segment=segment)
                    pairs = [(d, [float(d.label != "other"), d.label == "bad"]) for d in asked]
                assert set(far.tell_many(pairs)) == {"recorded"}
        assert everything(far) == everything(near)
        if "policy" in options:
            for always in (False, True):
                one, other = (each.predictions(0.9, always=always) for each in (near, far))
                assert str(vars(one)) == str(vars(other))
            sent = client_of(store).get("/v1/campaigns/t/predictions").json()
            by_hand(sent, near)
            del sent["units"]["clip"]  # as an earlier server sent it
            assert VIEWS["predictions"].from_sent(sent).units.high == 12
            return
        assert far.beliefs(0.5) == near.beliefs(0.5)
        if "segments" in options:
            assert isinstance(far.beliefs(), SegmentedTable)
            assert far.beliefs().to_polars().equals(near.beliefs().to_polars())
            assert far.beliefs()["FR"] == near["FR"].beliefs()
        waits = kind == "window"
        assert (near.summary().step == 0) is waits
        assert waits or "holdout" in options or bool(near.alarms)
        assert near.segments or (near.beliefs().caution is None) is (kind != "range")


def by_hand(sent: Any, campaign: Any) -> None:
    """A mean that is computed from what is sent, as the guide says."""
    x, found = np.array(CONTEXTS[2]), campaign.predictions().means(CONTEXTS[2:])
    best = int(np.nanargmin(found.mean))
    theta, covariance = np.array(sent["theta"][best]), np.array(sent["covariance"][best])
    half = (sent["normal"] + sent["added"][best]) * np.sqrt(x @ covariance @ x)
    mean, low, high = 12 - 10 * np.clip(x @ theta + half * np.array([0, 1, -1]), 0, 1)
    assert np.allclose([mean, low, high], [each[0, best] for each in found])
    assert 2 < low < mean < high < 12


class Alike(Counted):
    """Noise that makes the same answers of all rewards."""

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        self.drawn += 1
        return 300_000 * (self.drawn % 5)


REWARDS = 0.0, 1_000.0, 123.4577
SEEN = "1234577", "123.45", "246.9", "129455", "258910"
"""The last reward in its units, as a number, and twice; once and twice in steps of the grid."""
HELD = {"attribution_window": 60.0, "default": 0, "unsealed": True}


def everything_said(clients: list[Any], clock: Time, name: str, reward: float, how: Any) -> Any:
    """Every reply, its status and headers: rewards are told, told again, and refused."""
    routes = clients[0].get("/openapi.json").json()["paths"]
    views = [path for path, verbs in routes.items() if "get" in verbs and "{name}" in path]
    clock.now, said = 1_000_000.0, list[str]()

    def call(verb: str, path: str, **sent: Any) -> Any:
        answer = clients[len(said) % 2].request(verb, path.replace("{name}", name), **sent)
        text = f"{answer.status_code} {sorted(answer.headers.items())} {answer.text}"
        said.append(re.sub("[0-9a-f]{32}", "#", text).replace(name, "c"))
        return answer.json() if verb == "POST" else None

    call("POST", "/v1/campaigns", json={"name": name, **how})
    for turn in range(4):
        asked = call("POST", "/v1/campaigns/{name}/ask", json={"count": 4})["decisions"]
        for value in (reward, reward / 2, -1 - reward):
            told = [{"id": each["id"], "reward": value} for each in asked[:3]]
            call("POST", "/v1/campaigns/{name}/tell", json=told)
        for path in views if turn % 3 == 0 else ():
            call("GET", path)
        clock.now += 40
    call("POST", "/v1/campaigns/{name}/close", json={"why": "over"})
    return said


@pytest.mark.parametrize("window", [{}, HELD], ids=str)
def test_what_is_said_follows_from_releases(
    make: Open, window: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Three campaigns that differ in rewards alone say the same, to the last header. No log has a
    reward, though the store has no key, and a second one reads what the first has written.
    """
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "sqlalchemy")
    clock, policy = Time(), {**POLICY, "first": 3, "grid": 2**20}
    how = {"policy": policy, "rewards": {"low": 0, "high": 1000}, "seed": 1, **window}
    found = list[Any]()
    for at, reward in enumerate(REWARDS):
        clients = [client_of(make(noise=Alike(), key=None, clock=clock)) for _ in range(2)]
        found.append(everything_said(clients, clock, f"c{at}", reward, how))
    assert found[0] == found[1] == found[2]
    assert sum('"status":"recorded"' in each for each in found[0]) >= 4
    assert any('"step":1' in each for each in found[0])
    assert "FROM dpbandits_private_state" in caplog.text
    seen_in = "".join([caplog.text, *found[2], clients[0].get("/metrics").text])
    assert [seen for seen in SEEN if seen in seen_in] == []


def test_reports_of_devices_are_told() -> None:
    local = {"name": "LDPKLUCB", "arms": 2, "epsilon": "1"}
    with dpb.open_store("memory:") as store:
        client = client_of(store)
        made = {"name": "trial", "policy": local}
        assert client.post("/v1/campaigns", json=made).status_code == 201
        described = client.get("/v1/campaigns/trial/description").text
        assert remote(client)["trial"].description() == described
        device = dpb.Client(described, most=1)
        decision, another = ask(client, 2)
        message = device.answer(decision["message"], 1)
        report = dpb.LDPKLUCB(arms=2, epsilon=1).randomizer().report(1, dpb.SecureNoise())
        with pytest.raises(dpb.RewardError, match=r"tell_message\(decision, text\)"):
            remote(client)["trial"].tell(another["id"], report)
        swapped = [{"id": another["id"], "report": message}]
        assert client.post("/v1/campaigns/trial/tell", json=swapped).status_code == 422
        raw = client.post("/v1/campaigns/trial/tell", json=[{"id": another["id"], "reward": 1}])
        assert raw.json()["code"] == "reward_or_report"
        told = [{"id": decision["id"], "report": message}]
        answer = client.post("/v1/campaigns/trial/tell", json=told)
        assert [each["status"] for each in answer.json()["results"]] == ["recorded"]
        assert store["trial"].summary().told == 1


def test_decisions_are_exported_as_a_table_that_computes_nothing() -> None:
    with served(policy={**POLICY, "arms": ["=1+1", "@sum"]}) as (_, client):
        ask(client, 20)
        table = client.get("/v1/campaigns/trial/decisions?format=csv").text.splitlines()
        assert len(table) == 21
        assert all(row.split(",")[2][:1] == "'" for row in table[1:])
        page = client.get("/v1/campaigns/trial/decisions?limit=7&after=7").json()
        assert [row["id"] for row in page["decisions"]] == list(range(8, 15))
        assert page["after"] == 14


# A campaign whose policy is of the caller's own


class OwnPolicy(dpb.DPKLUCB):
    """No server knows it."""


@pytest.fixture
def lite(tmp_path: Path) -> Lite:
    """A store with a campaign of that policy, made first, and one that everybody can open."""
    found = Lite(tmp_path)
    with found.open() as store:
        create(store, OwnPolicy(arms=2, epsilon=1), name="own")
        create(store, name="trial", attribution_window=timedelta(seconds=60), default=0)
    return found


def test_lists_show_the_others_and_say_what_they_do_not_show(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(lite.open())
    said = client.get("/v1/campaigns").json()
    assert [each["name"] for each in said["campaigns"]] == ["trial"]
    assert said["not_shown"] == ["own"]
    metrics = client.get("/metrics")
    assert metrics.status_code == 200
    assert 'campaign="trial"' in metrics.text
    refused = client.get("/v1/campaigns/own")
    assert (refused.status_code, refused.json()["code"]) == (422, "own_policy")
    monkeypatch.setenv("DPBANDITS_KEY", KEY.hex())
    where = ["--store", f"sqlite:///{lite.file}", "--witness", str(lite.witness)]
    listed = shell("campaign", "list", *where)
    assert "own: cannot be shown here" in listed
    assert "trial: DPKLUCB" in listed


@pytest.mark.filterwarnings("always::dpbandits.core.errors.PrivacyWarning")
def test_a_server_logs_warnings_without_our_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = from_environment(monkeypatch, Lite(tmp_path))
    made = client.post("/v1/campaigns", json={"name": "c", "policy": POLICY | {"epsilon": "100"}})
    assert made.status_code == 201
    assert "ε = 100 promises little" in caplog.text
    assert "Session(" not in caplog.text


def test_answers_of_the_others_are_recorded_when_their_time_has_passed(lite: Lite) -> None:
    clock = Time()
    store = lite.open(clock=clock)
    trial = store["trial"]
    trial.tell(trial.ask(), 1)
    clock.now += 61
    run_maintenance(store, {})
    with store.database.reading(trial.uid) as rows:
        assert rows.held(trial.uid, [1, 2]) == {}


def test_a_campaign_that_a_restored_copy_lacks_may_be_made_again(lite: Lite) -> None:
    """A server that knew the one that is lost serves the new one, though it was not restarted."""
    one, other = lite.open(), lite.open()
    copy = lite.copy()
    create(one)
    other["c"].ask()
    copy_file(copy, lite.file)
    create(one)
    with pytest.raises(dpb.StoreError, match="not in the database any more"):
        other["c"].ask()
    run_maintenance(other, {})
    assert other["c"].ask().round == 1


def test_what_was_opened_as_a_lost_campaign_is_forgotten_stays_open(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user-defined policy would have to be given again."""
    one, other = lite.open(), lite.open()
    copy, read = lite.copy(), other.database.campaigns
    create(one)
    assert other["c"].ask().round == 1
    copy_file(copy, lite.file)
    create(one, OwnPolicy(arms=2, epsilon=1))

    def meanwhile() -> Any:
        other.open("c", policy=OwnPolicy)
        return read()

    monkeypatch.setattr(other.database, "campaigns", meanwhile)
    other.forget_missing()
    assert other["c"].ask().round == 1
