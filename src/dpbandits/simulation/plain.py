"""Plain simulation: any policy in any environment, event by event (one draw a block) or round by
round; and delayed rewards.

Both run the real vault. The compiled simulations of built-in policies (in `compiled/`) have the
same law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import heappop, heappush
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

import numpy as np

from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import Floats, Integers, number_within, real_number, shown, whole_number
from dpbandits.core.plan import EVERY, Action, Cycle, Draw, Hold, Plan, PublicRng
from dpbandits.core.privacy import Entry, Grid
from dpbandits.environments.base import Environment
from dpbandits.mechanisms.rewards import check_sums
from dpbandits.noise.protocol import Noise
from dpbandits.policies.base import Identified
from dpbandits.policies.contract import (
    Policy,
    Public,
    Release,
    Step,
    begin_step,
    problem_of,
    step_after,
)
from dpbandits.session.session import Session
from dpbandits.vault import Books, OpenBlock, Steps, Vault, add_records, release_of

# Delayed rewards: a number of rounds after their decisions, fixed or random.


@runtime_checkable
class DelayLaw(Protocol):
    """The law of a reward's delay."""

    def sample(self, rng: np.random.Generator) -> int:
        """Return the delay in rounds; 0 means before the next decision."""


@final
@dataclass(frozen=True)
class FixedDelay:
    """Every reward is late by the same number of rounds.

    Args:
        rounds: the delay, at least 0.

    Raises:
        ValueError: not a whole number of at least 0.

    >>> FixedDelay(3).sample(np.random.default_rng(0))
    3
    """

    rounds: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", whole_number(self.rounds, "rounds"))

    def sample(self, rng: np.random.Generator) -> int:
        """Return the delay."""
        return self.rounds


@final
@dataclass(frozen=True)
class GeometricDelay:
    """Geometric delays: each pending reward arrives with the same probability in every round.

    Args:
        mean: mean delay in rounds, 0 to 10**12.

    Raises:
        ValueError: `mean` is outside its range.

    >>> GeometricDelay(mean=0).sample(np.random.default_rng(0))
    0
    """

    mean: float

    def __post_init__(self) -> None:
        mean = number_within(self.mean, "mean", 0, 1e12, of="a delay in rounds")
        object.__setattr__(self, "mean", mean)

    def sample(self, rng: np.random.Generator) -> int:
        """Return a random delay in rounds."""
        return int(rng.geometric(1.0 / (1.0 + self.mean))) - 1


