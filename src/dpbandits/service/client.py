"""A store behind HTTP: the same campaigns, from another machine, for threads or for asyncio.

What is sent, tried again and decoded is written once, as coroutines (`Requests`). Those of
`AsyncRemoteStore` wait on asyncio; `RemoteStore` lets its thread wait, and runs them to their end.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from typing import (
    Any,
    Concatenate,
    NamedTuple,
    ParamSpec,
    TypeVar,
    final,
)
from urllib.parse import quote

import httpx
import numpy as np
from pydantic import TypeAdapter

from dpbandits.core.errors import NotForThisKeyError, StoreError, coded
from dpbandits.core.inputs import as_int, shown
from dpbandits.core.locks import this_process
from dpbandits.core.privacy import Guarantee, as_fraction
from dpbandits.policies.contract import Policy
from dpbandits.service.campaign import PAGE_ROWS, Campaign, Then
from dpbandits.service.creation import sent_creation
from dpbandits.service.models import (
    ArmState,
    DecisionPage,
    LedgerLine,
    Scope,
    StoredDecision,
    Summaries,
    Summary,
)
from dpbandits.service.operations import (
    MOST_ITEMS,
    Ask,
    CampaignDecision,
    DecisionsOperation,
    OperationModel,
    Pending,
    ResolvingOperation,
    Settle,
    Tell,
    TellStatus,
    Void,
)
from dpbandits.service.refusals import REASONS
from dpbandits.service.views import VIEWS, same
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.state import SessionEvent

TRIES, FALLBACK_TRIES, PAUSE = 4, 2, 0.2
"""A call is made so often where the server is away, an ask with a fallback arm less often; with
twice the pause each time.
"""

TIMEOUT, PER_SECOND = 2.0, 1_000
"""Seconds in which a call is answered, and decisions of it for which there is one second more."""

SLOWER = 10
"""So many times as long may a call take that creates a campaign, simulates, or looks at all."""

UNAVAILABLE = (429, 502, 503, 504)
"""Replies that say that the server, or its database, is away."""

MOST_OWED, MOST_KNOWN = 10_000, 1_000

JSON = {"content-type": "application/json"}

SCOPES = TypeAdapter(list[Scope])

UNKNOWN = (
    "If this was a change, whether it stands is not known: make the same call again, with the key= "
    "that it had; no reward is counted twice."
)

P = ParamSpec("P")
Value = TypeVar("Value")


def fresh_key() -> str:
    """The key of one call, which it keeps however often it is made again."""
    return secrets.token_hex(16)


# What is sent, and what comes back


def as_json(body: Any) -> bytes | None:
    """Return what is sent. It is made before anything is sent or noted: what JSON has not is
    refused as if the call had not been made.

    Raises:
        TypeError, ValueError: it has something that JSON has not.
    """
    if body is None:
        return None
    with suppress(ValueError, OverflowError):  # whose text may show the number
        return json.dumps(
            body, allow_nan=False, default=plain_value, separators=(",", ":")
        ).encode()
    raise ValueError("Expected finite numbers. Nothing was sent.")


def plain_value(value: Any) -> Any:
    """Return numbers of other kinds, and arrays, as JSON has them."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (Fraction, Decimal)):
        return float(value)
    raise TypeError(
        "Expected texts and numbers, and lists of them, to send to a server, got an object of type "
        f"{type(value).__name__}. Nothing was sent."
    )


class Failure(NamedTuple):
    """No reply came. kind: of the error; is_sent: whether the server may have got the request."""

    kind: str
    is_sent: bool


UNSENT = httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout
"""Errors before a request was sent."""

Reply = httpx.Response | Failure


AskName = tuple[str, str | None]
"""The campaign and the key of an ask, which tell it from all others."""


