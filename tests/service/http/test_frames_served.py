"""A fault of the server, which logs keep, some with local variables: no frame has what was sent."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import pytest

from dpbandits.service.http.app import make_app
from dpbandits.service.sealing import CampaignSeal
from tests.service.http.web import ask, served
from tests.session.test_frames_forget import DIGITS, said, steps_of


def fails(*_: Any) -> None:
    raise KeyError("the disk is gone")


def test_a_fault_keeps_nothing_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as (store, client):
        body = [{"id": ask(client)[0]["id"], "reward": 0.7314}]
        request = client.build_request("POST", "/v1/campaigns/trial/tell", json=body)
        made = httpx.Request("POST", request.url, headers=request.headers, content=request.content)
        del body
        application = httpx.ASGITransport(app=make_app(store, open=True))
        monkeypatch.setattr(CampaignSeal, "private", fails)
        with pytest.raises(KeyError, match="disk is gone") as error:
            anyio.run(application.handle_async_request, made)
    for one in (error.value, error.value.__context__):
        known = [] if one is None else [step.tb_frame.f_locals for step in steps_of(one)][1:]
        assert not [each for each in known if DIGITS in said(each)]
    assert len(list(steps_of(error.value))) > 20
