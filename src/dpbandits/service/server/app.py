"""The application: a route for every operation and every view, keys, limits, and errors as problem
documents (RFC 9457) with fixed texts.
"""

import csv
import hashlib
import inspect
import io
import logging
import re
import secrets
import time
from asyncio import Semaphore, get_running_loop
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import cache, partial
from typing import Annotated, Any, final, get_args

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import BaseModel, Field, create_model
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException

from dpbandits.core.errors import Error, StoreError
from dpbandits.core.inputs import is_line, normalised, options_of, shown
from dpbandits.policies.named import EVERY_POLICY
from dpbandits.service.campaign import Campaign
from dpbandits.service.creation import GuardrailModel, NewCampaign, RangeModel, policy_from
from dpbandits.service.models import (
    Body,
    DecisionPage,
    Problem,
    Rights,
    Scope,
    StoredDecision,
    Summaries,
    Summary,
)
from dpbandits.service.operations import (
    OPERATIONS,
    Items,
    OperationModel,
    Role,
    Tell,
    TellItem,
    signed,
)
from dpbandits.service.refusals import REASONS, code_of, refusal
from dpbandits.service.store import CampaignStore
from dpbandits.service.tables import KeyRow
from dpbandits.service.views import SENT, View
from dpbandits.version import __version__

THREADS = 128
"""Requests that are worked on at a time; those of one campaign are run together."""

LARGEST_BODY = 4 * 2**20
"""Bytes. A body that does not say its length is cut off by `LimitedProtocol`."""

LARGE_BODY, MOST_LARGE = 2**16, 4
"""Bytes of a body from which on few are read at a time: in Python each takes thirty times that."""

LARGEST_HEAD, MOST_HEADERS = 32 * 2**10, 100
"""Bytes of an address with its headers, and headers."""

HEAD_REFUSED = (
    f"Expected at most {MOST_HEADERS} headers, and {LARGEST_HEAD:,} bytes of them and the address "
    "together. Nothing was done."
)

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})

MEDIA = "application/problem+json"
RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem document (RFC 9457); nothing was done.",
        "content": {MEDIA: {"schema": Problem.model_json_schema()}},
    }
}

NO_KEY: dict[str, Any] = {"security": []}
"""Says in the document that a route answers everybody."""