@final
class Requests:
    """The requests of a client.

    Args:
        address: of the server, to be named in errors.
        timeout: seconds in which the server has to answer a call (see `PER_SECOND`, `SLOWER`).
        fallback: the arm of decisions that are made while the server is away; None: there is none.
        reply: sends a request, and returns its reply.
        pause: waits for so many seconds.
    """

    def __init__(
        self,
        address: str,
        timeout: float,
        fallback: str | int | None,
        reply: Callable[..., Awaitable[httpx.Response]],
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        if not (isinstance(timeout, (int, float)) and 0 < timeout < math.inf):
            raise ValueError(f"Expected timeout={shown(timeout)} to be a number of seconds > 0.")
        arm = None if isinstance(fallback, str) else as_int(fallback)
        if fallback is not None and arm is None and not (isinstance(fallback, str) and fallback):
            raise ValueError(
                f"Expected fallback={shown(fallback)} to be the name or the number of an arm."
            )
        self.address, self.timeout = address, timeout
        self.fallback: str | int | None = fallback if arm is None else arm
        self._tries = TRIES if self.fallback is None else FALLBACK_TRIES
        self._reply, self._pause = reply, pause
        self.owed = OrderedDict[AskName, Ask]()  # which may have made decisions that nobody got
        # the newest ones that were answered, and that are made void
        self.got, self.void = (deque[AskName](maxlen=MOST_KNOWN) for _ in range(2))

    async def send(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        more: float = 0.0,
        slower: int = 1,
        tries: int = TRIES,
    ) -> Reply:
        """Send a request, again where the server is away.

        Args:
            more: seconds that its reply takes beside those of others.
        """
        answer: Reply = Failure("", False)
        is_sent, seconds = False, slower * self.timeout + more
        for attempt in range(tries):
            if attempt:
                await self._pause(PAUSE * 2 ** (attempt - 1))
            how: dict[str, Any] = {"headers": JSON, "params": params, "timeout": seconds}
            try:
                answer = await self._reply(method, path, content=content, **how)
            except httpx.RequestError as error:  # which has the request, and with it the answers
                is_sent = is_sent or not isinstance(error, UNSENT)
                # such as a certificate that is not trusted
                why = f": {error}" if isinstance(error, httpx.ConnectError) else ""
                answer = Failure(type(error).__name__ + why, is_sent)
            else:
                if answer.status_code not in UNAVAILABLE:
                    break
                is_sent = True
        return answer

    async def call(
        self,
        method: str,
        path: str,
        made: Callable[[Any], Value],
        body: Any = None,
        *,
        is_text: bool = False,
        **how: Any,
    ) -> Value:
        """Return what is made of what the server says.

        Raises:
            StoreError: it stays away. Whether the call was done is not known; make it again.
        """
        answer = await self.send(method, path, as_json(body), **how)
        return self.parsed(answer, made, is_text=is_text)

    def parsed(
        self,
        answer: Reply,
        made: Callable[[Any], Value],
        *,
        is_text: bool = False,
    ) -> Value:
        """Return what is made of a reply, or raise the error that it is.

        Args:
            is_text: whether it is made of the reply's text, as it is.
        """
        if isinstance(answer, Failure):
            raise StoreError(
                f"No server answers at {self.address} ({answer.kind}): is the address right, and "
                f"does `dpbandits serve` run there? {UNKNOWN}"
            )
        if answer.status_code >= 400:
            raise error_of(answer)
        kind = answer.headers.get("content-type", "")
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            if kind.startswith("application/json"):
                return made(answer.text if is_text else answer.json())
            if is_text and kind.startswith("text/plain"):
                return made(answer.text)
        raise StoreError(
            f"Expected a reply of `dpbandits serve` at {self.address}, got another one: is the "
            f"address right? {UNKNOWN}"
        )

    # Stores

    async def summaries(self) -> Summaries:
        made = Summaries.model_validate
        return await self.call("GET", "/v1/campaigns", made, slower=SLOWER)

    async def create(self, name: str, policy: Policy, key: str | None, options: Any) -> None:
        body = sent_creation(name, policy, options) | {"key": key or fresh_key()}
        self.require_fallback(policy.labels or range(policy.arms))
        await self.call("POST", "/v1/campaigns", Summary.model_validate, body, slower=SLOWER)

    async def scope(self, name: str, epsilon: Any) -> Scope:
        exact = None if epsilon is None else str(as_fraction(epsilon, "epsilon"))
        body = {"name": name, "epsilon": exact}
        return await self.call("POST", "/v1/scopes", Scope.model_validate, body)

    async def scopes(self) -> list[Scope]:
        return await self.call("GET", "/v1/scopes", SCOPES.validate_python)

    async def require(self, name: str) -> None:
        """Refuse the name of a campaign that there is not. With a key that may not look, such as a
        website's that only asks and tells, its first call says so; and so it does with a fallback
        arm, if the server is away.

        Raises:
            UnknownCampaignError: there is none of this name.
            ValueError: the fallback is none of its arms.
        """
        place, made = path_of(name, "summary"), Summary.model_validate
        try:
            summary = await self.call("GET", place, made, tries=self._tries)
        except NotForThisKeyError:
            return
        except StoreError:
            if self.fallback is None:
                raise
            return
        self.require_fallback([each.arm for each in summary.arms])

    def require_fallback(self, arms: Sequence[object]) -> None:
        """Refuse a fallback that is none of a campaign's arms.

        Args:
            arms: their names, or numbers.

        Raises:
            ValueError: it is none.
        """
        arm = self.fallback
        is_number = isinstance(arm, int) and 0 <= arm < len(arms)
        if arm is not None and not is_number and arm not in arms:
            known = ", ".join(map(repr, arms[:20]))
            raise ValueError(
                f"Expected fallback={shown(arm)} to be one of the campaign's arms: {known}."
            )

    # Campaigns

    async def view(self, campaign: str, name: str, params: Mapping[str, Any]) -> Any:
        """Return a view of a campaign."""
        view = VIEWS[name]
        if view.sent is None:
            raise AttributeError(f"{shown(name)} is not sent by servers.")
        return await self.call(
            "GET",
            path_of(campaign, name),
            view.from_sent,
            is_text=view.is_text,
            params=params or None,
            slower=SLOWER if name == "expected_loss" else 1,
            more=params.get("limit", 0) / PER_SECOND,
        )

    async def do(self, campaign: str, op: OperationModel, then: Then) -> Any:
        """Return the answer to an operation."""
        if isinstance(op, Ask):
            answer: Any = await self._ask(campaign, op)
        elif isinstance(op, DecisionsOperation):  # each decision is resolved by itself
            answer, ids = list[TellStatus](), op.ids()
            for at in range(0, max(1, len(ids)), MOST_ITEMS):
                some = op.model_copy(update={"decisions": ids[at : at + MOST_ITEMS]})
                answer += await self._resolve(campaign, some)
        elif isinstance(op, ResolvingOperation):
            answer = await self._resolve(campaign, op)
        elif isinstance(op, Pending):
            answer = await self._pending(campaign, op)
        elif isinstance(op, Settle):
            answer = None  # a server does it by itself
        else:
            answer = await self._keyed(campaign, op)
        return answer if then is None else then(answer)

    def _sent(self, campaign: str, op: OperationModel, tries: int = TRIES) -> Awaitable[Reply]:
        many = len(op.ids()) if isinstance(op, ResolvingOperation) else 0
        if isinstance(op, (Ask, Pending)):
            many = op.count if isinstance(op, Ask) else op.limit
        how: dict[str, Any] = {"more": many / PER_SECOND, "tries": tries}
        return self.send("POST", path_of(campaign, op.name), as_json(op.body()), **how)

    def _answered(self, op: OperationModel, answer: Reply) -> Any:
        return self.parsed(answer, lambda reply: op.answered(op.reply.model_validate(reply)))

    async def _keyed(self, campaign: str, op: OperationModel) -> Any:
        """Make a call under one key, however often."""
        op = op.model_copy(update={"key": op.key or fresh_key()})
        return self._answered(op, await self._sent(campaign, op))

    async def _pending(self, campaign: str, op: Pending) -> list[CampaignDecision]:
        """List decisions, so many at a time as a server sends."""
        found, after = list[CampaignDecision](), op.after
        while True:
            how = {"after": after, "limit": min(op.limit, PAGE_ROWS)}
            page = await self._keyed(campaign, op.model_copy(update=how))
            found += page
            if op.limit <= PAGE_ROWS or len(page) < PAGE_ROWS:
                return found
            after = page[-1].round

    async def _resolve(self, campaign: str, op: ResolvingOperation) -> list[TellStatus]:
        """Resolve decisions. Those of the fallback arm have no id, and are not sent."""
        ids = op.ids()
        known = [at for at, id in enumerate(ids) if id]
        statuses = list[TellStatus](["unknown"] * len(ids))
        if not known and ids:
            return statuses
        if len(known) < len(ids):
            field = "tells" if isinstance(op, Tell) else "decisions"
            kept = [getattr(op, field)[at] for at in known]
            op = op.model_copy(update={field: kept})
        answers = self._answered(op, await self._sent(campaign, op))
        for at, status in zip(known, answers, strict=True):
            statuses[at] = status
        await self._void_owed()
        return statuses

    async def _ask(self, campaign: str, op: Ask) -> list[CampaignDecision]:
        """Ask under one key, however often. Decisions that may have been made, and that nobody
        got, are made void at the next contact.
        """
        is_repeatable = op.key is not None  # by the caller, who then gets what was made
        if not is_repeatable:
            op = op.model_copy(update={"key": fresh_key()})
        sent, name = self._sent(campaign, op, self._tries), (campaign, op.key)
        is_owed = not is_repeatable  # if whoever asks is interrupted
        try:
            answer = await sent
            may_stand = not isinstance(answer, Failure) or answer.is_sent
            is_owed = may_stand and (self.fallback is not None or not is_repeatable)
            if self.fallback is not None and (is_unavailable(answer) or name in self.void):
                return [fallback_decision(self.fallback, campaign, op.segment)] * op.count
            try:
                decisions: list[CampaignDecision] = self._answered(op, answer)
            except Exception as error:
                is_owed = is_owed and (is_unavailable(answer) or isinstance(error, StoreError))
                raise
            self.owed.pop(name, None)  # it reached its caller after all
            self.got.append(name)
            is_owed = not is_repeatable
            await self._void_owed()
            is_owed = False
        finally:
            if is_owed and not (is_repeatable and name in self.got) and len(self.owed) < MOST_OWED:
                self.owed[name] = op
        return decisions

    # Decisions that nobody got

    async def _void_owed(self) -> None:
        """Void the decisions of one ask that nobody got. The ask, made again with its key, says
        which they are.
        """
        try:
            name, ask = self.owed.popitem(last=False)
        except KeyError:
            return
        self.void.append(name)
        is_done = False
        try:
            with suppress(StoreError):  # a strange reply; the call that it came after has succeeded
                answer = await self._sent(name[0], ask, 1)
                if not isinstance(answer, Failure) and answer.status_code < 400:
                    ids = [each.id for each in self._answered(ask, answer)]
                    for at in range(0, len(ids), MOST_ITEMS):
                        some = ids[at : at + MOST_ITEMS]
                        void = Void.model_construct(decisions=some, key=None)
                        answer = await self._sent(name[0], void, 1)
                        if is_unavailable(answer):
                            break
                is_done = not is_unavailable(answer)
        finally:
            if not is_done:
                self.owed[name] = ask


def is_unavailable(answer: Reply) -> bool:
    """Whether the server, or its database, is away or at fault."""
    if isinstance(answer, Failure):
        return True
    return answer.status_code >= 500 or answer.status_code in UNAVAILABLE


def path_of(campaign: str, what: str) -> str:
    return f"/v1/campaigns/{quote(campaign, safe='')}/{what}"


def fallback_decision(arm: str | int, campaign: str, segment: str | None) -> CampaignDecision:
    """Return a decision that was made without the server: it has no id, and nobody learns from it.
    The number of an arm that was given by its name is not known, and −1.
    """
    return CampaignDecision(
        id="",
        action=-1 if isinstance(arm, str) else arm,
        round=0,
        campaign=campaign if segment is None else f"{campaign}/{segment}",
        label=arm if isinstance(arm, str) else None,
        learn=False,
        propensity=None,
    )


def error_of(answer: httpx.Response) -> Exception:
    """A problem document as the error it was, with the fields that it names."""
    try:
        body = answer.json()
        code, detail = str(body["code"]), str(body["detail"])
        fields = [str(each["where"]) for each in body.get("errors", ())]
        if unsaid := ", ".join(each for each in fields if each not in detail):
            detail = f"{detail} Named in `errors`: {unsaid}."
    except (ValueError, LookupError, TypeError):
        code, detail = "", f"The server answered {answer.status_code}."
    if code in REASONS:
        return coded(code, REASONS[code].kind, detail)
    return StoreError(detail) if is_unavailable(answer) else ValueError(detail)


@final
class RemoteCalls:
    """Runs operations and views on a campaign of a server. run: a coroutine, to its value or to
    what is awaited for it.
    """

    def __init__(self, requests: Requests, run: Callable[[Any], Any], name: str) -> None:
        self._requests, self._run, self._name = requests, run, name

    def do(self, op: OperationModel, by: str = "", then: Then = None) -> Any:
        return self._run(self._requests.do(self._name, op, then))

    def view(self, name: str, segment: str | None, params: Mapping[str, Any]) -> Any:
        how = dict(params) if segment is None else {**params, "segment": segment}
        return self._run(self._requests.view(self._name, name, how))


def headers_of(token: str | None) -> dict[str, str]:
    """What shows an access key, which an error does not repeat."""
    if token is None:
        return {}
    if not (isinstance(token, str) and re.fullmatch(r"[!-~]+", token)):
        raise ValueError(
            "Expected token= (or DPBANDITS_TOKEN) to be the line that `dpbandits keys create` "
            "printed, without spaces and line breaks; of a file's text take .strip()."
        )
    return {"Authorization": f"Bearer {token}"}


def shown_address(url: httpx.URL) -> str:
    return str(url.copy_with(userinfo=b""))  # no password


# For threads


def at_once(call: Coroutine[Any, Any, Value]) -> Value:
    """Run to its end a coroutine that lets its thread wait."""
    try:
        call.send(None)
    except StopIteration as end:
        found: Value = end.value
    finally:
        call.close()
    return found


async def paused(seconds: float) -> None:
    time.sleep(seconds)


@final
class RemoteStore(AbstractContextManager["RemoteStore"]):
    """Campaigns of a server (`dpbandits serve`). Threads may share it, and forked processes.

    Calls that are cut off are made again, under a key of their own (or `key=`), so that nothing is
    requested or changed twice.

    Args:
        url: its address.
        token: a bearer key, where it asks for one.
        timeout: seconds in which it has to answer a call, and one more for every 1,000 decisions of
            it; ten times as long for `create`, `summaries` and `expected_loss`.
        fallback: the name or the number of an arm. While the server is away, `ask` then returns
            decisions for this arm, which have no id; nobody learns from them, and `tell` sends
            nothing of them.
        client: sends the requests, in place of one that is made here; a forked child gets no other
            one then.

    Raises:
        ValueError: the timeout is no number of seconds, or the fallback no arm.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = TIMEOUT,
        fallback: str | int | None = None,
        client: httpx.Client | None = None,
    ) -> None:
        headers = headers_of(token)

        def made() -> httpx.Client:
            return client or httpx.Client(base_url=url, headers=headers)

        self._made, self._client, self._process = made, made(), this_process()
        address = shown_address(self._client.base_url)
        self._requests = Requests(address, timeout, fallback, self._reply, paused)

    def __repr__(self) -> str:
        return f"RemoteStore({self._requests.address!r})"

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def __iter__(self) -> Iterator[str]:
        summaries = self.summaries()
        return iter([*(each.name for each in summaries.campaigns), *summaries.not_shown])

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
        at_once(self._requests.require(name))
        return self._campaign(name)

    def _campaign(self, name: str) -> Campaign:
        return Campaign(name, RemoteCalls(self._requests, at_once, name))

    def summaries(self) -> Summaries:
        """Where every campaign stands."""
        return at_once(self._requests.summaries())

    def create(
        self, name: str, policy: Policy, *, key: str | None = None, **options: Any
    ) -> Campaign:
        """Make a campaign: see `CampaignStore.create`."""
        at_once(self._requests.create(name, policy, key, options))
        return self._campaign(name)

    def scope(self, name: str, epsilon: Any = None) -> Scope:
        """A budget over campaigns: see `CampaignStore.scope`."""
        return at_once(self._requests.scope(name, epsilon))

    def scopes(self) -> list[Scope]:
        """Every budget over campaigns, with what each campaign took of it."""
        return at_once(self._requests.scopes())

    async def _reply(self, *given: Any, **how: Any) -> httpx.Response:
        if self._process != this_process():  # a forked child would get its parent's replies
            self._client, self._process = self._made(), this_process()
            self._requests.owed.clear()  # whose callers may have got them there meanwhile
        return self._client.request(*given, **how)


# For asyncio


def awaited(
    verb: Callable[Concatenate[Campaign, P], Value],
) -> Callable[Concatenate[AsyncCampaign, P], Coroutine[Any, Any, Value]]:
    """Return a campaign's verb for asyncio."""

    @wraps(verb)
    async def call(self: AsyncCampaign, /, *given: P.args, **options: P.kwargs) -> Value:
        made: Any = verb(self._campaign, *given, **options)
        return await made

    return call


@final
class AsyncCampaign:
    """A campaign of a server, for asyncio: `Campaign` with verbs and views that are awaited. What
    is an attribute there is a method here.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign

    def __repr__(self) -> str:
        return f"Async{self._campaign!r}"

    def __getitem__(self, segment: str) -> AsyncCampaign:
        """One part."""
        return AsyncCampaign(self._campaign[segment])

    @property
    def name(self) -> str:
        """The name that its decisions carry."""
        return self._campaign.name

    ask = awaited(Campaign.ask)
    do = awaited(Campaign.do)
    tell = awaited(Campaign.tell)
    tell_many = awaited(Campaign.tell_many)
    tell_message = awaited(Campaign.tell_message)
    expire = awaited(Campaign.expire)
    pending = awaited(Campaign.pending)
    void = awaited(Campaign.void)
    record = awaited(Campaign.record)
    add_arm = awaited(Campaign.add_arm)
    retire_arm = awaited(Campaign.retire_arm)
    restart_arm = awaited(Campaign.restart_arm)
    pause_arm = awaited(Campaign.pause_arm)
    resume_arm = awaited(Campaign.resume_arm)
    drop_open = awaited(Campaign.drop_open)
    finish = awaited(Campaign.finish)
    close = awaited(Campaign.close)
    erase = awaited(Campaign.erase)

    releases = awaited(Campaign.releases)
    events = awaited(Campaign.events)
    beliefs = awaited(Campaign.beliefs)
    predictions = awaited(Campaign.predictions)
    lift = awaited(Campaign.lift)
    shares = awaited(Campaign.shares)
    harm = awaited(Campaign.harm)
    uplift = awaited(Campaign.uplift)
    expected_loss = awaited(Campaign.expected_loss)
    history = awaited(Campaign.history)
    recent = awaited(Campaign.recent)
    sample_ratio = awaited(Campaign.sample_ratio)
    statement = awaited(Campaign.statement)
    participant_text = awaited(Campaign.participant_text)
    description = awaited(Campaign.description)
    summary = awaited(Campaign.summary)

    async def decisions(self, after: int = 0, limit: int | None = None) -> DecisionPage:
        """See `Campaign.decisions`."""
        rows, next = list[StoredDecision](), after
        while True:
            many = PAGE_ROWS if limit is None else limit
            page: DecisionPage = await self._campaign._view("decisions", after=next, limit=many)
            rows += page.decisions
            if limit is not None or page.after is None:
                return DecisionPage(decisions=tuple(rows), after=page.after)
            next = page.after

    async def segments(self) -> tuple[str, ...]:
        """The names of its parts (see `Campaign.segments`)."""
        return (await self.summary()).segments

    async def guarantee(self) -> Guarantee | None:
        """See `Campaign.guarantee`."""
        return await self._campaign._view("guarantee")

    async def spent(self) -> Fraction | None:
        """See `Campaign.spent`."""
        return await self._campaign._view("spent")

    async def generation(self) -> int:
        """See `Campaign.generation`."""
        return await self._campaign._view("generation")

    async def attribution_window(self) -> float | None:
        """See `Campaign.attribution_window`."""
        return await self._campaign._view("attribution_window")

    async def guardrail(self) -> Guardrail | None:
        """See `Campaign.guardrail`."""
        return await self._campaign._view("guardrail")

    async def options(self) -> dict[str, Any]:
        """See `Campaign.options`."""
        return await self._campaign._view("options")

    async def arms(self) -> tuple[ArmState, ...] | dict[str, tuple[ArmState, ...]]:
        """See `Campaign.arms`."""
        return await self._campaign._view("arms")

    async def ledger(self) -> list[LedgerLine] | dict[str, list[LedgerLine]]:
        """See `Campaign.ledger`."""
        return await self._campaign._view("ledger")

    async def alarms(self) -> tuple[SessionEvent, ...] | dict[str, tuple[SessionEvent, ...]]:
        """See `Campaign.alarms`."""
        return await self._campaign._view("alarms")


@final
class AsyncRemoteStore(AbstractAsyncContextManager["AsyncRemoteStore"]):
    """Campaigns of a server, for asyncio: see `RemoteStore`, whose arguments it takes. Tasks of one
    event loop may share it.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = TIMEOUT,
        fallback: str | int | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._client = client or httpx.AsyncClient(base_url=url, headers=headers_of(token))
        address, send = shown_address(self._client.base_url), self._client.request
        self._requests = Requests(address, timeout, fallback, send, asyncio.sleep)

    def __repr__(self) -> str:
        return f"AsyncRemoteStore({self._requests.address!r})"

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connection."""
        await self._client.aclose()

    async def __aiter__(self) -> AsyncIterator[str]:
        summaries = await self.summaries()
        for name in [*(each.name for each in summaries.campaigns), *summaries.not_shown]:
            yield name

    async def campaign(self, name: str) -> AsyncCampaign:
        """A campaign of this store (see `RemoteStore.__getitem__`).

        Raises:
            UnknownCampaignError: there is none of this name.
        """
        await self._requests.require(name)
        return self._campaign(name)

    def _campaign(self, name: str) -> AsyncCampaign:
        return AsyncCampaign(Campaign(name, RemoteCalls(self._requests, same, name)))

    async def summaries(self) -> Summaries:
        """Where every campaign stands."""
        return await self._requests.summaries()

    async def create(
        self, name: str, policy: Policy, *, key: str | None = None, **options: Any
    ) -> AsyncCampaign:
        """Make a campaign: see `CampaignStore.create`."""
        await self._requests.create(name, policy, key, options)
        return self._campaign(name)

    async def scope(self, name: str, epsilon: Any = None) -> Scope:
        """A budget over campaigns: see `CampaignStore.scope`."""
        return await self._requests.scope(name, epsilon)

    async def scopes(self) -> list[Scope]:
        """Every budget over campaigns, with what each campaign took of it."""
        return await self._requests.scopes()
