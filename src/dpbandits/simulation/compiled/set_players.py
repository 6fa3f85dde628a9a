"""Players of super arms without a tableau: listed ones, the k best arms of which only the best one
counts, and the forests of a large graph.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpbandits.core.inputs import Integers
from dpbandits.environments.base import Environment
from dpbandits.oracles.matroids import GraphicMatroid, SpanningTrees, TopKMax
from dpbandits.oracles.sets import ExplicitSet
from dpbandits.policies import CUCBLDP2, DPKLCUCB, DPKLMAT, KLOSM, OMM
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.compiled import matroid
from dpbandits.simulation.compiled.listed import Sets, Worth, play_listed, play_listed_indices
from dpbandits.simulation.compiled.matroid_players import (
    OPTIMISTIC,
    index_numbers,
    optimistic_numbers,
)
from dpbandits.simulation.compiled.rooted import play_rooted
from dpbandits.simulation.plain import Path


def sets_of(problem: object) -> Sets | None:
    """Return the super arms of exactly these kinds of problems; a subclass may have others."""
    none, ends = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    if type(problem) is TopKMax:
        return Sets(none, none, 0.0, problem.size, ends, 0, 1.0)
    if type(problem) in (GraphicMatroid, SpanningTrees):
        assert isinstance(problem, GraphicMatroid)
        ends, nodes = np.array(problem._ends, np.int64), len(problem._labels)
        return Sets(none, none, 0.0, problem.size, ends, nodes, matroid.UNSEEN)
    if type(problem) is not ExplicitSet or not problem.linear:
        return None
    rows = problem.super_arms
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    arms = np.concatenate(rows).astype(np.int64)
    return Sets(arms, starts, float(problem.costs), 0, ends, 0, 1.0)


def rooted_numbers(policy: CUCBLDP2, steps: int) -> tuple[Any, ...]:
    """Return the policy's part of `rooted.JointRadius`."""
    rows, eps = policy.problem.cover(), float(policy.budget)
    arms = np.concatenate([np.array(row, np.int64) for row in rows])
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return eps, policy.preset == "valid", policy.problem.size, steps / eps, (arms, starts)


BY_INDEX = (DPKLCUCB, DPKLMAT, KLOSM, OMM)
"""DPUCB-MAT is not among these: it plays its basis until another one overtakes it."""


def set_player(
    policy: Policy, environment: Environment, rounds: int, seed: int
) -> partial[Path] | None:
    """Return a function of (checkpoints, run) that plays one run; None for other problems, and
    policies or environments without a law.

    The environment's arms must be independent, or the policy must use one of them a round.
    """
    steps, law = policy.reader.grid.steps, environment.lattice(policy.reader.grid)
    problem = problem_of(policy)
    sets = sets_of(problem)
    if sets is None or problem is None or law is None:
        return None
    if type(policy) is CUCBLDP2 and policy.radius == "joint":
        if not len(sets.starts):
            return None
        loop, numbers = play_rooted, rooted_numbers(policy, steps)
    elif type(policy) in BY_INDEX:
        loop, numbers = play_listed_indices, index_numbers(policy, steps)
    elif type(policy) in OPTIMISTIC:
        loop, numbers = play_listed, optimistic_numbers(policy, steps)
    else:
        return None
    means = None if problem.linear else np.ascontiguousarray(environment.means, np.float64)
    values = np.ascontiguousarray(law.values, np.int64)
    known = values, np.ascontiguousarray(law.probabilities, np.float64), rounds
    return partial(play_sets, loop, numbers, tuple(sets), means, steps, known, seed)


def play_sets(
    loop: Any,
    numbers: tuple[Any, ...],
    sets: tuple[Any, ...],
    means: Any,
    steps: int,
    known: tuple[Any, ...],
    seed: int,
    checkpoints: Integers,
    run: int,
) -> Path:
    """Play one run. `means` are expected rewards, if super arms have another value than the sum of
    theirs.
    """
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, run])))
    arms = known[1].shape[0]
    out = np.empty((len(checkpoints), arms), np.int64)
    earned = np.zeros(0 if means is None else len(checkpoints))
    marks = np.asarray(checkpoints[: len(earned)], np.int64)
    worth = Worth(np.zeros(0) if means is None else means, marks, earned)
    releases, events, *_ = loop(
        (*numbers, sets, tuple(worth)), steps, *known, checkpoints, rng, out
    )
    return Path(out, known[2], releases, events, earned=None if means is None else earned)
