"""How compiled players are called that see whole records: rewards of one round that may belong
together, in the rows of a table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpbandits.core.arrays import Floats, Integers
from dpbandits.environments.base import Environment, Records
from dpbandits.policies import DecreasingHedge, FollowTheLeader, TreeFTRL
from dpbandits.policies.contract import Policy
from dpbandits.simulation.kernels.several import hedging
from dpbandits.simulation.kernels.several.hedging import play_every_round
from dpbandits.simulation.plain import Path
from dpbandits.simulation.players.matroid_table import (
    OPTIMISTIC,
    RULES,
    TOGETHER,
    on_matroid,
    optimistic,
)

HEDGING: dict[type[Policy], int] = {
    FollowTheLeader: hedging.LEADER,
    DecreasingHedge: hedging.HEDGE,
    TreeFTRL: hedging.FTRL,
}

NOTHING = np.zeros(0), np.zeros((0, 1))
"""No rewards to sum up, by checkpoints and by rounds."""


def hedging_numbers(policy: Any, steps: int) -> tuple[Any, ...]:
    """Those of `hedging.Hedging`."""
    rule, horizon, levels, scale = HEDGING[type(policy)], 1, 1, 0.0
    if isinstance(policy, TreeFTRL):
        horizon, levels = policy.horizon, policy.horizon.bit_length()
        scale = steps * levels * policy.actions / float(policy.epsilon)
    return rule, policy.weighted, horizon, levels, scale, steps


def independent(arms: int) -> tuple[Any, ...]:
    """A world without records: rewards are drawn by their laws."""
    return np.zeros((0, arms), np.int64), False, NOTHING[1]


def every_record(numbers: Any, world: Any, values: Any, probabilities: Any, *rest: Any) -> Any:
    """For independent rewards."""
    return play_every_round(numbers, world, values, probabilities, *rest, NOTHING[0])


def record_player(
    policy: Policy, environment: Environment, rounds: int, seed: int
) -> partial[Path] | None:
    """A function of (checkpoints, run) that plays one run on the environment's records; None where
    it has none, or the policy no compiled twin for them.
    """
    grid = policy.reader.grid
    records = environment.rows_on(grid)
    if records is None:
        return None
    if type(policy) in HEDGING:
        numbers = hedging_numbers(policy, grid.steps)
        return partial(play_records, numbers, records, policy.weighted, rounds, seed)
    build = on_matroid if type(policy) in RULES else optimistic
    if not records.drawn or type(policy) not in (*RULES, *OPTIMISTIC):
        return None
    loop = build(policy, grid.steps, TOGETHER)
    return None if loop is None else partial(play_rows, loop, records.steps, rounds, seed)


def play_rows(
    loop: Callable[..., Any],
    world: Integers | Floats,
    rounds: int,
    seed: int,
    checkpoints: Integers,
    run: int,
) -> Path:
    """One run over a world without an order, shape (…, arms): random rows, say."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, run])))
    rows = np.ascontiguousarray(world)
    out = np.empty((len(checkpoints), rows.shape[1]), np.int64)
    releases, events = loop(rows, rounds, checkpoints, rng, out)
    return Path(out, rounds, releases, events)


def play_records(
    numbers: Any,
    records: Records,
    weighted: bool,
    rounds: int,
    seed: int,
    checkpoints: Integers,
    run: int,
) -> Path:
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, run])))
    kind: type[np.number[Any]] = np.float64 if weighted else np.int64
    out: Any = np.empty((len(checkpoints), records.steps.shape[1]), kind)
    gained: Floats = np.zeros(0 if records.drawn else len(checkpoints))
    world = (
        np.ascontiguousarray(records.steps),
        records.drawn,
        NOTHING[1] if records.drawn else np.ascontiguousarray(records.rewards, np.float64),
    )
    law = np.zeros(1, np.int64), np.zeros((1, 1))  # not looked at
    releases, events = play_every_round(numbers, world, *law, rounds, checkpoints, rng, out, gained)
    return Path(out, rounds, releases, events, rewards=None if records.drawn else gained)
