"""Parts of compiled players: draws of rewards and noise, counters, exchanges of a basis, and arrays
without reference counts.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from dpbandits.core.inputs import Integers
from dpbandits.mechanisms import SignedCounter
from dpbandits.simulation.compiled.jit import inline, jit

# Simulated feedback, simulated noise, and the curve of play counts.


@inline
def laplace(rng: Any, scale: float) -> int:
    """Draw discrete Laplace noise: the difference of two geometrics, each the floor of an
    exponential.
    """
    return int(scale * rng.standard_exponential()) - int(scale * rng.standard_exponential())


@jit
def joint_radius(rng: Any, dimension: int, scale: float) -> int:
    """Draw the m of a joint draw, which is uniform on {−m … m} in each coordinate, as in
    `SimulatedNoise`.
    """
    while True:
        m, taken = 0, 1.0
        for _ in range(dimension + 1):
            m += int(scale * rng.standard_exponential())
        for i in range(1, dimension + 1):
            taken *= (2.0 * m + 1.0) / (2.0 * (m + i))
        if rng.random() < taken:
            return m


@jit
def gaussian(rng: Any, sigma: float) -> int:
    """Draw discrete Gaussian noise (Canonne, Kamath and Steinke 2020, Algorithm 3), as in
    `SimulatedNoise`.
    """
    scale = math.floor(sigma) + 1.0
    while True:
        draw = laplace(rng, scale)
        if rng.random() < math.exp(
            -((abs(draw) - sigma * sigma / scale) ** 2) / (2.0 * sigma * sigma)
        ):
            return draw


@jit
def binomial(rng: Any, n: int, p: float) -> int:
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    return rng.binomial(n, p)


@jit
def reward(rng: Any, arm: int, values: Any, probabilities: Any) -> int:
    """Draw one reward in grid steps."""
    u = rng.random()
    last = len(values) - 1
    for level in range(last):
        u -= probabilities[arm, level]
        if u < 0.0:
            return values[level]
    return values[last]


@jit
def block_sum(rng: Any, arm: int, n: int, values: Any, probabilities: Any) -> int:
    """Draw the sum of n rewards in grid steps: a multinomial count of each level, as a chain of
    binomials.
    """
    total, left, mass = 0, n, 1.0
    last = len(values) - 1
    for level in range(last, 0, -1):
        if left == 0:
            return total
        p = probabilities[arm, level]
        count = binomial(rng, left, min(1.0, p / mass)) if mass > 0.0 else 0
        total += values[level] * count
        left -= count
        mass -= p
    return total + values[0] * left


@inline
def argmax(scores: Any) -> int:
    """Return the first index of the largest score."""
    best = 0
    for arm in range(1, len(scores)):
        if scores[arm] > scores[best]:
            best = arm
    return best


@jit
def copy_to(row: Any, values: Any) -> None:
    """Copy number by number; a slice would add seconds of compilation for a check of shapes."""
    for i in range(len(row)):
        row[i] = values[i]


@jit
def play(arm: int, times: int, t: int, plays: Any, checkpoints: Any, out: Any, at: int) -> int:
    """Count `times` rounds of `arm` after round t, copy the counts at every checkpoint passed, and
    return the next checkpoint.
    """
    while at < len(checkpoints) and checkpoints[at] <= t + times:
        copy_to(out[at], plays)
        out[at, arm] += checkpoints[at] - t
        at += 1
    plays[arm] += times
    return at


@jit
def play_together(
    chosen: Any, size: int, times: int, t: int, plays: Any, checkpoints: Any, out: Any, at: int
) -> int:
    """Like `play`, for rounds that play all of the first `size` arms of `chosen`."""
    while at < len(checkpoints) and checkpoints[at] <= t + times:
        copy_to(out[at], plays)
        for i in range(size):
            out[at, chosen[i]] += checkpoints[at] - t
        at += 1
    for i in range(size):
        plays[chosen[i]] += times
    return at


# The continual counters of `dpbandits.mechanisms`: the trees and the hybrid.


@jit
def tree_leaf(
    exact: Any, noised: Any, leaf: int, x: int, scale: float, rng: Any, prefix: int
) -> int:
    """Add leaf number `leaf` (from 1) to a tree whose noisy prefix sum was `prefix`; return the new
    one.
    """
    level, node = 0, x
    while (leaf >> level) & 1 == 0:
        node += exact[level]
        prefix -= noised[level]
        level += 1
    exact[level] = node
    noised[level] = node + laplace(rng, scale)
    return prefix + noised[level]


def signed_sizes(tree: SignedCounter) -> tuple[int, int]:
    """Return the largest digit, and how many numbers the noise of all nodes takes."""
    return tree.half, tree.levels * (tree.half + 1)


@jit
def signed_leaf(
    digits: Any, parts: Any, half: int, x: int, scale: float, rng: Any, prefix: int
) -> int:
    """Add a leaf to a signed tree whose noisy prefix sum was `prefix`; return the new one.

    Args:
        digits: of the number of leaves, the lowest first; in the last place the number of draws in
            the prefix sum.
        parts: by level, the noise of its nodes together, or of each node to be taken away.
        half: the largest digit.
    """
    prefix += x
    for level in range(len(digits) - 1):
        digit, first = digits[level], level * (half + 1)
        if digit < 0:
            prefix += parts[first - digit]
            digits[level], digits[-1] = digit + 1, digits[-1] - 1
            return prefix
        if digit < half:
            draw = laplace(rng, scale)
            parts[first] = draw + (parts[first] if digit else 0)
            digits[level], digits[-1] = digit + 1, digits[-1] + 1
            return prefix + draw
        prefix -= parts[first]
        for node in range(1, half + 1):
            parts[first + node] = laplace(rng, scale)
            prefix -= parts[first + node]
        digits[level] = -half  # as many draws as before
    return prefix


@jit
def hybrid_leaf(
    segment: Any, exact: Any, noised: Any, x: int, half: float, first: int, root: bool, rng: Any
) -> int:
    """Add a leaf to a hybrid counter; return the noisy prefix sum.

    `segment` has its number, leaves and exact sum while open, and the noisy sum of the closed ones.
    `half` is the noise scale of the array side, 1/(epsilon/2) in grid steps. `first` is 1 if
    segments double from the start (1, 2, 4, …), 0 for 1, 1, 2, 4, …
    """
    size_level = segment[0] if first == 1 else max(0, segment[0] - 1)
    segment[1] += 1
    segment[2] += x
    full = segment[1] == 1 << size_level
    if full and not (root and size_level > 0):
        segment[3] += segment[2] + laplace(rng, half)
        answer = segment[3]
    else:
        leaf, level, node, inside = segment[1], 0, x, 0
        while (leaf >> level) & 1 == 0:
            node += exact[level]
            level += 1
        exact[level] = node
        noised[level] = node + laplace(rng, half * size_level)
        for higher in range(level, size_level + 1):
            if (leaf >> higher) & 1:
                inside += noised[higher]
        answer = segment[3] + inside
        if full:
            segment[3] += segment[2] + laplace(rng, half)
    if full:
        segment[0] += 1
        segment[1] = segment[2] = 0
    return answer


@inline
def popcount(n: int) -> int:
    """Return the number of noise draws in a tree's prefix sum of n leaves."""
    n -= (n >> 1) & 0x5555555555555555
    n = (n & 0x3333333333333333) + ((n >> 2) & 0x3333333333333333)
    n = (n + (n >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (n * 0x0101010101010101) >> 56


# The greedy basis of a matroid, updated by exchanges on a tableau modulo a prime
# (`oracles/linear.py`).
#
# Adding one element to a set changes its best basis by at most one exchange: the element for the
# lightest one it can replace. So one pass over the elements outside, in any order, turns the best
# basis for old weights into the one for new weights; from the heaviest to the lightest it takes the
# fewest exchanges. Ties go to the lower number, as in the oracle: weights are in a strict order.


@inline
def heavier(e: int, f: int, weights: Any) -> bool:
    """Return whether e comes before f in the greedy order."""
    return weights[e] > weights[f] or (weights[e] == weights[f] and e < f)


@jit
def reciprocal(number: float, prime: int) -> float:
    """Return the residue whose product with this one is 1, by Euclid's algorithm."""
    a, b, x, y = int(number) % prime, prime, 1, 0
    while b:
        quotient = a // b
        a, b = b, a - quotient * b
        x, y = y, x - quotient * y
    x %= prime
    return float(x - prime if 2 * x > prime else x)


@jit
def exchange(table: Any, basis: Any, column: Any, j: int, e: int, prime: int) -> None:
    """Put element e in place of basis[j]. Rows without that element do not change. Exact: products
    of two residues are below 2^53.
    """
    half, share = 0.5 * prime, 1.0 / prime
    row = table[e].copy()
    inverted = reciprocal(row[j], prime)
    for other in range(table.shape[0]):
        if table[other, j] == 0.0:
            continue
        factor = table[other, j] * inverted
        factor -= prime * np.rint(factor * share)
        for k in range(len(row)):
            value = table[other, k] - factor * row[k]
            if abs(value) > half:
                value -= prime * np.rint(value * share)
            table[other, k] = value
        table[other, j] = factor
    column[basis[j]], column[e] = -1, j
    basis[j] = e


@jit
def improve(table: Any, basis: Any, column: Any, weights: Any, order: Any, prime: int) -> None:
    """Turn the basis into the greedy one. `column` is an element's position in the basis, −1
    outside; `order` is any order of all elements.
    """
    lightest = basis[0]
    for f in basis:
        if heavier(lightest, f, weights):
            lightest = f
    for e in order:
        if column[e] >= 0 or heavier(lightest, e, weights):
            continue
        worst = -1
        for j in range(len(basis)):
            if table[e, j] != 0.0 and (worst < 0 or heavier(basis[worst], basis[j], weights)):
                worst = j
        if worst >= 0 and heavier(e, basis[worst], weights):
            was = basis[worst]
            exchange(table, basis, column, worst, e, prime)
            if was == lightest:
                lightest = basis[0]
                for f in basis:
                    if heavier(lightest, f, weights):
                        lightest = f


# Arrays and generators without reference counts, for loops that pass them on; and one generator for
# many runs.


TUPLES: Any = types.BaseTuple
OWNED: Any = (types.Array, types.NumPyRandomGeneratorType)
PROXY: Any = cgutils.create_struct_proxy


def without_owner(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return uncounted(context, builder, value, values[0])

    return value(value), generate


borrowed: Any = intrinsic(without_owner)
"""Returns the same array, generator, or tuple of them, without its reference count.

Compiled code counts references at every call and tuple access, which takes several times an event's
time. Use it only for a function's arguments, which the caller keeps alive until it returns.
"""


def uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return the value without the owner of each array in it."""
    if isinstance(kind, TUPLES):
        for at, inner in enumerate(kind):
            part = uncounted(context, builder, inner, builder.extract_value(value, at))
            value = builder.insert_value(value, part, at)
    elif isinstance(kind, OWNED):
        array = PROXY(kind)(context, builder, value)
        array.meminfo, array.parent = array.meminfo.type(None), array.parent.type(None)
        value = array._getvalue()
    return value


pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def seats_of(bits: Sequence[np.random.PCG64]) -> Integers:
    """Return the address of NumPy's C interface to each of these, a `bitgen_t`. They must outlive
    its use.
    """
    return np.array([pointer_in(each.capsule, b"BitGenerator") for each in bits], np.int64)


def at_seat(typing_context: Any, rng: Any, seat: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        generator = PROXY(rng)(context, builder, values[0])
        kind = context.data_model_manager[rng].get_type("bit_generator")
        bits = PROXY(kind)(context, builder, generator.bit_generator)
        word = context.get_value_type(types.uintp)
        # a `bitgen_t` begins with the address of its state
        bits.state = builder.load(builder.inttoptr(values[1], word.as_pointer()))
        generator.bit_generator = bits._getvalue()
        return uncounted(context, builder, rng, generator._getvalue())

    return rng(rng, seat), generate


seated: Any = intrinsic(at_seat)
"""Returns the generator with the state of the one at this seat; both are of one kind. Passing a
separate generator to compiled code takes longer than many runs.
"""
