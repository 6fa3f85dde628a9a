"""What to play until the next release. Plans are public data: computed from released values and
public randomness only.

The union of plans is closed; a new algorithm does not add a kind. A plan ends by counts of told
decisions, which are public: `Hold` and `Cycle` when every action has its planned number, `Draw`
when some action reaches its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

FOREVER = 2**62
"""The number of rounds of a plan that no release will end."""

EVERY = -1
"""In a plan's `release`: all coordinates at once, read as one record (full information)."""

Action = int | tuple[int, ...] | tuple[float, ...]
"""What is played in a round: an arm; a super arm, as a sorted tuple of arms; or, if the policy
spreads its stake over all arms, a weight for each of them. The weights sum to 1.
"""


class PublicRng:
    """Public randomness of one plan: a stream of its own for each (seed, step), made only when it
    is used.

    It serves tie-breaks and posterior samples. It never touches a reward or the privacy noise.
    """

    __slots__ = ("_generator", "seed", "step")

    def __init__(self, seed: int, step: int, state: dict[str, object] | None = None) -> None:
        self.seed, self.step = seed, step
        self._generator: np.random.Generator | None = None
        if state is not None:
            self.generator.bit_generator.state = state

    @property
    def generator(self) -> np.random.Generator:
        if self._generator is None:
            self._generator = np.random.Generator(
                np.random.PCG64(np.random.SeedSequence([self.seed, self.step]))
            )
        return self._generator

    def state(self) -> dict[str, object] | None:
        """The stream's position as plain data; None if nothing was drawn."""
        return None if self._generator is None else dict(self._generator.bit_generator.state)


class Law(Protocol):
    """How a `Draw` chooses: independent draws, one a round, from a law that is known when the plan
    is made.
    """

    def sample(self, round: int, rng: PublicRng) -> int | tuple[int, ...]: ...


class ContextLaw:
    """How a `Draw` chooses by a public context: an arm among those in play.

    learns: whether rewards of what it chooses count.
    books: directions of the cells of each arm's open block, where blocks have cells.
    """

    learns: ClassVar[bool] = True
    books: tuple[Any, ...] = ()

    def sample(self, round: int, rng: PublicRng) -> int:
        raise TypeError(
            "This policy decides by contexts: play it by Session.ask(context=[…]), or by simulate "
            "in a ContextTable."
        )

    def choose(self, context: Any, arms: Sequence[int], rng: PublicRng) -> tuple[int, float | None]:
        """An arm, and its probability; None if it is drawn from a posterior."""
        raise NotImplementedError

    def likeliest(self, context: Any, arms: Sequence[int]) -> int:
        """The arm that is best by what is known, for a decision that nobody learns from."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Hold:
    """Play one action for `rounds` rounds, then release the blocks of `release` (perhaps none).

    drop: the coordinates whose blocks are thrown away unread instead, at no price.
    observe: the arms of a super arm whose rewards are to be told; None: all of them.
    """

    action: Action
    rounds: int
    release: tuple[int, ...]
    drop: tuple[int, ...] = ()
    observe: tuple[int, ...] | None = None

    def action_at(self, i: int, round: int, rng: PublicRng) -> Action:
        return self.action


@dataclass(frozen=True, slots=True)
class Cycle:
    """Play each action in turn, `each` times, then release the blocks of `release`. Asks beyond the
    plan start over.
    """

    actions: tuple[int, ...]
    each: int
    release: tuple[int, ...]
    drop: ClassVar[tuple[int, ...]] = ()
    observe: ClassVar[None] = None

    def action_at(self, i: int, round: int, rng: PublicRng) -> int:
        return self.actions[i // self.each % len(self.actions)]


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw an action from `law` afresh each round until some arm was told `limits[arm]` times. Then
    release the arms that reached their limits.

    total: where it is given, all arms together are told so many times, and those that were told
        are released.
    """

    law: Law
    limits: tuple[int, ...]
    total: int | None = None
    drop: ClassVar[tuple[int, ...]] = ()
    observe: ClassVar[None] = None

    def action_at(self, i: int, round: int, rng: PublicRng) -> Action:
        return self.law.sample(round, rng)


Plan = Hold | Cycle | Draw


Room = Callable[[Any], int | None]
"""The rounds that an arm's open block still takes; None where nothing but a plan closes it."""


def no_room(action: Any) -> None:
    return None


class Progress:
    """How far the told decisions have carried a plan. It consists of counts: nothing here depends
    on a reward.

    A decision counts by what is told of it: its action, or the observed arms if the plan names
    them.

    told: the number of decisions since the plan began, by what was told.
    due: the coordinates to release once the plan is complete; None before.
    room: what the open block of an arm that is not in the plan took when the plan began. A late
        answer may fill it, and that ends the plan as well.
    """

    __slots__ = (
        "_beside",
        "_drawn",
        "_goals",
        "_release",
        "_total",
        "_waiting",
        "due",
        "plan",
        "room",
        "told",
    )

    def __init__(self, plan: Plan, room: Room = no_room) -> None:
        self.plan, self.room = plan, room
        self._beside: dict[Action, int | None] = {}
        self.told: dict[Action, int] = {}
        self.due: tuple[int, ...] | None = None
        # the told rounds that each action takes; of a drawn plan, those that each arm has left
        self._goals: dict[Action, int]
        match plan:
            case Hold(action, rounds, _):
                self._goals = {plan.observe or action: rounds}
            case Cycle(actions, each, _):
                self._goals = dict.fromkeys(actions, each)
            case Draw(_, limits):
                self._goals = dict(enumerate(limits))
        self._waiting, self._drawn = len(self._goals), isinstance(plan, Draw)
        self._total = plan.total if isinstance(plan, Draw) else None
        self._release = () if isinstance(plan, Draw) else plan.release

    @classmethod
    def at(cls, plan: Plan, told: Mapping[Action, int], room: Room = no_room) -> Self:
        """The progress of a plan after these decisions were told."""
        progress, due = cls(plan, room), list[tuple[int, ...]]()
        for action, times in told.items():
            ended = progress.count(action, times)
            due.extend(() if ended is None else (ended,))
        progress.due = tuple({arm: None for arms in due for arm in arms}) if due else None
        return progress

    def count(self, action: Action, times: int = 1) -> tuple[int, ...] | None:
        """Count told decisions; returns the coordinates to release when that completes the plan,
        else None.
        """
        before = self.told.get(action, 0)
        self.told[action] = now = before + times
        if self._drawn:
            arms = action if isinstance(action, tuple) else (action,)
            self.due = filled = self._filled(arms, times)
            if self._total is not None:
                self._total -= times
                played: list[Any] = list(self.told)
                self.due = filled = tuple(sorted(played)) if self._total <= 0 else None
            return filled
        goal = self._goals.get(action)
        if goal is None:
            return self._count_beside(action, now)
        if before < goal <= now:
            self._waiting -= 1
            if self._waiting == 0:
                self.due = self._release
                return self.due
        return None

    def _count_beside(self, action: Any, now: int) -> tuple[int, ...] | None:
        """A late answer: asked under an earlier plan, or ahead of this one's."""
        beside = self._beside
        room = beside[action] if action in beside else beside.setdefault(action, self.room(action))
        if room is None or now < room:
            return None
        self.due = (action,)
        return self.due

    def _filled(self, arms: tuple[Any, ...], times: int) -> tuple[int, ...] | None:
        """The arms of a drawn action that reach their limit now, if any."""
        filled = []
        for arm in arms:
            left = self._goals[arm]
            self._goals[arm] = left - times
            if left > 0 >= left - times:
                filled.append(arm)
        return tuple(filled) or None
