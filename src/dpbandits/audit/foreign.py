"""Objects of other libraries as black boxes: made afresh for each run, shown one reward at a time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import index
from typing import Any, final

import numpy as np

from dpbandits.audit.subjects import ROUNDS, Floats, Neighbours, code, neighbouring
from dpbandits.plan import Action

LONGEST = 200
"""Rounds of the longer tapes, at most (unless more are asked for): a run of theirs must stay cheap."""

GENTLE = {"from 1 to 1/2": (1.0, 0.5), "from 1/2 to 1/4": (0.5, 0.25)}
"""Moves that code which heeds only 0 and 1, or only what lies between, cannot hide."""

ALIKE = 20
"""Runs on one table that are compared before anybody is asked about a seed."""


@final
@dataclass
class ForeignSubject:
    """An object of another library, made afresh for each run by `make` (given `seed`, if it takes one); played one round at a time."""

    make: Callable[..., Any]
    name: str
    arms: int = 2
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        self._seeded = takes_seed(self.make)
        one = made_once(self.make)
        if all(callable(getattr(one, verb, None)) for verb in ("ask", "tell")):
            self._play = ask_tell
        elif all(callable(getattr(one, verb, None)) for verb in ("select", "update")):
            self._play = select_update
        else:
            raise TypeError(
                f"Expected {self.name} to make an object with ask() and tell(decision, reward), or with select() and update(arm, reward), "
                f"got {type(one).__name__}."
            )

    def pairs(self) -> list[Neighbours]:
        """Short tapes and longer ones (a leak may wait until every arm was played), whole moves and gentle ones; in an order without
        pattern, as an audit in a hurry looks at every second or third pair only."""
        long = min(max(4 * self.rounds, 2 * self.arms), max(self.rounds, LONGEST))
        short = neighbouring(self.arms, self.rounds, whole=False)
        found = short + [gently(pair, verb) for pair in short for verb in GENTLE]
        if long > self.rounds:
            found += neighbouring(self.arms, long, whole=False)
        return [found[at] for at in np.random.default_rng(0).permutation(len(found))]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        # Seeds of 32 bits: NumPy's older generators take no larger ones. Drawn with replacement, runs are independent all the same.
        rows, seeds = table.tolist(), np.random.SeedSequence(seed).generate_state(runs, np.uint32).tolist()
        with noted(f"{self.name} was being played"):
            made = (self.make(seed=s) if self._seeded else self.make() for s in seeds)
            return np.array([code(self._play(one, rows)) for one in made], np.float64)

    def hint(self) -> str:
        """What to ask its author if every run on a table is the same: that is right for a deterministic object only."""
        for at, pair in enumerate(self.pairs()[:4]):
            runs = self.outcomes(pair.a, ALIKE, at)
            if (runs != runs[0]).any():
                return ""
        ask = "does it use the seed it is given?" if self._seeded else "is its seed fixed? Let make(seed=...) take one"
        return f"every run on the same table was the same; if the object is meant to draw at random, {ask}"


def takes_seed(make: Callable[..., Any]) -> bool:
    try:
        return "seed" in inspect.signature(make).parameters
    except (TypeError, ValueError):  # some built-ins have no signature
        return False


def made_once(make: Callable[..., Any]) -> Any:
    """What it makes."""
    with noted(f"{getattr(make, '__name__', 'the function')} was being called"):
        return make(seed=0) if takes_seed(make) else make()


@contextmanager
def noted(doing: str) -> Iterator[None]:
    """Errors of the user's code say so, and stay what they are."""
    try:
        yield
    except Exception as error:
        error.add_note(doing)
        raise


def gently(pair: Neighbours, verb: str) -> Neighbours:
    """The same neighbours, the moved rewards less far apart."""
    high, low = GENTLE[verb]
    moved = pair.a != pair.b
    a, b = (np.where(moved, np.where(table == 1, high, low), table) for table in (pair.a, pair.b))
    return Neighbours(a, b, f"{pair.label} {verb}")


def ask_tell(one: Any, rows: list[list[float]]) -> list[Action]:
    """Decisions may be arms, super arms, or objects that have an `action`."""
    played: list[Action] = []
    for row in rows:
        decision = one.ask()
        action = getattr(decision, "action", decision)
        if isinstance(action, (tuple, list)):
            arms = tuple(checked(arm, row) for arm in action)
            if not arms:
                raise ValueError(f"Expected ask() to name an arm, got {decision!r}, which names none.")
            one.tell(decision, [row[arm] for arm in arms])
            played.append(arms)
        else:
            arm = checked(action, row)
            one.tell(decision, row[arm])
            played.append(arm)
    return played


def select_update(one: Any, rows: list[list[float]]) -> list[Action]:
    played: list[Action] = []
    for row in rows:
        arm = checked(one.select(), row)
        one.update(arm, row[arm])
        played.append(arm)
    return played


def checked(arm: Any, row: list[float]) -> int:
    """The arm as an index of the row; a clear error for what is none."""
    try:
        number = index(arm)
    except TypeError:
        raise TypeError(f"Expected an arm as a whole number, got {arm!r} of type {type(arm).__name__}.") from None
    if not 0 <= number < len(row):
        raise ValueError(f"Expected an arm from 0 to {len(row) - 1}, got {number}. Of an object with more arms say so: arms=... or --arms.")
    return number