@final
@dataclass(frozen=True)
class UniformDelay:
    """Uniform delays from `low` to `high` rounds.

    Args:
        low: the shortest delay, at least 0.
        high: the longest delay, at least `low`.

    Raises:
        ValueError: not whole numbers in this order.

    >>> UniformDelay(2, 2).sample(np.random.default_rng(0))
    2
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", whole_number(self.low, "low"))
        object.__setattr__(self, "high", whole_number(self.high, "high", self.low))

    def sample(self, rng: np.random.Generator) -> int:
        """Return a random delay in rounds."""
        return int(rng.integers(self.low, self.high + 1))


NEVER = 2**60
"""Rounds by which an answer is late that never comes."""


@final
@dataclass(frozen=True)
class LostAnswers:
    """Some people never answer; the others do after a delay.

    Args:
        share: of people who never answer, 0 to less than 1.
        delay: of the others, a number of rounds or a law.

    Raises:
        ValueError: `share` is outside its range.

    >>> LostAnswers(0.0, delay=3).sample(np.random.default_rng(0))
    3
    """

    share: float
    delay: int | DelayLaw = 0

    def __post_init__(self) -> None:
        lost = "a share of people who never answer"
        object.__setattr__(self, "share", number_within(self.share, "share", 0, 1, "[)", of=lost))
        object.__setattr__(self, "delay", checked_delay(self.delay))

    def sample(self, rng: np.random.Generator) -> int:
        """Return a random delay in rounds; of a lost answer one that outlasts any run."""
        if rng.random() < self.share:
            return NEVER
        return checked_delay(self.delay).sample(rng)


def checked_delay(delay: Any) -> DelayLaw:
    """Return a law of delays; a number of rounds becomes a `FixedDelay`.

    Raises:
        TypeError: neither a number of rounds nor a law.
    """
    if isinstance(delay, DelayLaw) and not isinstance(delay, type):
        return delay
    if isinstance(delay, (bool, type)) or real_number(delay) is None:
        raise TypeError(
            "Expected delay= to be a number of rounds or a law such as "
            f"dpbandits.GeometricDelay(mean=500), got {shown(delay)}."
        )
    return FixedDelay(whole_number(delay, "delay"))


def drawn_delay(law: DelayLaw, rng: np.random.Generator) -> int:
    """Return the rounds by which one answer is late.

    Raises:
        ValueError: a user-defined law returned no whole number of at least 0.
    """
    late = law.sample(rng)
    if type(late) is not int or late < 0:  # checked first, because every answer is drawn
        late = whole_number(late, "sample(rng)", of="rounds")
    return min(late, NEVER)


# Runs.


class OpenVault:
    """A vault with its books, changed in place: for simulations and audits, one plan at a time.

    Args:
        vault: validates and releases the rewards.

    Attributes:
        records: number of rewards recorded.
        newest: the last release.
    """

    def __init__(self, vault: Vault) -> None:
        self.vault, self.books, self.records = vault, vault.begin(), 0
        self.newest: Release | None = None
        self._observed: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"OpenVault({self.vault!r}, records={self.records})"

    def add(self, where: Any, value: Any) -> None:
        """Record one round's feedback (see `Vault.checked`)."""
        self._enter(where, self.vault.on_grid(self.vault.checked(where, value)), 1)

    def add_block(self, where: Any, steps: Any, count: int) -> None:
        """Record `count` rounds at once by their sum in grid steps, shape () or (arms,); of
        rewards, which are in [0, 1], not of reports.
        """
        single = not isinstance(steps, np.ndarray) or steps.ndim == 0
        sums = [int(steps)] if single else steps.tolist()
        check_sums(min(sums), max(sums), count, self.vault.grid)
        self._enter(where, steps if self.vault.full and not single else tuple(sums), count)

    def _enter(self, where: Any, steps: Steps, count: int) -> None:
        vault, blocks = self.vault, self.books.blocks
        if vault.joint:
            arms = vault.known(where)
            if EVERY in blocks and arms != self._observed:
                raise RuntimeError(
                    "Expected one super arm until the next release: its rewards are released "
                    "together."
                )
            self._observed = arms
        else:
            vault._several(where)
        add_records(blocks, vault.parts(where, steps, EVERY, None), count)
        self.records += count

    def release(
        self,
        coordinates: tuple[int, ...],
        round: int,
        counts: tuple[tuple[Any, int], ...],
        drop: tuple[int, ...] = (),
    ) -> Release:
        """Release these coordinates' blocks and drop others (see `Vault.release`)."""
        vault, books, read, arms = self.vault, self.books, coordinates, None
        if vault.joint:
            books, read, drop, arms = self._joint_block(coordinates, drop)
        self.books, answers = vault.release(books, read, drop, arms)
        return self._answered(coordinates, answers, round, counts)

    def _joint_block(
        self, coordinates: tuple[int, ...], drop: tuple[int, ...]
    ) -> tuple[Books, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the books with the block's sums in the order of `coordinates`."""
        arms, books = self.vault.known(coordinates), self.books
        if not arms or EVERY not in books.blocks:
            open_ = (EVERY,) if EVERY in books.blocks else ()
            return books, (EVERY,) if arms else (), () if arms else open_, arms
        block = books.blocks[EVERY]
        by_arm = dict(zip(self._observed, block.sums, strict=True))
        block = OpenBlock(block.count, tuple(by_arm.get(arm, 0) for arm in arms))
        return books._replace(blocks={EVERY: block}), (EVERY,), (), arms

    def finish(self, round: int, counts: tuple[tuple[Any, int], ...]) -> Release:
        """End the run: no more feedback follows (see `Vault.finish`)."""
        self.books, answers = self.vault.finish(self.books)
        return self._answered(tuple(range(self.vault.arms)), answers, round, counts)

    def _answered(
        self, coordinates: tuple[int, ...], answers: Any, round: int, counts: Any
    ) -> Release:
        self.newest = release_of(coordinates, answers, round, counts, self.vault.numbers)
        return self.newest

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """Return the entries of the ledger."""
        return self.vault.entries(self.books.ledger)

    @property
    def releases(self) -> int:
        """Return the number of coordinates released so far."""
        return self.books.ledger.releases


def open_vault(policy: Policy, noise: Noise) -> OpenVault:
    """Return an empty vault for a simulation of a policy."""
    feedback, randomizer = policy.about.feedback, policy.randomizer()
    return OpenVault(Vault(feedback, policy.reader, policy.arms, noise, randomizer))


def next_step(policy: Policy, current: Step, vault: Any, public: Public) -> Step:
    """Return the step after one whose plan is complete: release, update, plan."""
    assert current.progress.ready is not None
    counts = tuple(sorted(current.progress.told.items()))
    ready, drop = current.progress.ready, current.plan.drop
    release = vault.release(ready, vault.records, counts, drop)
    return step_after(policy, current, release, public)


class Path(NamedTuple):
    """One run.

    Args:
        plays: play counts after each checkpoint, shape (checkpoints, arms); for a `weighted`
            policy, sums of weights.
        rounds: rounds played; fewer than requested only if a finite environment ended.
        releases: number of releases.
        events: number of events.
        ledger: entries of the ledger.
        state: the policy's last state.
        acceptance: share of accepted entries of a log.
        earned: expected value of all super arms played, shape (checkpoints,), if it is not the sum
            of their arms' means, or means change; else None.
        rewards: sum of the played rewards, shape (checkpoints,), if the environment fixes its
            rewards beforehand; else None.
        found: the arm that a compiled run identified; other runs have it in the state.
    """

    plays: Integers | Floats
    rounds: int
    releases: int
    events: int
    ledger: tuple[Entry, ...] = ()
    state: Any = None
    acceptance: float = float("nan")
    earned: Floats | None = None
    rewards: Floats | None = None
    found: Identified | None = None


# The counts of a plain run: plays and their rewards at every checkpoint.


class Curve:
    """Counts plays and keeps a copy at every checkpoint (increasing rounds).

    It keeps two further sums: the expected value of super arms whose value is not the sum of their
    arms, and the played rewards if all rewards are fixed beforehand.
    """

    def __init__(self, policy: Policy, environment: Environment, checkpoints: Integers) -> None:
        problem = problem_of(policy)
        linear = problem is None or problem.linear
        self._worth = (
            None
            if linear or problem is None
            else lru_cache(None)(partial(problem.value, means=environment.means))
        )
        self._environment = environment if environment.fixed and linear else None
        self._changing = environment if environment.changing else None
        self._earned, self._gained = 0.0, 0.0
        self._earned_at, self._gained_at = np.zeros(len(checkpoints)), np.zeros(len(checkpoints))
        self._weighted = policy.weighted
        kind: type[np.number[Any]] = np.float64 if policy.weighted else np.int64
        self.checkpoints, self.now, self._next = checkpoints, np.zeros(policy.arms, kind), 0
        self.at = np.zeros((len(checkpoints), policy.arms), kind)

    def play(self, t: int, action: Action, times: int) -> None:
        """Count `times` rounds of `action` after round t."""
        end = t + times
        while self._next < len(self.checkpoints) and self.checkpoints[self._next] <= end:
            mark = int(self.checkpoints[self._next])
            self._count(t, action, mark - t)
            self._keep()
            t = mark
        self._count(t, action, end - t)

    def _count(self, t: int, action: Action, times: int) -> None:
        if times == 0:
            return
        arms: Any = action if type(action) is int else np.array(action)
        share: Any = 1
        if self._weighted:
            arms, share = np.arange(len(self.now)), arms
        self.now[arms] += share * times
        if self._changing is not None:
            expected = self._changing.expected(t, t + times, np.atleast_1d(arms))
            self._earned += float((share * expected).sum())
        elif self._worth is not None:
            self._earned += self._worth(action) * times
        if self._environment is not None:
            given = self._environment.between(t, t + times, np.atleast_1d(arms))
            self._gained += float((share * given).sum())

    def _keep(self) -> None:
        self.at[self._next] = self.now
        self._earned_at[self._next] = self._earned
        self._gained_at[self._next] = self._gained
        self._next += 1

    def path(self, rounds: int, releases: int, events: int, **found: Any) -> Path:
        """Return the run, which may have ended before the last checkpoints."""
        while self._next < len(self.checkpoints):
            self._keep()
        has_worth = self._worth is not None or self._changing is not None
        found |= {"earned": self._earned_at} if has_worth else {}
        found |= {"rewards": self._gained_at} if self._environment is not None else {}
        return Path(self.at, rounds, releases, events, **found)


def seen(policy: Policy, action: Action, observe: tuple[int, ...] | None) -> Integers | None:
    """Return the arms whose rewards a round of `action` shows, as an array; None for the played
    arm.
    """
    match policy.about.feedback:
        case "full":
            return np.arange(policy.arms)
        case "semi":
            return np.array(observe or action, np.int64)
    return None


def drawn_feedback(
    environment: Environment,
    policy: Policy,
    action: Action,
    rng: np.random.Generator,
    arms: tuple[int, ...] | None = None,
) -> Any:
    """Return the feedback of one round of `action` for this policy: a reward, or a vector of
    rewards (of `arms` alone, if the plan names them).
    """
    many = seen(policy, action, arms)
    if many is not None:
        return environment.draw_many(many, rng)
    assert isinstance(action, int)
    return environment.draw(action, rng)


def observe_block(
    environment: Environment,
    policy: Policy,
    action: Action,
    times: int,
    grid: Grid,
    rng: np.random.Generator,
    arms: tuple[int, ...] | None = None,
) -> Any:
    """Return the sum of `times` such rounds, in grid steps."""
    many = seen(policy, action, arms)
    if many is not None:
        return environment.block_many(many, times, grid, rng)
    assert isinstance(action, int)
    return environment.block(action, times, grid, rng)


def moves(plan: Plan, t: int, left: int, rng: PublicRng) -> Iterator[tuple[Action, int]]:
    """Yield (action, times) in playing order for at most `left` rounds after round t. A `Draw` does
    not end; its consumer stops.
    """
    match plan:
        case Hold(action, rounds, _):
            yield action, min(rounds, left)
        case Cycle(actions, each, _):
            for j, action in enumerate(actions):
                if j * each < left:
                    yield action, min(each, left - j * each)
        case Draw():
            for i in range(left):
                yield plan.action_at(i, t + i + 1, rng), 1


def play_events(
    policy: Policy,
    environment: Environment,
    rounds: int,
    checkpoints: Integers,
    *,
    noise: Noise,
    seed: int,
    rng: np.random.Generator,
    until: Callable[[Any], bool] | None = None,
    vault: Any = None,
) -> Path:
    """Play one run by events. The cost grows with plans and releases, not with rounds (except for
    `Draw` plans).

    Args:
        policy: the policy.
        environment: the environment.
        rounds: number of rounds.
        checkpoints: rounds at which play counts are kept.
        noise: source of noise.
        seed: seed of the public randomness.
        rng: source of the rewards.
        until: ends the run at the first state (the initial one, or one after a release) for which
            it is true.
        vault: an empty one to play with, such as one that audits write down; by default a new one.
    """
    environment, curve = environment.fresh(), Curve(policy, environment, checkpoints)
    vault = open_vault(policy, noise) if vault is None else vault
    public, t, events = partial(PublicRng, seed), 0, 0
    current = begin_step(policy, policy.init(), 0, public)
    while t < rounds and not (until is not None and until(current.state)):
        plan = current.plan
        for action, times in moves(plan, t, rounds - t, current.rng):
            enter_rounds(vault, environment, policy, action, times, noise, rng, plan.observe)
            curve.play(t, action, times)
            t, events = t + times, events + 1
            if current.progress.count(plan.observe or action, times) is not None:
                current = next_step(policy, current, vault, public)
                break
    return curve.path(t, vault.releases, events, ledger=vault.ledger, state=current.state)


def enter_rounds(
    vault: Any,
    environment: Environment,
    policy: Policy,
    action: Action,
    times: int,
    noise: Noise,
    rng: np.random.Generator,
    observe: tuple[int, ...] | None,
) -> None:
    """Record `times` rounds of an action in the vault: their sum, or one report each."""
    randomizer = policy.randomizer()
    if randomizer is None:
        sums = observe_block(environment, policy, action, times, policy.reader.grid, rng, observe)
        vault.add_block(observe or action, sums, times)
        return
    for _ in range(times):
        rewards = drawn_feedback(environment, policy, action, rng, observe)
        vault.add(observe or action, randomizer.report(rewards, noise))


DELAY_STREAM = 2
"""Separates the random stream of a run's delays from its other streams."""


def play_rounds(
    policy: Policy,
    environment: Environment,
    rounds: int,
    checkpoints: Integers,
    *,
    noise: Noise,
    seed: int,
    rng: np.random.Generator,
    each: Callable[[int, Session], None] | None = None,
    delay: DelayLaw | None = None,
) -> Path:
    """Play one run round by round through a `Session`: the reference for all faster simulations.

    Args:
        each: called with the session after every round.
        delay: law of the rewards' delays; rewards after the last round are never reported.

    The others are those of `play_events`.
    """
    environment, curve = environment.fresh(), Curve(policy, environment, checkpoints)
    session = Session(policy, noise=noise, seed=seed, max_pending=10**7)
    randomizer, delays = policy.randomizer(), np.random.default_rng([seed, DELAY_STREAM])
    pending, t = list[tuple[int, int, Any]](), 0
    for t in range(1, rounds + 1):
        decision = session.ask()
        try:
            reward = drawn_feedback(environment, policy, decision.action, rng, decision.observe)
        except EnvironmentExhausted:
            t -= 1
            break
        curve.play(t - 1, decision.action, 1)
        late = 0 if delay is None else drawn_delay(delay, delays)
        heappush(pending, (t + late, t, (decision, reward)))
        while pending and pending[0][0] <= t:
            due, reward = heappop(pending)[2]
            session.tell(due, reward if randomizer is None else randomizer.report(reward, noise))
        if each is not None:
            each(t, session)
    found = {"ledger": session.ledger, "state": session.state}
    return curve.path(t, session.releases, t, acceptance=environment.acceptance, **found)
