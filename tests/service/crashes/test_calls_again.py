"""A server's reply that is lost: the client makes the call again, whichever it is, and it is done
once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

import dpbandits as dpb
from dpbandits.service.client import RemoteStore
from dpbandits.service.store import CampaignStore
from tests.service.conftest import Open
from tests.service.http.web import Calls, app_of

NUMBERED = dpb.DPKLUCB(arms=3, epsilon=1)
NAMED = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1)  # type: ignore[arg-type]  # names stand for it


class CutReplies(httpx.BaseTransport):
    """A server whose next replies are lost on their way. left: how many."""

    def __init__(self, store: CampaignStore) -> None:
        self._inner, self.left = Calls(app_of(store)), 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._inner.handle_request(request)
        if self.left:
            self.left -= 1
            raise httpx.ReadError("cut")
        return answer


class Far:
    """A store, and the same store behind a server whose replies are lost."""

    def __init__(self, store: CampaignStore) -> None:
        self.store, self.replies = store, CutReplies(store)
        client = httpx.Client(transport=self.replies, base_url="http://localhost")
        self.away = RemoteStore("http://localhost", client=client)

    def cut(self, call: Callable[[], Any]) -> Any:
        """What a call says whose first two replies are lost."""
        self.replies.left = 2
        said = call()
        assert self.replies.left == 0
        return said


@pytest.fixture
def far(make: Open, monkeypatch: pytest.MonkeyPatch) -> Far:
    monkeypatch.setattr("dpbandits.service.client.PAUSE", 0.0)
    return Far(make())


KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "segments": {"segments": ["DE", "FR"]},
    "sides": {"holdout": "1/10000000"},
}
"""With a holdout a person's side is drawn for each campaign: a chance of 10⁻⁷ that they differ."""


def test_a_rule_that_was_finished_answers_once(far: Far) -> None:
    trial = far.away.create("trial", dpb.DPNAS(alpha=0.5, beta=0.1, cap=1_000, epsilon=1))
    trial.tell(trial.ask(), 1)
    far.cut(trial.finish)
    assert [each.what for each in far.store["trial"].events()] == ["finish"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_campaign_whose_reply_was_lost_is_created_once(far: Far, kind: str) -> None:
    far.away.scope("all", epsilon=3)
    how = {**KINDS[kind], "scope": "all"}
    made = far.cut(lambda: far.away.create("trial", NAMED, **how))
    assert made.name == "trial"
    assert list(far.away) == ["trial"]
    assert far.away.scope("all").spent == 1
    with pytest.raises(dpb.NameTakenError, match="Nothing was created"):
        far.away.create("trial", NAMED, **how)
    again = {**how, "key": "mine"}
    for _ in range(2):
        far.away.create("other", NAMED, **again)
    with pytest.raises(dpb.NameTakenError):
        far.away.create("other", NUMBERED, **again)
    assert far.away.scope("all").spent == 2
