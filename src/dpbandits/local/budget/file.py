"""A budget in a file, which outlives the process: for all processes and campaigns of one user's
device.
"""

import json
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple, final

from dpbandits.core.errors import BudgetError
from dpbandits.core.inputs import once
from dpbandits.core.privacy import Real, as_fraction
from dpbandits.local.budget.alone import Alone
from dpbandits.local.budget.base import spent_after

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

BY_PATH: dict[str, Alone] = {}
"""The place of each file. A thread with two places for one file would wait for its own lock for
ever.
"""


class BudgetRecord(NamedTuple):
    """What a budget's file says."""

    spent: Fraction
    answers: dict[str, str]


EMPTY = BudgetRecord(Fraction(0), {})


@final
class FileBudget:
    """A budget in a file, for all processes and campaigns of one user's device. Without the file,
    or with an old one, it starts over.

    Every change is a new file (written, synced, renamed) under a lock that is a second file beside
    it, `path` + ".lock". A change during which somebody deletes that second file is an error, and
    what it took stays spent.

    Args:
        path: the file; made if there is none, for its user's eyes only. It holds reports and the
            names of data, never a reward. A symbolic link stands for the file it leads to. A
            relative path is one of the folder that is current now.
        total: the most that all reports together may cost, those of earlier processes included.

    Raises:
        BudgetError: there is a file, and it is no budget, or it has a second name (a hard link), or
        `path` is a link to no file; or its folder does not exist.
    """

    def __init__(self, path: str | os.PathLike[str], *, total: Real) -> None:
        self.path, self.total = Path(os.path.realpath(path)), as_fraction(total, "total")
        self._lock = self.path.with_name(self.path.name + ".lock")
        self._alone = BY_PATH.setdefault(str(self.path), Alone())
        if os.path.islink(path) and not self.path.exists():
            raise BudgetError(
                f"Expected the budget that {path} links to, got a dead link. No report was made. "
                "Restore the file, or remove the link."
            )
        if not self.path.parent.is_dir():
            raise BudgetError(
                f"Expected {self.path.parent} to be a folder, for the budget's file: make it "
                "first. No report was made."
            )
        self._change(lambda record: record, new=True)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in another process too, is the budget of the same file."""
        return partial(FileBudget, total=self.total), (self.path,)

    @property
    def spent(self) -> Fraction:
        return self._read().spent

    def spend(self, amount: Fraction) -> None:
        self._change(
            lambda record: BudgetRecord(
                spent_after(amount, record.spent, self.total), record.answers
            )
        )

    def recall(self, key: str) -> str | None:
        return self._read().answers.get(key)

    def keep(self, key: str, answer: str) -> str:
        return self._change(
            lambda record: (
                record
                if key in record.answers
                else BudgetRecord(record.spent, record.answers | {key: answer})
            )
        ).answers[key]

    def _read(self) -> BudgetRecord:
        record = None
        with suppress(OSError, ValueError, RecursionError):
            check_one_name(self.path)
            record = record_from_text(self.path.read_text(encoding="utf-8"))
        if record is None:
            raise BudgetError(
                f"Expected the budget that a FileBudget wrote to {self.path}, under this one "
                "name; it is missing or damaged, "
                "or has a second name (a link). No report was made."
            )
        return record

    def _write(self, record: BudgetRecord) -> None:
        here = os.getpid()
        # nobody else's, though the lock file were deleted
        new = self.path.with_name(f"{self.path.name}.{here}.new")
        with suppress(FileNotFoundError):  # of a crash, or put there by another user
            os.unlink(new)
        try:
            with open(
                os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
            ) as file:
                json.dump(
                    {"version": 1, "spent": str(record.spent), "answers": record.answers}, file
                )
                file.flush()
                os.fsync(file.fileno())
            self._check_lock()
            os.replace(new, self.path)
        finally:
            if os.getpid() == here:
                with suppress(FileNotFoundError):
                    os.unlink(new)
        sync_folder(self.path.parent)
        self._check_lock()

    def _change(
        self, change: Callable[[BudgetRecord], BudgetRecord], *, new: bool = False
    ) -> BudgetRecord:
        """Read the record, change it and write it; return it as it is now. Meanwhile every other
        thread and process waits; a process that dies lets go of the lock.

        No Python code of ours lets go of the lock: an interruption could come before it.
        """
        call = self._alone.enter()
        try:
            while True:
                with open(self._lock, "a+b", buffering=0, opener=private_opener) as file:
                    call.file = file
                    wait_for(file)
                    try:
                        if not is_at(file, self._lock):
                            # it was deleted while we waited, and others wait for another one by now
                            continue
                        fresh = new and not os.path.lexists(self.path)
                        old = EMPTY if fresh else self._read()
                        record = change(old)
                        if fresh or record is not old:
                            self._write(record)
                        return record
                    finally:
                        if sys.platform != "win32" and not file.closed:
                            # closing would not do while a child has a copy that it never closes
                            fcntl.flock(file, fcntl.LOCK_UN)
        finally:
            self._alone.leave(call)

    def _check_lock(self) -> None:
        """Refuse to go on if others may be inside, too.

        Before a write: a forked child continues its parent's call, and would write what its parent
        wrote before. After a write: whoever read the file before it holds another lock file by now.
        """
        call = self._alone.holder()
        if call is None or call.file is None or call.file.closed:
            raise BudgetError(
                "Expected the process that began to change this budget, got its forked child. No "
                "report was made."
            )
        if not is_at(call.file, self._lock):
            raise BudgetError(
                f"Expected {self._lock} to stay while this budget is changed; it was deleted or "
                "replaced. No report was made. "
                "Leave the file where it is: it keeps two processes from spending the same budget."
            )


def private_opener(path: str, flags: int) -> int:
    """Open a file as `open` would; a new one is its owner's alone."""
    return os.open(path, flags, 0o600)


def check_one_name(path: Path) -> None:
    """Raise ValueError if the file is a link or has a second name: a new file under one name would
    leave the old one under the other.
    """
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise ValueError


def record_from_text(text: str) -> BudgetRecord | None:
    data = json.loads(text, object_pairs_hook=once)
    if (
        not isinstance(data, dict)
        or set(data) != {"version", "spent", "answers"}
        or type(data["version"]) is not int
        or data["version"] != 1
    ):
        return None
    spent, answers = data["spent"], data["answers"]
    if (
        not isinstance(spent, str)
        or not isinstance(answers, dict)
        or not all(isinstance(answer, str) for answer in answers.values())
    ):
        return None
    return BudgetRecord(Fraction(0) if spent == "0" else as_fraction(spent, "spent"), answers)


def is_at(file: FileIO, path: Path) -> bool:
    """Whether this open file is the one at `path`."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False


def wait_for(file: FileIO) -> None:
    """The lock on a file, until it is closed."""
    if sys.platform == "win32":
        file.seek(0)
        # after ten seconds an error: no report is made
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)


def sync_folder(folder: Path) -> None:
    """So that a file keeps a new name through a crash; Windows has no such call and needs none."""
    if sys.platform != "win32":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
