"""`simulate`: many runs of a policy in an environment, compiled where the policy allows it, of the
same law always.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from dpbandits.core.inputs import LARGEST_SEED, Integers, whole_number
from dpbandits.environments.base import Environment, require_pair
from dpbandits.environments.contexts import ContextTable
from dpbandits.environments.laws import Reordered, SharedCoins, random_order
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.contexts import play_contexts, require_contexts
from dpbandits.simulation.delays import DelayLaw, checked_delay, play_late
from dpbandits.simulation.plain import Path, play_events, play_rounds
from dpbandits.simulation.runs import Kept, Recompute, Runs, checked_rounds

# What `simulate` and its relatives are given, checked before a round is played.


def checked(
    policy: Policy, environment: Environment, rounds: object, runs: object, seed: object
) -> tuple[int, int, int]:
    """Rounds, runs and seed as plain ints; raises for what cannot be played."""
    require_pair(policy, environment)
    rounds, runs, seed = (
        whole_number(rounds, "rounds", 1),
        whole_number(runs, "runs", 1, MOST_RUNS),
        whole_number(seed, "seed", 0, LARGEST_SEED),
    )
    if environment.length is not None and rounds > environment.length:
        raise ValueError(
            f"{environment!r} has {environment.length} rounds, fewer than rounds={rounds}; use "
            "resample=True to play longer."
        )
    horizon = getattr(policy, "horizon", None)
    if policy.about.needs_horizon and horizon is not None and horizon < rounds:
        raise ValueError(
            f"{policy.name} was made for horizon={horizon}; it cannot be played for "
            f"rounds={rounds}."
        )
    if rounds * policy.reader.grid.steps >= 2**62:
        raise ValueError(
            f"Expected rounds={rounds} times grid={policy.reader.grid.steps} to stay below 2**62."
        )
    return rounds, runs, seed


def checked_workers(workers: object) -> int | None:
    """How many runs are played at once; None: as many as pay."""
    return None if workers is None else whole_number(workers, "workers", 1, 10_000)


def require_memory(runs: int, checkpoints: int, arms: int) -> None:
    """Refuse play counts that would fill any memory, before a round is played."""
    if runs * checkpoints * arms > MOST_COUNTS:
        raise ValueError(
            f"Expected runs × kept rounds × arms to stay below {MOST_COUNTS:_}, got {runs} × "
            f"{checkpoints} × {arms}. "
            "Simulate fewer runs at a time (another seed, other runs), or keep fewer rounds: "
            "at=[rounds]."
        )


MOST_RUNS = 10**9
"""Runs of one simulation: each takes some microseconds and some bytes at the least."""

MOST_COUNTS = 2**33
"""Play counts of one simulation, 64 GiB of them."""

MANY = 20_000
"""Arms from which play counts are kept at the last round only: fifty copies of them would fill the
memory.
"""


def default_checkpoints(rounds: int, arms: int = 1) -> Integers:
    """About fifty rounds, half of them evenly spaced, half by ratio; the last is `rounds`. With
    many arms the last alone.
    """
    if arms >= MANY:
        return np.array([rounds], np.int64)
    even = np.linspace(0, rounds, 25)[1:]
    ratio = np.geomspace(1, rounds, 25)
    return np.unique(np.maximum(1, np.rint(np.concatenate([even, ratio]))).astype(np.int64))


def kept_rounds(policy: Policy, rounds: int, runs: int, at: Sequence[int] | None) -> Integers:
    """The rounds whose play counts are kept, the last among them."""
    checkpoints = (
        default_checkpoints(rounds, policy.arms)
        if at is None
        else np.unique(np.append(checked_rounds(at, rounds), rounds))
    )
    require_memory(runs, len(checkpoints), policy.arms)
    return checkpoints


# Runs shared out: several in one compiled call, in threads, or in processes.


Player = Callable[[Integers, int], Path]
"""Plays the run of this number; the play counts at the checkpoints are kept. Where it is true that
`in_one_call`, it plays several by its method `several`.
"""

Several = Callable[[Integers, range], list[Path]]

LONG, WORTH = 5e-4, 2e-2
"""Seconds of a run, and of all runs where several are played in one call, from which sharing them
out among threads gains more than their handing over costs.
"""

TOGETHER = 64
"""Short runs that are played in one call: so many take no longer than one may wait for Ctrl-C."""


def play_all(
    player: Player,
    checkpoints: Integers,
    *,
    runs: int,
    workers: int | None,
    threads: bool,
    first: int = 0,
) -> list[Path]:
    """Every run, in order; in threads where the player leaves the interpreter, else in
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
    with pool:
        for part in pool.map(play, spans):
            paths += part
    return paths


