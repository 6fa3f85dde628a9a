"""Where a benchmark's store lies: SQLite in a new folder, a PostgreSQL server that is started for
it, or an address; and what the disk there can do.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.service.postgres import running
from benchmarks.table import Row
from dpbandits.service.opening import open_store

KEY = bytes(range(32))
DISK = Path("/var/tmp")
"""Temporary files that outlive a restart, so a disk, which PostgreSQL's user may enter."""


@dataclass(frozen=True)
class Place:
    """A store's address and its witness. folder: where its database lies, if that is known."""

    url: str
    witness: Path
    folder: Path | None = None

    @property
    def kind(self) -> str:
        """Which database it is."""
        return self.url.partition(":")[0].partition("+")[0]

    def open(self) -> Any:
        return open_store(self.url, key=KEY, witness=self.witness)

    def disk(self) -> Row:
        """What the disk of the store can do; of a store elsewhere, that of the witness."""
        whose = "witness" if self.folder is None else "store"
        said = f"{fsyncs(self.folder or self.witness.parent):,.0f}"
        return Row(f"lines a second that the {whose}'s disk takes for good", said, "", None)


def fsyncs(folder: Path, count: int = 200) -> float:
    """How often a second the disk of this folder takes a line for good."""
    place = folder / "fsync"
    with open(place, "ab", buffering=0) as file:
        began = time.perf_counter()
        for _ in range(count):
            file.write(b"x" * 100)
            os.fsync(file.fileno())
        passed = time.perf_counter() - began
    place.unlink()
    return count / passed


@contextmanager
def lite(name: str = "trial") -> Iterator[Place]:
    """A file of SQLite in a new folder below this one, where the disk is a disk."""
    with tempfile.TemporaryDirectory(prefix="tmp-", dir=Path.cwd()) as made:
        folder = Path(made)
        yield Place(f"sqlite:///{folder}/{name}.db", folder / f"{name}.witness", folder)


def add_place(parser: argparse.ArgumentParser) -> None:
    """Options that say where the store lies."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--postgresql", action="store_true", help="on a server that is started")
    which.add_argument("--url", help="of a store that is empty")


@contextmanager
def place_of(given: argparse.Namespace) -> Iterator[Place]:
    """Where the options say."""
    with lite() as place:
        if given.postgresql:
            with running(DISK) as server:
                yield Place(server.url(), place.witness, server.folder)
        elif given.url:
            yield Place(given.url, place.witness)
        else:
            yield place


def repeated(given: argparse.Namespace) -> str:
    """The options of the place, for whoever runs the command again. No address is shown: it may
    hold a password.
    """
    said = " --postgresql" if given.postgresql else " --url …" if given.url else ""
    workers = getattr(given, "workers", 1)
    return said if workers == 1 else f"{said} --workers {workers}"
