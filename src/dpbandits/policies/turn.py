"""A turn: the period between two releases. All simulations and sessions open turns here.
Simulations and audits also end them here (release, update, plan); a session does that in two
commits (`Session._advance`).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, final

from dpbandits.core.plan import Cycle, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.policies.contract import Policy, Release

ToldCounts = tuple[tuple[Any, int], ...]
"""(action, rewards recorded since the turn began)."""

Public = Callable[[int], PublicRng]
"""Creates the public randomness of a step."""


class Turn(NamedTuple):
    """The period between two releases, an immutable value. Public.

    Args:
        state: the policy's state.
        step: number of turns before this one.
        rng: public randomness of this step.
        plan: the policy's plan.
        progress: recorded decisions of the plan.
    """

    state: Any
    step: int
    rng: PublicRng
    plan: Plan
    progress: Progress


class Releasing(Protocol):
    """The vault of a turn.

    Attributes:
        records: number of rewards recorded.
        turns: number of releases made.
        newest: the last release.
    """

    @property
    def records(self) -> int: ...
    @property
    def turns(self) -> int: ...
    @property
    def newest(self) -> Release | None: ...
    def release(
        self,
        coordinates: tuple[int, ...],
        round: int,
        counts: ToldCounts,
        drop: tuple[int, ...] = (),
    ) -> Release: ...
    def emptied(self) -> tuple[int, ...]: ...


def open_turn(policy: Policy, state: Any, step: int, public: Public) -> Turn:
    """Return the turn that a policy plans from this state.

    Args:
        policy: the policy.
        state: its state.
        step: number of turns before this one.
        public: creates the public randomness of a step. It is only passed on, so that a caller can
            see whether a policy uses it.

    Raises:
        TypeError: the policy's plan is not a plan.
        ValueError: it plans an invalid arm, or a `Draw` without a limit for each arm.
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
    """Return the turn after a release: update, then plan."""
    state = policy.update(turn.state, turn.plan, release)
    return open_turn(policy, state, turn.step + 1, public)


def next_turn(policy: Policy, turn: Turn, vault: Releasing, public: Public) -> Turn:
    """Return the turn after one whose plan is complete: release, update, plan.

    Only the vault changes before it returns. If an earlier call failed after the release, the
    vault's newest release is used, and nothing is released twice.
    """
    if vault.turns == turn.step:
        assert turn.progress.due is not None
        vault.release(turn.progress.due, vault.records, recorded_counts(turn), turn.plan.drop)
    newest = vault.newest
    assert newest is not None
    if turn.progress.due is None and not newest.coordinates:  # an unplanned drop
        state = policy.dropped(turn.state, newest, vault.emptied())
        return open_turn(policy, state, turn.step + 1, public)
    return turn_after(policy, turn, newest, public)


def recorded_counts(turn: Turn) -> ToldCounts:
    """Return (action, rewards recorded since the turn began), for a release."""
    return tuple(sorted(turn.progress.told.items()))


@final
class PlanReplay:
    """Replays a policy's plans along given releases."""

    def __init__(self, policy: Policy, seed: int) -> None:
        self.policy, self.public = policy, partial(PublicRng, seed)
        self.turn = open_turn(policy, policy.init(), 0, self.public)

    def after(self, release: Release) -> str:
        """Return the repr of the plan after one more release."""
        self.turn = turn_after(self.policy, self.turn, release, self.public)
        return repr(self.turn.plan)
