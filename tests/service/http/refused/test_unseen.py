"""What nobody outside can tell: rewards, and which keys there are."""

from __future__ import annotations

import logging
import sys
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from fastapi import Request

import dpbandits as dpb
from dpbandits.service.server.access import Access
from tests.service.conftest import Open
from tests.service.http.web import POLICY, client_of

PACKAGE = str(Path(dpb.__file__).parent)
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


def walked(access: Access, key: str) -> tuple[list[str], int]:
    """Every function of this package that a key is looked up by, in order; and what it comes to."""
    steps = list[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            steps.append(frame.f_code.co_qualname)

    headers = [(b"authorization", f"Bearer {key}".encode())]
    request = Request({"type": "http", "method": "GET", "headers": headers, "query_string": b""})
    before, status = sys.getprofile(), 200
    sys.setprofile(note)
    try:
        access.principal(request)
    except PermissionError:
        status = 401
    finally:
        sys.setprofile(before)
    return steps, status


def test_a_key_that_there_is_not_is_refused_as_one_that_there_was(make: Open) -> None:
    """A clock would tell by chance. One hash is made of whatever came, and one row looked up by it,
    so nothing that takes time depends on how much of a key is right.
    """
    access = Access(make().database, open=False)
    mine, gone = (access.create(name, ["read"]) for name in ("mine", "gone"))
    access.revoke("gone")
    walked(access, mine)  # what is made once is made
    (known, found), (revoked, refused) = walked(access, mine), walked(access, gone)
    assert (found, refused) == (200, 401)
    assert [*known, "refusal"] == revoked
    assert known.count("hash_of") == 1
    assert sum(step.endswith("Database.key") for step in known) == 1
    almost = mine[:-1] + ("a" if mine[-1] != "a" else "b")
    for other in ("dpb_wrong", almost, mine[:20], "x" * 5_000, "é"):
        steps, status = walked(access, other)
        assert status == 401
        assert steps == revoked
