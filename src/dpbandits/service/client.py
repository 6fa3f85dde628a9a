"""A store behind HTTP: the same campaigns, from another machine."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Self, final
from urllib.parse import quote

import httpx

from dpbandits.core.errors import NotForThisKeyError, StoreError
from dpbandits.core.inputs import shown
from dpbandits.core.privacy import as_fraction
from dpbandits.policies.contract import Policy
from dpbandits.service.campaign import Campaign
from dpbandits.service.creation import sent_creation
from dpbandits.service.models import Scope, Summaries
from dpbandits.service.operations import OperationModel, ResolvingOperation
from dpbandits.service.refusals import REASONS
from dpbandits.service.views import VIEWS, same

TRIES, PAUSE = 4, 0.2
"""A call is made so often where the server is away, with twice the pause each time."""

UNKNOWN = (
    "If this was a change, whether it stands is not known: make the same call again, with the key= "
    "that it had; no reward is counted twice."
)


def fresh_key() -> str:
    """The key of one call, which it keeps however often it is made again."""
    return secrets.token_hex(16)


@final
class RemoteStore:
    """Campaigns of a server (`dpbandits serve`).

    Calls that are cut off are made again, under a key of their own (or `key=`), so that nothing is
    requested or changed twice.

    Args:
        url: its address.
        token: a bearer key, where it asks for one.
        client: sends the requests, in place of one that is made here.
    """

    def __init__(
        self, url: str, *, token: str | None = None, client: httpx.Client | None = None
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._client = client or httpx.Client(base_url=url, headers=headers, timeout=60)

    def __repr__(self) -> str:
        address = self._client.base_url.copy_with(userinfo=b"")  # no password
        return f"RemoteStore({str(address)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def __iter__(self) -> Iterator[str]:
        found = self.summaries()
        return iter([*(each.name for each in found.campaigns), *found.not_shown])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __getitem__(self, name: str) -> Campaign:
        """A campaign of this store. With a key that may not look, such as a website's that only
        asks and tells, whether there is one is said by its first call.

        Raises:
            UnknownCampaignError: there is none of this name.
        """
        campaign = Campaign(name, RemoteCalls(self, name))
        with suppress(NotForThisKeyError):
            campaign.summary()
        return campaign

    def summaries(self) -> Summaries:
        """Where every campaign stands."""
        return Summaries.model_validate(self.call("GET", "/v1/campaigns"))

    def create(
        self, name: str, policy: Policy, *, key: str | None = None, **options: Any
    ) -> Campaign:
        """Make a campaign: see `CampaignStore.create`."""
        body = sent_creation(name, policy, options)
        self.call("POST", "/v1/campaigns", body | {"key": key or fresh_key()})
        return Campaign(name, RemoteCalls(self, name))

    def scope(self, name: str, epsilon: Any = None) -> Scope:
        """A budget over campaigns: see `CampaignStore.scope`."""
        exact = None if epsilon is None else str(as_fraction(epsilon, "epsilon"))
        said = self.call("POST", "/v1/scopes", {"name": name, "epsilon": exact})
        return Scope.model_validate(said)

    def call(
        self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Send a request, again where the server is away.

        Raises:
            StoreError: it stays away. Whether the call was done is not known; make it again.
        """
        answer, why = None, ""
        for attempt in range(TRIES):
            try:
                answer = self._client.request(method, path, json=body, params=params or None)
            except httpx.RequestError as error:  # which has the request, and with it the answers
                answer, why = None, type(error).__name__
            if answer is not None and answer.status_code != 503:
                break
            time.sleep(PAUSE * 2**attempt)
        if answer is None:
            raise StoreError(
                f"No server answers at {self._client.base_url} ({why}): is the address right, and "
                f"does `dpbandits serve` run there? {UNKNOWN}"
            )
        if answer.status_code >= 400:
            raise error_of(answer)
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.text


@final
class RemoteCalls:
    """Runs operations and views on a campaign of a server."""

    def __init__(self, store: RemoteStore, name: str) -> None:
        self._store, self._name = store, name

    def _path(self, what: str) -> str:
        return f"/v1/campaigns/{quote(self._name, safe='')}/{what}"

    def do(self, op: OperationModel, by: str = "", then: Callable[[Any], Any] = same) -> Any:
        if op.key is None and not isinstance(op, ResolvingOperation):
            op = op.model_copy(update={"key": fresh_key()})
        said = self._store.call("POST", self._path(op.name), op.body())
        return then(op.answered(op.reply.model_validate(said)))

    def view(self, name: str, segment: str | None, params: Mapping[str, Any]) -> Any:
        view, how = VIEWS[name], dict(params)
        if view.sent is None:
            raise AttributeError(f"{shown(name)} is not sent by servers.")
        if segment is not None:
            how["segment"] = segment
        return view.from_sent(self._store.call("GET", self._path(name), params=how))


def error_of(answer: httpx.Response) -> Exception:
    """A problem document as the error it was."""
    try:
        said = answer.json()
        code, detail = str(said["code"]), str(said["detail"])
    except (ValueError, LookupError, TypeError):
        code, detail = "", f"The server answered {answer.status_code}."
    if code in REASONS:
        error = REASONS[code].kind(detail)
        error.reason = code  # type: ignore[attr-defined]  # errors may carry any attribute
        return error
    return StoreError(detail) if answer.status_code >= 500 else ValueError(detail)
