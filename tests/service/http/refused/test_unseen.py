"""No reward is seen in views, metrics or logs."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from tests.service.conftest import Open
from tests.service.http.web import POLICY, client_of

REWARD = 123.456789
"""Of a range up to 1,000, on a grid of 1,024 steps: 126 of them."""


def addresses(client: Any) -> list[str]:
    """All that can be looked at."""
    paths = client.get("/openapi.json").json()["paths"]
    return [path.replace("{name}", "trial") for path, verbs in paths.items() if "get" in verbs]


@pytest.mark.parametrize("window", [None, timedelta(minutes=1)])
def test_no_reward_is_seen_in_views_metrics_or_logs(
    make: Open, window: timedelta | None, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told, told again, and refused, before and after; nothing was released yet."""
    caplog.set_level(logging.DEBUG)
    store = make(noise=dpb.SimulatedNoise(1))
    options = {} if window is None else {"attribution_window": window.total_seconds(), "default": 0}
    client = client_of(store)
    policy = {**POLICY, "first": 100}
    body = {"name": "trial", "policy": policy, "rewards": {"low": 0, "high": 1000}, **options}
    assert client.post("/v1/campaigns", json=body).status_code == 201
    asked = client.post("/v1/campaigns/trial/ask", json={"count": 3}).json()["decisions"]
    empty = {path: client.get(path).status_code for path in addresses(client)}
    replies = list[str]()
    for id, reward in [(d["id"], REWARD) for d in asked[:2]] * 2 + [(asked[2]["id"], -REWARD)]:
        told = [{"id": id, "reward": reward}]
        replies.append(client.post("/v1/campaigns/trial/tell", json=told).text)
    for path, status in empty.items():
        answer = client.get(path)
        assert answer.status_code == status, path
        replies.append(answer.text)
    assert "/metrics" in empty
    assert "dpbandits_decisions_total" in "".join(replies)
    for seen in (str(REWARD), "123.4", "0.1234", "246.9"):  # the last is their sum
        assert not any(seen in reply for reply in replies)
        assert seen not in caplog.text
