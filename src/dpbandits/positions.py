"""Where a saved session stood: its counters, what was pending and what its plan was told. Public data, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dpbandits.decisions import Decision
from dpbandits.plan import EVERY, Action, Plan, Progress
from dpbandits.policy import Policy
from dpbandits.strict import damaged, entries, frozen, whole

Told = list[tuple[Action, int]]


class Position(NamedTuple):
    """finished: the coordinates whose release is due; None while the plan goes on."""

    asked: int
    resolved: int
    step: int
    asked_in_plan: int
    pending: dict[int, Decision]
    told: Told
    finished: tuple[int, ...] | None


def position(policy: Policy, public: Mapping[str, Any]) -> Position:
    """The public part's position.

    Raises:
        ValueError: damaged: a part of another type, or numbers that contradict each other.
    """
    asked, resolved, step, in_plan = (whole(public[key], f"public.{key}") for key in ("asked", "resolved", "step", "asked_in_plan"))
    rows = [entries(row, "an entry of public.pending", 3) for row in entries(public["pending"], "public.pending")]
    pending = {whole(id, "the id of a pending decision", 1, asked): pending_decision(policy, id, *rest) for id, *rest in rows}
    if not len(pending) == len(rows) == asked - resolved or in_plan > asked:
        raise damaged("public.pending does not hold the decisions that were asked and not resolved, each once")
    pairs = [entries(pair, "an entry of public.told_in_plan", 2) for pair in entries(public["told_in_plan"], "public.told_in_plan")]
    told = [(action_from(policy, action), whole(times, "a number in public.told_in_plan", 1)) for action, times in pairs]
    if sum(times for _, times in told) > resolved or len(dict(told)) < len(told):
        raise damaged("public.told_in_plan counts more than was resolved, or an action twice")
    return Position(asked, resolved, step, in_plan, pending, told, finished_from(policy, public["plan_finished"]))


def pending_decision(policy: Policy, id: int, action: object, observe: object) -> Decision:
    semi = policy.about.feedback == "semi"
    if semi is (observe is None):
        raise damaged("a pending decision does not say, as this policy's have to, which arms it observes")
    seen = frozen(entries(observe, "the arms that a pending decision observes")) if semi else None
    if seen is not None and not arms_of(policy, seen):
        raise damaged("a pending decision observes what is no arm")
    return Decision(id, action_from(policy, action), id, seen)


def action_from(policy: Policy, data: object) -> Action:
    """An action of the kind this policy plays: an arm, a super arm, or a weight for each arm."""
    action: Any = frozen(data)
    many = isinstance(action, tuple)
    weights = policy.weighted and many and len(action) == policy.arms and all(type(weight) in (int, float) for weight in action)
    played = many is (policy.about.feedback == "semi") and arms_of(policy, action if many else (action,))
    if not (weights or played):
        raise damaged("an action is none of this policy's")
    return action  # type: ignore[no-any-return]


def arms_of(policy: Policy, arms: tuple[Any, ...]) -> bool:
    """Whether these are arms of the policy, at least one, each once."""
    return len(arms) > 0 and all(type(arm) is int and 0 <= arm < policy.arms for arm in arms) and len(set(arms)) == len(arms)


def finished_from(policy: Policy, data: object) -> tuple[int, ...] | None:
    if data is None:
        return None
    return tuple(whole(arm, "an entry of public.plan_finished", EVERY, policy.arms - 1) for arm in entries(data, "public.plan_finished"))


def progress_at(plan: Plan, at: Position) -> Progress:
    """How far the plan was carried; it is complete if and only if its release is due."""
    progress, due = Progress(plan), None
    for action, times in at.told:
        ended = progress.count(action, times)
        if ended is not None:
            due = {*(due or ()), *ended}
    if due != (None if at.finished is None else set(at.finished)):
        raise damaged("public.plan_finished does not fit what was told in the plan")
    return progress
