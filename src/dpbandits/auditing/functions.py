"""Subjects that are called once on all data, as black boxes: a plain function of rewards, or a
local randomizer of one reward.
"""

import inspect
from binascii import crc32
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from dpbandits.auditing.statistical.counting.tables import (
    Neighbours,
    TwoTables,
    counts_of_ones,
    mixed,
    neighbouring,
)
from dpbandits.auditing.statistical.subjects import ROUNDS
from dpbandits.core.inputs import Floats
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.noise.sources import SimulatedNoise

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
        tables = {
            name: np.full((1, self.randomizer.width), reward)
            for name, reward in (("0", 0.0), ("1/2", 0.5), ("1", 1.0))
        }
        return [
            TwoTables(tables[a], tables[b], f"a reward of {a} against {b}")
            for a, b in (("0", "1"), ("0", "1/2"), ("1/2", "1"))
        ]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        noise, rewards = SimulatedNoise(seed), table[0].tolist()
        return np.array(
            [np.atleast_1d(self.randomizer.report(rewards, noise).steps) for _ in range(runs)],
            np.float64,
        )
