"""Contextual policies, compiled between two releases. Equal in law to `simulation.contexts`; the
tests hold them to it.

Rounds are played in one loop until an arm's block is full. Releases, fits and codebooks are made by
the policy's and the mechanism's own code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dpbandits.core.contexts import FINE
from dpbandits.core.inputs import Integers
from dpbandits.core.plan import PublicRng
from dpbandits.environments.tables import ContextTable
from dpbandits.mechanisms.base import Block
from dpbandits.mechanisms.cells import SHIFT, ContextAnswer, PublicCounts, ShapedBlock, no_counts
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contextual import ContextState, ContextualPolicy, ExactLinear, LinearLaw
from dpbandits.policies.contract import Release, begin_step, step_after
from dpbandits.simulation.compiled.jit import jit, pasted, specialised
from dpbandits.simulation.contexts import Marks
from dpbandits.simulation.plain import Path


@jit
def next_row(t: int, rows: int, in_order: bool, rng: Any) -> int:
    return t if in_order else int(rng.integers(0, rows))


@jit
def best_arm(x: Any, theta: Any, roots: Any, sampled: bool, rng: Any) -> int:
    """The arm with the largest x·θ + ‖R x‖ z. roots: lower triangular, shape (arms, p, p)."""
    arms, p = theta.shape
    best, top = 0, -np.inf
    for arm in range(arms):
        mean, square = 0.0, 0.0
        for i in range(p):
            mean += theta[arm, i] * x[i]
            turned = 0.0
            for j in range(i + 1):
                turned += roots[arm, i, j] * x[j]
            square += turned * turned
        score = mean + np.sqrt(square) * (rng.standard_normal() if sampled else 1.0)
        if score > top:
            best, top = arm, score
    return best


put: Any = None
"""Adds a record to its arm's block, in a layout's form of the loop."""


def play_blocks(
    t: int,
    stop: int,
    contexts: Any,
    chances: Any,
    in_order: bool,
    law: Any,
    blocks: Any,
    newest: Any,
    limits: Any,
    grid: int,
    plays: Any,
    earned: Any,
    rng: Any,
) -> tuple[int, int]:
    """Play rounds until an arm has no room left or round `stop` is over. Returns rounds played so
    far, and the arm that is full; −1: none.
    """
    theta, roots, sampled, books, sizes = law
    recent, seen = newest
    while t < stop:
        row = next_row(t, len(contexts), in_order, rng)
        x = contexts[row]
        arm = best_arm(x, theta, roots, sampled, rng)
        chance = chances[row, arm]
        reward = grid if rng.random() < chance else 0
        earned[0] += chance
        plays[arm] += 1
        t += 1
        put(x, arm, reward, grid, books, sizes[arm], blocks)
        place = seen[arm] % recent.shape[1]
        for j in range(len(x)):
            recent[arm, place, j] = x[j]
        seen[arm] += 1
        limits[arm] -= 1
        if limits[arm] == 0:
            return t, arm
    return t, -1


@pasted
def put_cell(x: Any, arm: int, reward: int, grid: int, books: Any, size: int, blocks: Any) -> None:
    sums, counts, negatives, directions, _ = blocks
    cell, along = 0, 0.0
    for g in range(size):
        value = 0.0
        for j in range(len(x)):
            value += books[arm, g, j] * x[j]
        if abs(value) > abs(along):
            cell, along = g, value
    if along < 0.0:
        sums[arm, cell] += grid - reward
        negatives[arm, cell] += 1
        for j in range(len(x)):
            directions[arm, cell, j] -= x[j]
    else:
        sums[arm, cell] += reward
        for j in range(len(x)):
            directions[arm, cell, j] += x[j]
    counts[arm, cell] += 1


@pasted
def put_vector(
    x: Any, arm: int, reward: int, grid: int, matrices: Any, size: int, blocks: Any
) -> None:
    """A block that is a vector, with the reach of each matrix; for the layout "vector" there are
    none.
    """
    sums, counts, _, directions, reach = blocks
    whole = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        whole[i] = int(x[i] * FINE)
        sums[arm, i] += reward * whole[i]
        for j in range(len(x)):
            directions[arm, i, j] += x[i] * x[j]
    for m in range(size):
        square = 0
        for i in range(len(x)):
            turned = 0
            for j in range(len(x)):
                turned += matrices[arm, m, i, j] * whole[j]
            part = (abs(turned) >> SHIFT) + 1
            square += part * part
        reach[arm, m] = max(reach[arm, m], square)
    counts[arm, 0] += 1


play_cells = specialised(play_blocks, "cells", put=put_cell)
play_vectors = specialised(play_blocks, "vectors", put=put_vector)


@jit
def play_exact(
    t: int,
    stop: int,
    contexts: Any,
    chances: Any,
    in_order: bool,
    theta: Any,
    inverse: Any,
    variance: float,
    width: float,
    sampled: bool,
    plays: Any,
    earned: Any,
    rng: Any,
) -> int:
    """Ridge regression that fits after every record, by rank-one updates of Λ⁻¹."""
    arms, p = theta.shape
    while t < stop:
        row = next_row(t, len(contexts), in_order, rng)
        x = contexts[row]
        best, top = 0, -np.inf
        for arm in range(arms):
            mean, square = 0.0, 0.0
            for i in range(p):
                mean += theta[arm, i] * x[i]
                turned = 0.0
                for j in range(p):
                    turned += inverse[arm, i, j] * x[j]
                square += x[i] * turned
            z = rng.standard_normal() if sampled else 1.0
            score = mean + width * np.sqrt(max(square, 0.0)) * z
            if score > top:
                best, top = arm, score
        chance = chances[row, best]
        reward = 1.0 if rng.random() < chance else 0.0
        earned[0] += chance
        plays[best] += 1
        t += 1
        moved, along, predicted = np.zeros(p), 0.0, 0.0
        for i in range(p):
            for j in range(p):
                moved[i] += inverse[best, i, j] * x[j]
            along += moved[i] * x[i]
            predicted += theta[best, i] * x[i]
        share = 1.0 / (variance + along)
        for i in range(p):
            theta[best, i] += moved[i] * share * (reward - predicted)
            for j in range(p):
                inverse[best, i, j] -= moved[i] * moved[j] * share
    return t


def play_contextual(
    policy: ContextualPolicy,
    environment: ContextTable,
    rounds: int,
    seed: int,
    checkpoints: Integers,
    run: int,
) -> Path:
    """Play a run of a contextual policy on the rows of a table."""
    seeds = np.random.SeedSequence([seed, run]).generate_state(3, np.uint64).tolist()
    noise, public, feedback = SimulatedNoise(seeds[0]), seeds[1], seeds[2]
    rng = np.random.Generator(np.random.PCG64(feedback))
    kept = Marks(checkpoints, policy.arms)
    if isinstance(policy, ExactLinear) and policy.alpha == 1.0:
        play_exactly(policy, environment, kept, rng)
        return kept.path(releases=kept.t)
    coins = partial(PublicRng, public)
    return kept.path(*play_until_full(policy, environment, rounds, kept, noise, coins, rng))


def play_exactly(policy: ExactLinear, environment: ContextTable, kept: Marks, rng: Any) -> None:
    theta = np.zeros((policy.arms, policy.dimension))
    inverse = np.tile(np.eye(policy.dimension) / policy.prior, (policy.arms, 1, 1))
    information = np.tile(policy.prior * np.eye(policy.dimension), (policy.arms, 1, 1))
    width = float(policy.widths(information)[0])
    given = environment.contexts, environment.chances, environment.in_order
    while kept.left:
        kept.t = play_exact(
            kept.t,
            kept.next,
            *given,
            theta,
            inverse,
            policy.variance,
            width,
            policy.sampled,
            kept.plays,
            kept.earned,
            rng,
        )
        kept.keep()


def play_until_full(
    policy: ContextualPolicy,
    environment: ContextTable,
    rounds: int,
    kept: Marks,
    noise: SimulatedNoise,
    coins: Any,
    rng: Any,
) -> tuple[int, ContextState]:
    """Play from release to release. Returns the number of releases, and the last state."""
    given = environment.contexts, environment.chances, environment.in_order
    start, releases = policy.init(), 0
    if start.in_pilot:
        start = policy.opened(start, pilot_contexts(policy, environment, kept, rng))
    mechanism, memory = policy.reader, policy.reader.init(policy.arms)
    current = begin_step(policy, start, 0, coins)
    arms, p, grid = policy.arms, policy.dimension, policy.grid
    recent, seen = np.zeros((arms, policy.kept_contexts or 1, p)), np.zeros(arms, np.int64)
    blocks = [empty_block(policy, arm, current.plan.law) for arm in range(arms)]  # type: ignore[union-attr]
    records, by_cells = 0, policy.layout == "cells"
    play, arranged = (play_cells, stacked_books) if by_cells else (play_vectors, stacked_matrices)
    while kept.left:
        law: Any = current.plan.law  # type: ignore[union-attr]
        assert isinstance(law, LinearLaw)
        limits = np.array(current.plan.limits)  # type: ignore[union-attr]
        together = stacked_blocks(blocks)
        began, full = limits.copy(), -1
        total = current.plan.total  # type: ignore[union-attr]
        end = rounds if total is None else kept.t + total
        ended = False
        while full < 0 and kept.left and not ended:
            stop = min(kept.next, end)
            kept.t, full = play(
                kept.t,
                stop,
                *given,
                (law.theta, law.roots, law.sampled, *arranged(law.books)),
                together,
                (recent, seen),
                limits,
                grid,
                kept.plays,
                kept.earned,
                rng,
            )
            kept.keep()
            ended = total is not None and kept.t >= end
        if full < 0 and not ended:
            break
        told = began - limits
        due = (full,) if full >= 0 else tuple(np.flatnonzero(told).tolist())
        records += int(told.sum())
        blocks = unstacked(together, blocks)
        sums: Any = tuple(blocks[arm][0] for arm in due)
        counts = tuple(int(blocks[arm][1].counts.sum()) for arm in due)
        kept_of = [
            rows_in_order(recent[arm], int(seen[arm]))[: policy.kept_contexts]
            for arm in range(arms)
        ]
        block: Any = Block(due, sums, counts)
        if policy.layout == "shaped":
            fits, shape_of = current.state.fits, policy.shape_of
            shapes = (shape_of(fits[arm], blocks[arm][1], kept_of[arm]) for arm in due)
            block = ShapedBlock(due, sums, counts, tuple(shapes))
        memory, answers = mechanism.answer(memory, block, noise)
        found = [
            ContextAnswer(answer[0], answer[1], blocks[arm][1], kept_of[arm])
            for arm, answer in zip(due, answers, strict=True)
        ]
        pairs = tuple((arm, int(n)) for arm, n in enumerate(told) if n)
        release = Release(due, tuple(found), records, pairs)
        current, releases = step_after(policy, current, release, coins), releases + len(due)
        for arm in due:
            blocks[arm] = empty_block(policy, arm, current.plan.law)  # type: ignore[union-attr]
    return releases, current.state


def pilot_contexts(
    policy: ContextualPolicy, environment: ContextTable, kept: Marks, rng: Any
) -> Any:
    """Play visitors who get a random arm; return their contexts."""
    found, rows = [], len(environment.contexts)
    for _ in range(policy.pilot_visitors):
        if not kept.left:
            break
        row = kept.t if environment.in_order else int(rng.integers(rows))
        arm = int(rng.integers(policy.arms))
        kept.add(np.array([arm]), environment.chances[[row], arm])
        found.append(environment.contexts[row])
    return np.array(found)


def empty_block(policy: ContextualPolicy, arm: int, law: Any) -> tuple[Any, PublicCounts]:
    counts = no_counts(policy.layout, law.books[arm], policy.dimension)
    return np.zeros(len(counts.directions), np.int64), counts


def stacked(arrays: Sequence[Any]) -> Any:
    """Arrays of different lengths in one, each filled up with zeros."""
    room = max(map(len, arrays))
    whole = np.zeros((len(arrays), room, *arrays[0].shape[1:]), arrays[0].dtype)
    for arm, array in enumerate(arrays):
        whole[arm, : len(array)] = array
    return whole


def stacked_books(books: Any) -> tuple[Any, Any]:
    """The arms' books in one array, and the cells of each."""
    return stacked(books), np.array(list(map(len, books)))


