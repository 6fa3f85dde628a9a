"""A guardrail: a second number of each record, the harm, of which no arm may do more than declared.

Harm is read in the same draw as the rewards, so watching it costs no privacy of its own, only
noise; what is made of the released values, and when an arm is suspended, is post-processing. Source
of the bounds: proofs/beliefs.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, final

import numpy as np
from msgspec import Struct

from dpbandits.core.inputs import (
    Count,
    checked_name,
    number_within,
    shown,
    whole_number,
)
from dpbandits.mechanisms.base import LazyForgetful
from dpbandits.mechanisms.joint import BOTH
from dpbandits.policies.contract import Policy, Release
from dpbandits.session.beliefs import (
    MOST_PEOPLE,
    ArmHistory,
    HistoryData,
    MeanReader,
    ReleaseHistory,
    in_rewards,
    interval,
    least_that,
    level,
    row_bounds,
    two_digits,
)
from dpbandits.session.evidence import ReleasedRow


@final
@dataclass(frozen=True)
class Guardrail:
    """A number to watch beside the reward, and its limit: `guardrail=Guardrail("refunds", .02)`.

    Each decision is told as a pair then, (reward, harm), harm in [0, 1]. An arm is suspended (its
    status is "paused") by a release after which it is known, at this confidence, that its mean harm
    is above the limit; `people` says after how many people that is. Resumed, it is suspended again
    by its next release, unless its mean has fallen since. For rewards and harms of 0 and 1 give the
    policy grid=1, else a grid of 1/limit steps at least.

    Args:
        name: what the second number is.
        limit: the mean harm that is still bearable, from 0 to below 1.
        confidence: that no arm within the limit is ever suspended, at all times at once; with
            segments or a holdout in each part, and anew after each fence of a campaign.
        default: the harm that enters where a decision expires; with grid=1 it is 0 or 1.

    Raises:
        ValueError: a limit that nothing can pass, or numbers outside [0, 1].

    >>> Guardrail("refunds", limit=.02, confidence=.99, default=.01)
    Guardrail(name='refunds', limit=0.02, confidence=0.99, default=0.01)
    """

    name: str
    limit: float
    confidence: float = 0.95
    default: float = 0.0

    def __post_init__(self) -> None:
        checked_name(self.name, "the first argument of Guardrail")
        for field_ in ("limit", "confidence", "default"):
            object.__setattr__(self, field_, number_within(getattr(self, field_), field_, 0, 1))
        if self.limit >= 1.0 or self.confidence in (0.0, 1.0):
            raise ValueError(
                f"Expected limit={self.limit:g} to be below 1 and confidence={self.confidence:g} "
                "to be between 0 and 1: nothing would ever be suspended, or everything."
            )

    def people(self, policy: Policy, harm: float, *, in_period: int | None = None) -> int:
        """Return after about how many recorded outcomes of an arm it is suspended, if this is its
        mean harm. Two digits, rounded up. Below the size of an arm's first block nothing is known.

        Sums are taken as expected, and released after each fifth more people, as `DPRateIMED` does
        with an arm that trails. So most arms are suspended between half and twice this number, if
        it holds five harms or more; of fewer, half of the arms are.

        Args:
            policy: of the session; where people come back, at its share of the budget: of
                epsilon=1 and max_contributions=3 that with epsilon="1/3".
            harm: the mean harm of the arm, above the limit.
            in_period: with `period=`, how many people of the arm a period has: each period ends
                with one release more, and so with more noise.

        Raises:
            ValueError: the policy takes no guardrail, or no arm of this harm is ever suspended.

        >>> import dpbandits as dpb
        >>> rail = dpb.Guardrail("refunds", limit=.05)
        >>> policy = dpb.DPRateIMED(arms=3, epsilon=1, grid=1)
        >>> [rail.people(policy, harm) for harm in (.5, .2, .1)]
        [50, 230, 980]
        """
        from dpbandits.session.options import mechanism_with_guardrail

        number_within(harm, "harm", 0, 1)
        mechanism_with_guardrail(policy, self)
        if in_period is not None:
            in_period = whole_number(in_period, "in_period", 1)
        history = Harm.of(self, policy).history
        first, noise = policy.room(policy.init(), 0) or 1, history.reader.noise
        u = np.array([level(history, 0, 1.0 - self.confidence, len(noise.thetas))])

        def is_above(people: int) -> bool:
            releases = 1 + math.ceil(math.log(max(1.0, people / first)) / math.log(1.2))
            releases += people // in_period if in_period else 0
            row = ReleasedRow(1, harm * people, people, ((1, BOTH * releases),))
            low, high = row_bounds((row,), noise, u)[0]
            return people >= first and in_rewards(history, low, high)[0] > self.limit

        found = least_that(is_above, MOST_PEOPLE, 64)
        if found is None:
            raise ValueError(
                f"Expected harm={shown(harm)} to be above limit={self.limit:g} by more than the "
                "grid's rounding: no arm of this harm is ever suspended."
            )
        return two_digits(found)


Alarm = tuple[int, int, bool]
"""An arm whose harm passed the limit, after how many decisions, and whether it was suspended: the
last arm in play is not.
"""


@final
@dataclass(frozen=True)
class Harm:
    """What was released of every arm's harm. Public, and replaced whole.

    step: releases seen. alarms: in order.
    """

    rail: Guardrail
    history: ReleaseHistory
    step: int = 0
    alarms: tuple[Alarm, ...] = field(default=())

    @classmethod
    def of(cls, rail: Guardrail, policy: Policy) -> Self:
        """Before anything was released. An answer about harm covers its block alone."""
        inner: Any = policy.reader
        mechanism = LazyForgetful(epsilon=inner.epsilon, grid=inner.grid)
        reader = MeanReader(mechanism, mechanism.law, rounding=MeanReader.of(policy).rounding)
        arms = tuple(map(ArmHistory, policy.labels or map(str, range(policy.arms))))
        return cls(rail, ReleaseHistory(reader, arms, len(arms)))

    def low(self, arm: int) -> float:
        """What the arm's mean harm is at least, at the rail's confidence."""
        estimate = interval(self.history, arm, 1.0 - self.rail.confidence)
        return 0.0 if estimate is None else estimate.low

    def after(
        self,
        release: Release,
        step: int,
        active: Sequence[int],
        asked: int,
        *,
        suspends: bool = True,
    ) -> Harm:
        """With one more release. active: arms in play; those of them that pass the limit now are
        suspended, but for the last one; or none of them, if suspends is False.
        """
        new = replace(self, history=self.history.after(harm_of(release)), step=step)
        left, alarms = len(active), list(self.alarms)
        for arm in release.coordinates:
            if arm in active and new.low(arm) > self.rail.limit:
                alarms.append((arm, asked, suspends and left > 1))
                left -= 1
        return replace(new, alarms=tuple(alarms))

    def with_arm(self, name: str) -> Harm:
        """With an arm that was added."""
        return replace(self, history=self.history.with_arm(name))

    def restarted(self, arm: int, kept: str, label: str) -> Harm:
        """With one more arm of this label; this one is `kept` on (see `ReleaseHistory`)."""
        return replace(self, history=self.history.restarted(arm, kept, label))

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"step": self.step, "alarms": self.alarms, "history": self.history.to_data()}

    def restored(self, saved: HarmData) -> Harm:
        """What `to_data` wrote, of the same rail. Older sessions had no arm of it that was added
        since their last release.
        """
        history = ReleaseHistory.restored(self.history.reader, saved.history)
        for arm in self.history.arms[len(history.arms) :]:
            history = history.with_arm(arm.label)
        return Harm(self.rail, history, saved.step, saved.alarms)


class HarmData(Struct):
    """`Harm`, of a saved session."""

    step: Count
    alarms: tuple[tuple[Count, Count, bool], ...]
    history: HistoryData


def harm_of(release: Release) -> Release:
    """The release as one of harm."""
    return release._replace(answers=release.harm, harm=())
