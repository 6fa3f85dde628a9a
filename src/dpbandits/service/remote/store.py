"""A store behind HTTP: the same verbs, from another machine."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, final
from urllib.parse import quote

import httpx

from dpbandits.core.errors import NotForThisKeyError, StoreError
from dpbandits.core.privacy import as_fraction
from dpbandits.policies.contract import Policy
from dpbandits.service.remote.campaign import RemoteCampaign
from dpbandits.service.remote.said import error_of, fresh_key, sent_options
from dpbandits.service.rows.records import ScopeRow
from dpbandits.service.scope import Scope, scope_of
from dpbandits.session.saving import policy_to_data

TRIES, PAUSE = 4, 0.2
"""A call is made so often where the server is away, with twice the pause each time."""

UNKNOWN = (
    "If this was a change, whether it stands is not known: make the same call again, with the key= "
    "that it had; no reward is counted twice."
)


@final
class RemoteStore:
    """Campaigns of a server (`dpbandits serve`).

    url: its address. token: a bearer key, where it asks for one.
    """

    def __init__(
        self, url: str, *, token: str | None = None, client: httpx.Client | None = None
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._client = client or httpx.Client(base_url=url, headers=headers, timeout=60)

    def __repr__(self) -> str:
        address = self._client.base_url.copy_with(userinfo=b"")  # no password
        return f"RemoteStore({str(address)!r})"

    def __enter__(self) -> "RemoteStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def __iter__(self) -> Iterator[str]:
        return iter([each["name"] for each in self.call("GET", "/v1/campaigns")["campaigns"]])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __getitem__(self, name: str) -> RemoteCampaign:
        """A campaign of this store. With a key that may not look, as a website's that only asks and
        tells, whether there is one is said by its first call.

        Raises:
            UnknownCampaignError: there is none of this name.
        """
        with suppress(NotForThisKeyError):
            self.call("GET", f"/v1/campaigns/{quote(name)}")
        return RemoteCampaign(self, name)

    def create(
        self, name: str, policy: Policy, *, key: str | None = None, **options: Any
    ) -> RemoteCampaign:
        """A new campaign: see `CampaignStore.create`."""
        said = policy_to_data(policy)
        said["name"] = said.pop("class")
        body = {"name": name, "policy": said, "key": key or fresh_key(), **sent_options(options)}
        self.call("POST", "/v1/campaigns", body)
        return RemoteCampaign(self, name)

    def scope(self, name: str, epsilon: Any = None) -> Scope:
        """A budget over campaigns: see `CampaignStore.scope`."""
        exact = None if epsilon is None else str(as_fraction(epsilon, "epsilon"))
        body = {"name": name, "epsilon": exact}
        said = self.call("POST", "/v1/scopes", body)
        return scope_of(ScopeRow(*(said[field] for field in ScopeRow._fields)))

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """A request, made again where the server is away.

        Raises:
            StoreError: it stays away. Whether the call was done is not known; make it again.
        """
        answer, why = None, ""
        for attempt in range(TRIES):
            try:
                answer = self._client.request(method, path, json=body, params=query or None)
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
        if answer.status_code == 503:
            raise StoreError(str(error_of(answer)))
        if answer.status_code >= 400:
            raise error_of(answer)
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.text
