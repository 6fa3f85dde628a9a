"""When the blocks of open plans close: by public counts of answers alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, final

from dpbandits.core.plan import Action, Plan, Progress
from dpbandits.session.wheel.offers import Plans

SHORT = 2
"""Where answers come out of order, a block closes with one over so much of its rounds."""


def due_in(plans: Plans, told: Mapping[Any, int]) -> tuple[int, ...] | None:
    """The oldest block that is to be read; None if none is.

    It is once all its rounds are told; and once half of them are, if an answer came to a younger
    plan: then answers come out of order, and the last one may be a long time in coming. Where they
    come in order, or without delay, no block closes short. told: since the turn began.
    """
    younger = 0
    if len(plans) > 1:  # most often there is one
        younger = max((key for key, o in plans.items() if o.told + told.get(key, 0)), default=0)
    for key, o in plans.items():
        counted, rounds = o.told + told.get(key, 0), o.plan.rounds
        if counted >= rounds or (key < younger and SHORT * counted >= rounds):
            return (key,)
    return None


@final
class BlockProgress(Progress):
    """How far told decisions have carried the open plans; they are counted by block."""

    __slots__ = ("_plans",)

    def __init__(self, plan: Plan, plans: Any) -> None:
        super().__init__(plan, plans)
        self._plans: Plans = plans

    @classmethod
    def at(cls, plan: Plan, told: Mapping[Action, int], room: Any = None) -> Self:
        progress = cls(plan, {} if room is None else room)
        progress.told = dict(told)
        progress.due = due_in(progress._plans, told)
        return progress

    def count(
        self, action: Any, times: int = 1, before: int | None = None
    ) -> tuple[int, ...] | None:
        if before is None:
            before = self.told.get(action, 0)
        self.told[action] = before + times
        self.due = due_in(self._plans, self.told)
        return self.due
