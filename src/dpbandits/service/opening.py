"""Opening a store by its address."""

import logging
import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from dpbandits.core.calls.forgetting import discreet
from dpbandits.core.inputs import shown
from dpbandits.noise.protocol import Noise
from dpbandits.session.people import Clock

if TYPE_CHECKING:
    from dpbandits.service.looks.store import ShownStore
    from dpbandits.service.store import CampaignStore

EXTRA = "pip install 'dpbandits[service]'"


@overload
def open_store(
    url: str,
    *,
    witness: str | Path | None = None,
    key: bytes | None = None,
    noise: Noise | None = None,
    clock: Clock = time.time,
    token: str | None = None,
    looking: Literal[False] = False,
) -> "CampaignStore": ...
@overload
def open_store(
    url: str,
    *,
    witness: str | Path | None = None,
    clock: Clock = time.time,
    looking: Literal[True],
) -> "ShownStore": ...
@discreet
def open_store(
    url: str,
    *,
    witness: str | Path | None = None,
    key: bytes | None = None,
    noise: Noise | None = None,
    clock: Clock = time.time,
    token: str | None = None,
    looking: bool = False,
) -> "CampaignStore | ShownStore":
    """Open a store of campaigns, or make one.

    Args:
        url: `sqlite:///trial.db` for a file, `postgresql+psycopg://user@host/database` for a
            server, `memory:` for a store that forgets; `http://host:port` for a server that
            `dpbandits serve` runs, of which this is then a client with the same verbs.
        witness: the file that says how far campaigns have come, outside the database's own backup.
            By default beside the database, with a warning.
        key: at least 16 bytes; private rows are sealed with it, and people are known under it. By
            default what DPBANDITS_KEY says, in hexadecimal digits; without one, private rows lie in
            the database as they are.
        noise: for campaigns that are created or opened here; by default `SecureNoise()`.
        clock: says the time, in seconds; by default this machine's.
        token: of a server, the bearer key; by default what DPBANDITS_TOKEN says.
        looking: for a process that only looks. It writes nothing and reads no private row, so it
            needs no key, and a role of the database without rights to either is enough.

    Raises:
        ValueError: no such address.
        StoreError: no such database, one that cannot be used, or one whose campaigns were made with
            another key.
        ImportError: the `service` extra is not installed.
    """
    if not isinstance(url, str) or ":" not in url:
        raise ValueError(f"Expected an address such as 'sqlite:///trial.db', got {shown(url)}.")
    if url.startswith("sqlite://") and not url.startswith("sqlite:///") and url != "sqlite://":
        raise ValueError(
            "Expected an address such as 'sqlite:///trial.db', with three slashes, got "
            f"{shown(url)}."
        )
    if looking:
        return store_to_look_at(url, witness, clock, key, noise, token)
    if url.startswith(("http://", "https://")):
        return remote_store(url, token)  # type: ignore[no-any-return]  # the same verbs
    require_extra("sqlalchemy", "alembic", "cryptography")
    from dpbandits.service.rows.memory import MemoryBackend
    from dpbandits.service.store import CampaignStore
    from dpbandits.service.witness import WitnessFile

    key = key_from_environment() if key is None else key
    if url in ("memory:", "memory://"):
        return CampaignStore(MemoryBackend(), WitnessFile(None), key=key, noise=noise, clock=clock)
    from dpbandits.service.rows.sql import SqlBackend

    backend = SqlBackend(url)
    try:
        place = Path(witness) if witness is not None else beside(url)
        # no file is made beside campaigns that have their witness elsewhere
        seen = WitnessFile(place, make=place.exists() or not backend.campaigns())
        return CampaignStore(backend, seen, key=key, noise=noise, clock=clock)
    except BaseException:
        backend.close()
        raise


def store_to_look_at(
    url: str, witness: str | Path | None, clock: Clock, *forbidden: object
) -> "ShownStore":
    """A database's campaigns, for those who only look.

    Raises:
        ValueError: it is no database, or a key, noise or token is given.
    """
    if not url.startswith(("sqlite", "postgresql")) or any(each is not None for each in forbidden):
        raise ValueError(
            "Expected looking=True with the address of a database, and without key=, noise= and "
            "token=: private rows are not read. Over HTTP, a key with the role read only looks."
        )
    require_extra("sqlalchemy", "alembic", "cryptography")
    from dpbandits.service.looks.store import ShownStore
    from dpbandits.service.rows.sql import SqlBackend
    from dpbandits.service.witness import WitnessFile

    backend = SqlBackend(url, looking=True)
    try:
        place = Path(witness) if witness is not None else beside(url)
        return ShownStore(backend, WitnessFile(place, looking=True), clock)
    except BaseException:
        backend.close()
        raise


def remote_store(url: str, token: str | None) -> Any:
    """A store behind HTTP."""
    require_extra("httpx", "cryptography")
    from dpbandits.service.remote import RemoteStore

    return RemoteStore(url, token=token or os.environ.get("DPBANDITS_TOKEN"))


def beside(url: str) -> Path:
    """Where the witness lies if nobody says where."""
    from sqlalchemy.engine import make_url

    said = make_url(url)
    if said.get_backend_name() == "sqlite" and said.database in (None, "", ":memory:"):
        raise ValueError(
            "Expected a file, such as 'sqlite:///trial.db'; for a store that forgets, write "
            "'memory:'."
        )
    place = Path(f"{said.database}.witness")
    logging.getLogger("dpbandits").warning(
        "The witness is %s: a backup that takes database and witness together cannot be told from "
        "the newest state. Give witness= (--witness) a place outside of it.",
        place,
    )
    return place


def key_from_environment() -> bytes | None:
    """The key that DPBANDITS_KEY says.

    Raises:
        ValueError: it is not written in hexadecimal digits. It is not shown.
    """
    said = os.environ.get("DPBANDITS_KEY")
    if not said:
        return None
    try:
        return bytes.fromhex(said)
    except ValueError:
        raise ValueError(
            "Expected DPBANDITS_KEY to be hexadecimal digits, as secrets.token_hex(32) makes them."
        ) from None


def require_extra(*modules: str) -> None:
    """
    Raises:
        ImportError: one of these is not installed.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ImportError(f"Campaign stores need {', '.join(missing)}: {EXTRA}.")
