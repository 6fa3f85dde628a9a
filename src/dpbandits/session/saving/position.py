"""Where a saved session stood: its counters, what was pending and what its plan was told. Public
data, read strictly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.roster import Roster, roster_from_data
from dpbandits.core.plan import Action, Progress, PublicRng
from dpbandits.core.privacy import Entry
from dpbandits.core.values import SAVES, checked_name, checked_seed, damaged, entries, part, whole
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.turn import open_turn
from dpbandits.session.decisions import MOST_PENDING, Play
from dpbandits.session.saving.offers import offer_at, offer_from, offer_to_data
from dpbandits.session.saving.plans import (
    finished_from,
    key_from,
    plans_from_data,
    plans_to_data,
)
from dpbandits.session.saving.waiting import action_from, pending_from, pending_runs
from dpbandits.session.standing import SessionEvent
from dpbandits.session.wheel.choices import chosen_from_data
from dpbandits.session.wheel.chosen import KeptChoices
from dpbandits.session.wheel.offers import AskedTurn, OpenPlan
from dpbandits.session.wheel.overdue import Overdue, overdue_from_data, overdue_to_data
from dpbandits.session.wheel.turn import Wheel

ToldPairs = list[tuple[Action, int]]


class Position(NamedTuple):
    """first: decisions asked before the plan. finished: the coordinates whose release is due; None
    while the plan goes on. offer: the action that is asked for (None: the plan's), from which
    decision on, up to which, and in which block (0: none of its own).
    """

    generation: int
    campaign: str
    seed: int
    max_pending: int
    asked: int
    first: int
    lost: int
    unread: int
    step: int
    pending: dict[int, Play]
    told: ToldPairs
    finished: tuple[int, ...] | None
    offer: tuple[Action | None, int, int, int]
    roster: Roster
    events: tuple[SessionEvent, ...]
    chosen: KeptChoices
    plans: dict[int, OpenPlan]
    overdue: tuple[dict[int, int], Overdue] | None


def position(
    policy: Policy, public: Mapping[str, Any], waiting: dict[int, Play] | None = None
) -> Position:
    """The public part's position.

    waiting: the pending decisions, where they are kept apart from the public part.

    Raises:
        ValueError: damaged: a part of another type, or numbers that contradict each other.
    """
    asked, first, lost, unread, step = (
        whole(public[key], f"public.{key}")
        for key in ("asked", "asked_before_plan", "lost", "unread", "step")
    )
    limit = whole(public["max_pending"], "public.max_pending", 1, MOST_PENDING)
    pending = waiting
    if pending is None:
        pending = pending_from(policy, public["pending"], asked, limit)
    windowed = public["attribution"] is not None
    roster = roster_from_data(public["arms"], policy.arms, policy.labels)
    told = told_from(policy, public["told_in_plan"], asked)
    if sum(times for _, times in told) + lost + unread + len(pending) > asked:
        raise damaged("public.told_in_plan counts more than was resolved")
    events = events_from(public["events"], asked)
    if first > asked or step > asked + 1 + len(events):
        raise damaged("public.step or public.asked_before_plan counts more than was asked")
    return Position(
        whole(public["generation"], "public.generation", 1, SAVES),
        campaign_from(public["campaign"]),
        checked_seed(public["seed"]),
        limit,
        asked,
        first,
        lost,
        unread,
        step,
        pending,
        told,
        finished_from(policy, public["plan_finished"], asked),
        offer_from(policy, public["offer"], asked),
        roster,
        events,
        chosen_from_data(public["chosen"], asked, partial(action_from, policy)),
        plans_from_data(policy, public["plans"], asked, step),
        None if windowed else overdue_from_data(public.get("overdue"), asked, policy),
    )


def seed_said(public: Mapping[str, Any], private: Mapping[str, Any] | None) -> object:
    """The seed of the public coins. Where it foretells who gets what, it is in the private part;
    earlier documents have it in the public one.

    private: None for a session that is only looked at, which tosses no coin.
    """
    if public["seed"] is not None:
        return public["seed"]
    return 0 if private is None else part(private, "private", "seed")["seed"]


def told_from(policy: Policy, data: object, asked: int) -> ToldPairs:
    """The rounds that were told since the plan began, by action."""
    told = ToldPairs()
    for pair in entries(data, "public.told_in_plan"):
        action, times = entries(pair, "an entry of public.told_in_plan", 2)
        times = whole(times, "a number in public.told_in_plan", 1)
        told.append((key_from(policy, action, asked), times))
    if len(dict(told)) < len(told):
        raise damaged("public.told_in_plan counts an action twice")
    return told


EVENTS = ("add", "retire", "pause", "resume", "drop")


def events_from(data: object, asked: int) -> tuple[SessionEvent, ...]:
    """What was done to the session besides asking and telling."""
    events = list[SessionEvent]()
    for row in entries(data, "public.events"):
        what, arm, at = entries(row, "an entry of public.events", 3)
        if what not in EVENTS or not (arm is None or type(arm) in (int, str)):
            raise damaged("an entry of public.events is none of a session's events")
        events.append(SessionEvent(what, arm, whole(at, "a number in public.events", 0, asked)))
    return tuple(events)


def campaign_from(name: object) -> str:
    try:
        return checked_name(name)
    except ValueError:
        raise damaged("public.campaign is no name") from None


def position_to_data(wheel: Wheel) -> dict[str, Any]:
    """Where a wheel stands, as the public part of a saved session says it."""
    turn = wheel.turn
    return {
        "state": turn.state,
        "step": turn.step,
        "asked": wheel.asked,
        "asked_before_plan": turn.first,
        "lost": wheel.lost,
        "unread": wheel.unread,
        "offer": offer_to_data(turn),
        "plans": plans_to_data(turn.plans),
        "beliefs": turn.believed.to_data(),
        "pending": pending_runs(wheel.pending),
        "told_in_plan": list(turn.progress.told.items()),
        "plan_finished": turn.progress.due,
        "rng": turn.rng.state(),
        "overdue": overdue_to_data(wheel.late, wheel.overdue),
    }


def wheel_at(wheel: Wheel, at: Position, public: Mapping[str, Any]) -> Wheel:
    """A fresh wheel over a restored vault, turned to a saved position.

    Raises:
        ValueError: damaged: the policy cannot plan from its state, or the counts do not add up.
    """
    wheel.asked, wheel.lost, wheel.pending = at.asked, at.lost, at.pending
    wheel.unread, wheel.roster = at.unread, at.roster
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
    believed = Believed.restored(wheel.policy, public["beliefs"])
    if len(believed.arms) != wheel.policy.arms:
        raise damaged("public.beliefs has not one entry for each arm")
    turn = replace(wheel.asked_about(opened, believed), first=at.first)
    if at.overdue is None:
        wheel.late = None
    elif wheel.late is not None:
        wheel.late, wheel.overdue = at.overdue
    turn = offer_at(wheel, turn, at.offer, at.plans, dict(at.told))
    rng = rng_from_data(at.seed, at.step, public["rng"])
    wheel.turn = replace(turn, progress=progress_at(turn, at), rng=rng)
    # what was due is made by the next call
    wheel.busy = wheel.turn.progress.due is not None
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


def progress_at(turn: AskedTurn, at: Position) -> Progress:
    """How far the plan was carried; it is complete if and only if its release is due."""
    progress = turn.progress.again(dict(at.told))
    if (None if progress.due is None else set(progress.due)) != (
        None if at.finished is None else set(at.finished)
    ):
        raise damaged("public.plan_finished does not fit what was told in the plan")
    return progress
