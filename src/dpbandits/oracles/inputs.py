"""What callers hand in, read strictly: weights, whole numbers, exact numbers, labels."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Action: TypeAlias = tuple[int, ...]  # a super arm: its base arms, sorted
Label: TypeAlias = int | str  # the name of a node
Edge: TypeAlias = tuple[Label, Label]
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.intp]  # indices into arrays
Booleans: TypeAlias = NDArray[np.bool_]


def checked_weights(weights: ArrayLike, arms: int, what: str = "weights") -> Floats:
    """One finite number an arm, shape (arms,).

    >>> checked_weights([1, 2, float("nan")], 3)
    Traceback (most recent call last):
    ValueError: Expected weights[2]=nan to be a finite number.
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (arms,):
        raise ValueError(f"Expected {what} of shape ({arms},), one number an arm; got shape {array.shape}.")
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"Expected {what}[{bad}]={array[bad]} to be a finite number.")
    return array


def checked_probabilities(means: Floats) -> Floats:
    """Means that are probabilities: where the value of a super arm is a chance, no others make sense."""
    bad = np.flatnonzero((means < 0) | (means > 1))
    if len(bad):
        raise ValueError(f"Expected means[{bad[0]}]={means[bad[0]]} to lie in [0, 1]: it is a probability here.")
    return means


def whole(value: SupportsIndex, what: str, least: int, most: int | None = None) -> int:
    """A whole number within bounds.

    >>> whole(-1, "capacity[2]", 0)
    Traceback (most recent call last):
    ValueError: Expected capacity[2]=-1 to be >= 0.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"Expected {what}={value!r} to be a whole number.") from None
    if number < least:
        raise ValueError(f"Expected {what}={number} to be >= {least}.")
    if most is not None and number > most:
        raise ValueError(f"Expected {what}={number} to be <= {most}.")
    return number


def checked_label(value: Any) -> Label:
    """A node's name: a whole number or a string, so that it can be written to JSON and read again."""
    if isinstance(value, str):
        return str(value)
    if not isinstance(value, bool | np.bool_):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ValueError(f"Expected node {value!r} to be a whole number or a string.")


def checked_edges(edges: Iterable[Sequence[Any]]) -> list[Edge]:
    """At least one edge, each a pair of node labels. The arm number of an edge is its place in the list."""
    rows: list[Any] = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
    for arm, row in enumerate(rows):
        if isinstance(row, str) or len(row) != 2:
            raise ValueError(f"Expected edges[{arm}]={row!r} to be a pair of nodes.")
    if not rows:
        raise ValueError("Expected at least one edge, got none.")
    return [(checked_label(u), checked_label(v)) for u, v in rows]


def numbered(edges: Sequence[Edge], nodes: Sequence[Label] | None) -> dict[Label, int]:
    """Every node's number: the order of `nodes`, or of first appearance in the edges.

    Raises:
        ValueError: `nodes` repeats a label, or an edge ends in none of them.
    """
    if nodes is None:
        return {node: i for i, node in enumerate(dict.fromkeys(node for edge in edges for node in edge))}
    index = {node: i for i, node in enumerate(nodes)}
    if len(index) < len(nodes):
        twice = next(node for i, node in enumerate(nodes) if index[node] != i)
        raise ValueError(f"Expected nodes to be distinct; {twice!r} comes twice.")
    for arm, edge in enumerate(edges):
        for node in edge:
            if node not in index:
                raise ValueError(f"Expected edges[{arm}]={edge!r} to join known nodes; {node!r} is not in nodes.")
    return index


def checked_labels(nodes: Iterable[Any] | None) -> list[Label] | None:
    """The optional list of node labels."""
    return None if nodes is None else [checked_label(node) for node in nodes]


def exact(value: Any, what: str = "value") -> Fraction:
    """A number read exactly; a float as the decimal it is written as.

    >>> exact(0.1), exact("0.25"), exact("1/3"), exact(2)
    (Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(2, 1))
    """
    try:
        return Fraction(repr(float(value))) if isinstance(value, float | np.floating) else Fraction(value)
    except TypeError:
        pass
    except (ValueError, ZeroDivisionError, OverflowError):  # the last one of Decimal("Infinity")
        raise ValueError(f"Expected {what}={value!r} to be a finite number.") from None
    try:
        return Fraction(operator.index(value))
    except TypeError:
        raise ValueError(f"Expected {what}={value!r} to be a whole number, a fraction, a decimal string or a float.") from None


def sorted_arms(arms: Iterable[int] | NDArray[Any]) -> Action:
    """A super arm as plain, sorted ints."""
    return tuple(np.sort(arms).tolist()) if isinstance(arms, np.ndarray) else tuple(sorted(arms))


def largest_first(weights: Floats) -> Places:
    """Arms from the heaviest to the lightest; equal weights in order of their numbers."""
    return np.argsort(-weights, kind="stable")
