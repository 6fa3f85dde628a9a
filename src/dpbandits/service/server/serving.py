"""A server at work: one process on SQLite, several on PostgreSQL."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from pydantic_settings import BaseSettings, SettingsConfigDict

from dpbandits.core.errors import StoreError, WitnessError
from dpbandits.policies.recommended import recommend
from dpbandits.service.opening import open_store
from dpbandits.service.server.app import LOCAL, Access, make_app
from dpbandits.service.server.connections import ConnectionLimits, LimitedProtocol, backlog_for
from dpbandits.service.store import CampaignStore

OFTEN = 2.0
"""Seconds between two looks for what is due without a call."""


PATIENCE = 60
"""Seconds without a sign of a worker after which it is replaced. Until it has imported everything
it gives none, which takes long where many start at once.
"""


class ServerSettings(BaseSettings):
    """What a worker of a server is told by its environment: DPBANDITS_STORE and so on."""

    model_config = SettingsConfigDict(env_prefix="DPBANDITS_")
    store: str
    witness: str | None = None
    host: str = "127.0.0.1"
    demo: bool = False
    looking: bool = False

    def opened(self) -> CampaignStore:
        """The store that is served."""
        return open_store(self.store, witness=self.witness, looking=self.looking)

    def keep(self) -> None:
        """Tell the workers that are started from this process."""
        for name, value in self.model_dump().items():
            os.environ.pop(f"DPBANDITS_{name.upper()}", None)
            if value is not None:
                os.environ[f"DPBANDITS_{name.upper()}"] = str(value)


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

    Args:
        workers: processes behind one address; more than one on PostgreSQL only.
        demo: with a campaign whose visitors are made up.
        looking: only the views and the page, of a database that another process serves (see
            `open_store`).
        limits: of each process.
        ready: is called when nothing stands in the way any more.

    Raises:
        ValueError: the port is taken; a store without keys is served to this machine only;
            SQLite by one process; so many connections need more open files than there may be.
        StoreError: the store cannot be opened.
        WitnessError: the witness knows no campaign, or, looking, not all of them.
    """
    if demo and looking:
        raise ValueError("Expected --demo or --looking: made-up visitors ask and tell.")
    place = None if witness is None else str(witness)
    settings = ServerSettings(store=url, witness=place, host=host, demo=demo, looking=looking)
    with settings.opened() as store:
        store.require_own_witness()
        if place is None and store.witness.path is not None:
            settings.witness = str(store.witness.path)  # beside it, which is warned of once
        if looking:
            for name in store:
                with suppress(StoreError, ValueError):  # such as restored: whoever looks is told
                    store[name].summary()
        if not has_keys(store) and host not in LOCAL:
            raise ValueError(
                f"Expected keys before the store is served to {host}: without any, everybody may "
                "do everything. Make one with `dpbandits keys create`, or serve to 127.0.0.1."
            )
    if workers > 1 and url.startswith(("sqlite", "memory")):
        raise ValueError(
            "Expected one worker: SQLite is served by one process. Use PostgreSQL for several."
        )
    require_port(host, port)
    limits = limits or ConnectionLimits()
    backlog = backlog_for(limits.most)
    if ready is not None:
        ready()
    settings.keep()
    uvicorn.run(
        "dpbandits.service.server.serving:app_from_environment",
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
        timeout_worker_healthcheck=PATIENCE,
    )


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
    settings = ServerSettings()  # type: ignore[call-arg]  # from the environment
    warnings.showwarning = log_warning
    threading.Thread(target=end_with_parent, daemon=True).start()
    store = settings.opened()
    if settings.demo:
        simulate_visitors(store)
    if not settings.looking:
        Access(store, open=False).revoke_again()
    threading.Thread(target=poll_views, args=(store,), daemon=True).start()
    return make_app(store, open=settings.host in LOCAL and not has_keys(store))


def end_with_parent() -> None:
    """Stop this worker once the process that started it is gone, killed say: it would go on, and
    keep the port from the next server.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def log_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Log a warning, without a line of our code."""
    logging.getLogger("dpbandits").warning("%s", message)


def has_keys(store: CampaignStore) -> bool:
    """Whether anybody was ever given a key, though it may be revoked, or lost with a copy."""
    return store.database.has_keys() or bool(store.witness.keys())


def poll_views(store: CampaignStore) -> None:
    """Keep house, though nobody calls."""
    pause, warned = threading.Event(), dict[str, str]()
    while not pause.wait(OFTEN):
        with suppress(StoreError, WitnessError):  # whoever calls next is told
            run_maintenance(store, warned)


def run_maintenance(store: CampaignStore, warned: dict[str, str]) -> None:
    """Record answers whose time has passed, end periods, and keep nothing that was written over.
    What is wrong with one campaign keeps no other one waiting: whoever calls that next is told. In
    a copy that was put back meanwhile, keys that were revoked since are revoked again.

    Args:
        warned: by campaign, what the log says already: for as long as it lasts, once is enough.
    """
    store.forget_missing()
    if store.is_looking:
        return
    for name in store:
        try:
            if {"attribution_window", "period"} & store[name].options.keys():
                store[name].settle()
            warned.pop(name, None)
        except Exception as error:  # a user-defined policy, or a noise source
            kind = type(error).__name__
            if warned.get(name) != kind:
                warned[name] = kind
                logging.getLogger("dpbandits").warning(
                    "Campaign %s could not be settled: %s.", name, kind
                )
    store.database.forget()
    Access(store, open=False).revoke_again()


# Visitors that are made up

DEMO = "headlines"
RATES = {"question": 0.11, "number": 0.16, "plain": 0.08}
VISITORS, PAUSE = 40, 0.5
"""Visitors at a time, and seconds between two such times."""


def simulate_visitors(store: CampaignStore) -> None:
    """Make the campaign, if there is none, and begin to visit it."""
    if DEMO not in store:
        policy = recommend(arms=list(RATES), epsilon=1)
        store.create(DEMO, policy, min_share=0.05)
    threading.Thread(target=visit, args=(store,), daemon=True).start()


def visit(store: CampaignStore) -> None:
    """Ask and tell, for as long as the server lives. Some visitors answer late, some never."""
    rng, pause, waiting = np.random.default_rng(), threading.Event(), list[tuple[str, float]]()
    while not pause.wait(PAUSE):
        with suppress(StoreError):
            for decision in store[DEMO].ask(VISITORS):
                reward = float(rng.random() < RATES[str(decision.label)])
                if rng.random() < 0.9:
                    waiting.append((decision.id, reward))
                else:
                    store[DEMO].expire(decision)
            due, waiting = waiting[:-VISITORS], waiting[-VISITORS:]
            store[DEMO].tell_many(due)
