"""A store behind HTTP: the same verbs, from another machine."""

import secrets
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Any, final
from urllib.parse import quote

import httpx

from dpbandits.campaign.ruler import Range
from dpbandits.core.errors import NameTakenError, RewardError, StoreError
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.service.reports import DecisionPage, LedgerLine, StoredDecision
from dpbandits.service.turns.asks import CampaignDecision, decision_of, id_in
from dpbandits.session.saving.policy import policy_to_data

TRIES, PAUSE = 4, 0.2
"""A call is made so often where the server is away, with twice the pause each time."""


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
        return f"RemoteStore({str(self._client.base_url)!r})"

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

    def __getitem__(self, name: str) -> "RemoteCampaign":
        """A campaign of this store.

        Raises:
            KeyError: there is none of this name.
        """
        self.call("GET", f"/v1/campaigns/{quote(name)}")
        return RemoteCampaign(self, name)

    def create(self, name: str, policy: Policy, **options: Any) -> "RemoteCampaign":
        """A new campaign: see `CampaignStore.create`."""
        said = policy_to_data(policy)
        said["name"] = said.pop("class")
        self.call("POST", "/v1/campaigns", {"name": name, "policy": said, **sent_options(options)})
        return RemoteCampaign(self, name)

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """A request, made again where the server is away.

        Raises:
            StoreError: it stays away. Whether the call was done is not known; make it again.
        """
        answer = None
        for attempt in range(TRIES):
            try:
                answer = self._client.request(method, path, json=body, params=query or None)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code != 503:
                break
            time.sleep(PAUSE * 2**attempt)
        if answer is None or answer.status_code == 503:
            raise StoreError(
                "The server is away. If this was a change, whether it stands is not known: make "
                "the same call again; no reward is counted twice."
            )
        if answer.status_code >= 400:
            raise error_of(answer)
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.text


