"""Answers that come late: a number of rounds after their decisions, fixed or drawn for each."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import Integers, real_number, shown, whole_number
from dpbandits.environments.base import Environment
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.session.session import Session
from dpbandits.simulation.plain import Path, told_rewards
from dpbandits.simulation.runs import Curve


@runtime_checkable
class DelayLaw(Protocol):
    """After how many further rounds an answer comes; 0: before the next decision."""

    def sample(self, rng: np.random.Generator) -> int: ...


@final
@dataclass(frozen=True)
class FixedDelay:
    """Every answer comes so many rounds late.

    >>> FixedDelay(3).sample(np.random.default_rng(0))
    3
    """

    rounds: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", whole_number(self.rounds, "rounds"))

    def sample(self, rng: np.random.Generator) -> int:
        return self.rounds


@final
@dataclass(frozen=True)
class GeometricDelay:
    """Delays with this mean, each round as likely as any other to bring an answer that waits.

    >>> GeometricDelay(mean=0).sample(np.random.default_rng(0))
    0
    """

    mean: float

    def __post_init__(self) -> None:
        mean = real_number(self.mean)
        if mean is None or not 0 <= mean <= 1e12:
            raise ValueError(
                f"Expected mean={shown(self.mean)} to be a number of rounds from 0 to 10**12."
            )
        object.__setattr__(self, "mean", float(mean))

    def sample(self, rng: np.random.Generator) -> int:
        return int(rng.geometric(1.0 / (1.0 + self.mean))) - 1


@final
@dataclass(frozen=True)
class UniformDelay:
    """Delays from `low` to `high` rounds, all alike.

    >>> UniformDelay(2, 2).sample(np.random.default_rng(0))
    2
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", whole_number(self.low, "low"))
        object.__setattr__(self, "high", whole_number(self.high, "high", self.low))

    def sample(self, rng: np.random.Generator) -> int:
        return int(rng.integers(self.low, self.high + 1))


def checked_delay(delay: Any) -> DelayLaw:
    """A number of rounds as a law.

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


LATE = 2
"""Sets the stream of a run's delays apart from its other streams."""


def play_late(
    policy: Policy,
    environment: Environment,
    rounds: int,
    checkpoints: Integers,
    *,
    noise: Noise,
    seed: int,
    rng: np.random.Generator,
    delay: DelayLaw,
) -> Path:
    """One run round by round through a `Session`, whose answers come late; those that come after
    the last round are never told.
    """
    environment, curve = environment.fresh(), Curve(policy, environment, checkpoints)
    session, randomizer = (
        Session(policy, noise=noise, seed=seed, max_pending=10**7),
        policy.randomizer(),
    )
    delays, waiting = np.random.default_rng([seed, LATE]), list[tuple[int, int, Any]]()
    t = 0
    for t in range(1, rounds + 1):
        decision = session.ask()
        try:
            reward = told_rewards(environment, policy, decision.action, rng, decision.observe)
        except EnvironmentExhausted:
            t -= 1
            break
        curve.play(t - 1, decision.action, 1)
        heapq.heappush(waiting, (t + delay.sample(delays), t, (decision, reward)))
        while waiting and waiting[0][0] <= t:
            answered, reward = heapq.heappop(waiting)[2]
            session.tell(
                answered, reward if randomizer is None else randomizer.report(reward, noise)
            )
    told = session.ledger, session.state, environment.acceptance
    return Path(
        curve.close(), t, session.releases, t, *told, earned=curve.worth, rewards=curve.gained
    )
