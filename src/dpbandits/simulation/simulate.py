"""`simulate`: many runs of a policy in an environment, compiled where the policy allows it, always
with the same law.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from dpbandits.core.inputs import LARGEST_SEED, Integers, switch, whole_number
from dpbandits.environments.base import Environment, require_pair
from dpbandits.environments.changing import ChangingMeans
from dpbandits.environments.laws import Reordered, SharedCoins, random_order
from dpbandits.environments.tables import ContextTable
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies import CONTEXTUAL
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.simulation.contexts import play_contexts, play_joint, require_contexts
from dpbandits.simulation.plain import DelayLaw, Path, checked_delay, play_events, play_rounds
from dpbandits.simulation.runs import Kept, Runs, at_checkpoints, checked_rounds

# Validation of the arguments of simulations.


def checked(
    policy: Policy,
    environment: Environment,
    rounds: object,
    runs: object,
    seed: object,
    name: str = "rounds",
) -> tuple[int, int, int]:
    """Return rounds, runs and seed as ints; raise if they cannot be played. `name`: of the
    caller's argument.
    """
    require_pair(policy, environment)
    rounds = whole_number(rounds, name, 1)
    runs = whole_number(runs, "runs", 1, MOST_RUNS)
    seed = whole_number(seed, "seed", 0, LARGEST_SEED)
    if environment.length is not None and rounds > environment.length:
        raise ValueError(
            f"{environment!r} has {environment.length} rounds, fewer than {name}={rounds}. To "
            "play longer, a Table takes resample=True, a ContextTable logged=False."
        )
    horizon = getattr(policy, "horizon", None)
    if policy.about.needs_horizon and horizon is not None and horizon < rounds:
        raise ValueError(
            f"Expected {name} of at most horizon={horizon} of this {policy.name}, got "
            f"{name}={rounds}."
        )
    if rounds * policy.reader.grid.steps >= 2**62:
        raise ValueError(
            f"Expected {name}={rounds} times grid={policy.reader.grid.steps} to stay below 2**62."
        )
    return rounds, runs, seed


def checked_workers(workers: object) -> int | None:
    """Return the number of runs that are played at once; None for as many as are useful."""
    return None if workers is None else whole_number(workers, "workers", 1, 10_000)


MOST_RUNS = 10**9
"""The most runs of one simulation: each takes at least some microseconds and some bytes."""

MOST_COUNTS = 2**33
"""The most play counts of one simulation, 64 GiB."""

MANY = 20_000
"""From this number of arms on, play counts are kept for the last round only: fifty copies would
fill the memory.
"""


def default_checkpoints(rounds: int, arms: int = 1) -> Integers:
    """Return about fifty rounds, half of them evenly spaced, half in geometric progression; the
    last is `rounds`. With many arms, the last round alone.
    """
    if arms >= MANY:
        return np.array([rounds], np.int64)
    even = np.linspace(0, rounds, 25)[1:]
    ratio = np.geomspace(1, rounds, 25)
    return np.unique(np.maximum(1, np.rint(np.concatenate([even, ratio]))).astype(np.int64))


def kept_rounds(policy: Policy, rounds: int, runs: int, at: Sequence[int] | None) -> Integers:
    """Return the rounds whose play counts are kept, with the last round."""
    checkpoints = (
        default_checkpoints(rounds, policy.arms)
        if at is None
        else np.unique(np.append(checked_rounds(at, rounds), rounds))
    )
    if runs * len(checkpoints) * policy.arms > MOST_COUNTS:
        raise ValueError(
            f"Expected runs × kept rounds × arms to stay below {MOST_COUNTS:_}, got {runs} × "
            f"{len(checkpoints)} × {policy.arms}. "
            "Simulate fewer runs at a time (first=), or keep fewer rounds (at=[rounds])."
        )
    return checkpoints


# Parallel runs: several in one compiled call, in threads, or in processes.


Player = Callable[[Integers, int], Path]
"""Plays the run of this number with these checkpoints. If its attribute `in_one_call` is true, its
method `several` plays several runs.
"""

Several = Callable[[Integers, range], list[Path]]

LONG, WORTH = 5e-4, 2e-2
"""Minimum seconds per run, and in total for runs in one call, for threads to pay off."""

TOGETHER = 64
"""The most short runs in one call, so that Ctrl-C works without delay."""


def play_all(
    player: Player,
    checkpoints: Integers,
    *,
    runs: int,
    workers: int | None,
    threads: bool,
    first: int = 0,
) -> list[Path]:
    """Play all runs, in order; in threads if the player releases the interpreter, else in
    processes.
    """
    paths = [player(checkpoints, first)]  # compiles, and fails early
    several: Several | None = None
    if runs > 1:
        start = time.perf_counter()
        paths.append(player(checkpoints, first + 1))
        taken = time.perf_counter() - start
        if taken < LONG and getattr(player, "in_one_call", False):
            several = getattr(player, "several", None)
        if workers is None:
            gains = taken > LONG if several is None else taken * runs > WORTH
            workers = os.cpu_count() or 1 if threads and gains else 1
    play = partial(play_span, player, several, checkpoints)
    if runs <= 2 or workers is None or workers <= 1:
        return paths + play(range(first + 2, first + runs))
    # 40 ms that one run does not need
    from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

    bounds = np.linspace(first + 2, first + runs, 4 * workers + 1).astype(int).tolist()
    spans = [range(a, b) for a, b in pairwise(bounds) if a < b]
    pool: Executor = ThreadPoolExecutor(workers) if threads else ProcessPoolExecutor(workers)
    if not threads:
        require_picklable(play)
    with pool:
        for part in pool.map(play, spans):
            paths += part
    return paths


def require_picklable(play: Callable[[range], list[Path]]) -> None:
    """Raise if other processes cannot be told what to play.

    Raises:
        ValueError: they cannot.
    """
    try:
        pickle.dumps(play)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            "Expected workers=1, or a policy and an environment that can be sent to other "
            f"processes, with oracles and classes from the top level of a module: {error}."
        ) from None


def play_span(
    player: Player, several: Several | None, checkpoints: Integers, span: range
) -> list[Path]:
    if several is None:
        return [player(checkpoints, run) for run in span]
    groups = (span[at : at + TOGETHER] for at in range(0, len(span), TOGETHER))
    return [path for group in groups for path in several(checkpoints, group)]


# Many runs: compiled if the policy has a compiled player, else plain.


Host = Callable[..., Path]


def simulate(
    policy: Policy,
    environment: Environment,
    rounds: int,
    *,
    runs: int = 1,
    seed: int = 0,
    workers: int | None = None,
    at: Sequence[int] | None = None,
    compiled: bool = True,
    first: int = 0,
    shuffle: bool = False,
    delay: int | DelayLaw | None = None,
) -> Runs:
    """Play `runs` independent runs of `rounds` rounds with seeded, simulated noise (not private:
    see `Runs.guarantee`).

    A run depends only on policy, environment, rounds (if the policy knows its horizon; and the
    last block of JointDPLinTS), seed and the run's number; never on `workers`, `runs` or other
    simulations.

    Args:
        policy: the policy.
        environment: the environment; it has as many arms.
        rounds: number of rounds.
        runs: number of runs.
        seed: seed of all runs.
        workers: number of runs at once; None for one per core if runs are long enough.
        at: rounds whose play counts are kept besides the last; others are recomputed on request.
        compiled: True uses the compiled player if there is one (equal in law); False runs the
            policy's Python code.
        first: number of the first run: runs 100 to 199 are those that a simulation of 200 adds to
            one of 100.
        shuffle: True numbers the arms of each run in a random order, drawn from its seed, so that
            the given order favours no arm (a first batch goes to the first arm, and ties to lower
            numbers). Results keep the given order.
        delay: delay of rewards in rounds, a number or a law such as `GeometricDelay(mean=500)`;
            None for no delay.

    Returns:
        The runs.

    Raises:
        ValueError: a number out of range, a policy and an environment of different sizes, or
            shuffle=True for a policy over super arms, whose problem names its arms by their
            numbers.
        TypeError: not a policy, or not an environment.

    Example:
        >>> from dpbandits import UCB1, Bernoulli
        >>> runs = simulate(UCB1(arms=2), Bernoulli([0.9, 0.1]), 100, runs=3, seed=1)
        >>> runs.plays.sum(axis=1).tolist()
        [100, 100, 100]
    """
    rounds, runs, seed = checked(policy, environment, rounds, runs, seed)
    workers, first = checked_workers(workers), whole_number(first, "first")
    compiled, shuffle = switch(compiled, "compiled"), switch(shuffle, "shuffle")
    checkpoints = kept_rounds(policy, rounds, runs, at)
    require_contexts(policy, environment, plain=delay is None and not shuffle)
    host = None if delay is None else partial(play_rounds, delay=checked_delay(delay))
    player, threads = choose_player(policy, environment, rounds, seed, compiled, host)
    if shuffle:
        if problem_of(policy) is not None:
            raise ValueError(
                f"Expected shuffle=False for {policy.name}: it plays super arms, and its problem "
                "names arms by their numbers."
            )
        player = partial(play_shuffled, policy, environment, rounds, seed, compiled, host)
    paths = play_all(player, checkpoints, runs=runs, workers=workers, threads=threads, first=first)
    kept = stacked(paths)
    again = partial(
        simulate,
        policy,
        environment,
        rounds,
        runs=runs,
        seed=seed,
        workers=workers,
        compiled=compiled,
        first=first,
        shuffle=shuffle,
        delay=delay,
    )
    return Runs(
        policy=policy,
        environment=environment,
        rounds=rounds,
        seed=seed,
        checkpoints=checkpoints,
        counts=kept.counts,
        releases=np.array([p.releases for p in paths]),
        events=np.array([p.events for p in paths]),
        lengths=np.array([p.rounds for p in paths]),
        acceptance=np.array([p.acceptance for p in paths]) if environment.logged else None,
        earned=kept.earned,
        rewards=kept.rewards,
        recompute=partial(played_again, again),
    )


def played_again(simulation: Callable[..., Runs], marks: Integers) -> Kept:
    """Play the runs of a simulation again, with other checkpoints."""
    found = simulation(at=marks.tolist())
    kept = Kept(found.counts, found.earned, found.rewards)
    return at_checkpoints(kept, np.searchsorted(found.checkpoints, marks))


def stacked(paths: list[Path]) -> Kept:
    """Return the counts of the paths at their checkpoints, one run per row."""
    earned = [path.earned for path in paths if path.earned is not None]
    rewards = [path.rewards for path in paths if path.rewards is not None]
    return Kept(
        np.stack([path.plays for path in paths]),
        np.stack(earned) if earned else None,
        np.stack(rewards) if rewards else None,
    )


def choose_player(
    policy: Policy,
    environment: Environment,
    rounds: int,
    seed: int,
    compiled: bool,
    host: Host | None = None,
) -> tuple[Player, bool]:
    """Return the player of one run, and whether threads can play several at once. If `host` is
    given, it plays.
    """
    is_ours = type(policy) in CONTEXTUAL.values()  # a subclass may change the decisions
    if isinstance(policy, JointDPLinTS):
        assert isinstance(environment, ContextTable)
        at_once = compiled and is_ours
        return partial(play_joint, policy, environment, rounds, seed, at_once), at_once
    if isinstance(policy, ContextualPolicy):
        if compiled and is_ours and isinstance(environment, ContextTable):
            from dpbandits.simulation.compiled.contextual import play_contextual

            return partial(play_contextual, policy, environment, rounds, seed), True
        host = play_contexts
    if compiled and host is None and has_laws(policy, environment):
        from dpbandits.simulation.compiled.players import (
            compiled_player,  # numba: only when it is used
        )

        player = compiled_player(policy, environment, rounds, seed)
        if player is not None:
            return player, True
    return partial(play_plain, policy, environment, rounds, seed, host=host), False


def has_laws(policy: Policy, environment: Environment) -> bool:
    """Return whether compiled players can use the laws of the rewards."""
    grid = policy.reader.grid
    if isinstance(environment, ChangingMeans):
        return True  # of pieces
    together = policy.about.feedback != "bandit" and not environment.apart
    if together and not isinstance(environment, SharedCoins):
        return environment.rows_on(grid) is not None
    return environment.lattice(grid) is not None


SHUFFLE = 1
"""Separates the random stream of a run's order of arms from its other streams."""


