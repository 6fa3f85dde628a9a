"""Privacy budgets of a user's device: in memory, or in a file that survives the device's process.

A budget is charged before a report is made. A crash can lose a part of it, but never spends it
twice.
"""

import math
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol, SupportsIndex, final
from urllib.parse import quote

from dpbandits.core.errors import BudgetError
from dpbandits.core.locks import CallLock, this_process
from dpbandits.core.privacy import Real, as_fraction, printed

__all__ = ["Budget", "BudgetError", "FileBudget", "MemoryBudget"]

FINEST = 10**40
"""The largest denominator of the spent amount; smaller parts are rounded up."""

KIND = 0x64706264
"""Identifies a budget's file in its header."""

PATIENCE = 30
"""Seconds that a change waits for another process's change."""


class Budget(Protocol):
    """The protocol of a client's budget. A client calls `spend` first and then `keep`."""

    def spend(self, amount: Fraction) -> None:
        """Charge `amount`, durably before returning.

        Raises:
            BudgetError: less than `amount` is left.
        """

    def recall(self, key: str) -> str | None:
        """Return the answer that is stored under `key`, or None."""

    def keep(self, key: str, answer: str) -> str:
        """Store `answer` under `key` unless an answer is stored there already; return the stored
        one. Two processes that store at once get the same answer.
        """


def require_device_budget(budget: object) -> None:
    """Raise a TypeError unless this is a budget."""
    if isinstance(budget, type) or not all(
        callable(getattr(budget, name, None)) for name in ("spend", "recall", "keep")
    ):
        kind = budget if isinstance(budget, type) else type(budget)
        received = f"{'the class' if kind is budget else 'an object of type'} {kind.__name__}"
        raise TypeError(
            "Expected budget= to be a budget such as FileBudget(path, total=2), or a user-defined "
            f"object with spend, recall and keep; got {received}."
        )


def spent_after(amount: Fraction, spent: Fraction, total: Fraction) -> Fraction:
    """Return the total spent after `amount`. A sum that a file cannot hold is rounded up.

    Raises:
        BudgetError: the sum exceeds the total.
        ValueError: the amount is not above 0.

    >>> spent_after(Fraction(1, 3), Fraction(1, 3), Fraction(1))
    Fraction(2, 3)
    >>> spent_after(Fraction(1, 7**2500), Fraction(1), Fraction(2)) - 1 == Fraction(1, FINEST)
    True
    """
    cost = as_fraction(amount, "amount")
    exact = spent + cost
    if exact > total:
        said = str(cost) if cost.denominator <= FINEST else f"about {printed(cost)}"
        raise BudgetError(
            f"Expected this device's reports to cost at most total={total}; {spent} of it is "
            f"spent, and this report costs {said}. "
            "No report was made. Only the user can agree to a larger total."
        )
    return exact if exact.denominator <= FINEST else Fraction(math.ceil(exact * FINEST), FINEST)


def under_way() -> BudgetError:
    return BudgetError(
        "Expected no other call of this device's client or budget under way in this thread, got "
        "one from within another (in a signal handler, a noise source or a budget). No report was "
        "made. Answer after the first call has returned."
    )


def forked() -> BudgetError:
    return BudgetError(
        "Expected the process that began this call, or made this budget, got its forked child. No "
        "report was made here."
    )


@final
class MemoryBudget:
    """A budget for the life of the process that creates it, not of its forked children. Threads may
    share it.

    It can be neither copied nor pickled: a copy would spend the same total again.

    Args:
        total: the most that all reports together may cost, as ε.
    """

    def __init__(self, total: Real) -> None:
        self.total, self.spent = as_fraction(total, "total"), Fraction(0)
        self._answers: dict[str, str] = {}
        self._lock, self._owner = CallLock(under_way), this_process()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "Expected one MemoryBudget for all who share it, got a copy or a pickle, which would "
            "spend its total again. "
            "Hand the budget itself on, or use a FileBudget, which processes share by its path."
        )

    def spend(self, amount: Fraction) -> None:
        with self._lock.held():
            self._require_owner()
            self.spent = spent_after(amount, self.spent, self.total)

    def recall(self, key: str) -> str | None:
        return self._answers.get(key)

    def keep(self, key: str, answer: str) -> str:
        self._require_owner()
        return self._answers.setdefault(key, answer)

    def _require_owner(self) -> None:
        if self._owner != this_process():
            raise BudgetError(
                "Expected the process that made this budget, got a forked child, which would "
                "spend it again. Use a FileBudget."
            )


