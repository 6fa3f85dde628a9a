"""A store that can be put back to an earlier copy of itself, and campaigns at some point of it."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import dpbandits as dpb
from dpbandits.service.database import Database
from dpbandits.service.opening import open_store
from dpbandits.service.refusals import code_of
from dpbandits.service.store import CampaignStore
from dpbandits.service.transaction import ONLY_PART
from dpbandits.service.views import SENT
from dpbandits.service.witness import Witness

KEY = bytes(range(32))
OPENED = list[Any]()
"""What was opened for a test, and is closed when it ends."""


class Lite:
    """A store in a file, whose witness lies elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.file, self.witness = folder / "trial.db", folder / "elsewhere" / "trial.witness"
        self.witness.parent.mkdir(exist_ok=True)

    def open(self, **options: Any) -> Any:
        given = {"key": KEY, "witness": self.witness, **options}
        store = open_store(f"sqlite:///{self.file}", **given)
        OPENED.append(store)
        return store

    def run(self, sql: str, *given: Any) -> list[Any]:
        """The rows of a statement that anybody may make who has the file."""
        with closing(sqlite3.connect(self.file, isolation_level=None)) as database:
            return database.execute(sql, given).fetchall()

    def copy(self, to: str = "copy.db") -> Path:
        return copy_file(self.file, self.file.with_name(to))

    def put_back(self, copy: Path) -> None:
        """Nobody has the store open."""
        for end in ("-wal", "-shm"):
            self.file.with_name(self.file.name + end).unlink(missing_ok=True)
        shutil.copyfile(copy, self.file)


class Kept:
    """A campaign in a file, opened anew at will, on a clock of its own."""

    def __init__(self, folder: Path, policy: Any, options: dict[str, Any], noise: Any) -> None:
        folder.mkdir(exist_ok=True)
        self.file, self.witness = folder / "trial.db", folder / "trial.witness"
        self.folder, self.policy, self.options, self.noise = folder, policy, options, noise
        self.now, self.people = 1e6, 0
        self.store: Any = None

    def opened(self) -> Any:
        self.close()
        how: dict[str, Any] = {"noise": self.noise, "clock": lambda: self.now}
        self.store = open_store(f"sqlite:///{self.file}", key=KEY, witness=self.witness, **how)
        return self.store

    def close(self) -> None:
        if self.store is not None:
            self.store.close()

    def known(self, user: str) -> dict[str, Any]:
        """What an ask for one visitor says."""
        context = {"context": [0.5, -0.25][: self.policy.features]} if self.has_contexts else {}
        return context | ({"user": user} if "privacy_unit" in self.options else {})

    @property
    def has_contexts(self) -> bool:
        return hasattr(self.policy, "features")

    def ask(self, campaign: Any, count: int = 1, **how: Any) -> list[Any]:
        """Decisions for people who were not asked for yet."""
        self.people += count
        users = [f"person {each}" for each in range(self.people - count, self.people)]
        if "privacy_unit" in self.options:
            return [campaign.ask(**self.known(user), **how) for user in users]
        known = {name: [of] * count for name, of in self.known("").items()}
        return list(campaign.ask(count, **known, **how))


def copy_file(source: Path, to: Path) -> Path:
    """A backup of a file of SQLite that is in use."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(to)) as other:
        one.backup(other)
    return to


def copied(database: Database) -> Database:
    copy = Database("memory:")
    source, target = database.engine.raw_connection(), copy.engine.raw_connection()
    source.driver_connection.backup(target.driver_connection)  # type: ignore[union-attr]
    OPENED.append(copy)
    return copy


def store_of(database: Database, witness: Path, **options: Any) -> Any:
    """A store of these tables with a witness of its own."""
    store = CampaignStore(database, Witness(witness), **{"key": KEY, **options})
    OPENED.append(store)
    return store


def two_stores(noise: Any, clock: Any) -> list[CampaignStore]:
    """Two processes on one database in memory."""
    database, witness = Database("memory:"), Witness(None)
    how: dict[str, Any] = {"key": KEY, "noise": noise, "clock": clock}
    return [CampaignStore(database, witness, **how) for _ in range(2)]


def inside(campaign: Any, look: Callable[[Any, Any], Any], part: str | None = None) -> Any:
    """What a look at a loaded part and its rows says."""
    name = part or campaign._segment or ONLY_PART
    return campaign._calls.host.look(lambda tx: look(tx.part(name), tx.rows))


def create(store: Any, policy: Any = None, name: str = "c", **options: Any) -> Any:
    policy = policy or dpb.DPKLUCB(arms=3, epsilon=1, first=4)
    return store.create(name, policy, noise=dpb.SimulatedNoise(1), seed=2, **options)


def turns(campaign: Any, rounds: int, **options: Any) -> list[Any]:
    """So many decisions, each told soon."""
    asked = list[Any]()
    for at in range(0, rounds, 8):
        some = campaign.ask(min(8, rounds - at), **options)
        assert {*campaign.tell_many([(d, 1) for d in some])} == {"recorded"}
        asked += some
    return asked


LOOKS = SENT.keys() - {"expected_loss"}
"""All views without the one that simulates."""


def everything(campaign: Any) -> dict[Any, Any]:
    """All that a campaign and each of its parts show: by view its type, its value and how it
    prints; or the code of its refusal.
    """

    def look(part: Any, name: str) -> Any:
        try:
            found = part._view(name, **({"people": 20} if name == "shares" else {}))
        except (ValueError, TypeError, RuntimeError) as error:
            return code_of(error)
        if name == "guarantee":  # which is sent as words
            return str(found)
        if name == "predictions":  # which are arrays
            return type(found), str(vars(found))
        return type(found), found, repr(found), str(found)

    parts = [campaign, *(campaign[name] for name in campaign.segments)]
    return {(part.name, name): look(part, name) for part in parts for name in LOOKS}


def lost_lines(campaign: Any) -> list[Any]:
    return [line for line in campaign.ledger if line.kind == "lost"]


def readings(campaign: Any) -> int:
    ledger = campaign.ledger
    parts = ledger.values() if isinstance(ledger, dict) else [ledger]
    return sum(line.kind == "read" for part in parts for line in part)


def stored(store: Any) -> list[str]:
    raw = store.database.engine.raw_connection()
    return list(raw.driver_connection.iterdump())
