"""`check_environment`: checks the properties of an environment that simulations use."""

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from dpbandits.checks.checks import require
from dpbandits.core.inputs import Floats, refuse_others
from dpbandits.core.privacy import Grid
from dpbandits.environments import Environment, Lattice

ALARM = 1e-6
"""The most probability that a correct environment fails: a tenth of it for each comparison, all
arms together.
"""
SAMPLES = 20_000

NUMBERS = int, float, np.integer, np.floating, np.bool_

LONG = 2_000
"""Rounds in which all rewards are looked at."""


def check_environment(environment: Environment, grid: Grid = Grid(steps=8)) -> None:
    """Run every check on an environment, with up to 20,000 rounds.

    Rewards lie in [0, 1] and are determined by the given generator. If rounds are independent
    (`lattice` is not None), rewards of single rounds and of pairs, of one arm or of several
    together in any order, blocks and the lattice have the same law; arms that are `apart` are
    independent.

    Args:
        environment: an instance of a user-defined environment.
        grid: the grid of the lattice.

    Raises:
        CheckFailed: the first violation. A correct environment fails with probability at most 10⁻⁶.
        TypeError: not an environment.
    """
    refuse_others(environment, Environment, "an environment", "YourEnvironment(...)")
    means = environment.means
    require(isinstance(means, np.ndarray), f"means are a {type(means).__name__}, not an array.")
    require(means.ndim == 1 and len(means) > 0, f"means have the shape {means.shape}.")
    require(bool(np.all((means >= 0) & (means <= 1))), "A mean lies outside [0, 1].")
    few = 1 if environment.logged else min(LONG, environment.length or LONG)  # a log may be short
    rewards = [first_rewards(environment, few) for _ in range(2)]
    require(
        all(isinstance(reward, NUMBERS) and 0 <= reward <= 1 for reward in rewards[0]),
        "A reward lies outside [0, 1], or is no number.",
    )
    require(rewards[0] == rewards[1], "With one seed two fresh environments give other rewards.")
    lattice = environment.lattice(grid)
    if lattice is not None:
        lattice_is_a_law(environment, lattice, grid)
        laws_agree(environment, lattice, grid)


def first_rewards(environment: Environment, rounds: int) -> list[float]:
    played, rng = environment.fresh(), np.random.default_rng(1)
    return [played.draw(at % played.arms, rng) for at in range(rounds)]


def lattice_is_a_law(environment: Environment, lattice: Lattice, grid: Grid) -> None:
    are_arrays = isinstance(lattice, Lattice) and all(isinstance(x, np.ndarray) for x in lattice)
    require(are_arrays, "The lattice is no Lattice of two arrays.")
    values, rows = lattice
    require(
        values.dtype.kind in "iu", f"The lattice's values are {values.dtype}, not whole numbers."
    )
    require(
        rows.shape == (environment.arms, len(values)),
        f"The lattice's probabilities have the shape {rows.shape}, not (arms, levels) = "
        f"{(environment.arms, len(values))}.",
    )
    require(
        bool(np.all(rows >= 0)) and np.allclose(rows.sum(axis=1), 1, atol=1e-9),
        "A row of the lattice's probabilities is no law.",
    )
    require(
        bool(np.all((values >= 0) & (values <= grid.steps))),
        f"A value of the lattice is no number of grid steps from 0 to {grid.steps}.",
    )
    moved = float(np.abs(rows @ values / grid.steps - environment.means).max())
    require(
        moved <= 0.5 / grid.steps + 1e-9,
        f"The lattice's means are {moved:.3g} off: rounding moves them by half a step at most.",
    )


def laws_agree(environment: Environment, lattice: Lattice, grid: Grid) -> None:
    """Compare each arm's rewards, by themselves and of all arms together, and its blocks with the
    lattice, by the Hoeffding and DKW bounds.
    """
    rng, values, arms = np.random.default_rng(2), lattice.values, environment.arms

    def width(samples: int) -> float:
        return math.sqrt(math.log(20 * arms / ALARM) / (2 * samples))

    def require_law(sums: Floats, exact: Any, what: str) -> None:
        inside = np.where(sums >= 0, sums, len(exact)).astype(np.int64)
        seen = np.bincount(inside, minlength=len(exact)) / len(sums)
        require(
            len(seen) == len(exact)
            and float(np.abs(np.cumsum(seen - exact)).max()) <= width(len(sums)),
            f"{what} have another law than the lattice.",
        )

    laws = [np.bincount(values, row, grid.steps + 1) for row in lattice.probabilities]
    for arm, law in enumerate(laws):
        rewards, two = many_draws(partial(environment.draw, arm, rng)), np.convolve(law, law)
        mean = rewards.mean()
        off = abs(mean - environment.means[arm])
        require(
            off <= width(SAMPLES),
            f"Arm {arm}'s rewards average {mean:.4f}, {off:.4f} off its mean.",
        )
        if grid.rounding == "nearest":
            steps = np.rint(rewards * grid.steps)
            require_law(steps, law, f"Arm {arm}'s rewards")
            require_law(steps[::2] + steps[1::2], two, f"Arm {arm}'s rewards of two rounds")
        for rounds, exact in ((1, law), (2, two)):
            sums = many_draws(partial(environment.block, arm, rounds, grid, rng))
            require_law(sums, exact, f"Arm {arm}'s blocks of {rounds} rounds")
    if type(environment).draw_many is Environment.draw_many:
        return
    order = np.arange(arms)[::-1]
    sums = many_draws(partial(environment.block_many, order, 2, grid, rng))
    for at, arm in enumerate(order):
        two = np.convolve(laws[arm], laws[arm])
        require_law(sums[:, at], two, f"Arm {arm}'s blocks of 2 rounds by block_many")
    if grid.rounding == "nearest":
        together = many_draws(partial(environment.draw_many, order, rng))
        require(
            together.shape == (SAMPLES, arms) and len(environment.draw_many(order[:1], rng)) == 1,
            "draw_many gives no reward for each arm.",
        )
        steps = np.rint(together * grid.steps)
        for at, arm in enumerate(order):
            require_law(steps[:, at], laws[arm], f"Arm {arm}'s rewards by draw_many")
        if environment.apart:
            require_law(steps.sum(axis=1), reduce(np.convolve, laws), "All arms' rewards together")


def many_draws(draw: Callable[[], Any]) -> Floats:
    return np.array([draw() for _ in range(SAMPLES)], np.float64)
