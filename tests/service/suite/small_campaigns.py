"""The small campaigns that a store is checked with."""

from collections.abc import Callable
from typing import Any

from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.cumulative import DPKLUCB

Make = Callable[[], Any]
"""Opens the store; each call gives a store with the same campaigns."""

ROUNDS = 120


def small_policy() -> DPKLUCB:
    """Releases often."""
    return DPKLUCB(arms=3, epsilon=1, first=4)


def small_campaign(store: Any, name: str, **options: Any) -> Any:
    return store.create(name, small_policy(), noise=SimulatedNoise(1), seed=2, **options)


def reward_of(number: int) -> float:
    """Some reward for a decision."""
    return (number * 7 % 11) / 10


def is_refused(kind: type[Exception], call: Callable[[], object]) -> bool:
    """Whether a call is refused with such an error."""
    try:
        call()
    except kind:
        return True
    return False
