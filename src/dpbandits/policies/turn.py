"""What is played between two releases: a turn. Every host opens it here; simulations and audits end
it here, too (release, update, plan). A session does that in two commits (`Session._advance`).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, final

from dpbandits.core.plan import Cycle, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.policies.contract import Policy, Release

ToldCounts = tuple[tuple[Any, int], ...]

Public = Callable[[int], PublicRng]
"""Makes the public randomness of a step."""


class Turn(NamedTuple):
    """What is played between two releases: public, and replaced whole. step: turns before this
    one.
    """

    state: Any
    step: int
    rng: PublicRng
    plan: Plan
    progress: Progress


class Releasing(Protocol):
    """What a turn needs of a vault. turns: releases that were answered; newest: the last answer."""

    @property
    def records(self) -> int: ...
    @property
    def turns(self) -> int: ...
    @property
    def newest(self) -> Release | None: ...
    def release(
        self, coordinates: tuple[int, ...], round: int, told: ToldCounts, drop: tuple[int, ...] = ()
    ) -> Release: ...
    def emptied(self) -> tuple[int, ...]: ...


def open_turn(policy: Policy, state: Any, step: int, public: Public) -> Turn:
    """Plan from this state.

    public: makes the public randomness of a step. Nothing else of that is looked at: a host may
        want to know whether a policy tosses coins at all.

    Raises:
        TypeError: the policy plans something that is no plan.
        ValueError: it plans an arm that is none, or a `Draw` without a limit for each arm.
    """
    rng = public(step)
    plan = policy.plan(state, rng)
    if not isinstance(plan, (Hold, Cycle, Draw)):
        raise TypeError(
            f"Expected {policy.name}.plan() to return a Hold, Cycle or Draw of "
            f"dpbandits.core.plan, got an object of type {type(plan).__name__}."
        )
    arms = policy.arms
    if isinstance(plan, Hold) and type(plan.action) is int and not 0 <= plan.action < arms:
        raise ValueError(
            f"Expected {policy.name}.plan() to hold an arm from 0 to {arms - 1}, got {plan.action}."
        )
    if isinstance(plan, Draw) and len(plan.limits) != arms:
        raise ValueError(
            f"Expected {policy.name} to plan a Draw with a limit for each of its {arms} "
            f"arms, got {len(plan.limits)}."
        )
    return Turn(state, step, rng, plan, Progress(plan, partial(policy.room, state)))


def turn_after(policy: Policy, turn: Turn, release: Release, public: Public) -> Turn:
    """Update and plan: the turn that a release begins."""
    state = policy.update(turn.state, turn.plan, release)
    return open_turn(policy, state, turn.step + 1, public)


def next_turn(policy: Policy, turn: Turn, vault: Releasing, public: Public) -> Turn:
    """Release, update, plan: the turn after one whose plan is complete.

    Nothing but the vault changes before it returns. Where an earlier call failed after the release,
    the vault has answered this turn already: the answer is used, and nothing is released twice.
    """
    if vault.turns == turn.step:
        assert turn.progress.due is not None
        vault.release(turn.progress.due, vault.records, told_in(turn), turn.plan.drop)
    newest = vault.newest
    assert newest is not None
    if turn.progress.due is None and not newest.coordinates:  # a drop that no plan spoke of
        state = policy.dropped(turn.state, newest, vault.emptied())
        return open_turn(policy, state, turn.step + 1, public)
    return turn_after(policy, turn, newest, public)


def told_in(turn: Turn) -> ToldCounts:
    """(action, rounds told since the turn began), for a release."""
    return tuple(sorted(turn.progress.told.items()))


@final
class Asking:
    """Asks a policy for its plans along given releases."""

    def __init__(self, policy: Policy, seed: int) -> None:
        self.policy, self.public = policy, partial(PublicRng, seed)
        self.turn = open_turn(policy, policy.init(), 0, self.public)

    def after(self, release: Release) -> str:
        self.turn = turn_after(self.policy, self.turn, release, self.public)
        return repr(self.turn.plan)