@final
class FileBudget:
    """A budget in a file, for all processes and campaigns of one user's device. It starts over
    without the file, or with an old copy of it.

    The file is an SQLite database. Every change is one transaction, on disk before the call
    returns.

    Args:
        path: the file, created if it does not exist, readable by its user only. It holds reports
            and names of data, never a reward. A symbolic link is followed; a relative path refers
            to the current folder at construction.
        total: the most that all reports together may cost, as ε, including those of earlier
            processes.

    Raises:
        BudgetError: the file is not a budget or has a second name (a hard link), `path` is a dead
            link, or its folder does not exist.
    """

    def __init__(self, path: str | os.PathLike[str], *, total: Real) -> None:
        self.path, self.total = Path(os.path.realpath(path)), as_fraction(total, "total")
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
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if self.path.stat().st_size == 0:
            with self._opened(is_new=True) as database:
                self._make_tables(database)
        self.spent  # noqa: B018   # validates the file

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a budget of the same file, in another process too."""
        return partial(FileBudget, total=self.total), (self.path,)

    @property
    def spent(self) -> Fraction:
        with self._opened() as database:
            return self._spent(database)

    def spend(self, amount: Fraction) -> None:
        with self._opened() as database:
            after = spent_after(amount, self._spent(database), self.total)
            database.execute("UPDATE budget SET spent = ?", [str(after)])

    def recall(self, key: str) -> str | None:
        with self._opened() as database:
            row = database.execute("SELECT answer FROM answer WHERE key = ?", [key]).fetchone()
        return None if row is None else str(row[0])

    def keep(self, key: str, answer: str) -> str:
        with self._opened() as database:
            database.execute("INSERT OR IGNORE INTO answer VALUES (?, ?)", [key, answer])
            (kept,) = database.execute("SELECT answer FROM answer WHERE key = ?", [key]).fetchone()
        return str(kept)

    @contextmanager
    def _opened(self, *, is_new: bool = False) -> Iterator[sqlite3.Connection]:
        """Open a transaction that all other threads and processes wait for; commit it at the end of
        the block.

        No connection outlives it, so a forked child has none of its parent's.
        """
        began, database = this_process(), None
        try:
            status = os.lstat(self.path)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise self._damaged()  # SQLite would lock one name and change the other
            url = f"file:{quote(os.fsencode(self.path))}?mode=rw"
            database = sqlite3.connect(url, PATIENCE, isolation_level=None, uri=True)
            with closing(database):
                database.execute("PRAGMA synchronous = EXTRA")
                if not is_new and database.execute("PRAGMA application_id").fetchone() != (KIND,):
                    raise self._damaged()
                database.execute("BEGIN IMMEDIATE")
                yield database
                if began != this_process():
                    raise forked()
                database.execute("COMMIT")
        except (sqlite3.Error, OSError):
            raise self._damaged() from None

    def _make_tables(self, database: sqlite3.Connection) -> None:
        if database.execute("PRAGMA application_id").fetchone() == (KIND,):
            return  # another process was faster
        database.execute("CREATE TABLE budget (spent TEXT NOT NULL)")
        database.execute("CREATE TABLE answer (key TEXT PRIMARY KEY, answer TEXT NOT NULL)")
        database.execute("INSERT INTO budget VALUES ('0')")
        database.execute(f"PRAGMA application_id = {KIND}")

    def _spent(self, database: sqlite3.Connection) -> Fraction:
        rows = database.execute("SELECT spent FROM budget").fetchall()
        with suppress(ValueError, TypeError, IndexError):
            if len(rows) == 1:
                text = rows[0][0]
                return Fraction(0) if text == "0" else as_fraction(text, "spent")
        raise self._damaged()

    def _damaged(self) -> BudgetError:
        return BudgetError(
            f"Expected the budget that a FileBudget wrote to {self.path}, under this one name; it "
            "is missing or damaged, cannot be written, is kept locked by another call, or has a "
            "second name (a link). No report was made."
        )
