"""Codebooks: directions that split contexts into cells, chosen from public contexts.

A cell's sum says how rewards lie along one direction, so what a block says of a linear law depends
on how closely the contexts of a cell lie together. More cells lose less and carry more noise; how
many pay is decided by the information that is expected, which depends on public data only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpbandits.core.inputs import Floats, Integers
from dpbandits.mechanisms.cells import ROW

AT_LEAST = 20
"""Contexts behind each direction at least: a direction of few contexts could equal one person's."""

ENOUGH = 4
"""Contexts for each feature from which on directions are made of them; before, cells are axes."""

EACH = 10, 2
"""Contexts, and records of a block, for each direction: where there are fewer, no more directions
are tried.
"""

ROUNDS = 3
"""Rounds of k-means for each number of directions, which goes on from those found before."""

FLOOR = 1e-3
"""Directions in which contexts vary by less than this share of the most are not stretched more."""


def whitening(contexts: Floats) -> Floats:
    """W with Wᵀ X about round for contexts X, shape (features, features)."""
    values, axes = np.linalg.eigh(contexts.T @ contexts / len(contexts))
    if values.max() <= 0.0:  # all contexts are zero
        return np.eye(contexts.shape[1])
    return axes / np.sqrt(values + FLOOR * values.max())


def in_cells(rows: Floats, book: Floats) -> tuple[Integers, Floats]:
    """How many rows are in each cell, and the sums of the rows, each turned so that it points along
    its cell's direction; shapes (cells,) and (cells, features).
    """
    along, each = rows @ book.T, np.arange(len(rows))
    cell = np.abs(along).argmax(axis=1)
    signs = np.zeros((len(book), len(rows)), rows.dtype)
    signs[cell, each] = np.where(along[each, cell] < 0.0, -1.0, 1.0)
    return np.bincount(cell, minlength=len(book)), signs @ rows


def unit_rows(rows: Floats) -> Floats:
    """The rows of an array, each of norm 1."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def spherical_means(rows: Floats, found: Floats, rounds: int) -> Floats:
    """Unit directions for rows, up to sign, by so many rounds of k-means on the sphere.

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

    It begins with the axes of whitened contexts. Half as many directions again are drawn and
    k-means goes on from all, for as long as more information is expected of the block: the ln det
    of what is then known of the arm.

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
    rows: Any = (contexts @ stretch).astype(np.float32)
    before = stretch.T @ before @ stretch
    share, size, best = rounds / len(contexts), features, -np.inf
    found: Any = np.eye(features, dtype=np.float32)
    chosen = found
    while len(found):
        counts, sums = in_cells(rows, found)
        weights = share**2 / (variance * share * counts + noise)
        value = np.linalg.slogdet(before + (sums.T * weights) @ sums)[1]
        size += (size + 1) // 2
        if value <= best:  # more cells carry more noise
            break
        best, chosen = value, found
        if EACH[0] * size > len(rows) or EACH[1] * size > rounds:
            break
        drawn = rows[rng.choice(len(rows), size - len(found), replace=False)]
        found = spherical_means(rows, np.concatenate((found, unit_rows(drawn))), ROUNDS)
    return np.asarray(chosen @ stretch.T)


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
