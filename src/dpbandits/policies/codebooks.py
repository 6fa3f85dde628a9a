"""Codebooks: directions that split contexts into cells, chosen from public contexts.

A cell's sum says how rewards lie along one direction, so what a block says of a linear law depends
on how closely the contexts of a cell lie together. More cells lose less and carry more noise; how
many pay is decided by the information that is expected, which depends on public data only.
"""

from __future__ import annotations

import numpy as np

from dpbandits.core.inputs import Floats, Integers
from dpbandits.mechanisms.cells import ROW

AT_LEAST = 20
"""Contexts behind each direction at least: a direction of few contexts could equal one person's."""

ENOUGH = 4
"""Contexts for each feature from which on directions are made of them; before, cells are axes."""

SIZES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Directions that k-means begins with, in multiples of the number of features."""

ROUNDS = 5, 3
"""Rounds of k-means, for the fewest directions and for each larger number, which goes on from those
found before.
"""

FLOOR = 1e-3
"""Directions in which contexts vary by less than this share of the most are not stretched more."""


def whitening(contexts: Floats) -> Floats:
    """W with Wᵀ X about round for contexts X, shape (features, features)."""
    values, axes = np.linalg.eigh(contexts.T @ contexts / len(contexts))
    if values.max() <= 0.0:  # all contexts are zero
        return np.eye(contexts.shape[1])
    found: Floats = axes / np.sqrt(values + FLOOR * values.max())
    return found


def in_cells(rows: Floats, book: Floats) -> tuple[Integers, Floats]:
    """How many rows are in each cell, and the sums of the rows, each turned so that it points along
    its cell's direction; shapes (cells,) and (cells, features).
    """
    from scipy.sparse import csr_array  # slow to import

    along = rows @ book.T
    cell = np.abs(along).argmax(axis=1)
    signs = np.where(along[np.arange(len(rows)), cell] < 0.0, -1.0, 1.0)
    turned = csr_array((signs, cell, np.arange(len(rows) + 1)), shape=along.shape)
    return np.bincount(cell, minlength=len(book)), turned.T @ rows


def unit_rows(rows: Floats) -> Floats:
    """The rows of an array, each of norm 1."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def spherical_means(rows: Floats, found: Floats, rounds: int) -> Floats:
    """Unit directions for unit rows, up to sign, by so many rounds of k-means on the sphere.

    Directions of few rows are left out, more of them from round to round, and in the end each is
    the mean of `AT_LEAST` rows or more. There may be none.

    Args:
        rows: shape (rows, features).
        found: the directions to begin with, shape (directions, features).
    """
    for turn in range(1, rounds + 1):
        members, sums = in_cells(rows, found)
        norms = np.linalg.norm(sums, axis=1)
        kept = (norms > 0) & (members * rounds >= AT_LEAST * turn)
        found = sums[kept] / norms[kept][:, None]
        if not len(found):
            break
    return found


def expected_information(
    book: Floats, contexts: Floats, rounds: int, before: Floats, variance: float, noise: float
) -> float:
    """ln det of the information on an arm after a block of so many rounds, read in these cells."""
    share = rounds / len(contexts)
    counts, directions = in_cells(contexts, book)
    directions *= share
    gained = directions.T @ (directions / (variance * share * counts + noise)[:, None])
    return float(np.linalg.slogdet(before + gained)[1])


def codebook(
    contexts: Floats,
    features: int,
    rounds: int,
    before: Floats,
    variance: float,
    noise: float,
    rng: np.random.Generator,
) -> Floats:
    """The cells of a block, shape (cells, features): a context x is in the one with the largest
    |row · x|.

    Args:
        contexts: public ones, like those to come, shape (contexts, features).
        features: numbers in a context.
        rounds: records that the block will have.
        before: information on the arm so far, shape (features, features).
        variance: of a reward. noise: variance of the noise in a sum.
        rng: public randomness.
    """
    if len(contexts) < ENOUGH * features:
        return np.eye(features)
    stretch = whitening(contexts)
    rows, best, chosen, worse = unit_rows(contexts @ stretch), -np.inf, np.eye(features), 0
    turned, found = np.eye(features), np.empty((0, features))
    for times in SIZES:
        size = int(times * features)
        if times > 1 and (4 * size > len(contexts) or 2 * size > rounds):
            break
        if times > 1:
            more = rows[rng.choice(len(rows), size - len(found), replace=False)]
            turns = ROUNDS[0] if times == SIZES[1] else ROUNDS[1]
            turned = found = spherical_means(rows, np.concatenate((found, more)), turns)
        if len(turned) == 0:
            continue
        book = turned @ stretch.T
        value = expected_information(book, contexts, rounds, before, variance, noise)
        if value > best:
            best, chosen, worse = value, book, 0
        else:
            worse += 1
        if worse == 2:  # more cells carry more noise
            break
    return chosen


EVENED = (0.01, 0.1, 1.0, 10.0)
"""How far matrices even contexts out: shares of the largest variance that are added to all. Small
shares suit blocks whose noise is small beside what rewards vary.
"""


def shaping_matrices(contexts: Floats) -> Floats:
    """Matrices A of whole numbers for a block's noise, one below the other, shape (matrices ·
    features, features): A·x is about round for contexts x like these.

    Args:
        contexts: public ones, of the block or like those to come, shape (contexts, features).
    """
    features = contexts.shape[1]
    values, axes = np.linalg.eigh(contexts.T @ contexts / len(contexts))
    if values.max() <= 0.0:  # all contexts are zero
        return ROW * np.eye(features)
    found = []
    for share in EVENED:
        matrix = axes.T / np.sqrt(np.maximum(values, 0.0) + share * values.max())[:, None]
        longest = np.linalg.norm(matrix, axis=1).max()
        # rounded towards zero, so that no row is longer than ROW
        found.append(np.trunc(matrix * (ROW / longest)))
    return np.concatenate(found)
