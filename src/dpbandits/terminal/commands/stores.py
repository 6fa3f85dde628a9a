"""A store on the command line: where it is, and what is opened there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpbandits.core.errors import Error

if TYPE_CHECKING:
    from dpbandits.service.store import CampaignStore

StoreOption = Annotated[
    str,
    typer.Option(
        help="The store: sqlite:///trial.db, postgresql+psycopg://…, or http://host:port, whose "
        "key DPBANDITS_TOKEN says."
    ),
]
DatabaseOption = Annotated[
    str,
    typer.Option("--store", help="The database: sqlite:///trial.db or postgresql+psycopg://…."),
]
WitnessOption = Annotated[
    Path | None, typer.Option(help="The witness, outside the database's own backup.")
]


def without_password(address: str) -> str:
    """An address for a terminal, and whoever keeps what a terminal shows.

    >>> without_password("postgresql+psycopg://me:hush@host/trials")
    'postgresql+psycopg://me:***@host/trials'
    >>> without_password("postgresql+psycopg:///trials?user=me&password=hush&host=h")
    'postgresql+psycopg:///trials?user=me&password=***&host=h'
    """
    said = re.sub(r"(?<=://)([^:/@]*):[^@]*@", r"\1:***@", address)
    return re.sub(r"(?<=[?&]password=)[^&]*", "***", said)


def opened_store(store: str, witness: Path | None, *, makes: bool = False) -> CampaignStore:
    """A store by its address. makes: a database that is not there is made; else a slip of the pen
    would be answered by an empty store.

    Raises:
        ValueError: it cannot be opened.
    """
    from dpbandits.service.opening import open_store

    file = Path(store.removeprefix("sqlite:///").partition("?")[0])
    if not makes and store.startswith("sqlite:///") and file.name and not file.exists():
        raise ValueError(
            f"There is no database {file}. `dpbandits campaign create`, `dpbandits keys create` "
            "and `dpbandits serve` make one."
        )
    try:
        return open_store(store, witness=witness)
    except (Error, ImportError) as error:
        raise ValueError(str(error)) from None


def opened_database(store: str, witness: Path | None, *, makes: bool = False) -> CampaignStore:
    """A store that is a database: what is done here has no verb over HTTP.

    Raises:
        ValueError: it is a server's address, or cannot be opened.
    """
    if store.startswith(("http://", "https://")):
        raise ValueError(
            "Expected the database itself, such as sqlite:///trial.db, got the server "
            f"{without_password(store)}: this is done beside it."
        )
    return opened_store(store, witness, makes=makes)
