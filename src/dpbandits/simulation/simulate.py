"""Many runs at once: each by the compiled player of its policy where there is one, or the plain
way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from dpbandits.core.arrays import Integers
from dpbandits.core.inputs import whole_number
from dpbandits.environments.base import Environment
from dpbandits.environments.laws import Reordered, SharedCoins, random_order
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.arguments import checked, checked_workers, kept_rounds
from dpbandits.simulation.delays import DelayLaw, checked_delay, play_late
from dpbandits.simulation.plain import Path, play_events, play_rounds
from dpbandits.simulation.runs import Kept, Recompute, Runs
from dpbandits.simulation.sharing import Player, play_all

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
    if compiled and host is None and has_laws(policy, environment):
        from dpbandits.simulation.players import compiled_player  # numba: only when it is used

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
