"""Black boxes that are not of this package: functions of data, objects that are asked and told, and
local randomizers.
"""

import inspect
import math
from binascii import crc32
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import index
from typing import Any, final

import numpy as np

from dpbandits.auditing.effort import clock
from dpbandits.auditing.subjects import ROUNDS, code
from dpbandits.auditing.tables import (
    Neighbours,
    counts_of_ones,
    in_turn_with_another,
    late_tapes,
    mixed,
    neighbouring,
)
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import Action
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.noise.sources import SimulatedNoise

# Subjects that are called once on all data, as black boxes: a plain function of rewards, or a
# local randomizer of one reward.


OFFERED = ("seed", "arms")
"""The arguments that a function which makes a subject may take."""

ARMS = 2
"""The number of arms if nobody gives it."""

EMPTY = inspect.Parameter.empty
BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def signature_parameters(call: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a callable by name; none for built-ins that have no signature."""
    try:
        return inspect.signature(call).parameters
    except (TypeError, ValueError):
        return {}


def takes_data(call: Any) -> bool:
    """Whether this is a function of data: not a class, and with one argument besides `seed` and
    `arms` that it cannot do without.
    """
    wanted = [
        p
        for name, p in signature_parameters(call).items()
        if name not in OFFERED and p.default is EMPTY and p.kind in BY_PLACE
    ]
    return len(wanted) == 1 and not isinstance(call, type)


def arms_for(make: Callable[..., Any], arms: int | None) -> int:
    """The number of arms asked for; otherwise the function's own default."""
    own = (
        signature_parameters(make)["arms"].default if "arms" in signature_parameters(make) else None
    )
    return arms if arms is not None else own if type(own) is int else ARMS


def with_arms(make: Callable[..., Any], arms: int) -> Callable[..., Any]:
    """Call it with the number of arms, if it takes that."""
    return partial(make, arms=arms) if "arms" in signature_parameters(make) else make


@final
@dataclass
class FunctionSubject:
    """A function of rewards.

    arms: None if a round has one reward, and data are of shape (rounds,); otherwise they are of
        shape (rounds, arms).
    """

    function: Callable[..., Any]
    name: str
    arms: int | None = None
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        self._widths = dict[tuple[int, ...], int]()
        self._offered = [name for name in OFFERED if name in signature_parameters(self.function)]

    def pairs(self) -> list[Neighbours]:
        """Data of one round, of two, and of all; and of all with every number of ones."""
        arms = self.arms or 1
        lengths = sorted({1, 2, self.rounds})
        kinds = [neighbouring(arms, n, whole=arms > 1) for n in lengths]
        return mixed([*kinds, counts_of_ones(arms, self.rounds)])

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        data = table[:, 0] if self.arms is None else table
        seeds = np.random.SeedSequence(seed).generate_state(runs, np.uint32).tolist()
        answers = [self._answer(data, run) for run in seeds]
        width = self._widths.setdefault(data.shape, len(answers[0]))
        if (
            other := next((len(answer) for answer in answers if len(answer) != width), None)
        ) is not None:
            raise ValueError(
                f"Expected all answers of {self.name} to data of one shape to have as many "
                f"numbers, got {width} and {other}. "
                "Let it answer always as many, with how many are meant among them."
            )
        return np.array(answers, np.float64)

    def _answer(self, data: Floats, seed: int) -> list[float]:
        known = {"seed": seed, "arms": self.arms or 1}
        try:
            answer = self.function(data.copy(), **{name: known[name] for name in self._offered})
        except Exception as error:
            error.add_note(
                f"{self.name} was given data of shape {data.shape}; a function without such an "
                "argument makes a fresh object"
            )
            raise
        return self._numbers(answer)

    def _numbers(self, answer: Any) -> list[float]:
        if isinstance(answer, (list, tuple, np.ndarray)):
            return [number for part in answer for number in self._numbers(part)]
        if isinstance(answer, str):
            return [float(crc32(answer.encode()))]
        try:
            return [float(answer)]
        except OverflowError:
            raise ValueError(
                f"Expected {self.name} to answer with numbers that a float holds, got one of "
                f"{len(str(answer))} digits."
            ) from None
        except (TypeError, ValueError):
            raise TypeError(
                f"Expected {self.name} to answer with numbers, text or lists of them, got "
                f"{type(answer).__name__}. It has an argument of "
                "its own, so it is taken for a function of data; what makes a fresh object for "
                "each run takes none but seed and arms."
            ) from None


@final
@dataclass
class RandomizerSubject:
    """The report that a local randomizer makes of one reward; if it takes several, of all that it
    takes at once.
    """

    randomizer: Randomizer

    def __post_init__(self) -> None:
        self.name = repr(self.randomizer)

    def pairs(self) -> list[Neighbours]:
        width = self.randomizer.width
        rewards = {"0": np.zeros(width), "1/2": np.full(width, 0.5), "1": np.ones(width)}
        table = np.zeros((1, width))
        return [
            Neighbours(table, 0, rewards[a], rewards[b], f"a reward of {a} against {b}")
            for a, b in (("0", "1"), ("0", "1/2"), ("1/2", "1"))
        ]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        noise, rewards = SimulatedNoise(seed), table[0].tolist()
        return np.array(
            [np.atleast_1d(self.randomizer.report(rewards, noise).steps) for _ in range(runs)],
            np.float64,
        )


# Objects of other libraries as black boxes: made afresh for each run, shown one reward at a
# time.


SOME = 12
"""Pairs of tapes of two objects: what one leaves to the next shows in many of them."""

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

    Attributes:
        takes_noise: whether the object takes a seed.
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
        self.takes_noise = takes_seed(self.make)
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

    def pairs(self) -> list[Neighbours]:
        """Short tapes and longer ones (a leak may come late), as long as the object can be
        played; and tapes of two objects in turn.
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
            both = 2 * self.rounds
            if both <= LATE and both * self.arms <= CELLS and self.lasts(self.rounds):
                tapes.append(in_turn_with_another(self.arms, self.rounds)[:SOME])
            self._pairs = mixed(tapes, late)
        return self._pairs

    def lasts(self, rounds: int) -> bool:
        """Whether the object can be played for so many rounds, and soon enough: some objects are
        made for a horizon, and some are slow.
        """
        one = self.make(seed=0) if self.takes_noise else self.make()
        try:
            self._play(one, self._until(np.zeros((rounds, self.arms)).tolist()))
        except Exception:
            # whatever it says: shorter tapes will show whether it can be played at all
            return False
        return True

    def _until(self, rows: list[list[float]]) -> Iterator[list[float]]:
        """The rows, until patience ends."""
        began = clock()
        for row in rows:
            # short tapes are played often
            if clock() - began > (self.patience if len(rows) >= LATE else self.patience / ALIKE):
                raise TimeoutError("A tape takes too long.")
            yield row

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        # Seeds of 32 bits: NumPy's older generators take no larger ones. Drawn with replacement,
        # runs are independent all the same.
        tapes = table.tolist() if table.ndim == 3 else [table.tolist()]
        seeds = np.random.SeedSequence(seed).generate_state(runs * len(tapes), np.uint32)
        with noted(f"{self.name} was being played"):
            return np.array(
                [self._run(tapes, own) for own in seeds.reshape(runs, -1).tolist()], np.float64
            )

    def _run(self, tapes: list[list[list[float]]], seeds: list[int]) -> list[float]:
        """The decisions of an object on each tape, made one after the other."""
        numbers = list[float]()
        for rows, seed in zip(tapes, seeds, strict=True):
            one = self.make(seed=seed) if self.takes_noise else self.make()
            numbers += first_and_last(code(self._play(one, rows)))
        return numbers

    def hint(self) -> str:
        """A question to the object's author, if every run on a table is the same: only a
        deterministic object should do that.
        """
        began = clock()
        for at, pair in enumerate(self.pairs()[:4]):
            for few in (2, ALIKE):  # most objects differ at once
                runs = self.outcomes(pair.a, few, at)
                if (runs != runs[0]).any() or clock() - began > self.patience:
                    return ""
        ask = (
            "does it use the seed it is given?"
            if self.takes_noise
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
