"""A server at work: one process on SQLite, several on PostgreSQL."""

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from dpbandits.core.errors import Error, StoreError
from dpbandits.service.http.app import LOCAL, make_app
from dpbandits.service.http.connections import (
    ConnectionLimits,
    LimitedProtocol,
    backlog_for,
)
from dpbandits.service.http.visitors import entertain
from dpbandits.service.opening import open_store
from dpbandits.service.store import CampaignStore

STORE, WITNESS = "DPBANDITS_STORE", "DPBANDITS_WITNESS"
DEMO, HOST, LOOKING = "DPBANDITS_DEMO", "DPBANDITS_HOST", "DPBANDITS_LOOKING"

OFTEN = 2.0
"""Seconds between two looks for what is due without a call."""


def serve(
    url: str,
    *,
    port: int,
    host: str = "127.0.0.1",
    witness: str | Path | None = None,
    workers: int = 1,
    demo: bool = False,
    looking: bool = False,
    limits: ConnectionLimits | None = None,
    ready: Callable[[], None] | None = None,
) -> None:
    """Serve a store until it is stopped.

    workers: processes behind one address; more than one on PostgreSQL only.
    demo: with a campaign whose visitors are made up.
    looking: only the looks and the pages, of a database that another process serves (see
        `open_store`).
    limits: of each process.
    ready: is called when nothing stands in the way any more.

    Raises:
        ValueError: the port is taken; a store without keys is served to this machine only;
            SQLite by one process; so many connections need more open files than there may be.
        StoreError: the store cannot be opened.
        WitnessError: looking, with a witness that does not know the campaigns.
    """
    if demo and looking:
        raise ValueError("Expected --demo or --looking: made-up visitors ask and tell.")
    with store_to_serve(url, witness, looking) as store:
        if looking:
            require_witness(store)
        if not has_keys(store) and host not in LOCAL:
            raise ValueError(
                f"Expected keys before the store is served to {host}: without any, everybody may "
                "do everything. Make one with `dpbandits keys create`, or serve to 127.0.0.1."
            )
    if workers > 1 and not looking and url.startswith(("sqlite", "memory")):
        raise ValueError(
            "Expected one worker: SQLite is served by one process. Use PostgreSQL for several."
        )
    require_port(host, port)
    limits = limits or ConnectionLimits()
    backlog = backlog_for(limits.most)
    if ready is not None:
        ready()
    os.environ[STORE], os.environ[WITNESS] = url, "" if witness is None else str(witness)
    os.environ[DEMO], os.environ[HOST] = "yes" if demo else "", host
    os.environ[LOOKING] = "yes" if looking else ""
    uvicorn.run(
        "dpbandits.service.http.serving:app_from_environment",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        log_level="warning",
        access_log=False,
        # uvicorn calls it as a class; its own has neither limits nor time limits
        http=partial(LimitedProtocol, limits=limits),  # type: ignore[arg-type]
        ws="none",  # which would leave the limits
        backlog=backlog,
    )


def require_witness(store: Any) -> None:
    """
    Raises:
        WitnessError: the witness is that of another store, or of none.
    """
    for name in store:
        with suppress(StoreError, ValueError):  # such as put back: whoever looks is told
            store[name].summary()


def require_port(host: str, port: int) -> None:
    """
    Raises:
        ValueError: nobody can listen there.
    """
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        raise ValueError(
            f"Port {port} of {host} cannot be listened to ({error.strerror}). Choose another, "
            "as in --port 8081."
        ) from None


def app_from_environment() -> Any:
    """The application of one worker."""
    looking = bool(os.environ.get(LOOKING))
    store = store_to_serve(os.environ[STORE], os.environ.get(WITNESS) or None, looking)
    if os.environ.get(DEMO):
        entertain(store)
    if not looking:
        threading.Thread(target=look_often, args=(store,), daemon=True).start()
    local = os.environ.get(HOST, "") in LOCAL
    return make_app(store, open=local and not has_keys(store))


def store_to_serve(url: str, witness: str | Path | None, looking: bool) -> Any:
    """The store that is served."""
    if looking:
        return open_store(url, witness=witness, looking=True)
    return open_store(url, witness=witness)


def has_keys(store: CampaignStore) -> bool:
    """Whether anybody was ever given a key, though it may be revoked."""
    return bool(store.backend.access_keys())


def look_often(store: CampaignStore) -> None:
    """Keep house, though nobody calls."""
    pause = threading.Event()
    while not pause.wait(OFTEN):
        with suppress(StoreError):  # whoever calls next is told
            keep_house(store)


def keep_house(store: CampaignStore) -> None:
    """Record answers whose time has passed, and keep nothing that was written over."""
    settle_all(store)
    store.backend.forget()


def settle_all(store: CampaignStore) -> None:
    """Record answers whose time has passed, in every campaign that waits for a time. What is wrong
    with one of them keeps no other one waiting: whoever calls that next is told.
    """
    for name in store:
        with suppress(Error, ValueError):  # such as a policy of somebody's own
            if store[name].attribution_window is not None:
                store[name].settle()
