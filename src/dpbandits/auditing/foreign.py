"""Objects of other libraries as black boxes: made afresh for each run, shown one reward at a
time.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import index
from typing import Any, final

import numpy as np

from dpbandits.auditing.functions import signature_parameters, with_arms
from dpbandits.auditing.statistical.counting.tables import (
    Neighbours,
    late_tapes,
    mixed,
    neighbouring,
)
from dpbandits.auditing.statistical.subjects import ROUNDS, code
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import Action

LATER, LATE = 256, 3200
"""The numbers of rounds of the longest tapes, which show leaks that come late."""

CELLS = 4_000_000
"""Rewards of a long tape, at most: the longest is left out where there are thousands of arms."""

SEEN = 64
"""The number of decisions that are looked at, at either end of a long run."""

ALIKE = 20
"""The number of runs on one table that are compared before an object is said to need a seed."""


@final
@dataclass
class ForeignSubject:
    """An object of another library. `make` makes it afresh for each run (given `seed` and `arms`,
    if it takes them); it is played one round at a time.
    """

    make: Callable[..., Any]
    name: str
    arms: int = 2
    rounds: int = ROUNDS
    # seconds for one long tape, and for a hint; where runs are counted the clock is not looked at
    patience: float = math.inf

    def __post_init__(self) -> None:
        self._pairs: list[Neighbours] | None = None
        self.make = with_arms(self.make, self.arms)
        self._seeded = takes_seed(self.make)
        one = made_once(self.make)
        if all(callable(getattr(one, verb, None)) for verb in ("ask", "tell")):
            self._play = ask_tell
        elif all(callable(getattr(one, verb, None)) for verb in ("select", "update")):
            self._play = select_update
        else:
            raise TypeError(
                f"Expected {self.name} to make an object with ask() and tell(decision, reward), "
                "or with select() and update(arm, reward), "
                f"got {type(one).__name__}."
            )

    @property
    def takes_noise(self) -> bool:
        """Whether the object takes a seed."""
        return self._seeded

    def pairs(self) -> list[Neighbours]:
        """Short tapes and longer ones (a leak may come late), as long as the object can be
        played.
        """
        if self._pairs is None:
            usual = max(4 * self.rounds, 2 * self.arms)
            longest = [n for n in (LATER, LATE) if n > usual or n == LATE]
            longer = [
                n
                for n in dict.fromkeys((usual, *longest))
                if self.rounds < n <= LATE and n * self.arms <= CELLS and self.lasts(n)
            ]
            tapes = [
                neighbouring(self.arms, rounds, whole=False)
                for rounds in (self.rounds, *(n for n in longer if n not in longest))
            ]
            late = [late_tapes(self.arms, n, whole=False) for n in longer if n in longest]
            self._pairs = mixed(tapes, late)
        return self._pairs

    def lasts(self, rounds: int) -> bool:
        """Whether the object can be played for so many rounds, and soon enough: some objects are
        made for a horizon, and some are slow.
        """
        one = self.make(seed=0) if self._seeded else self.make()
        try:
            self._play(one, self._until(np.zeros((rounds, self.arms)).tolist()))
        except Exception:
            # whatever it says: shorter tapes will show whether it can be played at all
            return False
        return True

    def _until(self, rows: list[list[float]]) -> Iterator[list[float]]:
        """The rows, until patience ends."""
        began = time.monotonic()
        for row in rows:
            # short tapes are played often
            if time.monotonic() - began > (
                self.patience if len(rows) >= LATE else self.patience / ALIKE
            ):
                raise TimeoutError("A tape takes too long.")
            yield row

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        # Seeds of 32 bits: NumPy's older generators take no larger ones. Drawn with replacement,
        # runs are independent all the same.
        rows, seeds = (
            table.tolist(),
            np.random.SeedSequence(seed).generate_state(runs, np.uint32).tolist(),
        )
        with noted(f"{self.name} was being played"):
            made = (self.make(seed=s) if self._seeded else self.make() for s in seeds)
            return np.array(
                [first_and_last(code(self._play(one, rows))) for one in made], np.float64
            )

    def hint(self) -> str:
        """A question to the object's author, if every run on a table is the same: only a
        deterministic object should do that.
        """
        began = time.monotonic()
        for at, pair in enumerate(self.pairs()[:4]):
            for few in (2, ALIKE):  # most objects differ at once
                runs = self.outcomes(pair.a, few, at)
                if (runs != runs[0]).any() or time.monotonic() - began > self.patience:
                    return ""
        ask = (
            "does it use the seed it is given?"
            if self._seeded
            else "is its seed fixed? Let make(seed=...) take one"
        )
        return (
            "every run on the same table was the same; if the object is meant to draw at "
            f"random, {ask}"
        )


def first_and_last(numbers: list[float]) -> list[float]:
    """The first and the last decisions of a long run."""
    return numbers if len(numbers) <= 2 * SEEN else numbers[:SEEN] + numbers[-SEEN:]


def takes_seed(make: Callable[..., Any]) -> bool:
    return "seed" in signature_parameters(make)


def made_once(make: Callable[..., Any]) -> Any:
    """The object that `make` makes."""
    with noted(f"{getattr(make, '__name__', 'the function')} was being called"):
        return make(seed=0) if takes_seed(make) else make()


@contextmanager
def noted(doing: str) -> Iterator[None]:
    """Add to an error of the user's code that it comes from there; the error stays what it is."""
    try:
        yield
    except Exception as error:
        error.add_note(doing)
        raise


def ask_tell(one: Any, rows: Iterable[list[float]]) -> list[Action]:
    """Decisions may be arms, super arms, or objects that have an `action`."""
    played: list[Action] = []
    for row in rows:
        decision = one.ask()
        action = getattr(decision, "action", decision)
        if isinstance(action, (tuple, list)):
            arms = tuple(checked_arm(arm, row) for arm in action)
            if not arms:
                raise ValueError(
                    f"Expected ask() to name an arm, got {decision!r}, which names none."
                )
            one.tell(decision, [row[arm] for arm in arms])
            played.append(arms)
        else:
            arm = checked_arm(action, row)
            one.tell(decision, row[arm])
            played.append(arm)
    return played


def select_update(one: Any, rows: Iterable[list[float]]) -> list[Action]:
    played: list[Action] = []
    for row in rows:
        arm = checked_arm(one.select(), row)
        one.update(arm, row[arm])
        played.append(arm)
    return played


def checked_arm(arm: Any, row: list[float]) -> int:
    """The arm as an index of the row; an error says what is wrong with anything else."""
    try:
        number = index(arm)
    except TypeError:
        raise TypeError(
            f"Expected an arm as a whole number, got {arm!r} of type {type(arm).__name__}."
        ) from None
    if not 0 <= number < len(row):
        raise ValueError(
            f"Expected an arm from 0 to {len(row) - 1}, got {number}. Of an object with more "
            "arms say so: arms=... or --arms."
        )
    return number