def play_span(
    player: Player, several: Several | None, checkpoints: Integers, span: range
) -> list[Path]:
    if several is None:
        return [player(checkpoints, run) for run in span]
    groups = (span[at : at + TOGETHER] for at in range(0, len(span), TOGETHER))
    return [path for group in groups for path in several(checkpoints, group)]


# Many runs at once: each by the compiled player of its policy where there is one, or the plain
# way.


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

    A run's path depends on (policy, environment, rounds of a known horizon, seed, its number) only:
    never on `workers`, on `runs`, or on what else is simulated.

    Args:
        workers: runs played at once; None: one per core where a run takes long enough to gain by
            it.
        at: rounds whose play counts are kept beside the last; others are recomputed when asked for.
        compiled: use the compiled twin where there is one (equal in law); False plays the policy's
            own Python.
        first: number of the first run: runs 100 to 199 are what a simulation of 200 adds to one of
            100.
        shuffle: each run numbers the arms in a random order of its own, drawn from its seed, so
            that the order they were given in favours none of them (a first batch goes to the first
            arm, and ties go to lower numbers). Results keep the given order.

    Raises:
        ValueError: a number out of its range, a policy and an environment of different sizes, or
        shuffle=True for a policy over super arms, whose problem names its arms by their numbers.
        TypeError: `environment` is none.
    """
    rounds, runs, seed = checked(policy, environment, rounds, runs, seed)
    workers, first = checked_workers(workers), whole_number(first, "first")
    checkpoints = kept_rounds(policy, rounds, runs, at)
    require_contexts(policy, environment, plain=delay is None and not shuffle)
    host = None if delay is None else partial(play_late, delay=checked_delay(delay))
    player, threads = choose_player(policy, environment, rounds, seed, compiled, host)
    if shuffle:
        if problem_of(policy) is not None:
            raise ValueError(
                f"{policy.name} plays super arms: its problem names arms by their numbers, so "
                "shuffle=True is not for it."
            )
        player = partial(play_shuffled, policy, environment, rounds, seed, compiled, host)
    play = partial(play_all, player, runs=runs, workers=workers, threads=threads, first=first)

    def recompute(marks: Integers) -> Kept:
        return stacked(play(marks))

    return runs_made(policy, environment, rounds, seed, checkpoints, play(checkpoints), recompute)


def runs_made(
    policy: Policy,
    environment: Environment,
    rounds: int,
    seed: int,
    checkpoints: Integers,
    paths: list[Path],
    recompute: Recompute,
) -> Runs:
    """The paths of all runs, as what `simulate` returns."""
    kept = stacked(paths)
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
        recompute=recompute,
    )


def stacked(paths: list[Path]) -> Kept:
    """What the paths kept at their checkpoints, one run a row."""
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
    """How one run is played, and whether threads can play several at once.

    host: plays it, whatever else could.
    """
    if isinstance(policy, ContextualPolicy):
        if compiled and isinstance(environment, ContextTable):
            from dpbandits.simulation.compiled.contextual import ContextPlayer

            return ContextPlayer(policy, environment, rounds, seed), True
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
    """Whether compiled players may know how the rewards come."""
    grid = policy.reader.grid
    together = policy.about.feedback != "bandit" and not environment.apart
    if together and not isinstance(environment, SharedCoins):
        return environment.rows_on(grid) is not None
    return environment.lattice(grid) is not None


SHUFFLE = 1
"""Sets the stream of a run's order of arms apart from its other streams."""


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
    """Run number `run` with its arms in a random order; play counts come back in the environment's
    own.
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
    """Run number `run`, by events (round by round on a log), or in the given host."""
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
        error.add_note(f"In run {run} of {policy.name} on {type(environment).__name__}.")
        raise
