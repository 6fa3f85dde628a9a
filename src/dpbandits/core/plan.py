"""Plans: which actions to play until the next release. They are public: computed from released
values and public randomness only.

The union `Plan` is closed; a new algorithm does not add a kind. A plan ends by counts of recorded
decisions, which are public: `Hold` and `Cycle` when every action has its planned number, `Draw`
when some arm reaches its limit; and all of them when late answers fill an arm's open block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from dpbandits.core.inputs import shown, whole_number

FOREVER = 2**62
"""The number of rounds of a plan that no release ends."""

EVERY = -1
"""In a plan's `release`: all coordinates at once, released as one record (full information)."""

Action = int | tuple[int, ...] | tuple[float, ...]
"""The action of a round: an arm; a super arm, as a sorted tuple of arms; or a weight for each arm
(weights sum to 1), for policies that spread their stake.
"""


ROWS = 64
"""Rows of normal draws that are drawn together."""


class PublicRng:
    """Public randomness of one plan: one stream for each (seed, step), created at its first use.

    It serves tie-breaks and posterior samples. It never touches a reward or the privacy noise.
    """

    __slots__ = ("_before", "_generator", "_normals", "_used", "seed", "step")

    def __init__(self, seed: int, step: int, state: Mapping[str, Any] | None = None) -> None:
        self.seed, self.step = seed, step
        self._generator: np.random.Generator | None = None
        self._normals: Any = None  # rows of normal draws, of which so many were used
        self._used, self._before = 0, dict[str, Any]()
        if state is not None:
            before = dict(state)
            rows = before.pop("normals", None)
            self.generator.bit_generator.state = before
            if rows is not None:
                used, count = rows
                self._draw_rows(whole_number(count, "count", 1))
                self._used = whole_number(used, "used", 1, ROWS)

    @property
    def generator(self) -> np.random.Generator:
        """The stream, behind the rows of normal draws, which are not used any more."""
        self._normals = None
        return self._stream

    @property
    def _stream(self) -> np.random.Generator:
        if self._generator is None:
            self._generator = np.random.Generator(
                np.random.PCG64(np.random.SeedSequence([self.seed, self.step]))
            )
        return self._generator

    def normals(self, count: int) -> Any:
        """Return so many standard normal draws."""
        if self._normals is None or self._used == ROWS or self._normals.shape[1] != count:
            self._draw_rows(count)
        self._used = used = self._used + 1
        return self._normals[used - 1]

    def _draw_rows(self, count: int) -> None:
        self._before = dict(self._stream.bit_generator.state)
        self._normals, self._used = self._stream.standard_normal((ROWS, count)), 0

    def state(self) -> dict[str, Any] | None:
        """Return the stream's position as plain data; None if nothing was drawn."""
        if self._normals is not None:
            return {**self._before, "normals": [self._used, self._normals.shape[1]]}
        return None if self._generator is None else dict(self._generator.bit_generator.state)


class Law(Protocol):
    """The distribution of a `Draw`: independent draws, one a round, from a law that is fixed when
    the plan is made.
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

    Args:
        action: the action.
        rounds: number of recorded decisions that completes the plan.
        release: coordinates whose blocks are released at its end.
        drop: coordinates whose blocks are discarded without a release, at no privacy cost.
        observe: the arms of a super arm whose rewards are recorded; None for all of them.
        drawn: whether the action was drawn from a posterior, so that its propensity is unknown.
    """

    action: Action
    rounds: int
    release: tuple[int, ...]
    drop: tuple[int, ...] = ()
    observe: tuple[int, ...] | None = None
    drawn: bool = field(default=False, repr=False)

    def action_at(self, i: int, round: int, rng: PublicRng) -> Action:
        return self.action


