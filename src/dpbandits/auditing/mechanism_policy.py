"""A bare mechanism made into a policy that only feeds it: one record a round, one release every
`each` rounds.
"""

import math
from collections.abc import Sequence
from dataclasses import field
from typing import final

import numpy as np

from dpbandits.core.plan import EVERY, Cycle, Draw, Hold, Plan, PublicRng
from dpbandits.mechanisms.base import Block, Mechanism, Separable
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import (
    About,
    ArmsField,
    Feedback,
    Policy,
    Release,
    policy_dataclass,
)


@final
@policy_dataclass
class Feeding(Policy):
    """A policy that goes on whatever the mechanism answers; the answers are what an audit looks at.
    State: the number of releases so far.
    """

    arms: ArmsField = 1  # type: ignore[assignment]  # read as 1
    fed: Mechanism = field(repr=True)
    each: int = 1

    def validate(self) -> None:
        """The policy declares the privacy that its mechanism promises."""
        promise = self.fed.promise()
        about = About(
            paper="",
            algorithm="",
            bound="",
            privacy="none" if promise is None else promise.measure,
            feedback=feedback_of(self.fed),
            goal="estimate",
        )
        object.__setattr__(self, "about", about)

    def mechanism(self) -> Mechanism:
        return self.fed

    def init(self) -> tuple[int]:
        return (0,)

    def plan(self, state: tuple[int], rng: PublicRng) -> Plan:
        match self.about.feedback:
            case "bandit":
                arms = tuple(range(self.arms))
                return Cycle(arms, self.each, arms)
            case "semi":
                return Hold(tuple(range(self.arms)), self.each, tuple(range(self.arms)))
        return Hold(0, self.each, (EVERY,))

    def update(self, state: tuple[int], plan: Plan, release: Release) -> tuple[int]:
        return (state[0] + 1,)

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return math.nan


def feed(mechanism: Mechanism, each: int = 1) -> Feeding:
    """The policy for this mechanism's kind of records: single rewards (of two arms, where it
    compares them), super arms of its width (or size), or vectors of all actions.
    """
    match feedback_of(mechanism):
        case "bandit":
            return Feeding(fed=mechanism, each=each, arms=2 if mechanism.compares else 1)
        case "semi":
            inner = getattr(mechanism, "inner", mechanism)
            arms = getattr(inner, "size", 3) if mechanism.together else mechanism.width
            return Feeding(fed=mechanism, each=each, arms=arms)
    return Feeding(fed=mechanism, each=each, arms=getattr(mechanism, "actions", 3))


def feedback_of(mechanism: Mechanism) -> Feedback:
    """What one of its records shows."""
    if isinstance(mechanism, Separable) or mechanism.compares:
        return "bandit"
    return "semi" if mechanism.width > 1 or mechanism.together else "full"


def alone(policy: Feeding) -> bool:
    """Whether the mechanism says that it treats every coordinate alone, in any number."""
    return isinstance(policy.fed, Separable) and not policy.fed.compares


def longest(policy: Policy) -> int:
    """The most rounds for which the policy can be played."""
    if isinstance(policy, Feeding):
        return releases_of(policy.fed) * policy.each
    horizon = getattr(policy, "horizon", None)
    return int(horizon) if policy.about.needs_horizon and horizon is not None else 10**12


ENDLESS = 10**12
"""Releases, of a mechanism that takes any number."""

PROBED = 4_000
"""More releases than an audit plays. Of a mechanism that says it takes fewer it is seen whether it
refuses the next one: one that begins anew may do so with the noise it had.
"""


def releases_of(mechanism: Mechanism) -> int:
    """The most releases that it takes."""
    said = getattr(getattr(mechanism, "inner", mechanism), "leaves", None)
    if type(said) is not int or said < 1:
        return ENDLESS
    return ENDLESS if said < PROBED and releases_again(mechanism, said) else said


def releases_again(mechanism: Mechanism, releases: int) -> bool:
    """Whether it answers after so many releases of blocks without a reward."""
    fed = feed(mechanism)
    where = (EVERY,) if fed.about.feedback == "full" else tuple(range(fed.arms))
    block = Block(where, np.zeros(fed.arms, np.int64), (1,) * len(where))
    if where != (EVERY,):
        block = block._replace(sums=(0,) * fed.arms)
    memory, noise = mechanism.init(fed.arms), SimulatedNoise(0)
    try:
        for _ in range(releases + 1):
            memory, _ = mechanism.answer(memory, block, noise)
    except ValueError:
        return False
    return True


def first_release(policy: Policy) -> int:
    """The number of rounds before anything can be released."""
    match policy.plan(policy.init(), PublicRng(0, 0)):
        case Hold(_, rounds, _):
            return rounds
        case Cycle(actions, each, _):
            return len(actions) * each
        case Draw(_, limits):
            return min(limits)
