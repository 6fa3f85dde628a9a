"""The witness: a small file that says how far each campaign has come. A database that is restored
from a copy is behind it, and is noticed.

A line is written, and is on disk, before anything that was computed from a release is shown to
anybody. So it is kept where no backup or snapshot of the database takes it along.
"""

import fcntl
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import FileIO
from pathlib import Path
from threading import RLock
from typing import NamedTuple, final
from weakref import ReferenceType, ref

from dpbandits.core.calls.gate import Home
from dpbandits.core.errors import WitnessError
from dpbandits.local.budget.file import sync_folder
from dpbandits.service.rows.records import ScopeKind
from dpbandits.session.people import EARLIEST

STARTS = b'{"campaign":"', b'{"scope":"'
"""What lines begin with."""


class Mark(NamedTuple):
    """How far a campaign has come: fences, releases, and a hash over those."""

    generation: int
    step: int
    chain: str


class ScopeMark(NamedTuple):
    """What is spent of a budget over campaigns, as an exact fraction, and what its guarantees are
    about.
    """

    spent: str
    kind: ScopeKind


@final
class LockedFile(FileIO):
    """It is closed, and so its lock is gone, once nobody has it: no interrupted call, either."""

    __del__ = FileIO.close


@final
class WitnessFile:
    """What a file says, and what is added to it: one line at a time, compared and then written
    while no other process does.

    path: the file. None: nothing is witnessed, for a store that forgets anyway. make: whether it is
        made at once if there is none; else with its first line. looking: whether it is only read,
        and has to be there.

    Raises:
        WitnessError: it is only read, and is not there or cannot be.
    """

    def __init__(self, path: Path | None, *, make: bool = True, looking: bool = False) -> None:
        self.path, self._lock, self._read = path, RLock(), 0
        self._home, self._looking = Home(), looking
        self._file: ReferenceType[LockedFile] | None = None
        self._marks = dict[str, Mark]()
        self._known = set[tuple[str, Mark]]()
        self._scopes = dict[str, ScopeMark]()
        self._times = dict[str, float]()
        with self._open(make=make):
            pass

    def __repr__(self) -> str:
        return f"WitnessFile({str(self.path)!r})"

    @contextmanager
    def _open(self, *, make: bool = False) -> Iterator[int | None]:
        """The file, read up to its end, and nobody else's for now; None if there is none."""
        if not self._home.here:  # a thread of the parent may have held the lock
            self._lock, self._home = RLock(), Home()
        with self._lock:
            if self.path is None or not (make or self._looking or self._read or self.path.exists()):
                yield None
                return
            self._close()
            try:
                opened = self._opened(self.path)
                file = opened.fileno()
                fcntl.flock(file, fcntl.LOCK_SH if self._looking else fcntl.LOCK_EX)
                self._take_in(file)
                yield file
            finally:
                self._close()

    def _close(self) -> None:
        """An open file has its lock. One that an interrupted call left open would keep everybody
        out, its next try too. It goes with that call, and is known here for as long as it does not.
        """
        file = None if self._file is None else self._file()
        if file is not None:
            file.close()

    def _opened(self, path: Path) -> LockedFile:
        if not self._looking:
            new = not path.exists()
            path.parent.mkdir(parents=True, exist_ok=True)
            file = LockedFile(path, "a+", opener=partial(os.open, mode=0o600))
            self._file = ref(file)
            if new:
                sync_folder(path.parent)
            return file
        try:
            file = LockedFile(path)
        except OSError as error:
            raise WitnessError(
                f"The witness {path} cannot be read ({error.strerror}). Name the one of whoever "
                "serves the store, and let this process read it."
            ) from None
        self._file = ref(file)
        return file

    def _take_in(self, file: int) -> None:
        """Read what other processes wrote since. A line that was cut short never happened."""
        size = os.fstat(file).st_size
        if size < self._read:
            raise WitnessError(
                f"The witness {self.path} became shorter while it was in use. Nothing was done. "
                "Put the file back as it was."
            )
        text = os.pread(file, size - self._read, self._read)
        if self._looking:  # whoever serves waits for the copy only, not for us to go through it
            fcntl.flock(file, fcntl.LOCK_UN)
        whole = text[: text.rfind(b"\n") + 1]
        for line in whole.splitlines():
            self._learn(line)
        rest = text[len(whole) :]
        if not is_cut_short(rest):
            raise self._strange()
        self._read += len(whole)
        if rest and not self._looking:
            os.ftruncate(file, self._read)

    def _learn(self, line: bytes) -> None:
        try:
            said = json.loads(line)
            if "scope" in said:
                kind = ScopeKind(*map(said.get, ScopeKind._fields))
                self._scopes[str(said["scope"])] = ScopeMark(str(said["spent"]), kind)
                return
            uid = str(said["campaign"])
            mark = Mark(int(said["generation"]), int(said["step"]), str(said["chain"]))
            seen = max(self._times.get(uid, -math.inf), float(said.get("latest", -math.inf)))
            self._marks[uid], self._times[uid] = mark, seen
            self._known.add((uid, mark))
        except (ValueError, LookupError, TypeError, OverflowError):
            raise self._strange() from None

    def _strange(self) -> WitnessError:
        return WitnessError(
            f"Expected {self.path} to be a witness of dpbandits; it has a line that is none. "
            "Nothing was done."
        )

    def latest(self, uid: str) -> Mark | None:
        """How far this campaign was seen to have come."""
        with self._open():
            return self._marks.get(uid)

    def marks(self) -> dict[str, Mark]:
        """How far every campaign was seen to have come."""
        with self._open():
            return dict(self._marks)

    def knows(self, uid: str, mark: Mark) -> bool:
        """Whether a campaign was ever seen at this mark."""
        with self._open():
            return self.path is None or (uid, mark) in self._known

    def latest_time(self, uid: str) -> float:
        """The latest time, in seconds, that a campaign of people who come back was seen at; −∞
        where none was said.
        """
        with self._open():
            return self._times.get(uid, -math.inf)

    def scope(self, name: str) -> ScopeMark | None:
        """How a budget over campaigns was seen to stand."""
        with self._open():
            return self._scopes.get(name)

    def add(self, uid: str, mark: Mark, after: Mark | None, at: float = -math.inf) -> None:
        """Witness that a campaign came from one mark to the next. Made again, it changes nothing.

        at: the latest time that it has seen, where its people come back.

        Raises:
            WitnessError: it was seen elsewhere: two copies of one campaign are at work.
        """
        with self._open(make=True) as file:
            seen = self._marks.get(uid)
            if (uid, mark) in self._known:
                return  # another process was here, and may have come further since
            if seen != after:
                raise WitnessError(
                    "This campaign was seen elsewhere, at another release: two copies of one "
                    "database are at work. What this call computed is not shown. Stop one of them."
                )
            time = {"latest": at} if at > EARLIEST else {}
            self._write(file, {"campaign": uid, **mark._asdict(), **time})

    def add_scope(self, name: str, mark: ScopeMark) -> None:
        """Witness how a budget over campaigns stands."""
        with self._open(make=True) as file:
            self._write(file, {"scope": name, "spent": mark.spent, **mark.kind._asdict()})

    def _write(self, file: int | None, said: dict[str, object]) -> None:
        line = json.dumps(said, separators=(",", ":")).encode() + b"\n"
        if file is not None:
            try:
                whole = os.write(file, line) == len(line)
                os.fsync(file)
            except OSError:
                whole = False
            if not whole:
                os.ftruncate(file, self._read)
                raise WitnessError(
                    f"The witness {self.path} could not be written: is the disk full? What this "
                    "call computed is not shown. Make room, and make the call again."
                )
            self._read += len(line)
        self._learn(line)


def is_cut_short(rest: bytes) -> bool:
    """Whether the end of a file may be a line of ours that a crash cut short, which is taken away.
    Of another file, which was named by mistake, nothing is.
    """
    begun = rest.rstrip(b"\0")  # which were never written
    return any(begun[: len(start)] == start[: len(begun)] for start in STARTS)