HEADERS = {
    "content-security-policy": (
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
"""Answers load nothing from elsewhere, and are not kept."""

WITHOUT_ROUTE = ("settle",)
"""Operations that a server does by itself."""


def make_app(store: CampaignStore, *, open: bool = False) -> FastAPI:
    """Return the application that serves a store; of one that is only looked at, the views. A
    server that stops closes the store.

    Args:
        open: no key is asked for; then it may be called as localhost only.
    """
    access, threads = Access(store, open=open), ThreadPoolExecutor(THREADS)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        store.close()  # or SQLite's log would lie there until the next start

    app = FastAPI(
        title="dpbandits",
        version=__version__,
        summary="Differentially private campaigns",
        docs_url=None,  # its own loads scripts from elsewhere; the page lists the routes
        redoc_url=None,
        redirect_slashes=False,  # to an address made of what a request says of its host
        responses=RESPONSES,
        lifespan=lifespan,
    )
    app.openapi = partial(document_of, app.openapi, open)  # type: ignore[method-assign]
    add_error_handlers(app, access)
    app.add_middleware(Limits, hosts=LOCAL if open else None)
    if not store.is_looking:  # those first that are called all day: routes are tried in order
        for name, kind in OPERATIONS.items():
            if name not in WITHOUT_ROUTE:
                add_operation(app, store, access, threads, kind)
    add_store_routes(app, store, access)
    for name, view in SENT.items():
        add_view(app, store, access, name, view)
    app.mount("/static", StaticFiles(packages=[("dpbandits.service.server", "static")]))
    return app


def document_of(describe: Callable[[], dict[str, Any]], open: bool) -> dict[str, Any]:
    """Return what describes the routes, with the key that they ask for.

    Args:
        open: whether a request without a key may be answered.
    """
    scheme = {"type": "http", "scheme": "bearer", "description": "An access key, dpb_…"}
    document = describe()
    document["components"]["securitySchemes"] = {"key": scheme}
    document["security"] = [{"key": []}, *([{}] if open else [])]
    return document


# Who may do what: bearer keys, of which only hashes are kept

LONGEST_NAME = 64
"""Characters of a key's name."""

ROLES = get_args(Role)
"""admin may do everything."""


EVERYBODY = Rights(name="", roles=tuple(sorted(ROLES)), campaign=None)
"""Whoever calls a server without keys, which listens on this machine only."""


WITHOUT_ROLE = frozenset({"/", "/docs", "/healthz", "/readyz", "/v1/me"})
"""Paths that need none."""


def role_for(route: APIRoute) -> Role | None:
    """Return the role that a route needs; None: no role."""
    if route.path in WITHOUT_ROLE:
        return None
    if route.methods == {"GET"}:
        return "read"
    return OPERATIONS[route.name].role if route.name in OPERATIONS else "admin"


def hash_of(key: str) -> str:
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


@final
class Access:
    """The keys of a store. Its witness sees them, too: in a copy that is put back, a store that had
    keys is not open, and a key that was revoked is revoked again.

    Args:
        open: whether the server asks for no key for as long as none was ever made.
    """

    def __init__(self, store: CampaignStore, *, open: bool) -> None:
        self._store, self.open = store, open

    def create(self, name: str, roles: Iterable[str], campaign: str | None = None) -> str:
        """Make a key, and return it: it is shown this once.

        Args:
            name: of whoever has it. No other key of this store has it, or had it before it was
                revoked: what was asked under `key=` is kept by this name, and answered again to its
                owner only.

        Raises:
            ValueError: no role, or one that there is not; no such campaign.
            NameTakenError: some key has the name, or had it.
            WitnessError: it is another store's, or cannot be written.
        """
        name = normalised(name) if isinstance(name, str) else name  # which may make it longer
        if not is_line(name, LONGEST_NAME):
            raise ValueError(
                f"Expected a name of at most {LONGEST_NAME} characters for a key, which can be "
                f"printed; got {shown(name)}. No key was made."
            )
        if campaign is not None and campaign not in self._store:
            raise ValueError(
                f"Expected a campaign of this store, got {shown(campaign)}. No key was made."
            )
        wanted = sorted(set(roles))
        if not wanted or not set(wanted) <= set(ROLES):
            raise ValueError(f"Expected roles among {', '.join(ROLES)}; got {shown(wanted)}.")
        key = "dpb_" + secrets.token_urlsafe(32)
        row = KeyRow(hash_of(key), name, " ".join(wanted), campaign, time.time())
        self._store.require_own_witness()
        self._store.witness.add_key(row.hash)
        self._store.database.add_key(row)
        return key

    def keys(self) -> list[KeyRow]:
        """All keys, oldest first."""
        return self._store.database.access_keys()

    def revoke(self, name: str) -> int:
        """Keys of this name open nothing any more; returns how many there were.

        Raises:
            WitnessError: it is another store's, or cannot be written. None was revoked.
        """
        self._store.require_own_witness()
        named = (name, normalised(name))
        rows = [row for row in self.keys() if row.name in named and row.revoked is None]
        for row in rows:
            at = time.time()
            self._store.witness.add_key(row.hash, at)
            self._store.database.revoke(row, at)
        return len(rows)

    def revoke_again(self) -> None:
        """Keys that the witness saw revoked open nothing, whatever a copy says."""
        seen = self._store.witness.keys()
        for row in self.keys():
            at = seen.get(row.hash)
            if at is not None and row.revoked is None:
                self._store.database.revoke(row, at)

    def principal(self, request: Request) -> Rights:
        """Return who calls. A key that there is not takes as long to refuse as a revoked one.

        Raises:
            NoKeyError: nobody that is known.
        """
        if self.open:
            if not self._store.database.has_keys():
                return EVERYBODY
            self.open = False  # a key is asked for from now on, though it may be revoked
        kind, _, key = request.headers.get("authorization", "").partition(" ")
        row = self._store.database.key(hash_of(key.strip()))
        if kind.lower() != "bearer" or row is None or row.revoked is not None:
            raise refusal("no_key")
        return Rights(name=row.name, roles=tuple(row.roles.split()), campaign=row.campaign)

    def caller(self, request: Request) -> Rights:
        """Return who calls a route that needs a role. It asks the database, so call it in the
        thread of the work.

        Raises:
            NoKeyError: nobody that is known.
            NotForThisKeyError: without the role, or for another campaign.
        """
        who, role = self.principal(request), role_for(request.scope["route"])
        if role not in who.roles and "admin" not in who.roles:
            raise refusal("role")
        if who.campaign is not None and request.path_params.get("name") != who.campaign:
            raise refusal("other_campaign")
        return who

    def require(self, request: Request) -> None:
        """Refuse a request whose route needs another key than it has.

        Raises:
            NoKeyError, NotForThisKeyError: as in `caller`.
        """
        route = request.scope.get("route")
        if isinstance(route, APIRoute) and role_for(route) is not None:
            self.caller(request)


# Routes


def add_operation(
    app: FastAPI,
    store: CampaignStore,
    access: Access,
    threads: ThreadPoolExecutor,
    kind: type[OperationModel],
) -> None:
    """Serve an operation: POST /v1/campaigns/{name}/<its name>.

    Args:
        threads: in which it is worked on; the framework's own take twice as long to come to.
    """

    def work(request: Request, name: str, body: Any) -> Response:
        by = access.caller(request).name
        if kind is Tell:
            op: OperationModel = Tell.model_construct(tells=body, key=None)
        else:
            op = body if body is not None else kind()
        try:
            answer = store[name].do(op, by)
        except StopIteration as error:  # of a policy's own code; no future takes it
            raise RuntimeError("StopIteration") from error
        # of our own making, so it is not checked again
        return Response(op.replied(answer).model_dump_json(), media_type="application/json")

    async def done(**given: Any) -> Response:
        run = partial(copy_context().run, work, **given)
        return await get_running_loop().run_in_executor(threads, run)

    is_empty = set(kind.model_fields) == {"key"}
    body: Any = Items[TellItem] if kind is Tell else kind
    endpoint = signed(
        done,
        request=(Request, ...),
        name=(str, ...),
        body=(body | None, None) if is_empty else (body, ...),
    )
    app.post(
        f"/v1/campaigns/{{name}}/{kind.name}",
        response_model=kind.reply,
        name=kind.name,
        summary=(kind.__doc__ or "").partition("\n")[0],
        description=inspect.cleandoc(kind.__doc__ or ""),
    )(endpoint)


def add_view(app: FastAPI, store: CampaignStore, access: Access, name: str, view: View) -> None:
    """Serve a view: GET /v1/campaigns/{name}/<its name>; the summary at the campaign, too."""
    media = "application/json" if name == "description" or not view.is_text else "text/plain"

    def show(**given: Any) -> Any:
        access.caller(given.pop("request"))
        campaign_name = given.pop("name")
        segment = given.pop("segment")
        kind = given.pop("format", "json")
        campaign = store[campaign_name]
        shown = view.to_sent(campaign._calls.view(name, segment, given))
        if view.is_text:
            return PlainTextResponse(shown, media_type=media)
        return Response(csv_of(shown), media_type="text/csv") if kind == "csv" else shown

    more = {"format": (Annotated[str, Query(pattern="^(json|csv)$")], "json")}
    endpoint = signed(
        show,
        request=(Request, ...),
        name=(str, ...),
        segment=(Annotated[str | None, Query(max_length=100)], None),
        **view.params,
        **(more if name == "decisions" else {}),
    )
    sent: Any = None if view.is_text else view.sent
    if view.is_by_part:
        sent = sent | by_segment(name, sent)
    how: dict[str, Any] = {"response_model": sent, "name": name}
    if media == "text/plain":
        how["response_class"] = PlainTextResponse
    if name == "decisions":
        how["responses"] = {200: {"content": {"text/csv": {}}}}
    app.get(f"/v1/campaigns/{{name}}/{name}", **how)(endpoint)
    if name == "summary":
        app.get("/v1/campaigns/{name}", response_model=Summary, name="campaign")(endpoint)


def by_segment(name: str, sent: Any) -> type[BaseModel]:
    """The model of a view by segment."""
    return create_model(f"{name}_by_segment", segments=(dict[str, sent], ...))


class NewScope(Body):
    """A budget over campaigns. epsilon: an exact number as text, "4" or "1/2"; of a scope that
    there is, it may be left out.
    """

    name: str = Field(min_length=1, max_length=100)
    epsilon: str | None = None


def add_store_routes(app: FastAPI, store: CampaignStore, access: Access) -> None:
    """Serve what is of no single campaign."""

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return RedirectResponse("static/index.html")  # also where a proxy puts something before it

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return RedirectResponse("static/index.html#/docs")

    @app.get("/v1/me")
    def me(request: Request) -> Rights:
        who = access.principal(request)
        roles = tuple([each for each in who.roles if each == "read" or not store.is_looking])
        return who.model_copy(update={"roles": roles})

    @app.get("/v1/campaigns")
    def campaigns(request: Request) -> Summaries:
        access.caller(request)
        return store.summaries()

    @app.get("/v1/scopes")
    def scopes(request: Request) -> list[Scope]:
        access.caller(request)
        return store.scopes()

    @app.get("/healthz", openapi_extra=NO_KEY)
    def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @app.get("/readyz", openapi_extra=NO_KEY)
    def ready() -> dict[str, str]:
        len(store)  # asks the database
        return {"status": "ready"}

    @app.get("/metrics", response_class=PlainTextResponse)
    def metrics(request: Request) -> Response:
        access.caller(request)
        return PlainTextResponse(metrics_of(store.summaries().campaigns))

    if store.is_looking:
        return

    @app.post("/v1/campaigns", status_code=201)
    def create(body: NewCampaign, request: Request) -> Summary:
        by, policy = access.caller(request).name, policy_from(body.policy)
        made: Campaign = store.create(body.name, policy, by=by, **body.options())
        return made.summary()

    @app.post("/v1/scopes", status_code=201)
    def scope(body: NewScope, request: Request) -> Scope:
        access.caller(request)
        return store.scope(body.name, epsilon=body.epsilon)


METRICS: dict[str, tuple[str, Any, str]] = {
    "asked": ("dpbandits_decisions", CounterMetricFamily, "Decisions made."),
    "resolved": (
        "dpbandits_resolved",
        CounterMetricFamily,
        "Decisions that are no longer pending.",
    ),
    "waiting": ("dpbandits_waiting", GaugeMetricFamily, "Pending decisions."),
    "step": ("dpbandits_releases", CounterMetricFamily, "Policy updates."),
    "generation": ("dpbandits_generation", GaugeMetricFamily, "Fences, plus one."),
    "overdue": ("dpbandits_overdue", GaugeMetricFamily, "Arms that wait for overdue requests."),
}
"""Public counts for Prometheus. What is private for a campaign is left out of it."""


def metrics_of(summaries: list[Summary]) -> str:
    """Return public counts, as Prometheus reads them."""

    class Counts(Collector):
        def collect(self) -> Any:
            for field, (name, kind, words) in METRICS.items():
                family = kind(name, words, labels=["campaign"])
                for each in summaries:
                    value = getattr(each, field)
                    if value is not None:
                        family.add_metric([each.name], value)
                yield family

    return generate_latest(Counts()).decode()


def csv_of(page: DecisionPage) -> str:
    """Return decisions for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(StoredDecision.model_fields)
    writer.writerows(page.cells())
    return out.getvalue()


# Errors


def problem(code: str, **more: Any) -> JSONResponse:
    """Return a problem document with the fixed text of this code."""
    reason = REASONS[code]
    headers = {"Retry-After": "1"} if reason.status == 503 else {}
    if reason.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    how = {"detail": reason.text, **more}
    body = Problem(title=reason.title, status=reason.status, code=code, **how)
    return JSONResponse(body.model_dump(), reason.status, headers, media_type=MEDIA)


def add_error_handlers(app: FastAPI, access: Access) -> None:
    """Every error becomes a problem document. None repeats anything of a request. What only an
    operator can put right is said in the log.
    """

    def ours(request: Request, error: Exception) -> JSONResponse:
        try:  # whoever may not call is told nothing else, though a body is read before a key
            access.require(request)
        except (PermissionError, StoreError) as refused:
            error = refused
        if isinstance(error, RequestValidationError):
            return invalid(error)
        code = code_of(error)
        if REASONS[code].status >= 500:
            logging.getLogger("dpbandits").error("%s: %s", type(error).__name__, error)
        named = option_in(error) if code in ("option", "policy") else None
        missing = [f"context.{feature}" for feature in getattr(error, "missing", ())]
        lacks = [{"where": where, "what": "Missing"} for where in missing]
        return problem(code, errors=lacks if named is None else [wrong(named)])

    def framework(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if error.status_code == 400:  # a body of a route that cannot be read
            return ours(request, refusal("not_json"))
        said = {
            404: "There is nothing at this address; /docs describes every route.",
            405: "This address takes another method; /docs says which.",
        }.get(error.status_code, "The request cannot be read. Nothing was done.")
        return refusal_of(error.status_code, said, "refused_address")

    async def fault(request: Request, error: Exception) -> JSONResponse:
        return problem("fault")

    for kind in (Error, ValueError, TypeError, RuntimeError):
        app.add_exception_handler(kind, ours)
    app.add_exception_handler(RequestValidationError, ours)
    app.add_exception_handler(HTTPException, framework)
    app.add_exception_handler(Exception, fault)


FIELD = re.compile(r"[a-z_]{1,30}")
"""What may be a field's name, such as a misspelt one. There are no digits in it."""

PRIVATE = {"reward", "outcomes", "successes"}
"""Fields of which nobody is told what is wrong with them, not even where."""


def invalid(error: RequestValidationError) -> JSONResponse:
    """Return the problem document for a body of another shape, or with a value that cannot be."""
    found = list(error.errors()[:20])
    is_long = any(each["type"] == "too_long" for each in found)
    if not is_long and any(PRIVATE & set(each["loc"]) for each in found):
        return problem("reward_out_of_range")
    problems = [where_and_what(each) for each in found]
    cause = found[0].get("ctx", {}).get("error")
    code = "not_json" if found[0]["type"] == "json_invalid" else "shape"
    code = getattr(cause, "code", None) or code
    if code != "shape":
        return problem(code, errors=problems)
    text = "; ".join(f"{each['where']}: {each['what']}" for each in problems)
    detail = f"{text}. Nothing was done; /docs describes every body."
    return problem("shape", detail=detail, errors=problems)


def option_in(error: Exception) -> str | None:
    """Return the option, or the policy's argument, that an error of a new campaign is about. It is
    one of ours, or one that can be a field's name (see `where_and_what`).
    """
    found = re.match(r"Expected (no )?(\w+)(?:=| <)", str(error))
    if found is None:
        return None
    is_field = found[1] is not None and FIELD.fullmatch(found[2]) is not None
    return found[2] if is_field or found[2] in known_options() else None


@cache
def known_options() -> frozenset[str]:
    policies = (options_of(each) for each in EVERY_POLICY.values())
    own = (each.model_fields for each in (NewCampaign, RangeModel, GuardrailModel))
    return frozenset[str]().union(*own, *policies)


def wrong(where: str) -> dict[str, str]:
    return {"where": where, "what": "Not a possible value"}


def where_and_what(error: Any) -> dict[str, str]:
    """Say where a body is of another shape, and what was expected there. A field that is not known
    is named if it can be a field's name: else it may be anything that came. Of what is no JSON the
    place is not said: it depends on the rewards before it.
    """
    kind, place = str(error["type"]), list(error["loc"])
    is_named = FIELD.fullmatch(str(place[-1])) is not None
    if kind in ("extra_forbidden", "json_invalid") and not is_named:
        del place[-1]
    what = {
        "extra_forbidden": "A field is not known here",
        "value_error": "Not a possible value",
        "json_invalid": "Not JSON",
        "list_type": "Not a list",
        "dict_type": "Not an object with named fields",
        "model_attributes_type": "Not an object with named fields",
    }.get(kind, str(error["msg"]))
    return {"where": ".".join(map(str, place[1:] or ["body"])), "what": what}


# Limits


@final
class Limits:
    """Around an application: refuses large bodies; and, where no key is asked for, other names than
    this machine's and changes that a page of another site asks for.
    """

    def __init__(self, app: Any, hosts: frozenset[str] | None) -> None:
        self._app, self._hosts = app, hosts
        self._few = Semaphore(MOST_LARGE)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refused, headers = refused_before(request, self._hosts), request.headers
        if refused is not None:
            await refused(scope, receive, sent)
        elif "transfer-encoding" in headers or int(headers.get("content-length", 0)) > LARGE_BODY:
            come = await whole(receive)  # first: one that comes slowly keeps no other waiting
            async with self._few:
                await self._app(scope, come, sent)
        else:
            await self._app(scope, receive, sent)


async def whole(receive: Any) -> Any:
    """Wait for all of a body; returns what gives it to an application."""
    come = deque([await receive()])
    while come[-1].get("more_body"):
        come.append(await receive())

    async def again() -> Any:
        return come.popleft() if come else await receive()

    return again


def refused_before(request: Request, hosts: frozenset[str] | None) -> Response | None:
    """The refusal of a request whose body was not read yet; None: there is none."""
    headers = request.headers
    if hosts is not None:
        host = headers.get("host", "")
        if host.rsplit(":", 1)[0].strip("[]") not in hosts:
            return refusal_of(421, "This server is called by its own name only.")
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        foreign = origin is not None and origin.partition("://")[2] != host
        if site is not None:
            foreign = site not in ("same-origin", "none")
        if foreign and request.method not in ("GET", "HEAD", "OPTIONS"):
            return refusal_of(403, "A page of another site asked for this. Nothing was done.")
    size = len(request.scope["path"]) + len(request.scope["query_string"])
    size += sum(len(name) + len(value) + 4 for name, value in headers.raw)
    if len(headers.raw) > MOST_HEADERS or size > LARGEST_HEAD:
        return refusal_of(431, HEAD_REFUSED)
    length = headers.get("content-length", "0")
    if re.fullmatch("[0-9]{1,9}", length) is None or int(length) > LARGEST_BODY:
        return refusal_of(413, f"Expected a body of at most {LARGEST_BODY:,} bytes.")
    has_body = length != "0" or "transfer-encoding" in headers
    connection = headers.get("connection", "").lower()
    if has_body and "upgrade" in headers and "upgrade" in connection:  # the parser drops the body
        return refusal_of(
            400,
            "Expected HTTP/1.1 without an Upgrade header, as of a client that tries HTTP/2 first. "
            "Nothing was done.",
        )
    if has_body and not headers.get("content-type", "").startswith("application/json"):
        return refusal_of(415, "Expected a body of type application/json.")
    return None


def refusal_of(status: int, detail: str, code: str = "refused_request") -> JSONResponse:
    body = Problem(title="Refused", status=status, code=code, detail=detail)
    return JSONResponse(body.model_dump(), status, media_type=MEDIA)
