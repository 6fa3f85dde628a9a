"""The noise of running sums of whole records: a binary tree for each action, a signed tree with
joint draws, the square-root factorisation. It does not depend on rewards, so they are added to it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.mechanisms import EachAction, SignedTree, SquareRoot
from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.counters import BinaryTree
from dpbandits.mechanisms.running_sums import FINE, INVERSE_PI, WIDTH, cells_at
from dpbandits.simulation.compiled.jit import jit
from dpbandits.simulation.compiled.parts import gaussian, joint_radius, laplace

BINARY, SIGNED, ROOT = range(3)


class Counter(NamedTuple):
    """The constants of a counter: `scale` is that of a draw's noise in grid steps, `half` the
    largest digit of a signed tree.
    """

    kind: int
    levels: int
    half: int
    scale: float
    slots: int


def counter_of(mechanism: Mechanism, rounds: int) -> Counter:
    """Return the constants of a mechanism of whole records; for no noise those of no counter."""
    steps = mechanism.grid.steps
    match mechanism:
        case SignedTree():
            scale, half = steps / float(mechanism.share), mechanism.half
            return Counter(SIGNED, mechanism.levels, half, scale, mechanism.levels * (half + 1))
        case SquareRoot():
            scale = FINE * steps / math.sqrt(2.0 * float(mechanism.share))
            slots = sum(1 for _ in cells_at(rounds)) + 2 * WIDTH
            return Counter(ROOT, 1, 0, scale, slots)
        case EachAction(inner=BinaryTree() as tree):
            return Counter(BINARY, tree.levels, 0, steps / float(tree.share), tree.levels)
    return Counter(BINARY, 1, 0, 0.0, 1)


class State(NamedTuple):
    """The noise of all actions now; by slot and action, its parts; and by slot or level, the
    numbers that tell where they belong.
    """

    now: Any
    parts: Any
    places: Any
    sizes: Any


@jit
def begin(c: Any, actions: int) -> Any:
    return State(
        np.zeros(actions),
        np.zeros((c.slots, actions)),
        np.zeros(c.slots, np.int64),
        np.zeros(c.slots, np.int64),
    )


@jit
def binary_leaf(c: Any, s: Any, leaf: int, rng: Any) -> None:
    """Draw the nodes that this leaf completes; `now` becomes the noise of the padded sums."""
    done, spare, left = 0, c.levels, leaf
    while leaf >> done & 1 == 0:
        done += 1
    while left > 0:
        spare -= left & 1
        left >>= 1
    for action in range(len(s.now)):
        for level in range(done):
            s.parts[level, action] = 0.0
        s.parts[done, action] = laplace(rng, c.scale)
        total = s.parts[:, action].sum()
        for _ in range(spare):
            total += laplace(rng, c.scale)
        s.now[action] = total


@jit
def draw_jointly(c: Any, part: Any, now: Any, sign: float, rng: Any) -> None:
    """Add a joint draw to a part of the noise and, with this sign, to the noise."""
    radius = joint_radius(rng, len(now), c.scale)
    for action in range(len(now)):
        draw = rng.integers(-radius, radius + 1)
        part[action] += draw
        now[action] += sign * draw


@jit
def signed_leaf(c: Any, s: Any, rng: Any) -> None:
    """Go on by one leaf. A level has a slot for the sum of its nodes, or one for each node to be
    taken away; `places` are the digits.
    """
    for level in range(c.levels):
        digit, first = s.places[level], level * (c.half + 1)
        if digit < 0:
            part = s.parts[first - digit]
            s.now[:] += part
            part[:] = 0.0
            s.places[level] += 1
            return
        if digit < c.half:
            draw_jointly(c, s.parts[first], s.now, 1.0, rng)
            s.places[level] += 1
            return
        s.now[:] -= s.parts[first]
        s.parts[first][:] = 0.0
        for node in range(1, c.half + 1):
            draw_jointly(c, s.parts[first + node], s.now, -1.0, rng)
        s.places[level] = -c.half


@jit
def root_leaf(c: Any, s: Any, leaf: int, rng: Any) -> None:
    """Go on by one block: cells that are old enough are joined, and the newest block's error is
    what its noise and the older ones' errors leave. `places` are the cells' first blocks, and the
    last of the sizes is their number.
    """
    newest, count, kept, at = leaf - 1, s.sizes[-1], 0, 0
    actions = len(s.now)
    while at < count:
        start, size = s.places[at], s.sizes[at]
        joined = 1
        if (
            at + 1 < count
            and start % (2 * size) == 0
            and newest - start >= WIDTH * 2 * size
            and s.sizes[at + 1] == size
        ):
            joined = 2
        for action in range(actions):
            error = s.parts[at, action]
            if joined == 2:
                error += s.parts[at + 1, action]
            s.parts[kept, action] = error
        s.places[kept], s.sizes[kept] = start, joined * size
        kept, at = kept + 1, at + joined
    for action in range(actions):
        s.parts[kept, action] = gaussian(rng, c.scale) / FINE
    for cell in range(kept):
        age = newest - s.places[cell] - s.sizes[cell] + 1
        weight = math.floor(math.sqrt(4 * INVERSE_PI // (4 * age + 1))) / FINE
        for action in range(actions):
            s.parts[kept, action] -= weight * s.parts[cell, action]
    for action in range(actions):
        s.now[action] += s.parts[kept, action]
    s.places[kept], s.sizes[kept] = newest, 1
    s.sizes[-1] = kept + 1


@jit
def add_leaf(c: Any, s: Any, leaf: int, rng: Any) -> None:
    """Set the noise of every action's sum after this many rounds."""
    if c.kind == BINARY:
        binary_leaf(c, s, leaf, rng)
    elif c.kind == SIGNED:
        signed_leaf(c, s, rng)
    else:
        root_leaf(c, s, leaf, rng)