def play_shuffled(
    policy: Policy,
    environment: Environment,
    rounds: int,
    seed: int,
    compiled: bool,
    host: Host | None,
    checkpoints: Integers,
    run: int,
) -> Path:
    """Play run number `run` with its arms in a random order; play counts are in the environment's
    order.
    """
    order = random_order(environment, np.random.default_rng([seed, run, SHUFFLE]))
    player, _ = choose_player(policy, Reordered(environment, order), rounds, seed, compiled, host)
    path = player(checkpoints, run)
    plays = np.empty_like(path.plays)
    plays[:, order] = path.plays
    return path._replace(plays=plays)


def play_plain(
    policy: Policy,
    environment: Environment,
    rounds: int,
    seed: int,
    checkpoints: Integers,
    run: int,
    *,
    host: Host | None = None,
) -> Path:
    """Play run number `run` by events (round by round on a log), or with the given host."""
    noise_seed, public_seed, feedback = (
        np.random.SeedSequence([seed, run]).generate_state(3, np.uint64).tolist()
    )
    play = host or (play_rounds if environment.logged else play_events)
    rng = np.random.Generator(np.random.PCG64(feedback))
    played = partial(
        play,
        policy,
        environment,
        rounds,
        checkpoints,
        noise=SimulatedNoise(noise_seed),
        seed=public_seed,
        rng=rng,
    )
    try:
        return played()
    except Exception as error:
        given = environment.of if isinstance(environment, Reordered) else environment
        error.add_note(f"In run {run} of {policy.name} on {type(given).__name__}.")
        raise