@final
class RemoteCampaign:
    """A campaign of a server, with the verbs of `Campaign`. Calls that are cut off are made again:
    asks under a key of their own, so that nothing is asked twice.
    """

    def __init__(self, store: RemoteStore, name: str, segment: str | None = None) -> None:
        self._store, self.name, self.segment = store, name, segment

    def __repr__(self) -> str:
        return f"RemoteCampaign({self.name!r})"

    def __getitem__(self, segment: str) -> "RemoteCampaign":
        """One segment, to ask and to look at (see `SegmentedCampaign`)."""
        return RemoteCampaign(self._store, self.name, segment)

    def _call(self, method: str, verb: str, body: Any = None, **query: Any) -> Any:
        path = f"/v1/campaigns/{quote(self.name)}" + (f"/{verb}" if verb else "")
        query |= {"segment": self.segment} if method == "GET" and self.segment else {}
        return self._store.call(method, path, body, **query)

    def ask(
        self,
        count: int | None = None,
        *,
        eligible: Iterable[str | int] | None = None,
        user: str | int | None = None,
        key: str | None = None,
        segment: str | None = None,
    ) -> Any:
        """The next decision, or a list of `count` of them (see `Campaign.ask`)."""
        body = {"count": 1 if count is None else count, "key": key or secrets.token_hex(16)}
        chosen = None if eligible is None else list(eligible)
        more = {"eligible": chosen, "user": user, "segment": segment or self.segment}
        body |= {name: value for name, value in more.items() if value is not None}
        found = [decision_of(each) for each in self._call("POST", "ask", body)["decisions"]]
        return found[0] if count is None else found

    def tell(self, decision: CampaignDecision | str, reward: Any) -> str:
        """The reward of a decision; what became of it."""
        return self.tell_many([(decision, reward)])[0]

    def tell_many(self, tells: Iterable[tuple[CampaignDecision | str, Any]]) -> list[str]:
        """Several (decision, reward) pairs; of each, what became of it."""
        body = [{"id": id_in(decision), "reward": reward} for decision, reward in tells]
        return [each["status"] for each in self._call("POST", "tell", body)["results"]]

    def tell_message(self, decision: CampaignDecision | str, message: str) -> str:
        """In the local model: a user's answer as their device sent it."""
        body = [{"id": id_in(decision), "report": message}]
        return str(self._call("POST", "tell", body)["results"][0]["status"])

    def expire(self, *decisions: CampaignDecision | str) -> list[str]:
        """Nobody answered: the declared default counts."""
        found = self._call("POST", "expire", {"ids": [id_in(each) for each in decisions]})
        return [each["status"] for each in found["results"]]

    def void(self, *decisions: CampaignDecision | str) -> list[str]:
        """Decisions that were never carried out."""
        found = self._call("POST", "void", {"ids": [id_in(each) for each in decisions]})
        return [each["status"] for each in found["results"]]

    def add_arm(self, label: str | None = None) -> int:
        """A new arm, from the next decision on; its number."""
        return int(self._call("POST", "arms", {"arm": label})["arm"])

    def retire_arm(self, arm: str | int) -> None:
        """Never play an arm again."""
        self._call("POST", "retire", {"arm": arm})

    def pause_arm(self, arm: str | int) -> None:
        """Play an arm no more until `resume_arm`."""
        self._call("POST", "pause", {"arm": arm})

    def resume_arm(self, arm: str | int) -> None:
        """Play a paused arm again."""
        self._call("POST", "resume", {"arm": arm})

    def close(self, why: str) -> None:
        """The campaign is over."""
        self._call("POST", "close", {"why": why})

    def summary(self) -> dict[str, Any]:
        """Where the campaign stands, in a few public numbers."""
        return dict(self._call("GET", ""))

    @property
    def ledger(self) -> list[LedgerLine]:
        """Every reading, in order."""
        return [LedgerLine(**line) for line in self._call("GET", "ledger")]

    @property
    def spent(self) -> Fraction | None:
        """The ledger's exact total for the worst-off record."""
        said = self._call("GET", "guarantee")["spent"]
        return None if said is None else Fraction(said)

    def decisions(self, after: int = 0, limit: int = 1_000) -> DecisionPage:
        """Decisions with their propensities, in order (see `Campaign.decisions`)."""
        said = self._call("GET", "decisions", after=after, limit=limit)
        rows = tuple(StoredDecision(**row) for row in said["decisions"])
        return DecisionPage(rows, said["after"])

    def beliefs(self, confidence: float = 0.95) -> list[dict[str, Any]]:
        """What is believed of every arm."""
        return list(self._call("GET", "beliefs", confidence=confidence))

    def statement(self) -> str:
        """The privacy statement of this campaign, to print."""
        return str(self._call("GET", "statement"))


def sent_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options as a request carries them.

    Raises:
        ValueError: one that cannot be sent.
    """
    sent = dict[str, Any]()
    for name, value in options.items():
        if isinstance(value, timedelta):
            sent[name] = value.total_seconds()
        elif isinstance(value, Range):
            low, high = float(value.low), float(value.high)
            sent[name] = {"low": low, "high": high, "clip": value.clip, "minimise": value.minimise}
        elif name == "noise":
            if not isinstance(value, SimulatedNoise):
                raise ValueError("Expected no noise=: a server draws secure noise by itself.")
            sent["simulated_noise"] = value.seed
        else:
            sent[name] = value
    return sent


def error_of(answer: httpx.Response) -> Exception:
    """A problem document as the error it was."""
    try:
        said = answer.json()
        detail, title = str(said["detail"]), str(said["title"])
    except (ValueError, LookupError, TypeError):
        detail, title = f"The server answered {answer.status_code}.", ""
    kinds: dict[int, type[Exception]] = {401: PermissionError, 403: PermissionError, 404: KeyError}
    if answer.status_code == 409:
        return NameTakenError(detail) if "name" in title else RuntimeError(detail)
    if title == "No reward":
        return RewardError(detail)
    return kinds.get(answer.status_code, ValueError)(detail)
