"""Where a saved session stood: its counters, what was pending and what its plan was told. Public
data, read strictly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from dpbandits.core.plan import EVERY, Action, Plan, Progress, PublicRng
from dpbandits.core.privacy import Entry
from dpbandits.core.values import SAVES, checked_name, checked_seed, damaged, entries, frozen, whole
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.turn import open_turn
from dpbandits.session.decisions import MOST_PENDING, Play
from dpbandits.session.turn import Wheel, asked_after

ToldPairs = list[tuple[Action, int]]


class Position(NamedTuple):
    """first: decisions asked before the plan. finished: the coordinates whose release is due; None
    while the plan goes on.
    """

    generation: int
    campaign: str
    seed: int
    max_pending: int
    asked: int
    first: int
    lost: int
    step: int
    pending: dict[int, Play]
    told: ToldPairs
    finished: tuple[int, ...] | None


def position(policy: Policy, public: Mapping[str, Any]) -> Position:
    """The public part's position.

    Raises:
        ValueError: damaged: a part of another type, or numbers that contradict each other.
    """
    asked, first, lost, step = (
        whole(public[key], f"public.{key}")
        for key in ("asked", "asked_before_plan", "lost", "step")
    )
    limit = whole(public["max_pending"], "public.max_pending", 1, MOST_PENDING)
    pending = pending_from(policy, public["pending"], asked, limit)
    pairs = [
        entries(pair, "an entry of public.told_in_plan", 2)
        for pair in entries(public["told_in_plan"], "public.told_in_plan")
    ]
    told = [
        (action_from(policy, action), whole(times, "a number in public.told_in_plan", 1))
        for action, times in pairs
    ]
    if sum(times for _, times in told) + lost + len(pending) > asked or len(dict(told)) < len(told):
        raise damaged("public.told_in_plan counts more than was resolved, or an action twice")
    if first > asked or step > asked + 1:
        raise damaged("public.step or public.asked_before_plan counts more than was asked")
    generation = whole(public["generation"], "public.generation", 1, SAVES)
    due = finished_from(policy, public["plan_finished"])
    return Position(
        generation,
        campaign_from(public["campaign"]),
        checked_seed(public["seed"]),
        limit,
        asked,
        first,
        lost,
        step,
        pending,
        told,
        due,
    )


def campaign_from(name: object) -> str:
    try:
        return checked_name(name)
    except ValueError:
        raise damaged("public.campaign is no name") from None


def pending_runs(
    pending: Mapping[int, Play],
) -> list[tuple[int, int, Action, tuple[int, ...] | None]]:
    """Pending decisions as runs of consecutive ids with one play: (first id, how many, action, arms
    to observe).
    """
    runs = list[tuple[int, int, Action, tuple[int, ...] | None]]()
    for id, play in pending.items():
        first, many, *same = runs[-1] if runs else (0, 0)
        if first + many == id and (play.action, play.observe) == tuple(same):
            runs[-1] = (first, many + 1, play.action, play.observe)
        else:
            runs.append((id, 1, play.action, play.observe))
    return runs


def pending_from(policy: Policy, data: object, asked: int, limit: int) -> dict[int, Play]:
    """The decisions that `pending_runs` wrote; their ids rise. All runs are read before a decision
    is made: a short text can say many.
    """
    runs, last, waiting = list[tuple[range, Play]](), 0, 0
    for row in entries(data, "public.pending"):
        first, many, action, observe = entries(row, "an entry of public.pending", 4)
        first = whole(first, "the id of a pending decision", last + 1, asked)
        last = (
            first
            + whole(many, "a number of pending decisions", 1, min(asked - first + 1, MOST_PENDING))
            - 1
        )
        runs.append((range(first, last + 1), play_from(policy, action, observe)))
        waiting += many
        if waiting > limit:
            raise damaged("public.pending has more decisions than public.max_pending allows")
    return {id: play for ids, play in runs for id in ids}


def play_from(policy: Policy, action: object, observe: object) -> Play:
    semi = policy.about.feedback == "semi"
    if semi is (observe is None):
        raise damaged(
            "a pending decision does not say, as this policy's have to, which arms it observes"
        )
    seen = frozen(entries(observe, "the arms that a pending decision observes")) if semi else None
    if seen is not None and not are_arms(policy, seen):
        raise damaged("a pending decision observes what is no arm")
    return Play(action_from(policy, action), seen)


def action_from(policy: Policy, data: object) -> Action:
    """An action of the kind this policy plays: an arm, a super arm, or a weight for each arm."""
    action: Any = frozen(data)
    many = isinstance(action, tuple)
    weights = (
        policy.weighted
        and many
        and len(action) == policy.arms
        and all(type(weight) in (int, float) for weight in action)
    )
    played = many is (policy.about.feedback == "semi") and are_arms(
        policy, action if many else (action,)
    )
    if not (weights or played):
        raise damaged("an action is none of this policy's")
    # what `frozen` made is whatever the document held; it was checked above
    return action  # type: ignore[no-any-return]


def are_arms(policy: Policy, arms: tuple[Any, ...]) -> bool:
    """Whether these are arms of the policy, at least one, each once."""
    return (
        len(arms) > 0
        and all(type(arm) is int and 0 <= arm < policy.arms for arm in arms)
        and len(set(arms)) == len(arms)
    )


def finished_from(policy: Policy, data: object) -> tuple[int, ...] | None:
    if data is None:
        return None
    return tuple(
        whole(arm, "an entry of public.plan_finished", EVERY, policy.arms - 1)
        for arm in entries(data, "public.plan_finished")
    )


def position_to_data(wheel: Wheel) -> dict[str, Any]:
    """Where a wheel stands, as the public part of a saved session says it."""
    turn = wheel.turn
    return {
        "state": turn.state,
        "step": turn.step,
        "asked": wheel.asked,
        "asked_before_plan": turn.first,
        "lost": wheel.lost,
        "pending": pending_runs(wheel.pending),
        "told_in_plan": list(turn.progress.told.items()),
        "plan_finished": turn.progress.due,
        "rng": turn.rng.state(),
    }


def wheel_at(wheel: Wheel, at: Position, public: Mapping[str, Any]) -> Wheel:
    """A fresh wheel over a restored vault, turned to a saved position.

    Raises:
        ValueError: damaged: the policy cannot plan from its state, or the counts do not add up.
    """
    wheel.asked, wheel.lost, wheel.pending = at.asked, at.lost, at.pending
    if not (wheel.balanced and wheel.vault.turns == at.step):
        raise damaged("its decisions, its records and what was lost do not add up")
    # another's mechanism may count rounds its own way
    ours = POLICIES.get(type(wheel.policy).__name__) is type(wheel.policy)
    if (
        ours
        and isinstance(public["state"], Statistics)
        and not totals_match_ledger(public["state"], wheel.vault.ledger)
    ):
        raise damaged(
            "public.state has other rounds behind its totals than vault.ledger says were read"
        )
    try:
        opened = open_turn(wheel.policy, public["state"], at.step, partial(PublicRng, at.seed))
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise damaged(f"{wheel.policy.name} cannot plan from public.state") from error
    turn = asked_after(at.first, opened, wheel.semi)
    rng = rng_from_data(at.seed, at.step, public["rng"])
    wheel.turn = replace(turn, progress=progress_at(turn.plan, at), rng=rng)
    wheel.busy = True
    return wheel


def totals_match_ledger(state: Statistics, ledger: Sequence[Entry]) -> bool:
    """Whether every arm's total covers no more rounds than the ledger says were read, and some
    where some were.
    """
    read = [0] * len(state.rounds)
    for line in ledger:
        read[line.coordinate] += line.stop - line.start
    return all(
        rounds <= most and (rounds > 0) is (most > 0)
        for rounds, most in zip(state.rounds, read, strict=True)
    )


def rng_from_data(seed: int, step: int, data: Any) -> PublicRng:
    """The public randomness of a plan, where it was."""
    try:
        return PublicRng(seed, step, data)
    except (LookupError, TypeError, ValueError, OverflowError):
        raise damaged("public.rng is no position of the public randomness") from None


def progress_at(plan: Plan, at: Position) -> Progress:
    """How far the plan was carried; it is complete if and only if its release is due."""
    progress = Progress.at(plan, dict(at.told))
    if (None if progress.due is None else set(progress.due)) != (
        None if at.finished is None else set(at.finished)
    ):
        raise damaged("public.plan_finished does not fit what was told in the plan")
    return progress