def stacked_matrices(books: Any) -> tuple[Any, Any]:
    """The arms' matrices in one array, shape (arms, matrices, features, features), and how many
    each has.
    """
    p = books[0].shape[1]
    return stacked_books([book.reshape(-1, p, p).astype(np.int64) for book in books])


def stacked_blocks(blocks: list[tuple[Any, PublicCounts]]) -> tuple[Any, ...]:
    """The arms' sums, counts, negatives, directions and reach, each in one array."""
    return tuple(map(stacked, zip(*([sums, *counts] for sums, counts in blocks), strict=True)))


def unstacked(
    together: tuple[Any, ...], blocks: list[tuple[Any, PublicCounts]]
) -> list[tuple[Any, PublicCounts]]:
    """The arms' blocks, each of its own size."""
    found = []
    for arm, (sums, counts) in enumerate(blocks):
        sizes = [len(sums), *(len(each) for each in counts)]
        parts = [whole[arm, :size] for whole, size in zip(together, sizes, strict=True)]
        found.append((parts[0], PublicCounts(*parts[1:])))
    return found


def rows_in_order(ring: Any, seen: int) -> Any:
    """The contexts in a ring, oldest first."""
    size = len(ring)
    if seen <= size:
        return ring[:seen].copy()
    return np.roll(ring, -(seen % size), axis=0)
