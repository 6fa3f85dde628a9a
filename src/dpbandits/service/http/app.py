"""The application: routes, keys, limits, and errors as problem documents."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import FastAPI

from dpbandits.service.http.access import Access
from dpbandits.service.http.dashboard import STATIC, dashboard
from dpbandits.service.http.limits import Limits
from dpbandits.service.http.problems import RESPONSES, install
from dpbandits.service.http.reads import reads
from dpbandits.service.http.verbs import verbs
from dpbandits.service.looks.store import ShownStore
from dpbandits.service.store import CampaignStore
from dpbandits.version import __version__

THREADS = 128
"""Requests that are worked on at a time; those of one campaign are done together."""

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})

SILENT: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""The framework's own telemetry, which would tell what a refused body held."""

CHANGES = ["POST", "PUT", "PATCH", "DELETE"]


def only_looks(verb: str) -> None:
    """What a server that only looks says to verbs."""
    raise RuntimeError(
        "Expected a look: this server only looks (`serve --looking`). Ask and tell where the "
        "campaigns are served. Nothing was done."
    )


def make_app(store: CampaignStore | ShownStore, *, open: bool = False) -> Any:
    """The application that serves a store; of one that is only looked at, the looks.

    open: no key is asked for; then it may be called as localhost only.
    """
    access = Access(store.backend, open=open)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> Any:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        yield
        app.state.threads.shutdown(wait=False)

    app = FastAPI(
        title="dpbandits",
        version=__version__,
        summary="Differentially private campaigns",
        lifespan=lifespan,
        openapi_url="/openapi.json",
        docs_url=None,  # ours needs no other server
        redoc_url=None,
        telemetry=SILENT,
    )
    app.state.threads = ThreadPoolExecutor(THREADS, "verb")
    app.state.plans = isinstance(store, CampaignStore)
    install(app)
    if isinstance(store, CampaignStore):
        app.include_router(verbs(store, access), responses=RESPONSES)
    else:
        app.add_api_route("/v1/{verb:path}", only_looks, methods=CHANGES, include_in_schema=False)
    app.include_router(reads(store, access), responses=RESPONSES)
    app.include_router(dashboard(store, access))
    app.mount("/static", STATIC)
    return Limits(app, LOCAL if open else None)
