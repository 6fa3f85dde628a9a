"""Delayed rewards: a number of rounds after their decisions, fixed or random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from dpbandits.core.inputs import number_within, real_number, shown, whole_number


@runtime_checkable
class DelayLaw(Protocol):
    """The law of a reward's delay."""

    def sample(self, rng: np.random.Generator) -> int:
        """Return the delay in rounds; 0 means before the next decision."""


@final
@dataclass(frozen=True)
class FixedDelay:
    """Every reward is late by the same number of rounds.

    Args:
        rounds: the delay, at least 0.

    Raises:
        ValueError: not a whole number of at least 0.

    >>> FixedDelay(3).sample(np.random.default_rng(0))
    3
    """

    rounds: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", whole_number(self.rounds, "rounds"))

    def sample(self, rng: np.random.Generator) -> int:
        """Return the delay."""
        return self.rounds


@final
@dataclass(frozen=True)
class GeometricDelay:
    """Geometric delays: each pending reward arrives with the same probability in every round.

    Args:
        mean: mean delay in rounds, 0 to 10**12.

    Raises:
        ValueError: `mean` is outside its range.

    >>> GeometricDelay(mean=0).sample(np.random.default_rng(0))
    0
    """

    mean: float

    def __post_init__(self) -> None:
        mean = number_within(self.mean, "mean", 0, 1e12, of="a delay in rounds")
        object.__setattr__(self, "mean", mean)

    def sample(self, rng: np.random.Generator) -> int:
        """Return a random delay in rounds."""
        return int(rng.geometric(1.0 / (1.0 + self.mean))) - 1


@final
@dataclass(frozen=True)
class UniformDelay:
    """Uniform delays from `low` to `high` rounds.

    Args:
        low: the shortest delay, at least 0.
        high: the longest delay, at least `low`.

    Raises:
        ValueError: not whole numbers in this order.

    >>> UniformDelay(2, 2).sample(np.random.default_rng(0))
    2
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", whole_number(self.low, "low"))
        object.__setattr__(self, "high", whole_number(self.high, "high", self.low))

    def sample(self, rng: np.random.Generator) -> int:
        """Return a random delay in rounds."""
        return int(rng.integers(self.low, self.high + 1))


NEVER = 2**60
"""Rounds by which an answer is late that never comes."""


@final
@dataclass(frozen=True)
class LostAnswers:
    """Some people never answer; the others do after a delay.

    Args:
        share: of people who never answer, 0 to less than 1.
        delay: of the others, a number of rounds or a law.

    Raises:
        ValueError: `share` is outside its range.

    >>> LostAnswers(0.0, delay=3).sample(np.random.default_rng(0))
    3
    """

    share: float
    delay: int | DelayLaw = 0

    def __post_init__(self) -> None:
        lost = "a share of people who never answer"
        object.__setattr__(self, "share", number_within(self.share, "share", 0, 1, "[)", of=lost))
        object.__setattr__(self, "delay", checked_delay(self.delay))

    def sample(self, rng: np.random.Generator) -> int:
        """Return a random delay in rounds; of a lost answer one that outlasts any run."""
        if rng.random() < self.share:
            return NEVER
        return checked_delay(self.delay).sample(rng)


def checked_delay(delay: Any) -> DelayLaw:
    """Return a law of delays; a number of rounds becomes a `FixedDelay`.

    Raises:
        TypeError: neither a number of rounds nor a law.
    """
    if isinstance(delay, DelayLaw) and not isinstance(delay, type):
        return delay
    if isinstance(delay, (bool, type)) or real_number(delay) is None:
        raise TypeError(
            "Expected delay= to be a number of rounds or a law such as "
            f"dpbandits.GeometricDelay(mean=500), got {shown(delay)}."
        )
    return FixedDelay(whole_number(delay, "delay"))
