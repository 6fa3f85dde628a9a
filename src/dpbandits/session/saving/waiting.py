"""The pending decisions of a saved session, and the actions that it names: written as runs, read
strictly.
"""

from collections.abc import Mapping
from typing import Any

from dpbandits.core.plan import Action
from dpbandits.core.values import damaged, entries, frozen, whole
from dpbandits.policies.contract import Policy
from dpbandits.policies.labels import ArmLabels
from dpbandits.session.decisions import MOST_PENDING, Play


def pending_runs(
    pending: Mapping[int, Play],
) -> list[tuple[int, int, Action, tuple[int, ...] | None, bool]]:
    """Pending decisions as runs of consecutive ids with one play: (first id, how many, action, arms
    to observe, whether their rewards count).
    """
    runs = list[tuple[int, int, Action, tuple[int, ...] | None, bool]]()
    for id, play in pending.items():
        first, many, *same = runs[-1] if runs else (0, 0)
        if first + many == id and (play.action, play.observe, play.learn) == tuple(same):
            runs[-1] = (first, many + 1, play.action, play.observe, play.learn)
        else:
            runs.append((id, 1, play.action, play.observe, play.learn))
    return runs


def pending_from(policy: Policy, data: object, asked: int, limit: int) -> dict[int, Play]:
    """The decisions that `pending_runs` wrote; their ids rise. All runs are read before a decision
    is made: a short text can say many.
    """
    runs, last, waiting = list[tuple[range, Play]](), 0, 0
    for row in entries(data, "public.pending"):
        first, many, action, observe, learn = entries(row, "an entry of public.pending", 5)
        first = whole(first, "the id of a pending decision", last + 1, asked)
        last = (
            first
            + whole(many, "a number of pending decisions", 1, min(asked - first + 1, MOST_PENDING))
            - 1
        )
        runs.append((range(first, last + 1), play_from(policy, action, observe, learn)))
        waiting += many
        if waiting > limit:
            raise damaged("public.pending has more decisions than public.max_pending allows")
    return {id: play for ids, play in runs for id in ids}


def play_from(policy: Policy, action: object, observe: object, learn: object) -> Play:
    if not isinstance(learn, bool):
        raise damaged("a pending decision does not say whether its reward counts")
    semi = policy.about.feedback == "semi"
    if semi is (observe is None):
        raise damaged(
            "a pending decision does not say, as this policy's have to, which arms it observes"
        )
    seen = frozen(entries(observe, "the arms that a pending decision observes")) if semi else None
    if seen is not None and not are_arms(policy, seen):
        raise damaged("a pending decision observes what is no arm")
    played = action_from(policy, action)
    return Play(played, seen, ArmLabels(policy.labels or ()).of(played), learn)


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
