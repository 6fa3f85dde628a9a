"""Outcomes that are held until their time has passed are single people's: they lie in no database
in clear, unless its owner said so.
"""

from __future__ import annotations

import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.terminal.cli import app
from tests.service.conftest import Open
from tests.service.http.web import POLICY, client_of
from tests.service.timelines import Lite

ARMS = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1)
LATE: dict[str, Any] = {"attribution_window": timedelta(days=7), "default": 0}
PARTS = pytest.mark.parametrize("parts", [{}, {"segments": ["DE", "FR"]}], ids=str)
IN_CLEAR = r"key: with attribution_window=.*in clear.*DPBANDITS_KEY.*unsealed=True. Nothing was cr"


@PARTS
def test_without_a_key_a_window_is_refused(make: Open, parts: Any) -> None:
    with dpb.open_store("memory:") as forgetful:
        forgetful.create("c", ARMS, **LATE, **parts)  # nothing is written anywhere
    store = make(key=None)
    for said in ({}, {"unsealed": False}, {"unsealed": "no"}, {"unsealed": 1}):
        with pytest.raises(ValueError, match=IN_CLEAR):
            store.create("c", ARMS, **LATE, **parts, **said)
    assert list(store) == []
    store.create("c", ARMS, **parts)  # without a window there are sums only


@PARTS
def test_a_campaign_with_people_s_data_and_without_a_key_is_warned_of(
    tmp_path: Path, parts: Any
) -> None:
    def store(name: str, key: bytes | None = None, noise: Any = None) -> Any:
        where = f"sqlite:///{tmp_path}/{name}.db"
        return dpb.open_store(where, witness=tmp_path / name, key=key, noise=noise)

    with warnings.catch_warnings():
        warnings.simplefilter("error", dpb.PrivacyWarning)
        for index, quiet in enumerate(
            (
                dpb.open_store("memory:"),
                store("sealed", key=bytes(16)),
                store("simulated", noise=dpb.SimulatedNoise(1)),
            )
        ):
            quiet.create(f"c{index}", ARMS, **parts)
        clear = store("clear")
        with pytest.raises(dpb.PrivacyWarning, match=r"no key.*DPBANDITS_KEY"):
            clear.create("c", ARMS, **parts)
        assert list(clear) == []
        clear.create("c", ARMS, **parts, unsealed=True)


@PARTS
def test_where_it_is_said_the_statement_says_so(make: Open, parts: Any) -> None:
    store = make(key=None)
    campaign = store.create("c", ARMS, **LATE, **parts, unsealed=True)
    where = {"segment": "DE"} if parts else {}
    decision = campaign.ask(**where)
    for each in (campaign, make(key=None)["c"]):
        assert each.options["unsealed"] == "True"
        said = " ".join(each.statement().split())
        assert "WARNING: the database of this campaign has no key" in said
        assert each.tell(decision, 1) == "recorded"
    how = {**LATE, **parts, "unsealed": True, "key": "a call"}
    for _ in range(2):  # made again, it is the same one
        assert make(key=None).create("again", ARMS, **how).name == "again"


@pytest.mark.parametrize("parts", [{}, {"segments": ["DE", "FR"]}, {"holdout": ".3"}], ids=str)
def test_with_a_key_nothing_lies_in_clear(make: Open, parts: Any) -> None:
    store = make()
    for name, said in (("a", {}), ("b", {"unsealed": True})):
        campaign = store.create(name, ARMS, **LATE, **parts, **said)
        assert "unsealed" not in campaign.options
        assert "no key" not in campaign.statement()


def test_over_http_and_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPBANDITS_KEY", raising=False)
    lite, body = Lite(tmp_path), {"name": "c", "policy": POLICY, "attribution_window": 60.0}
    with lite.open(key=None) as store:
        client = client_of(store)
        refused = client.post("/v1/campaigns", json=body)
        assert refused.status_code == 422
        assert "unsealed=True" in refused.json()["detail"]
        assert client.post("/v1/campaigns", json={**body, "unsealed": True}).status_code == 201
        assert "no key" in " ".join(client.get("/v1/campaigns/c/statement").text.split())
    place = ["--store", f"sqlite:///{lite.file}", "--witness", str(lite.witness)]
    made = ["campaign", "create", "d", "--arms", "2", "--epsilon", "1", *place, "--options"]
    runner = CliRunner()
    refused = runner.invoke(app, [*made, '{"attribution_window": 60}'])
    assert refused.exit_code != 0
    assert "unsealed=True" in " ".join(refused.output.split())
    done = runner.invoke(app, [*made, '{"attribution_window": 60, "unsealed": true}'])
    assert done.exit_code == 0, done.output
    with lite.open(key=None) as store:
        assert "no key" in store["d"].statement()
