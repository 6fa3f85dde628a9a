"""Opening a store by its address. Importing this needs no extra."""

import logging
import os
import time
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.core.inputs import checked_noise, shown
from dpbandits.noise.protocol import Noise
from dpbandits.session.options import require_clock
from dpbandits.session.times import Clock

if TYPE_CHECKING:
    from dpbandits.service.client import AsyncRemoteStore
    from dpbandits.service.store import CampaignStore

EXTRA = "pip install 'dpbandits[service]'"
FOR_CLIENTS = "httpx", "cryptography", "pydantic", "sqlalchemy"
MEMORY = ("memory:", "memory://")


def open_store(
    url: str,
    *,
    witness: str | Path | None = None,
    key: bytes | None = None,
    noise: Noise | None = None,
    clock: Clock = time.time,
    token: str | None = None,
    timeout: float | None = None,
    fallback: str | int | None = None,
    looking: bool = False,
) -> "CampaignStore":
    """Open a store of campaigns, or make one.

    Args:
        url: `sqlite:///trial.db` for a file, `postgresql+psycopg://user@host/database` for a
            server, `memory:` for a store that forgets; `http://host:port` for a server that
            `dpbandits serve` runs, of which this is then a client with the same verbs.
        witness: says how far campaigns have come, outside the database's own backup: a file on a
            local disk, or the address of another database server. By default a file beside the
            database, with a warning.
        key: at least 16 bytes; private rows are sealed with it, and people are known under it. By
            default what DPBANDITS_KEY says, in hexadecimal digits; without one, private rows lie in
            the database as they are.
        noise: for campaigns that are created or opened here; by default `SecureNoise()`.
        clock: returns the time, in seconds; by default this machine's.
        token: of a server, the bearer key; by default what DPBANDITS_TOKEN says.
        timeout: of a server, seconds in which it has to answer a call; by default 2. For every
            1,000 decisions of a call there is one more; creation, `summaries` and `expected_loss`
            have ten times as long.
        fallback: of a server, the name or the number of an arm. While the server is away `ask`
            returns decisions for this arm, which have no id; nobody learns from them, and `tell`
            sends nothing of them.
        looking: for a process that only looks, at a store on PostgreSQL. It writes nothing and
            reads no private row, so a role of the database without rights to either is enough.

    Raises:
        ValueError: no such address.
        StoreError: no such database, one that cannot be used, or one whose campaigns were made with
            another key.
        WitnessError: the witness has no folder, or cannot be opened.
        ImportError: the `service` extra is not installed.
    """
    if not isinstance(url, str) or ":" not in url:
        raise ValueError(f"Expected an address such as 'sqlite:///trial.db', got {shown(url)}.")
    if url.startswith("sqlite://") and not url.startswith("sqlite:///"):
        raise ValueError(
            "Expected an address such as 'sqlite:///trial.db', with three slashes, got "
            f"{shown(url)}; for a store that forgets, write 'memory:'."
        )
    require_clock(clock)
    if noise is not None:
        checked_noise(noise)
    given = any(each is not None for each in (key, noise, token))
    if looking and (given or not url.startswith("postgresql")):
        raise ValueError(
            "Expected looking=True with the address of a PostgreSQL server, and without key=, "
            "noise= and token=: private rows are not read. Over HTTP, a key with the role read "
            "only looks."
        )
    if url.startswith(("http://", "https://")):
        its_own = (key, noise, witness)
        if any(each is not None for each in its_own) or clock is not time.time:
            raise ValueError(
                "Expected no key=, noise=, witness= and clock= with the address of a server: they "
                "are its own, as `dpbandits serve` was started. An access key is token=."
            )
        require_extra(*FOR_CLIENTS)
        from dpbandits.service.client import RemoteStore

        options = client_options(token, timeout, fallback)
        return RemoteStore(url, **options)  # type: ignore[return-value]  # the same verbs
    if timeout is not None or fallback is not None or token is not None:
        raise ValueError(
            "Expected token=, timeout= and fallback= with the address of a server, http://… or "
            "https://…: a database has none of them."
        )
    require_extra("sqlalchemy", "alembic", "cryptography", "pydantic")
    from dpbandits.service.database import Database
    from dpbandits.service.store import CampaignStore
    from dpbandits.service.witness import Witness, require_folder

    require_folder(witness)  # before a database is made
    key = key_from_environment() if key is None and not looking else key
    with ExitStack() as given_up:
        database = Database(url, looking=looking)
        given_up.callback(database.close)
        if not database.is_durable and url not in MEMORY:
            raise ValueError(
                "Expected a file, such as 'sqlite:///trial.db'; for a store that forgets, write "
                "'memory:'."
            )
        place = witness
        if place is None and url not in MEMORY:
            place = beside(database)
        # no file is made beside campaigns that have their witness elsewhere
        makes = not looking and not database.campaigns()
        seen = Witness(place, make=makes, looking=looking, store=database)
        given_up.callback(seen.close)
        opened = CampaignStore(database, seen, key=key, noise=noise, clock=clock, looking=looking)
        given_up.pop_all()
        return opened


def open_async_store(
    url: str,
    *,
    token: str | None = None,
    timeout: float | None = None,
    fallback: str | int | None = None,
) -> "AsyncRemoteStore":
    """Open the store of a server for asyncio, with the verbs of `open_store` to be awaited.

    Args:
        url: `http://host:port` of a server that `dpbandits serve` runs.
        token, timeout, fallback: as for `open_store`.

    Raises:
        ValueError: no such address.
        ImportError: the `service` extra is not installed.

    Example:
        async with dpb.open_async_store("http://localhost:8080", fallback="blue") as store:
            trial = await store.campaign("trial")
            decision = await trial.ask()
            await trial.tell(decision, 1)
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ValueError(
            f"Expected the address of a server, such as 'http://localhost:8080', got {shown(url)}. "
            "A database is opened with open_store, and called from threads."
        )
    require_extra(*FOR_CLIENTS)
    from dpbandits.service.client import AsyncRemoteStore

    return AsyncRemoteStore(url, **client_options(token, timeout, fallback))


def client_options(token: str | None, timeout: float | None, fallback: Any) -> dict[str, Any]:
    """The options of a client; what is not said is left to it."""
    given = {"timeout": timeout, "fallback": fallback}
    return {
        "token": token or os.environ.get("DPBANDITS_TOKEN"),
        **{name: value for name, value in given.items() if value is not None},
    }


def beside(database: Any) -> Path:
    """Where the witness lies if nobody says where."""
    place = Path(f"{database.url.database}.witness")
    logging.getLogger("dpbandits").warning(
        "The witness is %s: a backup that takes database and witness together cannot be told from "
        "the newest state. Give witness= (--witness) a place outside of it.",
        place,
    )
    return place


def key_from_environment() -> bytes | None:
    """The key that DPBANDITS_KEY says.

    Raises:
        ValueError: it is empty, or not written in hexadecimal digits. It is not shown.
    """
    text = os.environ.get("DPBANDITS_KEY")
    if text is None:
        return None
    if not text:
        raise ValueError("Expected DPBANDITS_KEY to be a key, or not to be set; it is empty.")
    try:
        return bytes.fromhex(text)
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
