"""Who plays which cell, where several processes, perhaps of several machines, share one folder.

A claim is a file that names its owner. An owner holds a lock on a file of its own for as long as it
lives; the lock goes with its process, whatever ends it, so a dead owner's claims are free at once
and no clock has to say so.
"""

import os
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from types import TracebackType
from typing import IO, Any, Self

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PATIENCE = 0.2
"""Seconds between two looks at what others have claimed."""


class Claims:
    """This process's claims on cells of one folder. Use it in a `with`: at its end all are given
    back.

    Where the file system knows no locks, every cell may be had: work may then be done twice, and
    nothing worse, for the numbers are the same and a cell is stored whole.
    """

    def __init__(self, out: Path) -> None:
        self.folder = out / "cells" / "claims"
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}.owner"
        self.mine: set[str] = set()
        self.own: IO[Any] | None = None

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        own = open(self.folder / self.name, "xb")
        try:
            lock(own, wait=True)
            self.own = own
        except OSError:
            own.close()
            self.owner_file(self.name).unlink(missing_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for key in list(self.mine):
            self.give_back(key)
        if self.own is not None:
            self.own.close()
            self.owner_file(self.name).unlink(missing_ok=True)

    def take(self, key: str) -> bool:
        """Whether the cell is this process's to play from now on."""
        if self.own is None:
            return True
        with self.alone():
            path = self.folder / f"{key}.claim"
            owner = path.read_text(encoding="utf-8") if path.exists() else None
            if owner is not None and self.lives(owner):
                return owner == self.name
            path.write_text(self.name, encoding="utf-8")
        self.mine.add(key)
        return True

    def give_back(self, key: str) -> None:
        self.mine.discard(key)
        (self.folder / f"{key}.claim").unlink(missing_ok=True)

    def wait(self) -> None:
        """Let the others work."""
        sleep(PATIENCE)

    def owner_file(self, name: str) -> Path:
        return self.folder / (Path(name).name or "nobody")

    def lives(self, owner: str) -> bool:
        """Whether the owner's process still holds its lock. A dead one's file is taken away."""
        if owner == self.name:
            return True
        path = self.owner_file(owner)
        try:
            with open(path, "r+b") as file:
                lock(file, wait=False)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        with suppress(OSError):
            path.unlink()
        return False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else reads or writes a claim meanwhile: else two could take over one dead owner's
        claim.
        """
        with open(self.folder / "mutex", "ab") as file:
            lock(file, wait=True)
            yield


def lock(file: IO[Any], *, wait: bool) -> None:
    """Lock the file until it is closed.

    Raises:
        OSError: somebody else holds it (without `wait`), or the file system knows no locks.
    """
    if sys.platform == "win32":
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
