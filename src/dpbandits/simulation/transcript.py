"""Simulation with a transcript: all rewards recorded and all releases of a run, and its replay with
other rewards. Audits use it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.core.errors import Foreign
from dpbandits.core.plan import Action, PublicRng
from dpbandits.environments.base import Environment
from dpbandits.mechanisms.base import Mechanism
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import PlanReplay, Policy, Release, begin_step
from dpbandits.simulation.plain import (
    OpenVault,
    Path,
    moves,
    next_step,
    open_vault,
    play_events,
    seen,
)
from dpbandits.vault import Vault

Written = tuple[Any, ...]
"""An immutable copy of a public value at the time of its release."""

PLAIN = {int, bool, str, bytes, Fraction, type(None)}


def form_of(value: Any) -> Written:
    """Return an immutable copy of everything that can be read in a value.

    Values that compare equal may differ for a reader, such as `True` and 1, or 0.0 and -0.0; their
    forms differ.

    Raises:
        Foreign: the value does not consist of numbers, text, tuples, lists, dictionaries and arrays
            alone, and may hide something.
    """
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if kind is float:
        return kind, struct.pack("<d", value)  # the bits of a NaN, too
    if isinstance(value, (tuple, list)) and not hasattr(value, "__dict__"):
        return kind, *map(form_of, value)
    if kind is dict:
        return kind, *((form_of(key), form_of(item)) for key, item in value.items())
    if isinstance(value, np.generic) or (kind is np.ndarray and value.base is None):
        dtype = value.dtype
        if dtype.kind in "biufSU" and not dtype.metadata:
            return kind, dtype.str, value.shape, value.strides, value.tobytes()
    raise Foreign(
        f"Its answers cannot be compared: they hold an object of type {kind.__name__}. Answer with "
        "numbers, text, tuples, lists, or arrays of their own."
    )


def identical(one: object, other: object) -> bool:
    """Return whether two public values are the same for every reader.

    Raises:
        Foreign: a value of a type that cannot be compared.
    """
    return form_of(one) == form_of(other)


FINISH = ("finish",)
"""The request to the vault at the end of the records."""


class Entered(NamedTuple):
    """Rounds recorded at once.

    Args:
        where: their arms.
        steps: their sums in grid steps.
        rounds: their number.
        start: number of rounds before them.
    """

    where: Any
    steps: Any
    rounds: int
    start: int


class Released(NamedTuple):
    """A request to the vault and its answer.

    Args:
        asked: arguments of the request.
        answer: the answer.
        form: a copy of the answer; a mechanism may change its objects later.
    """

    asked: tuple[Any, ...]
    answer: Release
    form: Written


@final
class Transcript(OpenVault):
    """One run of a central policy: the vault that it is played with, which is also written down.

    Args:
        policy: the policy.
        noise: source of noise.
        begins: called before every release.

    Attributes:
        events: recorded rounds and releases, in order.
        path: the run.
    """

    def __init__(
        self, policy: Policy, noise: Noise, begins: Callable[[], None] | None = None
    ) -> None:
        super().__init__(central_vault(policy, policy.mechanism(), noise))
        self.policy, self.begins, self.events = policy, begins, list[Entered | Released]()
        self.path: Path | None = None

    def add_block(self, where: Any, steps: Any, count: int) -> None:
        copied = steps.copy() if isinstance(steps, np.ndarray) else steps
        self.events.append(Entered(where, copied, count, self.records))
        super().add_block(where, steps, count)

    def release(self, *asked: Any) -> Release:
        if self.begins is not None:
            self.begins()
        answer = super().release(*asked)
        self.events.append(Released(asked, answer, form_of(answer)))
        return answer

    def end(self) -> None:
        """Request the last answer of a stopping rule, if it has one."""
        if self.begins is not None:
            self.begins()
        try:
            answer = self.finish(self.records, ())
        except (TypeError, ValueError):
            return
        self.events.append(Released(FINISH, answer, form_of(answer)))

    def replay(
        self,
        changes: Mapping[int, Any],
        noise: Noise,
        *,
        seed: int | None = None,
        wrap: Callable[[Mechanism], Mechanism] | None = None,
    ) -> Replay:
        """Replay the same rounds through a fresh vault, until the first event with another answer,
        after which decisions may differ.

        Args:
            changes: by event, a number that is added to its sums.
            noise: source of noise.
            seed: seed of the public randomness; if given, the policy plans again.
            wrap: wraps the mechanism.
        """
        replayed_plans = PlanReplay(self.policy, seed) if seed is not None else None
        plans = list[str]()
        for at, event, answer in self.answers(changes, noise, wrap):
            if replayed_plans is not None and event.asked != FINISH:
                plans.append(replayed_plans.after(answer))
            if form_of(answer) != event.form:
                return Replay(at, plans)
        return Replay(None, plans)

    def answers(
        self,
        changes: Mapping[int, Any],
        noise: Noise,
        wrap: Callable[[Mechanism], Mechanism] | None = None,
    ) -> Iterator[tuple[int, Released, Release]]:
        """Yield (event index, recorded release, new answer) for the same requests to a fresh
        vault.
        """
        mechanism = self.policy.mechanism()
        vault = OpenVault(central_vault(self.policy, wrap(mechanism) if wrap else mechanism, noise))
        for at, event in enumerate(self.events):
            if isinstance(event, Entered):
                vault.add_block(
                    event.where,
                    event.steps + changes[at] if at in changes else event.steps,
                    event.rounds,
                )
            else:
                yield (
                    at,
                    event,
                    vault.finish(self.records, ())
                    if event.asked == FINISH
                    else vault.release(*event.asked),
                )


def central_vault(policy: Policy, mechanism: Mechanism, noise: Noise) -> Vault:
    """Return a vault for records as they are."""
    return Vault(policy.about.feedback, mechanism, policy.arms, noise, None)


class Replay(NamedTuple):
    """The result of a replay.

    Args:
        at: index of the first event with another answer; None if all answers are the same.
        plans: the plans as text, if requested.
    """

    at: int | None
    plans: list[str]


def transcript(
    policy: Policy,
    environment: Environment,
    rounds: int,
    *,
    noise: Noise,
    seed: int,
    begins: Callable[[], None] | None = None,
) -> Transcript:
    """Play a central policy by events and record it. `begins` is called before every release."""
    written = Transcript(policy, noise, begins)
    marks, rng = np.array([rounds]), np.random.default_rng(seed)
    written.path = play_events(
        policy, environment, rounds, marks, noise=noise, seed=seed, rng=rng, vault=written
    )
    return written


def decisions(
    policy: Policy,
    table: Any,
    *,
    noise: Noise,
    seed: int,
    public: Callable[[int, int], PublicRng] = PublicRng,
    releases: list[Release] | None = None,
) -> list[Action]:
    """Return the actions in each round of a known reward table, shape (rounds, arms); a fast way
    for short runs. `public` creates the public randomness of a seed and a step; every release is
    appended to `releases`.
    """
    randomizer, rounds = policy.randomizer(), len(table)
    vault = open_vault(policy, noise)
    full, bandit = policy.about.feedback == "full", policy.about.feedback == "bandit"
    coins, played = partial(public, seed), list[Action]()
    current = begin_step(policy, policy.init(), 0, coins)
    while len(played) < rounds:
        plan = current.plan
        for action, times in moves(plan, len(played), rounds - len(played), current.rng):
            ended = None
            for _ in range(times):
                row = table[len(played)]
                arms = None if bandit or full else seen(policy, action, plan.observe)
                reward = row[action] if bandit else row if arms is None else row[arms]
                vault.add(
                    plan.observe or action,
                    reward if randomizer is None else randomizer.report(reward, noise),
                )
                played.append(action)
                ended = current.progress.count(plan.observe or action)
            if ended is not None:
                current = next_step(policy, current, vault, coins)
                if releases is not None and vault.newest is not None:
                    releases.append(vault.newest)
                break
    return played
