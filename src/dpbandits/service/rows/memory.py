"""The store in memory: for tests, and for trying things out. It forgets when its process ends."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from threading import RLock
from typing import final

from dpbandits.core.calls.gate import Home
from dpbandits.core.errors import NameTakenError
from dpbandits.core.inputs import shown
from dpbandits.service.rows.backend import Backend, CampaignRows, Joining, Part
from dpbandits.service.rows.memory_rows import MemoryRows, Tables
from dpbandits.service.rows.records import (
    CampaignRow,
    KeyRow,
    ScopeRow,
)


@final
class MemoryBackend(Backend):
    """Campaigns in dictionaries, one transaction at a time."""

    durable = False
    failures = ()

    def __init__(self) -> None:
        self._lock, self._home = RLock(), Home()
        self._campaigns = dict[str, CampaignRow]()
        self._tables = dict[str, Tables]()
        self._groups = dict[str, dict[str, tuple[int, int]]]()
        self._scopes = dict[str, ScopeRow]()
        self._keys = dict[str, KeyRow]()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else is at the rows. A forked child has all of them, too, and would noise the same
        sums once more: it is refused, before it waits for a thread that is not there.
        """
        self._home.require("store in memory", "keep it in a file: open_store('sqlite:///trial.db')")
        with self._lock:
            yield

    def create(
        self, row: CampaignRow, parts: Sequence[Part], joining: Joining | None = None
    ) -> None:
        with self._alone():
            if row.name in self._campaigns:
                raise taken_name()
            if joining is not None:
                name, join = joining
                if name not in self._scopes:
                    raise no_scope(name)
                self._scopes[name] = join(self._scopes[name])
            group = self._groups.setdefault(row.group, {})
            for part, change in parts:
                rows = MemoryRows(Tables(change.head, b"", group))
                rows.write(change)
                rows.commit()
                self._tables[part.uid] = rows._tables
            made = {part.name: part for part, _ in parts}
            self._campaigns = {**self._campaigns, row.name: row, **made}

    def campaigns(self) -> list[CampaignRow]:
        return list(self._campaigns.values())

    def campaign(self, name: str) -> CampaignRow | None:
        return self._campaigns.get(name)

    def some_private(self) -> bytes | None:
        with self._alone():
            return next((self._rows(uid).private() for uid in self._tables), None)

    @contextmanager
    def transaction(self, uid: str) -> Iterator[CampaignRows]:
        with self._alone():
            rows = self._rows(uid)
            yield rows
            rows.commit()

    @contextmanager
    def reading(self, uid: str) -> Iterator[CampaignRows]:
        with self._alone():
            yield self._rows(uid)

    def _rows(self, uid: str) -> MemoryRows:
        tables = self._tables[uid]
        family = {other: each for other, each in self._tables.items() if each.group is tables.group}
        return MemoryRows(tables, family)

    def scope(self, name: str) -> ScopeRow | None:
        return self._scopes.get(name)

    def add_scope(self, scope: ScopeRow) -> None:
        with self._alone():
            self._scopes.setdefault(scope.name, scope)

    def access_keys(self) -> list[KeyRow]:
        return list(self._keys.values())

    def key(self, hash: str) -> KeyRow | None:
        return self._keys.get(hash)

    def add_key(self, key: KeyRow) -> None:
        with self._alone():
            if any(row.name == key.name for row in self._keys.values()):
                raise taken_key(key.name)
            self._keys[key.hash] = key

    def put_key(self, key: KeyRow) -> None:
        self._keys[key.hash] = key

    def forget(self) -> None:
        """Nothing is kept beside the rows."""

    def close(self) -> None:
        """Nothing to let go of."""

    def copy(self) -> "MemoryBackend":
        """A backup, as a file would be copied."""
        other = MemoryBackend()
        with self._alone():
            for name in ("_campaigns", "_tables", "_groups", "_scopes", "_keys"):
                setattr(other, name, deepcopy(getattr(self, name)))
        for uid, tables in other._tables.items():
            row = next(each for each in other._campaigns.values() if each.uid == uid)
            tables.group = other._groups[row.group]
        return other


def taken_name() -> NameTakenError:
    return NameTakenError(
        "Expected a name that no campaign of this store has; this one is taken. Open it with "
        "store[name], or choose another name. Nothing was created."
    )


def taken_key(name: str) -> NameTakenError:
    return NameTakenError(
        f"Expected a name that no key of this store has or had, got {shown(name)}: calls are "
        "remembered by it. Choose another name, such as one with a number, and revoke the older "
        "key if it is to be replaced. No key was made."
    )


def no_scope(name: str) -> ValueError:
    return ValueError(
        f"There is no scope {shown(name)} in this store. Make it first: store.scope(name, "
        "epsilon=4). Nothing was created."
    )