@dataclass(frozen=True, slots=True)
class Cycle:
    """Play each action in turn, `each` times, then release the blocks of `release`. Requests beyond
    the plan start over.

    Args:
        actions: arms, in this order.
        each: recorded decisions of each arm that complete the plan.
        release: coordinates whose blocks are released at its end.
    """

    actions: tuple[int, ...]
    each: int
    release: tuple[int, ...]
    drop: ClassVar[tuple[int, ...]] = ()
    observe: ClassVar[None] = None
    drawn: ClassVar[bool] = False

    def action_at(self, i: int, round: int, rng: PublicRng) -> int:
        return self.actions[i // self.each % len(self.actions)]


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw an action from `law` each round until some arm has `limits[arm]` recorded decisions.
    Then release the arms that reached their limits.

    Args:
        law: distribution of the actions.
        limits: by arm, number of recorded decisions that ends the plan.
        total: if given, number of recorded decisions of all arms together that ends the plan; the
            arms with any are released.
        waiting: with `total`, arms whose blocks were open already when the plan was made; they are
            released, too.
    """

    law: Law
    limits: tuple[int, ...]
    total: int | None = None
    waiting: tuple[int, ...] = ()
    drop: ClassVar[tuple[int, ...]] = ()
    observe: ClassVar[None] = None
    drawn: ClassVar[bool] = True

    def action_at(self, i: int, round: int, rng: PublicRng) -> Action:
        """
        Raises:
            ValueError: the law drew something else than an arm, or a tuple of arms.
        """
        action, known = self.law.sample(round, rng), len(self.limits)
        for arm in action if isinstance(action, tuple) else (action,):
            if type(arm) is not int or not 0 <= arm < known:
                raise ValueError(
                    f"Expected the law of a Draw to sample arms from 0 to {known - 1}, one or a "
                    f"tuple, got {shown(action)}: write int(arm). No decision was made."
                )
        return action


Plan = Hold | Cycle | Draw


def fewest_rounds(plan: Plan) -> int:
    """Return the fewest recorded decisions after which a plan can be complete; of a `Draw`, by its
    arms' limits.
    """
    if isinstance(plan, Draw):
        return min(plan.limits)
    return plan.rounds if isinstance(plan, Hold) else plan.each * len(plan.actions)


Room = Callable[[Any], int | None]
"""Rewards that an arm's open block still needs; None if only the end of a plan closes it."""


def room_unknown(action: Any) -> None:
    return None


class Progress:
    """Counts the recorded decisions of a plan. Nothing here depends on a reward's value.

    A decision counts for its action, or for the observed arms if the plan names them.

    Args:
        plan: the plan.
        room: rewards that the open block of an arm outside the plan still needed when the plan
            began. A late reward may fill that block, which ends the plan as well.

    Attributes:
        told: number of recorded decisions since the plan began, by action.
        ready: coordinates to release once the plan is complete; None before.
    """

    __slots__ = (
        "_drawn",
        "_goals",
        "_late_rooms",
        "_release",
        "_total",
        "_unmet",
        "plan",
        "ready",
        "room",
        "told",
    )

    def __init__(self, plan: Plan, room: Room = room_unknown) -> None:
        self.plan, self.room = plan, room
        self._late_rooms: dict[Action, int | None] = {}
        self.told: dict[Action, int] = {}
        self.ready: tuple[int, ...] | None = None
        # recorded rounds that each action needs; in a drawn plan, those that each arm has left
        self._goals: dict[Action, int]
        match plan:
            case Hold(action, rounds, _):
                self._goals = {plan.observe or action: rounds}
            case Cycle(actions, each, _):
                self._goals = dict.fromkeys(actions, each)
            case Draw(_, limits):
                self._goals = dict(enumerate(limits))
        self._unmet, self._drawn = len(self._goals), isinstance(plan, Draw)
        self._total = plan.total if isinstance(plan, Draw) else None
        self._release = plan.waiting if isinstance(plan, Draw) else plan.release

    @classmethod
    def at(cls, plan: Plan, told: Mapping[Action, int], room: Room = room_unknown) -> Self:
        """Return the progress of a plan after these recorded decisions."""
        progress, ready = cls(plan, room), list[tuple[int, ...]]()
        for action, times in told.items():
            ended = progress.count(action, times)
            ready.extend(() if ended is None else (ended,))
        progress.ready = tuple({arm: None for arms in ready for arm in arms}) if ready else None
        return progress

    def count(self, action: Action, times: int = 1) -> tuple[int, ...] | None:
        """Count recorded decisions.

        Returns:
            The coordinates to release if that completes the plan, else None.
        """
        before = self.told.get(action, 0)
        self.told[action] = now = before + times
        if self._drawn:
            arms = action if isinstance(action, tuple) else (action,)
            self.ready = filled = self._filled(arms, times)
            if self._total is not None:
                self._total -= times
                played: set[Any] = {*self.told, *self._release}
                self.ready = filled = tuple(sorted(played)) if self._total <= 0 else None
            return filled
        goal = self._goals.get(action)
        if goal is None:
            return self._count_late(action, now)
        if before < goal <= now:
            self._unmet -= 1
            if self._unmet == 0:
                self.ready = self._release
                return self.ready
        return None

    def _count_late(self, action: Any, now: int) -> tuple[int, ...] | None:
        """Count a late reward: its decision was requested under an earlier plan or ahead of this
        one.
        """
        rooms = self._late_rooms
        room = rooms[action] if action in rooms else rooms.setdefault(action, self.room(action))
        if room is None or now < room:
            return None
        self.ready = (action,)
        return self.ready

    def _filled(self, arms: tuple[Any, ...], times: int) -> tuple[int, ...] | None:
        """Return the arms of a drawn action that reach their limit now, or None."""
        filled = []
        for arm in arms:
            left = self._goals[arm]
            self._goals[arm] = left - times
            if left > 0 >= left - times:
                filled.append(arm)
        return tuple(filled) or None
